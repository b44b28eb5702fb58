// A fast approximate flow for a total-variation problem, by sweeps over its edges in single
// precision (edge_sweeps.hpp), scaled and centred so that float is accurate enough.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "graph/edge_sweeps.hpp"
#include "graph/network.hpp"
#include "poll.hpp"
#include "prox/level_sets.hpp"

namespace n2gfl {

class FlowSweeps {
 public:
  // Sweeps the edges that join two of the given nodes, starting from the flow of the network.
  FlowSweeps(Network& network, Poll& poll, const NodeTerms& terms, const std::vector<int>& nodes);

  // The standard deviation of the values without any flow, and its product with the mean mass.
  double value_scale() const { return value_unit_; }
  double flow_scale() const { return flow_unit_; }

  // Makes at most `sweeps` more sweeps. Stops early if 20 sweeps change the energy by less than
  // `least_gain`, relative to the energy without any flow, twice in a row. Writes the flow back to
  // the network.
  void run(int sweeps, double least_gain, float momentum_limit);

 private:
  static constexpr int kInterval = 20;  // sweeps between two evaluations of the energy
  using Floats = EdgeSweeps::Floats;

  void load();
  void load_nodes();
  double frozen(int i) const;
  void load_edges();
  void restart_from_flow();
  void refresh();
  void unload();

  Network* net_;
  Poll* poll_;
  const NodeTerms* terms_;
  EdgeRuns edges_;
  EdgeSweeps sweeps_;
  double value_unit_ = 1, flow_unit_ = 1;
  Floats start_;             // per position: what a node has without any flow
  double start_energy_ = 0;  // without any flow
  double first_energy_ = 0, best_energy_ = 0, energy_ = 0;  // with the network's flow, and since
};

}  // namespace n2gfl
