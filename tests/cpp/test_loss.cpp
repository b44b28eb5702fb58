// Losses against their definitions, finite differences and Fenchel's inequality.
#include "check.hpp"
#include "random_data.hpp"

#include "loss/binomial_loss.hpp"
#include "loss/families.hpp"
#include "loss/poisson_loss.hpp"

#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>

using Eigen::MatrixXd;
using Eigen::VectorXd;
using n2gfl::DualPoint;
using n2gfl::Loss;
using n2gfl::LossPoint;
using n2gfl::make_loss;
using testing::below;
using testing::kFamilies;
using testing::kInfinity;
using testing::Random;
using testing::random_response;
using testing::uniform_vector;
using testing::vec;

namespace {

LossPoint point_at(const Loss& loss, const VectorXd& eta, const VectorXd& own) {
  LossPoint at;
  loss.compute(eta, own, at);
  return at;
}

double value_of(const Loss& loss, const VectorXd& eta, const VectorXd& own) {
  return point_at(loss, eta, own).value;
}

// Increasing, as cut points must be.
VectorXd random_own(Random& random, const Loss& loss) {
  VectorXd own = loss.own_start();
  for (int k = 0; k < own.size(); ++k)
    own[k] = (k > 0 ? own[k - 1] : -1.0) + testing::uniform(random, 0.05, 1.5);
  return own;
}

double log_or_zero(double x) { return x > 0 ? std::log(x) : 0.0; }

double sigma(double x) { return 1 / (1 + std::exp(-x)); }

// All of it in loops over pairs of observations.
double cox_definition(const MatrixXd& y, const VectorXd& weights, const VectorXd& eta) {
  double sum = 0;
  for (int i = 0; i < y.rows(); ++i) {
    if (y(i, 1) == 0) continue;
    double risk = 0, events = 0;
    for (int j = 0; j < y.rows(); ++j) {
      if (y(j, 2) != y(i, 2) || y(j, 0) < y(i, 0)) continue;
      risk += weights[j] * std::exp(eta[j]);
      if (y(j, 0) == y(i, 0) && y(j, 1) > 0) events += weights[j];
    }
    sum += weights[i] * (std::log(risk / events) - eta[i]);
  }
  return sum / weights.sum();
}

// Directly from the definition, for moderate eta.
double definition(const std::string& family, const MatrixXd& y, const VectorXd& weights,
                  const VectorXd& eta, const VectorXd& own) {
  if (family == "cox") return cox_definition(y, weights, eta);
  double sum = 0;
  for (int i = 0; i < y.rows(); ++i) {
    const double v = y(i, 0), e = eta[i];
    double loss = 0;
    if (family == "gaussian") loss = 0.5 * (v - e) * (v - e);
    if (family == "binomial") loss = std::log(1 + std::exp(-v * e));
    if (family == "poisson") loss = std::exp(e) - v * e - v + v * log_or_zero(v);
    if (family == "ordinal") {
      const int level = static_cast<int>(v);
      const double upper = level > own.size() ? 1 : sigma(own[level - 1] - e);
      const double lower = level == 1 ? 0 : sigma(own[level - 2] - e);
      loss = -std::log(upper - lower);
    }
    sum += weights[i] * loss;
  }
  return sum / weights.sum();
}

// A loss of random data and a random place.
struct Example {
  Example(Random& random, const std::string& family, int n, double reach = 3)
      : y(random_response(random, family, n)), weights(uniform_vector(random, n, 0.1, 3)),
        loss(make_loss(family, y, weights)), eta(uniform_vector(random, n, -reach, reach)),
        own(random_own(random, *loss)) {}
  MatrixXd y;
  VectorXd weights;
  std::unique_ptr<Loss> loss;
  VectorXd eta, own;
};

}  // namespace

TEST(loss_value_is_its_definition) {
  Random random(1);
  for (const char* family : kFamilies)
    for (int round = 0; round < 30; ++round) {
      const int n = 4 + below(random, 12);
      const Example e(random, family, n);
      const double value = value_of(*e.loss, e.eta, e.own);
      CHECK_NEAR(value, definition(family, e.y, e.weights, e.eta, e.own), 1e-12);
      CHECK_NEAR(e.loss->weights().sum(), 1, 1e-14);
      CHECK(e.loss->size() == n && value >= 0);
    }
}

TEST(loss_derivatives_agree_with_differences) {
  Random random(2);
  const double h = 1e-5;
  for (const char* family : kFamilies)
    for (int round = 0; round < 5; ++round) {
      const int n = 9;
      const Example e(random, family, n, 4);
      const LossPoint at = point_at(*e.loss, e.eta, e.own);
      const MatrixXd hessian = at.curvature.times(MatrixXd::Identity(n, n));
      CHECK(at.curvature.diagonal.minCoeff() > 0 || at.curvature.less);
      const double scale = 1 + hessian.norm();
      for (int i = 0; i < n; ++i) {
        const VectorXd step = h * VectorXd::Unit(n, i);
        const LossPoint up = point_at(*e.loss, e.eta + step, e.own);
        const LossPoint down = point_at(*e.loss, e.eta - step, e.own);
        CHECK_NEAR(at.residual[i], -(up.value - down.value) / (2 * h), 1e-8 * scale);
        const VectorXd bend = -(up.residual - down.residual) / (2 * h);
        CHECK_NEAR((hessian.col(i) - bend).norm(), 0, 1e-8 * scale);
      }
      for (int k = 0; k < e.own.size(); ++k) {
        const VectorXd step = h * VectorXd::Unit(e.own.size(), k);
        const LossPoint up = point_at(*e.loss, e.eta, e.own + step);
        const LossPoint down = point_at(*e.loss, e.eta, e.own - step);
        CHECK_NEAR(at.own_residual[k], -(up.value - down.value) / (2 * h), 1e-7);
        const VectorXd bend = -(up.own_residual - down.own_residual) / (2 * h);
        CHECK_NEAR((at.own_curvature.col(k) - bend).norm(), 0, 1e-5 * (1 + bend.norm()));
        const VectorXd mixed = -(up.residual - down.residual) / (2 * h);
        CHECK_NEAR((at.cross.col(k) - mixed).norm(), 0, 1e-7);
      }
    }
}

TEST(low_rank_curvature_is_one_operator_and_its_transpose) {
  Random random(12);
  for (int round = 0; round < 10; ++round) {
    const Example e(random, "cox", 15);
    const LossPoint at = point_at(*e.loss, e.eta, e.own);
    CHECK(at.curvature.less != nullptr);
    const MatrixXd l = at.curvature.less->transposed_times(MatrixXd::Identity(15, 15)).transpose();
    const MatrixXd w = testing::uniform_matrix(random, static_cast<int>(l.cols()), 3, -1, 1);
    CHECK_NEAR((at.curvature.less->times(w) - l * w).norm(), 0, 1e-13);
    CHECK_NEAR(at.curvature.times(VectorXd::Ones(15)).norm(), 0, 1e-13);
  }
}

// At the point itself the bound is exact; at every other eta it is below f + theta'eta. With own
// parameters the inequality holds at their optimum, which the profile's tests look for.
TEST(loss_and_its_bound_meet_at_the_residual) {
  Random random(3);
  for (const char* family : kFamilies)
    for (int round = 0; round < 50; ++round) {
      const int n = 4 + below(random, 8);
      const Example e(random, family, n, 6);
      const LossPoint at = point_at(*e.loss, e.eta, e.own);
      const DualPoint dual = e.loss->dual_point(at);
      const double own_part = at.own_residual.size() > 0 ? at.own_residual.dot(e.own) : 0.0;
      const double meet = at.value + dual.theta.dot(e.eta) + own_part;
      CHECK_NEAR(e.loss->bound(dual, 1), meet, 1e-12 * (1 + at.value + dual.theta.norm()));
      for (double scale : {0.0, 1e-9, 0.3, 0.7, 0.999, 1.0}) {
        const VectorXd other = uniform_vector(random, n, -6, 6), cuts = random_own(random, *e.loss);
        const double there = value_of(*e.loss, other, cuts) + scale * dual.theta.dot(other) +
                             (cuts.size() > 0 ? scale * at.own_residual.dot(cuts) : 0.0);
        CHECK(e.loss->bound(dual, scale) <= there + 1e-12 * (1 + std::fabs(there)));
      }
      CHECK_NEAR(e.loss->bound(dual, 0), 0, 1e-13);
    }
}

// Moved as Newton's method would move it, theta has another bound, which must hold everywhere.
TEST(moved_dual_points_keep_their_bound) {
  Random random(13);
  int inside = 0;
  for (const char* family : kFamilies)
    for (int round = 0; round < 40; ++round) {
      const int n = 4 + below(random, 8);
      const Example e(random, family, n, 2);
      const LossPoint at = point_at(*e.loss, e.eta, e.own);
      DualPoint dual = e.loss->dual_point(at);
      const double size = round % 2 ? 0.3 : 1e-4;
      const VectorXd along = uniform_vector(random, n, -size, size);
      const VectorXd own = uniform_vector(random, static_cast<int>(e.own.size()), -size, size);
      const VectorXd before = dual.theta;
      e.loss->move(dual, at, along, own);
      VectorXd moved = at.curvature.times(along);
      if (own.size() > 0) moved += at.cross * own;
      CHECK_NEAR((before - dual.theta - moved).norm(), 0, 1e-13 * (1 + moved.norm()));
      VectorXd slack = at.own_residual;  // minus the gradient in the own parameters
      if (own.size() > 0) slack -= at.cross.transpose() * along + at.own_curvature * own;
      const double bound = e.loss->bound(dual, 0.8);
      if (bound == -kInfinity) continue;
      ++inside;
      const VectorXd other = e.eta + uniform_vector(random, n, -0.5, 0.5);
      const VectorXd cuts = random_own(random, *e.loss);
      const double there = value_of(*e.loss, other, cuts) + 0.8 * dual.theta.dot(other) +
                           (cuts.size() > 0 ? 0.8 * slack.dot(cuts) : 0.0);
      CHECK(bound <= there + 1e-12);
    }
  CHECK(inside > 120);
}

TEST(a_small_move_costs_little_of_the_bound) {
  Random random(14);
  for (const char* family : kFamilies) {
    const Example e(random, family, 12, 2);
    const LossPoint at = point_at(*e.loss, e.eta, e.own);
    const VectorXd along = uniform_vector(random, 12, -1, 1);
    const VectorXd own = VectorXd::Zero(e.own.size());
    auto loss_of_move = [&](double t) {
      DualPoint dual = e.loss->dual_point(at);
      e.loss->move(dual, at, t * along, own);
      double meet = at.value + dual.theta.dot(e.eta);
      if (own.size() > 0)
        meet += (at.own_residual - t * at.cross.transpose() * along).dot(e.own);
      return meet - e.loss->bound(dual, 1);
    };
    CHECK(loss_of_move(1e-2) >= -1e-14 && loss_of_move(1e-2) < 1e-2);
    CHECK(loss_of_move(1e-3) < 0.02 * loss_of_move(1e-2) + 1e-12);  // second order
  }
}

TEST(binomial_dual_has_a_domain) {
  const n2gfl::BinomialLoss loss(vec({1, -1}), VectorXd::Ones(2));
  CHECK(loss.dual(vec({-1e-3, 0})) == -kInfinity);
  CHECK(loss.dual(vec({0.5 + 1e-3, 0})) == -kInfinity);
  CHECK(loss.dual(vec({0, 1e-3})) == -kInfinity);
  CHECK(loss.dual(vec({0.5, -0.5})) == 0);  // the corners: no log(0)
  CHECK(loss.dual(VectorXd::Zero(2)) == 0);
  CHECK_NEAR(loss.dual(vec({0.25, -0.25})), std::log(2.0), 1e-15);
}

TEST(poisson_dual_has_a_domain) {
  const n2gfl::PoissonLoss loss(vec({0, 2}), VectorXd::Ones(2));
  CHECK(loss.dual(vec({1e-3, 0})) == -kInfinity);
  CHECK(loss.dual(vec({0, 1 + 1e-3})) == -kInfinity);
  CHECK_NEAR(loss.dual(vec({0, 1})), 0.5 * (2 * std::log(2.0) - 2), 1e-15);  // the mean is zero
  CHECK(loss.dual(VectorXd::Zero(2)) == 0);
}

TEST(poisson_knows_its_best_constant) {
  Random random(15);
  const Example e(random, "poisson", 8);
  for (double far : {0.0, 50.0, -800.0, 1e4}) {
    const VectorXd eta = e.eta.array() + far;
    const VectorXd best = eta.array() + e.loss->best_constant(eta);
    CHECK_NEAR(point_at(*e.loss, best, e.own).residual.sum(), 0, 1e-12);
  }
}

TEST(binomial_survives_extreme_margins) {
  for (double size : {40.0, 800.0, 1e4, 1e300}) {
    const VectorXd eta = size * vec({1, -1, 1, -1});
    const n2gfl::BinomialLoss loss(vec({1, 1, -1, -1}), VectorXd::Ones(4));
    VectorXd residual, curvature;
    const double value = loss.evaluate(eta, residual, &curvature);
    CHECK_NEAR(value, 0.5 * size, 1e-12 * size);
    CHECK(residual.allFinite() && curvature.allFinite());
    CHECK(curvature.minCoeff() >= 0);
    CHECK_NEAR(residual[0], 0, 1e-17);     // clearly right
    CHECK_NEAR(residual[1], 0.25, 1e-17);  // clearly wrong
    CHECK_NEAR(residual[2], -0.25, 1e-17);
    CHECK(std::isfinite(loss.dual(residual)));
  }
  // For a large but not extreme margin, 1 - p loses no digits.
  const n2gfl::BinomialLoss loss(VectorXd::Ones(1), VectorXd::Ones(1));
  VectorXd residual, curvature;
  for (double sign : {-1.0, 1.0}) {
    loss.evaluate(VectorXd::Constant(1, sign * 40), residual, &curvature);
    CHECK_NEAR(curvature[0] / std::exp(-40.0), 1, 1e-12);
  }
  CHECK_NEAR(residual[0] / std::exp(-40.0), 1, 1e-12);
}

// Cox and ordinal predictors may be far apart: nothing overflows, and the bound stays finite.
TEST(far_predictors_do_not_overflow) {
  Random random(16);
  for (const char* family : {"cox", "ordinal"})
    for (double size : {40.0, 800.0, 1e5})
      for (int round = 0; round < 20; ++round) {
        const Example e(random, family, 12, size);
        const LossPoint at = point_at(*e.loss, e.eta, e.own);
        CHECK(std::isfinite(at.value) && at.residual.allFinite());
        CHECK(at.curvature.diagonal.allFinite());
        const double meet = at.value + at.residual.dot(e.eta) +
                            (e.own.size() > 0 ? at.own_residual.dot(e.own) : 0.0);
        const double bound = e.loss->bound(e.loss->dual_point(at), 1);
        CHECK_NEAR(bound, meet, 1e-10 * size);
      }
}

TEST(ordinal_levels_in_the_wrong_order_are_outside) {
  const auto loss = make_loss("ordinal", vec({1, 2, 3}), VectorXd::Ones(3));
  CHECK(value_of(*loss, VectorXd::Zero(3), vec({0.5, 0.5})) == kInfinity);
  CHECK(value_of(*loss, VectorXd::Zero(3), vec({0.5, 0.4})) == kInfinity);
  CHECK(std::isfinite(value_of(*loss, VectorXd::Zero(3), vec({0.5, 0.5 + 1e-9}))));
  const VectorXd start = loss->own_start();
  CHECK_NEAR(start[0], std::log(0.5), 1e-15);
  CHECK_NEAR(start[1], std::log(2.0), 1e-15);
}

// The pairs of extreme observations are close to the border of the dual's domain.
TEST(ordinal_bound_is_exact_near_its_border) {
  for (double u : {-700.0, -40.0, -3.0, 0.0, 3.0, 40.0, 700.0})
    for (double w : {1e-8, 1e-3, 1.0, 30.0, 600.0}) {
      const auto loss = make_loss("ordinal", vec({1, 2, 3}), vec({1e-9, 1, 1e-9}));
      const VectorXd own = vec({u - w, u});
      const LossPoint at = point_at(*loss, VectorXd::Zero(3), own);
      const DualPoint dual = loss->dual_point(at);
      const double meet = at.value + at.own_residual.dot(own);
      const double size = 1 + std::fabs(meet) + dual.parts.norm() * std::fabs(u);
      CHECK_NEAR(loss->bound(dual, 1), meet, 1e-14 * size);
    }
}

TEST(zero_weights_remove_observations) {
  Random random(4);
  for (const char* family : kFamilies) {
    const int n = 9;
    const MatrixXd y = random_response(random, family, n);
    VectorXd weights = uniform_vector(random, n, 0.5, 2), eta = uniform_vector(random, n, -2, 2);
    weights[n - 1] = weights[n - 2] = 0;
    const auto all = make_loss(family, y, weights);
    const auto some = make_loss(family, y.topRows(n - 2), weights.head(n - 2));
    const VectorXd own = all->own_start();
    const LossPoint at = point_at(*all, eta, own);
    const LossPoint left = point_at(*some, eta.head(n - 2), own);
    CHECK_NEAR(at.value, left.value, 1e-15 * (1 + left.value));
    CHECK(at.residual.tail(2).isZero(0) && at.curvature.diagonal.tail(2).isZero(0));
    CHECK_NEAR((at.residual.head(n - 2) - left.residual).norm(), 0, 1e-15);
    CHECK_NEAR(all->bound(all->dual_point(at), 0.9), some->bound(some->dual_point(left), 0.9), 1e-13);
    eta[n - 1] = 1e4;
    CHECK_NEAR(value_of(*all, eta, own), left.value, 1e-15 * (1 + left.value));
  }
}

TEST(families_are_known_by_name) {
  const VectorXd one = VectorXd::Ones(1);
  CHECK(make_loss("gaussian", one, one)->quadratic());
  for (const char* family : {"binomial", "poisson", "ordinal"})
    CHECK(!make_loss(family, one, one)->quadratic());
  bool refused = false;
  try {
    make_loss("poisson?", one, one);
  } catch (const std::invalid_argument& error) {
    refused = std::string(error.what()).find("poisson?") != std::string::npos;
  }
  CHECK(refused);
}
