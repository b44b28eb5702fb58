#include "solve/region_balance.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "graph/drain.hpp"

namespace n2gfl {

RegionBalance::RegionBalance(Network& network, const Regions& regions, Poll& poll, int threads)
    : net_(&network), regions_(&regions), poll_(&poll), pool_(threads), scratch_(pool_.threads()) {}

void RegionBalance::run(GradientTerms& terms, double tolerance, bool drain) {
  const int count = regions_->size();
  mean_.assign(count, 0.0);
  drained_.assign(count, 0);
  start_ranks();
  const auto balance = [&](int k, int thread, Poll& poll) {
    Scratch& own = scratch_[thread];
    const double spread = find_mean(terms, k, own);
    if (drain && spread > tolerance) drain_region(terms, k, tolerance, own);
    poll.now();
  };
  if (drain && regions_->nonzero() >= kWorthSharing)
    pool_.run(count, *poll_, balance);
  else
    for (int k = 0; k < count; ++k) balance(k, 0, *poll_);
  for (int k = 0; k < count; ++k)
    if (drained_[k])
      for (int i : (*regions_)[k].nodes) net_->mark(i);
}

// Returns the largest deviation from the mean.
double RegionBalance::find_mean(GradientTerms& terms, int k, Scratch& own) {
  const std::vector<int>& nodes = (*regions_)[k].nodes;
  own.excess.resize(nodes.size());
  double total = 0, spread = 0;
  for (std::size_t h = 0; h < nodes.size(); ++h) total += own.excess[h] = terms.excess(nodes[h]);
  mean_[k] = total / static_cast<double>(nodes.size());
  for (double e : own.excess) spread = std::fmax(spread, std::fabs(e - mean_[k]));
  return spread;
}

void RegionBalance::drain_region(GradientTerms& terms, int k, double tolerance, Scratch& own) {
  double before = std::numeric_limits<double>::infinity();
  int start = (*regions_)[k].nodes[0];
  for (int pass = 0; pass < kPasses; ++pass) {
    own.first_rank = first_rank_ + pass * net_->nodes();
    rank_nodes(k, start, own);
    const double left = drain_once(terms, k, own);
    if (left <= tolerance || left > kUseless * before) break;
    before = left;
    start = own.order.back();
  }
  drained_[k] = 1;
}

// Breadth first from `start`. Edges with little free capacity are used only to reach nodes that
// no other edge reaches.
void RegionBalance::rank_nodes(int k, int start, Scratch& own) {
  own.order.clear();
  own.weak.clear();
  add(start, own);
  std::size_t next_weak = 0;
  for (std::size_t h = 0; h < own.order.size(); ++h) {
    const int i = own.order[h];
    for (int a = net_->begin(i); a < net_->end(i); ++a) {
      const Arc& u = net_->arc(a);
      if (regions_->of(u.head) != k || is_ranked(u.head, own)) continue;
      const double slack = u.capacity - std::fabs(u.flow);
      if (slack > kStrong * u.capacity) add(u.head, own);
      else if (slack > 0) own.weak.push_back(u.head);
    }
    while (h + 1 == own.order.size() && next_weak < own.weak.size()) {
      const int j = own.weak[next_weak++];
      if (!is_ranked(j, own)) add(j, own);
    }
  }
}

// Ranks of later calls and passes are larger, so that old ones need not be erased.
void RegionBalance::start_ranks() {
  const std::int64_t ranks = static_cast<std::int64_t>(kPasses) * net_->nodes();
  if (rank_.empty() || first_rank_ + 2 * ranks > std::numeric_limits<int>::max()) {
    rank_.assign(net_->nodes(), -1);
    first_rank_ = 0;
  } else {
    first_rank_ += static_cast<int>(ranks);
  }
}

void RegionBalance::add(int i, Scratch& own) {
  rank_[i] = own.first_rank + static_cast<int>(own.order.size());
  own.order.push_back(i);
}

double RegionBalance::drain_once(GradientTerms& terms, int k, const Scratch& own) {
  double left = 0;
  for (std::size_t h = own.order.size(); h-- > 1;) {
    const int i = own.order[h];
    const double amount = terms.excess(i) - mean_[k];
    if (amount == 0) continue;
    const int rank = rank_[i];
    left += drain(*net_, i, amount, [&](const Arc& u) {
      return regions_->of(u.head) == k && is_ranked(u.head, own) && rank_[u.head] < rank;
    });
  }
  return left;
}

}  // namespace n2gfl
