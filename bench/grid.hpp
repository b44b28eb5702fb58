// A clock and grids for the programs in this folder.
#pragma once

#include <ctime>
#include <vector>

#include "graph/graph.hpp"

namespace bench {

inline double cpu_seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

inline n2gfl::Graph grid(int side, int dimensions) {
  int nodes = 1;
  for (int k = 0; k < dimensions; ++k) nodes *= side;
  std::vector<n2gfl::Edge> edges;
  for (int i = 0; i < nodes; ++i)
    for (int k = 0, stride = 1; k < dimensions; ++k, stride *= side)
      if (i / stride % side + 1 < side) edges.push_back({i, i + stride, 1.0});
  return n2gfl::Graph(nodes, edges);
}

// The position of node i along an axis, in (0, 1).
inline double position(int i, int axis, int side) {
  for (int k = 0; k < axis; ++k) i /= side;
  return (i % side + 0.5) / side;
}

}  // namespace bench
