#include "prox/block_guess.hpp"

#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "graph/drain.hpp"

namespace n2gfl {

BlockGuess::BlockGuess(Network& network, Poll& poll, const NodeTerms& terms)
    : net_(&network), poll_(&poll), terms_(&terms), block_(network.nodes(), kOutside),
      rank_(network.nodes(), kUnranked) {}

void BlockGuess::guess(const std::vector<int>& nodes, double near, Eigen::VectorXd& b) {
  near_ = near;
  guess_by([this](int i, int j) { return are_near(i, j); }, nodes, b);
}

void BlockGuess::guess_again(const std::vector<int>& nodes, const Eigen::VectorXd& old,
                             Eigen::VectorXd& b) {
  guess_by([&old](int i, int j) { return old[i] == old[j]; }, nodes, b);
}

const int* BlockGuess::wrong_begin(std::size_t k) const {
  return wrong_nodes_.data() + (k == 0 ? 0 : wrong_ends_[k - 1]);
}

std::size_t BlockGuess::count_doubtful(const Eigen::VectorXd& b) {
  unchecked_ = wrong_nodes_;
  for (int i : order_) {
    (*poll_)();
    bool fit = true;
    for (int a = net_->begin(i); a < net_->end(i) && fit; ++a) fit = fits(i, net_->arc(a), b);
    if (!fit) unchecked_.push_back(i);
  }
  return unchecked_.size();
}

bool BlockGuess::find_misfits(const Eigen::VectorXd& b) {
  std::vector<int> ends;
  group_.resize(blocks_);
  std::iota(group_.begin(), group_.end(), 0);
  for (int i : unchecked_) {
    (*poll_)();
    for (int a = net_->begin(i); a < net_->end(i); ++a) {
      const Arc& u = net_->arc(a);
      if (fits(i, u, b)) continue;
      group_[group_of(i)] = group_of(u.head);
      ends.push_back(i);
    }
  }
  merge_groups(ends);
  unchecked_ = wrong_nodes_;
  return !ends.empty();
}

template <class AreOne>
void BlockGuess::guess_by(AreOne are_one, const std::vector<int>& nodes, Eigen::VectorXd& b) {
  start(nodes);
  for (int i : nodes)
    if (block_[i] == kFree) grow(i, are_one);
  begin_.push_back(static_cast<int>(order_.size()));
  for (int k = 0; k < blocks_; ++k) even_out(k, b);
  unchecked_ = order_;
}

void BlockGuess::start(const std::vector<int>& nodes) {
  for (int i : order_) {
    block_[i] = kOutside;
    rank_[i] = kUnranked;
  }
  for (int i : nodes) block_[i] = kFree;
  stuck_ = 0;
  blocks_ = 0;
  order_.clear();
  begin_.clear();
  wrong_nodes_.clear();
  wrong_ends_.clear();
}

bool BlockGuess::are_near(int i, int j) const {
  const double mi = terms_->mass[i], mj = terms_->mass[j];
  return std::fabs(terms_->rest(*net_, i) * mj - terms_->rest(*net_, j) * mi) <= near_ * mi * mj;
}

// An edge between blocks of different values must be saturated, from the larger to the smaller
// value.
bool BlockGuess::fits(int i, const Arc& u, const Eigen::VectorXd& b) const {
  const int j = u.head;
  const double difference = b[i] - b[j];
  if (u.flow == std::copysign(u.capacity, difference)) return true;  // most edges
  return block_[j] == kOutside || block_[i] == block_[j] || difference == 0;
}

// Grows a new block breadth first from its root. Edges with little slack are used only to reach
// nodes that no other edge reaches.
template <class AreOne>
void BlockGuess::grow(int root, AreOne are_one) {
  begin_.push_back(static_cast<int>(order_.size()));
  std::size_t head = order_.size(), next_weak = 0;
  weak_.clear();
  add(root);
  while (head < order_.size()) {
    (*poll_)();
    const int i = order_[head++];
    for (int a = net_->begin(i); a < net_->end(i); ++a) {
      const Arc& u = net_->arc(a);
      if (slack(u) <= 0 || block_[u.head] != kFree || !are_one(i, u.head)) continue;
      if (is_strong(u)) add(u.head);
      else weak_.push_back(u.head);
    }
    while (head == order_.size() && next_weak < weak_.size()) {
      const int j = weak_[next_weak++];
      if (block_[j] == kFree) add(j);
    }
  }
  ++blocks_;
}

void BlockGuess::add(int i) {
  block_[i] = blocks_;
  rank_[i] = static_cast<int>(order_.size());
  order_.push_back(i);
}

void BlockGuess::even_out(int k, Eigen::VectorXd& b) {
  const int begin = begin_[k], end = begin_[k + 1];
  if (end - begin == 1) {
    b[order_[begin]] = terms_->rest(*net_, order_[begin]) / terms_->mass[order_[begin]];
    return;
  }
  const LevelAndRounding mean = mean_level(*terms_, *net_, &order_[begin], end - begin);
  for (int h = begin; h < end; ++h) b[order_[h]] = mean.level;
  double left = imbalance(begin, end, mean.level);
  for (int pass = 0; pass < kPasses && left > mean.rounding * (end - begin); ++pass) {
    if (pass > 0) rank_from_the_far_end(begin, end);
    const double before = left;
    left = 0;
    for (int h = end - 1; h >= begin; --h) left += spread(h, begin, mean.level);
    if (left > 0.75 * before) break;
  }
  if (left <= mean.rounding * (end - begin)) return;
  stuck_ += left;
  wrong_nodes_.insert(wrong_nodes_.end(), order_.begin() + begin, order_.begin() + end);
  wrong_ends_.push_back(static_cast<int>(wrong_nodes_.size()));
}

double BlockGuess::imbalance(int begin, int end, double level) const {
  double sum = 0;
  for (int h = begin; h < end; ++h) sum += std::fabs(terms_->excess(*net_, order_[h], level));
  return sum;
}

// Drains the excess over the level of the node of rank h to the nodes of lower rank in its block.
// Returns the amount that does not fit.
double BlockGuess::spread(int h, int begin, double level) {
  (*poll_)();
  const int i = order_[h];
  const double amount = terms_->excess(*net_, i, level);
  if (amount == 0) return 0;
  return drain(*net_, i, amount,
               [&](const Arc& u) { return rank_[u.head] >= begin && rank_[u.head] < h; });
}

// Ranks a block again, breadth first from its last node. Nodes that no strong edge reaches start
// again from the first of them in the old order.
void BlockGuess::rank_from_the_far_end(int begin, int end) {
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

// The group of the node's block: blocks of a group form a tree whose root is the group.
int BlockGuess::group_of(int node) {
  int k = block_[node];
  while (group_[k] != k) k = group_[k] = group_[group_[k]];
  return k;
}

// Makes each group that contains one of the given nodes one new block.
void BlockGuess::merge_groups(const std::vector<int>& nodes) {
  const int old_blocks = blocks_;
  wrong_nodes_.clear();
  wrong_ends_.clear();
  for (int i : nodes)
    if (block_[i] < old_blocks) merge_group(i, old_blocks);
}

void BlockGuess::merge_group(int start, int old_blocks) {
  const int group = group_of(start);
  std::size_t head = wrong_nodes_.size();
  auto find = [&](int i) {
    block_[i] = blocks_;
    wrong_nodes_.push_back(i);
  };
  find(start);
  for (; head < wrong_nodes_.size(); ++head) {
    (*poll_)();
    const int i = wrong_nodes_[head];
    for (int a = net_->begin(i); a < net_->end(i); ++a) {
      const int j = net_->arc(a).head;
      if (block_[j] >= 0 && block_[j] < old_blocks && group_of(j) == group) find(j);
    }
  }
  wrong_ends_.push_back(static_cast<int>(wrong_nodes_.size()));
  ++blocks_;
}

}  // namespace n2gfl
