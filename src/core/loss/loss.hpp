// A loss f(eta) = sum_i omega_i l(y_i, eta_i), with observation weights omega that sum to one.
// Solvers use only this interface: a new family is one new file and one line in families.cpp.
#pragma once

#include "types.hpp"

namespace n2gfl {

class Loss {
 public:
  Loss(VectorXd response, VectorXd weights);
  virtual ~Loss() = default;

  // f(eta), its negative gradient and, on request, its second derivatives.
  virtual double evaluate(const VectorXd& eta, VectorXd& residual,
                          VectorXd* curvature = nullptr) const = 0;

  // -f*(-theta): with theta = -f'(eta) this is f(eta) + theta'eta. -Inf outside its domain.
  virtual double dual(const VectorXd& theta) const = 0;

  virtual double saturated() const = 0;          // the infimum over all eta
  virtual bool quadratic() const { return false; }  // a Newton step is exact

  const VectorXd& response() const { return y_; }
  const VectorXd& weights() const { return omega_; }
  int size() const { return static_cast<int>(y_.size()); }

 protected:
  VectorXd y_, omega_;
};

}  // namespace n2gfl
