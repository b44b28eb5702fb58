#include "data/lazy_gradient.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace n2gfl {

LazyGradient::LazyGradient(const Model& model)
    : model_(&model), values_(model.null_gradient), stamp_(model.features(), kNever),
      past_(MatrixXd::Zero(model.x.rows(), kKept)), distance_to_(kKept, kInfinity),
      history_(model.column_norm), floats_(model) {
  history_.store(model.null_residual, model.null_gradient);
}

void LazyGradient::set_residual(const VectorXd& residual) {
  residual_ = &residual;
  if (epoch_ > 0 && past_.col(slot(epoch_)) == residual) return;
  shared_ = model_->x.shared(residual);
  ++epoch_;
  past_.col(slot(epoch_)) = residual;
  for (int k = 0; k < kKept; ++k)
    distance_to_[k] = (past_.col(k) - residual).norm() * (1 + 1e-9);
  size_ = residual.norm();
  predicted_ = floats_know_residual_ = false;
}

void LazyGradient::compute(const std::vector<int>& columns) {
  wanted_.clear();
  for (int i : columns)
    if (!known(i)) wanted_.push_back(i);
  if (wanted_.empty()) return;
  if (coarse_ && floats_.usable())
    compute_in_single_precision();
  else
    compute_exactly();
  model_->poll.now();
}

void LazyGradient::compute_all() {
  model_->x.transpose_times(*residual_, values_, model_->threads, model_->poll);
  std::fill(stamp_.begin(), stamp_.end(), 2 * epoch_);
  history_.store(*residual_, values_);
}

void LazyGradient::assume_null() {
  values_ = model_->null_gradient;
  std::fill(stamp_.begin(), stamp_.end(), 2 * epoch_);
}

void LazyGradient::predict() {
  if (predicted_) return;
  reach_ = history_.predict(*residual_, guess_);
  guess_epoch_ = epoch_;
  predicted_ = true;
}

void LazyGradient::compute_exactly() {
  model_->x.transpose_times(*residual_, wanted_, values_, model_->threads, model_->poll);
  for (int i : wanted_) stamp_[i] = 2 * epoch_;
}

void LazyGradient::compute_in_single_precision() {
  if (!floats_know_residual_) floats_.set_vector(*residual_);
  floats_know_residual_ = true;
  floats_.require(wanted_);
  products_.resize(wanted_.size());
  floats_.products(wanted_, products_.data());
  for (std::size_t k = 0; k < wanted_.size(); ++k) {
    values_[wanted_[k]] = products_[k];
    stamp_[wanted_[k]] = 2 * epoch_ - 1;
  }
}

}  // namespace n2gfl
