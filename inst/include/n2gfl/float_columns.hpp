// Columns of X in single precision, side by side in memory: half the bytes of the original, and no
// jumps between columns that lie far apart. They serve where a product need not be exact.
//
// Each column is centred (if the model has an intercept, residuals sum to zero and the mean does
// not matter) and divided by its norm, so that neither a large mean nor an extreme scale costs
// digits. Rows without weight are zero.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <vector>

#include "model.hpp"

namespace n2gfl {

class FloatColumns {
 public:
  explicit FloatColumns(const Model& model)
      : model_(&model), length_((model.x.rows() + kWidth - 1) / kWidth * kWidth) {}

  // Products with sparse columns are cheap as they are; a dense copy would make them slower.
  bool usable() const { return !model_->x.is_sparse(); }

  // Forgets all columns if there are more than `most`.
  void trim(std::size_t most) {
    if (node_.size() <= most) return;
    for (int j : node_) place_[j] = -1;
    node_.clear();
    store_.clear();
  }

  // Copies the columns that are not there yet.
  void require(const std::vector<int>& columns) {
    if (place_.empty()) place_.assign(model_->features(), -1);
    const std::size_t known = node_.size();
    for (int j : columns) {
      if (place_[j] >= 0) continue;
      place_[j] = static_cast<int>(node_.size());
      node_.push_back(j);
    }
    store_.resize(node_.size() * static_cast<std::size_t>(length_));
    for_each(known, node_.size(), [&](std::size_t k) {
      model_->x.copy_column(node_[k], model_->intercept, inverse_norm(node_[k]),
                            store_.data() + k * static_cast<std::size_t>(length_), length_);
    });
  }

  // The vector of the products that follow.
  void set_vector(const VectorXd& v) {
    size_ = v.norm();
    vector_.setZero(length_);
    if (size_ > 0) vector_.head(v.size()) = (v / size_).cast<float>();
  }

  // |error| <= relative_error() * |x_j| * |v|: each of the eight sums of a product rounds once per
  // term, and the conversions to float round once each.
  double relative_error() const { return kUnitRoundoff * (length_ / kWidth + 12); }

  // out[k] = x_j'v for j = columns[k]; require() must have seen the columns.
  void products(const std::vector<int>& columns, double* out) const {
    const std::size_t blocks = (columns.size() + kAtOnce - 1) / kAtOnce;
    for_each(0, blocks, [&](std::size_t b) {
      const std::size_t begin = b * kAtOnce, end = std::min(columns.size(), begin + kAtOnce);
      if (end - begin == kAtOnce)
        four_products(&columns[begin], out + begin);
      else
        for (std::size_t k = begin; k < end; ++k) out[k] = one_product(columns[k]);
    });
  }

  // out += sum of factor[k] * x_j for j = columns[k]; up to a constant if columns are centred.
  void add(const std::vector<int>& columns, const std::vector<double>& factor,
           VectorXd& out) const {
    const Eigen::Index rows = out.size();
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const double scaled = factor[k] * model_->column_norm[columns[k]];
      out += scaled * Eigen::Map<const Eigen::VectorXf>(column(columns[k]), rows).cast<double>();
    }
  }

 private:
  static constexpr int kWidth = 8;
  static constexpr std::size_t kAtOnce = 4;           // columns per block of products
  static constexpr double kUnitRoundoff = 5.97e-8;    // of float, rounded up
  static constexpr std::size_t kLeastPerThread = 256;
  using Pack = Eigen::Array<float, kWidth, 1>;

  static auto pack(const float* x) { return Eigen::Map<const Pack>(x); }

  const float* column(int j) const {
    return store_.data() + static_cast<std::size_t>(place_[j]) * static_cast<std::size_t>(length_);
  }

  double inverse_norm(int j) const {
    const double norm = model_->column_norm[j];
    return norm > 0 ? 1 / norm : 0.0;
  }

  double scaled(int j, const Pack& sums) const {
    return static_cast<double>(sums.sum()) * model_->column_norm[j] * size_;
  }

  double one_product(int j) const {
    Pack sums = Pack::Zero();
    const float* x = column(j);
    for (int i = 0; i < length_; i += kWidth) sums += pack(vector_.data() + i) * pack(x + i);
    return scaled(j, sums);
  }

  // Four sums that do not wait for each other, and the vector is read once.
  void four_products(const int* j, double* out) const {
    const float *x0 = column(j[0]), *x1 = column(j[1]), *x2 = column(j[2]), *x3 = column(j[3]);
    Pack sum0 = Pack::Zero(), sum1 = sum0, sum2 = sum0, sum3 = sum0;
    for (int i = 0; i < length_; i += kWidth) {
      const Pack v = pack(vector_.data() + i);
      sum0 += v * pack(x0 + i);
      sum1 += v * pack(x1 + i);
      sum2 += v * pack(x2 + i);
      sum3 += v * pack(x3 + i);
    }
    out[0] = scaled(j[0], sum0);
    out[1] = scaled(j[1], sum1);
    out[2] = scaled(j[2], sum2);
    out[3] = scaled(j[3], sum3);
  }

  // Every call writes to its own place, so threads do not change the result.
  template <class Work>
  void for_each(std::size_t begin, std::size_t end, const Work& work) const {
#ifdef _OPENMP
#pragma omp parallel for schedule(static) num_threads(model_->threads) \
    if (model_->threads > 1 && end - begin > kLeastPerThread)
#endif
    for (std::size_t k = begin; k < end; ++k) work(k);
  }

  const Model* model_;
  int length_;                    // of a column, filled with zeros to full packs
  std::vector<int> place_;        // of a column in the store, or -1
  std::vector<int> node_;         // the columns in the store
  std::vector<float> store_;
  Eigen::VectorXf vector_;        // of the products, divided by its norm
  double size_ = 0;               // that norm
};

}  // namespace n2gfl
