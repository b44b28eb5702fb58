#include "loss/profile.hpp"

#include <cmath>
#include <limits>
#include <utility>

namespace n2gfl {

Profile::Profile(const Loss& loss, const MatrixXd& unpenalised, VectorXd offset)
    : loss_(&loss), offset_(std::move(offset)) {
  orthonormalise(unpenalised);
  part_ = {VectorXd::Zero(basis_.cols()), loss.own_start()};
}

Evaluation Profile::evaluate(const VectorXd& eta) {
  const VectorXd base = eta + offset_;
  const VectorXd along = basis_.transpose() * loss_->weights().cwiseProduct(base);
  Free free;
  Evaluation answer;
  LossPoint& at = answer.at;
  start(base, along, free, at);
  longest_step_ = kFirstLongestStep;
  const bool newton = moving() + free.own.size() > 0 && std::isfinite(at.value);
  for (int it = 0; newton && it < kMaxSteps; ++it) {
    const Free step = newton_step(at);
    const double size = size_of(step);
    const bool moved = advance(base, step, size, free, at);
    if (!moved || loss_->quadratic() || size < kLastStep) break;
    if (at.value <= kNothing * first_value_) break;  // separated classes: no minimum exists
  }
  if (std::isfinite(at.value)) part_ = {free.coef + along, free.own};
  if (!(first_value_ >= 0)) {
    first_value_ = at.value;
    first_part_ = part_;
  }
  answer.dual = dual_point(at);
  answer.coordinates = std::move(free.coef);
  return answer;
}

ProfileCurvature Profile::curvature(const LossPoint& at, double damping) const {
  return {at, basis_.rightCols(moving()),
          damping > 0 ? VectorXd(damping * loss_->weights()) : VectorXd()};
}

VectorXd Profile::move(DualPoint& dual, const LossPoint& at, const ProfileCurvature& curvature,
                       const VectorXd& v) const {
  const Free follow = as_free(curvature.follow(v));
  loss_->move(dual, at, v + basis_ * follow.coef, follow.own);
  remove_unpenalised(dual.theta);
  return follow.coef;
}

void Profile::project_out(VectorXd& v, VectorXd& removed) const {
  removed.noalias() = basis_.transpose() * loss_->weights().cwiseProduct(v);
  v.noalias() -= basis_ * removed;
}

// ---- the optimal unpenalised part

// Starts from the last solution for the whole predictor's part in U, corrected for the part that
// eta brings, so that an eta far from centre costs nothing. If that is worse than the first
// solution was, the best of three starts is taken, so that distant trial points do not spoil later
// evaluations. The first evaluation has no solution yet, and an offset may be far from centre.
void Profile::start(const VectorXd& base, const VectorXd& along, Free& free, LossPoint& at) {
  free = {part_.coef - along, part_.own};
  loss_->compute(predictor(base, free), free.own, at);
  const bool first_time = first_value_ < 0;
  if (loss_->quadratic() || (!first_time && at.value <= first_value_)) return;
  const VectorXd level = basis_.transpose() * loss_->weights();
  const double constant = loss_->best_constant(base - basis_ * along);
  take_if_better(base, {constant * level - along, loss_->own_start()}, free, at);
  if (!first_time) take_if_better(base, {first_part_.coef - along, first_part_.own}, free, at);
}

void Profile::take_if_better(const VectorXd& base, const Free& other, Free& free,
                             LossPoint& at) const {
  LossPoint there;
  loss_->compute(predictor(base, other), other.own, there);
  if (std::isnan(there.value) || at.value <= there.value) return;
  free = other;
  at = std::move(there);
}

// The negative gradient in the moving part of the basis and in the own parameters.
VectorXd Profile::gradient(const LossPoint& at) const {
  VectorXd all(moving() + at.own_residual.size());
  all.head(moving()).noalias() = basis_.rightCols(moving()).transpose() * at.residual;
  all.tail(at.own_residual.size()) = at.own_residual;
  return all;
}

Profile::Free Profile::as_free(const VectorXd& step) const {
  Free free{VectorXd::Zero(basis_.cols()), step.tail(step.size() - moving())};
  free.coef.tail(moving()) = step.head(moving());
  return free;
}

double Profile::size_of(const Free& step) const {
  const double coef = step.coef.size() > 0 ? (basis_ * step.coef).cwiseAbs().maxCoeff() : 0.0;
  const double own = step.own.size() > 0 ? step.own.cwiseAbs().maxCoeff() : 0.0;
  return coef >= own ? coef : own;  // NaN if coef is
}

Profile::Free Profile::newton_step(const LossPoint& at) {
  if (loss_->quadratic()) return as_free(gradient(at));  // the Hessian is the identity
  const MatrixXd basis = basis_.rightCols(moving());
  const Eigen::Index own = at.own_residual.size();
  MatrixXd hessian(moving() + own, moving() + own);
  hessian.topLeftCorner(moving(), moving()) = basis.transpose() * at.curvature.times(basis);
  if (own > 0) {
    hessian.topRightCorner(moving(), own) = basis.transpose() * at.cross;
    hessian.bottomLeftCorner(own, moving()) = at.cross.transpose() * basis;
    hessian.bottomRightCorner(own, own) = at.own_curvature;
  }
  hessian.diagonal().array() += 1e-14 * hessian.diagonal().maxCoeff() + 1e-300;
  const VectorXd downhill = gradient(at);
  const VectorXd newton = hessian.ldlt().solve(downhill);
  // Rounding can make a tiny curvature negative; Newton's step would then go uphill.
  const bool uphill = newton.dot(downhill) < 0;
  Free step = as_free(uphill ? downhill : newton);
  const double size = size_of(step);
  if (uphill || !(size <= longest_step_)) {
    const double share = std::isfinite(size) ? longest_step_ / size : 0.0;
    step.coef *= share;
    step.own *= share;
    longest_step_ *= 2;  // the way back from a distant predictor may be long
  }
  return step;
}

bool Profile::advance(const VectorXd& base, const Free& step, double size, Free& free,
                      LossPoint& at) const {
  const double value = at.value;
  double t = 1;
  for (int halvings = 0; halvings < 40; ++halvings, t *= 0.5) {
    const Free next{free.coef + t * step.coef, free.own + t * step.own};
    loss_->compute(predictor(base, next), next.own, at);
    const bool safe = std::isfinite(at.value) && (size < kSafeStep || loss_->quadratic());
    if (!safe && !(at.value <= value)) continue;
    free = next;
    return true;
  }
  loss_->compute(predictor(base, free), free.own, at);
  return false;
}

// ---- the dual point

// Where Newton's method did not reach the optimum, its last step is taken in the dual point, which
// must satisfy the equations of the unpenalised part exactly. Losses without parts need only the
// projection.
DualPoint Profile::dual_point(const LossPoint& at) const {
  DualPoint point = loss_->dual_point(at);
  if (point.parts.size() > 0 && std::isfinite(at.value) && moving() + at.own_residual.size() > 0) {
    const VectorXd slack = gradient(at);
    if (slack.cwiseAbs().maxCoeff() > kSlack) {
      const Free step = as_free(curvature(at).solve(slack));
      loss_->move(point, at, basis_ * step.coef, step.own);
    }
  }
  remove_unpenalised(point.theta);
  return point;
}

void Profile::remove_unpenalised(VectorXd& residual) const {
  if (basis_.cols() == 0) return;
  const VectorXd left = basis_.transpose() * residual;
  residual.array() -= loss_->weights().array() * (basis_ * left).array();
}

// basis' diag(omega) basis = I and U = basis * R; linearly dependent columns get coefficient
// zero. A constant that the loss ignores stays the first column, and the others are centred.
void Profile::orthonormalise(const MatrixXd& unpenalised) {
  const VectorXd root = loss_->weights().cwiseSqrt();
  MatrixXd scaled = unpenalised;
  VectorXd mean = VectorXd::Zero(scaled.cols());
  const VectorXd whole = (root.asDiagonal() * scaled).colwise().norm().transpose();
  if (fixed() > 0) {
    mean = scaled.transpose() * loss_->weights();
    mean[0] = 0;
    scaled.noalias() -= VectorXd::Ones(scaled.rows()) * mean.transpose();
  }
  VectorXd norms = (root.asDiagonal() * scaled).colwise().norm().transpose();
  for (int k = 0; k < norms.size(); ++k) {
    if (norms[k] > kDependent * whole[k]) continue;
    scaled.col(k).setZero();  // what is left of a constant is rounding
    norms[k] = 1;
  }
  scaled *= norms.cwiseInverse().asDiagonal();
  back_ = MatrixXd::Zero(scaled.cols(), fixed());
  if (fixed() > 0) back_(0, 0) = 1;
  append_independent(root.asDiagonal() * scaled.rightCols(scaled.cols() - fixed()));
  basis_ = scaled * back_;
  // Rows without weight must not influence the fit, whatever their covariates are.
  for (int i = 0; i < basis_.rows(); ++i)
    if (root[i] == 0) basis_.row(i).setZero();
  back_ = norms.cwiseInverse().asDiagonal() * back_;
  if (fixed() > 0) back_.row(0) -= mean.transpose() * back_;
}

// Appends to back_ what makes an orthonormal basis of the columns.
void Profile::append_independent(const MatrixXd& columns) {
  if (columns.cols() == 0) return;
  Eigen::ColPivHouseholderQR<MatrixXd> qr(columns);
  qr.setThreshold(kDependent);
  const Eigen::Index rank = qr.rank();
  if (rank == 0) return;
  const MatrixXd inverse = qr.matrixR().topLeftCorner(rank, rank)
                               .template triangularView<Eigen::Upper>()
                               .solve(MatrixXd::Identity(rank, rank));
  MatrixXd all = MatrixXd::Zero(back_.rows(), back_.cols() + rank);
  all.leftCols(back_.cols()) = back_;
  for (Eigen::Index k = 0; k < rank; ++k)
    all.row(fixed() + qr.colsPermutation().indices()[k]).tail(rank) = inverse.row(k);
  back_ = std::move(all);
}

}  // namespace n2gfl
