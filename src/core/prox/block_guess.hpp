// Turns an approximate flow into the exact solution where possible, and proves that it is exact.
// Nodes that are joined by unsaturated edges and prefer nearly the same value are guessed to form
// one block, that is, one constant region of the solution. Each block is made exactly constant by
// moving its small imbalances along its edges. The guess is correct if this succeeds in every
// block and every edge between two blocks is saturated, from the larger value to the smaller.
// Blocks for which it fails are reported, so that an exact method can solve them.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include <Eigen/Core>

#include "graph/network.hpp"
#include "poll.hpp"
#include "prox/level_sets.hpp"

namespace n2gfl {

class BlockGuess {
 public:
  BlockGuess(Network& network, Poll& poll, const NodeTerms& terms);

  // Guesses blocks on the given nodes, balances them and sets b. Neighbours may share a block if
  // the values that they prefer differ by at most `near`.
  void guess(const std::vector<int>& nodes, double near, Eigen::VectorXd& b);

  // The same, with the blocks of the solution of an earlier, similar problem.
  void guess_again(const std::vector<int>& nodes, const Eigen::VectorXd& old, Eigen::VectorXd& b);

  // Blocks that must be solved one by one: those that could not be balanced; after find_misfits(),
  // groups of blocks that contradict each other.
  std::size_t wrong() const { return wrong_ends_.size(); }
  const int* wrong_begin(std::size_t k) const;
  const int* wrong_end(std::size_t k) const { return wrong_nodes_.data() + wrong_ends_[k]; }

  // The sum of the imbalances that remain in blocks that could not be balanced.
  double stuck() const { return stuck_; }

  // The number of nodes in such blocks, and of nodes with an edge that contradicts b. The first
  // find_misfits() then checks only these.
  std::size_t count_doubtful(const Eigen::VectorXd& b);

  // Finds groups of blocks that must be solved again, because edges between them contradict b. From
  // then on a group counts as one block. If there are none, b is the solution.
  bool find_misfits(const Eigen::VectorXd& b);

 private:
  static constexpr int kOutside = -2, kFree = -1, kUnranked = -1;
  static constexpr int kPasses = 4;       // attempts to balance a block
  static constexpr double kStrong = 0.2;  // edges with more slack / capacity go first

  template <class AreOne>
  void guess_by(AreOne are_one, const std::vector<int>& nodes, Eigen::VectorXd& b);
  void start(const std::vector<int>& nodes);
  static double slack(const Arc& u) { return u.capacity - std::fabs(u.flow); }
  static bool is_strong(const Arc& u) { return slack(u) > kStrong * u.capacity; }
  bool are_near(int i, int j) const;
  bool fits(int i, const Arc& u, const Eigen::VectorXd& b) const;

  template <class AreOne>
  void grow(int root, AreOne are_one);
  void add(int i);
  void even_out(int k, Eigen::VectorXd& b);
  double imbalance(int begin, int end, double level) const;
  double spread(int h, int begin, double level);
  void rank_from_the_far_end(int begin, int end);
  int group_of(int node);
  void merge_groups(const std::vector<int>& nodes);
  void merge_group(int start, int old_blocks);

  Network* net_;
  Poll* poll_;
  const NodeTerms* terms_;
  std::vector<int> block_, rank_;   // per node: its block, its position in order_
  std::vector<int> order_, begin_;  // nodes block by block, start of each guessed block
  std::vector<int> group_;          // per block: another block of its group, itself in the root
  std::vector<int> weak_, unchecked_;
  std::vector<int> wrong_nodes_, wrong_ends_;  // nodes block by block, end of each block
  int blocks_ = 0;
  double near_ = 0, stuck_ = 0;
};

}  // namespace n2gfl
