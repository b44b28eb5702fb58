#include "prox/total_variation.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

#include "prox/flow_sweeps.hpp"

namespace n2gfl {

TotalVariation::TotalVariation(Network& network, MaxFlow& flow, Poll& poll, const NodeTerms& terms,
                               int large)
    : net_(&network), poll_(&poll), terms_(&terms), large_(large),
      levels_(network, flow, poll, terms), guess_(network, poll, terms) {}

void TotalVariation::resolve(const Parts& parts, Eigen::VectorXd& b) {
  levels_.resolve(for_large(parts, [&](const std::vector<int>& part) {
    sweep_and_guess(part, b);
    repair(b);
  }), b);
}

bool TotalVariation::resolve_again(const std::vector<int>& nodes, const Eigen::VectorXd& old,
                                   Eigen::VectorXd& b) {
  if (old.size() == 0) return false;
  guess_.guess_again(nodes, old, b);
  const double most = kMostDoubtful * static_cast<double>(nodes.size());
  if (static_cast<double>(guess_.count_doubtful(b)) > most) return false;
  repair(b);
  return true;
}

void TotalVariation::approach(const Parts& parts, Eigen::VectorXd& b) {
  levels_.resolve(for_large(parts, [&](const std::vector<int>& part) {
    FlowSweeps sweeps(*net_, *poll_, *terms_, part);
    sweeps.run(kFirstRound.sweeps, kFirstRound.least_gain, kFirstRound.momentum);
  }), b);
}

// True for few nodes, or for about as few edges as in a chain: sweeps are slow there, and the
// exact method is fast on trees.
bool TotalVariation::suits_levels(const std::vector<int>& nodes) const {
  std::size_t arcs = 0;
  for (int i : nodes) arcs += net_->end(i) - net_->begin(i);
  return static_cast<int>(nodes.size()) < large_ || arcs <= 2 * nodes.size();
}

// Applies `solve` to large components one by one. Returns the nodes of the others.
template <class Solve>
std::vector<int> TotalVariation::for_large(const Parts& parts, Solve solve) {
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
void TotalVariation::repair(Eigen::VectorXd& b) {
  do {
    for (std::size_t k = 0; k < guess_.wrong(); ++k)
      levels_.resolve(guess_.wrong_begin(k), guess_.wrong_end(k), b);
  } while (guess_.find_misfits(b));
}

// Sweeps until the exact method can finish faster; it is slow if large constant regions are far
// from balance.
void TotalVariation::sweep_and_guess(const std::vector<int>& nodes, Eigen::VectorXd& b) {
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

}  // namespace n2gfl
