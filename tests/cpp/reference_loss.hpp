// The losses of all families from their definitions, in double or long double, without code of the
// core: half the deviance per unit of weight. Simple and slow: a matrix of rows x rows is no
// problem here.
#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace testing {

// A loss of the predictors of some rows. A row belongs to one observation of positive weight. An
// observation has one row, or one for each finite end of its level if the response is ordinal: the
// row's predictor is then eta - cut, and `own` holds -1 where a row (line) has its cut (column).
// So the cut points are unpenalised coefficients like those of covariates.
template <class Real>
class ReferenceLoss {
 public:
  using Vector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
  using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;

  explicit ReferenceLoss(const Eigen::VectorXd& weights) {
    const Real sum = weights.cast<Real>().sum();
    for (int i = 0; i < weights.size(); ++i)
      if (weights[i] > 0) add_row(i, weights[i] / sum);
    own.resize(rows(), 0);
  }
  virtual ~ReferenceLoss() = default;

  virtual Real value(const Vector& eta) const = 0;
  virtual Vector residual(const Vector& eta) const = 0;   // -d value / d eta
  virtual Matrix curvature(const Vector& eta) const = 0;  // d^2 value / d eta^2
  // inf over eta of value(eta) + theta'eta; -Inf outside of its domain.
  virtual Real dual(const Vector& theta) const = 0;

  int rows() const { return static_cast<int>(observation.size()); }

  std::vector<int> observation;  // of each row
  std::vector<Real> weight;      // of the row's observation; all observations have sum 1
  Matrix own;

 protected:
  void add_row(int i, Real omega) {
    observation.push_back(i);
    weight.push_back(omega);
  }

  static constexpr Real kInfinite = std::numeric_limits<Real>::infinity();
  static constexpr Real kRounding = 1e-12;  // dual variables of fits in double

  static Real x_log_x(Real x) { return x > 0 ? x * std::log(x) : 0; }
  static Real softplus(Real x) { return std::log1p(std::exp(-std::fabs(x))) + std::max<Real>(x, 0); }
  static Real sigma(Real x) {
    const Real e = std::exp(-std::fabs(x));
    return (x > 0 ? 1 : e) / (1 + e);
  }
};

// ---- sums of one function for each row

template <class Real>
class SeparableReference : public ReferenceLoss<Real> {
 public:
  using typename ReferenceLoss<Real>::Vector;
  using typename ReferenceLoss<Real>::Matrix;

  SeparableReference(const Eigen::VectorXd& y, const Eigen::VectorXd& weights)
      : ReferenceLoss<Real>(weights) {
    for (int i : this->observation) y_.push_back(y[i]);
  }

  Real value(const Vector& eta) const override {
    Real sum = 0;
    for (int k = 0; k < this->rows(); ++k) sum += this->weight[k] * one(y_[k], eta[k]).value;
    return sum;
  }
  Vector residual(const Vector& eta) const override {
    Vector r(this->rows());
    for (int k = 0; k < this->rows(); ++k) r[k] = this->weight[k] * one(y_[k], eta[k]).fall;
    return r;
  }
  Matrix curvature(const Vector& eta) const override {
    Matrix h = Matrix::Zero(this->rows(), this->rows());
    for (int k = 0; k < this->rows(); ++k) h(k, k) = this->weight[k] * one(y_[k], eta[k]).bend;
    return h;
  }
  Real dual(const Vector& theta) const override {
    Real sum = 0;
    for (int k = 0; k < this->rows(); ++k)
      sum += this->weight[k] * conjugate(y_[k], theta[k] / this->weight[k]);
    return sum;
  }

 protected:
  struct Term {
    Real value, fall, bend;  // the function, minus its derivative, its second derivative
  };
  virtual Term one(Real y, Real eta) const = 0;
  virtual Real conjugate(Real y, Real theta) const = 0;

 private:
  std::vector<Real> y_;
};

template <class Real>
class GaussianReference final : public SeparableReference<Real> {
 public:
  using SeparableReference<Real>::SeparableReference;
  using typename SeparableReference<Real>::Term;

 private:
  Term one(Real y, Real eta) const override { return {(y - eta) * (y - eta) / 2, y - eta, 1}; }
  Real conjugate(Real y, Real theta) const override { return theta * y - theta * theta / 2; }
};

// y is -1 or 1.
template <class Real>
class BinomialReference final : public SeparableReference<Real> {
 public:
  using SeparableReference<Real>::SeparableReference;
  using typename SeparableReference<Real>::Term;

 private:
  Term one(Real y, Real eta) const override {
    const Real wrong = this->sigma(-y * eta);
    return {this->softplus(-y * eta), y * wrong, wrong * this->sigma(y * eta)};
  }
  Real conjugate(Real y, Real theta) const override {
    const Real u = std::min<Real>(1, std::max<Real>(0, theta * y));
    if (std::fabs(u - theta * y) > this->kRounding) return -this->kInfinite;
    return -this->x_log_x(u) - (u < 1 ? (1 - u) * std::log1p(-u) : 0);
  }
};

// exp(eta) - y eta - y + y log y. Both functions are written with the ratio of mean and y, which
// keeps the digits of large counts.
template <class Real>
class PoissonReference final : public SeparableReference<Real> {
 public:
  using SeparableReference<Real>::SeparableReference;
  using typename SeparableReference<Real>::Term;

 private:
  Term one(Real y, Real eta) const override {
    const Real mean = std::exp(eta);
    if (y == 0) return {mean, -mean, mean};
    const Real t = eta - std::log(y);
    return {y * (std::expm1(t) - t), -y * std::expm1(t), mean};
  }
  // mean - mean log(mean) - y + y log(y)
  Real conjugate(Real y, Real theta) const override {
    const Real mean = std::max<Real>(0, y - theta);
    if (theta - y > this->kRounding * (1 + y)) return -this->kInfinite;
    if (y == 0) return mean - this->x_log_x(mean);
    const Real rise = (mean - y) / y;
    return y * (rise - (mean > 0 ? (1 + rise) * std::log1p(rise) : 0)) - (mean - y) * std::log(y);
  }
};

// ---- Breslow's partial likelihood

// For each stratum and each time t with events of weight D_t
//   D_t log(sum over the risk set of omega_j exp(eta_j) / D_t) - sum over the events of omega_i eta_i.
template <class Real>
class CoxReference final : public ReferenceLoss<Real> {
 public:
  using typename ReferenceLoss<Real>::Vector;
  using typename ReferenceLoss<Real>::Matrix;

  // y: time, status, stratum
  CoxReference(const Eigen::MatrixXd& y, const Eigen::VectorXd& weights)
      : ReferenceLoss<Real>(weights), event_(Vector::Zero(this->rows())) {
    for (int k = 0; k < this->rows(); ++k) {
      const int i = this->observation[k];
      place_.push_back({y(i, 2), y(i, 0)});
      if (y(i, 1) <= 0) continue;
      event_[k] = this->weight[k];
      died_[place_[k]] += this->weight[k];
    }
  }

  // Term by term relative to the event's own eta, so that large predictors cost no digits.
  Real value(const Vector& eta) const override {
    Real sum = 0;
    for (const auto& [place, died] : died_) {
      const Risk risk = risk_sum(place, eta);
      for (int k = 0; k < this->rows(); ++k)
        if (event_[k] > 0 && place_[k] == place)
          sum += event_[k] * ((risk.top - eta[k]) + std::log(risk.rest / died));
    }
    return sum;
  }
  Vector residual(const Vector& eta) const override {
    Vector r = event_;
    for (const auto& [place, died] : died_) r -= died * shares(place, eta);
    return r;
  }
  Matrix curvature(const Vector& eta) const override {
    Matrix h = Matrix::Zero(this->rows(), this->rows());
    for (const auto& [place, died] : died_) {
      const Vector share = shares(place, eta);
      h.diagonal() += died * share;
      h -= died * share * share.transpose();
    }
    return h;
  }

  // The conjugate of D log(sum omega exp(eta) / D) at q is sum q log(q / omega), for q >= 0 on the
  // risk set with sum D. So the `mass` of each row, its event minus theta, is divided among the
  // event times with the least sum of entropies. The best division is that of an eta: a time keeps
  // the share A / (A + D) of a row's mass for earlier times, where A is the mass of all rows at risk
  // minus the D of this and of later times.
  Real dual(const Vector& theta) const override {
    Vector rest = event_ - theta;
    if (rest.minCoeff() < -kSmall) return -this->kInfinite;
    rest = rest.cwiseMax(0);
    Real value = 0, spare = 0;
    Vector open = Vector::Ones(this->rows());
    for (auto now = died_.rbegin(); now != died_.rend(); ++now) {
      const auto [place, died] = *now;
      Real mass = 0;
      for (int k = 0; k < this->rows(); ++k)
        if (at_risk(k, place) && open[k] > 0) {
          mass += rest[k];
          open[k] = 0;
        }
      const auto earlier = std::next(now);
      const bool first = earlier == died_.rend() || earlier->first.first != place.first;
      spare += mass - died;
      if (spare < -kSmall || (first && spare > kSmall)) return -this->kInfinite;
      if (first || spare < 0) spare = 0;
      value -= take_share(place, died / (spare + died), rest);
    }
    for (int k = 0; k < this->rows(); ++k)
      if (open[k] > 0 && rest[k] > kSmall) return -this->kInfinite;  // never at risk at an event
    return value;
  }

 private:
  using Place = std::pair<double, double>;  // stratum and time

  bool at_risk(int k, const Place& place) const {
    return place_[k].first == place.first && place_[k].second >= place.second;
  }

  // The sum of omega exp(eta) over the risk set is rest * exp(top).
  struct Risk {
    Real top, rest;
  };
  Risk risk_sum(const Place& place, const Vector& eta) const {
    Risk risk{-this->kInfinite, 0};
    for (int k = 0; k < this->rows(); ++k)
      if (at_risk(k, place)) risk.top = std::max(risk.top, eta[k]);
    for (int k = 0; k < this->rows(); ++k)
      if (at_risk(k, place)) risk.rest += this->weight[k] * std::exp(eta[k] - risk.top);
    return risk;
  }

  Vector shares(const Place& place, const Vector& eta) const {
    const Risk risk = risk_sum(place, eta);
    Vector share = Vector::Zero(this->rows());
    for (int k = 0; k < this->rows(); ++k)
      if (at_risk(k, place)) share[k] = this->weight[k] * std::exp(eta[k] - risk.top) / risk.rest;
    return share;
  }

  // Takes this share of what is left of each mass; returns the entropy of what is taken.
  Real take_share(const Place& place, Real share, Vector& rest) const {
    Real entropy = 0;
    for (int k = 0; k < this->rows(); ++k) {
      if (!at_risk(k, place)) continue;
      const Real part = share * rest[k];
      if (part > 0) entropy += part * std::log(part / this->weight[k]);
      rest[k] -= part;
    }
    return entropy;
  }

  static constexpr Real kSmall = 1e-13;  // of masses, whose sum is at most 1
  Vector event_;                         // weight if the row has the event
  std::vector<Place> place_;
  std::map<Place, Real> died_;
};

// ---- proportional odds

// -log(sigma(u) - sigma(v)) for the ends u = cut_y - eta and v = cut_(y-1) - eta of a level. The
// predictors of its rows are -u and -v; the lowest and the highest level have only one of them.
template <class Real>
class OrdinalReference final : public ReferenceLoss<Real> {
 public:
  using typename ReferenceLoss<Real>::Vector;
  using typename ReferenceLoss<Real>::Matrix;

  OrdinalReference(const Eigen::VectorXd& y, const Eigen::VectorXd& weights)
      : ReferenceLoss<Real>(weights) {
    const std::vector<int> observed = std::exchange(this->observation, {});
    const std::vector<Real> omega = std::exchange(this->weight, {});
    int levels = 1;
    for (int i : observed) levels = std::max(levels, static_cast<int>(y[i]));
    for (std::size_t k = 0; k < observed.size(); ++k) {
      const int level = static_cast<int>(y[observed[k]]);
      Level one{omega[k], -1, -1};
      if (level < levels) one.upper = add_end(observed[k], omega[k], level - 1);
      if (level > 1) one.lower = add_end(observed[k], omega[k], level - 2);
      levels_.push_back(one);
    }
    this->own = Matrix::Zero(this->rows(), levels - 1);
    for (int row = 0; row < this->rows(); ++row) this->own(row, cut_[row]) = -1;
  }

  Real value(const Vector& eta) const override {
    Real sum = 0;
    for (const Level& level : levels_) {
      if (level.upper >= 0) sum += level.weight * this->softplus(eta[level.upper]);
      if (level.lower >= 0) sum += level.weight * this->softplus(-eta[level.lower]);
      if (level.upper < 0 || level.lower < 0) continue;
      const Real width = eta[level.lower] - eta[level.upper];
      if (!(width > 0)) return this->kInfinite;
      sum -= level.weight * std::log(-std::expm1(-width));
    }
    return sum;
  }
  Vector residual(const Vector& eta) const override {
    Vector r(this->rows());
    for (const Level& level : levels_) {
      const bool inner = level.upper >= 0 && level.lower >= 0;
      const Real pull = inner ? 1 / std::expm1(eta[level.lower] - eta[level.upper]) : 0;
      if (level.upper >= 0) r[level.upper] = -level.weight * (this->sigma(eta[level.upper]) + pull);
      if (level.lower >= 0) r[level.lower] = level.weight * (this->sigma(-eta[level.lower]) + pull);
    }
    return r;
  }
  Matrix curvature(const Vector& eta) const override {
    Matrix h = Matrix::Zero(this->rows(), this->rows());
    for (int row = 0; row < this->rows(); ++row)
      h(row, row) = this->weight[row] * this->sigma(eta[row]) * this->sigma(-eta[row]);
    for (const Level& level : levels_) {
      if (level.upper < 0 || level.lower < 0) continue;
      const Real pull = 1 / std::expm1(eta[level.lower] - eta[level.upper]);
      const Real bend = level.weight * pull * (1 + pull);
      h(level.upper, level.upper) += bend;
      h(level.lower, level.lower) += bend;
      h(level.upper, level.lower) -= bend;
      h(level.lower, level.upper) -= bend;
    }
    return h;
  }
  Real dual(const Vector& theta) const override {
    Real sum = 0;
    for (const Level& level : levels_) {
      const Real a = level.upper >= 0 ? -theta[level.upper] / level.weight : 0;
      const Real b = level.lower >= 0 ? theta[level.lower] / level.weight : 0;
      sum += level.weight * conjugate(a, b);
    }
    return sum;
  }

 private:
  struct Level {
    Real weight;
    int upper, lower;  // rows, or -1
  };

  int add_end(int i, Real omega, int cut) {
    this->add_row(i, omega);
    cut_.push_back(cut);
    return this->rows() - 1;
  }

  // inf over u > v of the loss plus a u - b v. There P = sigma(u) and Q = sigma(v) satisfy
  // P (1 - P) = a (P - Q) and Q (1 - Q) = b (P - Q), hence P + Q = 1 - a + b, and P - Q solves a
  // quadratic equation. The logits follow from the same equations.
  Real conjugate(Real a, Real b) const {
    if (!(std::min(a, b) > -this->kRounding && std::fabs(a - b) < 1 + this->kRounding))
      return -this->kInfinite;
    a = std::max<Real>(a, 0);
    b = std::max<Real>(b, 0);
    const Real rise = std::max<Real>(1 - a + b, kLeast), fall = std::max<Real>(1 + a - b, kLeast);
    const Real width = rise * fall / (std::sqrt(4 * a * b + 1) + a + b);
    const Real logs = 2 * a * std::log((rise + width) / 2) + 2 * b * std::log((fall + width) / 2);
    return logs - this->x_log_x(a) - this->x_log_x(b) - (1 + a + b) * std::log(width);
  }

  static constexpr Real kLeast = 1e-18;
  std::vector<Level> levels_;
  std::vector<int> cut_;  // of each row
};

template <class Real>
std::unique_ptr<ReferenceLoss<Real>> reference_loss(const std::string& family,
                                                    const Eigen::MatrixXd& y,
                                                    const Eigen::VectorXd& weights) {
  if (family == "gaussian") return std::make_unique<GaussianReference<Real>>(y.col(0), weights);
  if (family == "binomial") return std::make_unique<BinomialReference<Real>>(y.col(0), weights);
  if (family == "poisson") return std::make_unique<PoissonReference<Real>>(y.col(0), weights);
  if (family == "cox") return std::make_unique<CoxReference<Real>>(y, weights);
  if (family == "ordinal") return std::make_unique<OrdinalReference<Real>>(y.col(0), weights);
  throw std::invalid_argument("no reference for family '" + family + "'");
}

}  // namespace testing
