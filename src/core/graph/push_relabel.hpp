// The search of a maximum flow in one connected part of a network: sends as much flow as possible
// from nodes with a surplus to nodes with a deficit.
//
// Every node has a label, a lower bound of its distance to a deficit. A node pushes its excess to
// neighbours with smaller labels; if it cannot, its own label is raised (push-relabel). Only nodes
// that the surplus of the seeds passes through are visited, so the cost is local. Surplus that
// cannot reach any deficit stays; the nodes that it can reach form the seeds' side of the minimum
// cut.
//
// Searches of different parts may run at the same time: each reads and writes its own nodes and the
// arcs between them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "graph/network.hpp"
#include "poll.hpp"

namespace n2gfl {

// What a search knows of a node, in one record, so that visiting a neighbour costs one cache line.
// Surplus and deficit are those of the search, that is, mirrored if it starts from deficits.
struct SearchNode {
  double surplus = 0;  // to be pushed on; negative: a deficit
  double kept = 0;     // surplus of a node that is not a seed
  int stamp = 0;       // search that last touched the node; older records are invalid
  int label = 0;
  bool queued = false;
  bool mark = false;   // after the search: on the seeds' side of the minimum cut
};

class PushRelabel {
 public:
  // The same for all parts of one search.
  struct Terms {
    int stamp;         // of this search
    int sign;          // -1: mirrored, starts from deficits
    double tolerance;  // an excess within it counts as zero
  };

  // Problem: see MaxFlow::run().
  template <class Problem>
  void run(Network& network, std::vector<SearchNode>& nodes, Problem& problem,
           const std::vector<int>& seeds, const Terms& terms, Poll& poll) {
    net_ = &network;
    node_ = nodes.data();
    poll_ = &poll;
    stamp_ = terms.stamp;
    sign_ = terms.sign;
    tolerance_ = terms.tolerance;
    start();
    for (int i : seeds) plant(problem, i);
    while (!active_.empty()) {
      for (int i : active_) {
        if (relabels_ > kRelabelsPerNode * touched_.size() + 100) relabel_all(problem);
        discharge(problem, i);
      }
      active_.swap(waiting_);
      waiting_.clear();
    }
    find_side_of_seeds(problem);
  }

  const std::vector<int>& touched() const { return touched_; }

 private:
  static constexpr int kCutOff = std::numeric_limits<int>::max();  // label: cannot reach a deficit
  static constexpr std::size_t kRelabelsPerNode = 1;  // then all labels are recomputed

  void start() {
    relabels_ = 0;
    at_label_.assign(2, 0);
    touched_.clear();
    active_.clear();
    waiting_.clear();
  }

  bool is_touched(int i) const { return node_[i].stamp == stamp_; }

  // A node without deficit is at least one step away from a deficit.
  template <class Problem>
  void touch(Problem& problem, int i) {
    if (is_touched(i)) return;
    touched_.push_back(i);
    const double surplus = sign_ * problem.excess(i);
    const int label = surplus < -tolerance_ ? 0 : 1;
    node_[i] = {std::fmin(surplus, 0.0), std::fmax(surplus, 0.0), stamp_, label, false, false};
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
    SearchNode &from = node_[i], &to = node_[u.head];
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
      if (room(u) > 0 && problem.open(i, u.head) && !is_touched(u.head)) return true;
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

  Network* net_ = nullptr;
  SearchNode* node_ = nullptr;
  Poll* poll_ = nullptr;
  int stamp_ = 0, sign_ = 1;
  double tolerance_ = 0;
  std::size_t relabels_ = 0;
  std::vector<int> touched_, active_, waiting_;
  std::vector<int> at_label_;  // number of touched nodes with each label
};

}  // namespace n2gfl
