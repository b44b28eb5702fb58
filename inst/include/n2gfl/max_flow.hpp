// Maximum flow on a graph with symmetric capacities. The flow lives in a Network and is kept
// between searches, so a search that starts near the answer costs what changed.
//
// A search sends as much as it can from nodes with a surplus to nodes with a deficit. It grows one
// breadth-first forest with distance labels from the seeds only and looks at a node's excess when it
// first touches it: the cost is local. The nodes that the forest holds at the end are the minimum
// cut's side of the seeds.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "graph.hpp"
#include "poll.hpp"

namespace n2gfl {

struct Arc {
  double flow;      // antisymmetric: the opposite arc carries -flow
  double capacity;  // the same in both directions
  int head;
  int reverse;
};

class Network {
 public:
  Network() = default;

  explicit Network(const Graph& graph) : first_(graph.nodes() + 1), outflow_(graph.nodes(), 0.0) {
    arcs_.resize(graph.arcs());
    for (int i = 0; i < graph.nodes(); ++i) {
      first_[i + 1] = graph.end(i);
      for (int a = graph.begin(i); a < graph.end(i); ++a)
        arcs_[a] = {0.0, graph.weight(a), graph.head(a), graph.reverse(a)};
    }
  }

  int nodes() const { return static_cast<int>(outflow_.size()); }
  int begin(int node) const { return first_[node]; }
  int end(int node) const { return first_[node + 1]; }
  const Arc& arc(int a) const { return arcs_[a]; }
  int tail(int a) const { return arcs_[arcs_[a].reverse].head; }
  double outflow(int node) const { return outflow_[node]; }  // net flow that leaves the node

  // Capacities become factor * capacity. A feasible flow stays feasible when it is scaled too.
  void scale(double factor) {
    for (Arc& u : arcs_) {
      u.capacity *= factor;
      u.flow *= factor;
    }
    for (double& v : outflow_) v *= factor;
  }

  // Capacities alone: the caller knows that the flow fits.
  void scale_capacities(double factor) {
    for (Arc& u : arcs_) u.capacity *= factor;
  }

  // New capacities for every arc, the flow clamped to them.
  void set_capacities(const Graph& graph, double factor) {
    for (int a = 0; a < graph.arcs(); ++a) {
      Arc& u = arcs_[a];
      u.capacity = factor * graph.weight(a);
      u.flow = std::fmax(-u.capacity, std::fmin(u.capacity, u.flow));
    }
    refresh_outflow();
  }

  // Sets the flow of one arc and of its opposite; the caller keeps |flow| <= capacity.
  void set_flow(int a, double flow) {
    Arc& u = arcs_[a];
    const double change = flow - u.flow;
    outflow_[arcs_[u.reverse].head] += change;
    outflow_[u.head] -= change;
    set_flow_only(u, flow);
  }

  // The same for a step of an augmenting path, whose inner nodes keep their outflow.
  void set_flow_only(Arc& u, double flow) {
    u.flow = flow;
    arcs_[u.reverse].flow = -flow;
  }

  Arc& arc(int a) { return arcs_[a]; }
  void add_outflow(int node, double amount) { outflow_[node] += amount; }

  // Sums the arcs anew: no drift from many small updates. Returns what rounding may still do to one
  // of the sums.
  double refresh_outflow() {
    double largest = 0;
    for (int i = 0; i < nodes(); ++i) largest = std::fmax(largest, refresh_outflow(i));
    return std::numeric_limits<double>::epsilon() * largest;
  }
  // The same for one node. Returns the largest flow among its arcs.
  double refresh_outflow(int i) {
    double sum = 0, largest = 0;
    for (int a = begin(i); a < end(i); ++a) {
      sum += arcs_[a].flow;
      largest = std::fmax(largest, std::fabs(arcs_[a].flow));
    }
    outflow_[i] = sum;
    return largest;
  }

 private:
  std::vector<int> first_;
  std::vector<Arc> arcs_;
  std::vector<double> outflow_;
};

// Which nodes the search grows from: those with a surplus, or (mirrored) those with a deficit.
enum class Grow : int { from_surplus = 1, from_deficit = -1 };

class MaxFlow {
 public:
  MaxFlow(Network& network, Poll& poll)
      : net_(&network), poll_(&poll), node_(network.nodes()) {}

  // Problem: double excess(int node), asked once per touched node, and bool open(int i, int j): may
  // flow cross between neighbours i and j? An excess within the tolerance counts as none.
  template <class Problem>
  void run(Problem& problem, const std::vector<int>& seeds, Grow grow, double tolerance) {
    start(grow, tolerance);
    for (int i : seeds) plant(problem, i);
    while (roots_ > 0 && !front_.empty()) {
      for (std::size_t h = 0; h < front_.size() && roots_ > 0; ++h) scan(problem, front_[h]);
      front_.swap(next_);
      next_.clear();
      ++level_;
    }
    if (roots_ == 0) forget_forest();
  }

  // Nodes that the last search looked at; all others are beyond its reach.
  const std::vector<int>& touched() const { return touched_; }
  bool is_touched(int i) const { return node_[i].stamp == run_; }
  // On the seeds' side of the minimum cut: what the seeds could not get rid of is stuck here.
  bool reached(int i) const { return is_touched(i) && node_[i].role == kTree; }
  double excess(int i) const { return node_[i].excess; }  // what is left, for touched nodes

 private:
  static constexpr int kNone = -1, kRoot = -2, kOrphan = -3;
  enum Role : std::int8_t { kFree, kTree, kTarget };

  // One record a node, so that a look at a neighbour costs one line of cache.
  struct Node {
    double excess = 0;
    int stamp = 0;  // of the search that last touched it; older records mean nothing
    int label = 0;
    int parent = kNone;  // arc to the parent
    Role role = kFree;
    bool queued = false;
  };

  void start(Grow grow, double tolerance) {
    if (++run_ == std::numeric_limits<int>::max()) {
      for (Node& node : node_) node.stamp = 0;
      run_ = 1;
    }
    sign_ = static_cast<int>(grow);
    tolerance_ = tolerance;
    roots_ = 0;
    level_ = 1;
    touched_.clear();
    front_.clear();
    next_.clear();
  }

  template <class Problem>
  void touch(Problem& problem, int i) {
    if (node_[i].stamp == run_) return;
    touched_.push_back(i);
    const double excess = problem.excess(i);
    const Role role = sign_ * excess < -tolerance_ ? kTarget : kFree;
    node_[i] = {excess, run_, 0, kNone, role, false};
  }

  template <class Problem>
  void plant(Problem& problem, int i) {
    touch(problem, i);
    if (node_[i].role == kTree || !(sign_ * node_[i].excess > tolerance_)) return;
    node_[i].role = kTree;
    node_[i].parent = kRoot;
    node_[i].label = 1;
    ++roots_;
    activate(i);
  }

  void activate(int i) {
    if (node_[i].queued) return;
    node_[i].queued = true;
    (node_[i].label <= level_ ? front_ : next_).push_back(i);
  }

  // Residual capacity along the arc, away from the roots, and back towards them.
  double away(const Arc& u) const { return u.capacity - sign_ * u.flow; }
  double back(const Arc& u) const { return u.capacity + sign_ * u.flow; }

  template <class Problem>
  void scan(Problem& problem, int i) {
    (*poll_)();
    node_[i].queued = false;
    if (node_[i].role != kTree) return;
    if (node_[i].label > level_) return activate(i);
    const int label = node_[i].label;
    for (int a = net_->begin(i); a < net_->end(i);) {
      const Arc& u = net_->arc(a);
      const int j = u.head;
      if (away(u) <= 0 || !problem.open(i, j)) {
        ++a;
        continue;
      }
      touch(problem, j);
      if (node_[j].role == kTarget) {
        augment(i, a);
        if (roots_ == 0) return;
        adopt(problem);
        if (node_[i].role != kTree) return;
        if (node_[i].label != label) return activate(i);
        continue;  // the same arc again: it may carry more, or its head may be free now
      }
      if (node_[j].role == kFree) {
        node_[j].role = kTree;
        node_[j].parent = u.reverse;
        node_[j].label = label + 1;
        activate(j);
      }
      ++a;
    }
  }

  double bottleneck(int i, int last) const {
    const Arc& u = net_->arc(last);
    double amount = std::fmin(away(u), -sign_ * node_[u.head].excess);
    for (; node_[i].parent != kRoot; i = net_->arc(node_[i].parent).head)
      amount = std::fmin(amount, back(net_->arc(node_[i].parent)));
    return std::fmin(amount, sign_ * node_[i].excess);
  }

  // Sends flow from the root of i to the target at the head of arc `last`. What becomes full or empty
  // is set exactly so: no later test depends on a difference that rounds to almost zero.
  void augment(int i, int last) {
    const double amount = bottleneck(i, last);
    Arc& u = net_->arc(last);
    const int target = u.head;
    net_->set_flow_only(u, away(u) <= amount ? sign_ * u.capacity : u.flow + sign_ * amount);
    for (; node_[i].parent != kRoot;) {
      Arc& up = net_->arc(node_[i].parent);
      const int next = up.head;
      if (back(up) <= amount) {
        net_->set_flow_only(up, -sign_ * up.capacity);
        cut_off(i);
      } else {
        net_->set_flow_only(up, up.flow - sign_ * amount);
      }
      i = next;
    }
    settle(i, -amount);
    settle(target, amount);
  }

  // The root gives (amount < 0), the target takes.
  void settle(int i, double amount) {
    const bool root = node_[i].role == kTree;
    net_->add_outflow(i, -sign_ * amount);
    node_[i].excess += sign_ * amount;
    const double left = root ? sign_ * node_[i].excess : -sign_ * node_[i].excess;
    if (left > tolerance_) return;
    if (root) {
      --roots_;
      cut_off(i);
    } else {
      node_[i].role = kFree;
    }
  }

  void cut_off(int i) {
    node_[i].parent = kOrphan;
    if (static_cast<int>(orphans_.size()) <= node_[i].label) orphans_.resize(node_[i].label + 64);
    orphans_[node_[i].label].push_back(i);
    lowest_orphan_ = std::min(lowest_orphan_, node_[i].label);
    highest_orphan_ = std::max(highest_orphan_, node_[i].label);
  }

  // Orphans by rising label: one that is dealt with makes orphans of larger labels only.
  template <class Problem>
  void adopt(Problem& problem) {
    for (int label = lowest_orphan_; label <= highest_orphan_; ++label) {
      for (std::size_t h = 0; h < orphans_[label].size(); ++h) {
        const int i = orphans_[label][h];
        if (node_[i].parent == kOrphan && node_[i].label == label) adopt_one(problem, i);
      }
      orphans_[label].clear();
    }
    no_orphans();
  }

  void no_orphans() {
    lowest_orphan_ = std::numeric_limits<int>::max();
    highest_orphan_ = 0;
  }

  // An adopted node needs no new scan: whatever lies beyond it is in the forest already, waits in the
  // queue, or asks for a scan when it leaves.
  template <class Problem>
  void adopt_one(Problem& problem, int i) {
    (*poll_)();
    const int arc = best_parent(problem, i);
    const int label = arc == kNone ? 0 : node_[net_->arc(arc).head].label + 1;
    if (arc == kNone || label > node_[i].label) orphan_children(i);
    if (arc != kNone && label <= level_ + 1) {
      node_[i].parent = arc;
      node_[i].label = label;
    } else {
      leave_forest(problem, i);
    }
  }

  template <class Problem>
  int best_parent(Problem& problem, int i) const {
    int best = kNone, best_label = std::numeric_limits<int>::max();
    for (int a = net_->begin(i); a < net_->end(i); ++a) {
      const Arc& u = net_->arc(a);
      const int j = u.head;
      if (!reached(j) || node_[j].parent == kOrphan || back(u) <= 0) continue;
      if (node_[j].label >= best_label) continue;
      if (is_child(j, i) || !problem.open(i, j)) continue;
      best = a;
      best_label = node_[j].label;
      if (best_label == node_[i].label - 1) break;
    }
    return best;
  }

  bool is_child(int j, int i) const {
    return node_[j].parent >= 0 && net_->arc(node_[j].parent).head == i;
  }

  void orphan_children(int i) {
    for (int a = net_->begin(i); a < net_->end(i); ++a) {
      const int j = net_->arc(a).head;
      if (reached(j) && is_child(j, i)) cut_off(j);
    }
  }

  // Neighbours that could reach the node must look at it again.
  template <class Problem>
  void leave_forest(Problem& problem, int i) {
    node_[i].role = kFree;
    node_[i].parent = kNone;
    node_[i].label = 0;
    for (int a = net_->begin(i); a < net_->end(i); ++a) {
      const Arc& u = net_->arc(a);
      const int j = u.head;
      if (reached(j) && back(u) > 0 && problem.open(i, j)) activate(j);
    }
  }

  // Every seed got rid of its surplus: nothing is on the seeds' side of the cut.
  void forget_forest() {
    for (int label = lowest_orphan_; label <= highest_orphan_; ++label) orphans_[label].clear();
    no_orphans();
    for (int i : touched_)
      if (node_[i].role == kTree) node_[i].role = kFree;
  }

  Network* net_;
  Poll* poll_;
  int run_ = 0, sign_ = 1, roots_ = 0, level_ = 1;
  int lowest_orphan_ = std::numeric_limits<int>::max(), highest_orphan_ = 0;
  double tolerance_ = 0;
  std::vector<Node> node_;
  std::vector<int> touched_, front_, next_;
  std::vector<std::vector<int>> orphans_;
};

}  // namespace n2gfl
