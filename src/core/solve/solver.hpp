// The interface of a solver for a path: fits at given penalties, starting from the fit before.
#pragma once

#include <vector>

#include "loss/profile.hpp"
#include "types.hpp"

namespace n2gfl {

struct Solution {
  std::vector<int> index;  // nonzero features, in increasing order
  std::vector<double> value;
  VectorXd unpenalised;    // coordinates of the unpenalised part in the profile's basis
  VectorXd own;            // the loss's own parameters
  double loss = 0, objective = 0;
  double gap = 0;          // relative to the null objective
  int iterations = 0;
};

Solution dense_solution(const VectorXd& beta, const Evaluation& at, double objective, double gap,
                        int iterations);

class Solver {
 public:
  virtual ~Solver() = default;

  // Fits until the relative gap is at most `thresh` or the iterations are used up.
  virtual Solution solve(double lambda1, double lambda2, double thresh, int max_iterations) = 0;

  // Approximates the fit on the way to another one. Nothing is proved, and the gap is not
  // meaningful.
  virtual Solution approach(double lambda1, double lambda2, int max_iterations);

  virtual void restart() = 0;  // from zero coefficients

 protected:
  static constexpr double kNear = 0.3;
};

}  // namespace n2gfl
