// Newton's method on the values of the regions: each quadratic model is solved exactly, kinks included,
// by the active set of contracted_problem.hpp, followed by a line search on the true objective. Where
// the loss is almost straight the model promises far too much; then its curvature is raised until the
// promise holds (Levenberg's damping).
#pragma once

#include <algorithm>
#include <cmath>

#include "contracted_problem.hpp"
#include "model.hpp"
#include "region_gram.hpp"
#include "regions.hpp"

namespace n2gfl {

class RegionNewton {
 public:
  explicit RegionNewton(const Model& model) : model_(&model) {}

  // Minimises over the regions' values; regions that tie are merged. Stops when a step gains less than
  // `stop` times the null objective.
  void run(Regions& regions, double lambda1, double lambda2, double stop, int max_steps) {
    for (int step = 0; step < max_steps && regions.size() > 0; ++step) {
      model_->poll.now();
      const double gain = one_step(regions, lambda1, lambda2);
      const double next = model_->profile.loss().quadratic() ? kRidgeShare * gain : gain;
      if (next <= stop * model_->null_value) break;
    }
    evaluate(regions, lambda1, lambda2);
  }

  // Residual, loss and objective at the regions' present values.
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
  // A gain that rounding hides. Newton is in its last steps then, and needs no line search.
  static constexpr double kRoundingGain = 1e-13;
  static constexpr double kRidgeShare = 1e-9;  // of a gain: what the ridge may leave of a quadratic
  static constexpr int kHalvings = 8;        // a step that needs more of them gets a better model
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

  // The same step would now cost as much as there is to gain, at least.
  void damp(const VectorXd& step, double objective) {
    const double length = step.cwiseAbs2().dot(model_->profile.loss().weights());
    damping_ = std::max(10 * damping_, objective / std::max(length, 1e-300));
  }

  // The model is centred at the start, so the small ridge only shortens steps: it moves no optimum.
  void fill_hessian(const Regions& regions, const MatrixXd& columns, const VectorXd& curvature,
                    ContractedProblem& problem) {
    const bool quadratic = model_->profile.loss().quadratic();
    MatrixXd hessian =
        quadratic ? gram_.of(regions, columns, curvature) : weighted_gram(columns, curvature);
    const VectorXd whole = hessian.diagonal();  // the projection may leave nothing but rounding of it
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
  double damping_ = 0;  // curvature added to the loss, per unit of weight
};

}  // namespace n2gfl
