// The features that a solver looks at between two certificates: the support, its neighbours, and
// the features whose gradient is close to their threshold.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "data/lazy_gradient.hpp"
#include "data/model.hpp"
#include "graph/network.hpp"
#include "solve/regions.hpp"

namespace n2gfl {

class WorkingSet {
 public:
  WorkingSet(const Model& model, const Network& network, const LazyGradient& gradient,
             const Regions& regions)
      : model_(&model), net_(&network), gradient_(&gradient), regions_(&regions),
        contains_(model.features(), 0) {}

  const std::vector<int>& nodes() const { return nodes_; }
  bool contains(int i) const { return contains_[i] != 0; }

  void clear() {
    for (int i : nodes_) contains_[i] = 0;
    nodes_.clear();
    contents_.clear();
  }

  void add(int i) {
    if (contains_[i]) return;
    contains_[i] = 1;
    nodes_.push_back(i);
  }
  void add(const std::vector<int>& nodes) {
    for (int i : nodes) add(i);
  }

  // Features above `share` of their threshold, the steepest first if there are many.
  void add_steep(double lambda1, double share) {
    std::vector<int> steep;
    for (int i = 0; i < model_->features(); ++i)
      if (!contains_[i] && steepness(lambda1, i) > share) steep.push_back(i);
    const auto most = static_cast<std::size_t>(
        std::max({1000.0, kMostShare * model_->features(), 2.0 * regions_->nonzero()}));
    if (steep.size() > most) {
      auto steeper = [&](int a, int b) { return rank(lambda1, a) > rank(lambda1, b); };
      std::nth_element(steep.begin(), steep.begin() + static_cast<std::ptrdiff_t>(most),
                       steep.end(), steeper);
      steep.resize(most);
      std::sort(steep.begin(), steep.end());
    }
    add(steep);
  }

  // Regions that have not changed since the last call are there already.
  void add_support() {
    std::vector<int> present(regions_->size());
    for (int k = 0; k < regions_->size(); ++k) {
      const Region& region = (*regions_)[k];
      present[k] = region.content;
      if (std::binary_search(contents_.begin(), contents_.end(), region.content)) continue;
      add(region.nodes);
      for (int i : region.nodes)
        for (int a = net_->begin(i); a < net_->end(i); ++a) add(net_->arc(a).head);
    }
    std::sort(present.begin(), present.end());
    contents_.swap(present);
  }

 private:
  static constexpr double kMostShare = 0.15;  // of all features

  // The gradient relative to its threshold. What the flow carries away from a zero node does not
  // count, and what it brings does.
  double steepness(double lambda1, int i) const {
    const double t = model_->threshold(lambda1, i);
    const double net = gradient_->value(i) - (regions_->of(i) < 0 ? net_->outflow(i) : 0.0);
    const double g = model_->nonnegative ? net : std::fabs(net);
    return t > 0 ? g / t : g > 0 ? std::numeric_limits<double>::max() : 0.0;
  }

  double rank(double lambda1, int i) const {
    const double s = steepness(lambda1, i);
    return s < std::numeric_limits<double>::max() ? s : std::fabs(gradient_->value(i));
  }

  const Model* model_;
  const Network* net_;
  const LazyGradient* gradient_;
  const Regions* regions_;
  std::vector<int> nodes_;
  std::vector<char> contains_;
  std::vector<int> contents_;  // content numbers of the regions that are in the set, sorted
};

}  // namespace n2gfl
