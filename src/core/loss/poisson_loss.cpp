#include "loss/poisson_loss.hpp"

#include <cmath>
#include <limits>

namespace n2gfl {

double PoissonLoss::evaluate(const VectorXd& eta, VectorXd& residual, VectorXd* curvature) const {
  residual.resize(size());
  if (curvature) curvature->resize(size());
  double value = 0;
  for (int i = 0; i < size(); ++i) {
    const double weight = omega_[i], y = y_[i];
    const double mean = weight > 0 ? std::exp(eta[i]) : 0.0;
    residual[i] = weight > 0 ? weight * (y - mean) : 0.0;
    if (curvature) (*curvature)[i] = weight * mean;
    if (weight <= 0) continue;
    // y (exp(t) - 1 - t) with t = eta - log y keeps its digits where the mean is close to y.
    const double t = y > 0 ? eta[i] - std::log(y) : 0.0;
    value += weight * (y > 0 ? y * (std::expm1(t) - t) : mean);
  }
  return value;
}

double PoissonLoss::dual(const VectorXd& theta) const {
  double value = 0;
  for (int i = 0; i < size(); ++i) {
    if (omega_[i] <= 0) continue;
    const double y = y_[i], fall = theta[i] / omega_[i];  // mean = y - fall
    const bool inside = fall <= y + kRounding * (1 + y);    // false for NaN too
    if (!inside) return -std::numeric_limits<double>::infinity();
    const double mean = std::fmax(0.0, y - fall);
    if (y > 0) {
      // mean - y - mean log mean + y log y, by the ratio of mean and y to keep digits
      const double rise = -fall / y;
      const double entropy = mean > 0 ? (1 + rise) * std::log1p(rise) : 0.0;
      value += omega_[i] * (y * (rise - entropy) + fall * std::log(y));
    } else if (mean > 0) {
      value += omega_[i] * mean * (1 - std::log(mean));
    }
  }
  return value;
}

double PoissonLoss::best_constant(const VectorXd& eta) const {
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (int i = 0; i < size(); ++i)
    if (omega_[i] > 0) largest = std::fmax(largest, eta[i]);
  for (int i = 0; i < size(); ++i)
    if (omega_[i] > 0) sum += omega_[i] * std::exp(eta[i] - largest);
  const double mean = y_.dot(omega_);
  return (mean > 0 ? std::log(mean) : 0.0) - largest - std::log(sum);
}

}  // namespace n2gfl
