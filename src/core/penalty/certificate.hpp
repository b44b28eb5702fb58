// The certificate of a fit: its relative duality gap at a dual point that is made feasible by
// scaling.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "data/model.hpp"
#include "types.hpp"

namespace n2gfl {

// The excess that a flow could not remove. At nodes with lambda1 u_i > 0 it can be compensated by
// scaling theta, so it counts relative to lambda1 u_i. At the other nodes it cannot, and the
// excess itself is summed.
struct Leftover {
  double ratio = 0;
  double unpenalised = 0;

  // Adds a node's excess over its threshold. NaN counts as infinite.
  void add(double excess, double threshold) {
    if (excess <= 0) return;
    if (std::isnan(excess)) excess = std::numeric_limits<double>::infinity();
    if (threshold > 0)
      ratio = std::max(ratio, excess / threshold);
    else
      unpenalised += excess;
  }
};

// (primal - dual) / null objective at the dual point scaled by 1 / (1 + ratio). If nodes without
// threshold have an excess beyond `rounding` per node, the dual point is zero, which is always
// feasible.
double relative_gap(const Model& model, double objective, const DualPoint& point,
                    const Leftover& left, double rounding);

}  // namespace n2gfl
