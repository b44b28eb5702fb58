// The sweeps that bring the flow of region pursuit close to balance.
#include "check.hpp"
#include "random_data.hpp"

#include <n2gfl/balance_sweeps.hpp>

#include <cmath>
#include <vector>

using n2gfl::BalanceSweeps;

// Weights such as exp(-distance^2) may be so small that their capacity is zero.
TEST(sweeps_leave_edges_without_capacity_alone) {
  const int nodes = 12;
  std::vector<n2gfl::Edge> edges;
  for (int i = 0; i + 1 < nodes; ++i) edges.push_back({i, i + 1, i % 4 == 0 ? 5e-324 : 1.0});
  n2gfl::Network network{n2gfl::Graph(nodes, edges)};
  network.scale_capacities(0.25);
  n2gfl::Poll poll;
  BalanceSweeps sweeps(network, poll);
  const auto excess = [&](int i) { return (i % 3 == 0 ? 0.3 : -0.1) - network.outflow(i); };
  sweeps.load(excess, [](int) { return BalanceSweeps::kOneSided; }, [](int) { return 0; }, 0.25);
  const double before = sweeps.overflow();
  sweeps.run(50);
  CHECK(sweeps.overflow() < before);
  sweeps.unload();
  for (int a = 0; a < network.arcs(); ++a)
    CHECK(std::fabs(network.arc(a).flow) <= network.arc(a).capacity);
}
