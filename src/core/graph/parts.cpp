#include "graph/parts.hpp"

#include <cstddef>
#include <vector>

namespace n2gfl {

std::vector<std::vector<int>> connected_components(const Graph& graph, const std::vector<int>& nodes) {
  static constexpr int kOutside = -2, kFree = -1;
  std::vector<int> part(graph.nodes(), kOutside), queue(nodes.size() + 1);
  for (int i : nodes) part[i] = kFree;
  std::vector<std::vector<int>> parts;
  for (int start : nodes) {
    if (part[start] != kFree) continue;
    const int label = static_cast<int>(parts.size());
    part[start] = label;
    queue[0] = start;
    std::size_t filled = 1;
    for (std::size_t h = 0; h < filled; ++h)
      for (int a = graph.begin(queue[h]), end = graph.end(queue[h]); a < end; ++a) {
        const int j = graph.head(a);
        const bool found = part[j] == kFree;
        part[j] = found ? label : part[j];
        queue[filled] = j;  // overwritten by the next node unless found
        filled += found;
      }
    parts.emplace_back();
    parts.back().reserve(filled);
  }
  for (int i : nodes) parts[part[i]].push_back(i);
  return parts;
}

}  // namespace n2gfl
