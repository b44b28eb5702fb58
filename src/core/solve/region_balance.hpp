// Balances the nodes inside regions by draining. The flow of the last row is almost right there,
// so most regions are balanced by one or two passes, and the search for cuts need not visit them.
#pragma once

#include <vector>

#include "data/regions.hpp"
#include "graph/network.hpp"
#include "parallel.hpp"
#include "penalty/dual_norm.hpp"
#include "poll.hpp"

namespace n2gfl {

class RegionBalance {
 public:
  RegionBalance(Network& network, const Regions& regions, Poll& poll, int threads);

  // Finds the mean excess of every region, which is left to Newton's method, and makes the excess
  // of its nodes equal to it where that is easy (`drain`). Regions may be balanced at the same time.
  void run(GradientTerms& terms, double tolerance, bool drain);

  const std::vector<double>& mean() const { return mean_; }

 private:
  static constexpr int kPasses = 2;
  static constexpr double kStrong = 0.2;   // share of free capacity that makes an edge strong
  static constexpr double kUseless = 0.75;  // share left after a pass that is not worth another one
  static constexpr int kWorthSharing = 500;  // nodes, from which on threads save time

  struct Scratch {
    std::vector<double> excess;
    std::vector<int> order, weak;
    int first_rank = 0;
  };

  double find_mean(GradientTerms& terms, int k, Scratch& own);
  void drain_region(GradientTerms& terms, int k, double tolerance, Scratch& own);
  void rank_nodes(int k, int start, Scratch& own);
  void start_ranks();
  bool is_ranked(int i, const Scratch& own) const { return rank_[i] >= own.first_rank; }
  void add(int i, Scratch& own);
  double drain_once(GradientTerms& terms, int k, const Scratch& own);

  Network* net_;
  const Regions* regions_;
  Poll* poll_;
  TaskPool pool_;
  std::vector<Scratch> scratch_;  // of each thread
  std::vector<double> mean_;
  std::vector<char> drained_;
  std::vector<int> rank_;
  int first_rank_ = 0;
};

}  // namespace n2gfl
