// Second derivatives of the profiled loss at a point: those of the loss, H, less what the
// unpenalised part explains: H - B M^-1 B', with B = H U and M = U'H U. The loss's own parameters
// count as columns of U.
#pragma once

#include "loss/loss.hpp"
#include "types.hpp"

namespace n2gfl {

class ProfileCurvature {
 public:
  // `basis` is U without a constant that the loss ignores. `more` is added to the second
  // derivatives of the observations.
  ProfileCurvature(const LossPoint& at, const MatrixXd& basis, const VectorXd& more);

  const VectorXd& diagonal() const { return curvature_.diagonal; }

  MatrixXd times(const MatrixXd& v) const;

  // Subtracts from C' diag(h) C what makes it C' F'' C; C are the `columns`.
  void subtract(const MatrixXd& columns, MatrixXd& gram) const;

  // F'' = diag(h) - K' S K, with K v = coupling(v) and S K v = response(K v).
  MatrixXd coupling(const MatrixXd& v) const;
  MatrixXd response(const MatrixXd& coupled) const;

  // How the unpenalised part follows when eta moves along v: coordinates, then own parameters.
  VectorXd follow(const VectorXd& v) const { return -solve(mixed_.transpose() * v); }

  // M^-1 v
  VectorXd solve(const VectorXd& v) const;

 private:
  Curvature curvature_;
  MatrixXd mixed_;               // B
  Eigen::LDLT<MatrixXd> inner_;  // of M
};

}  // namespace n2gfl
