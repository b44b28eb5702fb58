// X'r, one column at a time and only on request. A value is exact, or it belongs to an older
// residual or to a prediction from older gradients; then a bound of its error is known:
//   |x_j'r - x_j's| <= |x_j| |r - s|.
//
// In coarse mode, new products come from columns in single precision.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "data/float_columns.hpp"
#include "data/gradient_history.hpp"
#include "data/model.hpp"
#include "types.hpp"

namespace n2gfl {

class LazyGradient {
 public:
  explicit LazyGradient(const Model& model);

  // Sets the residual. Values of earlier residuals stay known within their bounds.
  void set_residual(const VectorXd& residual);

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
    values_[i] = model_->x.dot(i, *residual_, shared_);
    stamp_[i] = 2 * epoch_;
    return values_[i];
  }

  void compute(const std::vector<int>& columns);

  void compute_all();

  // Tells that the residual is that of the null fit, whose gradient the model stores.
  void assume_null();

  // Predicts all columns from the stored gradients.
  void predict();
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

  void compute_exactly();
  void compute_in_single_precision();

  const Model* model_;
  const VectorXd* residual_ = nullptr;
  VectorXd values_;
  Design::Shared shared_;
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
