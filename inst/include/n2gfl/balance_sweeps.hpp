// A smooth flow that is almost right, for the exact search to start from. Inside every part of the
// graph (the zero set, each region) the excess of the nodes is made as equal as possible:
//
//   minimise over the flow  sum_i e_i^2,  e_i = g_i - lambda1 u_i - outflow_i,  |flow_ij| <= lambda2 w_ij
//
// This is a total-variation problem. If all u_i are equal, its flow is a maximum flow for every
// lambda1 at once, so it stays almost right when lambda1 decreases. Edges between parts keep their
// flow.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "edge_sweeps.hpp"
#include "max_flow.hpp"
#include "poll.hpp"

namespace n2gfl {

class BalanceSweeps {
 public:
  BalanceSweeps(Network& network, Poll& poll)
      : net_(&network), poll_(&poll), edges_(network, poll, all_nodes(network)), sweeps_(edges_) {
    sweeps_.rest.resize(edges_.nodes());
    limit_.resize(edges_.nodes());
    sweeps_.flow.resize(edges_.edges());
    sweeps_.capacity.resize(edges_.edges());
  }
  BalanceSweeps(const BalanceSweeps&) = delete;
  BalanceSweeps& operator=(const BalanceSweeps&) = delete;

  // excess(i): with the flow of the network. limit(i): an excess above it is too much, and below
  // -limit(i) too, unless it is negative. part(i): edges between different parts are closed.
  // `unit`: about the size of a capacity.
  template <class Excess, class Limit, class Part>
  void load(Excess excess, Limit limit, Part part, double unit) {
    unit_ = unit;
    const double scale = 1 / unit;
    auto to_float = [&](double v) {
      return static_cast<float>(std::fmax(-kLargest, std::fmin(kLargest, v * scale)));
    };
    for (int k = 0; k < edges_.nodes(); ++k) {
      sweeps_.rest[k] = to_float(excess(edges_.node(k)));
      limit_[k] = to_float(limit(edges_.node(k)));
    }
    for (int e = 0; e < edges_.edges(); ++e) {
      const Arc& u = net_->arc(edges_.arc(e));
      const bool open = part(u.head) == part(net_->tail(edges_.arc(e)));
      sweeps_.capacity[e] = open ? static_cast<float>(u.capacity * scale) : 0.0f;
      sweeps_.flow[e] = open ? static_cast<float>(u.flow * scale) : 0.0f;
    }
    sweeps_.restart();
  }

  void run(int sweeps) {
    for (int k = 0; k < sweeps; ++k) {
      poll_->now();
      sweeps_.sweep(kMomentum);
    }
  }

  // The sum of what is beyond the limits.
  double overflow() const {
    const auto above = (sweeps_.rest - limit_.max(0.0f)).max(0.0f);
    const auto below = (limit_ < 0.0f).select(0.0f, (-sweeps_.rest - limit_).max(0.0f));
    return (above.cast<double>().sum() + below.template cast<double>().sum()) * unit_;
  }

  // Writes the flow back to the network. An edge that is saturated in float counts as saturated.
  void unload() {
    for (int e = 0; e < edges_.edges(); ++e) {
      if (!(sweeps_.capacity[e] > 0)) continue;
      Arc& u = net_->arc(edges_.arc(e));
      const double flow = sweeps_.flow[e] * unit_;
      if (!std::isfinite(flow)) continue;
      const bool full =
          std::fabs(sweeps_.flow[e]) >= sweeps_.capacity[e] || std::fabs(flow) > u.capacity;
      net_->set_flow_only(u, full ? std::copysign(u.capacity, flow) : flow);
    }
    net_->refresh_outflow();
  }

 private:
  static constexpr double kLargest = 1e4;     // excess in units: excluded features lack without end
  static constexpr float kMomentum = 0.97f;   // about 1 - 2 / (longest way)
  using Floats = EdgeSweeps::Floats;

  static std::vector<int> all_nodes(const Network& network) {
    std::vector<int> nodes(network.nodes());
    std::iota(nodes.begin(), nodes.end(), 0);
    return nodes;
  }

  Network* net_;
  Poll* poll_;
  EdgeRuns edges_;
  EdgeSweeps sweeps_;
  Floats limit_;  // per position
  double unit_ = 1;
};

}  // namespace n2gfl
