// The losses of the core against their definitions (reference_loss.hpp): values, residuals, and
// bounds against exact conjugates.
#include "check.hpp"
#include "random_data.hpp"
#include "reference_loss.hpp"

#include "loss/families.hpp"

#include <cmath>
#include <memory>
#include <string>

using Eigen::MatrixXd;
using Eigen::VectorXd;
using n2gfl::Loss;
using n2gfl::LossPoint;
using testing::kFamilies;
using testing::Random;
using testing::ReferenceLoss;
using testing::uniform_vector;

namespace {

// A loss, its definition, and a point: `each` by observation, `eta` by rows of the definition.
struct Example {
  Example(Random& random, const std::string& family, int n)
      : y(testing::random_response(random, family, n)), weights(uniform_vector(random, n, 0.1, 3)) {
    if (n > 6) weights[5] = 0;
    loss = n2gfl::make_loss(family, y, weights);
    reference = testing::reference_loss<double>(family, y, weights);
    const VectorXd each = uniform_vector(random, n, -2, 2);
    VectorXd own = loss->own_start();
    for (int k = 0; k < own.size(); ++k) own[k] = k - 0.5 + testing::uniform(random, -0.4, 0.4);
    loss->compute(each, own, at);
    eta = in_rows(each) + reference->own * own;
  }

  VectorXd in_rows(const VectorXd& each) const {
    VectorXd rows(reference->rows());
    for (int k = 0; k < reference->rows(); ++k) rows[k] = each[reference->observation[k]];
    return rows;
  }

  VectorXd by_observation(const VectorXd& rows) const {
    VectorXd each = VectorXd::Zero(weights.size());
    for (int k = 0; k < reference->rows(); ++k) each[reference->observation[k]] += rows[k];
    return each;
  }

  MatrixXd y;
  VectorXd weights, eta;
  std::unique_ptr<Loss> loss;
  std::unique_ptr<ReferenceLoss<double>> reference;
  LossPoint at;
};

}  // namespace

TEST(losses_are_their_definitions) {
  Random random(1);
  for (const char* family : kFamilies)
    for (int round = 0; round < 50; ++round) {
      const Example e(random, family, 4 + testing::below(random, 12));
      const VectorXd residual = e.reference->residual(e.eta);
      CHECK_NEAR(e.at.value, e.reference->value(e.eta), 1e-12 * (1 + e.at.value));
      CHECK((e.at.residual - e.by_observation(residual)).cwiseAbs().maxCoeff() < 1e-13);
      if (e.reference->own.cols() > 0)
        CHECK((e.at.own_residual - e.reference->own.transpose() * residual).norm() < 1e-12);
    }
}

TEST(definitions_agree_with_their_derivatives) {
  Random random(2);
  for (const char* family : kFamilies) {
    const Example e(random, family, 9);
    const VectorXd residual = e.reference->residual(e.eta);
    const MatrixXd curvature = e.reference->curvature(e.eta);
    for (int k = 0; k < e.reference->rows(); ++k) {
      const VectorXd step = 1e-5 * VectorXd::Unit(e.reference->rows(), k);
      const double slope =
          (e.reference->value(e.eta + step) - e.reference->value(e.eta - step)) / 2e-5;
      const VectorXd change =
          (e.reference->residual(e.eta + step) - e.reference->residual(e.eta - step)) / 2e-5;
      CHECK_NEAR(residual[k], -slope, 1e-8);
      CHECK((curvature.col(k) + change).cwiseAbs().maxCoeff() < 1e-8);
    }
  }
}

// The definition's dual is exact: never above value + theta'eta, and equal at the residual.
TEST(definitions_have_exact_conjugates) {
  Random random(3);
  for (const char* family : kFamilies)
    for (int round = 0; round < 20; ++round) {
      const Example e(random, family, 9), other(random, family, 9);
      const VectorXd residual = e.reference->residual(e.eta);
      const double value = e.reference->value(e.eta) + residual.dot(e.eta);
      CHECK_NEAR(e.reference->dual(residual), value, 1e-12 * (1 + std::fabs(value)));
      CHECK_NEAR(e.reference->dual(0 * residual), 0, 1e-13);
      for (double share : {0.2, 0.9}) {
        const double bound = e.reference->dual(share * residual);
        for (double size : {0.01, 0.5}) {
          const VectorXd near =
              e.eta + size * uniform_vector(random, static_cast<int>(e.eta.size()), -1, 1);
          CHECK(bound <= e.reference->value(near) + share * residual.dot(near) + 1e-13);
        }
      }
    }
}

// The core's bound may be less than the conjugate, but not at the residual itself.
TEST(bounds_of_the_core_are_below_the_conjugates) {
  Random random(4);
  for (const char* family : kFamilies)
    for (int round = 0; round < 50; ++round) {
      const Example e(random, family, 4 + testing::below(random, 12));
      const VectorXd residual = e.reference->residual(e.eta);
      const n2gfl::DualPoint point = e.loss->dual_point(e.at);
      CHECK_NEAR(e.loss->bound(point, 1), e.reference->dual(residual), 1e-12 * (1 + e.at.value));
      for (double share : {0.0, 0.3, 0.99, 1 - 1e-9})
        CHECK(e.loss->bound(point, share) <= e.reference->dual(share * residual) + 1e-12);
    }
}
