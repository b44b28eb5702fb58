// A loss that the package does not have, added in one place: Huber's, which vignettes/inside.Rmd
// shows. Solvers, prox and certificate are those of the core, unchanged. test-added-family.R makes
// the same files a family of n2gfl().
#include "check.hpp"
#include "random_problem.hpp"

#include "../testthat/fixtures/huber/huber_loss.cpp"

#include "penalty/fused_penalty.hpp"
#include "solve/proximal_gradient.hpp"
#include "solve/region_pursuit.hpp"

#include <cmath>
#include <memory>

using Eigen::MatrixXd;
using Eigen::VectorXd;
using n2gfl::HuberLoss;
using testing::kInfinity;
using testing::Random;
using testing::uniform_vector;

namespace {

struct Data {
  MatrixXd x;
  VectorXd y;
  n2gfl::Graph graph;
};

// One row in ten is far from where it belongs.
Data wild_data(Random& random, int rows, int features) {
  Data data{testing::uniform_matrix(random, rows, features, -1, 1),
            uniform_vector(random, rows, -0.5, 0.5), testing::chain(features)};
  data.y += data.x.col(1) + data.x.col(2);
  for (int i = 0; i < rows; i += 10) data.y[i] += 20;
  return data;
}

// Objective and gap from their definitions, the dual norm by brute force over all sets of nodes.
void check_optimal(const Data& data, const HuberLoss& loss, double lambda1, double lambda2,
                   const VectorXd& beta, double intercept, double null, double gap) {
  VectorXd r;
  const VectorXd eta = (data.x * beta).array() + intercept;
  double objective = loss.evaluate(eta, r, nullptr) + lambda1 * beta.sum();
  for (int i = 0; i + 1 < beta.size(); ++i) objective += lambda2 * std::fabs(beta[i] - beta[i + 1]);
  const VectorXd g = data.x.transpose() * r;
  const VectorXd thresholds = VectorXd::Constant(beta.size(), lambda1);
  const double rho = testing::largest_ratio(data.graph, g, thresholds, lambda2, false).ratio;
  CHECK(beta.minCoeff() >= 0);
  CHECK_NEAR(r.sum(), 0, 1e-9);  // the intercept is optimal
  CHECK((objective - loss.dual(r / std::max(1.0, rho))) / null <= gap + 1e-12);
}

}  // namespace

TEST(an_added_loss_agrees_with_its_derivatives_and_its_dual) {
  Random random(1);
  const HuberLoss loss(testing::vec({0, 1, 2, 5}), uniform_vector(random, 4, 0.5, 2));
  const VectorXd eta = uniform_vector(random, 4, -1, 2);
  VectorXd residual, curvature, above, below;
  const double value = loss.evaluate(eta, residual, &curvature);
  for (int i = 0; i < 4; ++i) {
    const VectorXd step = 1e-5 * VectorXd::Unit(4, i);
    const double up = loss.evaluate(eta + step, above, nullptr);
    const double down = loss.evaluate(eta - step, below, nullptr);
    CHECK_NEAR(residual[i], -(up - down) / 2e-5, 1e-8);
    CHECK_NEAR(curvature[i], -(above[i] - below[i]) / 2e-5, 1e-8);
  }
  CHECK_NEAR(loss.dual(residual), value + residual.dot(eta), 1e-13);
  CHECK(loss.dual(0.5 * residual) < value + 0.5 * residual.dot(eta));
  CHECK(loss.dual(VectorXd::Constant(4, 10)) == -kInfinity);
}

TEST(an_added_loss_is_fitted_and_certified_by_the_core_as_it_is) {
  for (int seed = 0; seed < 20; ++seed) {
    Random random(seed);
    const Data data = wild_data(random, 40, 8);
    const HuberLoss loss(data.y, VectorXd::Ones(40));
    const n2gfl::Design design = n2gfl::Design::dense(data.x.data(), 40, 8);
    const double lambda2 = 0.02 * (seed % 3);
    double objectives[2];
    for (int which = 0; which < 2; ++which) {
      n2gfl::Profile profile(loss, MatrixXd::Ones(40, 1), VectorXd::Zero(40));
      n2gfl::Poll poll;
      n2gfl::Model model(design, profile, data.graph, VectorXd::Ones(8), true, true, 1, poll);
      std::unique_ptr<n2gfl::Solver> solver;
      if (which == 0)
        solver = std::make_unique<n2gfl::RegionPursuit>(model);
      else
        solver = std::make_unique<n2gfl::ProximalGradient>(
            model, std::make_unique<n2gfl::FusedPenalty>(model), n2gfl::Steps::with_jumps);
      const n2gfl::Solution s = solver->solve(0.05, lambda2, 1e-8, 100000);
      VectorXd beta = VectorXd::Zero(8);
      for (std::size_t k = 0; k < s.index.size(); ++k) beta[s.index[k]] = s.value[k];
      CHECK(s.gap <= 1e-8);
      check_optimal(data, loss, 0.05, lambda2, beta, profile.coefficients(s.unpenalised)[0],
                    model.null_value, s.gap);
      objectives[which] = s.objective;
      CHECK(beta[1] > 0 && beta[2] > 0);  // where the signal is
    }
    CHECK_NEAR(objectives[0], objectives[1], 1e-7);
  }
}
