// The fit restricted to constant regions, with one unknown per region:
//
//   min_u  1/2 s'Hs - g's + sum over kinks of weight * |u_k - u_l|,  s = u - start,  (u >= 0)
//
// where u_l is another region or the constant zero. It is solved by a primal active-set method.
// Regions of equal value form groups. The values of the groups move towards their joint minimum.
// At a kink beyond which the objective would rise, two groups are merged and move on in one common
// direction. Merged groups are kept as clusters first, so that one factorisation serves many
// steps. Groups are never split here: the flow on the graph decides that.
#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "poll.hpp"
#include "solve/constrained_cholesky.hpp"
#include "types.hpp"

namespace n2gfl {

struct Kink {
  int k;
  int l;  // kZero: the constant zero
  double weight;
};

struct ContractedProblem {
  static constexpr int kZero = -1;
  MatrixXd hessian;
  VectorXd gradient;  // negative gradient at the start
  VectorXd start;
  std::vector<Kink> kinks;
  bool nonnegative;
  std::vector<double> tie;  // of two equal regions, the one with the larger tie should rise

  // The decrease of the objective from the start to u, summed from differences, so that its
  // rounding error is relative to the step and not to the objective.
  double decrease(const VectorXd& u) const;

  // |u_k - u_l| minus its value at the start. If the order does not change, it is computed from
  // the steps, which is more accurate.
  double rise(const Kink& z, const VectorXd& u, const VectorXd& step) const;

  static double signed_height(const Kink& z, const VectorXd& u) {
    return u[z.k] - (z.l < 0 ? 0.0 : u[z.l]);
  }

  // The negative gradient of the quadratic at u.
  VectorXd force(const VectorXd& u) const { return gradient - hessian * (u - start); }

  static double height(const Kink& z, const VectorXd& u) {
    return std::fabs(signed_height(z, u));
  }
};

struct ContractedSolution {
  VectorXd value;           // one per region
  std::vector<int> group;   // regions of one group are equal; kZero: zero
  int groups = 0;
  double decrease = 0;      // of the objective, from the start
};

class ActiveSet {
 public:
  ActiveSet(const ContractedProblem& problem, Poll& poll);

  ContractedSolution solve();

 private:
  static constexpr int kZero = ContractedProblem::kZero;
  static constexpr int kNoKink = -1;
  static constexpr double kReleased = 0.5;  // released from zero if above this share of the largest

  double at(const VectorXd& v, int group) const { return group < 0 ? 0.0 : v[group]; }
  int group(int region) const { return region < 0 ? kZero : group_[region]; }
  int order(const Kink& z) const;
  void number_groups();
  void count_groups();
  void find_direction();
  void contract_hessian();
  bool merge_blocked();
  int join(const Kink& z);
  bool walk();
  double rate(int z) const;
  std::pair<double, int> next_kink(double end) const;
  int cluster(int group) const { return group < 0 ? kZero : cluster_[group]; }
  void cross(int z);
  void merge_at(int z);
  bool release_from_zero();
  void add_kink(int k, int l, double weight, VectorXd& force, VectorXd& hold) const;
  void set_order(int region, int sign);
  ContractedSolution solution();

  const ContractedProblem& p_;
  Poll& poll_;
  VectorXd u_;
  std::vector<int> label_;  // group of a region before numbering; kZero: fixed at zero
  std::vector<int> sign_;   // sign of u_k - u_l at every kink, assumed if they are equal
  int labels_ = 0;
  std::vector<int> released_;  // regions that were last released from zero
  std::vector<int> group_;
  int groups_ = 0;
  VectorXd value_, direction_, pull_, image_;  // per group; pull: descent, image: H * direction
  MatrixXd hessian_;
  ConstrainedCholesky factor_;
  std::vector<int> cluster_;  // merged since the factorisation; per group: one member
};

}  // namespace n2gfl
