// The fit with its regions held together, one unknown per region:
//
//   min_u  1/2 s'Hs - g's + sum over kinks of weight * |u_k - u_l|,   s = u - start,  u >= 0 if asked,
//
// where u_l is another region or the constant zero. A primal active-set method: tied regions form
// groups, the groups' values walk towards their joint minimum, and where the walk meets a kink that
// stops the descent, two groups merge. Splitting a group is not its business: the flow on the graph
// decides that.
#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "loss.hpp"
#include "poll.hpp"

namespace n2gfl {

struct Kink {
  int k;
  int l;  // kZero: the constant zero
  double weight;
};

struct ContractedProblem {
  static constexpr int kZero = -1;
  MatrixXd hessian;
  VectorXd gradient;  // downhill, at the start
  VectorXd start;
  std::vector<Kink> kinks;
  bool nonnegative;
  std::vector<int> tie;  // which of two equal regions is meant to be larger: +1, 0, -1

  // How far the objective falls from the start to u, summed from differences: exact to rounding
  // of the step, not of the objective.
  double decrease(const VectorXd& u) const {
    const VectorXd step = u - start;
    double fall = gradient.dot(step) - 0.5 * step.dot(hessian * step);
    for (const Kink& z : kinks) fall -= z.weight * rise(z, u, step);
    return fall;
  }

  // |u_k - u_l| minus its value at the start. Where the order stays, the steps tell it to more digits.
  double rise(const Kink& z, const VectorXd& u, const VectorXd& step) const {
    const double before = signed_height(z, start), after = signed_height(z, u);
    if (before * after <= 0) return std::fabs(after) - std::fabs(before);
    return before > 0 ? signed_height(z, step) : -signed_height(z, step);
  }

  static double signed_height(const Kink& z, const VectorXd& u) {
    return u[z.k] - (z.l < 0 ? 0.0 : u[z.l]);
  }

  // The downhill gradient of the quadratic at u.
  VectorXd force(const VectorXd& u) const { return gradient - hessian * (u - start); }

  static double height(const Kink& z, const VectorXd& u) {
    return std::fabs(signed_height(z, u));
  }
};

struct ContractedSolution {
  VectorXd value;           // one per region
  std::vector<int> group;   // regions of one group are equal; kZero: zero
  int groups = 0;
  double decrease = 0;      // of the objective, from the start
};

class ActiveSet {
 public:
  ActiveSet(const ContractedProblem& problem, Poll& poll)
      : p_(problem), poll_(poll), u_(problem.start), label_(u_.size()),
        sign_(problem.kinks.size()) {
    std::iota(label_.begin(), label_.end(), 0);
    labels_ = static_cast<int>(u_.size());
    for (std::size_t z = 0; z < sign_.size(); ++z) sign_[z] = order(p_.kinks[z]);
  }

  ContractedSolution solve() {
    const int regions = static_cast<int>(u_.size());
    int releases = 0;
    for (int it = 0; it < 4 * regions + 50; ++it) {
      poll_.now();
      number_groups();
      find_direction();
      if (merge_blocked()) continue;
      const int stop = walk();
      if (stop >= 0) {
        merge_at(stop);
      } else if (!flipped_ && (releases++ >= regions || !release_from_zero())) {
        break;
      }
    }
    return solution();
  }

 private:
  static constexpr int kZero = ContractedProblem::kZero;
  static constexpr int kNoKink = -1;

  double at(const VectorXd& v, int group) const { return group < 0 ? 0.0 : v[group]; }
  int group(int region) const { return region < 0 ? kZero : group_[region]; }

  int order(const Kink& z) const {
    if (z.l < 0 && p_.nonnegative) return 1;
    const double difference = u_[z.k] - (z.l < 0 ? 0.0 : u_[z.l]);
    if (difference != 0) return difference > 0 ? 1 : -1;
    const int tie = p_.tie[z.k] - (z.l < 0 ? 0 : p_.tie[z.l]);
    return tie >= 0 ? 1 : -1;
  }

  void number_groups() {
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

  // From the groups' values to the minimum of the quadratic that holds while no kink is crossed.
  // Solved for the step, not for the values: close to the end the step is what has digits left.
  void find_direction() {
    value_.setZero(groups_);
    VectorXd right = VectorXd::Zero(groups_);
    const VectorXd force = p_.force(u_);
    for (std::size_t k = 0; k < group_.size(); ++k) {
      if (group_[k] < 0) continue;
      value_[group_[k]] = u_[k];
      right[group_[k]] += force[k];
    }
    for (std::size_t z = 0; z < sign_.size(); ++z) {
      const int a = group(p_.kinks[z].k), b = group(p_.kinks[z].l);
      if (a == b) continue;
      const double pull = sign_[z] * p_.kinks[z].weight;
      if (a >= 0) right[a] -= pull;
      if (b >= 0) right[b] += pull;
    }
    contract_hessian();
    direction_ = solve_spd(right);
  }

  void contract_hessian() {
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

  VectorXd solve_spd(const VectorXd& right) const {
    if (groups_ == 0) return right;
    Eigen::LLT<MatrixXd> factor(hessian_);
    MatrixXd ridged;
    for (double ridge = 1e-10; factor.info() != Eigen::Success && ridge < 1; ridge *= 100) {
      ridged = hessian_;
      ridged.diagonal().array() += ridge * hessian_.diagonal().maxCoeff() + 1e-300;
      factor.compute(ridged);
    }
    return factor.solve(right);
  }

  // Tied groups whose assumed order the direction contradicts go on together.
  bool merge_blocked() {
    bool merged = false;
    for (std::size_t z = 0; z < sign_.size(); ++z) {
      const Kink& kink = p_.kinks[z];
      const int a = group(kink.k), b = group(kink.l);
      if (a == b || at(value_, a) != at(value_, b)) continue;
      if (sign_[z] * (at(direction_, a) - at(direction_, b)) >= 0) continue;
      merged |= join(kink);
    }
    return merged;
  }

  bool join(const Kink& z) {
    const int a = label_[z.k], b = z.l < 0 ? kZero : label_[z.l];
    if (a == b) return false;
    const int from = a < 0 ? b : a, to = a < 0 ? a : b;  // into zero if one of them is zero
    for (int& label : label_)
      if (label == from) label = to;
    return true;
  }

  // Goes along the direction while the objective falls. Returns the kink that stops it, or kNoKink.
  int walk() {
    find_breakpoints();
    const double curvature = groups_ > 0 ? direction_.dot(hessian_ * direction_) : 0.0;
    double slope = -curvature, t = 0, end = 1;
    int stop = kNoKink;
    flipped_ = false;
    for (const auto& [time, z] : breakpoints_) {
      const double here = slope + (time - t) * curvature;
      if (here >= 0) break;  // `end` lies before this kink
      t = time;
      slope = here + 2 * p_.kinks[z].weight * std::fabs(rate(z));
      if (slope >= 0 || (p_.nonnegative && p_.kinks[z].l < 0)) {
        stop = z;
        end = t;
        break;
      }
      sign_[z] = -sign_[z];
      flipped_ = true;
      end = t - slope / curvature;
    }
    for (std::size_t k = 0; k < group_.size(); ++k)
      if (group_[k] >= 0) u_[k] = value_[group_[k]] + end * direction_[group_[k]];
    if (p_.nonnegative) u_ = u_.cwiseMax(0.0);
    return stop;
  }

  double rate(int z) const {
    return at(direction_, group(p_.kinks[z].k)) - at(direction_, group(p_.kinks[z].l));
  }

  void find_breakpoints() {
    breakpoints_.clear();
    for (std::size_t z = 0; z < sign_.size(); ++z) {
      const int a = group(p_.kinks[z].k), b = group(p_.kinks[z].l);
      if (a == b) continue;
      const double difference = at(value_, a) - at(value_, b), change = rate(static_cast<int>(z));
      if (difference * change < 0 && std::fabs(difference) < std::fabs(change))
        breakpoints_.emplace_back(-difference / change, static_cast<int>(z));
    }
    std::sort(breakpoints_.begin(), breakpoints_.end());
  }

  void merge_at(int z) {
    const Kink& kink = p_.kinks[z];
    const int a = group(kink.k), b = group(kink.l);
    const double value = a < 0 || b < 0 ? 0.0 : u_[kink.k];
    for (std::size_t k = 0; k < group_.size(); ++k)
      if (group_[k] >= 0 && (group_[k] == a || group_[k] == b)) u_[k] = value;
    join(kink);
  }

  // All values are best for this structure: lets the region leave zero that gains most by it.
  bool release_from_zero() {
    VectorXd force = p_.force(u_);
    const VectorXd scale =
        p_.gradient.cwiseAbs() + p_.hessian.cwiseAbs() * (u_ - p_.start).cwiseAbs();
    VectorXd hold = VectorXd::Zero(u_.size());  // kinks at zero resist both ways
    for (const Kink& z : p_.kinks) {
      add_kink(z.k, z.l, z.weight, force, hold);
      if (z.l >= 0) add_kink(z.l, z.k, z.weight, force, hold);
    }
    int best = -1;
    double most = 0;
    for (int k = 0; k < u_.size(); ++k) {
      if (label_[k] >= 0) continue;
      const double excess = (p_.nonnegative ? force[k] : std::fabs(force[k])) - hold[k];
      if (excess <= 1e-12 * (scale[k] + hold[k]) || excess <= most) continue;
      most = excess;
      best = k;
    }
    if (best < 0) return false;
    label_[best] = labels_++;
    u_[best] = 0;
    set_order(best, force[best] > 0 ? 1 : -1);
    return true;
  }

  void add_kink(int k, int l, double weight, VectorXd& force, VectorXd& hold) const {
    if (label_[k] >= 0) return;
    const double other = l < 0 ? 0.0 : u_[l];
    if (other == 0)
      hold[k] += weight;
    else
      force[k] += other > 0 ? weight : -weight;
  }

  void set_order(int region, int way) {
    for (std::size_t z = 0; z < sign_.size(); ++z) {
      const Kink& kink = p_.kinks[z];
      if (kink.k != region && kink.l != region) continue;
      const int partner = kink.k == region ? kink.l : kink.k;
      const double other = partner < 0 ? 0.0 : u_[partner];
      const int above = other == 0 ? way : other > 0 ? -1 : 1;
      sign_[z] = kink.k == region ? above : -above;
    }
  }

  ContractedSolution solution() {
    for (std::size_t k = 0; k < label_.size(); ++k) {
      if (label_[k] >= 0 && u_[k] != 0) continue;
      label_[k] = kZero;
      u_[k] = 0;
    }
    number_groups();
    return {u_, group_, groups_, p_.decrease(u_)};
  }

  const ContractedProblem& p_;
  Poll& poll_;
  VectorXd u_;
  std::vector<int> label_;  // group of a region before numbering; kZero: held at zero
  std::vector<int> sign_;   // of u_k - u_l at every kink, assumed where they tie
  int labels_ = 0;
  std::vector<int> group_;
  int groups_ = 0;
  VectorXd value_, direction_;
  MatrixXd hessian_;
  std::vector<std::pair<double, int>> breakpoints_;
  bool flipped_ = false;
};

}  // namespace n2gfl
