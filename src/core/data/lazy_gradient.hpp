// X'r, one column at a time and only on request. A value is exact, or it belongs to an older
// residual or to a prediction from older gradients; then a bound of its error is known:
//   |x_j'r - x_j's| <= |x_j| |r - s|.
//
// In coarse mode, new products come from columns in single precision.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "data/float_columns.hpp"
#include "data/gradient_history.hpp"
#include "data/model.hpp"

namespace n2gfl {

class LazyGradient {
 public:
  explicit LazyGradient(const Model& model)
      : model_(&model), values_(model.null_gradient), stamp_(model.features(), kNever),
        past_(MatrixXd::Zero(model.x.rows(), kKept)), distance_to_(kKept, kInfinity),
        history_(model.column_norm), floats_(model) {
    history_.store(model.null_residual, model.null_gradient);
  }

  // Sets the residual. Values of earlier residuals stay known within their bounds.
  void set_residual(const VectorXd& residual) {
    residual_ = &residual;
    if (epoch_ > 0 && past_.col(slot(epoch_)) == residual) return;
    nuisance_part_ = model_->x.nuisance_part(residual);
    ++epoch_;
    past_.col(slot(epoch_)) = residual;
    for (int k = 0; k < kKept; ++k)
      distance_to_[k] = (past_.col(k) - residual).norm() * (1 + 1e-9);
    size_ = residual.norm();
    predicted_ = floats_know_residual_ = false;
  }

  // Coarse: products may have the rounding error of single precision.
  void set_coarse(bool coarse) { coarse_ = coarse; }
  bool coarse() const { return coarse_; }

  // Releases the columns in single precision if there are more than `most`.
  void trim(std::size_t most) { floats_.trim(most); }

  bool exact(int i) const { return stamp_[i] == 2 * epoch_; }
  bool known(int i) const { return stamp_[i] >= 2 * epoch_ - (coarse_ ? 1 : 0); }

  // May be called for different columns at the same time. Does not poll: the caller does.
  double operator()(int i) {
    if (known(i)) return values_[i];
    values_[i] = model_->x.dot(i, *residual_, nuisance_part_);
    stamp_[i] = 2 * epoch_;
    return values_[i];
  }

  void compute(const std::vector<int>& columns) {
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

  void compute_all() {
    model_->x.transpose_times(*residual_, values_, model_->threads, model_->poll);
    std::fill(stamp_.begin(), stamp_.end(), 2 * epoch_);
    history_.store(*residual_, values_);
  }

  // Tells that the residual is that of the null fit, whose gradient the model stores.
  void assume_null() {
    values_ = model_->null_gradient;
    std::fill(stamp_.begin(), stamp_.end(), 2 * epoch_);
  }

  // Predicts all columns from the stored gradients.
  void predict() {
    if (predicted_) return;
    reach_ = history_.predict(*residual_, guess_);
    guess_epoch_ = epoch_;
    predicted_ = true;
  }
  // After predict(): |x_j'r / |x_j| - prediction| <= reach, for all columns at once.
  double reach() const { return reach_; }
  // After predict(): calls visit(i, net) for every column, with the prediction less outflow[i], or
  // the absolute value of that if coefficients may have both signs. One simple, fast loop.
  template <class Visit>
  void for_each_predicted(const double* outflow, Visit visit) const {
    const float* guess = guess_.data();
    const double* norm = model_->column_norm.data();
    const bool nonnegative = model_->nonnegative;
    for (int i = 0; i < model_->features(); ++i) {
      const double net = norm[i] * guess[i] - outflow[i];
      visit(i, nonnegative ? net : std::fabs(net));
    }
  }

  // The best known value, and a bound of its error.
  struct Estimate {
    double value, error;
  };
  Estimate estimate(int i) const {
    if (exact(i)) return {values_[i], 0.0};
    const double by_product = product_error(i), by_guess = guess_error(i);
    return by_product <= by_guess ? Estimate{values_[i], by_product}
                                  : Estimate{guess(i), by_guess};
  }
  double value(int i) const { return estimate(i).value; }
  double error(int i) const { return estimate(i).error; }

  // The most recent value, without a bound.
  double latest(int i) const {
    return stamp_[i] >= 2 * guess_epoch_ - 1 || guess_epoch_ < 0 ? values_[i] : guess(i);
  }

 private:
  static constexpr int kKept = 16;  // residuals whose products count
  static constexpr int kNever = std::numeric_limits<int>::min() / 2;
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  // A stamp is 2 * epoch for an exact product, 2 * epoch - 1 for one in single precision.
  static int epoch_of(int stamp) { return (stamp + 1) / 2; }
  static int slot(int epoch) { return epoch % kKept; }
  bool is_kept(int epoch) const { return epoch > 0 && epoch > epoch_ - kKept; }

  double guess(int i) const { return guess_[i] * model_->column_norm[i]; }

  double product_error(int i) const {
    const int epoch = epoch_of(stamp_[i]);
    if (!is_kept(epoch)) return kInfinity;
    const double distance = distance_to_[slot(epoch)];
    const double rounding =
        stamp_[i] % 2 == 0 ? 0.0 : floats_.relative_error() * (size_ + distance);
    return model_->column_norm[i] * (distance + rounding);
  }

  double guess_error(int i) const {
    if (!is_kept(guess_epoch_)) return kInfinity;
    return model_->column_norm[i] * (reach_ + distance_to_[slot(guess_epoch_)]);
  }

  void compute_exactly() {
    model_->x.transpose_times(*residual_, wanted_, values_, model_->threads, model_->poll);
    for (int i : wanted_) stamp_[i] = 2 * epoch_;
  }

  void compute_in_single_precision() {
    if (!floats_know_residual_) floats_.set_vector(*residual_);
    floats_know_residual_ = true;
    floats_.require(wanted_);
    products_.resize(wanted_.size());
    floats_.products(wanted_, products_.data());
    for (std::size_t k = 0; k < wanted_.size(); ++k) {
      values_[wanted_[k]] = products_[k];
      stamp_[wanted_[k]] = 2 * epoch_ - 1;
    }
    model_->x.count_products(wanted_.size());
  }

  const Model* model_;
  const VectorXd* residual_ = nullptr;
  VectorXd values_, nuisance_part_;
  std::vector<int> stamp_;
  MatrixXd past_;                    // the last residuals
  std::vector<double> distance_to_;  // from the residual to these
  int epoch_ = 0, guess_epoch_ = -1;
  Eigen::VectorXf guess_;            // x_j'r / |x_j|, predicted
  double reach_ = 0, size_ = 0;
  bool predicted_ = false, coarse_ = false, floats_know_residual_ = false;
  GradientHistory history_;
  FloatColumns floats_;
  std::vector<int> wanted_;
  std::vector<double> products_;
};

}  // namespace n2gfl
