// All levels of a total-variation problem on some nodes of a graph. Small problems are solved by
// the exact divide and conquer. In large problems large constant regions make that slow. There,
// fast sweeps find an approximate flow, from which most of the solution is guessed and proved;
// only the rest is solved by divide and conquer. After a similar problem the blocks of its solution
// are the guess, whatever the size.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "graph/max_flow.hpp"
#include "graph/network.hpp"
#include "poll.hpp"
#include "prox/block_guess.hpp"
#include "prox/level_sets.hpp"

namespace n2gfl {

class TotalVariation {
 public:
  using Parts = std::vector<std::vector<int>>;

  // Problems with at least `large` nodes start from an approximate flow.
  TotalVariation(Network& network, MaxFlow& flow, Poll& poll, const NodeTerms& terms, int large);

  // Finds b on the nodes of the given components. Components are solved separately, so rounding in
  // one cannot affect another with much smaller values. The flow on arcs that leave them is not
  // changed.
  void resolve(const Parts& parts, Eigen::VectorXd& b);

  // The same on any nodes, starting from the blocks of `old`, the solution of the previous problem,
  // which the flow belongs to; empty if there is none. Returns false if most blocks of the old
  // solution are wrong; then b is undefined.
  bool resolve_again(const std::vector<int>& nodes, const Eigen::VectorXd& old, Eigen::VectorXd& b);

  // Finds only an approximate flow on them. The values in b are undefined afterwards.
  void approach(const Parts& parts, Eigen::VectorXd& b);

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

  bool suits_levels(const std::vector<int>& nodes) const;

  template <class Solve>
  std::vector<int> for_large(const Parts& parts, Solve solve);
  void repair(Eigen::VectorXd& b);

  static constexpr Round kFirstRound{400, 2e-8, 0.985f};

  void sweep_and_guess(const std::vector<int>& nodes, Eigen::VectorXd& b);

  Network* net_;
  Poll* poll_;
  const NodeTerms* terms_;
  int large_;
  LevelSets levels_;
  BlockGuess guess_;
};

}  // namespace n2gfl
