// Stores the last pairs (r, X'r). If a new residual is almost a linear combination of old ones,
// its gradient is almost the same combination of the old gradients, with an error bound for each
// column:
//   |x_j'r - prediction_j| <= |x_j| * |r - combination|.
// For most columns this bound suffices, and the product is never computed.
#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <vector>

#include "loss.hpp"

namespace n2gfl {

class GradientHistory {
 public:
  bool empty() const { return residuals_.empty(); }

  void store(const VectorXd& residual, const VectorXd& gradient) {
    if (residuals_.size() == kPairs) {
      std::rotate(residuals_.begin(), residuals_.begin() + 1, residuals_.end());
      std::rotate(gradients_.begin(), gradients_.begin() + 1, gradients_.end());
      residuals_.back() = residual;
      gradients_.back() = gradient;
    } else {
      residuals_.push_back(residual);
      gradients_.push_back(gradient);
    }
  }

  // Fills `gradient` with the prediction and returns a bound of |r - combination|, which includes
  // the rounding errors of the stored gradients.
  double predict(const VectorXd& residual, VectorXd& gradient) const {
    const int pairs = static_cast<int>(residuals_.size());
    MatrixXd basis(residual.size(), pairs);
    for (int k = 0; k < pairs; ++k) basis.col(k) = residuals_[k];
    const VectorXd mix = basis.colPivHouseholderQr().solve(residual);
    double rounding = 0;
    gradient.setZero(gradients_[0].size());
    for (int k = 0; k < pairs; ++k) {
      gradient += mix[k] * gradients_[k];
      rounding += std::fabs(mix[k]) * residuals_[k].norm();
    }
    return (residual - basis * mix).norm() * (1 + 1e-9) + 1e-14 * rounding;
  }

 private:
  static constexpr std::size_t kPairs = 4;
  std::vector<VectorXd> residuals_, gradients_;
};

}  // namespace n2gfl
