// A fast and almost right flow for a total-variation problem. One edge at a time, the flow of the
// edge is set to its best value with all others fixed (Gauss-Seidel on the dual), with momentum
// from sweep to sweep. All in float: the answer need not be exact, it is bounded by how fast memory
// delivers the flows.
//
// To let the processor work on several edges at once the edges are stored in runs
// (a, b), (a + 1, b + 1), ... whose nodes are all different. Nodes are renumbered, those at even
// places first: on a grid the edges along the first axis then make long runs too.
#pragma once

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include <Eigen/Core>

#include "level_sets.hpp"
#include "max_flow.hpp"
#include "poll.hpp"

namespace n2gfl {

class FlowSweeps {
 public:
  // Sweeps the edges that join two of the given nodes. The network's flow is the start.
  FlowSweeps(Network& network, Poll& poll, const NodeTerms& terms, const std::vector<int>& nodes)
      : net_(&network), poll_(&poll), terms_(&terms) {
    number_nodes(nodes);
    find_runs();
    load();
  }

  // At most `sweeps` more sweeps; stops early when `interval` of them lower the energy by less than
  // `least_gain`, relative to the energy without any flow, twice in a row. Then hands the flow back.
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
  static constexpr int kInterval = 20;   // sweeps between two looks at the energy
  static constexpr int kWidth = 8;       // edges at a time
  static constexpr float kRelaxation = 1.1f;  // with momentum, 1.4 and more diverges

  struct Run {
    int a, b, size;
    int first;  // place of its first edge in the flow arrays
  };

  using Floats = Eigen::ArrayXf;

  // Even places first.
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

  // Walks the nodes and appends each edge to the run that it continues, if there is one.
  void find_runs() {
    std::vector<int> run_of;  // per edge, in the order of the walk
    std::vector<int> open, still_open;
    for (int a = 0; a < static_cast<int>(node_.size()); ++a) {
      still_open.clear();
      for (int arc = net_->begin(node_[a]); arc < net_->end(node_[a]); ++arc) {
        const int b = place_[net_->arc(arc).head];
        if (b < a || net_->arc(arc).capacity <= 0) continue;
        const int run = continued(open, a, b);
        ++runs_[run].size;
        still_open.push_back(run);
        arc_.push_back(arc);
        run_of.push_back(run);
      }
      open.swap(still_open);
    }
    place_edges(run_of);
  }

  int continued(const std::vector<int>& open, int a, int b) {
    for (int r : open) {
      const Run& run = runs_[r];
      const bool next = run.a + run.size == a && run.b + run.size == b;
      if (next && run.size < run.b - run.a) return r;
    }
    runs_.push_back({a, b, 0, 0});
    return static_cast<int>(runs_.size()) - 1;
  }

  // Run after run.
  void place_edges(const std::vector<int>& run_of) {
    int first = 0;
    std::vector<int> order(runs_.size());
    for (std::size_t r = 0; r < order.size(); ++r) order[r] = r;
    auto key = [this](int r) { const Run& u = runs_[r]; const int o = u.b - u.a; return std::make_tuple(o, (u.a / o) % 2, u.a); };
    std::sort(order.begin(), order.end(), [&](int r, int s) { return key(r) < key(s); });
    for (int r : order) {
      Run& run = runs_[r];
      run.first = first;
      first += run.size;
    }
    std::vector<int> next(runs_.size(), 0), arcs(arc_.size());
    for (std::size_t e = 0; e < arc_.size(); ++e)
      arcs[runs_[run_of[e]].first + next[run_of[e]]++] = arc_[e];
    arc_.swap(arcs);
    std::sort(runs_.begin(), runs_.end(), [](const Run& u, const Run& v) { return u.first < v.first; });
  }

  // Masses and capacities that are all equal need not be read from memory.
  void load() {
    const int n = static_cast<int>(node_.size()), edges = static_cast<int>(arc_.size());
    double energy = 0, total_mass = 0;
    for (int i : node_) {
      const double m = terms_->mass[i];
      energy += square(terms_->linear[i]) / m;
      total_mass += m;
    }
    mass_unit_ = n > 0 ? total_mass / n : 1;
    value_unit_ = energy > 0 ? std::sqrt(energy / total_mass) : 1;
    const double flow_unit = mass_unit_ * value_unit_;
    mass_.resize(n);
    for (int k = 0; k < n; ++k) mass_[k] = static_cast<float>(terms_->mass[node_[k]] / mass_unit_);
    flow_.resize(edges);
    capacity_.resize(edges);
    for (int e = 0; e < edges; ++e) {
      const Arc& u = net_->arc(arc_[e]);
      flow_[e] = static_cast<float>(u.flow / flow_unit);
      capacity_[e] = static_cast<float>(u.capacity / flow_unit);
    }
    start_.resize(n);
    for (int k = 0; k < n; ++k)
      start_[k] = static_cast<float>(frozen(k) / flow_unit);
    start_energy_ = energy / (flow_unit * value_unit_);
    uniform_ = edges > 0 && (mass_ == 1).all() && (capacity_ == capacity_[0]).all();
    if (!uniform_) inverse_mass_ = 1 / mass_;
    rest_ = start_;
    previous_rest_ = start_;
    restart_from_flow();
  }

  // The linear term with the flow that leaves the swept nodes taken off.
  double frozen(int k) const {
    const int i = node_[k];
    double value = terms_->linear[i];
    for (int arc = net_->begin(i); arc < net_->end(i); ++arc)
      if (place_[net_->arc(arc).head] < 0) value -= net_->arc(arc).flow;
    return value;
  }

  void restart_from_flow() {
    refresh();
    best_energy_ = energy_;
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

  // rest = start - outflow, anew: updates in float drift.
  void refresh() {
    Floats fresh = start_;
    for (const Run& run : runs_) {
      const auto flow = flow_.segment(run.first, run.size);
      fresh.segment(run.a, run.size) -= flow;
      fresh.segment(run.b, run.size) += flow;
    }
    previous_rest_ += fresh - rest_;
    rest_.swap(fresh);
    energy_ = (rest_.square() / mass_).cast<double>().sum();
  }

  void sweep(float momentum) {
    extrapolate_rest(momentum);
    if (uniform_)
      for (const Run& run : runs_) sweep_run<true>(run, momentum);
    else
      for (const Run& run : runs_) sweep_run<false>(run, momentum);
  }

  // previous, rest = rest, rest + momentum (rest - previous), without another array in memory.
  void extrapolate_rest(float momentum) {
    previous_rest_ = rest_ + momentum * (rest_ - previous_rest_);
    previous_rest_.swap(rest_);
  }

  template <bool kUniform>
  void sweep_run(const Run& run, float momentum) {
    int k = 0;
    for (; k + kWidth <= run.size; k += kWidth)
      update<kUniform, kWidth>(run.a + k, run.b + k, run.first + k, momentum);
    for (; k < run.size; ++k) update<kUniform, 1>(run.a + k, run.b + k, run.first + k, momentum);
  }

  // Edges (a + k, b + k): extrapolate the flow, add what evens out the two ends, clamp.
  template <bool kUniform, int kSize>
  void update(int a, int b, int edge, float momentum) {
    using Pack = Eigen::Array<float, kSize, 1>;
    auto flow = flow_.segment<kSize>(edge), previous = previous_flow_.segment<kSize>(edge);
    auto rest_a = rest_.segment<kSize>(a), rest_b = rest_.segment<kSize>(b);
    const Pack old = flow, at_a = rest_a, at_b = rest_b;
    const Pack moved = old + momentum * (old - previous);
    Pack next;
    if (kUniform) {
      next = moved + (0.5f * relaxation_) * (at_a - at_b);
      next = next.min(capacity_[0]).max(-capacity_[0]);
    } else {
      const Pack in_a = inverse_mass_.segment<kSize>(a), in_b = inverse_mass_.segment<kSize>(b);
      const Pack capacity = capacity_.segment<kSize>(edge);
      next = moved + relaxation_ * (at_a * in_a - at_b * in_b) / (in_a + in_b);
      next = next.min(capacity).max(-capacity);
    }
    previous = old;
    flow = next;
    rest_a = at_a - (next - moved);
    rest_b = at_b + (next - moved);
  }

  // What is full in float is full.
  void unload() {
    const double flow_unit = mass_unit_ * value_unit_;
    for (std::size_t e = 0; e < arc_.size(); ++e) {
      Arc& u = net_->arc(arc_[e]);
      double flow = flow_[e] * flow_unit;
      if (std::fabs(flow_[e]) >= capacity_[e] || std::fabs(flow) > u.capacity)
        flow = std::copysign(u.capacity, flow);
      net_->set_flow_only(u, flow);
    }
    for (int i : node_) net_->refresh_outflow(i);
  }

  static double square(double v) { return v * v; }

  Network* net_;
  Poll* poll_;
  const NodeTerms* terms_;
  std::vector<int> place_, node_, arc_;  // node -> place and back; edge -> arc
  std::vector<Run> runs_;
  double mass_unit_ = 1, value_unit_ = 1;
  Floats mass_, inverse_mass_, start_, rest_, previous_rest_;  // per place
  Floats flow_, previous_flow_, capacity_;                     // per edge
  bool uniform_ = false;
  double start_energy_ = 0, energy_ = 0, best_energy_ = 0, steps_ = 1;
  float relaxation_ = kRelaxation, momentum_limit_ = 0.985f;
};

}  // namespace n2gfl
