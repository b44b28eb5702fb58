#include "prox/flow_sweeps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace n2gfl {

FlowSweeps::FlowSweeps(Network& network, Poll& poll, const NodeTerms& terms,
                       const std::vector<int>& nodes)
    : net_(&network), poll_(&poll), terms_(&terms), edges_(network, poll, nodes), sweeps_(edges_) {
  load();
  poll_->now();
}

void FlowSweeps::run(int sweeps, double least_gain, float momentum_limit) {
  bool was_small = false;
  for (int k = 1; k <= sweeps; ++k) {
    poll_->now();
    sweeps_.sweep(momentum_limit);
    if (k % kInterval != 0) continue;
    const double before = energy_;
    refresh();
    if (energy_ > 1.01 * best_energy_) {
      sweeps_.restart(1.0f);
      continue;
    }
    best_energy_ = std::min(best_energy_, energy_);
    const bool small = std::fabs(before - energy_) < least_gain * start_energy_;
    if (small && was_small) break;
    was_small = small;
  }
  unload();
}

// Scales everything by the data and centres the values, so that float is accurate enough.
void FlowSweeps::load() {
  load_nodes();
  load_edges();
  restart_from_flow();
}

void FlowSweeps::load_nodes() {
  const int n = edges_.nodes();
  Eigen::ArrayXd mass(n), linear(n);
  for (int k = 0; k < n; ++k) {
    mass[k] = terms_->mass[edges_.node(k)];
    linear[k] = frozen(edges_.node(k));
  }
  linear -= mass * (linear.sum() / mass.sum());
  // Divided by the largest first, because squares of the data themselves may overflow.
  const double largest = std::fmax(linear.abs().maxCoeff(), std::numeric_limits<double>::min());
  const double energy = ((linear / largest).square() / mass).sum();
  value_unit_ = energy > 0 ? largest * std::sqrt(energy / mass.sum()) : 1;
  flow_unit_ = value_unit_ * mass.mean();
  start_ = (linear / flow_unit_).cast<float>();
  sweeps_.inverse_mass = (mass.mean() / mass).cast<float>();
  start_energy_ = energy * (largest / flow_unit_) * (largest / value_unit_);
}

// The linear term minus the flow from the swept nodes to others.
double FlowSweeps::frozen(int i) const {
  double value = terms_->linear[i];
  for (int arc = net_->begin(i); arc < net_->end(i); ++arc)
    if (edges_.place(net_->arc(arc).head) < 0) value -= net_->arc(arc).flow;
  return value;
}

void FlowSweeps::load_edges() {
  sweeps_.flow.resize(edges_.edges());
  sweeps_.capacity.resize(edges_.edges());
  for (int e = 0; e < edges_.edges(); ++e) {
    const Arc& u = net_->arc(edges_.arc(e));
    sweeps_.flow[e] = static_cast<float>(u.flow / flow_unit_);
    sweeps_.capacity[e] = static_cast<float>(u.capacity / flow_unit_);
  }
}

void FlowSweeps::restart_from_flow() {
  sweeps_.rest = start_;
  sweeps_.previous_rest = start_;
  refresh();
  best_energy_ = first_energy_ = energy_;
  sweeps_.restart();
}

// Computes the rest from the flow again, because updates in float drift.
void FlowSweeps::refresh() {
  Floats fresh = start_;
  for (const EdgeRuns::Run& run : edges_.runs()) {
    const auto flow = sweeps_.flow.segment(run.first, run.size);
    fresh.segment(run.a, run.size) -= flow;
    fresh.segment(run.b, run.size) += flow;
  }
  sweeps_.previous_rest += fresh - sweeps_.rest;
  sweeps_.rest.swap(fresh);
  energy_ = (sweeps_.rest.square() * sweeps_.inverse_mass).cast<double>().sum();
}

// An edge that is saturated in float counts as saturated. Masses beyond the range of float can
// spoil a flow, and at nodes of very high degree the sweeps may diverge; then the old flow is
// kept.
void FlowSweeps::unload() {
  if (!(energy_ <= first_energy_)) return;
  for (int e = 0; e < edges_.edges(); ++e) {
    (*poll_)();
    Arc& u = net_->arc(edges_.arc(e));
    const float scaled = sweeps_.flow[e];
    double flow = scaled * flow_unit_;
    if (!std::isfinite(flow)) continue;
    const bool full = scaled != 0 && std::fabs(scaled) >= sweeps_.capacity[e];  // not if both are 0
    if (full || std::fabs(flow) > u.capacity)
      flow = std::copysign(u.capacity, flow);
    net_->set_flow_only(u, flow);
  }
  for (int k = 0; k < edges_.nodes(); ++k) net_->refresh_outflow(edges_.node(k));
}

}  // namespace n2gfl
