// Fits with the Laplacian penalty. It forms no regions, and many coefficients can be nonzero. The
// outer method is Newton's; each quadratic is solved by coordinate descent on a working set,
// accelerated by conjugate gradients on the support, where the quadratic has no kinks.
#pragma once

#include <vector>

#include "data/model.hpp"
#include "penalty/laplacian_penalty.hpp"
#include "solve/solver.hpp"
#include "types.hpp"

namespace n2gfl {

class LaplacianDescent final : public Solver {
 public:
  LaplacianDescent(Model& model, LaplacianPenalty& penalty) : model_(model), penalty_(penalty) {
    restart();
  }

  void restart() override;

  Solution solve(double lambda1, double lambda2, double thresh, int max_iterations) override;

  // After restart(): fits with an infinite lambda1, so that only coefficients without penalty can
  // leave zero.
  void fit_unpenalised(double lambda2);

  const VectorXd& beta() const { return beta_; }

  // The negative gradient of loss plus smooth part.
  const VectorXd& gradient() const { return gradient_; }

 private:
  static constexpr double kInnerShare = 0.1;  // share of the gap: accuracy of each quadratic
  static constexpr int kMostStalls = 5;
  static constexpr int kMostRounds = 200;      // of one sweep and one run of conjugate gradients
  static constexpr int kMostCgSteps = 100;

  double certify();
  void choose_work();
  double newton_step(double accuracy);
  void prepare_quadratic();
  double slope(int k) const;
  void move(int k, double change);
  double sweep();
  void descend_on_support();
  VectorXd conjugate_gradients(const std::vector<int>& support, const VectorXd& right) const;
  VectorXd hessian_times(const std::vector<int>& support, const VectorXd& v) const;
  double line_search(const VectorXd& start);

  Model& model_;
  LaplacianPenalty& penalty_;
  VectorXd beta_, eta_;
  Evaluation at_;
  VectorXd gradient_;
  double objective_ = 0;
  std::vector<int> work_;
  MatrixXd coupling_, response_;  // of the working set, see ProfileCurvature
  VectorXd bend_, left_, shift_;  // curvatures; the model's residual; its coupled part
};

}  // namespace n2gfl
