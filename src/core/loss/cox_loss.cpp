#include "loss/cox_loss.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace n2gfl {

namespace {

// The risk sets at one eta. `share` is omega e^eta relative to the largest e^eta of the risk set of
// the observation's moment, `decay` converts a sum that is relative to the moment before, `total`
// is the sum over the risk set.
struct RiskSets {
  VectorXd share;                     // by row
  std::vector<double> decay, total, largest;  // by moment

  RiskSets(const RiskOrder& order, const VectorXd& omega, const VectorXd& eta)
      : share(VectorXd::Zero(eta.size())) {
    double top = -kInfinite, sum = 0;
    for (const Moment& moment : order.moments) {
      if (moment.new_stratum) {
        top = -kInfinite;
        sum = 0;
      }
      double next = top;
      for (int k = moment.begin; k < moment.end; ++k) next = std::fmax(next, eta[order.row[k]]);
      decay.push_back(top > -kInfinite ? std::exp(top - next) : 0.0);
      top = next;
      sum *= decay.back();
      for (int k = moment.begin; k < moment.end; ++k) {
        const int i = order.row[k];
        sum += share[i] = omega[i] * std::exp(eta[i] - top);
      }
      total.push_back(sum);
      largest.push_back(top);
    }
  }
};

// The columns of L are sqrt(D_k) pi_k.
class RiskSetMeans final : public LowRank {
 public:
  RiskSetMeans(std::shared_ptr<const RiskOrder> order, std::shared_ptr<const RiskSets> sets)
      : order_(std::move(order)), sets_(std::move(sets)) {}

  MatrixXd transposed_times(const MatrixXd& v) const override {
    MatrixXd out(order_->event_times, v.cols());
    for (Eigen::Index c = 0; c < v.cols(); ++c) {
      double sum = 0;
      for (std::size_t m = 0; m < order_->moments.size(); ++m) {
        const Moment& moment = order_->moments[m];
        sum *= sets_->decay[m];  // 0 at a new stratum
        for (int k = moment.begin; k < moment.end; ++k)
          sum += sets_->share[order_->row[k]] * v(order_->row[k], c);
        if (moment.events > 0) out(moment.event_index, c) = root(m) * sum;
      }
    }
    return out;
  }

  // From the earliest time to the latest: an observation is in all risk sets up to its own time.
  MatrixXd times(const MatrixXd& w) const override {
    MatrixXd out = MatrixXd::Zero(sets_->share.size(), w.cols());
    for (Eigen::Index c = 0; c < w.cols(); ++c) {
      double sum = 0;
      for (std::size_t m = order_->moments.size(); m-- > 0;) {
        const Moment& moment = order_->moments[m];
        if (moment.events > 0) sum += root(m) * w(moment.event_index, c);
        for (int k = moment.begin; k < moment.end; ++k)
          out(order_->row[k], c) = sets_->share[order_->row[k]] * sum;
        sum *= sets_->decay[m];
      }
    }
    return out;
  }

 private:
  double root(std::size_t m) const {
    return std::sqrt(order_->moments[m].events) / sets_->total[m];
  }

  std::shared_ptr<const RiskOrder> order_;
  std::shared_ptr<const RiskSets> sets_;
};

}  // namespace

RiskOrder::RiskOrder(const MatrixXd& response, const VectorXd& weights)
    : event(static_cast<std::size_t>(response.rows()), 0) {
  if (response.cols() != 3) throw std::invalid_argument("times need a status and a stratum");
  for (int i = 0; i < response.rows(); ++i) {
    if (!(weights[i] > 0)) continue;
    row.push_back(i);
    event[i] = response(i, 1) > 0;
  }
  std::sort(row.begin(), row.end(), [&](int a, int b) {
    if (response(a, 2) != response(b, 2)) return response(a, 2) < response(b, 2);
    if (response(a, 0) != response(b, 0)) return response(a, 0) > response(b, 0);
    return a < b;
  });
  for (int k = 0; k < static_cast<int>(row.size()); ++k) {
    const int i = row[k], last = k > 0 ? row[k - 1] : i;
    const bool new_stratum = k == 0 || response(i, 2) != response(last, 2);
    if (new_stratum || response(i, 0) != response(last, 0))
      moments.push_back({k, k, 0.0, new_stratum, -1});
    Moment& moment = moments.back();
    moment.end = k + 1;
    if (event[i] == 0) continue;
    moment.events += weights[i];
    if (moment.event_index < 0) moment.event_index = event_times++;
  }
}

CoxLoss::CoxLoss(const MatrixXd& response, VectorXd weights)
    : Loss(std::move(weights)), order_(std::make_shared<RiskOrder>(response, omega_)) {}

void CoxLoss::compute(const VectorXd& eta, const VectorXd&, LossPoint& at) const {
  const RiskOrder& order = *order_;
  const auto sets = std::make_shared<const RiskSets>(order, omega_, eta);
  at.eta = eta;
  at.value = 0;
  at.residual.setZero(size());
  at.curvature.diagonal.setZero(size());
  at.curvature.less = std::make_shared<RiskSetMeans>(order_, sets);
  double hazard = 0;  // sum of D_k / total over the times so far, relative to the moment
  for (std::size_t m = order.moments.size(); m-- > 0;) {
    const Moment& moment = order.moments[m];
    if (moment.events > 0) {
      hazard += moment.events / sets->total[m];
      at.value += moment.events * std::log(sets->total[m] / moment.events);
    }
    for (int k = moment.begin; k < moment.end; ++k) {
      const int i = order.row[k];
      at.curvature.diagonal[i] = sets->share[i] * hazard;
      at.residual[i] = (order.event[i] ? omega_[i] : 0.0) - at.curvature.diagonal[i];
      if (order.event[i]) at.value += omega_[i] * (sets->largest[m] - eta[i]);
    }
    hazard *= sets->decay[m];
  }
}

// Sums over a risk set, with the weights `share` of its observations. `eta` is relative to the
// largest one; `moved` is the direction that the point was moved along.
struct CoxLoss::Sums {
  double one = 0, eta = 0, moved = 0, moved_squared = 0, moved_eta = 0;
  double least = kInfinite;  // the smallest `moved`
  double top = -kInfinite;

  void rebase(double decay, double largest) {
    const double rise = top > -kInfinite ? largest - top : 0.0;
    eta = decay * (eta - rise * one);
    moved_eta = decay * (moved_eta - rise * moved);
    one *= decay;
    moved *= decay;
    moved_squared *= decay;
    top = largest;
  }

  void add(double share, double relative, double along) {
    one += share;
    eta += share * relative;
    moved += share * along;
    moved_squared += share * along * along;
    moved_eta += share * along * relative;
    least = std::fmin(least, along);
  }
};

double CoxLoss::bound(const DualPoint& point, double scale) const {
  const RiskOrder& order = *order_;
  const RiskSets sets(order, omega_, point.parts.col(0));
  double value = 0;
  Sums sums;
  for (std::size_t m = 0; m < order.moments.size(); ++m) {
    const Moment& moment = order.moments[m];
    if (moment.new_stratum) sums = Sums();
    sums.rebase(sets.decay[m], sets.largest[m]);
    for (int k = moment.begin; k < moment.end; ++k) {
      const int i = order.row[k];
      sums.add(sets.share[i], point.parts(i, 0) - sums.top, point.parts(i, 1));
    }
    if (moment.events > 0) value += moment_bound(moment, sums, point, scale);
  }
  return value;
}

DualPoint CoxLoss::dual_point(const LossPoint& at) const {
  DualPoint point{at.residual, MatrixXd::Zero(size(), 2)};
  point.parts.col(0) = at.eta;
  return point;
}

void CoxLoss::move(DualPoint& point, const LossPoint& at, const VectorXd& along,
                   const VectorXd& own) const {
  Loss::move(point, at, along, own);
  point.parts.col(1) += along;
}

// -D sum_j q_j log(q_j / omega_j) - D log D with q = (1 - s) e + s pi (1 + z): z = moved less its
// mean under pi, as `theta` was moved. Where no event is, log(1 + z) is replaced by its bound z,
// and the sum needs only sums over the risk set.
double CoxLoss::moment_bound(const Moment& moment, const Sums& sums, const DualPoint& point,
                             double scale) const {
  const double mean = sums.moved / sums.one, log_total = std::log(sums.one);
  if (!(sums.least >= mean - 1)) return -kInfinite;
  if (scale <= 0) return 0;
  const double log_scale = std::log(scale);
  const double mean_eta = sums.eta / sums.one;
  const double spread = sums.moved_squared / sums.one - mean * mean;
  const double tilt = sums.moved_eta / sums.one - mean * mean_eta;
  double sum = scale * (log_scale - log_total + mean_eta + tilt + std::fmax(spread, 0.0));
  for (int k = moment.begin; k < moment.end; ++k) {
    const int i = order_->row[k];
    if (!order_->event[i]) continue;
    const double z = point.parts(i, 1) - mean, eta = point.parts(i, 0) - sums.top;
    const double ratio = std::exp(eta - log_total) * (1 + z);  // pi (1 + z) / omega
    const double q = (1 - scale) / moment.events + scale * ratio;
    const double as_others = scale * ratio * (log_scale + eta - log_total + z);
    sum += omega_[i] * ((q > 0 ? q * std::log(q) : 0.0) - as_others);
  }
  return -moment.events * (sum + std::log(moment.events));
}

}  // namespace n2gfl
