// All levels of a total-variation problem on some nodes of a graph. Small problems go straight to
// the exact divide and conquer. In large ones big constant parts make that slow: there fast sweeps
// find an almost right flow, from which most of the solution is guessed and proved, and only what
// fails is divided and conquered.
#pragma once

#include <cmath>
#include <utility>
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
  using Parts = std::vector<std::vector<int>>;

  // Problems with at least `large` nodes get the fast start.
  TotalVariation(Network& network, MaxFlow& flow, Poll& poll, const NodeTerms& terms, int large)
      : net_(&network), poll_(&poll), terms_(&terms), large_(large),
        levels_(network, flow, poll, terms), guess_(network, poll, terms) {}

  // Finds b on nodes that come as connected parts: they know nothing of each other, and what rounds in one
  // must not round in another, whose numbers may be far smaller. The flow on arcs that lead out of them
  // stays as it is. `old` is the solution of the problem before, from which the flow comes; empty if
  // there was none.
  void resolve(const Parts& parts, const Eigen::VectorXd& old, Eigen::VectorXd& b) {
    for_large(parts, b, [&](const std::vector<int>& part) { resolve_large(part, old, b); });
  }

  // An almost right flow on them, and no more than that. Leaves anything in b.
  void approach(const Parts& parts, Eigen::VectorXd& b) {
    for_large(parts, b, [&](const std::vector<int>& part) {
      FlowSweeps sweeps(*net_, *poll_, *terms_, part);
      sweeps.run(kFirstRound.sweeps, kFirstRound.least_gain, kFirstRound.momentum);
    });
  }

 private:
  static constexpr double kNear = 1e-3;   // of the scale: neighbours in a guessed block
  static constexpr double kStuck = 0.02;  // of the scale, times the root of the number of nodes
  static constexpr double kMostMisfits = 0.05;  // of the nodes: with more of them sweeps are faster

  struct Round {
    int sweeps;
    double least_gain;
    float momentum;  // about 1 - 2 / diameter of the largest constant part
  };

  // Few nodes, or about as few edges as a chain has: sweeps are slow there, and the exact method is
  // fast on trees.
  bool suits_levels(const std::vector<int>& nodes) const {
    std::size_t arcs = 0;
    for (int i : nodes) arcs += net_->end(i) - net_->begin(i);
    return static_cast<int>(nodes.size()) < large_ || arcs <= 2 * nodes.size();
  }

  // Large parts one by one, the others exactly.
  template <class Solve>
  void for_large(const Parts& parts, Eigen::VectorXd& b, Solve solve) {
    std::vector<int> small;
    for (const auto& part : parts) {
      if (suits_levels(part))
        small.insert(small.end(), part.begin(), part.end());
      else
        solve(part);
    }
    levels_.resolve(std::move(small), b);
  }

  void resolve_large(const std::vector<int>& nodes, const Eigen::VectorXd& old, Eigen::VectorXd& b) {
    if (!guess_again(nodes, old, b)) sweep_and_guess(nodes, b);
    for (const auto& block : guess_.failures()) levels_.resolve(block, b);
    for (auto wrong = guess_.misfits(b); !wrong.empty(); wrong = guess_.misfits(b))
      levels_.resolve(wrong, b);
  }

  // Are most blocks still those of the old solution?
  bool guess_again(const std::vector<int>& nodes, const Eigen::VectorXd& old, Eigen::VectorXd& b) {
    if (old.size() == 0) return false;
    guess_.guess_again(nodes, old, b);
    return static_cast<double>(guess_.count_misfits(b)) <=
           kMostMisfits * static_cast<double>(nodes.size());
  }

  static constexpr Round kFirstRound{400, 2e-8, 0.985f};

  // Sweeps until what is left to do is faster done by the exact method, which is slow where large
  // constant parts are far from balance.
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
