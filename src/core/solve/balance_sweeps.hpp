// A smooth flow that is almost right, for the exact search to start from. Inside every part of the
// graph (the zero set, each region) the excess of the nodes is made as equal as possible:
//
//   minimise over the flow  sum_i e_i^2,  e_i = g_i - lambda1 u_i - outflow_i
//
// with |flow_ij| <= lambda2 w_ij.
// This is a total-variation problem. If all u_i are equal, its flow is a maximum flow for every
// lambda1 at once, so it stays almost right when lambda1 decreases. Edges between parts keep their
// flow.
#pragma once

#include <cmath>
#include <vector>

#include "graph/edge_sweeps.hpp"
#include "graph/network.hpp"
#include "poll.hpp"

namespace n2gfl {

class BalanceSweeps {
 public:
  BalanceSweeps(Network& network, Poll& poll, int threads = 1);
  BalanceSweeps(const BalanceSweeps&) = delete;
  BalanceSweeps& operator=(const BalanceSweeps&) = delete;

  static constexpr double kOneSided = -1;

  // excess(i): with the flow of the network. limit(i): an excess beyond +-limit is too much, or, if
  // kOneSided, every positive one. part(i): edges between different parts are closed. `unit`: about
  // the size of a capacity.
  template <class Excess, class Limit, class Part>
  void load(Excess excess, Limit limit, Part part, double unit) {
    unit_ = unit;
    const double scale = 1 / unit;
    auto to_float = [&](double v) {
      return static_cast<float>(std::fmax(-kLargest, std::fmin(kLargest, v * scale)));
    };
    for (int i = 0; i < net_->nodes(); ++i) {
      sweeps_.rest[edges_.place(i)] = to_float(excess(i));
      limit_[edges_.place(i)] = to_float(limit(i));
      for (int a = net_->begin(i); a < net_->end(i); ++a) {
        const int e = edge_[a];
        if (e < 0 || edges_.arc(e) != a) continue;
        const Arc& u = net_->arc(a);
        const bool open = part(u.head) == part(i);
        sweeps_.capacity[e] = open ? static_cast<float>(u.capacity * scale) : 0.0f;
        sweeps_.flow[e] = open ? static_cast<float>(u.flow * scale) : 0.0f;
      }
    }
    sweeps_.restart();
  }

  void run(int sweeps);

  // The sum of what is beyond the limits.
  double overflow() const;

  // Writes the flow back to the network. Reads the arcs in their order in memory, so the flow of an
  // edge is computed twice.
  void unload();

 private:
  static constexpr double kLargest = 1e4;    // excess in units; that of excluded features is -Inf
  static constexpr float kMomentum = 0.97f;  // about 1 - 2 / (longest way)
  using Floats = EdgeSweeps::Floats;

  double flow(int e, const Arc& u) const;
  static std::vector<int> all_nodes(const Network& network);

  Network* net_;
  Poll* poll_;
  EdgeRuns edges_;
  std::vector<int> edge_;  // arc -> edge; -1: its capacity was zero when the runs were made
  EdgeSweeps sweeps_;
  Floats limit_;  // per position
  double unit_ = 1;
};

}  // namespace n2gfl
