// Turns an almost right flow into the exact solution, where it can, and proves it. Nodes that
// unsaturated edges join and that want nearly the same value are guessed to be one block of the
// solution. Each block is made exactly constant by sending its small imbalances along a spanning
// tree. A block is right when that worked and every edge to another block is full, from the larger
// value to the smaller. Blocks that fail are left to the caller.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include <Eigen/Core>

#include "level_sets.hpp"
#include "max_flow.hpp"
#include "poll.hpp"

namespace n2gfl {

class BlockGuess {
 public:
  BlockGuess(Network& network, Poll& poll, const NodeTerms& terms)
      : net_(&network), poll_(&poll), terms_(&terms), block_(network.nodes(), kOutside),
        parent_(network.nodes(), kNone), failed_(network.nodes(), 0) {}

  // Guesses and evens out blocks on the given nodes, whose values differ by at most `near` from
  // neighbour to neighbour. Sets b.
  void guess(const std::vector<int>& nodes, double near, Eigen::VectorXd& b) {
    near_ = near;
    order_.clear();
    start_.clear();
    for (int i : nodes) {
      block_[i] = kFree;
      failed_[i] = 0;
    }
    for (int i : nodes)
      if (block_[i] == kFree) grow(i);
    start_.push_back(static_cast<int>(order_.size()));
    failing_ = 0;
    for (int k = 0; k + 1 < static_cast<int>(start_.size()); ++k) even_out(k, b);
  }

  // Nodes in blocks that could not be made constant.
  int failing() const { return failing_; }

  // The failed nodes that must be solved anew, with all failed nodes that they are connected to:
  // at first all of them, later those at an edge that the new b does not fit. Empty = b is right.
  std::vector<int> to_solve(const Eigen::VectorXd& b, bool first) {
    std::vector<int> todo;
    if (first) {
      for (int i : order_)
        if (failed_[i]) todo.push_back(i);
    }
    for (int i : order_) {
      (*poll_)();
      for (int a = net_->begin(i); a < net_->end(i); ++a) {
        const int j = net_->arc(a).head;
        if (block_[j] == kOutside || (failed_[i] && failed_[j]) || fits(net_->arc(a), b[i], b[j]))
          continue;
        fail_block_of(i);
        fail_block_of(j);
        todo.push_back(i);
        todo.push_back(j);
      }
    }
    return connected_failures(todo);
  }

  void forget() {
    for (int i : order_) block_[i] = kOutside;
  }

 private:
  static constexpr int kOutside = -2, kFree = -1, kNone = -1;
  static constexpr double kStrong = 0.2;  // of the capacity: trees prefer edges with that slack

  static double slack(const Arc& u) { return u.capacity - std::fabs(u.flow); }
  double rest(int i) const { return terms_->linear[i] - net_->outflow(i); }

  bool are_near(int i, int j) const {
    const double mi = terms_->mass[i], mj = terms_->mass[j];
    return std::fabs(rest(i) * mj - rest(j) * mi) <= near_ * mi * mj;
  }

  // Only an edge between different values must be full; each edge is seen from both its ends.
  static bool fits(const Arc& u, double at_tail, double at_head) {
    return at_tail <= at_head || u.flow == u.capacity;
  }

  // A new block with its spanning tree, parents before children. Edges with little slack serve only
  // where no other edge leads.
  void grow(int root) {
    start_.push_back(static_cast<int>(order_.size()));
    weak_.clear();
    std::size_t head = order_.size(), next_weak = 0;
    add(root, kNone);
    while (head < order_.size()) {
      (*poll_)();
      const int i = order_[head++];
      for (int a = net_->begin(i); a < net_->end(i); ++a) {
        const Arc& u = net_->arc(a);
        if (block_[u.head] != kFree || slack(u) <= 0 || !are_near(i, u.head)) continue;
        if (slack(u) > kStrong * u.capacity) add(u.head, u.reverse);
        else weak_.push_back(a);
      }
      while (head == order_.size() && next_weak < weak_.size()) {
        const Arc& u = net_->arc(weak_[next_weak++]);
        if (block_[u.head] == kFree) add(u.head, u.reverse);
      }
    }
  }

  void add(int i, int parent) {
    block_[i] = static_cast<int>(start_.size()) - 1;
    parent_[i] = parent;
    order_.push_back(i);
  }

  void even_out(int k, Eigen::VectorXd& b) {
    const int begin = start_[k], end = start_[k + 1];
    long double sum = 0, mass = 0;
    double size = 0;
    for (int h = begin; h < end; ++h) {
      const int i = order_[h];
      sum += rest(i);
      mass += terms_->mass[i];
      size = std::fmax(size, std::fabs(terms_->linear[i]) + std::fabs(net_->outflow(i)));
    }
    const double level = static_cast<double>(sum / mass);
    for (int h = begin; h < end; ++h) b[order_[h]] = level;
    const double tolerance = 8 * std::numeric_limits<double>::epsilon() * size;
    double left = 0;
    for (int h = end - 1; h >= begin; --h) left += send_up(order_[h], level);
    if (left <= tolerance * (end - begin)) return;
    fail(k);
  }

  // Sends what node i has above the level to its parent (or fetches what it lacks); returns what
  // does not fit through the edge.
  double send_up(int i, double level) {
    const double amount = rest(i) - terms_->mass[i] * level;
    if (parent_[i] == kNone || amount == 0) return std::fabs(amount);
    Arc& u = net_->arc(parent_[i]);
    const double room = amount > 0 ? u.capacity - u.flow : u.capacity + u.flow;
    const bool fits = std::fabs(amount) < room;
    const double sent = fits ? amount : std::copysign(room, amount);
    net_->set_flow_only(u, fits ? u.flow + amount : std::copysign(u.capacity, amount));
    net_->add_outflow(i, sent);
    net_->add_outflow(u.head, -sent);
    return std::fabs(amount - sent);
  }

  void fail(int k) {
    failing_ += start_[k + 1] - start_[k];
    for (int h = start_[k]; h < start_[k + 1]; ++h) failed_[order_[h]] = 1;
  }

  void fail_block_of(int i) {
    if (!failed_[i]) fail(block_[i]);
  }

  std::vector<int> connected_failures(const std::vector<int>& seeds) {
    std::vector<int> found;
    for (int seed : seeds) {
      if (failed_[seed] != 1) continue;
      std::size_t head = found.size();
      failed_[seed] = 2;
      found.push_back(seed);
      for (; head < found.size(); ++head) {
        const int i = found[head];
        for (int a = net_->begin(i); a < net_->end(i); ++a) {
          const int j = net_->arc(a).head;
          if (block_[j] == kOutside || failed_[j] != 1) continue;
          failed_[j] = 2;
          found.push_back(j);
        }
      }
    }
    for (int i : found) failed_[i] = 1;
    return found;
  }

  Network* net_;
  Poll* poll_;
  const NodeTerms* terms_;
  std::vector<int> block_, parent_;  // per node: its block, the arc to its parent
  std::vector<char> failed_;         // per node
  std::vector<int> order_, start_;   // nodes block by block, where each block starts
  std::vector<int> weak_;
  double near_ = 0;
  int failing_ = 0;
};

}  // namespace n2gfl
