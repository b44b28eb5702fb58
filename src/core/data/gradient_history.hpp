// Stores the last pairs (r, X'r). If a new residual is almost a linear combination of old ones,
// its gradient is almost the same combination of the old gradients, with an error bound for each
// column:
//   |x_j'r - prediction_j| <= |x_j| * |r - combination|.
// For most columns this bound suffices, and the product is never computed.
//
// Gradients are stored in single precision, divided by |x_j| |r|, so that they lie between -1 and
// 1 whatever the scale of the data, and rounding adds the same to the bound of every column.
#pragma once

#include <cstddef>
#include <vector>

#include "types.hpp"

namespace n2gfl {

class GradientHistory {
 public:
  // The length of each column of X.
  explicit GradientHistory(const VectorXd& column_norm);

  void store(const VectorXd& residual, const VectorXd& gradient);

  // Fills `scaled` with the prediction of x_j'r / |x_j|. Returns a bound of its error, which
  // includes the rounding of the stored gradients and of the sum.
  double predict(const VectorXd& residual, Eigen::VectorXf& scaled) const;

 private:
  using VectorXf = Eigen::VectorXf;
  static constexpr std::size_t kPairs = 8;
  static constexpr double kUnitRoundoff = 5.97e-8;  // of float, rounded up
  static constexpr double kSmallest = 1e-30, kLargest = 1e30;  // residuals that float can represent

  static VectorXd weights(const MatrixXd& basis, const VectorXd& residual);

  VectorXd inverse_norm_;
  std::vector<VectorXd> directions_;  // residuals of norm one
  Eigen::MatrixXf gradients_;
  std::size_t stored_ = 0;
};

}  // namespace n2gfl
