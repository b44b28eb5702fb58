// Newton's method on the values of the regions. Each quadratic model is solved exactly, kinks
// included, by the active set of active_set.hpp, followed by a line search on the true
// objective. Where the loss is almost linear, the model predicts a much too large decrease; then
// its curvature is raised until the prediction holds (Levenberg's damping).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "data/model.hpp"
#include "data/regions.hpp"
#include "solve/active_set.hpp"
#include "solve/region_gram.hpp"
#include "types.hpp"

namespace n2gfl {

class RegionNewton {
 public:
  explicit RegionNewton(const Model& model) : model_(&model), gram_(model.threads) {}

  // Minimises over the regions' values and merges regions that become equal. Stops when a step
  // gains less than `stop` times the null objective.
  void run(Regions& regions, double lambda1, double lambda2, double stop, int max_steps);

  // Computes residual, loss and objective at the present values of the regions.
  void evaluate(const Regions& regions, double lambda1, double lambda2);

  const Evaluation& at() const { return at_; }
  const VectorXd& residual() const { return at_.residual(); }
  double objective() const { return at_.loss() + penalty_; }

 private:
  // A gain that is lost in rounding. Newton is then in its last steps and needs no line search.
  static constexpr double kRoundingGain = 1e-13;
  static constexpr double kRidgeShare = 1e-9;  // share of a gain that the ridge may leave
  static constexpr int kHalvings = 8;        // with more, the model is improved instead
  static constexpr int kMostDampings = 40;

  // The weight of an edge between regions k < l, by the number k * size + l of the pair.
  using Crossings = std::vector<std::pair<std::int64_t, double>>;

  // All penalty terms of the contracted problem: region against region, region against zero.
  std::vector<Kink> kinks(const Regions& regions, double lambda1, double lambda2) const;
  void collect_crossing(const Regions& regions, int k, double lambda2, Crossings& crossing,
                        double& to_zero) const;
  static double penalty(const std::vector<Kink>& kinks, const VectorXd& u);
  double one_step(Regions& regions, double lambda1, double lambda2);
  void damp(const VectorXd& step, double objective);
  void fill_hessian(const Regions& regions, const MatrixXd& columns,
                    const ProfileCurvature& curvature, ContractedProblem& problem);
  double line_search(const MatrixXd& columns, const ContractedProblem& problem,
                     const ContractedSolution& best, double before);

  const Model* model_;
  RegionGram gram_;
  Evaluation at_;  // at the present values of the regions
  double penalty_ = 0;
  double damping_ = 0;  // curvature that is added to the loss, per unit of weight
};

}  // namespace n2gfl
