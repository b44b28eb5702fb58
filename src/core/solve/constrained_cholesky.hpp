// Minimises 1/2 s'Hs - g's while equality constraints s_k = s_l or s_k = 0 are added one at a
// time. H is factored once, H = LL'; every constraint a's = 0 adds one column L^{-1} a and one row
// to a small factor of A H^{-1} A'. That costs n^2, a new factorisation would cost n^3.
#pragma once

#include <algorithm>
#include <cmath>

#include "types.hpp"

namespace n2gfl {

class ConstrainedCholesky {
 public:
  // Removes all constraints. A matrix that is numerically singular gets a small ridge.
  void factor(const MatrixXd& hessian) {
    factor_.compute(hessian);
    for (double ridge = 1e-10; factor_.info() != Eigen::Success && ridge < 1; ridge *= 100) {
      MatrixXd ridged = hessian;
      ridged.diagonal().array() += ridge * hessian.diagonal().maxCoeff() + 1e-300;
      factor_.compute(ridged);
    }
    count_ = 0;
    const Eigen::Index n = hessian.rows(), most = std::max<Eigen::Index>(kLeast, n / 4);
    columns_.resize(n, most);
    inner_.resize(most, most);
  }

  // No room for more constraints: factor the reduced problem instead.
  bool full() const { return count_ == inner_.rows(); }

  // Adds s_k = s_l, or s_k = 0 if l is negative.
  void equate(int k, int l) {
    VectorXd column = VectorXd::Zero(columns_.rows());
    column[k] = 1;
    if (l >= 0) column[l] = -1;
    factor_.matrixL().solveInPlace(column);
    const VectorXd row = solve_inner(columns_.leftCols(count_).transpose() * column);
    const double size = column.squaredNorm();
    inner_.row(count_).head(count_) = row.transpose();
    inner_(count_, count_) = std::sqrt(std::max(size - row.squaredNorm(), 1e-14 * size));
    columns_.col(count_++) = column;
  }

  VectorXd solve(const VectorXd& right) const {
    if (right.size() == 0) return right;
    VectorXd half = factor_.matrixL().solve(right);
    const auto columns = columns_.leftCols(count_);
    VectorXd multiplier = solve_inner(columns.transpose() * half);
    inner_.topLeftCorner(count_, count_)
        .triangularView<Eigen::Lower>()
        .transpose()
        .solveInPlace(multiplier);
    half.noalias() -= columns * multiplier;
    factor_.matrixU().solveInPlace(half);
    return half;
  }

 private:
  static constexpr Eigen::Index kLeast = 16;

  VectorXd solve_inner(VectorXd right) const {
    inner_.topLeftCorner(count_, count_).triangularView<Eigen::Lower>().solveInPlace(right);
    return right;
  }

  Eigen::LLT<MatrixXd> factor_;
  MatrixXd columns_;  // L^{-1} A'
  MatrixXd inner_;    // lower factor of A H^{-1} A'
  Eigen::Index count_ = 0;
};

}  // namespace n2gfl
