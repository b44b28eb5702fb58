// ISTA and FISTA as in Proposition 1 of the paper, with an exact prox, backtracking and restarts.
// They are simple and slow, serve as a reference, and are certified by the same gap as the other
// solvers. Fista also takes over fits with so many regions that region pursuit would be slower.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "model.hpp"
#include "penalty.hpp"
#include "solver.hpp"

namespace n2gfl {

class ProximalGradient final : public Solver {
 public:
  ProximalGradient(Model& model, std::unique_ptr<Penalty> penalty, bool accelerate)
      : model_(model), penalty_(std::move(penalty)), accelerate_(accelerate) {
    restart();
  }

  void restart() override {
    beta_.setZero(model_.features());
    eta_.setZero(model_.x.rows());
  }

  // Continues from the coefficients of another solver.
  void start(const Solution& solution) {
    beta_.setZero(model_.features());
    for (std::size_t k = 0; k < solution.index.size(); ++k)
      beta_[solution.index[k]] = solution.value[k];
    eta_ = times(beta_);
  }

  Solution solve(double lambda1, double lambda2, double thresh, int max_iterations) override {
    penalty_->set(lambda1, lambda2);
    point_ = beta_;
    point_eta_ = eta_;
    momentum_ = 1;
    age_ = kRefreshEvery;
    double gap = certify(thresh);
    int iteration = 0;
    while (gap > thresh && iteration < max_iterations) {
      step();
      if (++iteration % kCheckEvery == 0 || iteration == max_iterations) gap = certify(thresh);
    }
    return dense_solution(beta_, model_.profile.coordinates(), loss_, objective_, gap, iteration);
  }

 private:
  static constexpr int kCheckEvery = 10;
  static constexpr int kRefreshEvery = 10;
  static constexpr double kRelax = 0.95;  // lets the step grow again
  static constexpr double kRounding = 1e-15;

  void step() {
    model_.poll.now();
    VectorXd residual, gradient, next, next_eta;
    const double loss = model_.profile.evaluate(point_eta_, residual);
    find_slope(residual);
    double value = gradient_at_point(loss, gradient);
    if (!(lipschitz_ > 0)) guess_lipschitz(gradient);
    lipschitz_ *= kRelax;
    while (true) {
      penalty_->prox(point_ - gradient / lipschitz_, 1 / lipschitz_, next);
      if (wake(next, residual)) {
        value = gradient_at_point(loss, gradient);
        continue;
      }
      next_eta = times(next);
      if (majorised(value, gradient, residual, next, next_eta)) break;
      lipschitz_ *= 2;
    }
    extrapolate(next, next_eta);
    beta_.swap(next);
    eta_.swap(next_eta);
  }

  // ---- the slope of the loss. A feature that is zero before and after a step does not depend on
  // its slope. So only the slopes of active ("awake") features, which are or recently were
  // nonzero, are computed in every step; all slopes are computed every kRefreshEvery steps.

  void find_slope(const VectorXd& residual) {
    if (++age_ < kRefreshEvery) return find_slope(awake_, residual);
    model_.x.transpose_times(residual, slope_, model_.threads, model_.poll);
    slope_ = -slope_;
    awake_.clear();
    is_awake_.assign(slope_.size(), 0);
    for (int j = 0; j < slope_.size(); ++j)
      if (point_[j] != 0 || beta_[j] != 0) rouse(j);
    age_ = 0;
  }

  void find_slope(const std::vector<int>& features, const VectorXd& residual) {
    model_.x.transpose_times(-residual, features, slope_, model_.threads, model_.poll);
  }

  // Features that leave zero become active. Returns true if they did so because of an old slope,
  // which must be computed again before the step counts.
  bool wake(const VectorXd& next, const VectorXd& residual) {
    std::vector<int> woken;
    for (int j = 0; j < next.size(); ++j)
      if (next[j] != 0 && !is_awake_[j]) woken.push_back(j);
    for (int j : woken) rouse(j);
    if (woken.empty() || age_ == 0) return false;
    find_slope(woken, residual);
    return true;
  }

  void rouse(int j) {
    is_awake_[j] = 1;
    awake_.push_back(j);
  }

  double gradient_at_point(double loss, VectorXd& gradient) const {
    gradient = slope_;
    return loss + penalty_->smooth(point_, gradient);
  }

  // Curvature along the gradient: a start for backtracking that scales with the data.
  void guess_lipschitz(const VectorXd& gradient) {
    const double length = gradient.squaredNorm();
    const VectorXd moved = times(gradient);
    const double curved = moved.cwiseAbs2().dot(model_.profile.loss().weights()) +
                          penalty_->smooth_curvature(gradient);
    lipschitz_ = length > 0 && curved > 0 ? curved / length : 1.0;
  }

  // Is the quadratic with curvature `lipschitz_` above the smooth part at the new point? If the
  // values differ by rounding only, the residuals decide.
  bool majorised(double value, const VectorXd& gradient, const VectorXd& residual,
                 const VectorXd& next, const VectorXd& next_eta) {
    const VectorXd difference = next - point_;
    if (difference.norm() <= kRounding * point_.norm()) return true;
    const double quadratic = 0.5 * lipschitz_ * difference.squaredNorm();
    VectorXd next_residual, ignored = VectorXd::Zero(next.size());
    const double next_value =
        model_.profile.evaluate(next_eta, next_residual) + penalty_->smooth(next, ignored);
    const double rounding = kRounding * (std::fabs(value) + std::fabs(gradient.dot(difference)));
    if (next_value <= value + gradient.dot(difference) + quadratic + rounding) return true;
    const double bend = (residual - next_residual).dot(next_eta - point_eta_) +
                        penalty_->smooth_curvature(difference);
    return bend <= quadratic;
  }

  // The next point, with momentum unless the last step went against it.
  void extrapolate(const VectorXd& next, const VectorXd& next_eta) {
    double weight = 0;
    if (accelerate_) {
      if ((point_ - next).dot(next - beta_) > 0) momentum_ = 1;
      const double larger = 0.5 * (1 + std::sqrt(1 + 4 * momentum_ * momentum_));
      weight = (momentum_ - 1) / larger;
      momentum_ = larger;
    }
    point_ = next + weight * (next - beta_);
    point_eta_ = next_eta + weight * (next_eta - eta_);
  }

  // X v, reading only the columns with nonzero v.
  VectorXd times(const VectorXd& v) const {
    VectorXd out = VectorXd::Zero(model_.x.rows());
    for (int j = 0; j < model_.features(); ++j) {
      if (v[j] != 0) model_.x.add(j, v[j], out);
      model_.poll();
    }
    return out;
  }

  double certify(double thresh) {
    loss_ = model_.profile.evaluate(eta_, residual_);
    objective_ = loss_ + penalty_->value(beta_);
    return penalty_->gap(beta_, residual_, objective_, thresh);
  }

  Model& model_;
  std::unique_ptr<Penalty> penalty_;
  bool accelerate_;
  VectorXd beta_, eta_;         // the iterate and X times the iterate
  VectorXd point_, point_eta_;  // where the gradient is taken
  VectorXd residual_;
  VectorXd slope_;              // -X'r at the point; out of date for features that are not active
  std::vector<int> awake_;
  std::vector<char> is_awake_;
  int age_ = 0;                 // of the oldest slopes, in steps
  double momentum_ = 1, lipschitz_ = 0, loss_ = 0, objective_ = 0;
};

}  // namespace n2gfl
