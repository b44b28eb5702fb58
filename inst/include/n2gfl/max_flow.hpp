// Maximum flow on a graph with symmetric capacities. The flow is stored in a Network and kept
// between searches, so a search that starts near the solution costs little.
//
// A search sends as much flow as possible from nodes with a surplus to nodes with a deficit. Every
// node has a label, a lower bound of its distance to a deficit. A node pushes its excess to
// neighbours with smaller labels; if it cannot, its own label is raised (push-relabel). Only nodes
// that the surplus of the seeds passes through are visited, so the cost is local. Surplus that
// cannot reach any deficit stays; the nodes that it can reach form the seeds' side of the minimum
// cut.
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

  explicit Network(const Graph& graph)
      : first_(graph.nodes() + 1), outflow_(graph.nodes(), 0.0), is_marked_(graph.nodes(), 0) {
    for (int i = 0; i < graph.nodes(); ++i) first_[i + 1] = graph.end(i);
    arcs_.resize(graph.arcs());
    // Rows are sorted, so the arcs of j meet their opposite arcs in the order of the nodes.
    std::vector<int> opposite(first_.begin(), first_.end() - 1);
    for (int i = 0; i < graph.nodes(); ++i)
      for (int a = graph.begin(i); a < graph.end(i); ++a)
        arcs_[a] = {0.0, graph.weight(a), graph.head(a), opposite[graph.head(a)]++};
  }

  int nodes() const { return static_cast<int>(outflow_.size()); }
  int arcs() const { return static_cast<int>(arcs_.size()); }
  int begin(int node) const { return first_[node]; }
  int end(int node) const { return first_[node + 1]; }
  const Arc& arc(int a) const { return arcs_[a]; }
  int tail(int a) const { return arcs_[arcs_[a].reverse].head; }
  double outflow(int node) const { return outflow_[node]; }  // net flow out of the node
  const double* outflows() const { return outflow_.data(); }

  // Multiplies capacities and flow by `factor`, which keeps a feasible flow feasible.
  void scale(double factor) {
    for (Arc& u : arcs_) {
      u.capacity *= factor;
      u.flow *= factor;
    }
    for (double& v : outflow_) v *= factor;
    all_marked_ = true;
  }

  // Multiplies the capacities only: the caller knows that the flow stays feasible.
  void scale_capacities(double factor) {
    for (Arc& u : arcs_) u.capacity *= factor;
  }

  // Sets the capacities of all arcs and clamps the flow to them.
  void set_capacities(const Graph& graph, double factor) {
    for (int a = 0; a < graph.arcs(); ++a) {
      Arc& u = arcs_[a];
      u.capacity = factor * graph.weight(a);
      u.flow = std::fmax(-u.capacity, std::fmin(u.capacity, u.flow));
    }
    refresh_outflow();
  }

  // Sets the flow of an arc and of its opposite; the caller ensures |flow| <= capacity.
  void set_flow(int a, double flow) {
    Arc& u = arcs_[a];
    const double change = flow - u.flow;
    const int tail = arcs_[u.reverse].head;
    outflow_[tail] += change;
    outflow_[u.head] -= change;
    mark(tail);
    mark(u.head);
    set_flow_only(u, flow);
  }

  // Removes the flow of all arcs at the given nodes, which must be whole components.
  void clear_flow(const std::vector<int>& nodes) {
    for (int i : nodes) {
      for (int a = begin(i); a < end(i); ++a) arcs_[a].flow = 0;
      outflow_[i] = 0;
      mark(i);
    }
  }

  // The same as set_flow() without updating the outflow of the two nodes.
  void set_flow_only(Arc& u, double flow) {
    u.flow = flow;
    arcs_[u.reverse].flow = -flow;
  }

  Arc& arc(int a) { return arcs_[a]; }
  void add_outflow(int node, double amount) { outflow_[node] += amount; }

  // Notes that the outflow of a node was updated, so that refresh_marked() sums it again.
  void mark(int i) {
    if (is_marked_[i]) return;
    is_marked_[i] = 1;
    marked_.push_back(i);
  }

  // Sums the flows again, to remove the drift of many small updates. Returns a bound of the
  // rounding error of one sum.
  double refresh_outflow() {
    clear_marks();
    largest_ = 0;
    for (int i = 0; i < nodes(); ++i) largest_ = std::fmax(largest_, refresh_outflow(i));
    return std::numeric_limits<double>::epsilon() * largest_;
  }
  // The same for the marked nodes, if only their flows have changed. The bound holds for all nodes:
  // it is that of the largest flow since the last refresh of all.
  double refresh_marked() {
    if (all_marked_) return refresh_outflow();
    for (int i : marked_) largest_ = std::fmax(largest_, refresh_outflow(i));
    clear_marks();
    return std::numeric_limits<double>::epsilon() * largest_;
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
  void clear_marks() {
    for (int i : marked_) is_marked_[i] = 0;
    marked_.clear();
    all_marked_ = false;
  }

  std::vector<int> first_;
  std::vector<Arc> arcs_;
  std::vector<double> outflow_;
  std::vector<char> is_marked_;
  std::vector<int> marked_;
  bool all_marked_ = false;
  double largest_ = 0;  // flow since the last refresh of all nodes
};

// Where the search starts: at nodes with a surplus or (mirrored) at nodes with a deficit.
enum class Grow : int { from_surplus = 1, from_deficit = -1 };

class MaxFlow {
 public:
  MaxFlow(Network& network, Poll& poll)
      : net_(&network), poll_(&poll), node_(network.nodes()) {}

  // Problem has double excess(int node), called once per touched node, and bool open(int i, int
  // j): may flow cross between neighbours i and j? An excess within the tolerance counts as zero.
  // Nodes that have a surplus but are not seeds keep it, and the surplus of the seeds can pass
  // through them.
  template <class Problem>
  void run(Problem& problem, const std::vector<int>& seeds, Grow grow, double tolerance) {
    start(grow, tolerance);
    for (int i : seeds) plant(problem, i);
    while (!active_.empty()) {
      for (int i : active_) {
        if (relabels_ > kRelabelsPerNode * touched_.size() + 100) relabel_all(problem);
        discharge(problem, i);
      }
      active_.swap(waiting_);
      waiting_.clear();
    }
    for (int i : touched_) net_->mark(i);
    find_side_of_seeds(problem);
  }

  // Nodes that the last search visited; it cannot reach any others.
  const std::vector<int>& touched() const { return touched_; }
  bool is_touched(int i) const { return node_[i].stamp == run_; }
  // On the seeds' side of the minimum cut: the remaining surplus of the seeds stays here.
  bool reached(int i) const { return is_touched(i) && node_[i].mark; }
  // The remaining excess of touched nodes.
  double excess(int i) const { return sign_ * (node_[i].surplus + node_[i].kept); }

 private:
  static constexpr int kCutOff = std::numeric_limits<int>::max();  // label: cannot reach a deficit
  static constexpr std::size_t kRelabelsPerNode = 1;  // then all labels are recomputed

  // One record per node, so that visiting a neighbour costs one cache line. Surplus and deficit
  // are those of the search, that is, mirrored if it starts from deficits.
  struct Node {
    double surplus = 0;  // to be pushed on; negative: a deficit
    double kept = 0;     // surplus of a node that is not a seed
    int stamp = 0;       // search that last touched the node; older records are invalid
    int label = 0;
    bool queued = false;
    bool mark = false;
  };

  void start(Grow grow, double tolerance) {
    if (++run_ == std::numeric_limits<int>::max()) {
      for (Node& node : node_) node.stamp = 0;
      run_ = 1;
    }
    sign_ = static_cast<int>(grow);
    tolerance_ = tolerance;
    relabels_ = 0;
    at_label_.assign(2, 0);
    touched_.clear();
    active_.clear();
    waiting_.clear();
  }

  // A node without deficit is at least one step away from a deficit.
  template <class Problem>
  void touch(Problem& problem, int i) {
    if (node_[i].stamp == run_) return;
    touched_.push_back(i);
    const double surplus = sign_ * problem.excess(i);
    const int label = surplus < -tolerance_ ? 0 : 1;
    node_[i] = {std::fmin(surplus, 0.0), std::fmax(surplus, 0.0), run_, label, false, false};
    ++at_label_[label];
  }

  template <class Problem>
  void plant(Problem& problem, int i) {
    touch(problem, i);
    if (!(node_[i].kept > tolerance_)) return;
    node_[i].surplus = node_[i].kept;
    node_[i].kept = 0;
    node_[i].queued = true;
    active_.push_back(i);
  }

  void wait(int i) {
    if (node_[i].queued) return;
    node_[i].queued = true;
    waiting_.push_back(i);
  }

  double room(const Arc& u) const { return u.capacity - sign_ * u.flow; }
  double room_back(const Arc& u) const { return u.capacity + sign_ * u.flow; }

  // Pushes until no surplus is left or no deficit can be reached.
  template <class Problem>
  void discharge(Problem& problem, int i) {
    node_[i].queued = false;
    while (node_[i].surplus > tolerance_ && node_[i].label != kCutOff) {
      (*poll_)();
      const int lowest = push_down(problem, i);
      if (node_[i].surplus > tolerance_) relabel(problem, i, lowest);
    }
  }

  // Returns the smallest label of a neighbour that still has free capacity.
  template <class Problem>
  int push_down(Problem& problem, int i) {
    int lowest = kCutOff;
    for (int a = net_->begin(i); a < net_->end(i); ++a) {
      Arc& u = net_->arc(a);
      if (room(u) <= 0 || !problem.open(i, u.head)) continue;
      touch(problem, u.head);
      if (node_[u.head].label < node_[i].label) {
        push(i, u);
        if (node_[i].surplus <= tolerance_) break;
        if (room(u) <= 0) continue;
      }
      lowest = std::min(lowest, node_[u.head].label);
    }
    return lowest;
  }

  // A deficit gets no more than it lacks. A saturated arc and a balanced node are set exactly, so
  // that no later test depends on a difference that rounds to almost zero.
  void push(int i, Arc& u) {
    Node &from = node_[i], &to = node_[u.head];
    double amount = std::fmin(from.surplus, room(u));
    if (to.surplus < 0) amount = std::fmin(amount, -to.surplus);
    net_->set_flow_only(u, room(u) <= amount ? sign_ * u.capacity : u.flow + sign_ * amount);
    net_->add_outflow(i, sign_ * amount);
    net_->add_outflow(u.head, -sign_ * amount);
    from.surplus -= amount;
    to.surplus += amount;
    if (to.label == 0 && to.surplus >= -tolerance_) set_label(u.head, 1);
    if (to.surplus > tolerance_ && to.label != kCutOff) wait(u.head);
  }

  void set_label(int i, int label) {
    if (node_[i].label != kCutOff) --at_label_[node_[i].label];
    node_[i].label = label;
    if (label == kCutOff) return;
    if (static_cast<int>(at_label_.size()) <= label) at_label_.resize(label + 64, 0);
    ++at_label_[label];
  }

  // Every path to a deficit passes all smaller labels, so there is none if one of these labels is
  // unused. No path is longer than the number of nodes. Both bound the labels and hence the
  // search.
  template <class Problem>
  void relabel(Problem& problem, int i, int lowest) {
    ++relabels_;
    const int old = node_[i].label;
    const bool hopeless = lowest == kCutOff || lowest > static_cast<int>(touched_.size());
    // If the push just filled a deficit, the label may stay as it is, and pushing continues.
    set_label(i, hopeless ? kCutOff : std::max(old, lowest + 1));
    if (!hopeless && old >= 2 && at_label_[old] == 0) cut_off(problem, i);
  }

  // Cuts off the node and all nodes that it can push to.
  template <class Problem>
  void cut_off(Problem& problem, int start) {
    set_label(start, kCutOff);
    spread_from(
        problem, std::vector<int>(1, start), [&](const Arc& u) { return room(u); },
        [&](int, int j) {
          touch(problem, j);
          return node_[j].label != kCutOff;
        },
        [&](int, int j) { set_label(j, kCutOff); });
  }

  // Computes exact distances to the nearest deficit, breadth first. A node that was not yet
  // touched may be a deficit.
  template <class Problem>
  void relabel_all(Problem& problem) {
    relabels_ = 0;
    std::vector<int> near;
    for (int i : touched_) node_[i].mark = node_[i].label == 0;
    for (int i : touched_)
      if (node_[i].mark) near.push_back(i);
    for (int i : touched_) {
      if (node_[i].mark || node_[i].label > 1 || !leads_outside(problem, i)) continue;
      node_[i].mark = true;
      near.push_back(i);
    }
    spread_from(
        problem, std::move(near), [&](const Arc& u) { return room_back(u); },
        [&](int, int j) { return is_touched(j) && !node_[j].mark; },
        [&](int i, int j) {
          node_[j].mark = true;
          if (node_[j].label <= node_[i].label) set_label(j, node_[i].label + 1);
        });
    for (int i : touched_) {
      if (!node_[i].mark) set_label(i, kCutOff);
      node_[i].mark = false;
    }
  }

  template <class Problem>
  bool leads_outside(Problem& problem, int i) const {
    for (int a = net_->begin(i); a < net_->end(i); ++a) {
      const Arc& u = net_->arc(a);
      if (!is_touched(u.head) && room(u) > 0 && problem.open(i, u.head)) return true;
    }
    return false;
  }

  template <class Problem>
  void find_side_of_seeds(Problem& problem) {
    std::vector<int> stuck;
    for (int i : touched_) {
      node_[i].mark = node_[i].surplus > tolerance_;
      if (node_[i].mark) stuck.push_back(i);
    }
    spread_from(
        problem, std::move(stuck), [&](const Arc& u) { return room(u); },
        [&](int, int j) { return is_touched(j) && !node_[j].mark; },
        [&](int, int j) { node_[j].mark = true; });
  }

  // Breadth first along arcs with room: calls `enter(i, j)` once for every node with `may_enter(i,
  // j)`.
  template <class Problem, class Room, class MayEnter, class Enter>
  void spread_from(Problem& problem, std::vector<int> queue, Room room, MayEnter may_enter,
                   Enter enter) {
    for (std::size_t h = 0; h < queue.size(); ++h) {
      (*poll_)();
      const int i = queue[h];
      for (int a = net_->begin(i); a < net_->end(i); ++a) {
        const Arc& u = net_->arc(a);
        if (room(u) <= 0 || !problem.open(i, u.head) || !may_enter(i, u.head)) continue;
        enter(i, u.head);
        queue.push_back(u.head);
      }
    }
  }

  Network* net_;
  Poll* poll_;
  int run_ = 0, sign_ = 1;
  double tolerance_ = 0;
  std::size_t relabels_ = 0;
  std::vector<Node> node_;
  std::vector<int> touched_, active_, waiting_;
  std::vector<int> at_label_;  // number of touched nodes with each label
};

}  // namespace n2gfl
