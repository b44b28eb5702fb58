// X'r, one column at a time and only on request: values are exact or known within a bound.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "gradient_history.hpp"
#include "model.hpp"

namespace n2gfl {

class LazyGradient {
 public:
  explicit LazyGradient(const Model& model)
      : model_(&model), values_(model.null_gradient), epoch_of_(model.features(), 0) {
    history_.store(model.null_residual, model.null_gradient);
  }

  // Sets the residual. Stored gradients of earlier residuals serve as predictions.
  void set_residual(const VectorXd& residual) {
    residual_ = &residual;
    nuisance_part_ = model_->x.nuisance_part(residual);
    ++epoch_;
    predicted_ = false;
  }

  double operator()(int i) {
    if (epoch_of_[i] != epoch_) {
      values_[i] = model_->x.dot(i, *residual_, nuisance_part_);
      epoch_of_[i] = epoch_;
      model_->poll();
    }
    return values_[i];
  }

  // Computes the exact values of many columns.
  void compute(const std::vector<int>& columns) {
    for (std::size_t k = 0; k < columns.size(); ++k) {
      if (k + 2 < columns.size()) model_->x.fetch(columns[k + 2]);
      (*this)(columns[k]);
    }
  }

  // Predicts every column that is not exact, with |true - value| <= error(i).
  void predict() {
    if (predicted_) return;
    distance_ = history_.predict(*residual_, guess_);
    for (int i = 0; i < model_->features(); ++i)
      if (epoch_of_[i] != epoch_) values_[i] = guess_[i];
    predicted_ = true;
  }
  double value(int i) const { return values_[i]; }
  double error(int i) const {
    return epoch_of_[i] == epoch_ ? 0.0 : model_->column_norm[i] * distance_;
  }

  // Tells that the residual is that of the null fit, whose gradient the model stores.
  void assume_null() {
    values_ = model_->null_gradient;
    std::fill(epoch_of_.begin(), epoch_of_.end(), epoch_);
    predicted_ = true;
  }

  void compute_all() {
    model_->x.transpose_times(*residual_, values_, model_->threads, model_->poll);
    std::fill(epoch_of_.begin(), epoch_of_.end(), epoch_);
    history_.store(*residual_, values_);
    predicted_ = true;
  }

 private:
  const Model* model_;
  const VectorXd* residual_ = nullptr;
  VectorXd values_, guess_, nuisance_part_;
  std::vector<int> epoch_of_;
  int epoch_ = 0;
  bool predicted_ = false;
  double distance_ = 0;
  GradientHistory history_;
};

}  // namespace n2gfl
