// The duality gap of a fit without code of the core's solvers, in long double, so that only the
// rounding of the fit itself matters.
#pragma once

#include "cut_ratio.hpp"
#include "random_problem.hpp"

#include <algorithm>
#include <cmath>

namespace fuzz {

using LongMatrix = Eigen::Matrix<Long, Eigen::Dynamic, Eigen::Dynamic>;

struct Proof {
  Long gap, rounding;  // relative to the null objective
};

class Prover {
 public:
  using Problem = testing::Problem;
  using Fit = n2gfl::Fit;
  using Sign = n2gfl::Sign;

  Prover(const Problem& p, const Fit& fit) : p_(p), x_(p.x.cast<Long>()), y_(p.y.cast<Long>()) {
    omega_ = p.weights.cast<Long>() / p.weights.cast<Long>().sum();
    beta_ = testing::dense_beta(fit, p.features()).cast<Long>();
    // With an intercept the mean does not matter, but a large one would cost the proof its
    // accuracy.
    const Long mean = p.gaussian() && p.settings.intercept ? omega_.dot(y_) : 0;
    const Long intercept = fit.intercept - mean;
    y_.array() -= mean;
    eta_ = p.offset.cast<Long>() + x_ * beta_;
    if (p.covariates.cols() > 0)
      eta_ += p.covariates.cast<Long>() * fit.covariates.cast<Long>();
    eta_.array() += intercept;
    free_part_ = LongVector::Constant(p.rows(), std::fabs(intercept));
    if (p.covariates.cols() > 0)
      free_part_ += (p.covariates.cwiseAbs() * fit.covariates.cwiseAbs()).cast<Long>();
    refit_unpenalised();
  }

  Long objective(double lambda1, double lambda2) const {
    Long size = 0;
    for (int i = 0; i < p_.features(); ++i)
      if (beta_[i] != 0) size += p_.factor[i] * std::fabs(beta_[i]);
    if (size > 0) size *= lambda1;
    return loss() + size + lambda2 * testing::variation(p_, beta_.cast<double>());
  }

  // At the largest feasible multiple of the residual.
  Proof prove(double lambda1, double lambda2) const {
    LongVector g = x_.transpose() * residual_, thresholds(p_.features());
    const double fused = p_.fused() ? lambda2 : 0.0;
    for (int i = 0; i < p_.features(); ++i) {
      thresholds[i] = std::isinf(p_.factor[i]) ? p_.factor[i] : lambda1 * p_.factor[i];
      for (int a = p_.graph.begin(i); !p_.fused() && a < p_.graph.end(i); ++a)
        g[i] -= 2 * lambda2 * p_.graph.weight(a) * (beta_[i] - beta_[p_.graph.head(a)]);
    }
    if (p_.settings.sign == Sign::nonpositive) g = -g;
    const Long s = 1 / std::max<Long>(1, largest_ratio(g, thresholds, fused));
    const Long edges =
        p_.fused() ? 0 : s * s * lambda2 * testing::variation(p_, beta_.cast<double>());
    const Long null = testing::null_objective(p_);
    const Long primal = objective(lambda1, lambda2);
    return {(primal - dual(s) + edges) / null, rounding(thresholds, lambda2, null) * (1 + primal / null)};
  }

 private:
  // Optimises intercept and covariates for beta, to higher precision than the fit returns.
  void refit_unpenalised() {
    const int extra = p_.settings.intercept ? 1 : 0;
    LongMatrix u = LongMatrix::Ones(p_.rows(), extra + p_.covariates.cols());
    u.rightCols(p_.covariates.cols()) = p_.covariates.cast<Long>();
    for (int step = 0; step < 4; ++step) {
      evaluate();
      if (u.cols() == 0) return;
      const LongMatrix bend = u.transpose() * curvature_.asDiagonal() * u;
      const LongVector change = u * bend.fullPivLu().solve(u.transpose() * residual_);
      if (!change.allFinite() || change.cwiseAbs().maxCoeff() > 1e-2L * (1 + size().maxCoeff())) return;
      eta_ += change;
    }
    evaluate();
  }

  void evaluate() {
    residual_.resize(p_.rows());
    curvature_.resize(p_.rows());
    for (int i = 0; i < p_.rows(); ++i) {
      const Long wrong = 1 / (1 + std::exp(y_[i] * eta_[i]));
      residual_[i] = omega_[i] * (p_.gaussian() ? y_[i] - eta_[i] : y_[i] * wrong);
      curvature_[i] = omega_[i] * (p_.gaussian() ? 1 : wrong * (1 - wrong));
    }
  }

  Long loss() const {
    Long sum = 0;
    for (int i = 0; i < p_.rows(); ++i) {
      const Long margin = y_[i] * eta_[i], error = y_[i] - eta_[i];
      sum += omega_[i] * (p_.gaussian() ? error * error / 2
                                        : std::log1p(std::exp(-std::fabs(margin))) +
                                              std::max<Long>(0, -margin));
    }
    return sum;
  }

  Long dual(Long s) const {
    Long value = 0;
    for (int i = 0; i < p_.rows(); ++i) {
      if (omega_[i] == 0) continue;
      const Long theta = s * residual_[i], u = theta * y_[i] / omega_[i];
      value -= theta * p_.offset[i];
      if (p_.gaussian()) value += theta * y_[i] - theta * theta / omega_[i] / 2;
      else if (u > 0 && u < 1) value -= omega_[i] * (u * std::log(u) + (1 - u) * std::log1p(-u));
    }
    return value;
  }

  Long largest_ratio(const LongVector& g, const LongVector& thresholds, double lambda2) const {
    if (p_.features() <= kMostByBruteForce) return ratio_by_brute_force(g, thresholds, lambda2);
    const Long up = ratio_by_cuts(p_.graph, g, thresholds, lambda2);
    if (p_.settings.sign != Sign::free) return up;
    return std::max(up, ratio_by_cuts(p_.graph, LongVector(-g), thresholds, lambda2));
  }

  Long ratio_by_brute_force(const LongVector& g, const LongVector& thresholds, double lambda2) const {
    Long largest = 0;
    for (unsigned set = 1; set < (1u << p_.features()); ++set) {
      Long sum = 0, charge = 0;
      for (int i = 0; i < p_.features(); ++i) {
        if (!(set >> i & 1)) continue;
        sum += g[i];
        charge += thresholds[i];
        for (int a = p_.graph.begin(i); a < p_.graph.end(i); ++a)
          if (!(set >> p_.graph.head(a) & 1)) charge += lambda2 * p_.graph.weight(a);
      }
      if (p_.settings.sign == Sign::free) sum = std::fabs(sum);
      if (charge > 0) largest = std::max(largest, sum / charge);
    }
    return largest;
  }

  // The size of the terms that the linear predictor is a sum of.
  LongVector size() const {
    return p_.offset.cast<Long>().cwiseAbs() + y_.cwiseAbs() + x_.cwiseAbs() * beta_.cwiseAbs() +
           free_part_;
  }

  // The effect of the fit's rounding in double on the ratio of a node and on the objective.
  Long rounding(const LongVector& thresholds, double lambda2, Long null) const {
    const LongVector blur = 1e-12L * omega_.cwiseProduct(size());
    const LongVector error = residual_.cwiseAbs().cwiseQuotient(omega_.cwiseMax(1e-300L));
    Long largest = 1e-12L + blur.dot(error) / null;
    for (int i = 0; i < p_.features(); ++i) {
      if (thresholds[i] == 0) continue;
      const Long own = x_.col(i).cwiseAbs().dot(blur) + 1e-15L * lambda2 * pulls(i);
      largest = std::max(largest, own / thresholds[i]);
    }
    return largest;
  }

  // The size of the terms that the Laplacian's slope is a sum of.
  Long pulls(int i) const {
    Long sum = 0;
    for (int a = p_.graph.begin(i); !p_.fused() && a < p_.graph.end(i); ++a)
      sum += 2 * p_.graph.weight(a) * (std::fabs(beta_[i]) + std::fabs(beta_[p_.graph.head(a)]));
    return sum;
  }

  static constexpr int kMostByBruteForce = 16;
  const Problem& p_;
  LongMatrix x_;
  LongVector y_, omega_, beta_, eta_, free_part_, residual_, curvature_;
};

}  // namespace fuzz
