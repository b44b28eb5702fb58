// The exact prox of the fused lasso on a graph:
//   min_b  sum_i m_i/2 (b_i - z_i)^2 + sum_i a_i |b_i| + theta sum_ij w_ij |b_i - b_j|
// with b >= 0, b <= 0 or b free. For t >= 0 the set {b > t} is a minimum cut with node terms m_i
// (z_i - t) - a_i; for t < 0 the set {b < t} is one with m_i (z_i - t) + a_i. So a cut at zero
// finds the support, and the levels need to be found on the support only. The flow of the cuts is
// the dual variable xi of the paper; it is kept, and the next call starts from it and from the
// blocks of the last solution.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include <Eigen/Core>

#include "graph/graph.hpp"
#include "graph/max_flow.hpp"
#include "graph/network.hpp"
#include "poll.hpp"
#include "prox/closed_seeds.hpp"
#include "prox/level_sets.hpp"
#include "prox/total_variation.hpp"
#include "sign.hpp"

namespace n2gfl {

class FusedProx {
 public:
  // Problems with at least `large` nodes start from an approximate flow (total_variation.hpp);
  // tests change this number.
  FusedProx(const Graph& graph, Poll& poll, int large = 500);

  FusedProx(const FusedProx&) = delete;
  FusedProx& operator=(const FusedProx&) = delete;

  // Masses are positive; thresholds are >= 0, and +Inf fixes b_i = 0.
  void solve(const Eigen::VectorXd& z, const Eigen::VectorXd& masses,
             const Eigen::VectorXd& thresholds, double theta, Sign allowed, Eigen::VectorXd& b);

  // The flow of the last solution; arcs are numbered as in the graph.
  const Network& network() const { return net_; }

  // Relative duality gap of b and the kept flow, computed from scratch. Primal minus dual is a sum
  // of nonnegative terms (one per node, one per edge), so nothing cancels. All terms are divided
  // by the largest value, because squares of the values themselves may overflow.
  double gap(const Eigen::VectorXd& z, const Eigen::VectorXd& masses,
             const Eigen::VectorXd& thresholds, double theta, Sign allowed,
             const Eigen::VectorXd& b) const;

 private:
  using Parts = TotalVariation::Parts;
  static constexpr double kLeastMargin = 0.1;  // share of the threshold; nodes with more keep it
  static constexpr std::size_t kSeedsPerMargin = 3;
  static constexpr double kMuchSmaller = 0.1;  // values now, as a share of the largest before

  struct Input {
    const Eigen::VectorXd *z, *masses, *thresholds;
    double pull(int i, int sign, double centre = 0) const {
      return (*masses)[i] * ((*z)[i] - centre) - sign * (*thresholds)[i];
    }
  };

  // The cut between zero and the values above it (sign = 1) or below it (sign = -1).
  struct ZeroCut {
    const Input* input;
    const Network* net;
    int sign;
    const ClosedSeeds* closed;
    double excess(int i) const { return input->pull(i, sign) - net->outflow(i); }
    bool open(int, int j) const { return !closed->contains(j); }
  };

  static bool are_small(const Input& input);
  void forget_large_flows(const Input& input);
  static double size_of(const Input& input, const std::vector<int>& part);
  void approach(const Input& input, Sign allowed, Eigen::VectorXd& b);
  std::vector<int> support(const Input& input, int sign);
  void add_support(const Input& input, int sign, const std::vector<int>& part,
                   std::vector<int>& inside);
  double find_seeds(const Input& input, int sign, const std::vector<int>& part);
  void find_closed_seeds(const ZeroCut& cut, Grow grow, double tolerance, std::vector<int>& inside);
  void make_margins(const ZeroCut& cut);
  void make_margin(const ZeroCut& cut, int i);
  void resolve_support(const Input& input, const std::vector<int>& nodes, int sign,
                       Eigen::VectorXd& b);
  bool resolve_again(const Input& input, const std::vector<int>& nodes, int sign,
                     Eigen::VectorXd& b);
  void resolve(const Input& input, const Parts& parts, int sign, Eigen::VectorXd& b);
  static double centre_of(const Input& input, const std::vector<int>& part, int sign);
  static double node_gap(double r, double m, double a, Sign allowed, double b);
  static double square(double v) { return v * v; }

  const Graph* graph_;
  Network net_;
  NodeTerms terms_;
  MaxFlow flow_;
  ClosedSeeds closed_;
  TotalVariation total_variation_;
  Eigen::VectorXd last_;  // the last solution, empty before the first
  double theta_ = std::numeric_limits<double>::quiet_NaN();
  int calls_ = 0;
  std::vector<int> nodes_;  // all of the graph
  Parts components_;             // its components
  std::vector<double> sizes_;  // per component: the largest |m z| since its flow was zero
  std::vector<int> seeds_, candidates_;
};

}  // namespace n2gfl
