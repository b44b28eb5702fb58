// Stores the last pairs (r, X'r). If a new residual is almost a linear combination of old ones,
// its gradient is almost the same combination of the old gradients, with an error bound for each
// column:
//   |x_j'r - prediction_j| <= |x_j| * |r - combination|.
// For most columns this bound suffices, and the product is never computed.
//
// Gradients are stored in single precision, divided by |x_j| |r|, so that they lie between -1 and
// 1 whatever the scale of the data, and rounding adds the same to the bound of every column.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "types.hpp"

namespace n2gfl {

class GradientHistory {
 public:
  // The length of each column of X.
  explicit GradientHistory(const VectorXd& column_norm)
      : inverse_norm_(column_norm.unaryExpr([](double v) { return v > 0 ? 1 / v : 0.0; })) {}

  void store(const VectorXd& residual, const VectorXd& gradient) {
    const double size = residual.norm();
    if (!(size > 0)) return;
    if (gradients_.size() == 0) gradients_.resize(gradient.size(), kPairs);
    const int place = static_cast<int>(stored_++ % kPairs);
    if (place == static_cast<int>(directions_.size())) directions_.emplace_back();
    directions_[place] = residual / size;
    gradients_.col(place) = (gradient.cwiseProduct(inverse_norm_) / size).cast<float>();
  }

  // Fills `scaled` with the prediction of x_j'r / |x_j|. Returns a bound of its error, which
  // includes the rounding of the stored gradients and of the sum.
  double predict(const VectorXd& residual, Eigen::VectorXf& scaled) const {
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

 private:
  using VectorXf = Eigen::VectorXf;
  static constexpr std::size_t kPairs = 8;
  static constexpr double kUnitRoundoff = 5.97e-8;  // of float, rounded up
  static constexpr double kSmallest = 1e-30, kLargest = 1e30;  // residuals that float can represent

  // Least squares with a small ridge: large weights of both signs would magnify the rounding.
  static VectorXd weights(const MatrixXd& basis, const VectorXd& residual) {
    MatrixXd inner = basis.transpose() * basis;
    inner.diagonal().array() += 1e-12;
    const Eigen::LDLT<MatrixXd> factor(inner);
    VectorXd mix = factor.solve(basis.transpose() * residual);
    mix += factor.solve(basis.transpose() * (residual - basis * mix));
    return mix;
  }

  VectorXd inverse_norm_;
  std::vector<VectorXd> directions_;  // residuals of norm one
  Eigen::MatrixXf gradients_;
  std::size_t stored_ = 0;
};

}  // namespace n2gfl
