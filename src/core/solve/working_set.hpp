// The features that a solver looks at between two certificates: the support, its neighbours, and
// the features whose gradient is close to their threshold.
#pragma once

#include <vector>

#include "data/lazy_gradient.hpp"
#include "data/model.hpp"
#include "data/regions.hpp"
#include "graph/network.hpp"

namespace n2gfl {

class WorkingSet {
 public:
  WorkingSet(const Model& model, const Network& network, const LazyGradient& gradient,
             const Regions& regions);

  const std::vector<int>& nodes() const { return nodes_; }
  bool contains(int i) const { return contains_[i] != 0; }

  void clear();

  void add(int i) {
    if (contains_[i]) return;
    contains_[i] = 1;
    nodes_.push_back(i);
  }
  void add(const std::vector<int>& nodes) {
    for (int i : nodes) add(i);
  }

  // Features above `share` of their threshold, the steepest first if there are many.
  void add_steep(double lambda1, double share);

  // Regions that have not changed since the last call are there already.
  void add_support();

 private:
  static constexpr double kMostShare = 0.15;  // of all features

  double steepness(double lambda1, int i) const;
  double rank(double lambda1, int i) const;

  const Model* model_;
  const Network* net_;
  const LazyGradient* gradient_;
  const Regions* regions_;
  std::vector<int> nodes_;
  std::vector<char> contains_;
  std::vector<int> contents_;  // content numbers of the regions that are in the set, sorted
};

}  // namespace n2gfl
