#include "data/problem.hpp"

#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "loss/families.hpp"

namespace n2gfl {

Problem::Problem(Inputs inputs, const Graph& graph, Poll& poll)
    : settings_(std::move(inputs.settings)), design_(std::move(inputs.design)),
      mean_(take_out_mean(settings_, inputs.weights, inputs.response, inputs.offset)),
      loss_(make_loss(settings_.family, inputs.response, inputs.weights)),
      profile_(*loss_, unpenalised(inputs.covariates), inputs.offset) {
  design_.use_rows(inputs.weights);
  if (settings_.sign == Sign::nonpositive) design_.mirror();
  if (settings_.standardize) standardise(inputs.factor);
  model_ = std::make_unique<Model>(design_, profile_, graph, std::move(inputs.factor),
                                   settings_.sign != Sign::free, settings_.intercept,
                                   settings_.threads, poll);
  find_null_loss(inputs.offset);
}

Effects Problem::strong_effects(double least) const {
  const double freedom = design_.counted_rows() - 1 - profile_.unpenalised();
  const double size = model_->null_residual.norm();
  Effects found;
  if (freedom < 1 || size <= 0) return found;
  for (int j = 0; j < design_.cols(); ++j) {
    const double norm = model_->column_norm[j];
    if (norm <= 0 || std::isinf(model_->factor[j])) continue;
    const double r = model_->null_gradient[j] / (norm * size);
    if (r * r * (freedom + least * least) <= least * least) continue;  // |t| <= least
    ++(r < 0 ? found.against : found.along);
  }
  return found;
}

Unpenalised Problem::unpenalised_at(const VectorXd& coordinates) const {
  const VectorXd coefficients = profile_.coefficients(coordinates);
  const int extra = settings_.intercept ? 1 : 0;
  Unpenalised answer;
  if (extra) answer.intercept = coefficients[0] + mean_;
  answer.covariates = coefficients.tail(coefficients.size() - extra);
  return answer;
}

std::vector<double> Problem::on_scale_of_x(const std::vector<int>& index,
                                           std::vector<double> value) const {
  for (std::size_t k = 0; k < index.size(); ++k) value[k] *= design_.scale(index[k]);
  return value;
}

double Problem::deviance_ratio(double loss) const {
  const double range = null_loss_ - loss_->saturated();
  return range > 0 ? 1 - (loss - loss_->saturated()) / range : 0.0;
}

// Least squares depends on y - offset only, and with an intercept the means of both do not
// matter. Subtracting them first avoids a loss of digits. Returns the mean of y - offset.
double Problem::take_out_mean(const ProblemSettings& settings, const VectorXd& weights,
                              VectorXd& response, VectorXd& offset) {
  if (settings.family != "gaussian") return 0;
  double mean = 0;
  if (settings.intercept) {
    const double far = response.dot(weights) / weights.sum();
    const double shift = offset.dot(weights) / weights.sum();
    response.array() -= far;
    offset.array() -= shift;
    mean = far - shift;
  }
  response -= offset;
  offset.setZero();
  return mean;
}

MatrixXd Problem::unpenalised(const MatrixXd& covariates) const {
  const int extra = settings_.intercept ? 1 : 0;
  MatrixXd all(loss_->size(), covariates.cols() + extra);
  if (extra) all.col(0).setOnes();
  all.rightCols(covariates.cols()) = covariates;
  return all;
}

// A constant column cannot be standardised: its coefficient is fixed at zero.
void Problem::standardise(VectorXd& factor) {
  design_.standardise(loss_->weights());
  for (int j = 0; j < design_.cols(); ++j)
    if (design_.scale(j) == 0) factor[j] = std::numeric_limits<double>::infinity();
}

void Problem::find_null_loss(const VectorXd& offset) {
  Profile null(*loss_, unpenalised(MatrixXd(loss_->size(), 0)), offset);
  VectorXd residual;
  null_loss_ = null.evaluate(VectorXd::Zero(loss_->size()), residual);
  if (null_loss_ > 0 && model_->null_value <= 1e-12 * null_loss_)
    throw NothingLeft();
}

}  // namespace n2gfl
