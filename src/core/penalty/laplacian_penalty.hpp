// lambda1 sum u_i |b_i| + lambda2 sum w_ij (b_i - b_j)^2: the second term is smooth.
//
// Its certificate: with phi_ij = -2 lambda2 w_ij (b_i - b_j) as dual variables of the edges, s (r,
// phi) is feasible if s |g_i| <= lambda1 u_i for g = X'r - 2 lambda2 L b (one-sided for b >= 0),
// and the edges add s^2 lambda2 b'Lb. Where u_i = 0, no scaling s helps: there r and the b of the
// edges are moved by one Newton step in those features, after which g_i = 0.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "data/model.hpp"
#include "penalty/certificate.hpp"
#include "penalty/penalty.hpp"
#include "types.hpp"

namespace n2gfl {

class LaplacianPenalty final : public Penalty {
 public:
  explicit LaplacianPenalty(Model& model) : model_(model) {}

  void set(double lambda1, double lambda2) override;

  double threshold(int i) const { return model_.threshold(lambda1_, i); }

  // d/db_i of the smooth part.
  double slope(const VectorXd& beta, int i) const {
    double sum = 0;
    for (int a = model_.graph.begin(i); a < model_.graph.end(i); ++a)
      sum += model_.graph.weight(a) * (beta[i] - beta[model_.graph.head(a)]);
    return 2 * lambda2_ * sum;
  }

  double curvature(int i) const {
    double degree = 0;
    for (int a = model_.graph.begin(i); a < model_.graph.end(i); ++a) degree += model_.graph.weight(a);
    return 2 * lambda2_ * degree;
  }

  // The part of a gradient that acts against the threshold.
  double one_sided(double g) const { return model_.nonnegative ? g : std::fabs(g); }

  double smooth(const VectorXd& beta, VectorXd& gradient) const override;

  double smooth_curvature(const VectorXd& v) const override;

  double value(const VectorXd& beta) const override;

  void prox(const VectorXd& z, double step, VectorXd& b) override;

  double shrink(double z, double threshold) const {
    if (z > threshold) return z - threshold;
    return !model_.nonnegative && z < -threshold ? z + threshold : 0.0;
  }

  double gap(const VectorXd& beta, const Evaluation& at, double objective, double,
             VectorXd& products) override;

  // The same if the negative gradient of loss plus smooth part is known.
  double gap_at(const VectorXd& beta, const Evaluation& at, double objective,
                const VectorXd& gradient) const;

  // `beta` has all penalised coefficients at zero and the others at their optimum.
  double lambda1_max_at(const VectorXd& beta, const VectorXd& gradient) const;

 private:
  static constexpr int kMostRounds = 10;
  static constexpr double kMostCharge = 1e-6;  // share of the null objective
  static constexpr double kRounding = 1e-15;
  static constexpr double kMostLeft = 1e3;     // roundings that a Newton step may leave
  static constexpr std::size_t kMostFree = 1000;  // largest size of the dense system

  // The dual variables of the edges are differences of `potential`, which is beta or close to it.
  struct EdgePoint {
    DualPoint dual;
    VectorXd potential, gradient;
    VectorXd unpenalised;  // coordinates of intercept and covariates
  };

  Leftover leftover(const VectorXd& gradient) const;
  double gap_of(double objective, const EdgePoint& point, double rounding) const;
  static double largest(const VectorXd& v) { return v.size() > 0 ? v.cwiseAbs().maxCoeff() : 0.0; }
  bool add_objecting(const VectorXd& gradient, const VectorXd& roundings,
                     std::vector<int>& free) const;
  static MatrixXd orthonormalising(const MatrixXd& columns);
  void newton_step(const Evaluation& at, const std::vector<int>& free, EdgePoint& point) const;
  void add_laplacian(const std::vector<int>& free, Eigen::Index k,
                     Eigen::Ref<MatrixXd> hessian) const;
  double nothing_proved(const EdgePoint& point, double objective) const;
  bool unsolved(const EdgePoint& point, const VectorXd& roundings,
                const std::vector<int>& free) const;
  double estimate(const EdgePoint& point, double objective) const;

  Model& model_;
  double lambda1_ = 0, lambda2_ = 0;
};

}  // namespace n2gfl
