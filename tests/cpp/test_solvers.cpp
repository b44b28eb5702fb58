// Every solver on small random problems: they agree, and brute force over all sets of nodes proves
// them.
#include "check.hpp"
#include "random_problem.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using Eigen::VectorXd;
using n2gfl::Algorithm;
using n2gfl::Fit;
using n2gfl::PenaltyType;
using n2gfl::Poll;
using n2gfl::Sign;
using testing::below;
using testing::Certificate;
using testing::certify;
using testing::dense_beta;
using testing::kInfinity;
using testing::null_objective;
using testing::objective_of;
using testing::plain_problem;
using testing::Problem;
using testing::Random;
using testing::random_problem;
using testing::SparseColumns;
using testing::uniform_vector;
using testing::vec;

namespace {

constexpr Algorithm kPursuit = Algorithm::pursuit, kFista = Algorithm::fista,
                    kIsta = Algorithm::ista;
const Sign kSigns[] = {Sign::nonnegative, Sign::nonpositive, Sign::free};
const char* const kFamilies[] = {"gaussian", "binomial"};
const PenaltyType kPenalties[] = {PenaltyType::fused, PenaltyType::laplacian};

Fit fit_with(Problem p, Algorithm algorithm, double lambda1, double lambda2) {
  p.settings.algorithm = algorithm;
  Poll poll;
  return p.path(poll)->fit({lambda1, lambda2});
}

Fit sparse_fit(const Problem& p, double lambda1, double lambda2) {
  const SparseColumns columns(p.x);
  Poll poll;
  return p.path(columns.design(), poll)->fit({lambda1, lambda2});
}

bool any_unpenalised(const Problem& p, double lambda1) {
  return lambda1 == 0 || (p.factor.array() == 0).any();
}

void check_signs(const Problem& p, const Fit& fit) {
  for (std::size_t k = 0; k < fit.index.size(); ++k) {
    CHECK(fit.value[k] != 0 && std::isfinite(fit.value[k]));
    CHECK(p.settings.sign != Sign::nonnegative || fit.value[k] > 0);
    CHECK(p.settings.sign != Sign::nonpositive || fit.value[k] < 0);
    CHECK(std::isfinite(p.factor[fit.index[k]]));
    CHECK(k == 0 || fit.index[k - 1] < fit.index[k]);
  }
}

// The fit has converged, and its gap bounds the true gap.
Certificate check_fit(const Problem& p, double lambda1, double lambda2, const Fit& fit) {
  const Certificate proof = certify(p, lambda1, lambda2, fit);
  check_signs(p, fit);
  CHECK(fit.converged && fit.gap <= p.settings.thresh);
  // If a feature is not penalised, multiples of the residual prove nothing. Such fits are compared
  // with others, and their slopes need only be as small as the root of the gap.
  const bool provable = !any_unpenalised(p, lambda1);
  CHECK(!provable || proof.gap <= fit.gap + 1e-12);
  CHECK(!provable || proof.gap >= -1e-12);
  CHECK_NEAR(proof.unpenalised, 0, (provable ? 1e-6 : std::sqrt(p.settings.thresh)) * p.scale());
  return proof;
}

void check_all_solvers(Problem p, double lambda1, double lambda2) {
  p.settings.max_iterations = 100000;
  const double null = null_objective(p);
  const double first = check_fit(p, lambda1, lambda2, fit_with(p, kPursuit, lambda1, lambda2)).objective;
  for (const Algorithm algorithm : {kFista, kIsta}) {
    const Fit fit = fit_with(p, algorithm, lambda1, lambda2);
    const double other = check_fit(p, lambda1, lambda2, fit).objective;
    CHECK_NEAR(other, first, 2 * p.settings.thresh * null);
  }
  const Fit sparse = sparse_fit(p, lambda1, lambda2);
  CHECK_NEAR(objective_of(p, lambda1, lambda2, sparse), first, 2 * p.settings.thresh * null);
}

VectorXd separating_column(const Problem& p) {
  VectorXd column(p.rows());
  for (int i = 0; i < p.rows(); ++i) column[i] = p.y[i] * (1 + i % 3);
  return column;
}

}  // namespace

TEST(solvers_agree_on_random_fused_problems) {
  for (int seed = 0; seed < 150; ++seed) {
    Random random(seed);
    Problem p = random_problem(random);
    p.settings.thresh = 1e-8;
    const double shares1[] = {0.5, 0.1, 0.02}, shares2[] = {0, 0.05, 0.3};
    check_all_solvers(p, p.scale() * shares1[random() % 3], p.scale() * shares2[random() % 3]);
  }
}

TEST(solvers_agree_on_random_laplacian_problems) {
  for (int seed = 0; seed < 100; ++seed) {
    Random random(1000 + seed);
    Problem p = random_problem(random);
    p.settings.penalty = PenaltyType::laplacian;
    p.settings.thresh = 1e-8;
    const double shares1[] = {0.5, 0.1, 0.02}, shares2[] = {0, 0.1, 5};
    check_all_solvers(p, p.scale() * shares1[random() % 3], p.scale() * shares2[random() % 3]);
  }
}

// The reported gap must never be smaller than the gap that can be proved at the residual, for
// tight and loose thresholds.
TEST(reported_gap_is_never_too_small) {
  for (double thresh : {1e-3, 1e-10})
    for (int seed = 0; seed < 400; ++seed) {
      Random random(2000 + seed);
      Problem p = random_problem(random);
      for (int i = 0; i < p.features(); ++i)
        if (p.factor[i] == 0) p.factor[i] = 1;
      p.settings.thresh = thresh;
      const double lambda1 = 0.03 * p.scale(), lambda2 = (seed % 3) * 0.03 * p.scale();
      const Fit fit = fit_with(p, kPursuit, lambda1, lambda2);
      CHECK(certify(p, lambda1, lambda2, fit).gap <= fit.gap + 1e-12);
    }
}

TEST(solvers_do_not_mind_scale) {
  for (const char* family : kFamilies)
    for (Sign sign : kSigns)
      for (const PenaltyType penalty : kPenalties)
        for (double scale : {1e-8, 1e8}) {
          Random random(5);
          Problem p = plain_problem(random, family, 30, 10);
          p.settings.sign = sign;
          p.settings.penalty = penalty;
          p.settings.thresh = 1e-10;
          const double lambda1 = 0.1 * p.scale(), lambda2 = 0.05 * p.scale();
          const Fit plain = fit_with(p, kPursuit, lambda1, lambda2);
          const VectorXd beta = dense_beta(plain, 10);
          CHECK(plain.converged && !plain.index.empty());

          Problem wide = p;  // scaled X: coefficients shrink, quadratically for a Laplacian
          wide.x *= scale;
          const double bend = p.fused() ? scale : scale * scale;
          const Fit fit = fit_with(wide, kPursuit, lambda1 * scale, lambda2 * bend);
          CHECK(fit.converged && fit.index == plain.index);
          CHECK_NEAR((dense_beta(fit, 10) * scale - beta).norm(), 0, 1e-6 * beta.norm());
          CHECK_NEAR(fit.intercept, plain.intercept, 1e-6);
          if (!p.gaussian()) continue;

          Problem tall = p;  // scaled y: everything scales
          tall.y *= scale;
          const Fit high = fit_with(tall, kPursuit, lambda1 * scale, p.fused() ? lambda2 * scale : lambda2);
          CHECK(high.converged && high.index == plain.index);
          CHECK_NEAR((dense_beta(high, 10) / scale - beta).norm(), 0, 1e-6 * beta.norm());
          CHECK_NEAR(high.intercept / scale, plain.intercept, 1e-6);
          CHECK_NEAR(high.deviance_ratio, plain.deviance_ratio, 1e-8);
        }
}

TEST(a_large_mean_does_not_matter) {
  // With an intercept, X and X + constant give the same fit.
  for (const char* family : kFamilies)
    for (const PenaltyType penalty : kPenalties) {
      Random random(17);
      Problem p = plain_problem(random, family, 40, 20);
      p.settings.sign = Sign::free;
      p.settings.penalty = penalty;
      p.settings.max_iterations = 100;
      Problem far = p;
      far.x.array() += 1e5;
      const double lambda1 = 0.05 * p.scale(), lambda2 = 0.05 * p.scale();
      const Fit a = fit_with(p, kPursuit, lambda1, lambda2);
      const Fit b = fit_with(far, kPursuit, lambda1, lambda2);
      CHECK(a.converged && b.converged);
      CHECK_NEAR(a.deviance_ratio, b.deviance_ratio, 1e-3);
      CHECK_NEAR((dense_beta(a, 20) - dense_beta(b, 20)).norm(), 0, 0.05);
    }
}

TEST(a_response_far_from_zero_keeps_its_digits) {
  // y = 1e5 + 1e-5 noise gives the same fit as y - 1e5, which is exact; so does a large offset.
  for (const PenaltyType penalty : kPenalties)
    for (const Algorithm algorithm : {kPursuit, kFista}) {
      Random random(41);
      Problem far = plain_problem(random, "gaussian", 40, 20);
      far.settings.penalty = penalty;
      far.settings.thresh = 1e-9;
      far.y = 1e5 + 1e-5 * far.y.array();
      Problem near = far, shifted = far;
      near.y.array() -= 1e5;
      shifted.offset.array() += 1e5;
      const double lambda1 = 0.05 * near.scale(), lambda2 = 0.05 * near.scale();
      const Fit a = fit_with(near, algorithm, lambda1, lambda2);
      const Fit b = fit_with(far, algorithm, lambda1, lambda2);
      const Fit c = fit_with(shifted, algorithm, lambda1, lambda2);
      CHECK(a.converged && b.converged && c.converged);
      const double size = dense_beta(a, 20).norm();
      CHECK(size > 0);
      CHECK_NEAR((dense_beta(a, 20) - dense_beta(b, 20)).norm() / size, 0, 1e-6);
      CHECK_NEAR((dense_beta(a, 20) - dense_beta(c, 20)).norm() / size, 0, 1e-6);
      CHECK_NEAR(b.intercept - 1e5, a.intercept, 1e-10);
    }
}

TEST(a_small_offset_beside_a_far_response_keeps_its_digits) {
  Random random(43);
  Problem far = plain_problem(random, "gaussian", 40, 20);
  far.settings.thresh = 1e-12;
  far.offset = uniform_vector(random, 40, -0.5, 0.5);
  far.y.array() += 1e8;
  Problem near = far;
  near.y.array() -= 1e8;  // exact
  const double lambda = 0.05 * near.scale();
  const Fit a = fit_with(near, kPursuit, lambda, lambda);
  const Fit b = fit_with(far, kPursuit, lambda, lambda);
  const double size = dense_beta(a, 20).norm();
  CHECK(size > 0);
  CHECK_NEAR((dense_beta(a, 20) - dense_beta(b, 20)).norm() / size, 0, 1e-11);
}

TEST(weights_count_observations) {
  // A weight of two equals a row twice, a weight of zero a missing row.
  for (const char* family : kFamilies) {
    Random random(6);
    Problem p = plain_problem(random, family, 20, 8);
    p.settings.sign = Sign::free;
    p.settings.thresh = 1e-11;
    p.weights[0] = 2;
    p.weights[1] = 0;
    Problem twice = p;
    twice.x.row(1) = p.x.row(0);
    twice.y[1] = p.y[0];
    twice.weights.setOnes();
    const double lambda1 = 0.1 * p.scale(), lambda2 = 0.03 * p.scale();
    const Fit a = fit_with(p, kPursuit, lambda1, lambda2);
    const Fit b = fit_with(twice, kPursuit, lambda1, lambda2);
    CHECK_NEAR((dense_beta(a, 8) - dense_beta(b, 8)).norm(), 0, 1e-5);
    CHECK_NEAR(a.deviance_ratio, b.deviance_ratio, 1e-9);
  }
}

TEST(without_penalties_the_fit_is_least_squares) {
  for (const PenaltyType penalty : kPenalties)
    for (const Algorithm algorithm : {kPursuit, kFista}) {
      Random random(7);
      Problem p = plain_problem(random, "gaussian", 40, 6);
      p.settings.sign = Sign::free;
      p.settings.penalty = penalty;
      p.settings.thresh = 1e-10;
      Eigen::MatrixXd u(40, 7);
      u << VectorXd::Ones(40), p.x;
      const VectorXd expected = u.colPivHouseholderQr().solve(p.y);
      const Fit fit = fit_with(p, algorithm, 0, 0);
      CHECK(fit.converged);
      CHECK_NEAR((dense_beta(fit, 6) - expected.tail(6)).norm(), 0, 1e-4);
      CHECK_NEAR(fit.intercept, expected[0], 1e-4);
    }
}

TEST(fusion_alone_fits_constants_per_component) {
  // lambda1 = 0 and strong fusion: one value for each component of the graph.
  for (const Algorithm algorithm : {kPursuit, kFista}) {
    Random random(8);
    Problem p = plain_problem(random, "gaussian", 30, 6);
    p.graph = n2gfl::Graph(6, {{0, 1, 1.0}, {1, 2, 1.0}, {3, 4, 1.0}, {4, 5, 1.0}});
    p.settings.sign = Sign::free;
    p.settings.thresh = 1e-10;
    Eigen::MatrixXd u(30, 3);
    u << VectorXd::Ones(30), p.x.leftCols(3).rowwise().sum(), p.x.rightCols(3).rowwise().sum();
    const VectorXd expected = u.colPivHouseholderQr().solve(p.y);
    const Fit fit = fit_with(p, algorithm, 0, 10 * p.scale());
    CHECK(fit.converged);
    const VectorXd beta = dense_beta(fit, 6);
    for (int i = 0; i < 6; ++i) CHECK_NEAR(beta[i], expected[1 + i / 3], 1e-4);
    CHECK(fit.df == 2 && fit.regions == 2);
  }
}

TEST(without_l1_the_fit_is_still_certified) {
  for (int seed = 0; seed < 40; ++seed) {
    Random random(3000 + seed);
    Problem p = random_problem(random);
    p.settings.family = "gaussian";
    p.factor.setOnes();
    p.settings.thresh = 1e-8;
    const double lambda2 = 0.05 * p.scale(), null = null_objective(p);
    const Fit fit = fit_with(p, kPursuit, 0, lambda2), other = fit_with(p, kFista, 0, lambda2);
    check_signs(p, fit);
    CHECK(fit.converged && other.converged);
    CHECK_NEAR(objective_of(p, 0, lambda2, fit), objective_of(p, 0, lambda2, other), 1e-7 * null);
  }
}

TEST(an_infinite_factor_excludes_whatever_lambda1_is) {
  for (const PenaltyType penalty : kPenalties)
    for (const Algorithm algorithm : {kPursuit, kFista})
      for (double share : {0.1, 0.0}) {
        Random random(9);
        Problem p = plain_problem(random, "gaussian", 30, 6);
        p.settings.sign = Sign::free;
        p.settings.penalty = penalty;
        p.factor[0] = kInfinity;
        const double lambda1 = share * p.scale(), lambda2 = 0.01 * p.scale();
        const Fit fit = fit_with(p, algorithm, lambda1, lambda2);
        CHECK(fit.converged && !fit.index.empty());
        CHECK(std::isfinite(fit.gap) && std::isfinite(fit.intercept));
        check_signs(p, fit);
      }
}

TEST(perfect_separation_ends) {
  for (const PenaltyType penalty : kPenalties)
    for (const Algorithm algorithm : {kPursuit, kFista})
      for (Sign sign : {Sign::nonnegative, Sign::free})
        for (double share : {1e-3, 1e-8}) {
          Random random(10);
          Problem p = plain_problem(random, "binomial", 20, 4);
          for (int i = 0; i < 20; ++i) p.x(i, 0) = p.y[i] * (1 + i % 3);
          p.settings.sign = sign;
          p.settings.penalty = penalty;
          p.settings.max_iterations = 500;
          const Fit fit = fit_with(p, algorithm, share * p.scale(), 0.1 * share * p.scale());
          CHECK(dense_beta(fit, 4).allFinite() && std::isfinite(fit.intercept));
          CHECK(fit.gap >= 0 && fit.converged == (fit.gap <= p.settings.thresh));
          CHECK(fit.deviance_ratio > 0.9);
          if (algorithm == kPursuit) CHECK(fit.converged);
        }
}

TEST(covariates_that_separate_are_refused) {
  Random random(11);
  Problem p = plain_problem(random, "binomial", 16, 4);
  p.covariates = separating_column(p);
  Poll poll;
  bool refused = false;
  try {
    p.path(poll);
  } catch (const n2gfl::NothingLeft&) {
    refused = true;
  }
  CHECK(refused);
}

TEST(separation_by_an_unpenalised_feature_ends) {
  // No optimum exists. The fit must stop and explain almost everything.
  for (const PenaltyType penalty : kPenalties) {
    Random random(11);
    Problem p = plain_problem(random, "binomial", 16, 4);
    p.x.col(0) = separating_column(p);
    p.factor[0] = 0;
    p.settings.sign = Sign::free;
    p.settings.penalty = penalty;
    p.settings.max_iterations = 100;
    const Fit fit = fit_with(p, kPursuit, 0.05 * p.scale(), 0);
    CHECK(fit.deviance_ratio > 0.99);
    CHECK(std::isfinite(fit.intercept) && dense_beta(fit, 4).allFinite());
  }
}

TEST(a_separable_mixture_of_free_parts_keeps_below_the_null_fit) {
  // A covariate and an unpenalised feature separate the classes together; neither does alone.
  Random random(791);
  Problem p = random_problem(random);
  p.settings.max_iterations = 20;
  const Fit fit = fit_with(p, kPursuit, 0.2, 0);
  CHECK(p.covariates.cols() == 2 && (p.factor.array() == 0).any());
  CHECK(objective_of(p, 0.2, 0, fit) <= null_objective(p) * (1 + 1e-9));
}

TEST(a_cold_fit_equals_the_end_of_a_path) {
  for (const char* family : kFamilies)
    for (const PenaltyType penalty : kPenalties)
      for (Sign sign : kSigns) {
        Random random(12);
        Problem p = plain_problem(random, family, 40, 30);
        p.settings.sign = sign;
        p.settings.penalty = penalty;
        p.settings.thresh = 1e-9;
        p.settings.nlambda1 = 8;
        Poll poll;
        const auto path = p.path(poll);
        const double lambda2 = 0.05 * p.scale();
        const auto rows = path->grid({}, {lambda2});
        Fit warm;
        for (const auto& row : rows) {
          warm = path->fit(row);
          CHECK(warm.converged);
        }
        const Fit cold = fit_with(p, kPursuit, rows.back().lambda1, lambda2);
        CHECK(cold.converged && !cold.index.empty());
        const double a = objective_of(p, rows.back().lambda1, lambda2, warm);
        const double b = objective_of(p, rows.back().lambda1, lambda2, cold);
        CHECK_NEAR(a, b, 2e-9 * null_objective(p));
        CHECK_NEAR((dense_beta(warm, 30) - dense_beta(cold, 30)).norm(), 0, 1e-3);
      }
}

TEST(rows_may_come_in_any_order) {
  // Up and down again, with and without fusion: the state of the solver must not matter.
  for (const PenaltyType penalty : kPenalties) {
    Random random(13);
    Problem p = plain_problem(random, "binomial", 40, 10);
    p.settings.sign = Sign::free;
    p.settings.penalty = penalty;
    p.settings.thresh = 1e-9;
    Poll poll;
    const auto path = p.path(poll);
    for (double share1 : {0.05, 0.5, 0.01, 2.0, 0.2})
      for (double share2 : {0.1, 0.0, 0.02}) {
        const double lambda1 = share1 * p.scale(), lambda2 = share2 * p.scale();
        check_fit(p, lambda1, lambda2, path->fit({lambda1, lambda2}));
      }
  }
}

TEST(too_few_iterations_are_admitted) {
  for (const Algorithm algorithm : {kIsta, kFista, kPursuit}) {
    Random random(14);
    Problem p = plain_problem(random, "binomial", 30, 10);
    p.settings.thresh = 1e-12;
    p.settings.max_iterations = 1;
    const double lambda1 = 0.02 * p.scale(), lambda2 = 0.02 * p.scale();
    const Fit fit = fit_with(p, algorithm, lambda1, lambda2);
    CHECK(fit.converged == (fit.gap <= 1e-12));
    CHECK(algorithm == kPursuit || (!fit.converged && fit.iterations == 1));
    CHECK(certify(p, lambda1, lambda2, fit).gap <= fit.gap + 1e-12);
  }
}

TEST(a_fit_can_be_interrupted_and_the_exception_is_kept) {
  struct Stop {
    int code;
  };
  for (const PenaltyType penalty : kPenalties)
    for (const Algorithm algorithm : {kPursuit, kFista, kIsta}) {
      Random random(15);
      Problem p = plain_problem(random, "binomial", 50, 300);
      p.settings.penalty = penalty;
      p.settings.algorithm = algorithm;
      p.settings.thresh = 1e-9;
      bool armed = false;
      Poll poll([&armed] {
        if (armed) throw Stop{42};
      });
      const auto path = p.path(poll);
      armed = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(110));  // a Poll checks ten times a second
      int code = 0;
      try {
        path->fit({0.05 * p.scale(), 0.05 * p.scale()});
      } catch (const Stop& stop) {
        code = stop.code;
      }
      CHECK(code == 42);
    }
}

TEST(data_without_anything_to_explain_give_zero) {
  for (const PenaltyType penalty : kPenalties)
    for (const Algorithm algorithm : {kPursuit, kFista})
      for (double level : {0.0, 0.1, 1e8}) {  // the mean of 0.1 has a rounding error
        Random random(16);
        Problem p = plain_problem(random, "gaussian", 11, 5);
        p.y.setConstant(level);
        p.settings.penalty = penalty;
        p.settings.sign = Sign::free;
        const Fit fit = fit_with(p, algorithm, 1e-3, 1e-3);
        CHECK(fit.index.empty() && fit.converged);
        CHECK_NEAR(fit.intercept, level, 1e-15 * level);
        CHECK(fit.deviance_ratio == 0 || std::fabs(level) > 0);
      }
}

TEST(zero_fits_with_unpenalised_features_have_a_finite_gap) {
  // Without special care, a loose threshold leaves more than rounding at an unpenalised feature.
  for (int seed = 0; seed < 300; ++seed) {
    Random random(4000 + seed);
    Problem p = random_problem(random);
    p.factor[random() % p.features()] = 0;
    p.settings.thresh = seed % 2 ? 1e-2 : 1e-4;
    p.settings.sign = kSigns[seed % 3];
    const double strong[] = {2.0, 1e4, 1e8};
    const Fit fit = fit_with(p, kPursuit, 2 * p.scale(), strong[seed % 3] * p.scale());
    CHECK(fit.converged && std::isfinite(fit.gap));
  }
}

TEST(a_loss_that_is_almost_straight_is_fitted) {
  // Offsets in the hundreds leave no curvature: plain Newton steps are a billion times too long.
  for (int seed = 0; seed < 20; ++seed) {
    Random random(5000 + seed);
    Problem p = plain_problem(random, "binomial", 16, 10);
    p.offset = uniform_vector(random, 16, -500, 500);
    p.settings.sign = kSigns[seed % 3];
    p.settings.thresh = 1e-8;
    const double lambda1 = 0.003 * p.scale(), lambda2 = 0.001 * p.scale();
    check_fit(p, lambda1, lambda2, fit_with(p, kPursuit, lambda1, lambda2));
  }
}

TEST(the_gap_bounds_what_is_left_where_no_penalty_holds) {
  // Fits that stop early with lambda1 = 0 or a factor of 0: no other fit may be better by more
  // than the gap.
  for (const PenaltyType penalty : kPenalties)
    for (const Algorithm algorithm : {kPursuit, kFista})
      for (int seed = 0; seed < 100; ++seed) {
        Random random(6000 + seed);
        Problem p = random_problem(random);
        p.settings.penalty = penalty;
        p.factor[random() % p.features()] = 0;
        p.x.col(random() % p.features()) *= 1e-3;  // small columns need large coefficients
        p.settings.thresh = 1e-2;
        p.settings.max_iterations = 1 + below(random, 30);
        const double lambda1 = seed % 2 ? 0.1 * p.scale() : 0.0, lambda2 = (seed % 3) * 0.05 * p.scale();
        const Fit fit = fit_with(p, algorithm, lambda1, lambda2);
        p.settings.thresh = 1e-10;
        p.settings.max_iterations = 1000;
        const Fit better = fit_with(p, kPursuit, lambda1, lambda2);
        const double fall =
            objective_of(p, lambda1, lambda2, fit) - objective_of(p, lambda1, lambda2, better);
        CHECK(fall <= (fit.gap + 1e-9) * null_objective(p));
      }
}

TEST(a_stiff_laplacian_stays_finite) {
  // Edge weights over eight orders of magnitude and a strong penalty: conjugate gradients diverge
  // here.
  for (int seed = 0; seed < 60; ++seed) {
    Random random(7000 + seed);
    Problem p = plain_problem(random, "gaussian", 31, 5);
    std::vector<n2gfl::Edge> edges;
    for (int i = 0; i < 5; ++i)
      for (int j = 0; j < i; ++j)
        if (random() % 3) edges.push_back({j, i, std::pow(10.0, testing::uniform(random, -4, 4))});
    p.graph = n2gfl::Graph(5, edges);
    p.settings.penalty = PenaltyType::laplacian;
    p.settings.sign = Sign::free;
    p.factor[random() % 5] = 0;
    const Fit fit = fit_with(p, kPursuit, 1e-3 * p.scale(), 1e4 * p.scale());
    CHECK(dense_beta(fit, 5).allFinite() && std::isfinite(fit.intercept) && fit.gap >= 0);
  }
}
