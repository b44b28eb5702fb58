#include "solve/active_set.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace n2gfl {

double ContractedProblem::decrease(const VectorXd& u) const {
  const VectorXd step = u - start;
  double fall = gradient.dot(step) - 0.5 * step.dot(hessian * step);
  for (const Kink& z : kinks) fall -= z.weight * rise(z, u, step);
  return fall;
}

double ContractedProblem::rise(const Kink& z, const VectorXd& u, const VectorXd& step) const {
  const double before = signed_height(z, start), after = signed_height(z, u);
  if (before * after <= 0) return std::fabs(after) - std::fabs(before);
  return before > 0 ? signed_height(z, step) : -signed_height(z, step);
}

ActiveSet::ActiveSet(const ContractedProblem& problem, Poll& poll)
    : p_(problem), poll_(poll), u_(problem.start), label_(u_.size()), sign_(problem.kinks.size()) {
  std::iota(label_.begin(), label_.end(), 0);
  labels_ = static_cast<int>(u_.size());
  for (std::size_t z = 0; z < sign_.size(); ++z) sign_[z] = order(p_.kinks[z]);
}

ContractedSolution ActiveSet::solve() {
  const int regions = static_cast<int>(u_.size());
  int releases = 0;
  number_groups();
  for (int it = 0; it < 4 * regions + 50; ++it) {
    poll_.now();
    if (factor_.full()) number_groups();
    find_direction();
    if (merge_blocked() || walk()) continue;
    if (releases++ >= 2 * regions + 10 || !release_from_zero()) break;
    number_groups();
  }
  return solution();
}

int ActiveSet::order(const Kink& z) const {
  if (z.l < 0 && p_.nonnegative) return 1;
  const double difference = u_[z.k] - (z.l < 0 ? 0.0 : u_[z.l]);
  if (difference != 0) return difference > 0 ? 1 : -1;
  const double tie = p_.tie[z.k] - (z.l < 0 ? 0.0 : p_.tie[z.l]);
  return tie >= 0 ? 1 : -1;
}

// The regions of one label become one unknown, and each such group starts as a cluster of its
// own.
void ActiveSet::number_groups() {
  count_groups();
  contract_hessian();
  factor_.factor(hessian_);
  cluster_.resize(groups_);
  std::iota(cluster_.begin(), cluster_.end(), 0);
}

void ActiveSet::count_groups() {
  std::vector<int> number(labels_, kZero);
  group_.assign(label_.size(), kZero);
  groups_ = 0;
  for (std::size_t k = 0; k < label_.size(); ++k) {
    if (label_[k] < 0) continue;
    int& g = number[label_[k]];
    if (g < 0) g = groups_++;
    group_[k] = g;
  }
}

// The direction from the groups' values to the minimum of the quadratic that is valid until a
// kink is crossed. It is solved for the step, not for the values, because near the end only the
// step keeps enough digits.
void ActiveSet::find_direction() {
  value_.setZero(groups_);
  pull_.setZero(groups_);
  const VectorXd force = p_.force(u_);
  for (std::size_t k = 0; k < group_.size(); ++k) {
    if (group_[k] < 0) continue;
    value_[group_[k]] = u_[k];
    pull_[group_[k]] += force[k];
  }
  for (std::size_t z = 0; z < sign_.size(); ++z) {
    const int a = group(p_.kinks[z].k), b = group(p_.kinks[z].l);
    if (a == b) continue;
    const double pull = sign_[z] * p_.kinks[z].weight;
    if (a >= 0) pull_[a] -= pull;
    if (b >= 0) pull_[b] += pull;
  }
  direction_ = factor_.solve(pull_);
  for (int g = 0; g < groups_; ++g)  // exactly equal within a cluster
    direction_[g] = cluster_[g] < 0 ? 0.0 : direction_[cluster_[g]];
}

void ActiveSet::contract_hessian() {
  const int regions = static_cast<int>(group_.size());
  if (groups_ == regions) {
    hessian_ = p_.hessian;
    return;
  }
  MatrixXd columns = MatrixXd::Zero(regions, groups_);
  for (int k = 0; k < regions; ++k)
    if (group_[k] >= 0) columns.col(group_[k]) += p_.hessian.col(k);
  hessian_.setZero(groups_, groups_);
  for (int k = 0; k < regions; ++k)
    if (group_[k] >= 0) hessian_.row(group_[k]) += columns.row(k);
}

// Merges tied groups if the direction contradicts the order that is assumed for them.
bool ActiveSet::merge_blocked() {
  bool merged = false;
  for (std::size_t z = 0; z < sign_.size(); ++z) {
    const Kink& kink = p_.kinks[z];
    const int a = group(kink.k), b = group(kink.l);
    if (cluster(a) == cluster(b) || at(value_, a) != at(value_, b)) continue;
    if (sign_[z] * (at(direction_, a) - at(direction_, b)) >= 0) continue;
    if (!factor_.full()) join(kink);
    merged = true;
  }
  return merged;
}

// Joins the clusters (and labels) on both sides of a kink; joined with zero they become zero.
// Returns the joint cluster.
int ActiveSet::join(const Kink& z) {
  const int a = cluster(group(z.k)), b = cluster(group(z.l));
  const int from = a < 0 ? b : a, to = a < 0 ? a : b;
  factor_.equate(from, to);
  std::replace(cluster_.begin(), cluster_.end(), from, to);
  const int label_a = label_[z.k], label_b = z.l < 0 ? kZero : label_[z.l];
  std::replace(label_.begin(), label_.end(), a < 0 ? label_b : label_a, a < 0 ? label_a : label_b);
  return to;
}

// Moves along the direction while the objective decreases, crossing kinks and merging groups.
// Returns true if it did either: then a new direction is needed.
bool ActiveSet::walk() {
  image_.noalias() = hessian_ * direction_;
  bool changed = false;
  while (true) {
    const double slope = -pull_.dot(direction_), curvature = direction_.dot(image_);
    if (!(slope < 0 && curvature > 0)) break;
    const auto [time, z] = next_kink(-slope / curvature);
    value_ += time * direction_;
    pull_ -= time * image_;
    if (z == kNoKink) break;
    changed = true;
    const double beyond = slope + time * curvature + 2 * p_.kinks[z].weight * std::fabs(rate(z));
    if (beyond < 0 && !(p_.nonnegative && p_.kinks[z].l < 0)) {
      cross(z);
    } else {
      merge_at(z);
      if (factor_.full()) break;
    }
  }
  for (std::size_t k = 0; k < group_.size(); ++k)
    if (group_[k] >= 0) u_[k] = value_[group_[k]];
  if (p_.nonnegative) u_ = u_.cwiseMax(0.0);
  return changed;
}

double ActiveSet::rate(int z) const {
  return at(direction_, group(p_.kinks[z].k)) - at(direction_, group(p_.kinks[z].l));
}

// The first kink along the direction and the time at which it is reached, or `end` if there is
// none. A kink lies ahead if the direction reduces the difference between its two sides.
std::pair<double, int> ActiveSet::next_kink(double end) const {
  std::pair<double, int> first(end, kNoKink);
  for (int z = 0; z < static_cast<int>(sign_.size()); ++z) {
    const int a = group(p_.kinks[z].k), b = group(p_.kinks[z].l);
    if (cluster(a) == cluster(b)) continue;
    const double approach = -sign_[z] * rate(z);
    if (!(approach > 0)) continue;
    const double distance = std::fmax(0.0, sign_[z] * (at(value_, a) - at(value_, b)));
    if (distance < approach * first.first) first = {distance / approach, z};
  }
  return first;
}

void ActiveSet::cross(int z) {
  const int a = group(p_.kinks[z].k), b = group(p_.kinks[z].l);
  const double change = 2 * sign_[z] * p_.kinks[z].weight;
  if (a >= 0) pull_[a] += change;
  if (b >= 0) pull_[b] -= change;
  sign_[z] = -sign_[z];
}

// The groups on both sides of the kink become one cluster, which continues in their mean
// direction, or stays where it is if it is at zero.
void ActiveSet::merge_at(int z) {
  const int to = join(p_.kinks[z]);
  const double value = to < 0 ? 0.0 : value_[to];
  double weight = 0, momentum = 0;
  for (int g = 0; g < groups_; ++g) {
    if (cluster_[g] != to) continue;
    weight += hessian_(g, g);
    momentum += hessian_(g, g) * direction_[g];
  }
  const double direction = to < 0 ? 0.0 : momentum / weight;
  for (int g = 0; g < groups_; ++g) {
    if (cluster_[g] != to) continue;
    value_[g] = value;
    if (direction_[g] != direction) image_ += (direction - direction_[g]) * hessian_.col(g);
    direction_[g] = direction;
  }
}

// All values are optimal for the present groups: releases the regions at zero that gain most
// from it.
bool ActiveSet::release_from_zero() {
  VectorXd force = p_.force(u_);
  const VectorXd scale =
      p_.gradient.cwiseAbs() + p_.hessian.cwiseAbs() * (u_ - p_.start).cwiseAbs();
  VectorXd hold = VectorXd::Zero(u_.size());  // kinks at zero resist in both directions
  for (const Kink& z : p_.kinks) {
    add_kink(z.k, z.l, z.weight, force, hold);
    if (z.l >= 0) add_kink(z.l, z.k, z.weight, force, hold);
  }
  VectorXd excess = VectorXd::Zero(u_.size());
  for (int k = 0; k < u_.size(); ++k) {
    if (label_[k] >= 0) continue;
    const double left = (p_.nonnegative ? force[k] : std::fabs(force[k])) - hold[k];
    if (left > 1e-12 * (scale[k] + hold[k])) excess[k] = left;
  }
  const double most = excess.size() > 0 ? excess.maxCoeff() : 0.0;
  if (!(most > 0)) return false;
  // Regions that are released together can all return to zero; a single one always moves.
  const bool useful = released_.empty() || std::any_of(released_.begin(), released_.end(),
                                                       [&](int k) { return label_[k] >= 0; });
  released_.clear();
  for (int k = 0; k < u_.size(); ++k) {
    if (excess[k] < (useful ? kReleased : 1.0) * most) continue;
    released_.push_back(k);
    label_[k] = labels_++;
    u_[k] = 0;
    set_order(k, force[k] > 0 ? 1 : -1);
  }
  return true;
}

void ActiveSet::add_kink(int k, int l, double weight, VectorXd& force, VectorXd& hold) const {
  if (label_[k] >= 0) return;
  const double other = l < 0 ? 0.0 : u_[l];
  if (other == 0)
    hold[k] += weight;
  else
    force[k] += other > 0 ? weight : -weight;
}

void ActiveSet::set_order(int region, int sign) {
  for (std::size_t z = 0; z < sign_.size(); ++z) {
    const Kink& kink = p_.kinks[z];
    if (kink.k != region && kink.l != region) continue;
    const int partner = kink.k == region ? kink.l : kink.k;
    const double other = partner < 0 ? 0.0 : u_[partner];
    const int above = other == 0 ? sign : other > 0 ? -1 : 1;
    sign_[z] = kink.k == region ? above : -above;
  }
}

ContractedSolution ActiveSet::solution() {
  for (std::size_t k = 0; k < label_.size(); ++k) {
    if (label_[k] >= 0 && u_[k] != 0) continue;
    label_[k] = kZero;
    u_[k] = 0;
  }
  count_groups();
  return {u_, group_, groups_, p_.decrease(u_)};
}

}  // namespace n2gfl
