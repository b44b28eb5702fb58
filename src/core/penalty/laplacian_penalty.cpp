#include "penalty/laplacian_penalty.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace n2gfl {

void LaplacianPenalty::set(double lambda1, double lambda2) {
  lambda1_ = lambda1;
  lambda2_ = lambda2;
}

double LaplacianPenalty::smooth(const VectorXd& beta, VectorXd& gradient) const {
  double twice = 0;
  for (int i = 0; i < model_.features(); ++i) {
    const double s = slope(beta, i);
    gradient[i] += s;
    twice += s * beta[i];
  }
  return 0.5 * twice;
}

double LaplacianPenalty::smooth_curvature(const VectorXd& v) const {
  double sum = 0;
  for (int i = 0; i < model_.features(); ++i) sum += v[i] * slope(v, i);
  return sum;
}

double LaplacianPenalty::value(const VectorXd& beta) const {
  double size = 0;
  for (int i = 0; i < model_.features(); ++i)
    if (beta[i] != 0) size += threshold(i) * std::fabs(beta[i]);
  return size + 0.5 * smooth_curvature(beta);
}

void LaplacianPenalty::prox(const VectorXd& z, double step, VectorXd& b) {
  b.resize(z.size());
  for (int i = 0; i < model_.features(); ++i) b[i] = shrink(z[i], step * threshold(i));
}

double LaplacianPenalty::gap(const VectorXd& beta, const Evaluation& at, double objective, double,
                             VectorXd& products) {
  model_.x.transpose_times(at.residual(), products, model_.threads, model_.poll);
  VectorXd gradient = products;
  for (int i = 0; i < model_.features(); ++i) gradient[i] -= slope(beta, i);
  return gap_at(beta, at, objective, gradient);
}

double LaplacianPenalty::gap_at(const VectorXd& beta, const Evaluation& at, double objective,
                                const VectorXd& gradient) const {
  const EdgePoint start{at.dual, beta, gradient, at.coordinates};
  EdgePoint point = start;
  const VectorXd roundings = model_.roundings(at.residual());
  std::vector<int> free;
  for (int round = 0; round < kMostRounds; ++round) {
    if (!add_objecting(point.gradient, roundings, free)) break;
    if (free.size() > kMostFree) return estimate(start, objective);
    point = start;
    for (int pass = 0; pass < 2; ++pass) newton_step(at, free, point);  // second pass for accuracy
  }
  if (unsolved(point, roundings, free)) return nothing_proved(point, objective);
  return gap_of(objective, point, model_.rounding(at.residual()));
}

double LaplacianPenalty::lambda1_max_at(const VectorXd& beta, const VectorXd& gradient) const {
  double largest = 0;
  for (int i = 0; i < model_.features(); ++i) {
    if (beta[i] != 0 || model_.factor[i] == 0) continue;
    largest = std::max(largest, one_sided(gradient[i]) / model_.factor[i]);
  }
  return largest;
}

Leftover LaplacianPenalty::leftover(const VectorXd& gradient) const {
  Leftover left;
  for (int i = 0; i < model_.features(); ++i)
    left.add(one_sided(gradient[i]) - threshold(i), threshold(i));
  return left;
}

// Gradients that rounding leaves at unpenalised features, and what it leaves of theta along
// intercept and covariates, matter if coefficients are huge: they are multiplied by twice the
// largest coefficient and added to the gap. If that is no longer small, nothing can be proved in
// double precision, and the dual point is zero.
double LaplacianPenalty::gap_of(double objective, const EdgePoint& point, double rounding) const {
  const Leftover left = leftover(point.gradient);
  const VectorXd along = model_.profile.basis().transpose() * point.dual.theta;
  const double charge = 2 * largest(point.unpenalised) * along.cwiseAbs().sum() +
                        2 * largest(point.potential) * left.unpenalised;
  if (std::isfinite(rounding) && charge > kMostCharge * model_.null_value)
    return nothing_proved(point, objective);
  const double s = 1 / (1 + left.ratio);
  const double edges = s * s * 0.5 * smooth_curvature(point.potential);
  return relative_gap(model_, objective + edges + charge, point.dual, left, rounding);
}

// The gap at the dual point zero.
double LaplacianPenalty::nothing_proved(const EdgePoint& point, double objective) const {
  DualPoint none = point.dual;
  none.give_up();
  return relative_gap(model_, objective, none, {}, 0.0);
}

// Where columns differ too little for double precision, the Newton step leaves a gradient, along
// which huge coefficients can still improve the fit.
bool LaplacianPenalty::unsolved(const EdgePoint& point, const VectorXd& roundings,
                                const std::vector<int>& free) const {
  const double size = kRounding * largest(point.potential);
  return std::any_of(free.begin(), free.end(), [&](int i) {
    return one_sided(point.gradient[i]) > kMostLeft * (roundings[i] + size * curvature(i));
  });
}

// Adds the unpenalised features with a nonzero gradient. Returns true if there are new ones.
bool LaplacianPenalty::add_objecting(const VectorXd& gradient, const VectorXd& roundings,
                                     std::vector<int>& free) const {
  const std::size_t before = free.size();
  for (int i = 0; i < model_.features(); ++i) {
    if (threshold(i) > 0 || one_sided(gradient[i]) <= roundings[i]) continue;
    const auto end = free.begin() + static_cast<std::ptrdiff_t>(before);
    if (!std::binary_search(free.begin(), end, i)) free.push_back(i);
  }
  const bool more = free.size() > before;
  std::sort(free.begin(), free.end());
  return more;
}

// Columns times this are orthonormal, or zero as far as they depend on others. Columns that nearly
// repeat each other would otherwise lose in the Hessian what they differ in.
MatrixXd LaplacianPenalty::orthonormalising(const MatrixXd& columns) {
  Eigen::ColPivHouseholderQR<MatrixXd> qr(columns);
  const Eigen::Index rank = qr.rank(), rest = columns.cols() - rank;
  MatrixXd turn = MatrixXd::Identity(columns.cols(), columns.cols());
  const auto upper =
      qr.matrixR().topLeftCorner(rank, rank).template triangularView<Eigen::Upper>();
  // Eigen's triangular solver must not be given empty matrices.
  if (rank > 0) turn.topLeftCorner(rank, rank) = upper.solve(MatrixXd::Identity(rank, rank));
  if (rank > 0 && rest > 0) {
    turn.topRightCorner(rank, rest) = -upper.solve(qr.matrixR().topRightCorner(rank, rest));
  }
  return qr.colsPermutation() * turn;
}

void LaplacianPenalty::newton_step(const Evaluation& at, const std::vector<int>& free,
                                   EdgePoint& point) const {
  const Eigen::Index n = static_cast<Eigen::Index>(free.size());
  const ProfileCurvature curvature = model_.profile.curvature(at.at);
  MatrixXd columns(model_.x.rows(), n);
  VectorXd column;
  for (Eigen::Index k = 0; k < n; ++k) {
    column.setZero(model_.x.rows());
    model_.x.add(free[k], 1.0, column);
    columns.col(k) = column;
  }
  const MatrixXd turn = orthonormalising(columns), turned = columns * turn;
  MatrixXd laplacian = MatrixXd::Zero(n, n);
  VectorXd pull(n);
  for (Eigen::Index k = 0; k < n; ++k) {
    pull[k] = slope(point.potential, free[k]);
    add_laplacian(free, k, laplacian);
  }
  MatrixXd hessian = turned.transpose() * curvature.times(turned);
  if (lambda2_ > 0) hessian += turn.transpose() * laplacian * turn;
  const VectorXd right = turned.transpose() * point.dual.theta - turn.transpose() * pull;
  const VectorXd step = turn * hessian.ldlt().solve(right);
  point.unpenalised += model_.profile.move(point.dual, at.at, curvature, columns * step);
  for (Eigen::Index k = 0; k < n; ++k) point.potential[free[k]] += step[k];
  model_.x.transpose_times(point.dual.theta, point.gradient, model_.threads, model_.poll);
  for (int i = 0; i < model_.features(); ++i) point.gradient[i] -= slope(point.potential, i);
}

// Row k of 2 lambda2 L, among the free features.
void LaplacianPenalty::add_laplacian(const std::vector<int>& free, Eigen::Index k,
                                     Eigen::Ref<MatrixXd> hessian) const {
  hessian(k, k) += curvature(free[k]);
  for (int a = model_.graph.begin(free[k]); a < model_.graph.end(free[k]); ++a) {
    const auto it = std::lower_bound(free.begin(), free.end(), model_.graph.head(a));
    if (it != free.end() && *it == model_.graph.head(a))
      hessian(k, it - free.begin()) -= 2 * lambda2_ * model_.graph.weight(a);
  }
}

// With too many free features for a proof, the charge of gap_of() alone stands for them, and
// `rounding` is infinite. It says nothing while all coefficients are zero.
double LaplacianPenalty::estimate(const EdgePoint& point, double objective) const {
  const double infinity = std::numeric_limits<double>::infinity();
  const bool unknown =
      (point.potential.array() == 0).all() && leftover(point.gradient).unpenalised > 0;
  return unknown ? infinity : gap_of(objective, point, infinity);
}

}  // namespace n2gfl
