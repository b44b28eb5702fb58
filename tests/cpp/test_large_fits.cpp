// Paths on larger graphs: many regions, and fusion so strong that flows travel far. Each fit is
// judged by FusedPenalty, which shares neither regions nor predicted gradients with the solver.
#include "check.hpp"
#include "example_model.hpp"
#include "random_problem.hpp"

#include "penalty/fused_penalty.hpp"
#include "solve/fallback_solver.hpp"
#include "solve/region_pursuit.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

using n2gfl::Fit;
using n2gfl::Poll;
using n2gfl::Sign;
using testing::dense_beta;
using testing::kInfinity;
using testing::MatrixXd;
using testing::objective_of;
using testing::plain_problem;
using testing::Problem;
using testing::Random;
using testing::uniform;
using testing::uniform_matrix;
using testing::uniform_vector;
using testing::VectorXd;

namespace {

// The model of a problem for nonnegative or free coefficients.
struct Judge {
  explicit Judge(const Problem& p)
      : problem(p), design(n2gfl::Design::dense(p.x.data(), p.rows(), p.features())),
        loss(n2gfl::make_loss(p.settings.family, p.y, p.weights)),
        profile(*loss, unpenalised(p), p.offset) {
    design.use_rows(p.weights);
    model = std::make_unique<n2gfl::Model>(design, profile, p.graph, p.factor,
                                           p.settings.sign != Sign::free, true, 1, poll);
  }

  static MatrixXd unpenalised(const Problem& p) {
    MatrixXd u = MatrixXd::Ones(p.rows(), 1 + p.covariates.cols());
    u.rightCols(p.covariates.cols()) = p.covariates;
    return u;
  }

  // The fit is certified, with the intercept and the coefficients of covariates that it reports.
  void check(double lambda1, double lambda2, const Fit& fit) {
    const VectorXd beta = dense_beta(fit, problem.features()), eta = problem.x * beta;
    VectorXd products;
    n2gfl::FusedPenalty penalty(*model);
    penalty.set(lambda1, lambda2);
    const n2gfl::Evaluation at = profile.evaluate(eta);
    const double objective = at.loss() + penalty.value(beta);
    CHECK(fit.converged && fit.gap <= 1e-6);
    CHECK(penalty.gap(beta, at, objective, 1e-6, products) <= 1e-6);
    CHECK_NEAR(objective_of(problem, lambda1, lambda2, fit), objective, 1e-9 * model->null_value);
    for (int i = 0; i < problem.features(); ++i) {
      CHECK(beta[i] >= 0 || problem.settings.sign == Sign::free);
      CHECK(beta[i] == 0 || std::isfinite(problem.factor[i]));
    }
  }

  const Problem& problem;
  Poll poll;
  n2gfl::Design design;
  std::unique_ptr<n2gfl::Loss> loss;
  n2gfl::Profile profile;
  std::unique_ptr<n2gfl::Model> model;
};

// Smooth images of a cube: near one corner they follow y, near the opposite corner -y.
void make_images(Random& random, Problem& p) {
  const VectorXd first = uniform_vector(random, p.rows(), -1, 1);
  const VectorXd second = uniform_vector(random, p.rows(), -1, 1);
  for (int j = 0; j < p.features(); ++j) {
    const double way = j % 10 + j / 10 % 10 + j / 100;  // from the first corner
    p.x.col(j) += first / (1 + std::exp(way - 10)) + second / (1 + std::exp(17 - way));
  }
  const VectorXd eta = 2 * (first - second) + uniform_vector(random, p.rows(), -1, 1);
  for (int i = 0; i < p.rows(); ++i) p.y[i] = p.gaussian() ? eta[i] : eta[i] > 0 ? 1 : -1;
}

// With everything that can be unequal.
Problem cube_problem(Random& random, const std::string& family, Sign sign) {
  Problem p = plain_problem(random, family, 60, 1000);
  p.settings.sign = sign;
  p.graph = testing::grid_graph(10, 3, [&] { return uniform(random, 0.2, 1.5); });
  make_images(random, p);
  p.factor = uniform_vector(random, p.features(), 0.5, 2);
  p.factor[123] = 0;
  p.factor[456] = kInfinity;
  p.weights = uniform_vector(random, p.rows(), 0.5, 2);
  for (int i = 0; i < p.rows(); i += 13) p.weights[i] = 0;
  p.covariates = uniform_matrix(random, p.rows(), 2, -1, 1);
  return p;
}

void check_path(const Problem& p, double lambda2, int rows) {
  Poll poll;
  Judge judge(p);
  const auto path = p.path(poll);
  const double first = path->lambda1_max(lambda2);
  bool any = false;
  for (int k = 0; k < rows; ++k) {
    const double lambda1 = first * std::pow(0.02, k / (rows - 1.0));
    const Fit fit = path->fit({lambda1, lambda2});
    judge.check(lambda1, lambda2, fit);
    any = any || fit.index.size() > 10;
  }
  CHECK(any);
}

// Every feature has an effect of its own, so the fit has many regions.
Problem rough_problem(Random& random, Sign sign) {
  Problem p = plain_problem(random, "gaussian", 450, 900);
  p.settings.sign = sign;
  p.graph = testing::grid_graph(30, 2, [] { return 1.0; });
  p.y = p.x * uniform_vector(random, 900, sign == Sign::free ? -1 : -0.3, 1) +
        uniform_vector(random, 450, -1, 1);
  return p;
}

}  // namespace

TEST(strong_fusion_on_a_cube_is_certified) {
  unsigned seed = 0;
  for (const char* family : {"gaussian", "binomial"})
    for (Sign sign : {Sign::nonnegative, Sign::free})
      for (double share : {0.1, 0.5}) {
        Random random(++seed);
        const Problem p = cube_problem(random, family, sign);
        check_path(p, share * p.scale(), 20);
      }
}

TEST(fits_with_many_regions_are_handed_over_and_certified) {
  for (Sign sign : {Sign::nonnegative, Sign::free}) {
    Random random(7);
    Problem p = rough_problem(random, sign);
    const double lambda1 = 0.01 * p.scale(), lambda2 = 0.1 * lambda1;
    Judge judge(p);
    n2gfl::RegionPursuit pursuit(*judge.model);
    n2gfl::FallbackSolver solver(*judge.model, pursuit);
    solver.solve(lambda1, lambda2, 1e-6, 10000);
    CHECK(solver.handed_over());

    Poll poll;
    const Fit fit = p.path(poll)->fit({lambda1, lambda2});
    judge.check(lambda1, lambda2, fit);
    CHECK(fit.df > 300);
    p.settings.algorithm = n2gfl::Algorithm::fista;
    const Fit other = p.path(poll)->fit({lambda1, lambda2});
    judge.check(lambda1, lambda2, other);
    const double a = objective_of(p, lambda1, lambda2, fit);
    const double b = objective_of(p, lambda1, lambda2, other);
    const double unit = judge.model->null_value;
    CHECK(a <= b + (fit.gap + 1e-12) * unit);
    CHECK(b <= a + (other.gap + 1e-12) * unit);
  }
}
