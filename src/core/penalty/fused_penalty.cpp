#include "penalty/fused_penalty.hpp"

#include <cmath>

#include "penalty/certificate.hpp"
#include "sign.hpp"

namespace n2gfl {

FusedPenalty::FusedPenalty(Model& model)
    : model_(model), prox_(model.graph, model.poll), network_(model.graph),
      search_(network_, model.poll), gradient_(model), norm_(model, network_, search_, gradient_),
      free_(model), ones_(VectorXd::Ones(model.features())) {}

void FusedPenalty::set(double lambda1, double lambda2) {
  lambda1_ = lambda1;
  lambda2_ = lambda2;
  network_.set_capacities(model_.graph, lambda2);
  thresholds_.resize(model_.features());
  for (int i = 0; i < model_.features(); ++i) thresholds_[i] = model_.threshold(lambda1, i);
  free_.find(lambda1, lambda2);
}

double FusedPenalty::value(const VectorXd& beta) const {
  double size = 0, variation = 0;
  for (int i = 0; i < model_.features(); ++i) {
    if (beta[i] != 0) size += thresholds_[i] * std::fabs(beta[i]);
    for (int a = model_.graph.begin(i); a < model_.graph.end(i); ++a)
      if (model_.graph.head(a) > i)
        variation += model_.graph.weight(a) * std::fabs(beta[i] - beta[model_.graph.head(a)]);
  }
  return size + lambda2_ * variation;
}

bool FusedPenalty::add_slope(const VectorXd& beta, VectorXd& slope) const {
  for (int i = 0; i < model_.features(); ++i) {
    if (beta[i] == 0) continue;
    slope[i] += thresholds_[i] * sign_of(beta[i]);
    for (int a = model_.graph.begin(i); a < model_.graph.end(i); ++a)
      slope[i] += lambda2_ * model_.graph.weight(a) *
                  sign_of(beta[i] - beta[model_.graph.head(a)]);
  }
  return true;
}

void FusedPenalty::prox(const VectorXd& z, double step, VectorXd& b) {
  prox_.solve(z, ones_, step * thresholds_, step * lambda2_,
              model_.nonnegative ? Sign::nonnegative : Sign::free, b);
}

double FusedPenalty::gap(const VectorXd&, const Evaluation& at, double objective, double thresh,
                         VectorXd& products) {
  const VectorXd& residual = at.residual();
  dual_ = free_.feasible(at);
  gradient_.set_residual(dual_.theta);
  gradient_.compute_all();
  take_products(residual, products);
  const double rounding = model_.rounding(residual) + network_.refresh_outflow();
  auto gap_of = [&](const Leftover& left) {
    return relative_gap(model_, objective, dual_, left, rounding);
  };
  const Leftover left = norm_.dinkelbach(lambda1_, 1.0, rounding, thresh, gap_of);
  return gap_of(left);
}

// X'residual, which is known if theta is the residual.
void FusedPenalty::take_products(const VectorXd& residual, VectorXd& products) {
  if (dual_.theta != residual)
    return model_.x.transpose_times(residual, products, model_.threads, model_.poll);
  products.resize(model_.features());
  for (int i = 0; i < model_.features(); ++i) products[i] = gradient_.value(i);
}

}  // namespace n2gfl
