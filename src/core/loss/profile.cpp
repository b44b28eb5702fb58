#include "loss/profile.hpp"

#include <cmath>
#include <utility>

namespace n2gfl {

Profile::Profile(const Loss& loss, const MatrixXd& unpenalised, VectorXd offset)
    : loss_(&loss), offset_(std::move(offset)) {
  orthonormalise(unpenalised);
  part_.setZero(basis_.cols());
}

double Profile::evaluate(const VectorXd& eta, VectorXd& residual, VectorXd* curvature) {
  base_ = eta + offset_;
  const VectorXd along = basis_.transpose() * loss_->weights().cwiseProduct(base_);
  double value = start(along, residual);
  longest_step_ = kFirstLongestStep;
  for (int it = 0; basis_.cols() > 0 && it < kMaxSteps; ++it) {
    const VectorXd step = newton_step(residual);
    const double size = (basis_ * step).cwiseAbs().maxCoeff();
    const bool moved = advance(step, size, value, residual);
    if (!moved || loss_->quadratic() || size < kLastStep) break;
    if (value <= kNothing * first_value_) break;  // separated classes: no minimum exists
  }
  part_ = coef_ + along;
  if (!(first_value_ >= 0)) {
    first_value_ = value;
    first_part_ = part_;
  }
  remove_unpenalised(residual);
  if (curvature) *curvature = curvature_;
  return value;
}

void Profile::project_out(VectorXd& v, VectorXd& removed) const {
  removed.noalias() = basis_.transpose() * loss_->weights().cwiseProduct(v);
  v.noalias() -= basis_ * removed;
}

void Profile::project_hessian(const VectorXd& h, const MatrixXd& columns, MatrixXd& hessian) const {
  if (basis_.cols() == 0) return;
  const MatrixXd weighted = h.asDiagonal() * basis_;
  const MatrixXd cross = columns.transpose() * weighted;
  const MatrixXd inner = basis_.transpose() * weighted;
  hessian.noalias() -= cross * inner.ldlt().solve(cross.transpose());
}

// Starts from the last solution for the whole predictor's part in U, corrected for the part that
// eta brings, so that an eta far from centre costs nothing. Restarts from the first solution if
// it is better, so that distant trial points do not spoil later evaluations.
double Profile::start(const VectorXd& along, VectorXd& residual) {
  coef_ = part_ - along;
  const double warm = loss_->evaluate(base_ + basis_ * coef_, residual, &curvature_);
  if (loss_->quadratic() || first_value_ < 0 || warm <= first_value_) return warm;
  coef_ = first_part_ - along;
  const double first = loss_->evaluate(base_ + basis_ * coef_, residual, &curvature_);
  if (first < warm) return first;
  coef_ = part_ - along;
  return loss_->evaluate(base_ + basis_ * coef_, residual, &curvature_);
}

// basis' diag(omega) basis = I and U = basis * R; linearly dependent columns get coefficient
// zero.
void Profile::orthonormalise(const MatrixXd& unpenalised) {
  basis_.resize(unpenalised.rows(), 0);
  back_.resize(unpenalised.cols(), 0);
  if (unpenalised.cols() == 0) return;
  const VectorXd root = loss_->weights().cwiseSqrt();
  const VectorXd norms = (root.asDiagonal() * unpenalised).colwise().norm();
  MatrixXd scaled = unpenalised;
  for (int k = 0; k < scaled.cols(); ++k) scaled.col(k) /= norms[k] > 0 ? norms[k] : 1.0;
  Eigen::ColPivHouseholderQR<MatrixXd> qr(root.asDiagonal() * scaled);
  qr.setThreshold(1e-10);
  const int rank = static_cast<int>(qr.rank());
  MatrixXd back = MatrixXd::Zero(unpenalised.cols(), rank);
  if (rank > 0) {
    const MatrixXd inverse = qr.matrixR().topLeftCorner(rank, rank)
                                 .template triangularView<Eigen::Upper>()
                                 .solve(MatrixXd::Identity(rank, rank));
    for (int k = 0; k < rank; ++k) back.row(qr.colsPermutation().indices()[k]) = inverse.row(k);
  }
  basis_ = scaled * back;
  // Rows without weight must not influence the fit, whatever their covariates are.
  for (int i = 0; i < basis_.rows(); ++i)
    if (root[i] == 0) basis_.row(i).setZero();
  for (int k = 0; k < back.rows(); ++k) back.row(k) /= norms[k] > 0 ? norms[k] : 1.0;
  back_ = std::move(back);
}

VectorXd Profile::newton_step(const VectorXd& residual) {
  if (loss_->quadratic()) return basis_.transpose() * residual;  // the Hessian is the identity
  MatrixXd hessian = basis_.transpose() * curvature_.asDiagonal() * basis_;
  hessian.diagonal().array() += 1e-14 * hessian.diagonal().maxCoeff() + 1e-300;
  VectorXd step = hessian.ldlt().solve(basis_.transpose() * residual);
  const double size = (basis_ * step).cwiseAbs().maxCoeff();
  if (!(size <= longest_step_)) {
    step *= std::isfinite(size) ? longest_step_ / size : 0.0;
    longest_step_ *= 2;  // the way back from a distant predictor may be long
  }
  return step;
}

bool Profile::advance(const VectorXd& step, double size, double& value, VectorXd& residual) {
  double t = 1;
  for (int halvings = 0; halvings < 40; ++halvings, t *= 0.5) {
    const double next = loss_->evaluate(base_ + basis_ * (coef_ + t * step), residual, &curvature_);
    if (size < kSafeStep || loss_->quadratic() || next <= value) {
      coef_ += t * step;
      value = next;
      return true;
    }
  }
  value = loss_->evaluate(base_ + basis_ * coef_, residual, &curvature_);
  return false;
}

void Profile::remove_unpenalised(VectorXd& residual) const {
  if (basis_.cols() == 0) return;
  const VectorXd left = basis_.transpose() * residual;
  residual.array() -= loss_->weights().array() * (basis_ * left).array();
}

}  // namespace n2gfl
