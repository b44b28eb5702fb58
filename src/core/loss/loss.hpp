// A loss f(eta, own) with observation weights omega that sum to one: half the deviance per unit of
// weight, so that its infimum is zero. `own` are unpenalised parameters that only this loss has,
// such as cut points; most losses have none. Solvers use only this interface: a new family is one
// new file and one line in families.cpp. Most families need only SeparableLoss.
#pragma once

#include <limits>

#include "loss/curvature.hpp"
#include "types.hpp"

namespace n2gfl {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// A loss at one point. Residuals are negative gradients.
struct LossPoint {
  VectorXd eta, own;
  double value = 0;
  VectorXd residual, own_residual;
  Curvature curvature;            // in eta
  MatrixXd cross, own_curvature;  // in eta and own; in own
};

// A point of the dual problem: theta = -f'(eta), moved or not. `parts` is what theta consists of,
// for losses whose conjugate cannot be computed from theta alone: one row per observation. The
// point is theta and its parts times `share`: 1, or 0 where nothing else is known to be feasible.
struct DualPoint {
  VectorXd theta;
  MatrixXd parts;
  double share = 1;

  // Zero is always feasible, and its bound is zero.
  void give_up() {
    theta.setZero();
    share = 0;
  }
};

class Loss {
 public:
  explicit Loss(VectorXd weights);
  virtual ~Loss() = default;

  // Fills `at`. Outside of the domain the value is infinite, and nothing else counts.
  virtual void compute(const VectorXd& eta, const VectorXd& own, LossPoint& at) const = 0;

  // -f*(-scale * theta), or a lower bound that is sharp at theta = -f'(eta). For every eta it is at
  // most f(eta) + scale * theta'eta. -Inf outside its domain. 0 <= scale <= 1.
  virtual double bound(const DualPoint& point, double scale) const = 0;

  virtual DualPoint dual_point(const LossPoint& at) const { return {at.residual, {}}; }

  // Moves the dual point as if the predictor moved by `along` and the own parameters by `own`,
  // linearised at `at`.
  virtual void move(DualPoint& point, const LossPoint& at, const VectorXd& along,
                    const VectorXd& own) const;

  virtual bool quadratic() const { return false; }  // a Newton step is exact

  // A constant added to eta changes nothing, once the own parameters are optimal. The profile then
  // keeps predictors centred.
  virtual bool ignores_constants() const { return false; }

  // Takes the constant out of a predictor that ignores it.
  virtual void leave_out(double& /*constant*/, VectorXd& /*own*/) const {}

  // Where Newton's method starts: the optimum at eta = 0.
  virtual VectorXd own_start() const { return VectorXd(); }

  // The constant c with the least f(eta + c), to return from where f is infinite.
  virtual double best_constant(const VectorXd& eta) const { return -eta.maxCoeff(); }

  // Takes over what it can of the offset. Returns what the intercept then lacks.
  virtual double take_over(VectorXd& /*offset*/, bool /*intercept*/) { return 0; }

  const VectorXd& weights() const { return omega_; }
  int size() const { return static_cast<int>(omega_.size()); }

 protected:
  VectorXd omega_;
};

// f(eta) = sum_i omega_i l(y_i, eta_i).
class SeparableLoss : public Loss {
 public:
  SeparableLoss(VectorXd response, VectorXd weights);

  // f(eta), its negative gradient and, on request, its second derivatives.
  virtual double evaluate(const VectorXd& eta, VectorXd& residual,
                          VectorXd* curvature = nullptr) const = 0;

  // -f*(-theta): with theta = -f'(eta) this is f(eta) + theta'eta. -Inf outside its domain.
  virtual double dual(const VectorXd& theta) const = 0;

  void compute(const VectorXd& eta, const VectorXd& own, LossPoint& at) const final;
  double bound(const DualPoint& point, double scale) const final;

  const VectorXd& response() const { return y_; }

 protected:
  VectorXd y_;
};

}  // namespace n2gfl
