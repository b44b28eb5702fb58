// The connected parts of supports, for the stability measures.
#include <Rcpp.h>

#include <vector>

#include "glue.h"

namespace {

// Labels the connected parts of sets of nodes. What a set costs depends on the set alone: the marks
// of its nodes are taken back, nothing of the graph's size is cleared.
class SetRegions {
 public:
  explicit SetRegions(const n2gfl::Graph& graph)
      : graph_(graph), state_(graph.nodes(), outside) {}

  // Writes 1, 2, ... beside each node, in the order of the regions' first nodes.
  void label(const int* nodes, int size, int* labels) {
    for (int k = 0; k < size; ++k) state_[nodes[k]] = unlabelled;
    int count = 0;
    for (int k = 0; k < size; ++k)
      if (state_[nodes[k]] == unlabelled) spread(nodes[k], ++count);
    for (int k = 0; k < size; ++k) {
      labels[k] = state_[nodes[k]];
      state_[nodes[k]] = outside;
    }
  }

 private:
  static constexpr int outside = -1, unlabelled = 0;

  void spread(int start, int label) {
    state_[start] = label;
    queue_.assign(1, start);
    for (std::size_t h = 0; h < queue_.size(); ++h)
      for (int arc = graph_.begin(queue_[h]); arc < graph_.end(queue_[h]); ++arc) {
        const int neighbour = graph_.head(arc);
        if (state_[neighbour] != unlabelled) continue;
        state_[neighbour] = label;
        queue_.push_back(neighbour);
      }
  }

  const n2gfl::Graph& graph_;
  std::vector<int> state_, queue_;
};

}  // namespace

// The columns of a sparse matrix are the sets; the answer is parallel to its entries.
// [[Rcpp::export(rng = false)]]
Rcpp::IntegerVector support_regions_cpp(const Rcpp::List& graph, const Rcpp::IntegerVector& starts,
                                        const Rcpp::IntegerVector& nodes) {
  const n2gfl::Graph core_graph = as_core_graph(graph);
  SetRegions regions(core_graph);
  Rcpp::IntegerVector labels(nodes.size());
  for (R_xlen_t k = 0; k + 1 < starts.size(); ++k)
    regions.label(nodes.begin() + starts[k], starts[k + 1] - starts[k], labels.begin() + starts[k]);
  return labels;
}
