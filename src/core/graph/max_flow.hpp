// Maximum flow on a graph with symmetric capacities. The flow is stored in a Network and kept
// between searches, so a search that starts near the solution costs little. Parts of the graph
// between which no flow may pass are searched one after the other, or by several threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "graph/network.hpp"
#include "graph/push_relabel.hpp"
#include "parallel.hpp"
#include "poll.hpp"

namespace n2gfl {

// Where the search starts: at nodes with a surplus or (mirrored) at nodes with a deficit.
enum class Grow : int { from_surplus = 1, from_deficit = -1 };

class MaxFlow {
 public:
  MaxFlow(Network& network, Poll& poll, int threads = 1)
      : net_(&network), poll_(&poll), pool_(threads), node_(network.nodes()), search_(1) {}

  // Problem has double excess(int node), called once per touched node, and bool open(int i, int
  // j): may flow cross between neighbours i and j? An excess within the tolerance counts as zero.
  // Nodes that have a surplus but are not seeds keep it, and the surplus of the seeds can pass
  // through them.
  template <class Problem>
  void run(Problem& problem, const std::vector<int>& seeds, Grow grow, double tolerance) {
    search_[0].run(*net_, node_, problem, seeds, next_terms(grow, tolerance), *poll_);
    touched_ = search_[0].touched();
    mark_touched();
  }

  // The same for a problem that also has int part(int node) >= 0: nodes of different parts are not
  // connected by open arcs. Each part is searched by itself, whatever the number of threads; the
  // excess of different nodes must then be computable at the same time.
  template <class Problem>
  void run_parts(Problem& problem, const std::vector<int>& seeds, Grow grow, double tolerance) {
    sort_seeds(problem, seeds);
    const PushRelabel::Terms terms = next_terms(grow, tolerance);
    const int parts = static_cast<int>(parts_.size());
    if (search_.size() < parts_.size()) search_.resize(parts_.size());
    const auto search = [&](int k, int, Poll& poll) {
      search_[k].run(*net_, node_, problem, seeds_of_[parts_[k]], terms, poll);
    };
    if (seeds.size() >= kWorthSharing)
      pool_.run(parts, *poll_, search);
    else
      for (int k = 0; k < parts; ++k) search(k, 0, *poll_);
    touched_.clear();
    for (int k = 0; k < parts; ++k)
      touched_.insert(touched_.end(), search_[k].touched().begin(), search_[k].touched().end());
    mark_touched();
  }

  // Nodes that the last search visited; it cannot reach any others.
  const std::vector<int>& touched() const { return touched_; }
  bool is_touched(int i) const { return node_[i].stamp == run_; }
  // On the seeds' side of the minimum cut: the remaining surplus of the seeds stays here.
  bool reached(int i) const { return is_touched(i) && node_[i].mark; }
  // The remaining excess of touched nodes.
  double excess(int i) const { return sign_ * (node_[i].surplus + node_[i].kept); }

 private:
  static constexpr std::size_t kWorthSharing = 100;  // seeds, from which on threads save time

  PushRelabel::Terms next_terms(Grow grow, double tolerance) {
    if (++run_ == std::numeric_limits<int>::max()) {
      for (SearchNode& node : node_) node.stamp = 0;
      run_ = 1;
    }
    sign_ = static_cast<int>(grow);
    return {run_, sign_, tolerance};
  }

  // Lists the parts that have seeds, those with many first, and the seeds of each.
  template <class Problem>
  void sort_seeds(const Problem& problem, const std::vector<int>& seeds) {
    for (int part : parts_) seeds_of_[part].clear();
    parts_.clear();
    for (int i : seeds) {
      const auto part = static_cast<std::size_t>(problem.part(i));
      if (part >= seeds_of_.size()) seeds_of_.resize(part + 1);
      if (seeds_of_[part].empty()) parts_.push_back(static_cast<int>(part));
      seeds_of_[part].push_back(i);
    }
    std::stable_sort(parts_.begin(), parts_.end(), [&](int a, int b) {
      return seeds_of_[a].size() > seeds_of_[b].size();
    });
  }

  // The outflow of these nodes was updated by small steps.
  void mark_touched() {
    for (int i : touched_) net_->mark(i);
  }

  Network* net_;
  Poll* poll_;
  TaskPool pool_;
  int run_ = 0, sign_ = 1;
  std::vector<SearchNode> node_;
  std::vector<PushRelabel> search_;         // one for each part of a search
  std::vector<int> parts_;                  // with seeds
  std::vector<std::vector<int>> seeds_of_;  // each part
  std::vector<int> touched_;
};

}  // namespace n2gfl
