#include "solve/constrained_cholesky.hpp"

#include <algorithm>
#include <cmath>

namespace n2gfl {

void ConstrainedCholesky::factor(const MatrixXd& hessian) {
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

void ConstrainedCholesky::equate(int k, int l) {
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

VectorXd ConstrainedCholesky::solve(const VectorXd& right) const {
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

VectorXd ConstrainedCholesky::solve_inner(VectorXd right) const {
  inner_.topLeftCorner(count_, count_).triangularView<Eigen::Lower>().solveInPlace(right);
  return right;
}

}  // namespace n2gfl
