// A fast approximate flow for a total-variation problem. The flow of one edge at a time is set to
// its best value with all others fixed (Gauss-Seidel on the dual), with momentum from sweep to
// sweep. All numbers are floats: the result need not be exact, and the speed is limited by memory
// bandwidth.
//
// To let the processor update several edges at once, the edges are stored in runs (a, b), (a + 1,
// b + 1), ... whose nodes are all different. Nodes are renumbered, those at even positions first,
// so that the edges along the first axis of a grid also form long runs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <Eigen/Core>

#include "level_sets.hpp"
#include "max_flow.hpp"
#include "poll.hpp"

namespace n2gfl {

class FlowSweeps {
 public:
  // Sweeps the edges that join two of the given nodes, starting from the flow of the network.
  FlowSweeps(Network& network, Poll& poll, const NodeTerms& terms, const std::vector<int>& nodes)
      : net_(&network), poll_(&poll), terms_(&terms) {
    number_nodes(nodes);
    colour_edges();
    find_runs();
    poll_->now();
    load();
    poll_->now();
  }

  // The standard deviation of the values without any flow, and its product with the mean mass.
  double value_scale() const { return value_unit_; }
  double flow_scale() const { return flow_unit_; }

  // Makes at most `sweeps` more sweeps. Stops early if 20 sweeps change the energy by less than
  // `least_gain`, relative to the energy without any flow, twice in a row. Writes the flow back to
  // the network.
  void run(int sweeps, double least_gain, float momentum_limit) {
    momentum_limit_ = momentum_limit;
    bool was_small = false;
    for (int k = 1; k <= sweeps; ++k) {
      poll_->now();
      sweep(next_momentum());
      if (k % kInterval != 0) continue;
      const double before = energy_;
      refresh();
      if (energy_ > 1.01 * best_energy_) {
        restart();
        continue;
      }
      best_energy_ = std::min(best_energy_, energy_);
      const bool small = std::fabs(before - energy_) < least_gain * start_energy_;
      if (small && was_small) break;
      was_small = small;
    }
    unload();
  }

 private:
  static constexpr int kInterval = 20;        // sweeps between two evaluations of the energy
  static constexpr int kWidth = 8;            // edges per update
  static constexpr float kRelaxation = 1.1f;  // with momentum, 1.4 and more diverges

  static constexpr int kLastColour = 63;

  struct Run {
    int a, b, size;
    int first;  // position of its first edge in the flow arrays
  };

  using Floats = Eigen::ArrayXf;

  // Numbers the nodes at even positions first.
  void number_nodes(std::vector<int> nodes) {
    std::sort(nodes.begin(), nodes.end());
    const int n = static_cast<int>(nodes.size()), evens = (n + 1) / 2;
    place_.assign(net_->nodes(), -1);
    node_.resize(n);
    for (int k = 0; k < n; ++k) {
      const int place = k % 2 == 0 ? k / 2 : evens + k / 2;
      place_[nodes[k]] = place;
      node_[place] = nodes[k];
    }
  }

  // Gives each edge a colour such that the edges of one node differ, and sorts the edges by
  // colour. At nodes of very high degree the colours run out; the remaining edges share the last
  // colour, in which every run is a single edge.
  void colour_edges() {
    std::vector<std::uint64_t> used(node_.size(), 0);
    std::vector<std::uint8_t> colour;
    for (int a = 0; a < static_cast<int>(node_.size()); ++a) {
      (*poll_)();
      for (int arc = net_->begin(node_[a]); arc < net_->end(node_[a]); ++arc) {
        const int b = place_[net_->arc(arc).head];
        if (b < a || net_->arc(arc).capacity <= 0) continue;
        int c = 0;
        while (c < kLastColour && ((used[a] | used[b]) >> c & 1)) ++c;
        used[a] |= std::uint64_t{1} << c;
        used[b] |= std::uint64_t{1} << c;
        colour.push_back(static_cast<std::uint8_t>(c));
        arc_.push_back(arc);
      }
    }
    sort_by(colour);
  }

  // Counting sort of the edges; they keep their order within a colour.
  void sort_by(const std::vector<std::uint8_t>& colour) {
    colour_begin_.assign(kLastColour + 2, 0);
    for (int c : colour) ++colour_begin_[c + 1];
    for (int c = 0; c <= kLastColour; ++c) colour_begin_[c + 1] += colour_begin_[c];
    std::vector<int> next(colour_begin_), sorted(arc_.size());
    for (std::size_t e = 0; e < arc_.size(); ++e) sorted[next[colour[e]]++] = arc_[e];
    arc_.swap(sorted);
  }

  void find_runs() {
    for (int c = 0; c <= kLastColour; ++c)
      for (int e = colour_begin_[c]; e < colour_begin_[c + 1]; ++e) {
        const int a = place_[net_->tail(arc_[e])], b = place_[net_->arc(arc_[e]).head];
        const bool starts = c == kLastColour || e == colour_begin_[c];
        if (!starts && continues(runs_.back(), a, b)) ++runs_.back().size;
        else runs_.push_back({a, b, 1, e});
      }
  }

  static bool continues(const Run& run, int a, int b) {
    return run.a + run.size == a && run.b + run.size == b;
  }

  // Scales everything by the data and centres the values, so that float is accurate enough.
  void load() {
    load_nodes();
    load_edges();
    // If all masses or all capacities are equal, they need not be read from memory.
    one_mass_ = (inverse_mass_ == 1).all();
    one_capacity_ = capacity_.size() > 0 && (capacity_ == capacity_[0]).all();
    restart_from_flow();
  }

  void load_nodes() {
    const int n = static_cast<int>(node_.size());
    Eigen::ArrayXd mass(n), linear(n);
    for (int k = 0; k < n; ++k) {
      mass[k] = terms_->mass[node_[k]];
      linear[k] = frozen(node_[k]);
    }
    linear -= mass * (linear.sum() / mass.sum());
    // Divided by the largest first, because squares of the data themselves may overflow.
    const double largest = std::fmax(linear.abs().maxCoeff(), std::numeric_limits<double>::min());
    const double energy = ((linear / largest).square() / mass).sum();
    value_unit_ = energy > 0 ? largest * std::sqrt(energy / mass.sum()) : 1;
    flow_unit_ = value_unit_ * mass.mean();
    start_ = (linear / flow_unit_).cast<float>();
    inverse_mass_ = (mass.mean() / mass).cast<float>();
    start_energy_ = energy * (largest / flow_unit_) * (largest / value_unit_);
  }

  // The linear term minus the flow from the swept nodes to others.
  double frozen(int i) const {
    double value = terms_->linear[i];
    for (int arc = net_->begin(i); arc < net_->end(i); ++arc)
      if (place_[net_->arc(arc).head] < 0) value -= net_->arc(arc).flow;
    return value;
  }

  void load_edges() {
    flow_.resize(arc_.size());
    capacity_.resize(arc_.size());
    for (std::size_t e = 0; e < arc_.size(); ++e) {
      const Arc& u = net_->arc(arc_[e]);
      flow_[e] = static_cast<float>(u.flow / flow_unit_);
      capacity_[e] = static_cast<float>(u.capacity / flow_unit_);
    }
  }

  void restart_from_flow() {
    rest_ = start_;
    previous_rest_ = start_;
    refresh();
    best_energy_ = first_energy_ = energy_;
    restart();
    relaxation_ = kRelaxation;
  }

  void restart() {
    steps_ = 1;
    relaxation_ = 1;
    previous_rest_ = rest_;
    previous_flow_ = flow_;
  }

  float next_momentum() {
    const double next = 0.5 * (1 + std::sqrt(1 + 4 * steps_ * steps_));
    const double momentum = std::min<double>(momentum_limit_, (steps_ - 1) / next);
    steps_ = next;
    return static_cast<float>(momentum);
  }

  // Computes the rest from the flow again, because updates in float drift.
  void refresh() {
    Floats fresh = start_;
    for (const Run& run : runs_) {
      const auto flow = flow_.segment(run.first, run.size);
      fresh.segment(run.a, run.size) -= flow;
      fresh.segment(run.b, run.size) += flow;
    }
    previous_rest_ += fresh - rest_;
    rest_.swap(fresh);
    energy_ = (rest_.square() * inverse_mass_).cast<double>().sum();
  }

  void sweep(float momentum) {
    extrapolate_rest(momentum);
    if (one_mass_ && one_capacity_) sweep_runs<true, true>(momentum);
    else if (one_mass_) sweep_runs<true, false>(momentum);
    else sweep_runs<false, false>(momentum);
  }

  void extrapolate_rest(float momentum) {
    previous_rest_ = rest_ + momentum * (rest_ - previous_rest_);
    previous_rest_.swap(rest_);
  }

  template <bool kOneMass, bool kOneCapacity>
  void sweep_runs(float momentum) {
    for (const Run& run : runs_) {
      int k = 0;
      for (; k + kWidth <= run.size; k += kWidth)
        update<kOneMass, kOneCapacity, kWidth>(run.a + k, run.b + k, run.first + k, momentum);
      for (; k < run.size; ++k)
        update<kOneMass, kOneCapacity, 1>(run.a + k, run.b + k, run.first + k, momentum);
    }
  }

  // Edges (a + k, b + k): extrapolates the flow, balances the two ends, clamps to the capacity.
  template <bool kOneMass, bool kOneCapacity, int kSize>
  void update(int a, int b, int edge, float momentum) {
    using Pack = Eigen::Array<float, kSize, 1>;
    auto flow = flow_.segment<kSize>(edge), previous = previous_flow_.segment<kSize>(edge);
    auto rest_a = rest_.segment<kSize>(a), rest_b = rest_.segment<kSize>(b);
    const Pack old = flow, at_a = rest_a, at_b = rest_b;
    const Pack moved = old + momentum * (old - previous);
    Pack next, capacity;
    if (kOneMass) {
      next = moved + (0.5f * relaxation_) * (at_a - at_b);
    } else {
      const Pack in_a = inverse_mass_.segment<kSize>(a), in_b = inverse_mass_.segment<kSize>(b);
      next = moved + relaxation_ * (at_a * in_a - at_b * in_b) / (in_a + in_b);
    }
    if (kOneCapacity) capacity.setConstant(capacity_[0]);
    else capacity = capacity_.segment<kSize>(edge);
    next = next.min(capacity).max(-capacity);
    previous = old;
    flow = next;
    rest_a = at_a - (next - moved);
    rest_b = at_b + (next - moved);
  }

  // An edge that is saturated in float counts as saturated. Masses beyond the range of float can
  // spoil a flow, and at nodes of very high degree the sweeps may diverge; then the old flow is
  // kept.
  void unload() {
    if (!(energy_ <= first_energy_)) return;
    for (std::size_t e = 0; e < arc_.size(); ++e) {
      (*poll_)();
      Arc& u = net_->arc(arc_[e]);
      double flow = flow_[e] * flow_unit_;
      if (!std::isfinite(flow)) continue;
      const bool full = flow_[e] != 0 && std::fabs(flow_[e]) >= capacity_[e];  // not if both are 0
      if (full || std::fabs(flow) > u.capacity)
        flow = std::copysign(u.capacity, flow);
      net_->set_flow_only(u, flow);
    }
    for (int i : node_) net_->refresh_outflow(i);
  }

  Network* net_;
  Poll* poll_;
  const NodeTerms* terms_;
  std::vector<int> place_, node_;        // node -> position and back
  std::vector<int> arc_, colour_begin_;  // edge -> arc; the first edge of each colour
  std::vector<Run> runs_;
  double value_unit_ = 1, flow_unit_ = 1;
  Floats inverse_mass_, start_, rest_, previous_rest_;  // per position; rest = start - outflow
  Floats flow_, previous_flow_, capacity_;              // per edge
  bool one_mass_ = false, one_capacity_ = false;
  double start_energy_ = 0;  // without any flow
  double first_energy_ = 0, best_energy_ = 0, energy_ = 0;  // with the network's flow, and since
  double steps_ = 1;
  float relaxation_ = kRelaxation, momentum_limit_ = 0.985f;
};

}  // namespace n2gfl
