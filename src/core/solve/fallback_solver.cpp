#include "solve/fallback_solver.hpp"

#include <limits>
#include <memory>

#include "penalty/fused_penalty.hpp"

namespace n2gfl {

void FallbackSolver::restart() {
  pursuit_.restart();
  on_the_way_ = false;
}

Solution FallbackSolver::solve(double lambda1, double lambda2, double thresh, int max_iterations) {
  const bool within_reach = thresh >= kLeastGap;
  pursuit_.limit_work(within_reach ? most_work(on_the_way_)
                                   : std::numeric_limits<double>::infinity());
  Solution answer = pursuit_.solve(lambda1, lambda2, thresh, max_iterations);
  if (!handed_over()) return answer;
  return fista_from(answer).solve(lambda1, lambda2, thresh, max_iterations);
}

Solution FallbackSolver::approach(double lambda1, double lambda2, int max_iterations) {
  pursuit_.limit_work(most_work(true));
  Solution answer = pursuit_.approach(lambda1, lambda2, max_iterations);
  on_the_way_ = handed_over();
  if (!handed_over()) return answer;
  return fista_from(answer).approach(lambda1, lambda2, max_iterations);
}

// The work that one Newton step may take.
double FallbackSolver::most_work(bool on_the_way) const {
  const bool patient = model_.profile.loss().quadratic() && !on_the_way;
  const double steps = patient ? kStepsForSquares : kStepsForOne, rows = model_.x.rows();
  return steps * rows * model_.features();
}

// Fista starts where pursuit stopped. Pursuit that stopped before its first iteration does not know
// fista's solutions of earlier rows, so fista then continues from its own.
ProximalGradient& FallbackSolver::fista_from(const Solution& start) {
  const bool first = fista_ == nullptr;
  if (first)
    fista_ = std::make_unique<ProximalGradient>(model_, std::make_unique<FusedPenalty>(model_),
                                                Steps::with_jumps);
  if (first || start.iterations > 0) fista_->start(start);
  return *fista_;
}

}  // namespace n2gfl
