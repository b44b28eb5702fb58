// Newton's method on the values of the regions: each quadratic model is solved exactly, kinks included,
// by the active set of contracted_problem.hpp, followed by a line search on the true objective.
#pragma once

#include <algorithm>
#include <cmath>

#include "contracted_problem.hpp"
#include "model.hpp"
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
      if (gain <= stop * model_->null_value) break;
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
    fill_quadratic(columns, curvature, problem);
    const ContractedSolution best = ActiveSet(problem, model_->poll).solve();
    if (!(best.decrease > 0)) return 0;
    const double t = line_search(columns, problem, best, before);
    if (t == 1 && best.groups < regions.size())
      regions.merge(best.group, best.groups, best.value);
    else
      regions.set_values(problem.start + t * (best.value - problem.start), t < 1);
    return t > 0 ? best.decrease : 0;
  }

  // The model is centred at the start, so the small ridge only shortens steps: it moves no optimum.
  void fill_quadratic(const MatrixXd& columns, const VectorXd& curvature,
                      ContractedProblem& problem) const {
    const MatrixXd weighted = curvature.cwiseSqrt().asDiagonal() * columns;
    MatrixXd hessian = MatrixXd::Zero(columns.cols(), columns.cols());
    hessian.selfadjointView<Eigen::Lower>().rankUpdate(weighted.transpose());
    hessian.triangularView<Eigen::StrictlyUpper>() = hessian.transpose();
    if (!model_->profile.loss().quadratic())
      model_->profile.project_hessian(curvature, columns, hessian);
    const double largest = hessian.diagonal().maxCoeff();
    hessian.diagonal() += 1e-11 * hessian.diagonal();
    hessian.diagonal().array() += 1e-12 * largest;
    problem.gradient = columns.transpose() * residual_;
    problem.hessian = std::move(hessian);
  }

  double line_search(const MatrixXd& columns, const ContractedProblem& problem,
                     const ContractedSolution& best, double before) {
    if (best.decrease < kRoundingGain * model_->null_value) return 1;
    double t = 1;
    for (int halvings = 0; halvings < 30; ++halvings, t *= 0.5) {
      const VectorXd u = problem.start + t * (best.value - problem.start);
      const double now =
          model_->profile.evaluate(columns * u, residual_) + penalty(problem.kinks, u);
      if (now <= before - 1e-4 * t * best.decrease) return t;
    }
    return 0;
  }

  const Model* model_;
  VectorXd residual_;
  double loss_ = 0, penalty_ = 0;
};

}  // namespace n2gfl
