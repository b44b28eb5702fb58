// The fused penalty of a path: region pursuit, and fista for fits with very many regions.
#pragma once

#include <memory>

#include "data/model.hpp"
#include "solve/fallback_solver.hpp"
#include "solve/penalty_kind.hpp"
#include "solve/region_pursuit.hpp"

namespace n2gfl {

class FusedKind final : public PenaltyKind {
 public:
  explicit FusedKind(Model& model) : model_(model), pursuit_(model), solver_(model, pursuit_) {}

  Solver& solver() override { return solver_; }
  std::unique_ptr<Penalty> make_penalty() const override;

  // From the same flow as the fits: each of them is a good start for the other.
  double lambda1_max(double lambda2) override;

  // Regions of one nonzero value.
  int count_df(const Solution& fit) const override;

 private:
  Model& model_;
  RegionPursuit pursuit_;
  FallbackSolver solver_;
};

}  // namespace n2gfl
