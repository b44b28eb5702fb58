#include "graph/graph.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace n2gfl {

Graph::Graph(int nodes, std::vector<Edge> edges)
    : nodes_(nodes) {
  check(edges);
  merge(edges);
  build(edges);
}

void Graph::check(const std::vector<Edge>& edges) const {
  if (nodes_ < 0) throw std::invalid_argument("a graph cannot have a negative number of nodes");
  for (const Edge& e : edges) {
    if (e.from < 0 || e.to < 0 || e.from >= nodes_ || e.to >= nodes_)
      throw std::invalid_argument("edge " + name(e) + " has a node outside 1.." +
                                  std::to_string(nodes_));
    if (e.from == e.to) throw std::invalid_argument("edge " + name(e) + " is a self loop");
    if (!(e.weight >= 0) || std::isinf(e.weight))
      throw std::invalid_argument("edge " + name(e) + " has a weight that is negative or not finite");
  }
}

std::string Graph::name(const Edge& e) {
  return std::to_string(e.from + 1) + " - " + std::to_string(e.to + 1);
}

void Graph::merge(std::vector<Edge>& edges) {
  for (Edge& e : edges)
    if (e.from > e.to) std::swap(e.from, e.to);
  auto before = [](const Edge& a, const Edge& b) {
    return a.from != b.from ? a.from < b.from : a.to < b.to;
  };
  if (!std::is_sorted(edges.begin(), edges.end(), before))
    std::stable_sort(edges.begin(), edges.end(), before);
  std::size_t kept = 0;
  for (const Edge& e : edges) {
    if (e.weight == 0) continue;
    if (kept > 0 && edges[kept - 1].from == e.from && edges[kept - 1].to == e.to)
      edges[kept - 1].weight += e.weight;
    else
      edges[kept++] = e;
  }
  edges.resize(kept);
}

void Graph::build(const std::vector<Edge>& edges) {
  first_.assign(nodes_ + 1, 0);
  for (const Edge& e : edges) {
    ++first_[e.from + 1];
    ++first_[e.to + 1];
  }
  for (int i = 0; i < nodes_; ++i) first_[i + 1] += first_[i];
  head_.resize(2 * edges.size());
  const auto differs = [&](const Edge& e) { return e.weight != edges[0].weight; };
  if (!edges.empty()) common_weight_ = edges[0].weight;
  if (std::any_of(edges.begin(), edges.end(), differs)) weight_.resize(head_.size());
  // Edges are sorted by (from, to). Filling the backward arcs first keeps every row sorted.
  std::vector<int> next(first_.begin(), first_.end() - 1);
  for (const Edge& e : edges) set_arc(next[e.to]++, e.from, e.weight);
  for (const Edge& e : edges) set_arc(next[e.from]++, e.to, e.weight);
}

void Graph::set_arc(int arc, int head, double weight) {
  head_[arc] = head;
  if (!weight_.empty()) weight_[arc] = weight;
}

}  // namespace n2gfl
