#include "graph/edge_sweeps.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "parallel.hpp"

namespace n2gfl {

EdgeRuns::EdgeRuns(const Network& network, Poll& poll, std::vector<int> nodes) {
  number_nodes(network, std::move(nodes));
  colour_edges(network, poll);
  find_runs(network);
  poll.now();
}

std::vector<int> EdgeRuns::edge_of_arcs(const Network& network) const {
  std::vector<int> edge(network.arcs(), -1);
  for (int e = 0; e < edges(); ++e) edge[arc_[e]] = edge[network.arc(arc_[e]).reverse] = e;
  return edge;
}

// Numbers the nodes at even positions first.
void EdgeRuns::number_nodes(const Network& network, std::vector<int> nodes) {
  std::sort(nodes.begin(), nodes.end());
  const int n = static_cast<int>(nodes.size()), evens = (n + 1) / 2;
  place_.assign(network.nodes(), -1);
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
void EdgeRuns::colour_edges(const Network& network, Poll& poll) {
  std::vector<std::uint64_t> used(node_.size(), 0);
  std::vector<std::uint8_t> colour;
  for (int a = 0; a < nodes(); ++a) {
    poll();
    for (int arc = network.begin(node_[a]); arc < network.end(node_[a]); ++arc) {
      const int b = place_[network.arc(arc).head];
      if (b < a || network.arc(arc).capacity <= 0) continue;
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
void EdgeRuns::sort_by(const std::vector<std::uint8_t>& colour) {
  colour_begin_.assign(kLastColour + 2, 0);
  for (int c : colour) ++colour_begin_[c + 1];
  for (int c = 0; c <= kLastColour; ++c) colour_begin_[c + 1] += colour_begin_[c];
  std::vector<int> next(colour_begin_), sorted(arc_.size());
  for (std::size_t e = 0; e < arc_.size(); ++e) sorted[next[colour[e]]++] = arc_[e];
  arc_.swap(sorted);
}

void EdgeRuns::find_runs(const Network& network) {
  first_run_.assign(kColours + 1, 0);
  for (int c = 0; c <= kLastColour; ++c) {
    for (int e = colour_begin_[c]; e < colour_begin_[c + 1]; ++e) {
      const int a = place_[network.tail(arc_[e])], b = place_[network.arc(arc_[e]).head];
      const bool starts = c == kLastColour || e == colour_begin_[c];
      if (!starts && continues(runs_.back(), a, b)) ++runs_.back().size;
      else runs_.push_back({a, b, 1, e});
    }
    first_run_[c + 1] = static_cast<int>(runs_.size());
  }
}

bool EdgeRuns::continues(const Run& run, int a, int b) {
  return run.a + run.size == a && run.b + run.size == b;
}

void EdgeSweeps::restart(float relaxation) {
  steps_ = 1;
  relaxation_ = relaxation;
  previous_rest = rest;
  previous_flow_ = flow;
  // If all masses or all capacities are equal, they need not be read from memory.
  one_mass_ = inverse_mass.size() == 0 || (inverse_mass == 1).all();
  one_capacity_ = capacity.size() > 0 && (capacity == capacity[0]).all();
}

void EdgeSweeps::sweep(float momentum_limit) {
  const double next = 0.5 * (1 + std::sqrt(1 + 4 * steps_ * steps_));
  const auto momentum =
      static_cast<float>(std::min<double>(momentum_limit, (steps_ - 1) / next));
  steps_ = next;
  previous_rest = rest + momentum * (rest - previous_rest);
  previous_rest.swap(rest);
  if (one_mass_ && one_capacity_) sweep_runs<true, true>(momentum);
  else if (one_mass_) sweep_runs<true, false>(momentum);
  else sweep_runs<false, false>(momentum);
}

template <bool kOneMass, bool kOneCapacity>
void EdgeSweeps::sweep_runs(float momentum) {
  const double per_run = runs_->edges() / std::max(1.0, static_cast<double>(runs_->runs().size()));
  const double cost = kCostOfEdge * kRunsAtOnce * per_run;
  for (int c = 0; c < EdgeRuns::kColours; ++c) {
    const int begin = runs_->first_run(c), end = runs_->end_run(c);
    const int threads = c + 1 < EdgeRuns::kColours ? threads_ : 1;
    parallel_for((end - begin + kRunsAtOnce - 1) / kRunsAtOnce, threads, cost,
                 [&](std::ptrdiff_t block) {
      const int first = begin + static_cast<int>(block) * kRunsAtOnce;
      for (int r = first; r < std::min(end, first + kRunsAtOnce); ++r)
        sweep_run<kOneMass, kOneCapacity>(runs_->runs()[r], momentum);
    });
  }
}

// On a mask most runs are short, so what is left of a run is updated four at a time first.
template <bool kOneMass, bool kOneCapacity>
void EdgeSweeps::sweep_run(const EdgeRuns::Run& run, float momentum) {
  int k = 0;
  for (; k + kWidth <= run.size; k += kWidth)
    update<kOneMass, kOneCapacity, kWidth>(run.a + k, run.b + k, run.first + k, momentum);
  if (k + kWidth / 2 <= run.size) {
    update<kOneMass, kOneCapacity, kWidth / 2>(run.a + k, run.b + k, run.first + k, momentum);
    k += kWidth / 2;
  }
  for (; k < run.size; ++k)
    update_one<kOneMass>(run.a + k, run.b + k, run.first + k, momentum);
}

// Edges (a + k, b + k): extrapolates the flow, balances the two ends, clamps to the capacity.
template <bool kOneMass, bool kOneCapacity, int kSize>
void EdgeSweeps::update(int a, int b, int edge, float momentum) {
  using Pack = Eigen::Array<float, kSize, 1>;
  auto flows = flow.segment<kSize>(edge), previous = previous_flow_.segment<kSize>(edge);
  auto rest_a = rest.segment<kSize>(a), rest_b = rest.segment<kSize>(b);
  const Pack old = flows, at_a = rest_a, at_b = rest_b;
  const Pack moved = old + momentum * (old - previous);
  Pack next, limit;
  if (kOneMass) {
    next = moved + (0.5f * relaxation_) * (at_a - at_b);
  } else {
    const Pack in_a = inverse_mass.segment<kSize>(a), in_b = inverse_mass.segment<kSize>(b);
    next = moved + relaxation_ * (at_a * in_a - at_b * in_b) / (in_a + in_b);
  }
  if (kOneCapacity) limit.setConstant(capacity[0]);
  else limit = capacity.segment<kSize>(edge);
  next = next.min(limit).max(-limit);
  previous = old;
  flows = next;
  rest_a = at_a - (next - moved);
  rest_b = at_b + (next - moved);
}

// The same for one edge: the ends of runs, and on general graphs most edges.
template <bool kOneMass>
void EdgeSweeps::update_one(int a, int b, int edge, float momentum) {
  const float old = flow[edge], at_a = rest[a], at_b = rest[b], limit = capacity[edge];
  const float moved = old + momentum * (old - previous_flow_[edge]);
  float next;
  if (kOneMass) {
    next = moved + (0.5f * relaxation_) * (at_a - at_b);
  } else {
    const float in_a = inverse_mass[a], in_b = inverse_mass[b];
    next = moved + relaxation_ * (at_a * in_a - at_b * in_b) / (in_a + in_b);
  }
  next = std::max(-limit, std::min(limit, next));
  previous_flow_[edge] = old;
  flow[edge] = next;
  rest[a] = at_a - (next - moved);
  rest[b] = at_b + (next - moved);
}

}  // namespace n2gfl
