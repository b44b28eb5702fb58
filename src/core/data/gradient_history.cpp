#include "data/gradient_history.hpp"

namespace n2gfl {

GradientHistory::GradientHistory(const VectorXd& column_norm)
    : inverse_norm_(column_norm.unaryExpr([](double v) { return v > 0 ? 1 / v : 0.0; })) {}

void GradientHistory::store(const VectorXd& residual, const VectorXd& gradient) {
  const double size = residual.norm();
  if (!(size > 0)) return;
  if (gradients_.size() == 0) gradients_.resize(gradient.size(), kPairs);
  const int place = static_cast<int>(stored_++ % kPairs);
  if (place == static_cast<int>(directions_.size())) directions_.emplace_back();
  directions_[place] = residual / size;
  gradients_.col(place) = (gradient.cwiseProduct(inverse_norm_) / size).cast<float>();
}

double GradientHistory::predict(const VectorXd& residual, Eigen::VectorXf& scaled) const {
  const int pairs = static_cast<int>(directions_.size());
  const double size = residual.norm();
  if (pairs == 0 || !(size > kSmallest && size < kLargest)) {
    scaled.setZero(inverse_norm_.size());
    return size * (1 + 1e-9);
  }
  MatrixXd basis(residual.size(), pairs);
  for (int k = 0; k < pairs; ++k) basis.col(k) = directions_[k];
  const VectorXf mix = weights(basis, residual).cast<float>();
  scaled.noalias() = gradients_.leftCols(pairs) * mix;
  const VectorXd used = mix.cast<double>();
  const double rounding = kUnitRoundoff * (pairs + 4) * used.cwiseAbs().sum();
  return (residual - basis * used).norm() * (1 + 1e-9) + rounding;
}

// Least squares with a small ridge: large weights of both signs would magnify the rounding.
VectorXd GradientHistory::weights(const MatrixXd& basis, const VectorXd& residual) {
  MatrixXd inner = basis.transpose() * basis;
  inner.diagonal().array() += 1e-12;
  const Eigen::LDLT<MatrixXd> factor(inner);
  VectorXd mix = factor.solve(basis.transpose() * residual);
  mix += factor.solve(basis.transpose() * (residual - basis * mix));
  return mix;
}

}  // namespace n2gfl
