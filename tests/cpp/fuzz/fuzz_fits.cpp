// Random fits of every kind that the arguments allow, with an emphasis on bad data, each proved by
// brute force over all sets of nodes (random_problem.hpp).
#include "fuzz.hpp"
#include "random_problem.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>

using Eigen::MatrixXd;
using Eigen::VectorXd;
using n2gfl::Fit;
using n2gfl::Poll;
using n2gfl::Sign;
using testing::below;
using testing::kInfinity;
using testing::Problem;
using testing::Random;
using testing::uniform;

namespace {

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
  p.weights = p.weights.head(n).eval();
  p.offset = p.offset.head(n).eval();
}

// A covariate that separates the classes except for a few rows.
VectorXd nearly_separating(const Problem& p, Random& random) {
  VectorXd column(p.rows());
  for (int i = 0; i < p.rows(); ++i) column[i] = (p.y[i] > 0 ? 1 : -1) * uniform(random, 0.01, 1);
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

Problem hostile_problem(Random& random) {
  Problem p = testing::random_problem(random);
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
  if (chance(random, 8)) p.x *= any_scale(random, 6);
  p.settings.standardize = chance(random, 5);
  if (chance(random, 4)) p.settings.penalty = "laplacian";
  const char* const algorithms[] = {"pursuit", "pursuit", "pursuit", "fista", "ista"};
  p.settings.algorithm = algorithms[random() % 5];
  p.settings.max_iterations = p.settings.algorithm == "pursuit" ? 1000 : 300;
  const double thresholds[] = {1e-2, 1e-4, 1e-6, 1e-9};
  p.settings.thresh = thresholds[random() % 4];
  return p;
}

// True if there is something to explain: both classes, or different values, among rows with
// weight.
bool is_posed(const Problem& p) {
  double lowest = kInfinity, highest = -kInfinity;
  for (int i = 0; i < p.rows(); ++i) {
    if (p.weights[i] <= 0) continue;
    lowest = std::min(lowest, p.y[i]);
    highest = std::max(highest, p.y[i]);
  }
  return lowest < highest;
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

std::string setting_of(const Problem& p, double lambda1, double lambda2) {
  std::ostringstream out;
  out << p.settings.family << " " << p.settings.penalty << " " << p.settings.algorithm << " sign "
      << static_cast<int>(p.settings.sign) << " N " << p.rows() << " d " << p.features()
      << " lambda1 " << lambda1 << " lambda2 " << lambda2 << " thresh " << p.settings.thresh
      << " intercept " << p.settings.intercept << " covariates " << p.covariates.cols()
      << " standardize " << p.settings.standardize << " factor " << p.factor.transpose();
  return out.str();
}

std::string wrong_values(const Problem& p, const Fit& fit) {
  if (!std::isfinite(fit.intercept)) return "intercept is not finite";
  if (!fit.covariates.allFinite()) return "covariates' coefficients are not finite";
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

// ---- the proof, in long double, so that only the rounding of the fit itself matters

using Long = long double;
using LongVector = Eigen::Matrix<Long, Eigen::Dynamic, 1>;
using LongMatrix = Eigen::Matrix<Long, Eigen::Dynamic, Eigen::Dynamic>;

struct Proof {
  Long gap, rounding;  // relative to the null objective
};

class Prover {
 public:
  Prover(const Problem& p, const Fit& fit) : p_(p), x_(p.x.cast<Long>()), y_(p.y.cast<Long>()) {
    omega_ = p.weights.cast<Long>() / p.weights.cast<Long>().sum();
    beta_ = testing::dense_beta(fit, p.features()).cast<Long>();
    // With an intercept the mean does not matter, but a large one would cost the proof its
    // accuracy.
    const Long mean = p.gaussian() && p.settings.intercept ? omega_.dot(y_) : 0;
    const Long intercept = fit.intercept - mean;
    y_.array() -= mean;
    eta_ = p.offset.cast<Long>() + x_ * beta_;
    if (p.covariates.cols() > 0)
      eta_ += p.covariates.cast<Long>() * fit.covariates.cast<Long>();
    eta_.array() += intercept;
    free_part_ = LongVector::Constant(p.rows(), std::fabs(intercept));
    if (p.covariates.cols() > 0)
      free_part_ += (p.covariates.cwiseAbs() * fit.covariates.cwiseAbs()).cast<Long>();
    refit_unpenalised();
  }

  Long objective(double lambda1, double lambda2) const {
    Long size = 0;
    for (int i = 0; i < p_.features(); ++i)
      if (beta_[i] != 0) size += p_.factor[i] * std::fabs(beta_[i]);
    if (size > 0) size *= lambda1;
    return loss() + size + lambda2 * testing::variation(p_, beta_.cast<double>());
  }

  // At the largest feasible multiple of the residual.
  Proof prove(double lambda1, double lambda2) const {
    LongVector g = x_.transpose() * residual_, thresholds(p_.features());
    const double fused = p_.fused() ? lambda2 : 0.0;
    for (int i = 0; i < p_.features(); ++i) {
      thresholds[i] = std::isinf(p_.factor[i]) ? p_.factor[i] : lambda1 * p_.factor[i];
      for (int a = p_.graph.begin(i); !p_.fused() && a < p_.graph.end(i); ++a)
        g[i] -= 2 * lambda2 * p_.graph.weight(a) * (beta_[i] - beta_[p_.graph.head(a)]);
    }
    if (p_.settings.sign == Sign::nonpositive) g = -g;
    const Long s = 1 / std::max<Long>(1, largest_ratio(g, thresholds, fused));
    const Long edges =
        p_.fused() ? 0 : s * s * lambda2 * testing::variation(p_, beta_.cast<double>());
    const Long null = testing::null_objective(p_);
    const Long primal = objective(lambda1, lambda2);
    return {(primal - dual(s) + edges) / null, rounding(thresholds, lambda2, null) * (1 + primal / null)};
  }

 private:
  // Optimises intercept and covariates for beta, to higher precision than the fit returns.
  void refit_unpenalised() {
    const int extra = p_.settings.intercept ? 1 : 0;
    LongMatrix u = LongMatrix::Ones(p_.rows(), extra + p_.covariates.cols());
    u.rightCols(p_.covariates.cols()) = p_.covariates.cast<Long>();
    for (int step = 0; step < 4; ++step) {
      evaluate();
      if (u.cols() == 0) return;
      const LongMatrix bend = u.transpose() * curvature_.asDiagonal() * u;
      const LongVector change = u * bend.fullPivLu().solve(u.transpose() * residual_);
      if (!change.allFinite() || change.cwiseAbs().maxCoeff() > 1e-2L * (1 + size().maxCoeff())) return;
      eta_ += change;
    }
    evaluate();
  }

  void evaluate() {
    residual_.resize(p_.rows());
    curvature_.resize(p_.rows());
    for (int i = 0; i < p_.rows(); ++i) {
      const Long wrong = 1 / (1 + std::exp(y_[i] * eta_[i]));
      residual_[i] = omega_[i] * (p_.gaussian() ? y_[i] - eta_[i] : y_[i] * wrong);
      curvature_[i] = omega_[i] * (p_.gaussian() ? 1 : wrong * (1 - wrong));
    }
  }

  Long loss() const {
    Long sum = 0;
    for (int i = 0; i < p_.rows(); ++i) {
      const Long margin = y_[i] * eta_[i], error = y_[i] - eta_[i];
      sum += omega_[i] * (p_.gaussian() ? error * error / 2
                                        : std::log1p(std::exp(-std::fabs(margin))) +
                                              std::max<Long>(0, -margin));
    }
    return sum;
  }

  Long dual(Long s) const {
    Long value = 0;
    for (int i = 0; i < p_.rows(); ++i) {
      if (omega_[i] == 0) continue;
      const Long theta = s * residual_[i], u = theta * y_[i] / omega_[i];
      value -= theta * p_.offset[i];
      if (p_.gaussian()) value += theta * y_[i] - theta * theta / omega_[i] / 2;
      else if (u > 0 && u < 1) value -= omega_[i] * (u * std::log(u) + (1 - u) * std::log1p(-u));
    }
    return value;
  }

  Long largest_ratio(const LongVector& g, const LongVector& thresholds, double lambda2) const {
    Long largest = 0;
    for (unsigned set = 1; set < (1u << p_.features()); ++set) {
      Long sum = 0, charge = 0;
      for (int i = 0; i < p_.features(); ++i) {
        if (!(set >> i & 1)) continue;
        sum += g[i];
        charge += thresholds[i];
        for (int a = p_.graph.begin(i); a < p_.graph.end(i); ++a)
          if (!(set >> p_.graph.head(a) & 1)) charge += lambda2 * p_.graph.weight(a);
      }
      if (p_.settings.sign == Sign::free) sum = std::fabs(sum);
      if (charge > 0) largest = std::max(largest, sum / charge);
    }
    return largest;
  }

  // The size of the terms that the linear predictor is a sum of.
  LongVector size() const {
    return p_.offset.cast<Long>().cwiseAbs() + y_.cwiseAbs() + x_.cwiseAbs() * beta_.cwiseAbs() +
           free_part_;
  }

  // The effect of the fit's rounding in double on the ratio of a node and on the objective.
  Long rounding(const LongVector& thresholds, double lambda2, Long null) const {
    const LongVector blur = 1e-12L * omega_.cwiseProduct(size());
    const LongVector error = residual_.cwiseAbs().cwiseQuotient(omega_.cwiseMax(1e-300L));
    Long largest = 1e-12L + blur.dot(error) / null;
    for (int i = 0; i < p_.features(); ++i) {
      if (thresholds[i] == 0) continue;
      const Long own = x_.col(i).cwiseAbs().dot(blur) + 1e-15L * lambda2 * pulls(i);
      largest = std::max(largest, own / thresholds[i]);
    }
    return largest;
  }

  // The size of the terms that the Laplacian's slope is a sum of.
  Long pulls(int i) const {
    Long sum = 0;
    for (int a = p_.graph.begin(i); !p_.fused() && a < p_.graph.end(i); ++a)
      sum += 2 * p_.graph.weight(a) * (std::fabs(beta_[i]) + std::fabs(beta_[p_.graph.head(a)]));
    return sum;
  }

  const Problem& p_;
  LongMatrix x_;
  LongVector y_, omega_, beta_, eta_, free_part_, residual_, curvature_;
};

bool any_unpenalised(const Problem& p, double lambda1) {
  return lambda1 == 0 || (p.factor.array() == 0).any();
}

// The reported gap must bound the true one. If a feature is not penalised, no scaling of the
// residual proves anything; then no much better fit may be better by more than the gap.
std::string wrong_gap(const Problem& p, double lambda1, double lambda2, const Fit& fit) {
  const Prover prover(p, fit);
  Proof proof = prover.prove(lambda1, lambda2);
  if (any_unpenalised(p, lambda1)) {
    Problem better = p;
    better.settings.standardize = false;
    better.settings.algorithm = "pursuit";
    better.settings.thresh = 1e-11;
    Poll poll;
    const Prover best(better, better.path(poll)->fit({lambda1, lambda2}));
    const Long here = prover.objective(lambda1, lambda2), there = best.objective(lambda1, lambda2);
    proof.gap = (here - there) / testing::null_objective(p);
  }
  if (proof.gap <= fit.gap * (1 + 1e-3) + proof.rounding) return "";
  std::ostringstream out;
  out << "gap " << fit.gap << " reported, " << proof.gap << " true, rounding " << proof.rounding;
  return out.str();
}

fuzz::Outcome refused() {
  fuzz::Outcome outcome;
  outcome.refused = true;
  return outcome;
}

}  // namespace

fuzz::Outcome fuzz::fit_case(std::uint32_t seed) {
  Random random(seed);
  const Problem p = hostile_problem(random);
  if (p.weights.sum() <= 0) return refused();  // by the checks of the R code
  const Problem seen = p.settings.standardize ? standardised(p) : p;
  const testing::SparseColumns columns(p.x);
  const bool sparse = chance(random, 3);
  Poll poll;
  std::unique_ptr<n2gfl::Path> path;
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
    const Fit raw = path->fit({lambda1, lambda2});
    const Fit fit = p.settings.standardize ? on_scale(raw, p, seen) : raw;
    outcome.wrong = wrong_values(seen, fit);
    // The first-order methods get too few iterations here to always converge.
    if (!fit.converged && p.settings.algorithm == "pursuit")
      outcome.note = "gap " + std::to_string(fit.gap);
    if (outcome.wrong.empty() && std::isfinite(fit.gap) && is_posed(p))
      outcome.wrong = wrong_gap(seen, lambda1, lambda2, fit);
    outcome.setting = setting_of(p, lambda1, lambda2);
    if (!outcome.wrong.empty()) return outcome;
  }
  return outcome;
}
