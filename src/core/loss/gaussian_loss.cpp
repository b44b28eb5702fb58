#include "loss/gaussian_loss.hpp"

namespace n2gfl {

double GaussianLoss::evaluate(const VectorXd& eta, VectorXd& residual, VectorXd* curvature) const {
  residual = y_ - eta;
  const double value = 0.5 * residual.cwiseAbs2().dot(omega_);
  residual.array() *= omega_.array();
  if (curvature) *curvature = omega_;
  return value;
}

double GaussianLoss::dual(const VectorXd& theta) const {
  double value = theta.dot(y_);
  for (int i = 0; i < size(); ++i)
    if (omega_[i] > 0) value -= 0.5 * theta[i] * theta[i] / omega_[i];
  return value;
}

double GaussianLoss::take_over(VectorXd& offset, bool intercept) {
  double mean = 0;
  if (intercept) {
    const double far = y_.dot(omega_) / omega_.sum();
    const double shift = offset.dot(omega_) / omega_.sum();
    y_.array() -= far;
    offset.array() -= shift;
    mean = far - shift;
  }
  y_ -= offset;
  offset.setZero();
  return mean;
}

}  // namespace n2gfl
