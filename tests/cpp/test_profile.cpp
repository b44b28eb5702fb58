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
using n2gfl::Evaluation;
using n2gfl::Loss;
using n2gfl::LossPoint;
using n2gfl::make_loss;
using n2gfl::Profile;
using testing::below;
using testing::kFamilies;
using testing::Random;
using testing::random_response;
using testing::uniform_matrix;
using testing::uniform_vector;
using testing::vec;

namespace {

// Families whose loss depends on constants.
const char* const kPlain[] = {"gaussian", "binomial", "poisson"};

MatrixXd with_intercept(const MatrixXd& covariates) {
  MatrixXd u = MatrixXd::Ones(covariates.rows(), covariates.cols() + 1);
  u.rightCols(covariates.cols()) = covariates;
  return u;
}

double loss_at(const Loss& loss, const VectorXd& eta, const VectorXd& own) {
  LossPoint at;
  loss.compute(eta, own, at);
  return at.value;
}

// The value belongs to the coefficients, no nearby value is better, and the residual is orthogonal
// to U.
void check_best(const Loss& loss, const MatrixXd& u, const VectorXd& offset, const VectorXd& eta,
                Random& random) {
  Profile profile(loss, u, offset);
  const Evaluation found = profile.evaluate(eta);
  const double value = found.loss();
  const VectorXd c = profile.coefficients(found.coordinates), base = eta + offset;
  CHECK(profile.unpenalised() == u.cols() && c.size() == u.cols());
  CHECK_NEAR(loss_at(loss, base + u * c, found.at.own), value, 1e-12 * value);
  for (int round = 0; round < 10; ++round) {
    const VectorXd near = c + 1e-3 * uniform_vector(random, static_cast<int>(c.size()), -1, 1);
    VectorXd own = found.at.own;
    for (int k = 0; k < own.size(); ++k) own[k] += testing::uniform(random, -1e-3, 1e-3);
    CHECK(loss_at(loss, base + u * near, own) >= value * (1 - 1e-14));
  }
  const VectorXd& residual = found.residual();
  for (int k = 0; k < u.cols(); ++k)
    CHECK_NEAR(u.col(k).dot(residual), 0, 1e-14 * u.col(k).norm() * (residual.norm() + 1e-12));
  LossPoint plain;
  loss.compute(base + u * c, found.at.own, plain);
  const VectorXd& curvature = found.at.curvature.diagonal;
  CHECK_NEAR((residual - plain.residual).norm(), 0, 1e-10 * (residual.norm() + 1e-12));
  CHECK_NEAR((curvature - plain.curvature.diagonal).norm(), 0, 1e-10 * curvature.norm());
}

}  // namespace

TEST(profile_intercept_has_its_closed_form) {
  Random random(1);
  const int n = 20;
  const VectorXd weights = uniform_vector(random, n, 0.2, 2), omega = weights / weights.sum();

  const VectorXd y = random_response(random, "gaussian", n), eta = uniform_vector(random, n, -1, 1);
  const auto gaussian = make_loss("gaussian", y, weights);
  Profile mean(*gaussian, MatrixXd::Ones(n, 1), VectorXd::Zero(n));
  CHECK_NEAR(mean.coefficients(mean.evaluate(eta).coordinates)[0], omega.dot(y - eta), 1e-14);

  const VectorXd labels = random_response(random, "binomial", n);
  const auto binomial = make_loss("binomial", labels, weights);
  Profile odds(*binomial, MatrixXd::Ones(n, 1), VectorXd::Zero(n));
  const double ones = omega.dot((labels.array() + 1).matrix()) / 2;
  const VectorXd c = odds.coefficients(odds.evaluate(VectorXd::Zero(n)).coordinates);
  CHECK_NEAR(c[0], std::log(ones / (1 - ones)), 1e-12);
}

TEST(profile_finds_the_best_coefficients) {
  Random random(2);
  for (const char* family : kFamilies)
    for (int round = 0; round < 30; ++round) {
      const int n = 25 + below(random, 10);
      VectorXd weights = uniform_vector(random, n, 0.2, 2);
      if (round % 3 == 0) weights[n - 1 - random() % 9] = 0;
      const auto loss = make_loss(family, random_response(random, family, n), weights);
      const MatrixXd covariates = uniform_matrix(random, n, below(random, 3), -1, 1);
      const VectorXd offset = uniform_vector(random, n, -1, 1);
      const VectorXd eta = uniform_vector(random, n, -2, 2);
      check_best(*loss, with_intercept(covariates), offset, eta, random);
      if (covariates.cols() > 0 && !loss->ignores_constants())
        check_best(*loss, covariates, offset, eta, random);
    }
}

TEST(profile_does_not_mind_scale_or_distance) {
  Random random(3);
  const int n = 30;
  for (const char* family : kFamilies) {
    const auto loss = make_loss(family, random_response(random, family, n), VectorXd::Ones(n));
    MatrixXd u = with_intercept(uniform_matrix(random, n, 2, -1, 1));
    const VectorXd zero = VectorXd::Zero(n), eta = uniform_vector(random, n, -1, 1);
    const double value = Profile(*loss, u, zero).evaluate(eta).loss();
    MatrixXd scaled = u;
    scaled.col(1) *= 1e8;
    scaled.col(2) *= 1e-8;
    CHECK_NEAR(Profile(*loss, scaled, zero).evaluate(eta).loss(), value, 1e-12);
    MatrixXd far = u;
    far.col(1).array() += 1e4;  // like a year of birth
    CHECK_NEAR(Profile(*loss, far, zero).evaluate(eta).loss(), value, 1e-9);
    // Far from the last solution: the step must not overshoot.
    Profile moved(*loss, u, zero);
    moved.evaluate(eta.array() + 50);
    moved.evaluate(eta.array() - 50);
    CHECK_NEAR(moved.evaluate(eta).loss(), value, 1e-12);
  }
}

TEST(profile_comes_back_from_far_out) {
  // A trial point of a line search may be far away, and the covariate must move far to compensate.
  const VectorXd y = vec({1, -1, 1, -1, 1, -1}), u = vec({1, 2, 3, -1, -2, 0.5});
  const auto loss = make_loss("binomial", y, VectorXd::Ones(6));
  for (double far : {1e2, 1e4, 1e6}) {
    const VectorXd eta = far * vec({-1, 1, 0.3, 0, 1, 0});
    double low = -10 * far, high = 10 * far;  // ternary search: slow but safe
    auto at = [&](double c) { return loss_at(*loss, eta + c * u, VectorXd()); };
    for (int k = 0; k < 300; ++k) {
      const double third = (high - low) / 3;
      if (at(low + third) < at(high - third)) high -= third;
      else low += third;
    }
    const double least = at(low);
    CHECK_NEAR(Profile(*loss, u, VectorXd::Zero(6)).evaluate(eta).loss() / least, 1, 1e-9);
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
    const Evaluation all = profile.evaluate(eta), some = reduced.evaluate(eta);
    CHECK_NEAR(all.loss(), some.loss(), 1e-13);
    CHECK_NEAR((all.residual() - some.residual()).norm(), 0, 1e-12);
    CHECK(profile.basis().cols() == 3);
    const VectorXd c = profile.coefficients(all.coordinates);
    CHECK(c.size() == 6 && (c.array() == 0).count() == 3);
    CHECK(c.cwiseAbs().maxCoeff() < 1e3);
    check_best(*loss, u, zero, eta, random);
  }
}

TEST(profile_without_unpenalised_part_is_the_loss) {
  Random random(5);
  const int n = 10;
  for (const char* family : kPlain) {
    const auto loss = make_loss(family, random_response(random, family, n), VectorXd::Ones(n));
    const VectorXd offset = uniform_vector(random, n, -1, 1), eta = uniform_vector(random, n, -1, 1);
    Profile profile(*loss, MatrixXd(n, 0), offset);
    const Evaluation found = profile.evaluate(eta);
    LossPoint plain;
    loss->compute(eta + offset, VectorXd(), plain);
    const VectorXd& curvature = plain.curvature.diagonal;
    CHECK(found.loss() == plain.value && found.residual() == plain.residual);
    CHECK(found.at.curvature.diagonal == curvature);
    CHECK(profile.unpenalised() == 0 && profile.coefficients(found.coordinates).size() == 0);
    VectorXd v = eta, removed;
    profile.project_out(v, removed);
    CHECK(v == eta && removed.size() == 0);
    MatrixXd hessian = MatrixXd::Identity(2, 2);
    profile.curvature(found.at).subtract(MatrixXd::Ones(n, 2), hessian);
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
    const Evaluation found = profile.evaluate(eta);
    const VectorXd& theta = found.residual();
    CHECK_NEAR(profile.dual(found.dual), found.loss() + theta.dot(eta), 1e-12);
    const VectorXd other = uniform_vector(random, n, -1, 1);
    for (double scale : {0.2, 0.9, 1.0})
      CHECK(profile.dual(found.dual, scale) <
            profile.evaluate(other).loss() + scale * theta.dot(other));
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
  LossPoint at;
  loss->compute(before, VectorXd(), at);
  const VectorXd& h = at.curvature.diagonal;
  const MatrixXd columns = uniform_matrix(random, n, 4, -1, 1);
  MatrixXd all(n, 7);
  all << columns, u;
  const MatrixXd joint = all.transpose() * h.asDiagonal() * all;
  MatrixXd hessian = columns.transpose() * h.asDiagonal() * columns;
  const n2gfl::ProfileCurvature curvature = profile.curvature(at);
  curvature.subtract(columns, hessian);
  const MatrixXd expected = joint.inverse().topLeftCorner(4, 4).inverse();
  CHECK_NEAR((hessian - expected).norm(), 0, 1e-9);
  CHECK_NEAR((columns.transpose() * curvature.times(columns) - expected).norm(), 0, 1e-9);
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
  for (int round = 0; round < 3; ++round) {
    const Evaluation found = profile.evaluate(VectorXd::Constant(n, 0.1 * round));
    CHECK(found.loss() >= 0 && found.loss() < 1e-6);
    CHECK(found.residual().allFinite() && found.at.curvature.diagonal.allFinite());
    CHECK(found.coordinates.allFinite());
  }
}

// Derivatives of the profiled loss against differences, for all families.
TEST(profile_curvature_is_the_second_derivative) {
  Random random(8);
  const int n = 20;
  for (const char* family : kFamilies)
    for (int covariates : {0, 2}) {
      const auto loss = make_loss(family, random_response(random, family, n),
                                  uniform_vector(random, n, 0.3, 2));
      const MatrixXd u = with_intercept(uniform_matrix(random, n, covariates, -1, 1));
      Profile profile(*loss, u, uniform_vector(random, n, -1, 1));
      const VectorXd eta = uniform_vector(random, n, -1, 1);
      const Evaluation here = profile.evaluate(eta);
      const n2gfl::ProfileCurvature curvature = profile.curvature(here.at);
      const MatrixXd columns = uniform_matrix(random, n, 3, -1, 1);
      const MatrixXd bent = curvature.times(columns);
      const double h = 1e-4;
      for (int k = 0; k < 3; ++k) {
        const Evaluation up = profile.evaluate(eta + h * columns.col(k));
        const Evaluation down = profile.evaluate(eta - h * columns.col(k));
        const VectorXd bend = -(up.residual() - down.residual()) / (2 * h);
        CHECK_NEAR((bent.col(k) - bend).norm(), 0, 1e-6);
      }
      MatrixXd gram = columns.transpose() * curvature.diagonal().asDiagonal() * columns;
      curvature.subtract(columns, gram);
      CHECK_NEAR((gram - columns.transpose() * bent).norm(), 0, 1e-12);
    }
}

// A constant in eta changes neither value nor residual; it moves to the constant's coordinate.
TEST(profile_ignores_constants_where_the_loss_does) {
  Random random(9);
  const int n = 20;
  for (const char* family : {"cox", "ordinal"}) {
    const auto loss = make_loss(family, random_response(random, family, n), VectorXd::Ones(n));
    Profile profile(*loss, with_intercept(uniform_matrix(random, n, 2, -1, 1)), VectorXd::Zero(n));
    const VectorXd eta = uniform_vector(random, n, -1, 1);
    const Evaluation here = profile.evaluate(eta);
    for (double far : {-1e3, 10.0, 1e6}) {
      const Evaluation there = profile.evaluate(eta.array() + far);
      CHECK_NEAR(there.loss(), here.loss(), 1e-12 * std::fabs(far));
      CHECK_NEAR((there.residual() - here.residual()).norm(), 0, 1e-12 * std::fabs(far));
      const VectorXd c = profile.coefficients(here.coordinates - there.coordinates);
      CHECK_NEAR(c[0] / far, 1, 1e-9);
      CHECK_NEAR(here.residual().sum(), 0, 1e-14);
    }
  }
}

// The moved point is orthogonal to U, and its dual value still bounds the profiled loss.
TEST(profile_moves_dual_points) {
  Random random(10);
  const int n = 20;
  for (const char* family : kFamilies)
    for (int round = 0; round < 10; ++round) {
      const auto loss = make_loss(family, random_response(random, family, n), VectorXd::Ones(n));
      const MatrixXd u = with_intercept(uniform_matrix(random, n, 2, -1, 1));
      Profile profile(*loss, u, uniform_vector(random, n, -1, 1));
      const VectorXd eta = uniform_vector(random, n, -1, 1);
      const Evaluation here = profile.evaluate(eta);
      const n2gfl::ProfileCurvature curvature = profile.curvature(here.at);
      n2gfl::DualPoint dual = here.dual;
      const VectorXd v = uniform_vector(random, n, -0.1, 0.1);
      profile.move(dual, here.at, curvature, v);
      CHECK_NEAR((u.transpose() * dual.theta).norm(), 0, 1e-13);
      CHECK_NEAR((here.residual() - curvature.times(v) - dual.theta).norm(), 0, 1e-13);
      for (int k = 0; k < 5; ++k) {
        const VectorXd other = eta + uniform_vector(random, n, -0.5, 0.5);
        CHECK(profile.dual(dual) <= profile.evaluate(other).loss() + dual.theta.dot(other) + 1e-14);
      }
    }
}

TEST(profile_returns_from_where_counts_overflow) {
  Random random(11);
  const int n = 12;
  const auto loss = make_loss("poisson", random_response(random, "poisson", n), VectorXd::Ones(n));
  Profile profile(*loss, with_intercept(uniform_matrix(random, n, 1, -1, 1)), VectorXd::Zero(n));
  const VectorXd eta = uniform_vector(random, n, -1, 1);
  const double value = profile.evaluate(eta).loss();
  for (double far : {1e3, -1e3, 1e5}) {
    CHECK_NEAR(profile.evaluate(eta.array() + far).loss(), value, 1e-10);
    CHECK_NEAR(profile.evaluate(eta).loss(), value, 1e-13);
  }
  Profile fresh(*loss, MatrixXd::Ones(n, 1), VectorXd::Constant(n, 900));
  CHECK(std::isfinite(fresh.evaluate(eta).loss()));
  Profile without(*loss, MatrixXd(n, 0), VectorXd::Constant(n, 900));
  CHECK(without.evaluate(eta).loss() == testing::kInfinity);
}
