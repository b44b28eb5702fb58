// The unpenalised part: is it optimal, and do the projections agree with dense algebra?
#include "check.hpp"
#include "random_data.hpp"

#include "loss/families.hpp"
#include "loss/profile.hpp"

#include <cmath>
#include <random>
#include <string>

using Eigen::MatrixXd;
using Eigen::VectorXd;
using n2gfl::Loss;
using n2gfl::make_loss;
using n2gfl::Profile;
using testing::below;
using testing::Random;
using testing::uniform_matrix;
using testing::uniform_vector;
using testing::vec;

namespace {

const char* const kFamilies[] = {"gaussian", "binomial"};

VectorXd random_response(Random& random, const std::string& family, int n) {
  VectorXd y = uniform_vector(random, n, -2, 2);
  for (int i = 0; family == "binomial" && i < n; ++i) y[i] = y[i] > 0.4 ? 1 : -1;
  return y;
}

MatrixXd with_intercept(const MatrixXd& covariates) {
  MatrixXd u = MatrixXd::Ones(covariates.rows(), covariates.cols() + 1);
  u.rightCols(covariates.cols()) = covariates;
  return u;
}

double loss_at(const Loss& loss, const VectorXd& eta) {
  VectorXd residual;
  return loss.evaluate(eta, residual);
}

// The value belongs to the coefficients, no nearby value is better, and the residual is orthogonal
// to U.
void check_best(const Loss& loss, const MatrixXd& u, const VectorXd& offset, const VectorXd& eta,
                Random& random) {
  Profile profile(loss, u, offset);
  VectorXd residual, curvature;
  const double value = profile.evaluate(eta, residual, &curvature);
  const VectorXd c = profile.coefficients(profile.coordinates());
  const VectorXd base = eta + offset;
  CHECK(profile.unpenalised() == u.cols() && c.size() == u.cols());
  CHECK_NEAR(loss_at(loss, base + u * c), value, 1e-12 * value);
  for (int round = 0; round < 10; ++round) {
    const VectorXd near = c + 1e-3 * uniform_vector(random, static_cast<int>(c.size()), -1, 1);
    CHECK(loss_at(loss, base + u * near) >= value * (1 - 1e-14));
  }
  for (int k = 0; k < u.cols(); ++k)
    CHECK_NEAR(u.col(k).dot(residual), 0, 1e-14 * u.col(k).norm() * residual.norm());
  VectorXd plain_residual, plain_curvature;
  loss.evaluate(base + u * c, plain_residual, &plain_curvature);
  CHECK_NEAR((residual - plain_residual).norm(), 0, 1e-10 * (residual.norm() + 1e-12));
  CHECK_NEAR((curvature - plain_curvature).norm(), 0, 1e-10 * curvature.norm());
}

}  // namespace

TEST(profile_intercept_has_its_closed_form) {
  Random random(1);
  const int n = 20;
  const VectorXd weights = uniform_vector(random, n, 0.2, 2), omega = weights / weights.sum();
  VectorXd residual;

  const VectorXd y = random_response(random, "gaussian", n), eta = uniform_vector(random, n, -1, 1);
  const auto gaussian = make_loss("gaussian", y, weights);
  Profile mean(*gaussian, MatrixXd::Ones(n, 1), VectorXd::Zero(n));
  mean.evaluate(eta, residual);
  CHECK_NEAR(mean.coefficients(mean.coordinates())[0], omega.dot(y - eta), 1e-14);

  const VectorXd labels = random_response(random, "binomial", n);
  const auto binomial = make_loss("binomial", labels, weights);
  Profile odds(*binomial, MatrixXd::Ones(n, 1), VectorXd::Zero(n));
  odds.evaluate(VectorXd::Zero(n), residual);
  const double ones = omega.dot((labels.array() + 1).matrix()) / 2;
  CHECK_NEAR(odds.coefficients(odds.coordinates())[0], std::log(ones / (1 - ones)), 1e-12);
}

TEST(profile_finds_the_best_coefficients) {
  Random random(2);
  for (const char* family : kFamilies)
    for (int round = 0; round < 30; ++round) {
      const int n = 25 + below(random, 10);
      VectorXd weights = uniform_vector(random, n, 0.2, 2);
      if (round % 3 == 0) weights[random() % n] = 0;
      const auto loss = make_loss(family, random_response(random, family, n), weights);
      const MatrixXd covariates = uniform_matrix(random, n, below(random, 3), -1, 1);
      const VectorXd offset = uniform_vector(random, n, -1, 1);
      const VectorXd eta = uniform_vector(random, n, -2, 2);
      check_best(*loss, with_intercept(covariates), offset, eta, random);
      if (covariates.cols() > 0) check_best(*loss, covariates, offset, eta, random);
    }
}

TEST(profile_does_not_mind_scale_or_distance) {
  Random random(3);
  const int n = 30;
  for (const char* family : kFamilies) {
    const auto loss = make_loss(family, random_response(random, family, n), VectorXd::Ones(n));
    MatrixXd u = with_intercept(uniform_matrix(random, n, 2, -1, 1));
    const VectorXd zero = VectorXd::Zero(n), eta = uniform_vector(random, n, -1, 1);
    VectorXd residual;
    const double value = Profile(*loss, u, zero).evaluate(eta, residual);
    MatrixXd scaled = u;
    scaled.col(1) *= 1e8;
    scaled.col(2) *= 1e-8;
    CHECK_NEAR(Profile(*loss, scaled, zero).evaluate(eta, residual), value, 1e-12);
    MatrixXd far = u;
    far.col(1).array() += 1e4;  // like a year of birth
    CHECK_NEAR(Profile(*loss, far, zero).evaluate(eta, residual), value, 1e-9);
    // Far from the last solution: the step must not overshoot.
    Profile moved(*loss, u, zero);
    moved.evaluate(eta.array() + 50, residual);
    moved.evaluate(eta.array() - 50, residual);
    CHECK_NEAR(moved.evaluate(eta, residual), value, 1e-12);
  }
}

TEST(profile_comes_back_from_far_out) {
  // A trial point of a line search may be far away, and the covariate must move far to compensate.
  const VectorXd y = vec({1, -1, 1, -1, 1, -1}), u = vec({1, 2, 3, -1, -2, 0.5});
  const auto loss = make_loss("binomial", y, VectorXd::Ones(6));
  VectorXd residual;
  for (double far : {1e2, 1e4, 1e6}) {
    const VectorXd eta = far * vec({-1, 1, 0.3, 0, 1, 0});
    double low = -10 * far, high = 10 * far;  // ternary search: slow but safe
    auto at = [&](double c) { return loss->evaluate(eta + c * u, residual); };
    for (int k = 0; k < 300; ++k) {
      const double third = (high - low) / 3;
      if (at(low + third) < at(high - third)) high -= third;
      else low += third;
    }
    const double least = at(low);
    CHECK_NEAR(Profile(*loss, u, VectorXd::Zero(6)).evaluate(eta, residual) / least, 1, 1e-9);
  }
}

TEST(profile_takes_collinear_covariates) {
  Random random(4);
  const int n = 20;
  for (const char* family : kFamilies) {
    const auto loss = make_loss(family, random_response(random, family, n), VectorXd::Ones(n));
    const MatrixXd z = uniform_matrix(random, n, 2, -1, 1);
    MatrixXd u(n, 6);
    u << VectorXd::Ones(n), z.col(0), z.col(0), z.col(1), VectorXd::Zero(n),
        2 * z.col(0) - 3 * z.col(1) + VectorXd::Constant(n, 5);
    const VectorXd zero = VectorXd::Zero(n), eta = uniform_vector(random, n, -1, 1);
    Profile profile(*loss, u, zero), reduced(*loss, with_intercept(z), zero);
    VectorXd residual, other;
    CHECK_NEAR(profile.evaluate(eta, residual), reduced.evaluate(eta, other), 1e-13);
    CHECK_NEAR((residual - other).norm(), 0, 1e-12);
    CHECK(profile.basis().cols() == 3);
    const VectorXd c = profile.coefficients(profile.coordinates());
    CHECK(c.size() == 6 && (c.array() == 0).count() == 3);
    CHECK(c.cwiseAbs().maxCoeff() < 1e3);
    check_best(*loss, u, zero, eta, random);
  }
}

TEST(profile_without_unpenalised_part_is_the_loss) {
  Random random(5);
  const int n = 10;
  for (const char* family : kFamilies) {
    const auto loss = make_loss(family, random_response(random, family, n), VectorXd::Ones(n));
    const VectorXd offset = uniform_vector(random, n, -1, 1), eta = uniform_vector(random, n, -1, 1);
    Profile profile(*loss, MatrixXd(n, 0), offset);
    VectorXd residual, curvature, expected, expected_curvature;
    const double value = profile.evaluate(eta, residual, &curvature);
    CHECK(value == loss->evaluate(eta + offset, expected, &expected_curvature));
    CHECK(residual == expected && curvature == expected_curvature);
    CHECK(profile.unpenalised() == 0 && profile.coefficients(profile.coordinates()).size() == 0);
    VectorXd v = eta, removed;
    profile.project_out(v, removed);
    CHECK(v == eta && removed.size() == 0);
    MatrixXd hessian = MatrixXd::Identity(2, 2);
    profile.project_hessian(curvature, MatrixXd::Ones(n, 2), hessian);
    CHECK(hessian == MatrixXd::Identity(2, 2));
  }
}

TEST(profile_dual_counts_the_offset) {
  Random random(6);
  const int n = 12;
  for (const char* family : kFamilies) {
    const auto loss = make_loss(family, random_response(random, family, n), VectorXd::Ones(n));
    const VectorXd offset = uniform_vector(random, n, -1, 1), eta = uniform_vector(random, n, -1, 1);
    Profile profile(*loss, with_intercept(uniform_matrix(random, n, 1, -1, 1)), offset);
    VectorXd theta;
    const double value = profile.evaluate(eta, theta);
    CHECK_NEAR(profile.dual(theta), value + theta.dot(eta), 1e-13);
    const VectorXd other = uniform_vector(random, n, -1, 1);
    VectorXd ignored;
    CHECK(profile.dual(theta) < profile.evaluate(other, ignored) + theta.dot(other));
  }
}

TEST(profile_projections_agree_with_dense_algebra) {
  Random random(7);
  const int n = 15;
  const VectorXd weights = uniform_vector(random, n, 0.2, 2), omega = weights / weights.sum();
  const MatrixXd u = with_intercept(uniform_matrix(random, n, 2, 3, 5));
  const auto loss = make_loss("binomial", random_response(random, "binomial", n), weights);
  Profile profile(*loss, u, VectorXd::Zero(n));
  CHECK_NEAR((profile.basis().transpose() * omega.asDiagonal() * profile.basis() -
              MatrixXd::Identity(3, 3)).norm(), 0, 1e-13);

  const VectorXd before = uniform_vector(random, n, -1, 1);
  VectorXd v = before, removed;
  profile.project_out(v, removed);
  const MatrixXd normal = u.transpose() * omega.asDiagonal() * u;
  const VectorXd fitted = u * normal.inverse() * (u.transpose() * omega.cwiseProduct(before));
  CHECK_NEAR((v - (before - fitted)).norm(), 0, 1e-11);
  CHECK_NEAR((v + u * profile.coefficients(removed) - before).norm(), 0, 1e-12);

  // The Schur complement of the joint Hessian is the inverse of a block of its inverse.
  const VectorXd h = uniform_vector(random, n, 0.1, 1);
  const MatrixXd columns = uniform_matrix(random, n, 4, -1, 1);
  MatrixXd all(n, 7);
  all << columns, u;
  const MatrixXd joint = all.transpose() * h.asDiagonal() * all;
  MatrixXd hessian = columns.transpose() * h.asDiagonal() * columns;
  profile.project_hessian(h, columns, hessian);
  const MatrixXd expected = joint.inverse().topLeftCorner(4, 4).inverse();
  CHECK_NEAR((hessian - expected).norm(), 0, 1e-9);
}

TEST(profile_ends_when_a_covariate_separates) {
  const int n = 20;
  VectorXd y(n);
  MatrixXd covariates(n, 1);
  for (int i = 0; i < n; ++i) {
    y[i] = i < 8 ? -1 : 1;
    covariates(i, 0) = y[i] * (1 + i % 3);
  }
  const auto loss = make_loss("binomial", y, VectorXd::Ones(n));
  Profile profile(*loss, with_intercept(covariates), VectorXd::Zero(n));
  VectorXd residual, curvature;
  for (int round = 0; round < 3; ++round) {
    const double value = profile.evaluate(VectorXd::Constant(n, 0.1 * round), residual, &curvature);
    CHECK(value >= 0 && value < 1e-6);
    CHECK(residual.allFinite() && curvature.allFinite());
    CHECK(profile.coordinates().allFinite());
  }
}
