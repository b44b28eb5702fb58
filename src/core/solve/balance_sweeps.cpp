#include "solve/balance_sweeps.hpp"

#include <cmath>
#include <numeric>
#include <vector>

namespace n2gfl {

BalanceSweeps::BalanceSweeps(Network& network, Poll& poll, int threads)
    : net_(&network), poll_(&poll), edges_(network, poll, all_nodes(network)),
      edge_(edges_.edge_of_arcs(network)), sweeps_(edges_, threads) {
  sweeps_.rest.resize(edges_.nodes());
  limit_.resize(edges_.nodes());
  sweeps_.flow.resize(edges_.edges());
  sweeps_.capacity.resize(edges_.edges());
}

void BalanceSweeps::run(int sweeps) {
  for (int k = 0; k < sweeps; ++k) {
    poll_->now();
    sweeps_.sweep(kMomentum);
  }
}

double BalanceSweeps::overflow() const {
  const auto above = (sweeps_.rest - limit_.max(0.0f)).max(0.0f);
  const auto below = (limit_ < 0.0f).select(0.0f, (-sweeps_.rest - limit_).max(0.0f));
  return (above.cast<double>().sum() + below.template cast<double>().sum()) * unit_;
}

void BalanceSweeps::unload() {
  for (int i = 0; i < net_->nodes(); ++i)
    for (int a = net_->begin(i); a < net_->end(i); ++a) {
      const int e = edge_[a];
      if (e < 0 || !(sweeps_.capacity[e] > 0)) continue;
      Arc& u = net_->arc(a);
      u.flow = edges_.arc(e) == a ? flow(e, u) : -flow(e, u);
    }
  net_->refresh_outflow();
}

// An edge that is saturated in float counts as saturated.
double BalanceSweeps::flow(int e, const Arc& u) const {
  const double flow = sweeps_.flow[e] * unit_;
  const bool full =
      std::fabs(sweeps_.flow[e]) >= sweeps_.capacity[e] || std::fabs(flow) > u.capacity;
  return full ? std::copysign(u.capacity, flow) : flow;
}

std::vector<int> BalanceSweeps::all_nodes(const Network& network) {
  std::vector<int> nodes(network.nodes());
  std::iota(nodes.begin(), nodes.end(), 0);
  return nodes;
}

}  // namespace n2gfl
