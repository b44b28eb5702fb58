// Counts with a log link: l(y, eta) = exp(eta) - y eta - y + y log y, half the unit deviance.
#pragma once

#include "loss/loss.hpp"
#include "types.hpp"

namespace n2gfl {

class PoissonLoss final : public SeparableLoss {
 public:
  using SeparableLoss::SeparableLoss;

  double evaluate(const VectorXd& eta, VectorXd& residual, VectorXd* curvature) const override;

  // theta = omega (y - mean) determines the mean, which must not be negative.
  double dual(const VectorXd& theta) const override;

  double best_constant(const VectorXd& eta) const override;

 private:
  static constexpr double kRounding = 1e-14;
};

}  // namespace n2gfl
