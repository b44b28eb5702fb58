// Proportional odds: P(y <= k) = sigma(cut_k - eta) for levels 1 to K, where the K - 1 cut points
// are the loss's own parameters. With u and v the cut points above and below the level, less eta,
//
//   l = -log(sigma(u) - sigma(v)) = log(1 + e^-u) + log(1 + e^v) - log(1 - e^-(u-v))
//
// Its dual variables are the pairs p = -dl/du >= 0, r = dl/dv >= 0, and theta = omega (r - p). For
// every cut point the sum of omega p below it equals that of omega r above it. Scaling the pairs
// keeps these equations, so that the bound at scaled pairs is a proof. What p and r have in common,
// the pull between the two ends, can be huge, so it is kept apart.
#pragma once

#include <vector>

#include "loss/loss.hpp"
#include "types.hpp"

namespace n2gfl {

class OrdinalLoss final : public Loss {
 public:
  // Levels are whole numbers from 1. Every level up to the highest one must have weight.
  OrdinalLoss(const VectorXd& level, VectorXd weights);

  void compute(const VectorXd& eta, const VectorXd& own, LossPoint& at) const override;
  double bound(const DualPoint& point, double scale) const override;
  DualPoint dual_point(const LossPoint& at) const override;
  void move(DualPoint& point, const LossPoint& at, const VectorXd& along,
            const VectorXd& own) const override;

  bool ignores_constants() const override { return true; }
  void leave_out(double& constant, VectorXd& own) const override;
  VectorXd own_start() const override;
  double best_constant(const VectorXd& eta) const override;

 private:
  // u and v of one observation; infinite beyond the first and the last level.
  struct Ends {
    double u, v;
  };

  int cuts() const { return levels_ - 1; }
  bool has_upper(int i) const { return level_[i] < levels_ - 1; }
  bool has_lower(int i) const { return level_[i] > 0; }
  Ends ends(int i, const VectorXd& eta, const VectorXd& own) const;
  void add(int i, const Ends& at, LossPoint& point) const;

  std::vector<int> level_;  // from 0
  int levels_ = 0;
};

}  // namespace n2gfl
