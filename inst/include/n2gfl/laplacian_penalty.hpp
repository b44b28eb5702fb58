// lambda1 sum u_i |b_i| + lambda2 sum w_ij (b_i - b_j)^2: the second term is smooth.
//
// Its certificate: with phi_ij = -2 lambda2 w_ij (b_i - b_j) as dual variables of the edges, s (r, phi) is
// feasible when s |g_i| <= lambda1 u_i for g = X'r - 2 lambda2 L b (one-sided for b >= 0), and the edges
// cost s^2 lambda2 b'Lb.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "dual_norm.hpp"
#include "penalty.hpp"

namespace n2gfl {

class LaplacianPenalty final : public Penalty {
 public:
  explicit LaplacianPenalty(Model& model) : model_(model) {}

  void set(double lambda1, double lambda2) override {
    lambda1_ = lambda1;
    lambda2_ = lambda2;
  }

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

  double smooth(const VectorXd& beta, VectorXd& gradient) const override {
    double twice = 0;
    for (int i = 0; i < model_.features(); ++i) {
      const double s = slope(beta, i);
      gradient[i] += s;
      twice += s * beta[i];
    }
    return 0.5 * twice;
  }

  double smooth_curvature(const VectorXd& v) const override {
    double sum = 0;
    for (int i = 0; i < model_.features(); ++i) sum += v[i] * slope(v, i);
    return sum;
  }

  double value(const VectorXd& beta) const override {
    double size = 0;
    for (int i = 0; i < model_.features(); ++i)
      if (beta[i] != 0) size += threshold(i) * std::fabs(beta[i]);
    return size + 0.5 * smooth_curvature(beta);
  }

  void prox(const VectorXd& z, double step, VectorXd& b) override {
    b.resize(z.size());
    for (int i = 0; i < model_.features(); ++i) b[i] = shrink(z[i], step * threshold(i));
  }

  double shrink(double z, double threshold) const {
    if (z > threshold) return z - threshold;
    return !model_.nonnegative && z < -threshold ? z + threshold : 0.0;
  }

  double gap(const VectorXd& beta, const VectorXd& residual, double objective, double) override {
    VectorXd gradient;
    model_.x.transpose_times(residual, gradient, model_.threads, model_.poll);
    for (int i = 0; i < model_.features(); ++i) gradient[i] -= slope(beta, i);
    return gap_at(beta, residual, objective, gradient);
  }

  // The same where the gradient of loss and smooth part together is known; it points downhill.
  double gap_at(const VectorXd& beta, const VectorXd& residual, double objective,
                const VectorXd& gradient) const {
    Leftover left;
    for (int i = 0; i < model_.features(); ++i) {
      const double g = model_.nonnegative ? gradient[i] : std::fabs(gradient[i]);
      left.add(g - threshold(i), threshold(i));
    }
    const double s = 1 / (1 + left.ratio);
    const double edges = s * s * 0.5 * smooth_curvature(beta);
    const double largest = beta.size() > 0 ? beta.cwiseAbs().maxCoeff() : 0.0;
    return relative_gap(model_, objective + edges, residual, largest, left,
                        model_.rounding(residual));
  }

  // With all penalised coefficients at zero in `beta` and the others at their best.
  double lambda1_max_at(const VectorXd& beta, const VectorXd& gradient) const {
    double largest = 0;
    for (int i = 0; i < model_.features(); ++i) {
      if (beta[i] != 0 || model_.factor[i] == 0) continue;
      const double g = model_.nonnegative ? gradient[i] : std::fabs(gradient[i]);
      largest = std::max(largest, g / model_.factor[i]);
    }
    return largest;
  }

 private:
  Model& model_;
  double lambda1_ = 0, lambda2_ = 0;
};

}  // namespace n2gfl
