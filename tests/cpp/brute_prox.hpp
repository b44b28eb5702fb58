// The prox of small problems by brute force over all sets of nodes, in long double, without code
// of the core. Two nested level sets lower < upper have equal cost at some level t, where cost(S)
// = theta cut(S) - sum_S (m_i (z_i - t) - a_i). If no set between them is cheaper, all nodes
// between them have the value t; otherwise the cheapest one is a level set itself.
#pragma once

#include "graph/graph.hpp"
#include "sign.hpp"

#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <vector>

namespace testing {

struct ProxProblem {
  int n = 0;
  std::vector<n2gfl::Edge> edges;
  Eigen::VectorXd z, masses, thresholds;
  double theta = 1;
  n2gfl::Sign sign = n2gfl::Sign::free;
};

class BruteProx {
 public:
  static constexpr std::size_t kMostNodes = 8;

  // The problem on a subset of the nodes that no edge joins to the others.
  BruteProx(const ProxProblem& p, const std::vector<int>& nodes)
      : sign_(p.sign), cut_(std::size_t{1} << nodes.size(), 0), answer_(nodes.size(), 0) {
    for (int i : nodes) nodes_.push_back({p.z[i], p.masses[i], p.thresholds[i]});
    std::vector<int> place(p.n, -1);
    for (std::size_t k = 0; k < nodes.size(); ++k) place[nodes[k]] = static_cast<int>(k);
    for (const n2gfl::Edge& e : p.edges) {
      if (place[e.from] < 0 || place[e.to] < 0) continue;  // an edge of weight zero
      const Long capacity = static_cast<Long>(p.theta) * e.weight;
      for (Set s = 0; s < cut_.size(); ++s)
        if ((s >> place[e.from] & 1) != (s >> place[e.to] & 1)) cut_[s] += capacity;
    }
  }

  std::vector<long double> solve() {
    if (sign_ != n2gfl::Sign::nonpositive) solve_side(+1);
    if (sign_ != n2gfl::Sign::nonnegative) solve_side(-1);
    return answer_;
  }

 private:
  using Long = long double;
  using Set = unsigned;

  struct Node {
    Long z, mass, threshold;
  };

  static constexpr Long kRounding = 1e-18L;

  // The values above zero, or below zero with everything mirrored (side = -1).
  void solve_side(int side) {
    side_ = side;
    Set allowed = 0;
    for (std::size_t k = 0; k < nodes_.size(); ++k)
      if (!std::isinf(nodes_[k].threshold)) allowed |= Set{1} << k;
    split(0, cheapest(0, allowed, 0));
  }

  void split(Set lower, Set upper) {
    const Set between = upper & ~lower;
    if (between == 0) return;
    const Long level = (pull(between) - (cut_[upper] - cut_[lower])) / mass(between);
    const Set middle = cheapest(lower, upper, level);
    if (middle != lower && middle != upper) {
      split(lower, middle);
      split(middle, upper);
      return;
    }
    for (std::size_t k = 0; k < nodes_.size(); ++k)
      if (between >> k & 1) answer_[k] = side_ * std::fmax(level, 0.0L);
  }

  // The cheapest set between the two; `lower` if no set is cheaper by more than rounding.
  Set cheapest(Set lower, Set upper, Long level) const {
    Set best = lower;
    Long least = cost(lower, level) - kRounding * size(lower, upper, level);
    for (Set s = 0; s < cut_.size(); ++s) {
      const bool inside = (s & lower) == lower && (s & ~upper) == 0;
      if (!inside || cost(s, level) >= least) continue;
      best = s;
      least = cost(s, level);
    }
    return best;
  }

  Long cost(Set s, Long level) const { return cut_[s] - (pull(s) - mass(s) * level); }

  Long pull(Set s) const {
    Long sum = 0;
    for (std::size_t k = 0; k < nodes_.size(); ++k)
      if (s >> k & 1) sum += nodes_[k].mass * side_ * nodes_[k].z - nodes_[k].threshold;
    return sum;
  }

  Long mass(Set s) const {
    Long sum = 0;
    for (std::size_t k = 0; k < nodes_.size(); ++k)
      if (s >> k & 1) sum += nodes_[k].mass;
    return sum;
  }

  // The size of the terms that the costs are sums of.
  Long size(Set lower, Set upper, Long level) const {
    Long sum = cut_[lower] + cut_[upper] + mass(upper) * std::fabs(level);
    for (std::size_t k = 0; k < nodes_.size(); ++k)
      if (upper >> k & 1) sum += nodes_[k].mass * std::fabs(nodes_[k].z) + nodes_[k].threshold;
    return sum;
  }

  n2gfl::Sign sign_;
  int side_ = 1;
  std::vector<Node> nodes_;
  std::vector<Long> cut_;  // cut value of each set of nodes
  std::vector<Long> answer_;
};

}  // namespace testing
