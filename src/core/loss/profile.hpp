// The loss with its unpenalised part minimised out: F(eta) = min over c and own parameters of
// f(eta + offset + U c), where U holds the intercept and the covariates. F is convex and smooth,
// and its gradient is that of f at the optimum, so every solver can work with eta = X beta alone.
#pragma once

#include "loss/loss.hpp"
#include "loss/profile_curvature.hpp"
#include "types.hpp"

namespace n2gfl {

// F at one eta, and all that belongs to it.
struct Evaluation {
  LossPoint at;          // the loss at the optimum
  DualPoint dual;        // theta = -F'(eta), orthogonal to U up to rounding
  VectorXd coordinates;  // c in the profile's basis

  double loss() const { return at.value; }
  const VectorXd& residual() const { return dual.theta; }
};

class Profile {
 public:
  // If the loss ignores constants, the first column of U must be constant: it centres predictors.
  Profile(const Loss& loss, const MatrixXd& unpenalised, VectorXd offset);

  Evaluation evaluate(const VectorXd& eta);

  ProfileCurvature curvature(const LossPoint& at, double damping = 0) const;

  // The dual objective at the point times `scale`; theta must be orthogonal to U.
  double dual(const DualPoint& point, double scale = 1) const {
    return loss_->bound(point, scale * point.share) - scale * point.theta.dot(offset_);
  }

  // Moves the dual point as if eta moved along v and the unpenalised part followed; linearised at
  // `at`, whose curvature is given. Returns how the coordinates follow.
  VectorXd move(DualPoint& dual, const LossPoint& at, const ProfileCurvature& curvature,
                const VectorXd& v) const;

  // Subtracts from v its projection on U, orthogonal in the inner product of the weights;
  // `removed` gets its coordinates. With an intercept alone this is centring.
  void project_out(VectorXd& v, VectorXd& removed) const;

  const MatrixXd& basis() const { return basis_; }

  // The coefficients of the columns of U for given coordinates in the basis.
  VectorXd coefficients(const VectorXd& coordinates) const { return back_ * coordinates; }
  const Loss& loss() const { return *loss_; }
  int size() const { return loss_->size(); }
  int unpenalised() const { return static_cast<int>(back_.rows()); }

 private:
  static constexpr int kMaxSteps = 100;
  static constexpr double kLastStep = 1e-8;   // quadratic convergence: the next step is rounding
  static constexpr double kSafeStep = 1e-3;   // no line search below this size
  static constexpr double kFirstLongestStep = 5.0;
  static constexpr double kNothing = 1e-14;   // share of the first value
  static constexpr double kDependent = 1e-10;  // share of a column's norm that is rounding
  static constexpr double kSlack = 1e-13;     // gradients of the unpenalised part that are rounding

  // Coordinates in the basis and own parameters.
  struct Free {
    VectorXd coef, own;
  };

  Eigen::Index fixed() const { return loss_->ignores_constants() ? 1 : 0; }
  Eigen::Index moving() const { return basis_.cols() - fixed(); }
  void take_if_better(const VectorXd& base, const Free& other, Free& free, LossPoint& at) const;
  void start(const VectorXd& base, const VectorXd& along, Free& free, LossPoint& at);
  void orthonormalise(const MatrixXd& unpenalised);
  void append_independent(const MatrixXd& columns);
  VectorXd predictor(const VectorXd& base, const Free& free) const {
    return base + basis_ * free.coef;
  }
  VectorXd gradient(const LossPoint& at) const;
  Free newton_step(const LossPoint& at);
  Free as_free(const VectorXd& step) const;
  double size_of(const Free& step) const;
  bool advance(const VectorXd& base, const Free& step, double size, Free& free,
               LossPoint& at) const;
  DualPoint dual_point(const LossPoint& at) const;
  void remove_unpenalised(VectorXd& residual) const;

  const Loss* loss_;
  double first_value_ = -1;  // value of the first evaluation: the scale of the loss
  double longest_step_ = kFirstLongestStep;
  VectorXd offset_;
  Free part_, first_part_;  // of the whole predictor: last and first solution
  MatrixXd basis_, back_;
};

}  // namespace n2gfl
