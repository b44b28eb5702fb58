// Second derivatives of a loss in its predictor: H = diag(h) - L L'. Most losses separate over
// observations and have no L. Where L exists it is an operator, so that its products cost no more
// than a few passes over the observations.
#pragma once

#include <memory>

#include "types.hpp"

namespace n2gfl {

class LowRank {
 public:
  virtual ~LowRank() = default;
  virtual MatrixXd transposed_times(const MatrixXd& v) const = 0;  // L'v
  virtual MatrixXd times(const MatrixXd& w) const = 0;             // L w
};

struct Curvature {
  VectorXd diagonal;
  std::shared_ptr<const LowRank> less;  // L, or null

  MatrixXd times(const MatrixXd& v) const {
    MatrixXd out = diagonal.asDiagonal() * v;
    if (less) out -= less->times(less->transposed_times(v));
    return out;
  }
};

}  // namespace n2gfl
