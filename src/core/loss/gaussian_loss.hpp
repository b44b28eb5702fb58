// Least squares: l(y, eta) = (y - eta)^2 / 2.
#pragma once

#include "loss/loss.hpp"
#include "types.hpp"

namespace n2gfl {

class GaussianLoss final : public Loss {
 public:
  using Loss::Loss;

  double evaluate(const VectorXd& eta, VectorXd& residual, VectorXd* curvature) const override;

  double dual(const VectorXd& theta) const override;

  double saturated() const override { return 0.0; }
  bool quadratic() const override { return true; }
};

}  // namespace n2gfl
