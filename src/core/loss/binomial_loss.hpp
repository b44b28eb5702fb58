// Logistic loss: l(y, eta) = log(1 + exp(-y eta)) with y = -1 or 1.
#pragma once

#include <cmath>
#include <limits>

#include "loss/loss.hpp"

namespace n2gfl {

class BinomialLoss final : public Loss {
 public:
  using Loss::Loss;

  double evaluate(const VectorXd& eta, VectorXd& residual, VectorXd* curvature) const override {
    const ArrayXd margin = y_.array() * eta.array();
    const ArrayXd small = (-margin.abs()).exp();  // never overflows
    const ArrayXd wrong = (margin > 0).select(small, 1.0) / (1.0 + small);
    residual = omega_.array() * y_.array() * wrong;
    // wrong * (1 - wrong), without the difference that loses every digit at large margins
    if (curvature) *curvature = omega_.array() * small / (1.0 + small).square();
    return (omega_.array() * (small.log1p() + (-margin).max(0.0))).sum();
  }

  // The entropy of u = theta y / omega, for 0 <= u <= 1.
  double dual(const VectorXd& theta) const override {
    double value = 0;
    for (int i = 0; i < size(); ++i) {
      if (omega_[i] <= 0) continue;
      double u = theta[i] * y_[i] / omega_[i];
      const bool inside = u >= -kRounding && u <= 1 + kRounding;  // false for NaN too
      if (!inside) return -std::numeric_limits<double>::infinity();
      u = std::fmin(1.0, std::fmax(0.0, u));
      if (u > 0) value -= omega_[i] * u * std::log(u);
      if (u < 1) value -= omega_[i] * (1 - u) * std::log1p(-u);
    }
    return value;
  }

  double saturated() const override { return 0.0; }

 private:
  static constexpr double kRounding = 1e-14;
};

}  // namespace n2gfl
