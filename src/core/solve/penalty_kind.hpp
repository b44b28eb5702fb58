// What a path needs to know of a penalty: its solver, its prox, the lambda1 at which a path starts,
// and the degrees of freedom of a fit. Each kind is a class of its own, see penalty_kinds.cpp for
// which there are. No other file asks which kind it has.
#pragma once

#include <memory>

#include "penalty/penalty.hpp"
#include "solve/solver.hpp"

namespace n2gfl {

class PenaltyKind {
 public:
  virtual ~PenaltyKind() = default;

  // The direct solver, which needs no prox and is the default.
  virtual Solver& solver() = 0;

  // The penalty as ista and fista need it.
  virtual std::unique_ptr<Penalty> make_penalty() const = 0;

  // The smallest lambda1 at which all penalised coefficients are zero. Restarts the solver.
  virtual double lambda1_max(double lambda2) = 0;

  // The degrees of freedom of a fit: how many values it chose.
  virtual int count_df(const Solution& fit) const = 0;
};

}  // namespace n2gfl
