// The largest ratio of sum_S g to the penalty of S over all sets S of nodes, for graphs that are
// too large for brute force: Dinkelbach's method with a textbook maximum flow (Dinic), which
// shares no code with the core. Every ratio is computed from the set itself, so that rounding of
// the flow can only make the answer too small.
#pragma once

#include "graph/graph.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <vector>

namespace fuzz {

using Long = long double;
using LongVector = Eigen::Matrix<Long, Eigen::Dynamic, 1>;

// Maximum flow from the last but one node to the last one.
class Dinic {
 public:
  explicit Dinic(int nodes) : first_(nodes, -1), source_(nodes - 2), sink_(nodes - 1) {}

  void add(int from, int to, Long there, Long back) {
    add_arc(from, to, there);
    add_arc(to, from, back);
    largest_ = std::max({largest_, there, back});
  }
  void add_supply(int node, Long amount) { add(source_, node, amount, 0); }
  void add_demand(int node, Long amount) { add(node, sink_, amount, 0); }

  // Returns which nodes are on the source's side of the minimum cut.
  std::vector<char> cut() {
    while (find_levels()) {
      next_ = first_;
      while (augment()) {}
    }
    std::vector<char> side(first_.size());
    for (std::size_t i = 0; i < side.size(); ++i) side[i] = level_[i] >= 0;
    return side;
  }

 private:
  struct Arc {
    int head, next;
    Long room;
  };

  bool has_room(const Arc& arc) const { return arc.room > 1e-17L * largest_; }

  void add_arc(int from, int to, Long room) {
    arcs_.push_back({to, first_[from], room});
    first_[from] = static_cast<int>(arcs_.size()) - 1;
  }

  bool find_levels() {
    level_.assign(first_.size(), -1);
    level_[source_] = 0;
    std::vector<int> queue(1, source_);
    for (std::size_t h = 0; h < queue.size(); ++h)
      for (int a = first_[queue[h]]; a >= 0; a = arcs_[a].next) {
        const int j = arcs_[a].head;
        if (level_[j] >= 0 || !has_room(arcs_[a])) continue;
        level_[j] = level_[queue[h]] + 1;
        queue.push_back(j);
      }
    return level_[sink_] >= 0;
  }

  // Sends flow along one path to the sink; without recursion, because paths may be long.
  bool augment() {
    std::vector<int> path;
    int i = source_;
    while (i != sink_) {
      int& a = next_[i];
      while (a >= 0 && !(has_room(arcs_[a]) && level_[arcs_[a].head] == level_[i] + 1))
        a = arcs_[a].next;
      if (a >= 0) {
        path.push_back(a);
        i = arcs_[a].head;
        continue;
      }
      if (path.empty()) return false;
      i = arcs_[path.back() ^ 1].head;  // a dead end: one step back
      next_[i] = arcs_[next_[i]].next;
      path.pop_back();
    }
    Long amount = arcs_[path[0]].room;
    for (int a : path) amount = std::min(amount, arcs_[a].room);
    for (int a : path) {
      arcs_[a].room -= amount;
      arcs_[a ^ 1].room += amount;
    }
    return true;
  }

  std::vector<int> first_, next_, level_;
  std::vector<Arc> arcs_;
  int source_, sink_;
  Long largest_ = 0;
};

// The ratio of one set; 0 if the set has no penalty.
inline Long ratio_of(const n2gfl::Graph& graph, const LongVector& g, const LongVector& thresholds,
                     Long lambda2, const std::vector<char>& side) {
  Long sum = 0, charge = 0;
  for (int i = 0; i < graph.nodes(); ++i) {
    if (!side[i]) continue;
    sum += g[i];
    charge += thresholds[i];
    for (int a = graph.begin(i); a < graph.end(i); ++a)
      if (!side[graph.head(a)]) charge += lambda2 * graph.weight(a);
  }
  return charge > 0 ? sum / charge : 0;
}

// At least 1, from which on a ratio matters.
inline Long ratio_by_cuts(const n2gfl::Graph& graph, const LongVector& g,
                          const LongVector& thresholds, Long lambda2) {
  const int n = graph.nodes();
  const Long most = 2 * g.cwiseAbs().sum();  // no node sends more than all gradients together
  Long ratio = 1;
  for (int step = 0; step < 30; ++step) {
    Dinic flow(n + 2);
    for (int i = 0; i < n; ++i) {
      const Long rest = g[i] - std::min(ratio * thresholds[i], most);
      if (rest > 0) flow.add_supply(i, rest);
      if (rest < 0) flow.add_demand(i, -rest);
      for (int a = graph.begin(i); a < graph.end(i); ++a)
        if (i < graph.head(a))
          flow.add(i, graph.head(a), ratio * lambda2 * graph.weight(a),
                   ratio * lambda2 * graph.weight(a));
    }
    const Long next = ratio_of(graph, g, thresholds, lambda2, flow.cut());
    if (!(next > ratio * (1 + 1e-15L))) break;
    ratio = next;
  }
  return ratio;
}

}  // namespace fuzz
