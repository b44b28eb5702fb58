// Everything that is constant along a path: the data, the graph, the penalty factors and the null
// fit.
//
//   minimise  F(X beta) + lambda1 sum_i u_i |beta_i| + lambda2 sum_ij w_ij |beta_i - beta_j|
//
// where F is the profiled loss. Solvers handle beta >= 0 or free beta only: for nonpositive beta
// the design is mirrored.
#pragma once

#include <cmath>
#include <stdexcept>

#include "data/design.hpp"
#include "graph/graph.hpp"
#include "loss/profile.hpp"
#include "poll.hpp"
#include "sign.hpp"
#include "types.hpp"

namespace n2gfl {

// X contains a value that is not finite.
struct NotFinite : std::invalid_argument {
  NotFinite() : std::invalid_argument("X has values that are not finite") {}
};

struct Model {
  Model(const Design& design, Profile& loss, const Graph& g, VectorXd u, bool at_least_zero,
        bool has_intercept, int thread_count, Poll& interrupt);

  int features() const { return x.cols(); }
  Signs signs() const { return Signs(nonnegative); }

  // lambda1 * u_i. An infinite u_i excludes the feature for every lambda1; an infinite lambda1
  // excludes all penalised features.
  double threshold(double lambda1, int i) const {
    if (std::isinf(factor[i])) return factor[i];
    return factor[i] == 0 ? 0.0 : lambda1 * factor[i];
  }

  // Gradients below this value may be rounding errors.
  double rounding(const VectorXd& residual) const;

  // The same for every feature, by the norm of its own column. Unpenalised coefficients may be so
  // large that a gradient far below the rounding of the largest column counts.
  VectorXd roundings(const VectorXd& residual) const;

  const Design& x;
  Profile& profile;
  const Graph& graph;
  VectorXd factor;
  bool nonnegative, intercept;
  int threads;
  Poll& poll;

  double null_value = 0;  // the objective at beta = 0: the scale of every duality gap
  VectorXd null_residual, null_gradient, column_norm;
  VectorXd plain_norm;  // of columns that are not centred
  double largest_norm = 0;
  double least_factor = 0;  // the smallest positive penalty factor
  bool any_unpenalised = false;
};

}  // namespace n2gfl
