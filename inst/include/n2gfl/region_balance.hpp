// Balances the nodes inside regions by draining. The flow of the last row is almost right there,
// so most regions are balanced by one or two passes, and the search for cuts need not visit them.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "drain.hpp"
#include "dual_norm.hpp"
#include "max_flow.hpp"
#include "regions.hpp"

namespace n2gfl {

class RegionBalance {
 public:
  RegionBalance(Network& network, const Regions& regions) : net_(&network), regions_(&regions) {}

  // Finds the mean excess of every region, which is left to Newton's method, and makes the excess
  // of its nodes equal to it where that is easy (`drain`).
  void run(GradientTerms& terms, double tolerance, bool drain) {
    mean_.assign(regions_->size(), 0.0);
    for (int k = 0; k < regions_->size(); ++k) {
      const double spread = find_mean(terms, k);
      if (drain && spread > tolerance) drain_region(terms, k, tolerance);
    }
  }

  const std::vector<double>& mean() const { return mean_; }

 private:
  static constexpr int kPasses = 2;
  static constexpr double kStrong = 0.2;   // share of free capacity that makes an edge strong
  static constexpr double kUseless = 0.75;  // share left after a pass that is not worth another one

  // Returns the largest deviation from the mean.
  double find_mean(GradientTerms& terms, int k) {
    const std::vector<int>& nodes = (*regions_)[k].nodes;
    excess_.resize(nodes.size());
    double total = 0, spread = 0;
    for (std::size_t h = 0; h < nodes.size(); ++h) total += excess_[h] = terms.excess(nodes[h]);
    mean_[k] = total / static_cast<double>(nodes.size());
    for (double e : excess_) spread = std::fmax(spread, std::fabs(e - mean_[k]));
    return spread;
  }

  void drain_region(GradientTerms& terms, int k, double tolerance) {
    double before = std::numeric_limits<double>::infinity();
    int start = (*regions_)[k].nodes[0];
    for (int pass = 0; pass < kPasses; ++pass) {
      rank_nodes(k, start);
      const double left = drain_once(terms, mean_[k]);
      if (left <= tolerance || left > kUseless * before) break;
      before = left;
      start = order_.back();
    }
  }

  // Breadth first from `start`. Edges with little free capacity are used only to reach nodes that
  // no other edge reaches.
  void rank_nodes(int k, int start) {
    start_ranks();
    order_.clear();
    weak_.clear();
    add(start);
    std::size_t next_weak = 0;
    for (std::size_t h = 0; h < order_.size(); ++h) {
      const int i = order_[h];
      for (int a = net_->begin(i); a < net_->end(i); ++a) {
        const Arc& u = net_->arc(a);
        if (regions_->of(u.head) != k || is_ranked(u.head)) continue;
        const double slack = u.capacity - std::fabs(u.flow);
        if (slack > kStrong * u.capacity) add(u.head);
        else if (slack > 0) weak_.push_back(u.head);
      }
      while (h + 1 == order_.size() && next_weak < weak_.size()) {
        const int j = weak_[next_weak++];
        if (!is_ranked(j)) add(j);
      }
    }
  }

  // Ranks count on from one region to the next, so that old ones need not be erased.
  void start_ranks() {
    if (rank_.empty() || next_rank_ > std::numeric_limits<int>::max() - 2 * net_->nodes()) {
      rank_.assign(net_->nodes(), -1);
      next_rank_ = 0;
    }
    first_rank_ = next_rank_;
  }

  bool is_ranked(int i) const { return rank_[i] >= first_rank_; }

  void add(int i) {
    rank_[i] = next_rank_++;
    order_.push_back(i);
  }

  double drain_once(GradientTerms& terms, double mean) {
    double left = 0;
    for (std::size_t h = order_.size(); h-- > 1;) {
      const int i = order_[h];
      net_->mark(i);
      const double amount = terms.excess(i) - mean;
      if (amount == 0) continue;
      const int rank = rank_[i];
      left += drain(*net_, i, amount, [&](const Arc& u) {
        return rank_[u.head] >= first_rank_ && rank_[u.head] < rank;
      });
    }
    net_->mark(order_[0]);
    return left;
  }

  Network* net_;
  const Regions* regions_;
  std::vector<double> mean_, excess_;
  std::vector<int> rank_, order_, weak_;
  int next_rank_ = 0, first_rank_ = 0;
};

}  // namespace n2gfl
