// Connected parts of a graph or of a set of its nodes, where a rule says which neighbours belong
// together: the components of a support, or its regions of one value.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "graph/graph.hpp"

namespace n2gfl {

// The part of each node in `nodes`, numbered from 0 by their first nodes. The rule
// `joins(k, arc, other)` takes two positions in `nodes` and the arc from the first to the second.
template <class Joins>
std::vector<int> label_joined(const Graph& graph, const std::vector<int>& nodes, Joins joins) {
  const int count = static_cast<int>(nodes.size());
  std::vector<int> part(count, -1), queue, position(graph.nodes(), -1);
  for (int k = 0; k < count; ++k) position[nodes[k]] = k;
  int parts = 0;
  for (int start = 0; start < count; ++start) {
    if (part[start] >= 0) continue;
    part[start] = parts;
    queue.assign(1, start);
    for (std::size_t h = 0; h < queue.size(); ++h) {
      const int k = queue[h], i = nodes[k];
      for (int a = graph.begin(i); a < graph.end(i); ++a) {
        const int other = position[graph.head(a)];
        if (other < 0 || part[other] >= 0 || !joins(k, a, other)) continue;
        part[other] = parts;
        queue.push_back(other);
      }
    }
    ++parts;
  }
  return part;
}

inline int count_labels(const std::vector<int>& label) {
  return label.empty() ? 0 : 1 + *std::max_element(label.begin(), label.end());
}

// The same where the rule `same` takes the two positions only.
template <class Same>
std::vector<int> label_parts(const Graph& graph, const std::vector<int>& nodes, Same same) {
  return label_joined(graph, nodes, [&](int k, int, int other) { return same(k, other); });
}

template <class Same>
int count_parts(const Graph& graph, const std::vector<int>& nodes, Same same) {
  return count_labels(label_parts(graph, nodes, same));
}

// The same for all nodes; `joins(node, arc)` says which arcs connect.
template <class Joins>
std::vector<int> components(const Graph& graph, Joins joins, int& count) {
  std::vector<int> all(graph.nodes());
  std::iota(all.begin(), all.end(), 0);
  const auto by_arc = [&](int node, int arc, int) { return joins(node, arc); };
  std::vector<int> label = label_joined(graph, all, by_arc);
  count = count_labels(label);
  return label;
}

// The components of `nodes`, each with its nodes in the given order. The search has no branch
// that the processor would often predict wrong: the prox needs them in every call.
std::vector<std::vector<int>> connected_components(const Graph& graph, const std::vector<int>& nodes);

}  // namespace n2gfl
