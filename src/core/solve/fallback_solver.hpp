// Region pursuit, with fista where that is faster. A Newton step of pursuit costs about R^3 + N R^2
// / 4 for R regions, a step of a first-order method about N d. So a fit with many regions is handed
// over, unless the required accuracy is beyond the reach of a first-order method.
#pragma once

#include <memory>

#include "data/model.hpp"
#include "solve/proximal_gradient.hpp"
#include "solve/region_pursuit.hpp"
#include "solve/solver.hpp"

namespace n2gfl {

class FallbackSolver final : public Solver {
 public:
  FallbackSolver(Model& model, RegionPursuit& pursuit) : model_(model), pursuit_(pursuit) {}

  void restart() override;

  Solution solve(double lambda1, double lambda2, double thresh, int max_iterations) override;

  Solution approach(double lambda1, double lambda2, int max_iterations) override;

  bool handed_over() const { return pursuit_.too_many_regions(); }  // the last fit

 private:
  // First-order steps that one Newton step is worth. More of them for least squares, whose matrix
  // of the old regions is kept, but not on the way to a fit that will have many more regions.
  static constexpr double kStepsForOne = 10, kStepsForSquares = 40;
  static constexpr double kLeastGap = 1e-8;  // that fista is asked for

  double most_work(bool on_the_way) const;
  ProximalGradient& fista_from(const Solution& start);

  Model& model_;
  RegionPursuit& pursuit_;
  std::unique_ptr<ProximalGradient> fista_;  // made when it is first needed
  bool on_the_way_ = false;  // approach() was handed over, and the next fit follows it
};

}  // namespace n2gfl
