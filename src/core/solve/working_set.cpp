#include "solve/working_set.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace n2gfl {

WorkingSet::WorkingSet(const Model& model, const Network& network, const LazyGradient& gradient,
                       const Regions& regions)
    : model_(&model), net_(&network), gradient_(&gradient), regions_(&regions),
      contains_(model.features(), 0) {}

void WorkingSet::clear() {
  for (int i : nodes_) contains_[i] = 0;
  nodes_.clear();
  contents_.clear();
}

void WorkingSet::add_steep(double lambda1, double share) {
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

void WorkingSet::add_support() {
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

// The gradient relative to its threshold. What the flow carries away from a zero node does not
// count, and what it brings does.
double WorkingSet::steepness(double lambda1, int i) const {
  const double t = model_->threshold(lambda1, i);
  const double net = gradient_->value(i) - (regions_->of(i) < 0 ? net_->outflow(i) : 0.0);
  const double g = model_->nonnegative ? net : std::fabs(net);
  return t > 0 ? g / t : g > 0 ? std::numeric_limits<double>::max() : 0.0;
}

double WorkingSet::rank(double lambda1, int i) const {
  const double s = steepness(lambda1, i);
  return s < std::numeric_limits<double>::max() ? s : std::fabs(gradient_->value(i));
}

}  // namespace n2gfl
