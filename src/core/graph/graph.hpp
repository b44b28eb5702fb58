// A weighted undirected graph in compressed rows: every edge is stored as two opposite arcs. The
// arcs of a node are sorted by head, so the arcs with head > node, taken node by node, are the
// edges in the order (from, to) of the R code. If all weights are equal, as in most graphs, they
// take no memory.
#pragma once

#include <string>
#include <vector>

namespace n2gfl {

struct Edge {
  int from;
  int to;
  double weight;
};

class Graph {
 public:
  Graph() : first_(1, 0) {}

  // Parallel edges are merged by adding their weights; edges of weight zero are dropped.
  Graph(int nodes, std::vector<Edge> edges);

  int nodes() const { return nodes_; }
  int arcs() const { return static_cast<int>(head_.size()); }
  int edges() const { return arcs() / 2; }
  int begin(int node) const { return first_[node]; }
  int end(int node) const { return first_[node + 1]; }
  int head(int arc) const { return head_[arc]; }
  double weight(int arc) const { return weight_.empty() ? common_weight_ : weight_[arc]; }

 private:
  void check(const std::vector<Edge>& edges) const;
  static std::string name(const Edge& e);
  static void merge(std::vector<Edge>& edges);
  void build(const std::vector<Edge>& edges);
  void set_arc(int arc, int head, double weight);

  int nodes_ = 0;
  std::vector<int> first_, head_;
  double common_weight_ = 0;
  std::vector<double> weight_;  // empty if all weights are equal
};

}  // namespace n2gfl
