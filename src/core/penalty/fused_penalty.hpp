// lambda1 sum u_i |b_i| + lambda2 sum w_ij |b_i - b_j|, with the exact prox by level sets and the
// gap by max-flow. This is the penalty of ista and fista; region pursuit does not use the prox.
#pragma once

#include <cmath>

#include "data/lazy_gradient.hpp"
#include "graph/max_flow.hpp"
#include "penalty/dual_norm.hpp"
#include "penalty/free_directions.hpp"
#include "penalty/penalty.hpp"
#include "prox/fused_prox.hpp"
#include "sign.hpp"

namespace n2gfl {

class FusedPenalty final : public Penalty {
 public:
  explicit FusedPenalty(Model& model)
      : model_(model), prox_(model.graph, model.poll), network_(model.graph),
        search_(network_, model.poll), gradient_(model),
        norm_(model, network_, search_, gradient_), free_(model), ones_(VectorXd::Ones(model.features())) {}

  void set(double lambda1, double lambda2) override {
    lambda1_ = lambda1;
    lambda2_ = lambda2;
    network_.set_capacities(model_.graph, lambda2);
    thresholds_.resize(model_.features());
    for (int i = 0; i < model_.features(); ++i) thresholds_[i] = model_.threshold(lambda1, i);
    free_.find(lambda1, lambda2);
  }

  double smooth(const VectorXd&, VectorXd&) const override { return 0.0; }
  double smooth_curvature(const VectorXd&) const override { return 0.0; }

  double value(const VectorXd& beta) const override {
    double size = 0, variation = 0;
    for (int i = 0; i < model_.features(); ++i) {
      if (beta[i] != 0) size += thresholds_[i] * std::fabs(beta[i]);
      for (int a = model_.graph.begin(i); a < model_.graph.end(i); ++a)
        if (model_.graph.head(a) > i)
          variation += model_.graph.weight(a) * std::fabs(beta[i] - beta[model_.graph.head(a)]);
    }
    return size + lambda2_ * variation;
  }

  bool add_slope(const VectorXd& beta, VectorXd& slope) const override {
    for (int i = 0; i < model_.features(); ++i) {
      if (beta[i] == 0) continue;
      slope[i] += thresholds_[i] * direction(beta[i]);
      for (int a = model_.graph.begin(i); a < model_.graph.end(i); ++a)
        slope[i] += lambda2_ * model_.graph.weight(a) *
                    direction(beta[i] - beta[model_.graph.head(a)]);
    }
    return true;
  }

  void prox(const VectorXd& z, double step, VectorXd& b) override {
    prox_.solve(z, ones_, step * thresholds_, step * lambda2_,
                model_.nonnegative ? Sign::nonnegative : Sign::free, b);
  }

  double gap(const VectorXd&, const VectorXd& residual, double objective, double thresh,
             VectorXd& products) override {
    theta_ = free_.feasible(residual);
    gradient_.set_residual(theta_);
    gradient_.compute_all();
    take_products(residual, products);
    const double rounding = model_.rounding(residual) + network_.refresh_outflow();
    auto gap_of = [&](const Leftover& left) {
      return relative_gap(model_, objective, theta_, left, rounding);
    };
    const Leftover left = norm_.dinkelbach(lambda1_, 1.0, rounding, thresh, gap_of);
    return gap_of(left);
  }

 private:
  static int direction(double v) { return v > 0 ? 1 : v < 0 ? -1 : 0; }

  // X'residual, which is known if theta is the residual.
  void take_products(const VectorXd& residual, VectorXd& products) {
    if (theta_ != residual)
      return model_.x.transpose_times(residual, products, model_.threads, model_.poll);
    products.resize(model_.features());
    for (int i = 0; i < model_.features(); ++i) products[i] = gradient_.value(i);
  }

  Model& model_;
  FusedProx prox_;
  Network network_;
  MaxFlow search_;
  LazyGradient gradient_;
  DualNorm norm_;
  FreeDirections free_;
  VectorXd ones_, thresholds_, theta_;
  double lambda1_ = 0, lambda2_ = 0;
};

}  // namespace n2gfl
