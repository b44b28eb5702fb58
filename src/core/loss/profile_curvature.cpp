#include "loss/profile_curvature.hpp"

namespace n2gfl {

ProfileCurvature::ProfileCurvature(const LossPoint& at, const MatrixXd& basis, const VectorXd& more)
    : curvature_(at.curvature) {
  if (more.size() > 0) curvature_.diagonal += more;
  const Eigen::Index count = basis.cols(), own = at.own_residual.size();
  mixed_.resize(basis.rows(), count + own);
  if (mixed_.cols() == 0) return;
  MatrixXd inner(count + own, count + own);
  mixed_.leftCols(count) = curvature_.times(basis);
  inner.topLeftCorner(count, count) = basis.transpose() * mixed_.leftCols(count);
  if (own > 0) {
    mixed_.rightCols(own) = at.cross;
    inner.topRightCorner(count, own) = basis.transpose() * at.cross;
    inner.bottomLeftCorner(own, count) = at.cross.transpose() * basis;
    inner.bottomRightCorner(own, own) = at.own_curvature;
  }
  inner_.compute(inner);
}

MatrixXd ProfileCurvature::times(const MatrixXd& v) const {
  MatrixXd out = curvature_.times(v);
  if (mixed_.cols() > 0 && v.cols() > 0) out -= mixed_ * inner_.solve(mixed_.transpose() * v);
  return out;
}

void ProfileCurvature::subtract(const MatrixXd& columns, MatrixXd& gram) const {
  const MatrixXd coupled = coupling(columns);
  if (coupled.rows() > 0) gram.noalias() -= coupled.transpose() * response(coupled);
}

MatrixXd ProfileCurvature::coupling(const MatrixXd& v) const {
  MatrixXd mixed = mixed_.transpose() * v;
  if (!curvature_.less) return mixed;
  const MatrixXd less = curvature_.less->transposed_times(v);
  MatrixXd all(less.rows() + mixed.rows(), v.cols());
  all.topRows(less.rows()) = less;
  all.bottomRows(mixed.rows()) = mixed;
  return all;
}

MatrixXd ProfileCurvature::response(const MatrixXd& coupled) const {
  MatrixXd out = coupled;
  const Eigen::Index mixed = mixed_.cols();
  // Eigen's solvers must not be given a matrix without columns.
  if (mixed > 0 && coupled.cols() > 0) {
    out.bottomRows(mixed) = inner_.solve(coupled.bottomRows(mixed));
  }
  return out;
}

VectorXd ProfileCurvature::solve(const VectorXd& v) const {
  return mixed_.cols() > 0 ? VectorXd(inner_.solve(v)) : VectorXd(v);
}

}  // namespace n2gfl
