// Newton's method on the values of the regions. Each quadratic model is solved exactly, kinks
// included, by the active set of active_set.hpp, followed by a line search on the true
// objective. Where the loss is almost linear, the model predicts a much too large decrease; then
// its curvature is raised until the prediction holds (Levenberg's damping).
#pragma once

#include <algorithm>
#include <cmath>

#include "data/model.hpp"
#include "solve/active_set.hpp"
#include "solve/region_gram.hpp"
#include "solve/regions.hpp"

namespace n2gfl {

class RegionNewton {
 public:
  explicit RegionNewton(const Model& model) : model_(&model), gram_(model.threads) {}

  // Minimises over the regions' values and merges regions that become equal. Stops when a step
  // gains less than `stop` times the null objective.
  void run(Regions& regions, double lambda1, double lambda2, double stop, int max_steps) {
    for (int step = 0; step < max_steps && regions.size() > 0; ++step) {
      model_->poll.now();
      const double gain = one_step(regions, lambda1, lambda2);
      const double next = model_->profile.loss().quadratic() ? kRidgeShare * gain : gain;
      if (next <= stop * model_->null_value) break;
    }
    evaluate(regions, lambda1, lambda2);
  }

  // Computes residual, loss and objective at the present values of the regions.
  void evaluate(const Regions& regions, double lambda1, double lambda2) {
    VectorXd eta = VectorXd::Zero(model_->x.rows());
    for (int k = 0; k < regions.size(); ++k) eta += regions[k].value * regions[k].column;
    loss_ = model_->profile.evaluate(eta, residual_);
    penalty_ = penalty(regions.kinks(lambda1, lambda2), regions.values());
  }

  const VectorXd& residual() const { return residual_; }
  double loss() const { return loss_; }
  double objective() const { return loss_ + penalty_; }

 private:
  // A gain that is lost in rounding. Newton is then in its last steps and needs no line search.
  static constexpr double kRoundingGain = 1e-13;
  static constexpr double kRidgeShare = 1e-9;  // share of a gain that the ridge may leave
  static constexpr int kHalvings = 8;        // with more, the model is improved instead
  static constexpr int kMostDampings = 40;

  static double penalty(const std::vector<Kink>& kinks, const VectorXd& u) {
    double sum = 0;
    for (const Kink& z : kinks) sum += z.weight * ContractedProblem::height(z, u);
    return sum;
  }

  double one_step(Regions& regions, double lambda1, double lambda2) {
    const MatrixXd columns = regions.columns();
    VectorXd curvature;
    ContractedProblem problem;
    problem.start = regions.values();
    problem.kinks = regions.kinks(lambda1, lambda2);
    problem.nonnegative = model_->nonnegative;
    problem.tie = regions.ties();
    const double before =
        model_->profile.evaluate(columns * problem.start, residual_, &curvature) +
        penalty(problem.kinks, problem.start);
    problem.gradient = columns.transpose() * residual_;
    ContractedSolution best;
    double t = 0;
    for (int tries = 0; t == 0 && tries < kMostDampings; ++tries) {
      fill_hessian(regions, columns, curvature + damping_ * model_->profile.loss().weights(),
                   problem);
      best = ActiveSet(problem, model_->poll).solve();
      if (!(best.decrease > 0)) return 0;
      t = line_search(columns, problem, best, before);
      if (t > 0 || model_->profile.loss().quadratic()) break;
      damp(columns * (best.value - problem.start), before);
    }
    if (t == 1) damping_ *= 0.1;
    if (t == 1 && best.groups < regions.size()) {
      regions.merge(best.group, best.groups, best.value);
      if (model_->profile.loss().quadratic()) gram_.merge(best.group, regions);
    } else {
      regions.set_values(problem.start + t * (best.value - problem.start), t < 1);
    }
    return t > 0 ? best.decrease : 0;
  }

  // Raises the damping so far that the same step would no longer pay.
  void damp(const VectorXd& step, double objective) {
    const double length = step.cwiseAbs2().dot(model_->profile.loss().weights());
    damping_ = std::max(10 * damping_, objective / std::max(length, 1e-300));
  }

  // The model is centred at the start, so the small ridge shortens steps but does not move the
  // optimum.
  void fill_hessian(const Regions& regions, const MatrixXd& columns, const VectorXd& curvature,
                    ContractedProblem& problem) {
    const bool quadratic = model_->profile.loss().quadratic();
    MatrixXd hessian = quadratic ? gram_.of(regions, columns, curvature)
                                 : weighted_gram(columns, curvature, model_->threads);
    const VectorXd whole = hessian.diagonal();  // the projected diagonal may be pure rounding
    if (!quadratic) model_->profile.project_hessian(curvature, columns, hessian);
    hessian.diagonal() += 1e-11 * whole;
    hessian.diagonal().array() += 1e-12 * whole.maxCoeff();
    problem.hessian = std::move(hessian);
  }

  double line_search(const MatrixXd& columns, const ContractedProblem& problem,
                     const ContractedSolution& best, double before) {
    if (best.decrease < kRoundingGain * model_->null_value) return 1;
    double t = 1;
    for (int halvings = 0; halvings < kHalvings; ++halvings, t *= 0.5) {
      const VectorXd u = problem.start + t * (best.value - problem.start);
      const double now =
          model_->profile.evaluate(columns * u, residual_) + penalty(problem.kinks, u);
      if (now <= before - 1e-4 * t * best.decrease) return t;
    }
    return 0;
  }

  const Model* model_;
  RegionGram gram_;
  VectorXd residual_;
  double loss_ = 0, penalty_ = 0;
  double damping_ = 0;  // curvature that is added to the loss, per unit of weight
};

}  // namespace n2gfl
