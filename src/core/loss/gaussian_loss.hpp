// Least squares: l(y, eta) = (y - eta)^2 / 2.
#pragma once

#include "loss/loss.hpp"
#include "types.hpp"

namespace n2gfl {

class GaussianLoss final : public SeparableLoss {
 public:
  using SeparableLoss::SeparableLoss;

  double evaluate(const VectorXd& eta, VectorXd& residual, VectorXd* curvature) const override;

  double dual(const VectorXd& theta) const override;

  bool quadratic() const override { return true; }

  // The loss depends on y - offset only, and with an intercept the means of both do not matter.
  // Subtracting them first avoids a loss of digits.
  double take_over(VectorXd& offset, bool intercept) override;
};

}  // namespace n2gfl
