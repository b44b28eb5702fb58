#include "solve/solver.hpp"

namespace n2gfl {

Solution dense_solution(const VectorXd& beta, const Evaluation& at, double objective, double gap,
                        int iterations) {
  Solution answer{{}, {}, at.coordinates, at.at.own, at.loss(), objective, gap, iterations};
  for (int i = 0; i < beta.size(); ++i) {
    if (beta[i] == 0) continue;
    answer.index.push_back(i);
    answer.value.push_back(beta[i]);
  }
  return answer;
}

Solution Solver::approach(double lambda1, double lambda2, int max_iterations) {
  return solve(lambda1, lambda2, kNear, max_iterations);
}

}  // namespace n2gfl
