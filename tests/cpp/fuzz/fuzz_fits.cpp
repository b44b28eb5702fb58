// Random fits of every kind that the arguments allow, with an emphasis on bad data, each proved by
// brute force over all sets of nodes (random_problem.hpp).
#include "fuzz.hpp"
#include "prover.hpp"
#include "random_problem.hpp"

#include "graph/parts.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using Eigen::MatrixXd;
using Eigen::VectorXd;
using fuzz::Long;
using fuzz::Proof;
using fuzz::Prover;
using n2gfl::Algorithm;
using n2gfl::Fit;
using n2gfl::Poll;
using n2gfl::Sign;
using testing::below;
using testing::kInfinity;
using testing::Problem;
using testing::Random;
using testing::uniform;

namespace {

constexpr Algorithm kPursuit = Algorithm::pursuit, kFista = Algorithm::fista,
                    kIsta = Algorithm::ista;
constexpr int kMostSmall = 16;  // features

bool chance(Random& random, int one_in) { return random() % one_in == 0; }

double any_scale(Random& random, double decades) {
  return std::pow(10.0, uniform(random, -decades, decades));
}

// Columns like the worst ones in real data.
void spoil_columns(Problem& p, Random& random) {
  for (int j = 0; j < p.features(); ++j) {
    const int k = below(random, p.features());
    switch (random() % 12) {
      case 0: p.x.col(j).setZero(); break;
      case 1: p.x.col(j).setConstant(uniform(random, -2, 2)); break;
      case 2: p.x.col(j) = p.x.col(k); break;
      case 3: p.x.col(j) = -p.x.col(k); break;
      case 4: p.x.col(j) = p.x.col(k) + 1e-9 * p.x.col(j); break;
      case 5: p.x.col(j) *= any_scale(random, 6); break;
      case 6: p.x.col(j) = VectorXd::Ones(p.rows()) + 1e-3 * p.x.col(j); break;
      case 7: p.x.col(j).array() += 1e4; break;
      default: break;
    }
  }
}

n2gfl::Graph spoilt_graph(Random& random, int n) {
  std::vector<n2gfl::Edge> edges;
  const int wanted = below(random, 3 * n);
  for (int k = 0; k < wanted; ++k) {
    const int i = below(random, n), j = below(random, n);
    if (i != j) edges.push_back({i, j, any_scale(random, 4)});
  }
  return n2gfl::Graph(n, edges);
}

// Collinear covariates, often more of them than observations.
MatrixXd collinear(const Problem& p, Random& random) {
  const int columns = 2 + below(random, chance(random, 3) ? 3 : 2 * p.rows());
  MatrixXd u = testing::uniform_matrix(random, p.rows(), columns, -1, 1);
  for (int k = 1; k < columns; ++k)
    if (chance(random, 2)) u.col(k) = any_scale(random, 3) * u.col(below(random, k));
  if (chance(random, 2)) u.col(below(random, columns)).setConstant(2);
  return u;
}

// Keeps only the first few rows, down to one.
void keep_few_rows(Problem& p, Random& random) {
  const int n = 1 + below(random, 8);
  p.x = p.x.topRows(n).eval();
  p.covariates = p.covariates.topRows(n).eval();
  p.y = p.y.head(n).eval();
  p.more = p.more.topRows(n).eval();
  p.weights = p.weights.head(n).eval();
  p.offset = p.offset.head(n).eval();
}

// A covariate that separates the classes, or large values from small ones, except for a few rows.
VectorXd nearly_separating(const Problem& p, Random& random) {
  const bool about_zero = p.gaussian() || p.settings.family == "binomial";
  const double middle = about_zero ? 0 : p.y.mean();
  VectorXd column(p.rows());
  for (int i = 0; i < p.rows(); ++i)
    column[i] = (p.y[i] > middle ? 1 : -1) * uniform(random, 0.01, 1);
  for (int flips = below(random, 3); flips > 0; --flips) column[below(random, p.rows())] *= -1;
  return column * any_scale(random, 3);
}

void spoil_factors(Problem& p, Random& random) {
  for (int j = 0; j < p.features(); ++j) {
    if (chance(random, 6)) p.factor[j] = 0;
    else if (chance(random, 6)) p.factor[j] = kInfinity;
    else if (chance(random, 3)) p.factor[j] = any_scale(random, 3);
  }
}

// Large counts, empty ones, a single one, a wild one, counts that are no whole numbers.
void spoil_counts(Problem& p, Random& random) {
  const int i = below(random, p.rows());
  switch (random() % 8) {
    case 0: p.y *= 1e4; break;
    case 1: p.y *= any_scale(random, 8); break;
    case 2: p.y = p.y.unaryExpr([&](double y) { return chance(random, 4) ? y : 0.0; }); break;
    case 3: p.y.setZero(); break;
    case 4: p.y[i] = 1e7; break;
    case 5: p.y.array() += 1e5; break;
    default: break;
  }
  if (chance(random, 2) || p.y.maxCoeff() <= 0) p.y[i] += 1;
}

// All events at one time, all rows with an event, hardly any event, many strata, wide times.
void spoil_times(Problem& p, Random& random) {
  const int i = below(random, p.rows());
  switch (random() % 8) {
    case 0: p.y.setOnes(); break;
    case 1: p.more.col(0).setOnes(); break;
    case 2: p.more.col(0).setZero(); break;
    case 3: p.more.col(1) = p.more.col(1).unaryExpr([&](double) { return 1.0 + below(random, 8); });
      break;
    case 4: p.y *= any_scale(random, 8); break;
    case 5: p.y = p.y.array().pow(20); break;
    default: break;
  }
  if (chance(random, 2) || p.more.col(0).maxCoeff() <= 0) p.more(i, 0) = 1;
}

// Two levels, one row of a level, many levels, levels that a column of x orders perfectly.
void spoil_levels(Problem& p, Random& random) {
  const int i = below(random, p.rows());
  switch (random() % 8) {
    case 0: p.y = p.y.cwiseMin(2); break;
    case 1: p.y = p.y.cwiseMin(2); p.y[i] = 3; break;
    case 2: p.y = p.y.unaryExpr([&](double) { return 1.0 + below(random, 12); }); break;
    case 3: p.x.col(below(random, p.features())) += 5 * p.y; break;
    case 4: p.y.setConstant(2); p.y[i] = 1; break;
    default: break;
  }
}

void spoil_response(Problem& p, Random& random) {
  if (p.settings.family == "poisson") spoil_counts(p, random);
  if (p.settings.family == "cox") spoil_times(p, random);
  if (p.settings.family == "ordinal") spoil_levels(p, random);
}

// Only levels count that rows with weight have.
void drop_empty_levels(Problem& p) {
  if (p.settings.family != "ordinal") return;
  std::set<double> used;
  for (int i = 0; i < p.rows(); ++i)
    if (p.weights[i] > 0) used.insert(p.y[i]);
  p.y = p.y.unaryExpr([&](double level) {
    return std::max(1.0, static_cast<double>(std::distance(used.begin(), used.upper_bound(level))));
  });
}

// First-order methods get fewer iterations, because each of them is slow on large problems.
void choose_solver(Problem& p, Random& random, const std::vector<Algorithm>& algorithms,
                   int most_first_order, const std::vector<double>& thresholds) {
  p.settings.algorithm = algorithms[random() % algorithms.size()];
  p.settings.max_iterations = p.settings.algorithm == kPursuit ? 1000 : most_first_order;
  p.settings.thresh = thresholds[random() % thresholds.size()];
}

Problem hostile_problem(Random& random, const std::string& family) {
  Problem p = testing::random_problem(random, family);
  if (chance(random, 2)) spoil_columns(p, random);
  if (chance(random, 2)) p.graph = spoilt_graph(random, p.features());
  if (chance(random, 3)) spoil_factors(p, random);
  if (chance(random, 4)) p.covariates = nearly_separating(p, random);
  if (chance(random, 8)) p.covariates = collinear(p, random);
  if (chance(random, 8)) keep_few_rows(p, random);
  if (chance(random, 5))
    for (int i = 0; i < p.rows(); ++i)
      if (chance(random, 3)) p.weights[i] = 0;
  if (chance(random, 6))
    for (int i = 0; i < p.rows(); ++i) p.weights[i] *= any_scale(random, 3);
  if (chance(random, 8)) p.offset *= 1e3;
  if (p.gaussian() && chance(random, 6)) p.y.array() += 1e5;
  if (p.gaussian() && chance(random, 12)) p.y = 1e5 + 1e-5 * p.y.array();
  if (p.gaussian() && chance(random, 6)) p.y *= any_scale(random, 8);
  if (!family.empty() && chance(random, 2)) spoil_response(p, random);
  drop_empty_levels(p);
  if (chance(random, 8)) p.x *= any_scale(random, 6);
  p.settings.standardize = chance(random, 5);
  if (chance(random, 4)) p.settings.penalty = n2gfl::PenaltyType::laplacian;
  choose_solver(p, random, {kPursuit, kPursuit, kPursuit, kFista, kIsta}, 300,
                {1e-2, 1e-4, 1e-6, 1e-9});
  return p;
}

// True if some row is at risk when row i has its event, and does not have it then.
bool is_choice(const Problem& p, int i) {
  for (int j = 0; j < p.rows(); ++j) {
    const bool same = p.weights[j] > 0 && p.more(j, 1) == p.more(i, 1);
    if (same && (p.y[j] > p.y[i] || (p.y[j] == p.y[i] && p.more(j, 0) == 0))) return true;
  }
  return false;
}

// True if there is something to explain: different values among rows with weight, or an event that
// others could have had.
bool is_posed(const Problem& p) {
  double lowest = kInfinity, highest = -kInfinity;
  bool event = false;
  for (int i = 0; i < p.rows(); ++i) {
    if (p.weights[i] <= 0) continue;
    lowest = std::min(lowest, p.y[i]);
    highest = std::max(highest, p.y[i]);
    event = event || (p.more.cols() > 0 && p.more(i, 0) > 0 && is_choice(p, i));
  }
  return p.more.cols() > 0 ? event : lowest < highest;
}

// What the checks of the R code refuse: nothing has weight, no count, no event, or a single level.
bool is_empty(const Problem& p) {
  const VectorXd used = (p.weights.array() > 0).cast<double>();
  if (used.sum() == 0) return true;
  if (p.settings.family == "poisson") return used.dot(p.y) <= 0;
  if (p.settings.family == "cox") return used.dot(p.more.col(0)) <= 0;
  return p.settings.family == "ordinal" && p.y.maxCoeff() <= 1;
}

double some_lambda(Random& random, double scale) {
  switch (random() % 6) {
    case 0: return 0;
    case 1: return scale * any_scale(random, 6);
    case 2: return 1e4 * scale;
    default: return scale * std::pow(10.0, uniform(random, -3, 0));
  }
}

// The problem that the fit solves after standardising.
Problem standardised(Problem p) {
  const VectorXd omega = p.weights / p.weights.sum();
  for (int j = 0; j < p.features(); ++j) {
    const double mean = omega.dot(p.x.col(j));
    const double sd = std::sqrt(omega.dot((p.x.col(j).array() - mean).square().matrix()));
    if (sd > 1e-13 * std::fabs(mean)) {
      p.x.col(j) /= sd;
    } else {
      p.x.col(j).setZero();
      p.factor[j] = kInfinity;
    }
  }
  return p;
}

Fit on_scale(Fit fit, const Problem& raw, const Problem& scaled) {
  for (std::size_t k = 0; k < fit.index.size(); ++k) {
    const int j = fit.index[k];
    fit.value[k] *= raw.x.col(j).norm() / scaled.x.col(j).norm();
    for (std::size_t l = 0; l < k; ++l)  // equal before scaling and scaling back, so equal after it
      if (std::fabs(fit.value[k] - fit.value[l]) <= 1e-13 * std::fabs(fit.value[k]))
        fit.value[k] = fit.value[l];
  }
  return fit;
}

const char* name_of(Algorithm algorithm) {
  if (algorithm == kPursuit) return "pursuit";
  return algorithm == kFista ? "fista" : "ista";
}

std::string setting_of(const Problem& p, double lambda1, double lambda2) {
  std::ostringstream out;
  out << p.settings.family << (p.fused() ? " fused " : " laplacian ")
      << name_of(p.settings.algorithm) << " sign " << static_cast<int>(p.settings.sign) << " N "
      << p.rows() << " d " << p.features() << " lambda1 " << lambda1 << " lambda2 " << lambda2
      << " thresh " << p.settings.thresh
      << " intercept " << p.settings.intercept << " covariates " << p.covariates.cols()
      << " standardize " << p.settings.standardize;
  if (p.features() <= kMostSmall) out << " factor " << p.factor.transpose();
  return out.str();
}

std::string wrong_values(const Problem& p, const Fit& fit) {
  if (!std::isfinite(fit.intercept)) return "intercept is not finite";
  if (!fit.covariates.allFinite()) return "covariates' coefficients are not finite";
  if (!fit.own.allFinite()) return "the family's own parameters are not finite";
  for (std::size_t k = 0; k < fit.index.size(); ++k) {
    if (!std::isfinite(fit.value[k])) return "a coefficient is not finite";
    if (p.settings.sign == Sign::nonnegative && fit.value[k] < 0) return "a negative coefficient";
    if (p.settings.sign == Sign::nonpositive && fit.value[k] > 0) return "a positive coefficient";
    if (std::isinf(p.factor[fit.index[k]])) return "an excluded feature";
  }
  if (std::isnan(fit.gap) || fit.gap < 0) return "a gap that is no number";
  if (fit.converged != (fit.gap <= p.settings.thresh)) return "converged and gap disagree";
  return "";
}

bool any_unpenalised(const Problem& p, double lambda1) {
  return lambda1 == 0 || (p.factor.array() == 0).any();
}

// True if the nodes of some component, or some node without fusion, are not penalised together.
bool any_free_set(const Problem& p, double lambda1, double lambda2) {
  int count = 0;
  const std::vector<int> of =
      n2gfl::components(p.graph, [&](int, int) { return lambda2 > 0; }, count);
  std::vector<char> free(count, 1);
  for (int i = 0; i < p.features(); ++i)
    if (p.factor[i] > 0 && (lambda1 > 0 || std::isinf(p.factor[i]))) free[of[i]] = 0;
  return std::find(free.begin(), free.end(), 1) != free.end();
}

// How much better a much better fit is, relative to the null objective. It is not needed if the gap
// is at least the whole objective, because no objective is negative.
Long distance_from_best(const Problem& p, double lambda1, double lambda2, const Prover& prover,
                        double gap) {
  const Long null = testing::null_objective(p), here = prover.objective(lambda1, lambda2);
  if (here <= gap * null * (1 + 1e-6L)) return here / null;
  Problem better = p;
  better.settings.standardize = false;
  better.settings.algorithm = kPursuit;
  better.settings.thresh = 1e-11;
  fuzz::under_way = "a better fit for " + fuzz::under_way;
  Poll poll;
  const Prover best(better, better.path(poll)->fit({lambda1, lambda2}));
  return (here - best.objective(lambda1, lambda2)) / null;
}

// The unit of the loss, where it has one that the proof may rely on: the loss of counts has that of
// their mean, the loss of times and of levels has none.
double loss_unit(const Problem& p) {
  if (p.settings.family == "poisson") return p.weights.dot(p.y) / p.weights.sum();
  return p.settings.family == "cox" || p.settings.family == "ordinal" ? 1 : 0;
}

// What is left of the loss, in its units, if the offset or the covariates leave nothing to explain:
// rounding, or where Newton's method stopped on its way to an optimum at infinity. The fit may have
// stopped at another point than the null model.
constexpr double kNothingLeft = 1e-11;

bool all_explained(const Problem& p) {
  return testing::null_objective(p) <= kNothingLeft * loss_unit(p);
}

// The reported gap must bound the true one. If a feature is not penalised, the proof, which scales
// the residual, says nothing or too little; then no much better fit may be better by more than the
// gap. Large problems are fitted again only if the proof fails.
std::string wrong_gap(const Problem& p, double lambda1, double lambda2, const Fit& fit) {
  const Prover prover(p, fit);
  if (all_explained(p))
    return prover.objective(0, 0) > kNothingLeft * std::max(1.0, loss_unit(p)) ? "not zero" : "";
  Proof proof = prover.prove(lambda1, lambda2);
  const bool large = p.features() > kMostSmall && p.fused();
  const auto holds = [&] { return proof.gap <= fit.gap * (1 + 1e-3) + proof.rounding; };
  if (any_unpenalised(p, lambda1) && (!large || any_free_set(p, lambda1, lambda2) || !holds()))
    proof.gap = distance_from_best(p, lambda1, lambda2, prover, fit.gap);
  if (holds()) return "";
  // Nothing can be said of coefficients that are rounding, unless the fit does so.
  if (!p.gaussian() && !prover.has_digits() && !fit.converged) return "";
  std::ostringstream out;
  out << "gap " << fit.gap << " reported, " << proof.gap << " true, rounding " << proof.rounding;
  return out.str();
}

fuzz::Outcome refused() {
  fuzz::Outcome outcome;
  outcome.refused = true;
  return outcome;
}

// ---- paths on grids: many nodes, strong fusion, several rows

// Two or three dimensions, often with holes and with unequal weights.
n2gfl::Graph grid_graph(Random& random, int width, int height, int depth) {
  const int kind = below(random, 4);
  const bool holes = chance(random, 3), tiny = chance(random, 10);
  const int step[] = {1, width, width * height};
  std::vector<n2gfl::Edge> edges;
  for (int i = 0; i < width * height * depth; ++i) {
    const bool inside[] = {i % width + 1 < width, i / width % height + 1 < height,
                           i / (width * height) + 1 < depth};
    for (int k = 0; k < 3; ++k) {
      if (!inside[k] || (holes && chance(random, 4))) continue;
      const double weight =
          kind < 2 ? 1.0 : kind == 2 ? uniform(random, 0.2, 2) : any_scale(random, 2);
      edges.push_back({i, i + step[k], tiny && chance(random, 20) ? 5e-324 : weight});
    }
  }
  return n2gfl::Graph(width * height * depth, edges);
}

// Noise and a few smooth bumps; the response depends on the subjects' scores of the bumps.
void draw_images(Problem& p, Random& random, int rows, int width, int features) {
  const int bumps = 1 + below(random, 5);
  const double noise = any_scale(random, 1), half = width / 6.0 + 1;
  const MatrixXd score = testing::uniform_matrix(random, rows, bumps, -1, 1);
  p.x = noise * testing::uniform_matrix(random, rows, features, -1, 1);
  for (int k = 0; k < bumps; ++k) {
    const int centre = below(random, features);
    for (int j = 0; j < features; ++j) {
      const double across = (j % width - centre % width) / half;
      const double along = (j / width - centre / width) / half;
      p.x.col(j) += std::exp(-across * across - along * along) * score.col(k);
    }
  }
  VectorXd eta = 0.3 * testing::uniform_vector(random, rows, -1, 1);
  for (int k = 0; k < bumps; ++k) eta += (chance(random, 3) ? -1.0 : 1.0) * score.col(k);
  testing::respond(p, random, eta);
}

void spoil_grid(Problem& p, Random& random) {
  if (chance(random, 4)) spoil_columns(p, random);
  if (chance(random, 4)) spoil_factors(p, random);
  if (chance(random, 4)) p.factor = testing::uniform_vector(random, p.features(), 0.3, 2);
  if (chance(random, 6)) p.factor[below(random, p.features())] = 0;
  if (chance(random, 8)) p.factor[below(random, p.features())] = kInfinity;
  if (chance(random, 3)) p.weights = testing::uniform_vector(random, p.rows(), 0.3, 3);
  if (chance(random, 4))
    for (int i = 0; i < p.rows(); ++i)
      if (chance(random, 4)) p.weights[i] = 0;
  if (chance(random, 4)) p.offset = testing::uniform_vector(random, p.rows(), -0.5, 0.5);
  if (chance(random, 3)) p.covariates = testing::uniform_matrix(random, p.rows(), 2, -1, 1);
  if (chance(random, 5)) p.x = p.x.unaryExpr([&](double v) { return chance(random, 2) ? v : 0.0; });
  if (chance(random, 8)) p.x.array() += 100;
  if (chance(random, 8)) p.x *= any_scale(random, 6);
}

Problem grid_problem(Random& random, const std::string& family) {
  const bool deep = chance(random, 3);
  const int width = deep ? 6 + below(random, 6) : 14 + below(random, 30);
  const int height = deep ? 6 + below(random, 6) : 14 + below(random, 30);
  const int depth = deep ? 5 + below(random, 6) : 1;
  const int rows = 12 + below(random, 50), features = width * height * depth;
  Problem p;
  const char* drawn = chance(random, 2) ? "gaussian" : "binomial";
  p.settings.family = family.empty() ? drawn : family;
  const Sign signs[] = {Sign::nonnegative, Sign::nonpositive, Sign::free};
  p.settings.sign = signs[random() % 3];
  p.settings.intercept = !chance(random, 4);
  p.graph = grid_graph(random, width, height, depth);
  draw_images(p, random, rows, width, features);
  p.weights = VectorXd::Ones(rows);
  p.offset = VectorXd::Zero(rows);
  p.factor = VectorXd::Ones(features);
  p.covariates.resize(rows, 0);
  spoil_grid(p, random);
  if (!family.empty() && chance(random, 4)) spoil_response(p, random);
  drop_empty_levels(p);
  choose_solver(p, random, {kPursuit, kPursuit, kPursuit, kPursuit, kFista}, 100,
                {1e-3, 1e-4, 1e-6, 1e-8});
  return p;
}

// Removes two nuisance effects: from the problem, and from a view of the same data.
void deconfound(Problem& p, n2gfl::Design& design, Random& random) {
  const MatrixXd z = testing::uniform_matrix(random, p.rows(), 2, -1, 1);
  const MatrixXd estimator = (z.transpose() * z).ldlt().solve(z.transpose());
  design.deconfound(z, estimator);
  p.x -= (z * (estimator * p.x)).eval();
}

// Scales the rows and removes the effects of two sites: from a view, and from the problem, which
// takes the view's columns; tests/cpp/test_design.cpp checks these.
void harmonise(Problem& p, n2gfl::Design& design, Random& random) {
  n2gfl::Sites sites;
  sites.count = 2;
  for (int i = 0; i < p.rows(); ++i) sites.of_row.push_back(i < 6 ? i % 2 : below(random, 3));
  for (int site : sites.of_row) sites.used.push_back(site < 2);
  sites.preserved = testing::uniform_matrix(random, p.rows(), below(random, 2), -1, 1);
  design.scale_rows(testing::uniform_vector(random, p.rows(), 0.5, 2));
  Poll poll;
  design.harmonise(sites, 1, poll);
  for (int j = 0; j < p.features(); ++j) {
    VectorXd column = VectorXd::Zero(p.rows());
    design.add(j, 1.0, column);
    p.x.col(j) = column;
  }
}

std::string difference(const Fit& a, const Fit& b) {
  const bool equal = a.index == b.index && a.value == b.value && a.gap == b.gap &&
                     a.intercept == b.intercept && a.covariates == b.covariates &&
                     a.own == b.own && a.iterations == b.iterations;
  return equal ? "" : "two threads give another fit than one";
}

// lambda2 stays, or moves up or down; lambda1 decreases, or jumps.
n2gfl::Penalties next_row(Random& random, n2gfl::Path& path, n2gfl::Penalties last, double scale) {
  n2gfl::Penalties row = last;
  if (last.lambda2 == 0 || chance(random, 3))
    row.lambda2 = scale * std::pow(10.0, uniform(random, -2.5, 1));
  if (chance(random, 20)) row.lambda2 = 0;
  if (chance(random, 20)) row.lambda1 = 0;
  else if (last.lambda1 == 0 || chance(random, 3))
    row.lambda1 = path.lambda1_max(row.lambda2) * std::pow(10.0, uniform(random, -2, 0.1));
  else
    row.lambda1 *= uniform(random, 0.4, 1);
  return row;
}

}  // namespace

fuzz::Outcome fuzz::fit_case(std::uint32_t seed, const std::string& family) {
  Random random(seed);
  const Problem p = hostile_problem(random, family);
  if (is_empty(p)) return refused();
  const Problem seen = p.settings.standardize ? standardised(p) : p;
  const testing::SparseColumns columns(p.x);
  const bool sparse = chance(random, 3);
  Poll poll;
  std::shared_ptr<n2gfl::Path> path;
  try {
    path = sparse ? p.path(columns.design(), poll) : p.path(poll);
  } catch (const std::invalid_argument&) {
    return refused();  // covariates that leave nothing to fit
  }
  Outcome outcome;
  for (int row = 0; row < 2; ++row) {
    const double lambda2 = some_lambda(random, seen.scale());
    const double lambda1 =
        chance(random, 4) ? path->lambda1_max(lambda2) * (chance(random, 2) ? 1 : 0.9)
                          : some_lambda(random, seen.scale());
    outcome.setting = fuzz::under_way = setting_of(p, lambda1, lambda2);
    const Fit raw = path->fit({lambda1, lambda2});
    const Fit fit = p.settings.standardize ? on_scale(raw, p, seen) : raw;
    outcome.wrong = wrong_values(seen, fit);
    // The first-order methods get too few iterations here to always converge.
    if (!fit.converged && p.settings.algorithm == kPursuit)
      outcome.note = "gap " + std::to_string(fit.gap);
    if (outcome.wrong.empty() && std::isfinite(fit.gap) && is_posed(p))
      outcome.wrong = wrong_gap(seen, lambda1, lambda2, fit);
    if (!outcome.wrong.empty()) return outcome;
  }
  return outcome;
}

fuzz::Outcome fuzz::path_case(std::uint32_t seed, const std::string& family) {
  Random random(seed);
  Problem p = grid_problem(random, family);
  if (is_empty(p)) return refused();
  const bool single = seed % 3 == 0;  // not a random number: the other cases stay what they are
  const Eigen::MatrixXf floats = p.x.cast<float>();
  if (single) p.x = floats.cast<double>();
  const MatrixXd raw = p.x;
  const testing::SparseColumns columns(raw);
  n2gfl::Design design = chance(random, 4) ? columns.design()
                         : single ? n2gfl::Design::dense(floats.data(), p.rows(), p.features())
                                  : n2gfl::Design::dense(raw.data(), p.rows(), p.features());
  Random more(seed);  // the other cases stay what they are
  if (seed % 5 == 2) try {
    harmonise(p, design, more);
  } catch (const n2gfl::NoSiteVariance&) {
    return refused();
  }
  if (chance(random, 5)) deconfound(p, design, random);
  Problem threaded = p;
  threaded.settings.threads = 2;
  const bool compare = chance(random, 6);
  Poll poll;
  std::shared_ptr<n2gfl::Path> path, other;
  try {
    path = p.path(design, poll);
    if (compare) other = threaded.path(design, poll);
  } catch (const std::invalid_argument&) {
    return refused();
  }
  Outcome outcome;
  n2gfl::Penalties row{0, 0};
  for (int k = 2 + below(random, 5); k > 0 && outcome.wrong.empty(); --k) {
    const Random before = random;
    const n2gfl::Penalties last = row;
    row = next_row(random, *path, last, p.scale());
    outcome.setting = fuzz::under_way = setting_of(p, row.lambda1, row.lambda2);
    const Fit fit = path->fit(row);
    outcome.wrong = wrong_values(p, fit);
    if (!fit.converged && p.settings.algorithm == kPursuit)
      outcome.note = "gap " + std::to_string(fit.gap);
    if (outcome.wrong.empty() && std::isfinite(fit.gap) && is_posed(p))
      outcome.wrong = wrong_gap(p, row.lambda1, row.lambda2, fit);
    if (!compare) continue;
    Random same = before;
    next_row(same, *other, last, p.scale());
    outcome.wrong += difference(fit, other->fit(row));
  }
  return outcome;
}
