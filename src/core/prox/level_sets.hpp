// All levels of a total-variation problem, exactly, by divide and conquer. On a connected part
//   min_b  sum_i m_i/2 b_i^2 - c_i b_i + sum_ij capacity_ij |b_i - b_j|
// the set {b > t} is a minimum cut with node terms c_i - m_i t. A part is cut at its mean level.
// If the cut does not split it, the part is constant; otherwise both parts are cut again, starting
// from the present flow.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "graph/max_flow.hpp"
#include "graph/network.hpp"
#include "poll.hpp"

namespace n2gfl {

// The node terms of the problem.
struct NodeTerms {
  const double* mass = nullptr;
  Eigen::VectorXd linear;

  // Given a flow, node i alone prefers the value rest_i / mass_i. If the flow is optimal, that is
  // the solution.
  double rest(const Network& net, int i) const { return linear[i] - net.outflow(i); }
  double excess(const Network& net, int i, double level) const {
    return rest(net, i) - mass[i] * level;
  }
};

// The mean of the values that some nodes prefer, and a bound of the rounding error of one node's
// excess.
struct LevelAndRounding {
  double level, rounding;
};

LevelAndRounding mean_level(const NodeTerms& terms, const Network& net, const int* nodes,
                            int count);

class LevelSets {
 public:
  LevelSets(Network& network, MaxFlow& flow, Poll& poll, const NodeTerms& terms);

  // Finds b on the given nodes. The flow on arcs that leave them is not changed.
  void resolve(const std::vector<int>& nodes, Eigen::VectorXd& b);

  void resolve(const int* begin, const int* end, Eigen::VectorXd& b);

 private:
  static constexpr int kOutside = -1, kNone = -1;

  struct Part {  // nodes_[begin, end) are connected, breadth first, and have part_ == label
    int begin, end, label;
    bool tree;
    int size() const { return end - begin; }
  };

  struct LevelCut {
    const LevelSets* sets;
    double level;
    int label;
    double excess(int i) const { return sets->terms_->excess(*sets->net_, i, level); }
    bool open(int, int j) const { return sets->part_[j] == label; }
  };

  void finish(const Part& part, double level, Eigen::VectorXd& b);
  void cut(const Part& part, Eigen::VectorXd& b);
  void drain(const Part& part, double level);
  Grow seed(const LevelCut& problem, const Part& part, double tolerance);
  double stuck(const Part& part) const;
  void split_by_cut(const Part& part);
  void split_by_connection(int begin, int end, int label);
  Part collect(int start, int label, int begin);

  Network* net_;
  MaxFlow* flow_;
  Poll* poll_;
  const NodeTerms* terms_;
  std::vector<int> part_, parent_;  // per node: its part, the arc to its parent
  std::vector<int> scratch_, nodes_, seeds_;
  std::vector<Part> waiting_;
  int parts_ = 0;
};

}  // namespace n2gfl
