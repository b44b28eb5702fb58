// Region pursuit represents the fused fit as a short list of regions. One flow, kept for the whole
// path, shows which pieces must leave their region, and proves optimality. It calls max-flow
// directly and never the prox.
//
// For one pair of penalties:
//   1. Newton's method on the old regions. If the fusion is strong, sweeps over all edges bring the
//      flow close to that of the new penalties.
//   2. Coarse rounds on a working set of features: gradients in single precision where they may
//      matter, saturate the edges between regions, search. Split off the pieces that the flow
//      cannot balance; run Newton's method again. Repeat until what is found is small.
//   3. Newton's method to the end, and the certificate on all features; most are settled by a bound
//      of their gradient. If it fails, the pieces that it found are split off.
// If certificates keep failing, rounds with exact gradients and flows take over.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "data/lazy_gradient.hpp"
#include "data/model.hpp"
#include "data/regions.hpp"
#include "graph/max_flow.hpp"
#include "graph/network.hpp"
#include "penalty/certificate.hpp"
#include "penalty/dual_norm.hpp"
#include "penalty/free_directions.hpp"
#include "solve/region_balance.hpp"
#include "solve/region_newton.hpp"
#include "solve/smooth_flow.hpp"
#include "solve/solver.hpp"
#include "solve/working_set.hpp"
#include "types.hpp"

namespace n2gfl {

class RegionPursuit final : public Solver {
 public:
  explicit RegionPursuit(Model& model);

  // Fits at the two penalties, starting from the last fit, until the relative gap is at most
  // `thresh`.
  Solution solve(double lambda1, double lambda2, double thresh, int max_iterations) override;

  // The same on the first working set only, to low accuracy. Features outside of it wait for the
  // next row: the residual of this one is not final, and looking at them costs a pass.
  Solution approach(double lambda1, double lambda2, int max_iterations) override;

  // After restart(): fits with an infinite lambda1, so that only features without penalty can leave
  // zero. Then the gradient is exact at all nodes, and the edges between regions are saturated.
  void fit_unpenalised(double lambda2);

  void restart() override { regions_.clear(); }

  // A Newton step costs about R^3 + N R^2 / 4 for R regions. From now on a fit with many regions
  // ends early once a step costs more than `most`. Then too_many_regions() is true, and the
  // solution is not a fit.
  void limit_work(double most) { most_work_ = most; }
  bool too_many_regions() const;

  const Regions& regions() const { return regions_; }
  const VectorXd& residual() const { return newton_.residual(); }
  DualNorm& norm() { return norm_; }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr int kMaxCertificates = 50;
  static constexpr int kPatience = 12;      // failed certificates before rounds become exact
  static constexpr int kMaxRounds = 40;     // exact rounds for one working set
  static constexpr int kMaxCoarseRounds = 20;
  static constexpr double kNearEnough = 0.05;  // the gap for fits without proof
  static constexpr int kMostPieces = 60;    // splits per round, or half the regions if more
  static constexpr double kSteep = 0.9;     // share of the threshold, for the working set
  static constexpr int kManyRegions = 300;
  static constexpr double kLazyShare = 0.12; // above this share: one full product
  static constexpr double kMargin = 0.5;     // of lambda1, below the threshold
  static constexpr double kNear = 0.8;       // share of the threshold, for nodes that get a margin

  // Coarse rounds. A violation is relative to lambda1.
  static constexpr double kFirstRatio = 0.3;      // violation that the first round expects
  static constexpr double kSecondRatio = 0.03;    // and the first round after a failed certificate
  static constexpr double kSmallRatio = 2e-3;     // violation from which on the certificate decides
  static constexpr double kLookRatio = 0.1;       // beyond it all features are looked at once
  static constexpr double kSearchAgain = 0.01;    // in a certificate: beyond it rounds are repeated
  static constexpr double kTolerated = 0.02;      // share of the last violation that stays
  static constexpr double kTightNewton = 1e-13, kStartNewton = 1e-4;
  static constexpr double kLooseNewton = 0.03;    // share of the gap that Newton may leave
  static constexpr double kUsualShare = 0.12;     // of the bound that a gradient usually changes by

  bool start_row(double lambda1, double lambda2);

  // ---- penalties

  void set_penalties(double lambda1, double lambda2);

  // A threshold; violations are relative to it.
  double scale() const { return lambda1_ * model_.least_factor; }

  // ---- coarse rounds, then the certificate

  bool solve_coarsely(double thresh, int max_iterations, double& gap);
  void coarse_rounds(double stop, int max_iterations, double ratio, bool look);
  void find_pieces_coarsely(double ratio);
  std::vector<int> seeds_among(const std::vector<int>& nodes, GradientTerms& terms,
                               double tolerance) const;
  void compute_unsettled(double tolerance);
  bool is_settled(int i, double share, double tolerance) const;
  void look_around();
  void compute_or_all(const std::vector<int>& columns);
  void leave_margin();
  void find_near(double share);

  // ---- exact rounds

  void solve_finely(double thresh, int max_iterations, double& gap);
  bool fine_rounds(double stop, int max_iterations);
  int pieces_at_a_time() const { return std::max(kMostPieces, regions_.size() / 2); }
  void find_pieces_exactly();
  void saturate_borders();
  void collect_pieces(int sign);
  bool matters(const Piece& piece) const;
  Leftover leftover_of_pieces() const;
  double violation_of_pieces() const;
  void split(int most);
  void set_ties();

  // ---- the certificate

  double relative_gap(const DualPoint& point, const Leftover& left) const;
  double tolerated_excess(double thresh) const;
  double certify(double thresh);
  Leftover leftover_of_candidates(const GradientTerms& terms) const;
  double sharper_gap(double gap, double thresh, double tolerance);
  double set_ratio(const Piece& piece);
  void find_candidates(double tolerance);
  void add_candidate(int i);
  const std::vector<int>& not_settled_at_once(double tolerance);
  bool is_certain(int i, double tolerance);

  // ---- the answer

  Solution solution(double gap) const;

  Model& model_;
  Network network_;
  MaxFlow search_;
  LazyGradient gradient_;
  DualNorm norm_;
  FreeDirections free_;
  Regions regions_;
  RegionNewton newton_;
  RegionBalance balance_;
  SmoothFlow smooth_;
  WorkingSet work_;
  double lambda1_ = 0, lambda2_ = 0;
  DualPoint dual_;       // of the certificate: that of the last evaluation or close to it
  double rounding_ = 0;  // rounding error of one node's excess, at the present residual and flow
  int iterations_ = 0;
  double most_work_ = kInfinity;  // of a Newton step, see limit_work()
  bool penalised_ = false;   // every violation can be compared with lambda1
  std::vector<char> taken_;
  std::vector<Piece> pieces_;
  std::vector<int> unsettled_;              // in a coarse round: nodes with new gradients
  std::vector<int> candidates_, uncertain_, passed_;  // in a certificate
  double settled_excess_ = 0;               // of the nodes that are no candidates
};

}  // namespace n2gfl
