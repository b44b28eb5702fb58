// The path: its grid, its start, and what it reports about a fit.
#include "check.hpp"
#include "random_problem.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

using Eigen::MatrixXd;
using Eigen::VectorXd;
using n2gfl::Fit;
using n2gfl::Graph;
using n2gfl::Penalties;
using n2gfl::PenaltyType;
using n2gfl::Poll;
using n2gfl::Sign;
using testing::dense_beta;
using testing::kInfinity;
using testing::plain_problem;
using testing::Problem;
using testing::Random;
using testing::random_problem;
using testing::vec;

namespace {

const Sign kSigns[] = {Sign::nonnegative, Sign::nonpositive, Sign::free};
const char* const kFamilies[] = {"gaussian", "binomial"};
const PenaltyType kPenalties[] = {PenaltyType::fused, PenaltyType::laplacian};

Fit fit_of(const Problem& p, double lambda1, double lambda2) {
  Poll poll;
  return p.path(poll)->fit({lambda1, lambda2});
}

// X = I, no intercept, tiny penalties: the coefficients are almost y.
Problem identity_problem(const VectorXd& y, const Graph& graph) {
  Problem p;
  const int n = static_cast<int>(y.size());
  p.x = MatrixXd::Identity(n, n);
  p.y = y;
  p.weights = p.factor = VectorXd::Ones(n);
  p.offset = VectorXd::Zero(n);
  p.covariates.resize(n, 0);
  p.graph = graph;
  p.settings.intercept = false;
  p.settings.sign = Sign::free;
  p.settings.thresh = 1e-10;
  return p;
}

bool penalised_nonzero(const Problem& p, const Fit& fit) {
  return std::any_of(fit.index.begin(), fit.index.end(), [&](int i) { return p.factor[i] > 0; });
}

}  // namespace

TEST(grid_takes_given_values_row_by_row) {
  Random random(1);
  const Problem p = plain_problem(random, "gaussian", 10, 3);
  Poll poll;
  const std::vector<Penalties> rows = p.path(poll)->grid({0.3, 0.2, 0.0}, {0.1, 0.0});
  CHECK(rows.size() == 6);
  const double first[] = {0.3, 0.2, 0, 0.3, 0.2, 0}, second[] = {0.1, 0.1, 0.1, 0, 0, 0};
  for (int k = 0; k < 6; ++k) CHECK(rows[k].lambda1 == first[k] && rows[k].lambda2 == second[k]);
}

TEST(grid_is_made_from_the_data) {
  for (const PenaltyType penalty : kPenalties) {
    Random random(2);
    Problem p = plain_problem(random, "binomial", 25, 8);
    p.settings.penalty = penalty;
    p.settings.nlambda1 = 4;
    p.settings.nlambda2 = 3;
    p.settings.lambda_min_ratio = 0.1;
    Poll poll;
    const auto path = p.path(poll);
    const std::vector<Penalties> rows = path->grid({}, {});
    CHECK(rows.size() == 12);
    for (int k = 0; k < 12; ++k) {
      const Penalties& start = rows[k - k % 4];
      CHECK(rows[k].lambda2 == start.lambda2);
      CHECK_NEAR(rows[k].lambda1 / start.lambda1, std::pow(0.1, (k % 4) / 3.0), 1e-14);
      CHECK(k % 4 == 0 || rows[k].lambda1 < rows[k - 1].lambda1);
    }
    for (int k = 0; k < 12; k += 4)
      CHECK_NEAR(rows[k].lambda1, path->lambda1_max(rows[k].lambda2), 1e-13);
    CHECK(rows[0].lambda2 > rows[4].lambda2 && rows[4].lambda2 > rows[8].lambda2);
    CHECK(rows[8].lambda2 > 0);
    if (p.fused()) CHECK(rows[0].lambda1 <= rows[4].lambda1 && rows[4].lambda1 <= rows[8].lambda1);
  }
}

TEST(grid_may_be_one_row) {
  Random random(3);
  Problem p = plain_problem(random, "gaussian", 10, 3);
  p.settings.nlambda1 = p.settings.nlambda2 = 1;
  Poll poll;
  const auto path = p.path(poll);
  const std::vector<Penalties> rows = path->grid({}, {});
  CHECK(rows.size() == 1);
  CHECK_NEAR(rows[0].lambda1, path->lambda1_max(rows[0].lambda2), 1e-14);
  CHECK(std::isfinite(rows[0].lambda2));
}

TEST(grid_is_positive_where_nothing_can_leave_zero) {
  for (bool excluded : {false, true}) {
    Random random(4);
    Problem p = plain_problem(random, "gaussian", 12, 3);
    if (excluded)
      p.factor.setConstant(kInfinity);
    else
      for (int j = 0; j < 3; ++j)  // every column contradicts the sign
        p.x.col(j) = -(p.y.array() - p.y.mean()) * (1 + j);
    Poll poll;
    const auto path = p.path(poll);
    CHECK(path->lambda1_max(0.1) == 0);
    for (const Penalties& row : path->grid({}, {})) {
      CHECK(row.lambda1 > 0 && std::isfinite(row.lambda1) && std::isfinite(row.lambda2));
      const Fit fit = path->fit(row);
      CHECK(fit.index.empty() && fit.converged && fit.gap == 0);
      CHECK_NEAR(fit.intercept, p.y.mean(), 1e-14);
    }
  }
}

TEST(the_path_starts_where_the_first_coefficient_leaves) {
  for (int seed = 0; seed < 200; ++seed) {
    Random random(100 + seed);
    Problem p = random_problem(random);
    if (seed % 2) p.factor.setOnes();
    p.settings.penalty = kPenalties[seed % 5 == 0];
    p.settings.thresh = 1e-9;
    Poll poll;
    const auto path = p.path(poll);
    const double lambda2 = (seed % 3) * 0.1 * p.scale(), lambda1 = path->lambda1_max(lambda2);
    CHECK_NEAR(path->lambda1_max(lambda2), lambda1, 1e-12 * p.scale());  // from a different flow
    const Fit at = path->fit({lambda1 * (1 + 1e-9), lambda2});
    CHECK(at.converged);
    CHECK(!penalised_nonzero(p, at));
    if (lambda1 < 1e-6 * p.scale()) continue;  // no coefficient can leave zero
    // With a loose threshold the zero fit would still pass just below the start.
    p.settings.thresh = 1e-14;
    CHECK(penalised_nonzero(p, fit_of(p, 0.999 * lambda1, lambda2)));
  }
}

TEST(df_and_regions_are_counted) {
  const VectorXd y = vec({5, 5, 0, 3, 3, 4, 0, -4, -4, 2});
  Problem p = identity_problem(y, testing::chain(10));
  // Regions of one value 55 | 33 | 4 | -4-4 | 2; components of the support 55 | 334 | -4-4 2.
  Fit fit = fit_of(p, 1e-2, 1e-3);
  CHECK(fit.df == 5 && fit.regions == 3 && fit.index.size() == 8);
  CHECK((fit.index == std::vector<int>{0, 1, 3, 4, 5, 7, 8, 9}));
  p.settings.penalty = PenaltyType::laplacian;
  p.factor[2] = p.factor[6] = kInfinity;
  fit = fit_of(p, 1e-3, 1e-6);
  CHECK(fit.df == 8 && fit.regions == 3);
  // Equal values that are not neighbours count twice.
  p = identity_problem(vec({2, 0, 2}), testing::chain(3));
  fit = fit_of(p, 1e-2, 1e-3);
  CHECK(fit.df == 2 && fit.regions == 2);
  fit = fit_of(p, 10, 1e-3);
  CHECK(fit.df == 0 && fit.regions == 0 && fit.index.empty());
}

TEST(deviance_ratio_is_explained_deviance) {
  for (const char* family : kFamilies)
    for (bool weighted : {false, true}) {
      Random random(5);
      Problem p = plain_problem(random, family, 40, 8);
      if (weighted) p.weights = testing::uniform_vector(random, 40, 0.1, 2);
      p.covariates = testing::uniform_matrix(random, 40, 1, -1, 1);
      p.offset = testing::uniform_vector(random, 40, -1, 1);
      p.settings.sign = Sign::free;
      Poll poll;
      const n2gfl::Design design = n2gfl::Design::dense(p.x.data(), p.rows(), p.features());
      n2gfl::Problem problem(p.inputs(design), p.graph, poll);
      n2gfl::Path path(problem, p.settings);
      // The null fit has an intercept and an offset but no covariates.
      Problem null = p;
      null.covariates.resize(40, 0);
      CHECK_NEAR(problem.null_loss(), testing::null_objective(null), 1e-12);
      const Fit fit = path.fit({0.05 * p.scale(), 0.01 * p.scale()});
      const double loss = testing::loss_at(p, testing::linear_predictor(p, fit));
      CHECK_NEAR(fit.deviance_ratio, 1 - loss / problem.null_loss(), 1e-10);
      CHECK(fit.deviance_ratio > 0 && fit.deviance_ratio < 1);
    }
}

TEST(deviance_ratio_rises_along_the_path) {
  Random random(6);
  Problem p = plain_problem(random, "binomial", 40, 20);
  p.settings.nlambda1 = 10;
  Poll poll;
  const auto path = p.path(poll);
  double last = -1e-12;
  for (const Penalties& row : path->grid({}, {0.02 * p.scale()})) {
    const Fit fit = path->fit(row);
    CHECK(fit.converged && fit.deviance_ratio >= last - 1e-6);
    last = fit.deviance_ratio;
  }
  CHECK(last > 0.2);
}

TEST(standardised_fits_come_back_on_the_scale_of_x) {
  for (const char* family : kFamilies)
    for (Sign sign : kSigns) {
      Random random(7);
      Problem p = plain_problem(random, family, 30, 8);
      p.weights = testing::uniform_vector(random, 30, 0.2, 2);
      for (int j = 0; j < 8; ++j) p.x.col(j) = p.x.col(j) * (1 + j) + VectorXd::Constant(30, j);
      p.settings.sign = sign;
      p.settings.thresh = 1e-11;
      VectorXd sd(8);
      const VectorXd omega = p.weights / p.weights.sum();
      Problem by_hand = p;
      for (int j = 0; j < 8; ++j) {
        const double mean = omega.dot(p.x.col(j));
        sd[j] = std::sqrt(omega.dot((p.x.col(j).array() - mean).square().matrix()));
        by_hand.x.col(j) /= sd[j];
      }
      p.settings.standardize = true;
      const double lambda1 = 0.1 * by_hand.scale(), lambda2 = 0.02 * by_hand.scale();
      const Fit fit = fit_of(p, lambda1, lambda2), expected = fit_of(by_hand, lambda1, lambda2);
      CHECK(fit.converged && !fit.index.empty());
      CHECK_NEAR((dense_beta(fit, 8).cwiseProduct(sd) - dense_beta(expected, 8)).norm(), 0, 1e-5);
      CHECK_NEAR(fit.intercept, expected.intercept, 1e-5);
      CHECK(fit.df == expected.df && fit.regions == expected.regions);
      CHECK_NEAR(fit.deviance_ratio, expected.deviance_ratio, 1e-9);
    }
}

TEST(a_constant_column_is_left_out_when_standardised) {
  for (const PenaltyType penalty : kPenalties)
    for (double lambda1 : {0.01, 0.0}) {
      Random random(8);
      Problem p = plain_problem(random, "gaussian", 30, 5);
      p.x.col(2).setConstant(0.1);
      p.settings.penalty = penalty;
      p.settings.standardize = true;
      p.settings.sign = Sign::free;
      const Fit fit = fit_of(p, lambda1, 0.01);
      CHECK(fit.converged && std::isfinite(fit.gap));
      CHECK(std::find(fit.index.begin(), fit.index.end(), 2) == fit.index.end());
      CHECK(dense_beta(fit, 5).allFinite() && fit.index.size() >= 2);
    }
}

TEST(nonpositive_is_the_mirror_of_nonnegative) {
  for (const PenaltyType penalty : kPenalties) {
    Random random(9);
    Problem p = plain_problem(random, "binomial", 30, 10);
    p.settings.penalty = penalty;
    p.settings.standardize = true;
    Problem mirrored = p;
    mirrored.x = -p.x;
    mirrored.settings.sign = Sign::nonpositive;
    const Fit a = fit_of(p, 0.02, 0.01), b = fit_of(mirrored, 0.02, 0.01);
    CHECK(!a.index.empty());
    CHECK_NEAR((dense_beta(a, 10) + dense_beta(b, 10)).norm(), 0, 1e-12);
    CHECK_NEAR(a.intercept, b.intercept, 1e-12);
    CHECK(a.gap <= 1e-6 && b.gap <= 1e-6);
  }
}

// Pursuit hands over to a first-order method if there are many regions, and only if that method
// can reach the requested gap. Both must give the same fits, from cold and from warm starts.
TEST(many_regions_are_left_to_another_solver) {
  Random random(11);
  Problem p = plain_problem(random, "gaussian", 400, 700);
  const VectorXd signal = testing::uniform_vector(random, 700, -1, 1);
  p.y = p.x * signal;
  Problem exact = p;
  exact.settings.thresh = 1e-10;
  Poll poll, exact_poll;
  const auto loose_path = p.path(poll), exact_path = exact.path(exact_poll);
  for (double lambda : {0.004, 0.003}) {
    const Fit a = loose_path->fit({lambda, lambda}), b = exact_path->fit({lambda, lambda});
    CHECK(b.df >= 300);
    CHECK(a.iterations > 20 && b.iterations < 60);  // steps of fista, rounds of pursuit
    CHECK(a.gap > 1e-10 && a.gap <= 1e-6 && b.gap <= 1e-10);
    CHECK_NEAR((dense_beta(a, 700) - dense_beta(b, 700)).norm() / dense_beta(b, 700).norm(), 0, 1e-2);
    CHECK_NEAR(a.deviance_ratio, b.deviance_ratio, 1e-4);
  }
}

TEST(an_unknown_family_is_refused) {
  Random random(10);
  Problem p = plain_problem(random, "gaussian", 10, 3);
  p.settings.family = "none";
  Poll poll;
  CHECK_THROWS(p.path(poll));
}

TEST(an_unknown_penalty_is_refused) {
  CHECK(n2gfl::penalty_named("fused") == PenaltyType::fused);
  CHECK(n2gfl::penalty_named("laplacian") == PenaltyType::laplacian);
  CHECK_THROWS(n2gfl::penalty_named("ridge"));
}

// In rows of eight, columns of both types begin at the same alignment, and even the order in which
// a mean is summed is the same.
TEST(fits_of_a_float_matrix_are_those_of_its_values) {
  for (int seed = 0; seed < 100; ++seed) {
    Random random(300 + seed);
    Problem p = random_problem(random);
    if (p.rows() % 8 != 0) p = plain_problem(random, kFamilies[seed % 2], 40, 60);
    p.settings.standardize = seed % 3 == 0;
    p.settings.penalty = kPenalties[seed % 5 == 0];
    const Eigen::MatrixXf floats = p.x.cast<float>();
    p.x = floats.cast<double>();
    Poll poll;
    const auto path = p.path(poll);
    const auto other = p.path(n2gfl::Design::dense(floats.data(), p.rows(), p.features()), poll);
    for (double share : {0.3, 0.1}) {
      const Penalties row{share * path->lambda1_max(0.01), 0.01};
      CHECK(share * other->lambda1_max(0.01) == row.lambda1);
      const Fit a = path->fit(row), b = other->fit(row);
      CHECK(a.converged && a.index == b.index && a.value == b.value && a.gap == b.gap);
      CHECK(a.intercept == b.intercept && a.iterations == b.iterations);
    }
  }
}

TEST(a_float_matrix_of_any_height_is_fitted_within_rounding) {
  for (int rows : {33, 37, 42})
    for (const char* family : kFamilies) {
      Random random(12);
      Problem p = plain_problem(random, family, rows, 80);
      const Eigen::MatrixXf floats = p.x.cast<float>();
      p.x = floats.cast<double>();
      p.settings.thresh = 1e-10;
      Poll poll;
      const auto path = p.path(n2gfl::Design::dense(floats.data(), rows, 80), poll);
      const double lambda1 = 0.1 * p.scale(), lambda2 = 0.02 * p.scale();
      const Fit a = fit_of(p, lambda1, lambda2), b = path->fit({lambda1, lambda2});
      CHECK(a.converged && b.converged && !a.index.empty());
      const VectorXd beta = dense_beta(a, 80);
      CHECK_NEAR((dense_beta(b, 80) - beta).norm(), 0, 1e-4 * beta.norm());
      CHECK_NEAR(a.deviance_ratio, b.deviance_ratio, 1e-9);
    }
}
