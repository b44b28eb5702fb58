#include "loss/binomial_loss.hpp"

#include <cmath>
#include <limits>

namespace n2gfl {

double BinomialLoss::evaluate(const VectorXd& eta, VectorXd& residual, VectorXd* curvature) const {
  const ArrayXd margin = y_.array() * eta.array();
  const ArrayXd small = (-margin.abs()).exp();  // never overflows
  const ArrayXd wrong = (margin > 0).select(small, 1.0) / (1.0 + small);
  residual = omega_.array() * y_.array() * wrong;
  // wrong * (1 - wrong), without the difference that loses every digit at large margins
  if (curvature) *curvature = omega_.array() * small / (1.0 + small).square();
  return (omega_.array() * (small.log1p() + (-margin).max(0.0))).sum();
}

double BinomialLoss::dual(const VectorXd& theta) const {
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

}  // namespace n2gfl
