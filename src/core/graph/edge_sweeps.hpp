// Sweeps over the edges of a network in single precision: the flow of one edge at a time is set to
// the value that makes its two ends most equal (Gauss-Seidel), with momentum from sweep to sweep.
// The result need not be exact, and the speed is limited by memory bandwidth.
//
// To let the processor update several edges at once, the edges are stored in runs (a, b), (a + 1,
// b + 1), ... whose nodes are all different. Nodes are renumbered, those at even positions first,
// so that the edges along the first axis of a grid also form long runs.
#pragma once

#include <cstdint>
#include <vector>

#include <Eigen/Core>

#include "graph/network.hpp"
#include "poll.hpp"

namespace n2gfl {

// The edges that join two of the given nodes, in runs.
class EdgeRuns {
 public:
  struct Run {
    int a, b, size;
    int first;  // position of its first edge
  };

  EdgeRuns(const Network& network, Poll& poll, std::vector<int> nodes);

  int nodes() const { return static_cast<int>(node_.size()); }
  int edges() const { return static_cast<int>(arc_.size()); }
  int node(int place) const { return node_[place]; }
  int place(int node) const { return place_[node]; }  // -1: not among the nodes
  int arc(int edge) const { return arc_[edge]; }      // the arc along which its flow counts
  // For every arc its edge, or -1.
  std::vector<int> edge_of_arcs(const Network& network) const;
  const std::vector<Run>& runs() const { return runs_; }

  // The runs of one colour have no node in common, except those of the last colour.
  static constexpr int kColours = 64;
  int first_run(int colour) const { return first_run_[colour]; }
  int end_run(int colour) const { return first_run_[colour + 1]; }

 private:
  static constexpr int kLastColour = kColours - 1;

  void number_nodes(const Network& network, std::vector<int> nodes);
  void colour_edges(const Network& network, Poll& poll);
  void sort_by(const std::vector<std::uint8_t>& colour);
  void find_runs(const Network& network);
  static bool continues(const Run& run, int a, int b);

  std::vector<int> place_, node_;        // node -> position and back
  std::vector<int> arc_, colour_begin_;  // edge -> arc; the first edge of each colour
  std::vector<Run> runs_;
  std::vector<int> first_run_;           // of each colour
};

// A flow in single precision on these edges. The owner fills the arrays and calls restart().
class EdgeSweeps {
 public:
  using Floats = Eigen::ArrayXf;
  explicit EdgeSweeps(const EdgeRuns& runs, int threads = 1) : runs_(&runs), threads_(threads) {}

  Floats rest, inverse_mass;  // per position: what the node has left; empty masses: all are equal
  Floats flow, capacity;      // per edge

  // The next sweep has no momentum. Sweeps with momentum diverge if the relaxation is 1.4 or more.
  void restart(float relaxation = 1.1f);

  void sweep(float momentum_limit);

  Floats previous_rest;

 private:
  static constexpr int kWidth = 8;        // edges per update
  static constexpr int kRunsAtOnce = 64;  // by one thread
  static constexpr double kCostOfEdge = 10;

  template <bool kOneMass, bool kOneCapacity>
  void sweep_runs(float momentum);

  template <bool kOneMass, bool kOneCapacity>
  void sweep_run(const EdgeRuns::Run& run, float momentum);

  template <bool kOneMass, bool kOneCapacity, int kSize>
  void update(int a, int b, int edge, float momentum);

  template <bool kOneMass>
  void update_one(int a, int b, int edge, float momentum);

  const EdgeRuns* runs_;
  int threads_;
  Floats previous_flow_;
  bool one_mass_ = false, one_capacity_ = false;
  double steps_ = 1;
  float relaxation_ = 1;
};

}  // namespace n2gfl
