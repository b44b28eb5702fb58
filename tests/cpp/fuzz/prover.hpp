// The duality gap of a fit without code of the core's losses and solvers, in long double, so that
// only the rounding of the fit itself matters.
#pragma once

#include "cut_ratio.hpp"
#include "random_problem.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

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

  Prover(const Problem& p, const Fit& fit) : p_(p) {
    // With an intercept the mean of numbers does not matter, but a large one would cost the proof
    // its accuracy.
    const bool centre = p.gaussian() && p.settings.intercept;
    const double mean = centre ? p.weights.dot(p.y) / p.weights.sum() : 0;
    MatrixXd response = p.response();
    response.col(0).array() -= mean;
    loss_ = testing::reference_loss<Long>(p.settings.family, response, p.weights);
    omega_ = Eigen::Map<const LongVector>(loss_->weight.data(), loss_->rows());
    x_ = in_rows(p.x);
    offset_ = in_rows(p.offset);
    if (!timed()) y_ = in_rows(response.col(0));
    beta_ = testing::dense_beta(fit, p.features()).cast<Long>();
    set_unpenalised(fit, mean);
    refit_unpenalised();
  }

  Long objective(double lambda1, double lambda2) const {
    Long size = 0;
    for (int i = 0; i < p_.features(); ++i)
      if (beta_[i] != 0) size += p_.factor[i] * std::fabs(beta_[i]);
    if (size > 0) size *= lambda1;
    return loss_->value(eta_) + size + lambda2 * testing::variation(p_, beta_.cast<double>());
  }

  // False if the rounding of the coefficients alone moves predictors by 0.01 or more, which says
  // something for families with a link.
  bool has_digits() const { return predictor_size().maxCoeff() < 1e14L; }

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
    const Long dual = loss_->dual(s * residual_) - s * residual_.dot(offset_);
    return {(primal - dual + edges) / null, rounding(thresholds, lambda2, null) * (1 + primal / null)};
  }

 private:
  using MatrixXd = Eigen::MatrixXd;

  bool timed() const { return p_.more.cols() > 0; }

  // Values of observations as values of the loss's rows.
  LongMatrix in_rows(const MatrixXd& values) const {
    LongMatrix rows(loss_->rows(), values.cols());
    for (int row = 0; row < loss_->rows(); ++row)
      rows.row(row) = values.row(loss_->observation[row]).cast<Long>();
    return rows;
  }

  void set_unpenalised(const Fit& fit, double mean) {
    const Long intercept = fit.intercept - static_cast<Long>(mean);
    const auto cuts = loss_->own.cols();
    const int extra = p_.settings.intercept ? 1 : 0;
    unpenalised_ = LongMatrix::Ones(loss_->rows(), cuts + extra + p_.covariates.cols());
    unpenalised_.leftCols(cuts) = loss_->own;
    unpenalised_.rightCols(p_.covariates.cols()) = in_rows(p_.covariates);
    eta_ = offset_ + x_ * beta_;
    if (p_.covariates.cols() > 0) eta_ += in_rows(p_.covariates) * fit.covariates.cast<Long>();
    if (cuts > 0) eta_ += loss_->own * fit.own.cast<Long>();
    eta_.array() += intercept;
    free_part_ = LongVector::Constant(loss_->rows(), std::fabs(intercept));
    if (p_.covariates.cols() > 0)
      free_part_ += in_rows(p_.covariates.cwiseAbs() * fit.covariates.cwiseAbs());
    if (cuts > 0) free_part_ += loss_->own.cwiseAbs() * fit.own.cwiseAbs().cast<Long>();
  }

  // Optimises the unpenalised part for beta, to higher precision than the fit returns.
  void refit_unpenalised() {
    for (int step = 0; step < 4; ++step) {
      evaluate();
      if (unpenalised_.cols() == 0) return;
      const LongMatrix bend = unpenalised_.transpose() * curvature_ * unpenalised_;
      const LongVector change =
          unpenalised_ * bend.fullPivLu().solve(unpenalised_.transpose() * residual_);
      if (!change.allFinite() || change.cwiseAbs().maxCoeff() > 1e-2L * (1 + size().maxCoeff()))
        return;
      eta_ += change;
    }
    evaluate();
  }

  void evaluate() {
    residual_ = loss_->residual(eta_);
    curvature_ = loss_->curvature(eta_);
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

  // The size of the terms that the linear predictor is a sum of, without and with the response.
  LongVector predictor_size() const {
    return offset_.cwiseAbs() + x_.cwiseAbs() * beta_.cwiseAbs() + free_part_;
  }
  LongVector size() const {
    LongVector sum = predictor_size();
    if (!timed()) sum += y_.cwiseAbs();
    return sum;
  }

  // The effect of the fit's rounding in double on the ratio of a node and on the objective.
  Long rounding(const LongVector& thresholds, double lambda2, Long null) const {
    const LongVector blur = 1e-12L * omega_.cwiseMax(curvature_.diagonal()).cwiseProduct(size());
    Long largest = 1e-12L + 1e-12L * size().dot(residual_.cwiseAbs()) / null;
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
  std::unique_ptr<testing::ReferenceLoss<Long>> loss_;
  LongMatrix x_, unpenalised_, curvature_;
  LongVector y_, offset_, omega_, beta_, eta_, free_part_, residual_;
};

}  // namespace fuzz
