// All levels of a total-variation problem on some nodes of a graph. Small problems are solved by
// the exact divide and conquer. In large problems large constant regions make that slow. There,
// fast sweeps find an approximate flow, from which most of the solution is guessed and proved;
// only the rest is solved by divide and conquer. After a similar problem the blocks of its solution
// are the guess, whatever the size.
#pragma once

#include <cmath>
#include <vector>

#include <Eigen/Core>

#include "graph/max_flow.hpp"
#include "poll.hpp"
#include "prox/block_guess.hpp"
#include "prox/flow_sweeps.hpp"
#include "prox/level_sets.hpp"

namespace n2gfl {

class TotalVariation {
 public:
  using Parts = std::vector<std::vector<int>>;

  // Problems with at least `large` nodes start from an approximate flow.
  TotalVariation(Network& network, MaxFlow& flow, Poll& poll, const NodeTerms& terms, int large)
      : net_(&network), poll_(&poll), terms_(&terms), large_(large),
        levels_(network, flow, poll, terms), guess_(network, poll, terms) {}

  // Finds b on the nodes of the given components. Components are solved separately, so rounding in
  // one cannot affect another with much smaller values. The flow on arcs that leave them is not
  // changed.
  void resolve(const Parts& parts, Eigen::VectorXd& b) {
    levels_.resolve(for_large(parts, [&](const std::vector<int>& part) {
      sweep_and_guess(part, b);
      repair(b);
    }), b);
  }

  // The same on any nodes, starting from the blocks of `old`, the solution of the previous problem,
  // which the flow belongs to; empty if there is none. Returns false if most blocks of the old
  // solution are wrong; then b is undefined.
  bool resolve_again(const std::vector<int>& nodes, const Eigen::VectorXd& old,
                     Eigen::VectorXd& b) {
    if (old.size() == 0) return false;
    guess_.guess_again(nodes, old, b);
    const double most = kMostDoubtful * static_cast<double>(nodes.size());
    if (static_cast<double>(guess_.count_doubtful(b)) > most) return false;
    repair(b);
    return true;
  }

  // Finds only an approximate flow on them. The values in b are undefined afterwards.
  void approach(const Parts& parts, Eigen::VectorXd& b) {
    levels_.resolve(for_large(parts, [&](const std::vector<int>& part) {
      FlowSweeps sweeps(*net_, *poll_, *terms_, part);
      sweeps.run(kFirstRound.sweeps, kFirstRound.least_gain, kFirstRound.momentum);
    }), b);
  }

 private:
  static constexpr double kNear = 1e-3;   // share of the scale: neighbours in a guessed block
  static constexpr double kStuck = 0.02;  // share of the scale, times sqrt(number of nodes)
  // Share of the nodes: if more of the old blocks seem wrong, a new guess is faster.
  static constexpr double kMostDoubtful = 0.35;

  struct Round {
    int sweeps;
    double least_gain;
    float momentum;  // about 1 - 2 / diameter of the largest constant region
  };

  // True for few nodes, or for about as few edges as in a chain: sweeps are slow there, and the
  // exact method is fast on trees.
  bool suits_levels(const std::vector<int>& nodes) const {
    std::size_t arcs = 0;
    for (int i : nodes) arcs += net_->end(i) - net_->begin(i);
    return static_cast<int>(nodes.size()) < large_ || arcs <= 2 * nodes.size();
  }

  // Applies `solve` to large components one by one. Returns the nodes of the others.
  template <class Solve>
  std::vector<int> for_large(const Parts& parts, Solve solve) {
    std::vector<int> small;
    for (const auto& part : parts) {
      if (suits_levels(part))
        small.insert(small.end(), part.begin(), part.end());
      else
        solve(part);
    }
    return small;
  }

  // Solves the blocks again that were guessed wrong.
  void repair(Eigen::VectorXd& b) {
    do {
      for (std::size_t k = 0; k < guess_.wrong(); ++k)
        levels_.resolve(guess_.wrong_begin(k), guess_.wrong_end(k), b);
    } while (guess_.find_misfits(b));
  }

  static constexpr Round kFirstRound{400, 2e-8, 0.985f};

  // Sweeps until the exact method can finish faster; it is slow if large constant regions are far
  // from balance.
  void sweep_and_guess(const std::vector<int>& nodes, Eigen::VectorXd& b) {
    static constexpr Round kRounds[] = {kFirstRound, {200, 0, 0.985f}, {400, 0, 0.995f},
                                        {800, 0, 0.995f}, {1600, 0, 0.995f}};
    FlowSweeps sweeps(*net_, *poll_, *terms_, nodes);
    const double enough = kStuck * sweeps.flow_scale() * std::sqrt(nodes.size());
    for (const Round& round : kRounds) {
      sweeps.run(round.sweeps, round.least_gain, round.momentum);
      guess_.guess(nodes, kNear * sweeps.value_scale(), b);
      if (guess_.stuck() <= enough) return;
    }
  }

  Network* net_;
  Poll* poll_;
  const NodeTerms* terms_;
  int large_;
  LevelSets levels_;
  BlockGuess guess_;
};

}  // namespace n2gfl
