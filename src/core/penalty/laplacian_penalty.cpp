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

double LaplacianPenalty::gap(const VectorXd& beta, const VectorXd& residual, double objective,
                             double, VectorXd& products) {
  model_.x.transpose_times(residual, products, model_.threads, model_.poll);
  VectorXd gradient = products;
  for (int i = 0; i < model_.features(); ++i) gradient[i] -= slope(beta, i);
  return gap_at(beta, residual, objective, gradient);
}

double LaplacianPenalty::gap_at(const VectorXd& beta, const VectorXd& residual, double objective,
                                const VectorXd& gradient) const {
  const DualPoint start{residual, beta, gradient, model_.profile.coordinates()};
  DualPoint dual = start;
  const double rounding = model_.rounding(residual);
  std::vector<int> free;
  for (int round = 0; round < kMostRounds && add_objecting(dual.gradient, rounding, free); ++round) {
    if (free.size() > kMostFree) return estimate(beta, residual, objective, gradient);
    dual = start;
    for (int pass = 0; pass < 2; ++pass) newton_step(free, dual);  // second pass for accuracy
  }
  return gap_of(objective, dual, rounding);
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
double LaplacianPenalty::gap_of(double objective, const DualPoint& dual, double rounding) const {
  const Leftover left = leftover(dual.gradient);
  const VectorXd along = model_.profile.basis().transpose() * dual.theta;
  const double charge = 2 * largest(dual.unpenalised) * along.cwiseAbs().sum() +
                        2 * largest(dual.potential) * left.unpenalised;
  const VectorXd none = VectorXd::Zero(dual.theta.size());
  if (std::isfinite(rounding) && charge > kMostCharge * model_.null_value)
    return relative_gap(model_, objective, none, {}, rounding);
  const double s = 1 / (1 + left.ratio);
  const double edges = s * s * 0.5 * smooth_curvature(dual.potential);
  return relative_gap(model_, objective + edges + charge, dual.theta, left, rounding);
}

// Adds the unpenalised features with a nonzero gradient. Returns true if there are new ones.
bool LaplacianPenalty::add_objecting(const VectorXd& gradient, double rounding,
                                     std::vector<int>& free) const {
  const std::size_t before = free.size();
  for (int i = 0; i < model_.features(); ++i) {
    if (threshold(i) > 0 || one_sided(gradient[i]) <= rounding) continue;
    const auto end = free.begin() + static_cast<std::ptrdiff_t>(before);
    if (!std::binary_search(free.begin(), end, i)) free.push_back(i);
  }
  const bool more = free.size() > before;
  std::sort(free.begin(), free.end());
  return more;
}

void LaplacianPenalty::newton_step(const std::vector<int>& free, DualPoint& dual) const {
  const Eigen::Index fixed = model_.profile.basis().cols(), n = static_cast<Eigen::Index>(free.size());
  MatrixXd columns = MatrixXd::Zero(model_.x.rows(), fixed + n);
  columns.leftCols(fixed) = model_.profile.basis();
  VectorXd column;
  for (Eigen::Index k = 0; k < n; ++k) {
    column.setZero(model_.x.rows());
    model_.x.add(free[k], 1.0, column);
    columns.col(fixed + k) = column;
  }
  const MatrixXd weighted = model_.profile.curvature().asDiagonal() * columns;
  MatrixXd hessian = columns.transpose() * weighted;
  VectorXd right = columns.transpose() * dual.theta;
  for (Eigen::Index k = 0; k < n; ++k) {
    right[fixed + k] -= slope(dual.potential, free[k]);
    add_laplacian(free, k, hessian.bottomRightCorner(n, n));
  }
  const VectorXd step = hessian.ldlt().solve(right);
  dual.theta -= weighted * step;
  dual.unpenalised += step.head(fixed);
  for (Eigen::Index k = 0; k < n; ++k) dual.potential[free[k]] += step[fixed + k];
  model_.x.transpose_times(dual.theta, dual.gradient, model_.threads, model_.poll);
  for (int i = 0; i < model_.features(); ++i) dual.gradient[i] -= slope(dual.potential, i);
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
double LaplacianPenalty::estimate(const VectorXd& beta, const VectorXd& residual, double objective,
                                  const VectorXd& gradient) const {
  const double infinity = std::numeric_limits<double>::infinity();
  const bool unknown = (beta.array() == 0).all() && leftover(gradient).unpenalised > 0;
  const DualPoint dual{residual, beta, gradient, model_.profile.coordinates()};
  return unknown ? infinity : gap_of(objective, dual, infinity);
}

}  // namespace n2gfl
