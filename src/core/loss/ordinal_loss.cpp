#include "loss/ordinal_loss.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace n2gfl {

namespace {

constexpr double kRounding = 1e-14;
constexpr double kTiny = 1e-18;   // below this, a difference of dual variables is rounding
constexpr double kApart = 1e-20;  // below this p r, the two ends do not influence each other

double softplus(double x) { return std::log1p(std::exp(-std::fabs(x))) + std::fmax(x, 0.0); }

// 1 / (1 + exp(-x))
double sigma(double x) {
  const double e = std::exp(-std::fabs(x));
  return (x > 0 ? 1.0 : e) / (1 + e);
}

double variance(double x) {
  const double e = std::exp(-std::fabs(x));
  return e / ((1 + e) * (1 + e));
}

// The parts of l that belong to one of its ends, and to the distance w = u - v of both.
double distance_loss(double w) { return -std::log(-std::expm1(-w)); }
double distance_pull(double w) { return 1 / std::expm1(w); }
double distance_bend(double w) {
  const double e = -std::expm1(-w);
  return std::exp(-w) / (e * e);
}

// The bound of an end alone: inf over x of log(1 + e^-x) + p x.
double entropy(double p) {
  if (!(p >= -kRounding && p <= 1 + kRounding)) return -kInfinite;
  p = std::fmin(1.0, std::fmax(0.0, p));
  return (p > 0 ? -p * std::log(p) : 0.0) - (p < 1 ? (1 - p) * std::log1p(-p) : 0.0);
}

// inf over u > v of l(u, v) + p u - r v, with p = upper + pull and r = lower + pull. Where it is
// attained, e^w solves a quadratic equation: p r = e^w / (e^w - 1)^2. Then (p, r) give v.
double pair_bound(double upper, double lower, double pull) {
  const double p = upper + pull, r = lower + pull, tilt = upper - lower;
  if (!(p >= 0 && r >= 0 && std::fabs(tilt) <= 1 + kRounding)) return -kInfinite;
  if (p * r < kApart) return entropy(p) + entropy(r);
  const double x = 0.5 / (p * r);
  const double w = std::log1p(x + std::sqrt(x * (x + 2)));
  const double inverse = std::exp(-w), rest = -std::expm1(-w);
  const double root = std::sqrt(p * inverse / r);  // (1 + e^v) / (1 + e^u)
  // r - p e^-w and p - r e^-w, without cancellation
  const double above = std::fmax(lower + (pull * rest - upper * inverse), kTiny * inverse);
  const double below = std::fmax(upper + (pull * rest - lower * inverse), kTiny * inverse);
  const double v = std::log(above * (root + inverse) / (below * (1 + root)));
  return softplus(-v - w) + softplus(v) + distance_loss(w) + p * w + tilt * v;
}

}  // namespace

OrdinalLoss::OrdinalLoss(const VectorXd& level, VectorXd weights) : Loss(std::move(weights)) {
  level_.reserve(static_cast<std::size_t>(level.size()));
  for (int i = 0; i < level.size(); ++i) {
    level_.push_back(static_cast<int>(level[i]) - 1);
    if (omega_[i] > 0) levels_ = std::max(levels_, level_.back() + 1);
  }
}

void OrdinalLoss::compute(const VectorXd& eta, const VectorXd& own, LossPoint& at) const {
  at.eta = eta;
  at.own = own;
  at.value = 0;
  at.residual.setZero(size());
  at.own_residual.setZero(cuts());
  at.curvature.diagonal.setZero(size());
  at.cross.setZero(size(), cuts());
  at.own_curvature.setZero(cuts(), cuts());
  for (int i = 0; i < size(); ++i) {
    if (omega_[i] <= 0) continue;
    const Ends e = ends(i, eta, own);
    if (!(e.u > e.v)) {
      at.value = kInfinite;
      return;
    }
    add(i, e, at);
  }
}

double OrdinalLoss::bound(const DualPoint& point, double scale) const {
  double value = 0;
  for (int i = 0; i < size(); ++i) {
    if (omega_[i] <= 0) continue;
    const double upper = scale * point.parts(i, 0), lower = scale * point.parts(i, 1);
    const bool inner = has_upper(i) && has_lower(i);
    value += omega_[i] * (inner ? pair_bound(upper, lower, scale * point.parts(i, 2))
                                : entropy(upper + lower));  // one of them is zero
  }
  return value;
}

DualPoint OrdinalLoss::dual_point(const LossPoint& at) const {
  DualPoint point{at.residual, MatrixXd::Zero(size(), 3)};
  for (int i = 0; i < size(); ++i) {
    if (omega_[i] <= 0) continue;
    const Ends e = ends(i, at.eta, at.own);
    if (has_upper(i)) point.parts(i, 0) = sigma(-e.u);
    if (has_lower(i)) point.parts(i, 1) = sigma(e.v);
    if (has_upper(i) && has_lower(i)) point.parts(i, 2) = distance_pull(e.u - e.v);
  }
  return point;
}

void OrdinalLoss::move(DualPoint& point, const LossPoint& at, const VectorXd& along,
                       const VectorXd& own) const {
  for (int i = 0; i < size(); ++i) {
    if (omega_[i] <= 0) continue;
    const Ends e = ends(i, at.eta, at.own);
    const double du = has_upper(i) ? own[level_[i]] - along[i] : 0.0;
    const double dv = has_lower(i) ? own[level_[i] - 1] - along[i] : 0.0;
    const double upper = has_upper(i) ? variance(e.u) * du : 0.0;
    const double lower = has_lower(i) ? variance(e.v) * dv : 0.0;
    point.parts(i, 0) -= upper;
    point.parts(i, 1) += lower;
    if (has_upper(i) && has_lower(i))
      point.parts(i, 2) -= distance_bend(e.u - e.v) * (du - dv);
    point.theta[i] += omega_[i] * (lower + upper);
  }
}

void OrdinalLoss::leave_out(double& constant, VectorXd& own) const {
  own.array() -= constant;
  constant = 0;
}

VectorXd OrdinalLoss::own_start() const {
  VectorXd share = VectorXd::Zero(cuts());
  for (int i = 0; i < size(); ++i)
    for (int k = level_[i]; k < cuts(); ++k) share[k] += omega_[i];
  return (share.array() / (1 - share.array())).log();
}

// The cut points are kept in the middle of the predictors that they must separate.
double OrdinalLoss::best_constant(const VectorXd& eta) const { return -eta.dot(omega_); }

OrdinalLoss::Ends OrdinalLoss::ends(int i, const VectorXd& eta, const VectorXd& own) const {
  return {has_upper(i) ? own[level_[i]] - eta[i] : kInfinite,
          has_lower(i) ? own[level_[i] - 1] - eta[i] : -kInfinite};
}

// Adds one observation to all sums of the point.
void OrdinalLoss::add(int i, const Ends& at, LossPoint& point) const {
  const double weight = omega_[i];
  const bool inner = has_upper(i) && has_lower(i);
  const double pull = inner ? distance_pull(at.u - at.v) : 0.0;
  const double bend = inner ? distance_bend(at.u - at.v) : 0.0;
  if (inner) point.value += weight * distance_loss(at.u - at.v);
  if (has_upper(i)) {
    const int k = level_[i];
    const double p = sigma(-at.u) + pull, h = variance(at.u);
    point.value += weight * softplus(-at.u);
    point.residual[i] -= weight * sigma(-at.u);  // the pulls of both ends cancel
    point.own_residual[k] += weight * p;
    point.curvature.diagonal[i] += weight * h;
    point.cross(i, k) -= weight * h;
    point.own_curvature(k, k) += weight * (h + bend);
  }
  if (has_lower(i)) {
    const int k = level_[i] - 1;
    const double r = sigma(at.v) + pull, h = variance(at.v);
    point.value += weight * softplus(at.v);
    point.residual[i] += weight * sigma(at.v);
    point.own_residual[k] -= weight * r;
    point.curvature.diagonal[i] += weight * h;
    point.cross(i, k) -= weight * h;
    point.own_curvature(k, k) += weight * (h + bend);
  }
  if (!inner) return;
  point.own_curvature(level_[i], level_[i] - 1) -= weight * bend;
  point.own_curvature(level_[i] - 1, level_[i]) -= weight * bend;
}

}  // namespace n2gfl
