// A graph with symmetric capacities and a flow on it. The flow is kept between searches, and so is
// the outflow of every node, the sum of the flows of its arcs.
#pragma once

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

  explicit Network(const Graph& graph);

  int nodes() const { return static_cast<int>(outflow_.size()); }
  int arcs() const { return static_cast<int>(arcs_.size()); }
  int begin(int node) const { return first_[node]; }
  int end(int node) const { return first_[node + 1]; }
  const Arc& arc(int a) const { return arcs_[a]; }
  int tail(int a) const { return arcs_[arcs_[a].reverse].head; }
  double outflow(int node) const { return outflow_[node]; }  // net flow out of the node
  const double* outflows() const { return outflow_.data(); }

  // Multiplies capacities and flow by `factor`, which keeps a feasible flow feasible.
  void scale(double factor);

  // Multiplies the capacities only: the caller knows that the flow stays feasible.
  void scale_capacities(double factor);

  // Sets the capacities of all arcs and clamps the flow to them.
  void set_capacities(const Graph& graph, double factor);

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
  void clear_flow(const std::vector<int>& nodes);

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
  double refresh_outflow();
  // The same for the marked nodes, if only their flows have changed. The bound holds for all nodes:
  // it is that of the largest flow since the last refresh of all.
  double refresh_marked();
  // The same for one node. Returns the largest flow among its arcs.
  double refresh_outflow(int i);

 private:
  void clear_marks();

  std::vector<int> first_;
  std::vector<Arc> arcs_;
  std::vector<double> outflow_;
  std::vector<char> is_marked_;
  std::vector<int> marked_;
  bool all_marked_ = false;
  double largest_ = 0;  // flow since the last refresh of all nodes
};

}  // namespace n2gfl
