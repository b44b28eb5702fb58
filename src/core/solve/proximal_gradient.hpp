// ISTA and FISTA as in Proposition 1 of the paper, with an exact prox, backtracking and restarts.
// They are simple and slow, serve as a reference, and are certified by the same gap as the other
// solvers. Fista also takes over fits with so many regions that region pursuit would be slower; then
// it jumps to the best values of the regions of the fused penalty, once it has found them.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "data/float_columns.hpp"
#include "data/model.hpp"
#include "penalty/penalty.hpp"
#include "solve/region_descent.hpp"
#include "solve/solver.hpp"
#include "types.hpp"

namespace n2gfl {

enum class Steps { plain, accelerated, with_jumps };

class ProximalGradient final : public Solver {
 public:
  ProximalGradient(Model& model, std::unique_ptr<Penalty> penalty, Steps steps);

  void restart() override;

  // Continues from the coefficients of another solver.
  void start(const Solution& solution);

  Solution solve(double lambda1, double lambda2, double thresh, int max_iterations) override;

 private:
  static constexpr int kCheckEvery = 10;
  static constexpr int kStepsAfterJump = 5;
  static constexpr int kMostInJump = 200;         // iterations of conjugate gradients
  static constexpr double kSettled = 0.01;        // share of the support that may still change
  static constexpr double kJumpGoal = 0.05;       // how much smaller a jump makes the slopes,
  static constexpr double kFinalJumpGoal = 1e-4;  // and if the regions do not change any more
  static constexpr double kNeedsExactEta = 0.01;  // after a gap below this, eta is made exact
  static constexpr int kOldestEta = 4;            // certificates that use the same exact eta
  static constexpr std::size_t kSpare = 256;      // columns in single precision beyond those in use
  static constexpr double kRelax = 0.95;          // lets the step grow again
  static constexpr double kRounding = 1e-15;
  static constexpr double kCloseValues = 1e-3;    // relative difference of values

  struct Place {
    VectorXd beta, eta;
    double objective, lipschitz;
  };

  void go_to(const Place& place);
  void step();

  // ---- the slope of the loss

  void refresh_slopes(const VectorXd& products);
  void find_slope(const std::vector<int>& features, const VectorXd& residual);
  bool wake(const VectorXd& next, const VectorXd& residual);
  void rouse(int j);
  double gradient_at_point(double loss, VectorXd& gradient) const;
  void guess_lipschitz(const VectorXd& gradient);
  bool majorised(double value, const VectorXd& gradient, const VectorXd& residual,
                 const VectorXd& next, const VectorXd& next_eta);

  // ---- jumps

  int jump(double gap, double thresh, int most);
  double judge_jump(const Place& before, double old_gap, double gap, double thresh);
  void extrapolate(const VectorXd& next, const VectorXd& next_eta);
  VectorXd times(const VectorXd& v) const;
  VectorXd approximate_times(const VectorXd& v);
  bool eta_is_exact() const;
  void make_eta_exact();
  double certify(double thresh, bool exactly);

  Model& model_;
  std::unique_ptr<Penalty> penalty_;
  Steps steps_;
  VectorXd beta_, eta_;         // the iterate and X times the iterate
  VectorXd point_, point_eta_;  // where the gradient is taken
  Evaluation at_;               // the loss at the iterate of the last certificate
  VectorXd slope_;              // -X'r at the point; out of date for features that are not active
  struct {
    VectorXd beta, eta;
  } exact_;                     // the last exact eta
  struct {
    VectorXd residual, slope;
  } reference_;                 // of the last certificate
  FloatColumns floats_;
  std::vector<double> products_, change_;
  std::vector<int> awake_;
  std::vector<char> is_awake_;
  RegionDescent regions_;
  VectorXd last_;               // beta at the certificate before the last; empty if there is none
  int failures_ = 0, wait_ = 0; // of jumps; certificates until the next jump
  int age_ = 0;                 // of the exact eta, in certificates
  double momentum_ = 1, lipschitz_ = 0, objective_ = 0;
};

}  // namespace n2gfl
