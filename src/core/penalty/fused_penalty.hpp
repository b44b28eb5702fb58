// lambda1 sum u_i |b_i| + lambda2 sum w_ij |b_i - b_j|, with the exact prox by level sets and the
// gap by max-flow. This is the penalty of ista and fista; region pursuit does not use the prox.
#pragma once

#include "data/lazy_gradient.hpp"
#include "data/model.hpp"
#include "graph/max_flow.hpp"
#include "graph/network.hpp"
#include "penalty/dual_norm.hpp"
#include "penalty/free_directions.hpp"
#include "penalty/penalty.hpp"
#include "prox/fused_prox.hpp"
#include "types.hpp"

namespace n2gfl {

class FusedPenalty final : public Penalty {
 public:
  explicit FusedPenalty(Model& model);

  void set(double lambda1, double lambda2) override;

  double smooth(const VectorXd&, VectorXd&) const override { return 0.0; }
  double smooth_curvature(const VectorXd&) const override { return 0.0; }

  double value(const VectorXd& beta) const override;

  bool add_slope(const VectorXd& beta, VectorXd& slope) const override;

  void prox(const VectorXd& z, double step, VectorXd& b) override;

  double gap(const VectorXd&, const Evaluation& at, double objective, double thresh,
             VectorXd& products) override;

 private:
  static int sign_of(double v) { return v > 0 ? 1 : v < 0 ? -1 : 0; }
  void take_products(const VectorXd& residual, VectorXd& products);

  Model& model_;
  FusedProx prox_;
  Network network_;
  MaxFlow search_;
  LazyGradient gradient_;
  DualNorm norm_;
  FreeDirections free_;
  VectorXd ones_, thresholds_;
  DualPoint dual_;
  double lambda1_ = 0, lambda2_ = 0;
};

}  // namespace n2gfl
