// All levels of a total-variation problem on some nodes of a graph. Small problems go straight to
// the exact divide and conquer. In large ones big constant parts make that slow: there fast sweeps
// find an almost right flow, from which most of the solution is guessed and proved, and only what
// fails is divided and conquered.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "block_guess.hpp"
#include "flow_sweeps.hpp"
#include "level_sets.hpp"
#include "max_flow.hpp"
#include "poll.hpp"

namespace n2gfl {

class TotalVariation {
 public:
  // Problems with at least `large` nodes get the fast start.
  TotalVariation(Network& network, MaxFlow& flow, Poll& poll, const NodeTerms& terms, int large)
      : net_(&network), poll_(&poll), terms_(&terms), large_(large),
        levels_(network, flow, poll, terms), guess_(network, poll, terms) {}

  // Finds b on the given nodes. The flow on arcs that lead out of them stays as it is.
  void resolve(const std::vector<int>& nodes, Eigen::VectorXd& b) {
    if (static_cast<int>(nodes.size()) < large_) return levels_.resolve(nodes, b);
    sweep_and_guess(nodes, b);
    for (auto todo = guess_.to_solve(b); !todo.empty(); todo = guess_.to_solve(b))
      levels_.resolve(todo, b);
  }

 private:
  static constexpr double kNear = 1e-3;   // of the scale: neighbours in a guessed block
  static constexpr double kStuck = 5e-6;  // of the scale, a node: more needs more sweeps

  struct Round {
    int sweeps;
    double least_gain;
    float momentum;  // about 1 - 2 / diameter of the largest constant part
  };

  void sweep_and_guess(const std::vector<int>& nodes, Eigen::VectorXd& b) {
    static constexpr Round kRounds[] = {
        {400, 2e-8, 0.985f}, {400, 2e-9, 0.995f}, {800, 2e-10, 0.995f}, {1600, 2e-11, 0.995f}};
    double mass = 0;
    for (int i : nodes) mass += terms_->mass[i];
    FlowSweeps sweeps(*net_, *poll_, *terms_, nodes);
    for (const Round& round : kRounds) {
      sweeps.run(round.sweeps, round.least_gain, round.momentum);
      guess_.guess(nodes, kNear * sweeps.scale(), b);
      if (guess_.stuck() <= kStuck * sweeps.scale() * mass) return;
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
