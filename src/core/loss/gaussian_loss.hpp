// Least squares: l(y, eta) = (y - eta)^2 / 2.
#pragma once

#include "loss/loss.hpp"

namespace n2gfl {

class GaussianLoss final : public Loss {
 public:
  using Loss::Loss;

  double evaluate(const VectorXd& eta, VectorXd& residual, VectorXd* curvature) const override {
    residual = y_ - eta;
    const double value = 0.5 * residual.cwiseAbs2().dot(omega_);
    residual.array() *= omega_.array();
    if (curvature) *curvature = omega_;
    return value;
  }

  double dual(const VectorXd& theta) const override {
    double value = theta.dot(y_);
    for (int i = 0; i < size(); ++i)
      if (omega_[i] > 0) value -= 0.5 * theta[i] * theta[i] / omega_[i];
    return value;
  }

  double saturated() const override { return 0.0; }
  bool quadratic() const override { return true; }
};

}  // namespace n2gfl
