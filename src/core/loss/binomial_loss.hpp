// Logistic loss: l(y, eta) = log(1 + exp(-y eta)) with y = -1 or 1.
#pragma once

#include "loss/loss.hpp"
#include "types.hpp"

namespace n2gfl {

class BinomialLoss final : public SeparableLoss {
 public:
  using SeparableLoss::SeparableLoss;

  double evaluate(const VectorXd& eta, VectorXd& residual, VectorXd* curvature) const override;

  // The entropy of u = theta y / omega, for 0 <= u <= 1.
  double dual(const VectorXd& theta) const override;

 private:
  static constexpr double kRounding = 1e-14;
};

}  // namespace n2gfl
