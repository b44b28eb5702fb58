// Small random fits, and a certificate without code of the core: the objective from its
// definition, the duality gap by brute force over all sets of nodes.
#pragma once

#include "random_data.hpp"
#include "reference_loss.hpp"

#include "data/problem.hpp"
#include "loss/families.hpp"
#include "solve/path.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

namespace testing {

struct Settings : n2gfl::ProblemSettings, n2gfl::PathSettings {};

// A path with the problem that it refers to.
struct PathWithProblem {
  PathWithProblem(n2gfl::Inputs inputs, const n2gfl::Graph& graph, const Settings& settings,
                  n2gfl::Poll& poll)
      : problem(std::move(inputs), graph, poll), path(problem, settings) {}

  n2gfl::Problem problem;
  n2gfl::Path path;
};

struct Problem {
  MatrixXd x, covariates;
  VectorXd y, weights, offset, factor;
  MatrixXd more;  // further columns of the response: status and stratum of a time
  n2gfl::Graph graph;
  Settings settings;

  int rows() const { return static_cast<int>(x.rows()); }
  int features() const { return static_cast<int>(x.cols()); }
  bool gaussian() const { return settings.family == "gaussian"; }
  bool fused() const { return settings.penalty == n2gfl::PenaltyType::fused; }

  MatrixXd response() const {
    MatrixXd all(y.size(), 1 + more.cols());
    all.col(0) = y;
    if (more.cols() > 0) all.rightCols(more.cols()) = more;
    return all;
  }

  n2gfl::Inputs inputs(const n2gfl::Design& design) const {
    return {design, response(), weights, offset, covariates, factor, settings};
  }

  // Each path keeps its problem alive.
  std::shared_ptr<n2gfl::Path> path(n2gfl::Poll& poll) const {
    return path(n2gfl::Design::dense(x.data(), rows(), features()), poll);
  }
  std::shared_ptr<n2gfl::Path> path(const n2gfl::Design& design, n2gfl::Poll& poll) const {
    const auto both = std::make_shared<PathWithProblem>(inputs(design), graph, settings, poll);
    return {both, &both->path};
  }

  // The order of magnitude of the largest useful lambda1.
  double scale() const {
    const VectorXd omega = weights / weights.sum();
    VectorXd like = y;  // what features must explain: for times, which row has the event
    if (more.cols() > 0) like = more.col(0);
    const VectorXd centred = like.array() - omega.dot(like);
    return (x.transpose() * omega.cwiseProduct(centred)).cwiseAbs().maxCoeff();
  }
};

// Counts; times, often with ties and always with some event, of which features shorten the times;
// or up to four levels.
inline void respond(Problem& p, Random& random, const VectorXd& eta) {
  const int n = p.rows();
  p.y = eta;
  p.more.resize(n, p.settings.family == "cox" ? 2 : 0);
  const bool ties = p.more.cols() > 0 && random() % 2, strata = p.more.cols() > 0 && random() % 3 == 0;
  for (int i = 0; i < n; ++i) {
    if (p.settings.family == "binomial") p.y[i] = eta[i] + uniform(random, -1, 1) > 0 ? 1 : -1;
    if (p.settings.family == "poisson")
      p.y[i] = std::poisson_distribution<int>(std::exp(0.7 + eta[i]))(random);
    if (p.settings.family == "ordinal")
      p.y[i] = i < 4 ? i + 1 : below(random, 8) == 0 ? 1 + below(random, 4)
                               : 1 + (eta[i] > -0.7) + (eta[i] > 0) + (eta[i] > 0.7);
    if (p.settings.family != "cox") continue;
    p.y[i] = std::exp(-eta[i]) * -std::log(uniform(random, 1e-6, 1));
    if (ties) p.y[i] = std::ceil(4 * p.y[i]);
    p.more.row(i) << (random() % 4 > 0 ? 1 : 0), (strata && random() % 2 ? 2 : 1);
  }
  if (p.more.cols() > 0) p.more(std::min_element(p.y.data(), p.y.data() + n) - p.y.data(), 0) = 1;
}

// Plain: no weights, offset, covariates or factors.
inline Problem plain_problem(Random& random, const std::string& family, int rows, int features) {
  Problem p;
  p.settings.family = family;
  p.x = uniform_matrix(random, rows, features, -1, 1);
  VectorXd eta = 0.5 * uniform_vector(random, rows, -1, 1);
  for (int j = 0; j < features; ++j)
    if (j % 5 < 2) eta += (j % 10 < 5 ? 1.0 : -0.8) * p.x.col(j);
  respond(p, random, eta);
  p.weights = VectorXd::Ones(rows);
  p.offset = VectorXd::Zero(rows);
  p.factor = VectorXd::Ones(features);
  p.covariates.resize(rows, 0);
  p.graph = chain(features);
  return p;
}

inline VectorXd random_factor(Random& random, int features) {
  VectorXd factor = uniform_vector(random, features, 0.3, 2);
  if (random() % 2) factor[random() % features] = 0;
  if (random() % 2) factor[random() % features] = kInfinity;
  return factor;
}

// A random choice among everything that the arguments allow. Without a family, one of the first two.
inline Problem random_problem(Random& random, const std::string& family = "") {
  const int rows = 15 + below(random, 20), features = 1 + below(random, 10);
  const char* drawn = random() % 2 ? "gaussian" : "binomial";
  Problem p = plain_problem(random, family.empty() ? drawn : family, rows, features);
  const n2gfl::Sign signs[] = {n2gfl::Sign::nonnegative, n2gfl::Sign::nonpositive,
                               n2gfl::Sign::free};
  p.settings.sign = signs[random() % 3];
  p.settings.intercept = random() % 4 > 0;
  p.graph = random_graph(random, features);
  if (random() % 2) p.weights = uniform_vector(random, rows, 0.3, 3);
  if (random() % 4 == 0) p.weights[random() % rows] = 0;
  if (random() % 3 == 0) p.offset = uniform_vector(random, rows, -0.5, 0.5);
  if (random() % 3 == 0) p.covariates = uniform_matrix(random, rows, 1 + random() % 2, -1, 1);
  if (random() % 2) p.factor = random_factor(random, features);
  if (random() % 3 == 0)
    for (int j = 0; j < features; ++j)
      for (int i = 0; i < rows; ++i)
        if (random() % 2) p.x(i, j) = 0;
  return p;
}

inline VectorXd dense_beta(const n2gfl::Fit& fit, int features) {
  VectorXd beta = VectorXd::Zero(features);
  for (std::size_t k = 0; k < fit.index.size(); ++k) beta[fit.index[k]] = fit.value[k];
  return beta;
}

// ---- the model, from its definition

inline std::unique_ptr<ReferenceLoss<double>> definition_of(const Problem& p) {
  return reference_loss<double>(p.settings.family, p.response(), p.weights);
}

// One value for each row of the definition: two for most observations of an ordinal response.
inline VectorXd linear_predictor(const Problem& p, const n2gfl::Fit& fit) {
  VectorXd each = p.offset + p.x * dense_beta(fit, p.features());
  each.array() += fit.intercept;
  if (p.covariates.cols() > 0) each += p.covariates * fit.covariates;
  const auto loss = definition_of(p);
  VectorXd eta(loss->rows());
  for (int row = 0; row < loss->rows(); ++row) eta[row] = each[loss->observation[row]];
  if (loss->own.cols() > 0) eta += loss->own * fit.own;
  return eta;
}

inline double loss_at(const Problem& p, const VectorXd& eta) {
  return definition_of(p)->value(eta);
}

inline double variation(const Problem& p, const VectorXd& beta) {
  double sum = 0;
  for (int i = 0; i < p.features(); ++i)
    for (int a = p.graph.begin(i); a < p.graph.end(i); ++a) {
      const double difference = beta[i] - beta[p.graph.head(a)];
      sum += 0.5 * p.graph.weight(a) * (p.fused() ? std::fabs(difference) : difference * difference);
    }
  return sum;
}

inline double objective_at(const Problem& p, double lambda1, double lambda2, const VectorXd& eta,
                           const VectorXd& beta) {
  double size = 0;
  for (int i = 0; i < p.features(); ++i)
    if (beta[i] != 0) size += p.factor[i] * std::fabs(beta[i]);  // Inf where beta must be zero
  if (size > 0) size *= lambda1;
  return loss_at(p, eta) + size + lambda2 * variation(p, beta);
}

inline double objective_of(const Problem& p, double lambda1, double lambda2, const n2gfl::Fit& fit) {
  return objective_at(p, lambda1, lambda2, linear_predictor(p, fit), dense_beta(fit, p.features()));
}

// ---- certificates

// The largest ratio of sum_S g to the penalty of S, over all sets S of nodes. Sets without penalty
// have no ratio: `unseen` is the largest sum over such a set.
struct LargestRatio {
  double ratio = 0, unseen = 0;
};

inline LargestRatio largest_ratio(const n2gfl::Graph& graph, const VectorXd& g,
                                  const VectorXd& thresholds, double lambda2, bool both_sides) {
  LargestRatio answer;
  const int n = graph.nodes();
  for (unsigned set = 1; set < (1u << n); ++set) {
    double sum = 0, charge = 0;
    for (int i = 0; i < n; ++i) {
      if (!(set >> i & 1)) continue;
      sum += g[i];
      charge += thresholds[i];
      for (int a = graph.begin(i); a < graph.end(i); ++a)
        if (!(set >> graph.head(a) & 1)) charge += lambda2 * graph.weight(a);
    }
    if (both_sides) sum = std::fabs(sum);
    if (charge > 0)
      answer.ratio = std::max(answer.ratio, sum / charge);
    else
      answer.unseen = std::max(answer.unseen, sum);
  }
  return answer;
}

inline double null_objective(const Problem& p) {
  const auto loss = n2gfl::make_loss(p.settings.family, p.response(), p.weights);
  const int extra = p.settings.intercept || loss->ignores_constants() ? 1 : 0;
  MatrixXd u = MatrixXd::Ones(p.rows(), extra + p.covariates.cols());
  u.rightCols(p.covariates.cols()) = p.covariates;
  n2gfl::Profile profile(*loss, u, p.offset);
  return profile.evaluate(VectorXd::Zero(p.rows())).loss();
}

struct Certificate {
  double objective = 0;
  double gap = 0;          // (primal - dual) / null objective
  double unpenalised = 0;  // largest slope along unpenalised directions: must be rounding
};

inline Certificate certify(const Problem& p, double lambda1, double lambda2, const n2gfl::Fit& fit) {
  const VectorXd beta = dense_beta(fit, p.features()), eta = linear_predictor(p, fit);
  const auto loss = definition_of(p);
  const VectorXd r = loss->residual(eta);
  VectorXd each = VectorXd::Zero(p.rows());  // by observation
  for (int row = 0; row < loss->rows(); ++row) each[loss->observation[row]] += r[row];
  const bool both_sides = p.settings.sign == n2gfl::Sign::free;
  VectorXd g = p.x.transpose() * each, thresholds(p.features());
  for (int i = 0; i < p.features(); ++i) {
    const double u = p.factor[i];
    thresholds[i] = u == 0 ? 0 : std::isinf(u) ? kInfinity : lambda1 * u;
    for (int a = p.graph.begin(i); !p.fused() && a < p.graph.end(i); ++a)
      g[i] -= 2 * lambda2 * p.graph.weight(a) * (beta[i] - beta[p.graph.head(a)]);
  }
  if (p.settings.sign == n2gfl::Sign::nonpositive) g = -g;
  const LargestRatio largest =
      largest_ratio(p.graph, g, thresholds, p.fused() ? lambda2 : 0.0, both_sides);
  const double s = 1 / std::max(1.0, largest.ratio);
  const double edges = p.fused() ? 0 : s * s * lambda2 * variation(p, beta);
  Certificate answer;
  answer.objective = objective_of(p, lambda1, lambda2, fit);
  const double dual = loss->dual(s * r) - s * each.dot(p.offset);
  answer.gap = (answer.objective - dual + edges) / null_objective(p);
  answer.unpenalised = largest.unseen;
  const auto see = [&](double slope) {
    answer.unpenalised = std::max(answer.unpenalised, std::fabs(slope));
  };
  if (p.settings.intercept) see(each.sum());
  for (int k = 0; k < p.covariates.cols(); ++k) see(p.covariates.col(k).dot(each));
  for (int k = 0; k < loss->own.cols(); ++k) see(loss->own.col(k).dot(r));
  return answer;
}

}  // namespace testing
