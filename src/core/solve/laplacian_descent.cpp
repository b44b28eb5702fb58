#include "solve/laplacian_descent.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace n2gfl {

void LaplacianDescent::restart() {
  beta_.setZero(model_.features());
  eta_.setZero(model_.x.rows());
}

Solution LaplacianDescent::solve(double lambda1, double lambda2, double thresh, int max_iterations) {
  penalty_.set(lambda1, lambda2);
  double gap = certify(), best = gap;
  int iteration = 0, stalls = 0;
  while (gap > thresh && iteration < max_iterations && stalls < kMostStalls) {
    choose_work();
    const double gain = newton_step(kInnerShare * std::min(gap, 1.0));
    gap = certify();
    ++iteration;
    stalls = gap < 0.9 * best || gain > 1e-14 * model_.null_value ? 0 : stalls + 1;
    best = std::min(best, gap);
  }
  return dense_solution(beta_, at_, objective_, gap, iteration);
}

void LaplacianDescent::fit_unpenalised(double lambda2) {
  penalty_.set(std::numeric_limits<double>::infinity(), lambda2);
  if (model_.any_unpenalised)
    solve(std::numeric_limits<double>::infinity(), lambda2, 1e-12, 1000);
  else
    certify();
}

// Computes loss, objective, negative gradient of the smooth part, and gap.
double LaplacianDescent::certify() {
  at_ = model_.profile.evaluate(eta_);
  objective_ = at_.loss() + penalty_.value(beta_);
  model_.x.transpose_times(at_.residual(), gradient_, model_.threads, model_.poll);
  for (int i = 0; i < model_.features(); ++i) gradient_[i] -= penalty_.slope(beta_, i);
  return penalty_.gap_at(beta_, at_, objective_, gradient_);
}

void LaplacianDescent::choose_work() {
  work_.clear();
  for (int i = 0; i < model_.features(); ++i) {
    const bool wants_to_leave = penalty_.one_sided(gradient_[i]) > penalty_.threshold(i);
    if (beta_[i] != 0 || wants_to_leave) work_.push_back(i);
  }
}

// One Newton step on the working set; returns the decrease of the objective.
double LaplacianDescent::newton_step(double accuracy) {
  const VectorXd start = beta_;
  prepare_quadratic();
  for (int round = 0; round < kMostRounds; ++round) {
    descend_on_support();
    if (sweep() <= accuracy * model_.null_value) break;
  }
  return line_search(start);
}

// The unpenalised part is optimal for every beta, and some losses do not separate. For a column x
// with coupling c this reduces its curvature by c'S c, and couples the columns through `shift_`.
void LaplacianDescent::prepare_quadratic() {
  const ProfileCurvature curvature = model_.profile.curvature(at_.at);
  const int work = static_cast<int>(work_.size());
  coupling_ = curvature.coupling(MatrixXd(model_.x.rows(), 0));  // its rows, even if work is 0
  coupling_.conservativeResize(Eigen::NoChange, work);
  VectorXd column;
  for (int k = 0; k < work; ++k) {
    column.setZero(model_.x.rows());
    model_.x.add(work_[k], 1.0, column);
    coupling_.col(k) = curvature.coupling(column);
  }
  response_ = curvature.response(coupling_);
  bend_.resize(work);
  for (int k = 0; k < work; ++k) {
    const double own = model_.x.weighted_square(work_[k], at_.at.curvature.diagonal);
    const double left = own - coupling_.col(k).dot(response_.col(k));
    bend_[k] = std::max(left, 1e-12 * own) + penalty_.curvature(work_[k]);
    model_.poll();
  }
  left_ = at_.residual();
  shift_.setZero(coupling_.rows());
}

// Negative slope of the quadratic model along the k-th coordinate of the working set.
double LaplacianDescent::slope(int k) const {
  return model_.x.dot(work_[k], left_) + coupling_.col(k).dot(shift_) -
         penalty_.slope(beta_, work_[k]);
}

void LaplacianDescent::move(int k, double change) {
  beta_[work_[k]] += change;
  model_.x.add_weighted(work_[k], -change, at_.at.curvature.diagonal, left_);
  shift_ += change * response_.col(k);
}

// Sets every coordinate to its optimum. Returns the sum of slopes times coefficients, an
// estimate of the model's gap before the sweep. (The decrease of the objective says little if
// the quadratic is ill-conditioned.)
double LaplacianDescent::sweep() {
  double wrong = 0;
  for (int k = 0; k < static_cast<int>(work_.size()); ++k) {
    model_.poll();
    const int i = work_[k];
    if (!(bend_[k] > 0)) continue;
    const double next =
        penalty_.shrink(beta_[i] + slope(k) / bend_[k], penalty_.threshold(i) / bend_[k]);
    const double change = next - beta_[i];
    if (change == 0) continue;
    wrong += bend_[k] * std::fabs(change) * std::max(std::fabs(beta_[i]), std::fabs(next));
    move(k, change);
  }
  return wrong;
}

// Newton's direction on the support by conjugate gradients, shortened so that no sign changes.
void LaplacianDescent::descend_on_support() {
  std::vector<int> support;
  for (int k = 0; k < static_cast<int>(work_.size()); ++k)
    if (beta_[work_[k]] != 0) support.push_back(k);
  if (support.size() < 2) return;
  VectorXd right(support.size());
  for (std::size_t s = 0; s < support.size(); ++s) {
    const int i = work_[support[s]];
    right[s] = slope(support[s]) - (beta_[i] > 0 ? 1 : -1) * penalty_.threshold(i);
  }
  const VectorXd direction = conjugate_gradients(support, right);
  double longest = 1;
  for (std::size_t s = 0; s < support.size(); ++s) {
    const double b = beta_[work_[support[s]]];
    if (b * direction[s] < 0) longest = std::min(longest, -b / direction[s]);
  }
  for (std::size_t s = 0; s < support.size(); ++s) {
    const double b = beta_[work_[support[s]]];
    const bool ends = longest < 1 && b * direction[s] < 0 && -b / direction[s] <= longest;
    move(support[s], ends ? -b : longest * direction[s]);
    if (ends) beta_[work_[support[s]]] = 0;
  }
}

// Returns the best iterate, because on an ill-conditioned graph rounding can make later ones
// diverge.
VectorXd LaplacianDescent::conjugate_gradients(const std::vector<int>& support,
                                               const VectorXd& right) const {
  VectorXd x = VectorXd::Zero(right.size()), residual = right, scaled(right.size());
  VectorXd diagonal(right.size());
  for (std::size_t s = 0; s < support.size(); ++s) diagonal[s] = bend_[support[s]];
  scaled = residual.cwiseQuotient(diagonal);
  VectorXd direction = scaled;
  VectorXd best = x;
  double product = residual.dot(scaled), least = product;
  const double goal = 1e-8 * product, lost = 1e8 * product;
  for (int step = 0; step < kMostCgSteps && product > goal && product < lost; ++step) {
    const VectorXd image = hessian_times(support, direction);
    const double curved = direction.dot(image);
    if (!(curved > 0)) break;
    x += (product / curved) * direction;
    residual -= (product / curved) * image;
    scaled = residual.cwiseQuotient(diagonal);
    const double next = residual.dot(scaled);
    direction = scaled + (next / product) * direction;
    product = next;
    if (!(product < least)) continue;
    least = product;
    best = x;
  }
  return best;
}

VectorXd LaplacianDescent::hessian_times(const std::vector<int>& support, const VectorXd& v) const {
  VectorXd image = VectorXd::Zero(model_.x.rows());
  VectorXd spread = VectorXd::Zero(model_.features());
  VectorXd unpenalised = VectorXd::Zero(coupling_.rows());
  std::vector<int> columns;
  for (std::size_t s = 0; s < support.size(); ++s) {
    columns.push_back(work_[support[s]]);
    model_.x.add_weighted(columns[s], v[s], at_.at.curvature.diagonal, image);
    spread[columns[s]] = v[s];
    unpenalised += v[s] * response_.col(support[s]);
    model_.poll();
  }
  VectorXd products(model_.features()), out(v.size());
  model_.x.transpose_times(image, columns, products, model_.threads, model_.poll);
  for (std::size_t s = 0; s < support.size(); ++s)
    out[s] = products[columns[s]] - coupling_.col(support[s]).dot(unpenalised) +
             penalty_.slope(spread, columns[s]);
  return out;
}

// The minimum of the quadratic need not lower the true objective: halves the step until it does.
double LaplacianDescent::line_search(const VectorXd& start) {
  const VectorXd direction = beta_ - start;
  VectorXd change = VectorXd::Zero(model_.x.rows());
  model_.x.add_times(direction, change, model_.poll);
  const double before = objective_;
  double t = 1;
  for (int halvings = 0; halvings < 40; ++halvings, t *= 0.5) {
    if (t < 1) beta_ = start + t * direction;
    const double now =
        model_.profile.evaluate(eta_ + t * change).loss() + penalty_.value(beta_);
    const bool falls = now <= before + 1e-13 * model_.null_value;  // ignores rounding
    if (!falls) continue;                                          // also for NaN
    eta_ += t * change;
    return before - now;
  }
  beta_ = start;
  return 0;
}

}  // namespace n2gfl
