// Turns an almost right flow into the exact solution, where it can, and proves it. Nodes that
// unsaturated edges join and that want nearly the same value are guessed to be one block of the
// solution. Each block is made exactly constant by spreading its small imbalances over its edges.
// A block is right when that worked and every edge to another block is full, from the larger value
// to the smaller. Blocks that fail are named, for an exact method to solve them.
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
        rank_(network.nodes(), kUnranked), failed_(network.nodes(), 0) {}

  // Guesses blocks on the given nodes, evens them out and sets b. Neighbours that want values at
  // most `near` apart may be in one block.
  void guess(const std::vector<int>& nodes, double near, Eigen::VectorXd& b) {
    start(nodes, near);
    for (int i : nodes)
      if (block_[i] == kFree) grow(i);
    begin_.push_back(static_cast<int>(order_.size()));
    for (int k = 0; k + 1 < static_cast<int>(begin_.size()); ++k) even_out(k, b);
  }

  // What could not be evened out, over all blocks.
  double stuck() const { return stuck_; }

  // Nodes that must be solved anew: failed nodes that have not been solved, nodes at an edge that
  // does not fit b, and all failed nodes that are connected to them. None: b is the solution.
  std::vector<int> to_solve(const Eigen::VectorXd& b) {
    std::vector<int> seeds;
    seeds.swap(unsolved_);
    for (int i : order_) {
      (*poll_)();
      for (int a = net_->begin(i); a < net_->end(i); ++a) {
        const Arc& u = net_->arc(a);
        const int j = u.head;
        if (block_[j] == kOutside || (failed_[i] && failed_[j]) || fits(u, b[i], b[j])) continue;
        fail_block_of(i);
        fail_block_of(j);
        seeds.push_back(i);
        seeds.push_back(j);
      }
    }
    return connected_failures(seeds);
  }

 private:
  static constexpr int kOutside = -2, kFree = -1, kUnranked = -1;
  static constexpr int kPasses = 4;       // attempts to even out a block
  static constexpr double kStrong = 0.2;  // of the capacity: blocks grow along such slack first

  void start(const std::vector<int>& nodes, double near) {
    for (int i : order_) block_[i] = kOutside;
    for (int i : nodes) {
      block_[i] = kFree;
      rank_[i] = kUnranked;
      failed_[i] = 0;
    }
    near_ = near;
    stuck_ = 0;
    order_.clear();
    begin_.clear();
    unsolved_.clear();
  }

  static double slack(const Arc& u) { return u.capacity - std::fabs(u.flow); }
  static bool is_strong(const Arc& u) { return slack(u) > kStrong * u.capacity; }

  bool are_near(int i, int j) const {
    const double mi = terms_->mass[i], mj = terms_->mass[j];
    return std::fabs(terms_->rest(*net_, i) * mj - terms_->rest(*net_, j) * mi) <= near_ * mi * mj;
  }

  // A falling edge must be full. Each edge is seen from both its ends.
  static bool fits(const Arc& u, double at_tail, double at_head) {
    return at_tail <= at_head || u.flow == u.capacity;
  }

  // A new block, breadth first from its root. Edges with little slack serve only where no other
  // edge leads.
  void grow(int root) {
    begin_.push_back(static_cast<int>(order_.size()));
    std::size_t head = order_.size(), next_weak = 0;
    weak_.clear();
    add(root);
    while (head < order_.size()) {
      (*poll_)();
      const int i = order_[head++];
      for (int a = net_->begin(i); a < net_->end(i); ++a) {
        const Arc& u = net_->arc(a);
        if (block_[u.head] != kFree || slack(u) <= 0 || !are_near(i, u.head)) continue;
        if (is_strong(u)) add(u.head);
        else weak_.push_back(u.head);
      }
      while (head == order_.size() && next_weak < weak_.size()) {
        const int j = weak_[next_weak++];
        if (block_[j] == kFree) add(j);
      }
    }
  }

  void add(int i) {
    block_[i] = static_cast<int>(begin_.size()) - 1;
    rank_[i] = static_cast<int>(order_.size());
    order_.push_back(i);
  }

  void even_out(int k, Eigen::VectorXd& b) {
    const int begin = begin_[k], end = begin_[k + 1];
    const LevelAndRounding mean = mean_level(*terms_, *net_, &order_[begin], end - begin);
    for (int h = begin; h < end; ++h) b[order_[h]] = mean.level;
    if (end - begin == 1) return;
    double left = imbalance(begin, end, mean.level);
    for (int pass = 0; pass < kPasses && left > mean.rounding * (end - begin); ++pass) {
      if (pass > 0) rank_from_the_far_end(begin, end);
      const double before = left;
      left = 0;
      for (int h = end - 1; h >= begin; --h) left += spread(order_[h], mean.level);
      if (left > 0.75 * before) break;
    }
    if (left <= mean.rounding * (end - begin)) return;
    stuck_ += left;
    fail(k);
    unsolved_.insert(unsolved_.end(), order_.begin() + begin, order_.begin() + end);
  }

  double imbalance(int begin, int end, double level) const {
    double sum = 0;
    for (int h = begin; h < end; ++h) sum += std::fabs(terms_->excess(*net_, order_[h], level));
    return sum;
  }

  // Node i sends what it has above the level to the nodes of its block that rank before it (or
  // fetches what it lacks), to each in proportion to the room of the edge. Returns what does not
  // fit. All nodes in falling order: what is left of the block meets at the first node.
  double spread(int i, double level) {
    (*poll_)();
    const double amount = terms_->excess(*net_, i, level);
    if (amount == 0) return 0;
    double total = 0;
    for (int a = net_->begin(i); a < net_->end(i); ++a)
      if (leads_down(i, net_->arc(a).head)) total += room(net_->arc(a), amount);
    const bool fill = total <= std::fabs(amount);
    for (int a = net_->begin(i); a < net_->end(i); ++a) {
      Arc& u = net_->arc(a);
      if (!leads_down(i, u.head)) continue;
      const double full = std::copysign(room(u, amount), amount);
      const double sent = fill ? full : amount * (room(u, amount) / total);
      net_->set_flow_only(u, fill ? std::copysign(u.capacity, amount) : clamp(u, u.flow + sent));
      net_->add_outflow(i, sent);
      net_->add_outflow(u.head, -sent);
    }
    return fill ? std::fabs(amount) - total : 0;
  }

  bool leads_down(int i, int j) const { return block_[i] == block_[j] && rank_[j] < rank_[i]; }

  static double room(const Arc& u, double amount) {
    return amount > 0 ? u.capacity - u.flow : u.capacity + u.flow;
  }

  static double clamp(const Arc& u, double flow) {
    return std::fmax(-u.capacity, std::fmin(u.capacity, flow));
  }

  // Ranks a block anew, breadth first from its last node. A part that no strong edge reaches starts
  // at its first node in the old order.
  void rank_from_the_far_end(int begin, int end) {
    const std::vector<int> old(order_.begin() + begin, order_.begin() + end);
    for (int i : old) rank_[i] = kUnranked;
    int filled = begin, head = begin;
    std::size_t next = 0;
    auto rank = [&](int i) {
      rank_[i] = filled;
      order_[filled++] = i;
    };
    rank(old.back());
    for (; filled < end; rank(old[next])) {
      for (; head < filled; ++head) {
        (*poll_)();
        const int i = order_[head];
        for (int a = net_->begin(i); a < net_->end(i); ++a) {
          const Arc& u = net_->arc(a);
          if (block_[u.head] == block_[i] && rank_[u.head] == kUnranked && is_strong(u))
            rank(u.head);
        }
      }
      if (filled == end) break;
      while (rank_[old[next]] != kUnranked) ++next;
    }
  }

  void fail(int k) {
    for (int h = begin_[k]; h < begin_[k + 1]; ++h) failed_[order_[h]] = 1;
  }

  void fail_block_of(int i) {
    if (!failed_[i]) fail(block_[i]);
  }

  std::vector<int> connected_failures(const std::vector<int>& seeds) {
    constexpr char kFailed = 1, kFound = 2;
    std::vector<int> found;
    auto find = [&](int i) {
      if (failed_[i] != kFailed) return;
      failed_[i] = kFound;
      found.push_back(i);
    };
    for (int i : seeds) find(i);
    for (std::size_t head = 0; head < found.size(); ++head) {
      (*poll_)();
      const int i = found[head];
      for (int a = net_->begin(i); a < net_->end(i); ++a)
        if (block_[net_->arc(a).head] != kOutside) find(net_->arc(a).head);
    }
    for (int i : found) failed_[i] = kFailed;
    return found;
  }

  Network* net_;
  Poll* poll_;
  const NodeTerms* terms_;
  std::vector<int> block_, rank_;       // per node: its block, its place in order_
  std::vector<char> failed_;            // per node
  std::vector<int> order_, begin_;      // nodes block by block, where each block begins
  std::vector<int> weak_, unsolved_;
  double near_ = 0, stuck_ = 0;
};

}  // namespace n2gfl
