// Sets of nodes whose common value is not penalised at all. A dual point theta must satisfy sum_S
// x_i'theta = 0 (<= 0 for beta >= 0) exactly for such a set S, and scaling theta does not help.
// The residual satisfies this only at the optimum. Near the optimum, one Newton step along these
// directions moves the residual to a feasible point. Without it the gap would prove nothing if
// lambda1 = 0 or if a penalty factor is 0.
#pragma once

#include <vector>

#include "data/model.hpp"
#include "types.hpp"

namespace n2gfl {

class FreeDirections {
 public:
  explicit FreeDirections(const Model& model) : model_(&model) {}

  // Without fusion every node without threshold is such a set; with fusion, every component of the
  // graph in which no node has a threshold.
  void find(double lambda1, double lambda2);

  bool empty() const { return sets_.empty(); }

  // The dual point of an evaluation, moved to satisfy the condition of every set. If more sets
  // violate it than there are observations, theta is zero, which is always feasible.
  DualPoint feasible(const Evaluation& at);

  // The nodes of the sets that violated their condition. A solver must add them to its working
  // set, because the moved point no longer shows the violation.
  const std::vector<int>& objectors() const { return objectors_; }

 private:
  static constexpr int kMostRounds = 10;

  static double sum(const std::vector<int>& set, const VectorXd& values);
  double slope(const std::vector<int>& set, const VectorXd& gradient) const;
  std::vector<int> objecting(const VectorXd& theta, const std::vector<char>& used) const;
  void append(const std::vector<int>& wrong, MatrixXd& columns) const;
  static MatrixXd orthonormal(const MatrixXd& columns);
  void remove(const Evaluation& at, const MatrixXd& columns, DualPoint& dual) const;

  const Model* model_;
  std::vector<std::vector<int>> sets_;
  std::vector<int> objectors_;
};

}  // namespace n2gfl
