#include "prox/level_sets.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace n2gfl {

LevelAndRounding mean_level(const NodeTerms& terms, const Network& net, const int* nodes, int count) {
  long double sum = 0, mass = 0;  // the sum must be more accurate than one term
  double size = 0, largest_mass = 0;
  for (int k = 0; k < count; ++k) {
    const int i = nodes[k];
    sum += terms.rest(net, i);
    mass += terms.mass[i];
    size = std::fmax(size, std::fabs(terms.linear[i]) + std::fabs(net.outflow(i)));
    largest_mass = std::fmax(largest_mass, terms.mass[i]);
  }
  const double level = static_cast<double>(sum / mass);
  size += largest_mass * std::fabs(level);
  return {level, 8 * std::numeric_limits<double>::epsilon() * size};
}

LevelSets::LevelSets(Network& network, MaxFlow& flow, Poll& poll, const NodeTerms& terms)
    : net_(&network), flow_(&flow), poll_(&poll), terms_(&terms), part_(network.nodes(), kOutside),
      parent_(network.nodes(), kNone), scratch_(network.nodes()) {}

void LevelSets::resolve(const std::vector<int>& nodes, Eigen::VectorXd& b) {
  resolve(nodes.data(), nodes.data() + nodes.size(), b);
}

void LevelSets::resolve(const int* begin, const int* end, Eigen::VectorXd& b) {
  nodes_.assign(begin, end);
  waiting_.clear();
  parts_ = 1;
  for (int i : nodes_) part_[i] = 0;
  split_by_connection(0, static_cast<int>(nodes_.size()), 0);
  while (!waiting_.empty()) {
    const Part part = waiting_.back();
    waiting_.pop_back();
    cut(part, b);
  }
}

void LevelSets::finish(const Part& part, double level, Eigen::VectorXd& b) {
  for (int k = part.begin; k < part.end; ++k) {
    b[nodes_[k]] = level;
    part_[nodes_[k]] = kOutside;
  }
}

void LevelSets::cut(const Part& part, Eigen::VectorXd& b) {
  poll_->now();
  const auto [level, tolerance] =
      mean_level(*terms_, *net_, &nodes_[part.begin], part.size());
  if (part.size() == 1) return finish(part, level, b);
  if (part.tree) drain(part, level);
  LevelCut problem{this, level, part.label};
  const Grow grow = seed(problem, part, tolerance);
  flow_->run(problem, seeds_, grow, tolerance);
  if (stuck(part) <= tolerance * part.size()) return finish(part, level, b);
  split_by_cut(part);
}

// In a tree, sending everything towards the root as far as capacities allow is a maximum flow,
// because an excess below a saturated edge has no other path. The search then only finds the
// cut. Long chains need this: augmenting paths there would be as long as the chain.
void LevelSets::drain(const Part& part, double level) {
  for (int k = part.end - 1; k > part.begin; --k) {
    (*poll_)();
    const int i = nodes_[k];
    Arc& up = net_->arc(parent_[i]);
    const double excess = terms_->excess(*net_, i, level);
    if (excess == 0) continue;
    const double room = excess > 0 ? up.capacity - up.flow : up.capacity + up.flow;
    const bool fits = std::fabs(excess) < room;
    const double sent = fits ? excess : std::copysign(room, excess);
    net_->set_flow_only(up, fits ? up.flow + sent : std::copysign(up.capacity, excess));
    net_->add_outflow(i, sent);
    net_->add_outflow(up.head, -sent);
    // After a large inflow from below, the rounding error of the excess must not count as a
    // surplus.
    if (fits) net_->add_outflow(i, terms_->excess(*net_, i, level));
  }
}

// Takes the side with fewer nodes as seeds.
Grow LevelSets::seed(const LevelCut& problem, const Part& part, double tolerance) {
  int above = 0, below = 0;
  for (int k = part.begin; k < part.end; ++k) {
    const double excess = problem.excess(nodes_[k]);
    above += excess > tolerance;
    below += excess < -tolerance;
  }
  const Grow grow = above <= below ? Grow::from_surplus : Grow::from_deficit;
  const int sign = static_cast<int>(grow);
  seeds_.clear();
  for (int k = part.begin; k < part.end; ++k)
    if (sign * problem.excess(nodes_[k]) > tolerance) seeds_.push_back(nodes_[k]);
  return grow;
}

// The excess that could not be removed. A small rest from rounding does not split a part.
double LevelSets::stuck(const Part& part) const {
  double sum = 0;
  int reached = 0;
  for (int i : flow_->touched()) {
    if (!flow_->reached(i)) continue;
    ++reached;
    sum += flow_->excess(i);
  }
  return reached == part.size() ? 0 : std::fabs(sum);
}

void LevelSets::split_by_cut(const Part& part) {
  const auto begin = nodes_.begin() + part.begin, end = nodes_.begin() + part.end;
  const auto middle = std::partition(begin, end, [this](int i) { return flow_->reached(i); });
  const int near = parts_++, far = parts_++;
  for (auto it = begin; it != end; ++it) part_[*it] = it < middle ? near : far;
  const int at = static_cast<int>(middle - nodes_.begin());
  split_by_connection(part.begin, at, near);
  split_by_connection(at, part.end, far);
}

// Sorts nodes_[begin, end), all marked `label`, by connected parts and pushes the parts on the
// stack.
void LevelSets::split_by_connection(int begin, int end, int label) {
  int filled = begin;
  for (int k = begin; k < end; ++k) {
    if (part_[nodes_[k]] != label) continue;
    waiting_.push_back(collect(nodes_[k], label, filled));
    filled = waiting_.back().end;
  }
  std::copy(scratch_.begin() + begin, scratch_.begin() + end, nodes_.begin() + begin);
}

// The part that contains `start`, breadth first, written to scratch_ from position `begin`.
LevelSets::Part LevelSets::collect(int start, int label, int begin) {
  Part part{begin, begin, parts_++, false};
  auto add = [&](int i, int parent) {
    part_[i] = part.label;
    parent_[i] = parent;
    scratch_[part.end++] = i;
  };
  add(start, kNone);
  int arcs = 0;
  for (int head = begin; head < part.end; ++head) {
    (*poll_)();
    const int i = scratch_[head];
    for (int a = net_->begin(i); a < net_->end(i); ++a) {
      const Arc& u = net_->arc(a);
      if (u.capacity <= 0) continue;
      if (part_[u.head] == label) add(u.head, u.reverse);
      arcs += part_[u.head] == part.label;
    }
  }
  part.tree = arcs == 2 * (part.size() - 1);
  return part;
}

}  // namespace n2gfl
