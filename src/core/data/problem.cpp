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
      loss_(make_loss(settings_.family, inputs.response, inputs.weights)),
      mean_(loss_->take_over(inputs.offset, settings_.intercept)),
      profile_(*loss_, unpenalised(inputs.covariates), inputs.offset) {
  design_.use_rows(inputs.weights);
  if (settings_.sign == Sign::nonpositive) design_.mirror();
  if (settings_.standardize) standardise(inputs.factor);
  model_ = std::make_unique<Model>(design_, profile_, graph, std::move(inputs.factor),
                                   settings_.sign != Sign::free, has_constant(),
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
  const int extra = has_constant() ? 1 : 0;
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
  return null_loss_ > 0 ? 1 - loss / null_loss_ : 0.0;
}

MatrixXd Problem::unpenalised(const MatrixXd& covariates) const {
  const int extra = has_constant() ? 1 : 0;
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
  null_loss_ = null.evaluate(VectorXd::Zero(loss_->size())).loss();
  if (!std::isfinite(null_loss_) || !std::isfinite(model_->null_value)) throw Overflow();
  if (null_loss_ > 0 && model_->null_value <= 1e-12 * null_loss_) throw NothingLeft();
}

}  // namespace n2gfl
