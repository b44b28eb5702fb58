// The Laplacian penalty of a path.
#pragma once

#include <memory>

#include "data/model.hpp"
#include "penalty/laplacian_penalty.hpp"
#include "solve/laplacian_descent.hpp"
#include "solve/penalty_kind.hpp"

namespace n2gfl {

class LaplacianKind final : public PenaltyKind {
 public:
  explicit LaplacianKind(Model& model)
      : model_(model), penalty_(model), descent_(model, penalty_) {}

  Solver& solver() override { return descent_; }
  std::unique_ptr<Penalty> make_penalty() const override;
  double lambda1_max(double lambda2) override;

  // Nothing is fused: every nonzero coefficient counts.
  int count_df(const Solution& fit) const override;

 private:
  Model& model_;
  LaplacianPenalty penalty_;
  LaplacianDescent descent_;
};

}  // namespace n2gfl
