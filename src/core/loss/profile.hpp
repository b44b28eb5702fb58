// The loss with its unpenalised part minimised out: F(eta) = min over c of f(eta + offset + U c),
// where U holds the intercept and the covariates. F is convex and smooth, and its gradient is that
// of f at the optimal c, so every solver can work with eta = X beta alone.
#pragma once

#include "loss/loss.hpp"
#include "types.hpp"

namespace n2gfl {

class Profile {
 public:
  Profile(const Loss& loss, const MatrixXd& unpenalised, VectorXd offset);

  // F(eta); the residual is -F'(eta) and is orthogonal to U up to rounding.
  double evaluate(const VectorXd& eta, VectorXd& residual, VectorXd* curvature = nullptr);

  // The dual objective at theta, which must be orthogonal to U.
  double dual(const VectorXd& theta) const { return loss_->dual(theta) - theta.dot(offset_); }

  // Subtracts from v its projection on U, orthogonal in the inner product of the weights;
  // `removed` gets its coordinates. With an intercept alone this is centring.
  void project_out(VectorXd& v, VectorXd& removed) const;

  // Subtracts from H = C' diag(h) C what the unpenalised part explains; C are the `columns`.
  void project_hessian(const VectorXd& h, const MatrixXd& columns, MatrixXd& hessian) const;

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

  double start(const VectorXd& along, VectorXd& residual);
  void orthonormalise(const MatrixXd& unpenalised);
  VectorXd newton_step(const VectorXd& residual);
  bool advance(const VectorXd& step, double size, double& value, VectorXd& residual);
  void remove_unpenalised(VectorXd& residual) const;

  const Loss* loss_;
  double first_value_ = -1;  // value of the first evaluation: the scale of the loss
  double longest_step_ = kFirstLongestStep;
  VectorXd offset_, base_, curvature_;
  VectorXd coef_;               // of the basis
  VectorXd part_, first_part_;  // of the whole predictor: last and first solution
  MatrixXd basis_, back_;
};

}  // namespace n2gfl
