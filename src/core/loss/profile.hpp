// The loss with its unpenalised part minimised out: F(eta) = min over c of f(eta + offset + U c),
// where U holds the intercept and the covariates. F is convex and smooth, and its gradient is that
// of f at the optimal c, so every solver can work with eta = X beta alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "loss/loss.hpp"

namespace n2gfl {

class Profile {
 public:
  Profile(const Loss& loss, const MatrixXd& unpenalised, VectorXd offset)
      : loss_(&loss), offset_(std::move(offset)) {
    orthonormalise(unpenalised);
    part_.setZero(basis_.cols());
  }

  // F(eta); the residual is -F'(eta) and is orthogonal to U up to rounding.
  double evaluate(const VectorXd& eta, VectorXd& residual, VectorXd* curvature = nullptr) {
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

  // The dual objective at theta, which must be orthogonal to U.
  double dual(const VectorXd& theta) const { return loss_->dual(theta) - theta.dot(offset_); }

  // Subtracts from v its projection on U, orthogonal in the inner product of the weights;
  // `removed` gets its coordinates. With an intercept alone this is centring.
  void project_out(VectorXd& v, VectorXd& removed) const {
    removed.noalias() = basis_.transpose() * loss_->weights().cwiseProduct(v);
    v.noalias() -= basis_ * removed;
  }

  // Subtracts from H = C' diag(h) C what the unpenalised part explains; C are the `columns`.
  void project_hessian(const VectorXd& h, const MatrixXd& columns, MatrixXd& hessian) const {
    if (basis_.cols() == 0) return;
    const MatrixXd weighted = h.asDiagonal() * basis_;
    const MatrixXd cross = columns.transpose() * weighted;
    const MatrixXd inner = basis_.transpose() * weighted;
    hessian.noalias() -= cross * inner.ldlt().solve(cross.transpose());
  }

  const MatrixXd& basis() const { return basis_; }
  const VectorXd& curvature() const { return curvature_; }  // of the loss at the last evaluation

  // The coefficients of the columns of U for given coordinates in the basis.
  VectorXd coefficients(const VectorXd& coordinates) const { return back_ * coordinates; }
  const VectorXd& coordinates() const { return coef_; }
  const Loss& loss() const { return *loss_; }
  int size() const { return loss_->size(); }
  int unpenalised() const { return static_cast<int>(back_.rows()); }

 private:
  static constexpr int kMaxSteps = 100;
  static constexpr double kLastStep = 1e-8;   // quadratic convergence: the next step is rounding
  static constexpr double kSafeStep = 1e-3;   // no line search below this size
  static constexpr double kFirstLongestStep = 5.0;
  static constexpr double kNothing = 1e-14;   // share of the first value

  // Starts from the last solution for the whole predictor's part in U, corrected for the part that
  // eta brings, so that an eta far from centre costs nothing. Restarts from the first solution if
  // it is better, so that distant trial points do not spoil later evaluations.
  double start(const VectorXd& along, VectorXd& residual) {
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
  void orthonormalise(const MatrixXd& unpenalised) {
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

  VectorXd newton_step(const VectorXd& residual) {
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

  bool advance(const VectorXd& step, double size, double& value, VectorXd& residual) {
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

  void remove_unpenalised(VectorXd& residual) const {
    if (basis_.cols() == 0) return;
    const VectorXd left = basis_.transpose() * residual;
    residual.array() -= loss_->weights().array() * (basis_ * left).array();
  }

  const Loss* loss_;
  double first_value_ = -1;  // value of the first evaluation: the scale of the loss
  double longest_step_ = kFirstLongestStep;
  VectorXd offset_, base_, curvature_;
  VectorXd coef_;               // of the basis
  VectorXd part_, first_part_;  // of the whole predictor: last and first solution
  MatrixXd basis_, back_;
};

}  // namespace n2gfl
