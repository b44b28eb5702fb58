// Cox's partial likelihood with strata, observation weights and Breslow's ties. With D_k the weight
// of the events at the k-th event time, R_k the risk set and pi_k its weights, which sum to one,
//
//   f(eta) = sum_k D_k log(sum_{j in R_k} omega_j e^eta_j / D_k) - sum_events omega_i eta_i
//   theta  = sum_events omega_i e_i - sum_k D_k pi_k,   pi_kj = omega_j e^eta_j / sum over R_k
//   H      = sum_k D_k (diag(pi_k) - pi_k pi_k')
//
// s theta is again of that form, with (1 - s) e_i + s pi_k for the events i at time k, so a sum of
// entropies bounds f from below. All sums over risk sets run once over the observations, ordered
// by time, relative to the largest predictor so far: nothing overflows.
#pragma once

#include <memory>
#include <vector>

#include "loss/loss.hpp"
#include "types.hpp"

namespace n2gfl {

// Observations of one time and stratum: a range of the order below.
struct Moment {
  int begin, end;
  double events;   // weight of the events; 0 if all are censored
  bool new_stratum;
  int event_index;  // number of the event time, or -1
};

// The observations with weight, by stratum and from the latest to the earliest time. The risk set
// of a moment is everything in its stratum up to its end.
struct RiskOrder {
  RiskOrder(const MatrixXd& response, const VectorXd& weights);

  std::vector<int> row;
  std::vector<Moment> moments;
  std::vector<char> event;  // by row
  int event_times = 0;
};

class CoxLoss final : public Loss {
 public:
  // Columns of the response: time, status (1: event), stratum.
  CoxLoss(const MatrixXd& response, VectorXd weights);

  void compute(const VectorXd& eta, const VectorXd& own, LossPoint& at) const override;
  double bound(const DualPoint& point, double scale) const override;

  // The parts are eta and the direction that the point was moved along, as two columns.
  DualPoint dual_point(const LossPoint& at) const override;
  void move(DualPoint& point, const LossPoint& at, const VectorXd& along,
            const VectorXd& own) const override;

  bool ignores_constants() const override { return true; }
  void leave_out(double& constant, VectorXd&) const override { constant = 0; }
  double best_constant(const VectorXd&) const override { return 0; }

 private:
  struct Sums;

  double moment_bound(const Moment& moment, const Sums& sums, const DualPoint& point,
                      double scale) const;

  std::shared_ptr<const RiskOrder> order_;
};

}  // namespace n2gfl
