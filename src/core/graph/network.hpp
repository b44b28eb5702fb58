// A graph with symmetric capacities and a flow on it. The flow is kept between searches, and so is
// the outflow of every node, the sum of the flows of its arcs.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "graph/graph.hpp"

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

}  // namespace n2gfl
