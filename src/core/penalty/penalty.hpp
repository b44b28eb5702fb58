// A penalty as the proximal gradient methods need it: a smooth part that is added to the loss, a
// prox for the rest, and the duality gap of the whole.
#pragma once

#include "data/model.hpp"
#include "types.hpp"

namespace n2gfl {

class Penalty {
 public:
  virtual ~Penalty() = default;

  virtual void set(double lambda1, double lambda2) = 0;

  // The smooth part at beta; adds its gradient to `gradient`.
  virtual double smooth(const VectorXd& beta, VectorXd& gradient) const = 0;

  // Curvature of the smooth part along a direction v: v'Hv.
  virtual double smooth_curvature(const VectorXd& v) const = 0;

  virtual double value(const VectorXd& beta) const = 0;  // includes the smooth part

  // Adds the slope of the penalty along changes of beta that keep zeros and equal neighbours.
  // Returns false if the penalty is not linear along such changes.
  virtual bool add_slope(const VectorXd&, VectorXd&) const { return false; }

  // argmin_b 1/2 |b - z|^2 + step * (penalty without its smooth part)
  virtual void prox(const VectorXd& z, double step, VectorXd& b) = 0;

  // Relative duality gap at beta; `at` is the loss there, `objective` the primal value. `products`
  // gets X'residual.
  virtual double gap(const VectorXd& beta, const Evaluation& at, double objective, double thresh,
                     VectorXd& products) = 0;
};

}  // namespace n2gfl
