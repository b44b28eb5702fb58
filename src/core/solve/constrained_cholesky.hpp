// Minimises 1/2 s'Hs - g's while equality constraints s_k = s_l or s_k = 0 are added one at a
// time. H is factored once, H = LL'; every constraint a's = 0 adds one column L^{-1} a and one row
// to a small factor of A H^{-1} A'. That costs n^2, a new factorisation would cost n^3.
#pragma once

#include "types.hpp"

namespace n2gfl {

class ConstrainedCholesky {
 public:
  // Removes all constraints. A matrix that is numerically singular gets a small ridge.
  void factor(const MatrixXd& hessian);

  // No room for more constraints: factor the reduced problem instead.
  bool full() const { return count_ == inner_.rows(); }

  // Adds s_k = s_l, or s_k = 0 if l is negative.
  void equate(int k, int l);

  VectorXd solve(const VectorXd& right) const;

 private:
  static constexpr Eigen::Index kLeast = 16;

  VectorXd solve_inner(VectorXd right) const;

  Eigen::LLT<MatrixXd> factor_;
  MatrixXd columns_;  // L^{-1} A'
  MatrixXd inner_;    // lower factor of A H^{-1} A'
  Eigen::Index count_ = 0;
};

}  // namespace n2gfl
