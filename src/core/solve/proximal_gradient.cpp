#include "solve/proximal_gradient.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace n2gfl {

ProximalGradient::ProximalGradient(Model& model, std::unique_ptr<Penalty> penalty, Steps steps)
    : model_(model), penalty_(std::move(penalty)), steps_(steps), floats_(model), regions_(model) {
  restart();
}

void ProximalGradient::restart() {
  beta_.setZero(model_.features());
  eta_.setZero(model_.x.rows());
  exact_ = {beta_, eta_};
}

void ProximalGradient::start(const Solution& solution) {
  beta_.setZero(model_.features());
  for (std::size_t k = 0; k < solution.index.size(); ++k)
    beta_[solution.index[k]] = solution.value[k];
  eta_ = times(beta_);
  exact_ = {beta_, eta_};
}

Solution ProximalGradient::solve(double lambda1, double lambda2, double thresh, int max_iterations) {
  penalty_->set(lambda1, lambda2);
  go_to({beta_, eta_, 0, lipschitz_});
  last_.resize(0);
  failures_ = wait_ = 0;
  double gap = certify(thresh, true);
  int iteration = 0;
  while (gap > thresh && iteration < max_iterations) {
    const Place before{beta_, eta_, objective_, lipschitz_};
    const int left = max_iterations - iteration, jumped = jump(gap, thresh, left - 1);
    const int count = std::min(jumped > 0 ? kStepsAfterJump : kCheckEvery, left - jumped);
    for (int k = 0; k < count; ++k) step();
    iteration += jumped + count;
    const double old_gap = gap;
    gap = certify(thresh, gap <= kNeedsExactEta || iteration >= max_iterations);
    if (jumped > 0 && gap > thresh) gap = judge_jump(before, old_gap, gap, thresh);
    last_ = before.beta;
  }
  return dense_solution(beta_, at_, objective_, gap, iteration);
}

void ProximalGradient::go_to(const Place& place) {
  beta_ = point_ = place.beta;
  eta_ = point_eta_ = place.eta;
  lipschitz_ = place.lipschitz;
  momentum_ = 1;
}

void ProximalGradient::step() {
  model_.poll.now();
  VectorXd gradient, next, next_eta;
  Evaluation at = model_.profile.evaluate(point_eta_);
  if (!std::isfinite(at.loss())) {  // momentum or a jump went too far
    go_to({beta_, eta_, objective_, lipschitz_});
    at = model_.profile.evaluate(point_eta_);
  }
  const VectorXd& residual = at.residual();
  find_slope(awake_, residual);
  double value = gradient_at_point(at.loss(), gradient);
  if (!(lipschitz_ > 0)) guess_lipschitz(gradient);
  lipschitz_ *= kRelax;
  while (true) {
    const VectorXd target = point_ - gradient / lipschitz_;
    if (target.allFinite()) {
      penalty_->prox(target, 1 / lipschitz_, next);
      if (wake(next, residual)) {
        value = gradient_at_point(at.loss(), gradient);
        continue;
      }
      next_eta = approximate_times(next);
      if (majorised(value, gradient, residual, next, next_eta)) break;
    }
    lipschitz_ *= 2;
    if (!std::isfinite(lipschitz_)) return go_to({beta_, eta_, objective_, 0});  // no step is safe
  }
  if (next == point_) lipschitz_ /= kRelax;  // a step that does not move says nothing of its size
  extrapolate(next, next_eta);
  beta_.swap(next);
  eta_.swap(next_eta);
}

// ---- the slope of the loss. A feature that is zero before and after a step does not depend on
// its slope. So only the slopes of active ("awake") features, which are or recently were
// nonzero, are computed in every step; all slopes are computed with every certificate. In
// between, slopes and eta are the exact ones of the last certificate plus a difference, and the
// difference is computed from columns in single precision: its error shrinks with it.

void ProximalGradient::refresh_slopes(const VectorXd& products) {
  slope_ = -products;
  reference_ = {at_.residual(), slope_};
  awake_.clear();
  is_awake_.assign(slope_.size(), 0);
  for (int j = 0; j < slope_.size(); ++j)
    if (point_[j] != 0 || beta_[j] != 0 || exact_.beta[j] != 0) rouse(j);
  floats_.trim(awake_.size() + awake_.size() / 2 + kSpare);
}

void ProximalGradient::find_slope(const std::vector<int>& features, const VectorXd& residual) {
  if (!floats_.usable())
    return model_.x.transpose_times(-residual, features, slope_, model_.threads, model_.poll);
  floats_.require(features);
  floats_.set_vector(residual - reference_.residual);
  products_.resize(features.size());
  floats_.products(features, products_.data());
  for (std::size_t k = 0; k < features.size(); ++k)
    slope_[features[k]] = reference_.slope[features[k]] - products_[k];
}

// Features that leave zero become active. Returns true if there are such features: their slopes
// are those of the last certificate and must be computed again before the step counts.
bool ProximalGradient::wake(const VectorXd& next, const VectorXd& residual) {
  std::vector<int> woken;
  for (int j = 0; j < next.size(); ++j)
    if (next[j] != 0 && !is_awake_[j]) woken.push_back(j);
  if (woken.empty()) return false;
  for (int j : woken) rouse(j);
  find_slope(woken, residual);
  return true;
}

void ProximalGradient::rouse(int j) {
  is_awake_[j] = 1;
  awake_.push_back(j);
}

double ProximalGradient::gradient_at_point(double loss, VectorXd& gradient) const {
  gradient = slope_;
  return loss + penalty_->smooth(point_, gradient);
}

// Curvature along the gradient: a start for backtracking that scales with the data.
void ProximalGradient::guess_lipschitz(const VectorXd& gradient) {
  const double length = gradient.squaredNorm();
  const VectorXd moved = times(gradient);
  const double curved = moved.cwiseAbs2().dot(model_.profile.loss().weights()) +
                        penalty_->smooth_curvature(gradient);
  lipschitz_ = length > 0 && curved > 0 ? curved / length : 1.0;
}

// Is the quadratic with curvature `lipschitz_` above the smooth part at the new point? If the
// values differ by little, which may be rounding, the residuals decide. They cannot decide about
// a much larger value: where the loss nearly overflows, they are rounding themselves.
bool ProximalGradient::majorised(double value, const VectorXd& gradient, const VectorXd& residual,
                                 const VectorXd& next, const VectorXd& next_eta) {
  const VectorXd difference = next - point_;
  if (difference.norm() <= kRounding * point_.norm()) return true;
  const double quadratic = 0.5 * lipschitz_ * difference.squaredNorm();
  VectorXd ignored = VectorXd::Zero(next.size());
  const Evaluation there = model_.profile.evaluate(next_eta);
  if (!std::isfinite(there.loss())) return false;
  const double next_value = there.loss() + penalty_->smooth(next, ignored);
  const double rounding = kRounding * (std::fabs(value) + std::fabs(gradient.dot(difference)));
  const double above = next_value - (value + gradient.dot(difference) + quadratic + rounding);
  if (above <= 0) return true;
  if (above > kCloseValues * (std::fabs(value) + model_.null_value)) return false;
  const double bend = (residual - there.residual()).dot(next_eta - point_eta_) +
                      penalty_->smooth_curvature(difference);
  return bend <= quadratic;
}

// ---- jumps. If the regions have hardly changed since the last certificate, conjugate gradients
// find their values. The steps that follow repair the order of the values and change regions.

// Returns the number of iterations, 0 if there was no jump.
int ProximalGradient::jump(double gap, double thresh, int most) {
  if (steps_ != Steps::with_jumps || !floats_.usable() || last_.size() == 0 || --wait_ >= 0) return 0;
  const double change = regions_.change(last_, beta_);
  VectorXd slope = slope_;
  if (change > kSettled || !penalty_->add_slope(beta_, slope)) return 0;
  floats_.require(awake_);
  point_ = beta_;
  point_eta_ = eta_;
  momentum_ = 1;
  const double goal = std::max(change > 0 ? kJumpGoal : kFinalJumpGoal, 0.5 * thresh / gap);
  const int limit = std::min(most, kMostInJump);
  const int jumped = regions_.run(floats_, at_.at, slope, goal, limit, point_, point_eta_);
  if (point_eta_.allFinite() && point_.allFinite()) return jumped;
  go_to({beta_, eta_, objective_, lipschitz_});
  return 0;
}

// Takes a jump back if it made the objective worse. Jumps that do not help become rare, so that
// the steps in between converge by themselves. Returns the gap.
double ProximalGradient::judge_jump(const Place& before, double old_gap, double gap, double thresh) {
  const bool worse = !(objective_ <= before.objective);
  if (worse) {
    go_to(before);
    gap = certify(thresh, true);
  }
  failures_ += worse ? 2 : gap > 0.5 * old_gap ? 1 : 0;
  wait_ = (1 << std::min(failures_ / 2, 10)) - 1;
  return gap;
}

// The next point, with momentum unless the last step went against it.
void ProximalGradient::extrapolate(const VectorXd& next, const VectorXd& next_eta) {
  double weight = 0;
  if (steps_ != Steps::plain) {
    if ((point_ - next).dot(next - beta_) > 0) momentum_ = 1;
    const double larger = 0.5 * (1 + std::sqrt(1 + 4 * momentum_ * momentum_));
    weight = (momentum_ - 1) / larger;
    momentum_ = larger;
  }
  point_ = next + weight * (next - beta_);
  point_eta_ = next_eta + weight * (next_eta - eta_);
}

VectorXd ProximalGradient::times(const VectorXd& v) const {
  VectorXd out = VectorXd::Zero(model_.x.rows());
  model_.x.add_times(v, out, model_.poll);
  return out;
}

// The same from the last exact product. All features that differ are active.
VectorXd ProximalGradient::approximate_times(const VectorXd& v) {
  if (!floats_.usable()) return times(v);
  change_.resize(awake_.size());
  for (std::size_t k = 0; k < awake_.size(); ++k)
    change_[k] = v[awake_[k]] - exact_.beta[awake_[k]];
  VectorXd out = exact_.eta;
  floats_.add(awake_, change_, out);
  return out;
}

// The eta of a jump that was taken back may belong to an older exact one, even if its beta does
// not differ from that of the newest.
bool ProximalGradient::eta_is_exact() const {
  return !floats_.usable() || (beta_ == exact_.beta && eta_ == exact_.eta);
}

void ProximalGradient::make_eta_exact() {
  age_ = 0;
  if (eta_is_exact()) return;
  exact_ = {beta_, times(beta_)};
  point_eta_ += exact_.eta - eta_;  // the error of eta is almost the same at both points
  eta_ = exact_.eta;
}

// The gap; also refreshes all slopes. A gap that ends the fit is always computed from exact eta.
double ProximalGradient::certify(double thresh, bool exactly) {
  if (exactly || ++age_ == kOldestEta) make_eta_exact();
  at_ = model_.profile.evaluate(eta_);
  objective_ = at_.loss() + penalty_->value(beta_);
  VectorXd products;
  const double gap = penalty_->gap(beta_, at_, objective_, thresh, products);
  refresh_slopes(products);
  return gap <= thresh && !eta_is_exact() ? certify(thresh, true) : gap;
}

}  // namespace n2gfl
