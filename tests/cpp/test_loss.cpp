// Losses against finite differences and against Fenchel's inequality.
#include "check.hpp"
#include "random_data.hpp"

#include "loss/families.hpp"

#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>

using Eigen::VectorXd;
using n2gfl::Loss;
using n2gfl::make_loss;
using testing::below;
using testing::Random;
using testing::uniform_vector;
using testing::vec;

namespace {

const char* const kFamilies[] = {"gaussian", "binomial"};

VectorXd random_response(Random& random, const std::string& family, int n) {
  VectorXd y = uniform_vector(random, n, -2, 2);
  if (family == "binomial")
    for (int i = 0; i < n; ++i) y[i] = y[i] > 0 ? 1 : -1;
  return y;
}

double value_of(const Loss& loss, const VectorXd& eta) {
  VectorXd residual;
  return loss.evaluate(eta, residual);
}

// Directly from the definition, for moderate eta.
double definition(const std::string& family, const VectorXd& y, const VectorXd& weights,
                  const VectorXd& eta) {
  double sum = 0;
  for (int i = 0; i < y.size(); ++i)
    sum += weights[i] * (family == "gaussian" ? 0.5 * (y[i] - eta[i]) * (y[i] - eta[i])
                                              : std::log(1 + std::exp(-y[i] * eta[i])));
  return sum / weights.sum();
}

}  // namespace

TEST(loss_value_is_the_weighted_mean) {
  Random random(1);
  for (const char* family : kFamilies)
    for (int round = 0; round < 20; ++round) {
      const int n = 1 + below(random, 12);
      const VectorXd y = random_response(random, family, n);
      const VectorXd weights = uniform_vector(random, n, 0.1, 3);
      const VectorXd eta = uniform_vector(random, n, -3, 3);
      const auto loss = make_loss(family, y, weights);
      CHECK_NEAR(value_of(*loss, eta), definition(family, y, weights, eta), 1e-13);
      CHECK_NEAR(loss->weights().sum(), 1, 1e-14);
      CHECK(loss->size() == n && loss->response() == y);
      CHECK(value_of(*loss, eta) >= loss->saturated());
    }
}

TEST(loss_derivatives_agree_with_differences) {
  Random random(2);
  const double h = 1e-5;
  for (const char* family : kFamilies) {
    const int n = 9;
    const auto loss = make_loss(family, random_response(random, family, n),
                                uniform_vector(random, n, 0.1, 3));
    const VectorXd eta = uniform_vector(random, n, -4, 4);
    VectorXd residual, curvature, above, below;
    loss->evaluate(eta, residual, &curvature);
    for (int i = 0; i < n; ++i) {
      const VectorXd step = h * VectorXd::Unit(n, i);
      const double up = loss->evaluate(eta + step, above);
      const double down = loss->evaluate(eta - step, below);
      CHECK_NEAR(residual[i], -(up - down) / (2 * h), 1e-9);
      CHECK_NEAR(curvature[i], -(above[i] - below[i]) / (2 * h), 1e-9);
      CHECK(curvature[i] > 0);
    }
  }
}

TEST(loss_and_its_dual_meet_at_the_residual) {
  Random random(3);
  for (const char* family : kFamilies)
    for (int round = 0; round < 50; ++round) {
      const int n = 1 + random() % 8;
      const auto loss = make_loss(family, random_response(random, family, n),
                                  uniform_vector(random, n, 0.1, 3));
      const VectorXd eta = uniform_vector(random, n, -6, 6), other = uniform_vector(random, n, -6, 6);
      VectorXd theta, other_theta;
      const double value = loss->evaluate(eta, theta);
      loss->evaluate(other, other_theta);
      CHECK_NEAR(loss->dual(theta), value + theta.dot(eta), 1e-13 * (1 + value));
      // Everywhere else the dual is strictly smaller.
      CHECK(loss->dual(other_theta) < value + other_theta.dot(eta));
      CHECK(loss->dual(0.7 * theta) < value + 0.7 * theta.dot(eta));
    }
}

TEST(binomial_dual_has_a_domain) {
  const VectorXd y = vec({1, -1});
  const auto loss = make_loss("binomial", y, VectorXd::Ones(2));
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(loss->dual(vec({-1e-3, 0})) == -infinity);
  CHECK(loss->dual(vec({0.5 + 1e-3, 0})) == -infinity);
  CHECK(loss->dual(vec({0, 1e-3})) == -infinity);
  CHECK(loss->dual(vec({0.5, -0.5})) == 0);  // the corners: no log(0)
  CHECK(loss->dual(VectorXd::Zero(2)) == 0);
  CHECK_NEAR(loss->dual(vec({0.25, -0.25})), std::log(2.0), 1e-15);
}

TEST(binomial_survives_extreme_margins) {
  for (double size : {40.0, 800.0, 1e4, 1e300}) {
    const VectorXd y = vec({1, 1, -1, -1});
    const VectorXd eta = size * vec({1, -1, 1, -1});
    const auto loss = make_loss("binomial", y, VectorXd::Ones(4));
    VectorXd residual, curvature;
    const double value = loss->evaluate(eta, residual, &curvature);
    CHECK_NEAR(value, 0.5 * size, 1e-12 * size);
    CHECK(residual.allFinite() && curvature.allFinite());
    CHECK(curvature.minCoeff() >= 0);
    CHECK_NEAR(residual[0], 0, 1e-17);     // clearly right
    CHECK_NEAR(residual[1], 0.25, 1e-17);  // clearly wrong
    CHECK_NEAR(residual[2], -0.25, 1e-17);
    CHECK(std::isfinite(loss->dual(residual)));
  }
  // For a large but not extreme margin, 1 - p loses no digits.
  const auto loss = make_loss("binomial", VectorXd::Ones(1), VectorXd::Ones(1));
  VectorXd residual, curvature;
  for (double sign : {-1.0, 1.0}) {
    loss->evaluate(VectorXd::Constant(1, sign * 40), residual, &curvature);
    CHECK_NEAR(curvature[0] / std::exp(-40.0), 1, 1e-12);
  }
  CHECK_NEAR(residual[0] / std::exp(-40.0), 1, 1e-12);
}

TEST(zero_weights_remove_observations) {
  Random random(4);
  for (const char* family : kFamilies) {
    VectorXd y = random_response(random, family, 6), weights = uniform_vector(random, 6, 0.5, 2);
    VectorXd eta = uniform_vector(random, 6, -2, 2);
    weights[4] = weights[5] = 0;
    const auto all = make_loss(family, y, weights);
    const auto some = make_loss(family, y.head(4), weights.head(4));
    VectorXd theta, some_theta, curvature;
    CHECK_NEAR(all->evaluate(eta, theta, &curvature), value_of(*some, eta.head(4)), 1e-15);
    some->evaluate(eta.head(4), some_theta);
    CHECK(theta[4] == 0 && theta[5] == 0 && curvature[4] == 0);
    CHECK_NEAR((theta.head(4) - some_theta).norm(), 0, 1e-16);
    CHECK_NEAR(all->dual(theta), some->dual(some_theta), 1e-15);
    eta[5] = 1e4;
    CHECK_NEAR(value_of(*all, eta), value_of(*some, eta.head(4)), 1e-15);
  }
}

TEST(families_are_known_by_name) {
  const VectorXd one = VectorXd::Ones(1);
  CHECK(make_loss("gaussian", one, one)->quadratic());
  CHECK(!make_loss("binomial", one, one)->quadratic());
  bool refused = false;
  try {
    make_loss("poisson?", one, one);
  } catch (const std::invalid_argument& error) {
    refused = std::string(error.what()).find("poisson?") != std::string::npos;
  }
  CHECK(refused);
}
