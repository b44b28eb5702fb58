#include "data/model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace n2gfl {

namespace {

constexpr double kRelative = 1e-15;

double size_of(const VectorXd& residual) {
  const double norm = residual.norm();  // overflows where the means are beyond 1e154
  return std::isfinite(norm) ? norm : residual.stableNorm();
}

}  // namespace

Model::Model(const Design& design, Profile& loss, const Graph& g, VectorXd u, bool at_least_zero,
             bool has_intercept, int thread_count, Poll& interrupt)
    : x(design), profile(loss), graph(g), factor(std::move(u)), nonnegative(at_least_zero),
      intercept(has_intercept), threads(thread_count), poll(interrupt) {
  const Evaluation null = profile.evaluate(VectorXd::Zero(x.rows()));
  null_value = null.loss();
  null_residual = null.residual();
  column_norm.resize(x.cols());
  null_gradient.resize(x.cols());
  plain_norm.resize(x.cols());  // NaN if the column has values that are not finite
  x.survey_all(null_residual, threads, poll, [&](int j, const Design::Survey& seen) {
    null_gradient[j] = seen.dot;
    column_norm[j] = intercept ? seen.centred : seen.plain;
    plain_norm[j] = seen.finite ? seen.plain : std::numeric_limits<double>::quiet_NaN();
  });
  for (int j = 0; j < x.cols(); ++j) {
    if (std::isnan(plain_norm[j])) throw NotFinite();
    largest_norm = std::max(largest_norm, plain_norm[j]);
    any_unpenalised = any_unpenalised || factor[j] == 0;
    if (factor[j] > 0 && (least_factor == 0 || factor[j] < least_factor)) least_factor = factor[j];
  }
}

double Model::rounding(const VectorXd& residual) const {
  return kRelative * largest_norm * size_of(residual) + std::numeric_limits<double>::min();
}

VectorXd Model::roundings(const VectorXd& residual) const {
  return (kRelative * size_of(residual) * plain_norm).array() + std::numeric_limits<double>::min();
}

}  // namespace n2gfl
