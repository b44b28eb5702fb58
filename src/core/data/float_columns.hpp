// Columns of X in single precision, side by side in memory: half the bytes of the original, and no
// jumps between columns that lie far apart. They serve where a product need not be exact.
//
// Each column is centred (if the model has an intercept, residuals sum to zero and the mean does
// not matter) and divided by its norm, so that neither a large mean nor an extreme scale costs
// digits. Rows without weight are zero.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <vector>

#include "data/model.hpp"
#include "parallel.hpp"

namespace n2gfl {

// Products with a list of float columns, each of which stands for `scale` times its values. The
// length of the columns is a multiple of kWidth.
class FloatProducts {
 public:
  static constexpr int kWidth = 8;

  FloatProducts(int length, int threads) : length_(length), threads_(threads) {}

  void append(const float* column, double scale) {
    column_.push_back(column);
    scale_.push_back(scale);
  }

  int length() const { return length_; }

  // out[k] = scale[k] * size * column[k]'v
  void times_vector(const float* v, double size, double* out) const {
    const std::size_t blocks = (column_.size() + kAtOnce - 1) / kAtOnce;
    const double cost = static_cast<double>(kAtOnce) * length_;
    parallel_for(static_cast<std::ptrdiff_t>(blocks), threads_, cost, [&](std::ptrdiff_t b) {
      const std::size_t begin = static_cast<std::size_t>(b) * kAtOnce,
                        end = std::min(column_.size(), begin + kAtOnce);
      if (end - begin == kAtOnce)
        four_products(&column_[begin], v, out + begin);
      else
        for (std::size_t k = begin; k < end; ++k) out[k] = one_product(column_[k], v);
      for (std::size_t k = begin; k < end; ++k) out[k] *= scale_[k] * size;
    });
  }

  // out += sum of factor[k] * scale[k] * column[k]
  void add(const double* factor, VectorXd& out) const {
    double unit = 0;  // of the sums: floats have a small range
    for (std::size_t k = 0; k < column_.size(); ++k)
      unit = std::fmax(unit, std::fabs(factor[k] * scale_[k]));
    if (unit == 0) return;
    std::vector<float> share(column_.size());
    for (std::size_t k = 0; k < column_.size(); ++k)
      share[k] = static_cast<float>(factor[k] * scale_[k] / unit);
    const int tiles = std::max(threads_, (length_ + kTile - 1) / kTile);  // of equal size
    const int rows = (length_ / kWidth + tiles - 1) / tiles * kWidth;
    const double cost = static_cast<double>(column_.size()) * rows;
    parallel_for(tiles, threads_, cost, [&](std::ptrdiff_t t) {
      const int begin = static_cast<int>(t) * rows;
      add_tile(share, unit, begin, std::min(length_, begin + rows), out);
    });
  }

 private:
  static constexpr std::size_t kAtOnce = 4;    // columns per loop of a product
  static constexpr std::size_t kAdded = 8;     // columns per loop of a sum
  static constexpr std::size_t kInFloat = 64;  // terms of a sum before it becomes double
  static constexpr int kTile = 4096;           // rows whose sums fit into the fastest cache
  using Pack = Eigen::Array<float, kWidth, 1>;

  static auto pack(const float* x) { return Eigen::Map<const Pack>(x); }

  double one_product(const float* x, const float* v) const {
    Pack sums = Pack::Zero();
    for (int i = 0; i < length_; i += kWidth) sums += pack(v + i) * pack(x + i);
    return static_cast<double>(sums.sum());
  }

  // Four sums that do not wait for each other, and the vector is read once.
  void four_products(const float* const* x, const float* v, double* out) const {
    const float *x0 = x[0], *x1 = x[1], *x2 = x[2], *x3 = x[3];
    Pack sum0 = Pack::Zero(), sum1 = sum0, sum2 = sum0, sum3 = sum0;
    for (int i = 0; i < length_; i += kWidth) {
      const Pack part = pack(v + i);
      sum0 += part * pack(x0 + i);
      sum1 += part * pack(x1 + i);
      sum2 += part * pack(x2 + i);
      sum3 += part * pack(x3 + i);
    }
    out[0] = static_cast<double>(sum0.sum());
    out[1] = static_cast<double>(sum1.sum());
    out[2] = static_cast<double>(sum2.sum());
    out[3] = static_cast<double>(sum3.sum());
  }

  // The rows `begin` to `end` of add().
  void add_tile(const std::vector<float>& share, double unit, int begin, int end,
                VectorXd& out) const {
    std::array<float, kTile> sums;
    for (std::size_t first = 0; first < column_.size(); first += kInFloat) {
      const std::size_t last = std::min(column_.size(), first + kInFloat);
      std::fill(sums.begin(), sums.begin() + (end - begin), 0.0f);
      for (std::size_t k = first; k < last; k += kAdded)
        add_some(share, k, last, begin, end, sums.data());
      for (int i = begin; i < std::min(end, static_cast<int>(out.size())); ++i)
        out[i] += unit * static_cast<double>(sums[static_cast<std::size_t>(i - begin)]);
    }
  }

  // Adds kAdded columns; those beyond the last one count as zero.
  void add_some(const std::vector<float>& share, std::size_t k, std::size_t last, int begin,
                int end, float* sums) const {
    std::array<const float*, kAdded> x;
    std::array<float, kAdded> c{};
    for (std::size_t m = 0; m < kAdded; ++m) {
      x[m] = column_[std::min(k + m, last - 1)] + begin;
      if (k + m < last) c[m] = share[k + m];
    }
    for (int i = 0; i < end - begin; i += kWidth)
      Eigen::Map<Pack>(sums + i) += ((c[0] * pack(x[0] + i) + c[1] * pack(x[1] + i)) +
                                     (c[2] * pack(x[2] + i) + c[3] * pack(x[3] + i))) +
                                    ((c[4] * pack(x[4] + i) + c[5] * pack(x[5] + i)) +
                                     (c[6] * pack(x[6] + i) + c[7] * pack(x[7] + i)));
  }

  int length_, threads_;
  std::vector<const float*> column_;
  std::vector<double> scale_;
};

class FloatColumns {
 public:
  explicit FloatColumns(const Model& model)
      : model_(&model), length_((model.x.rows() + kWidth - 1) / kWidth * kWidth) {}

  // Products with sparse columns are cheap as they are; a dense copy would make them slower.
  bool usable() const { return !model_->x.is_sparse(); }

  int length() const { return length_; }  // of a column, filled with zeros to a multiple of kWidth

  // Forgets all columns if there are more than `most`.
  void trim(std::size_t most) {
    if (node_.size() <= most) return;
    for (int j : node_) place_[j] = -1;
    node_.clear();
    block_.clear();
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
    while (block_.size() * kPerBlock < node_.size())
      block_.emplace_back(new float[kPerBlock * static_cast<std::size_t>(length_)]);
    const auto fresh = static_cast<std::ptrdiff_t>(node_.size() - known);
    parallel_for(fresh, model_->threads, length_, [&](std::ptrdiff_t place) {
      const auto k = static_cast<std::size_t>(place);
      const int j = node_[known + k];
      const double norm = model_->column_norm[j], factor = norm > 0 ? 1 / norm : 0.0;
      model_->x.copy_column(j, model_->intercept, factor, at(known + k), length_);
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
  double relative_error() const {
    const int terms = length_ / kWidth;
    return kUnitRoundoff * (terms + 12);
  }

  // out[k] = x_j'v for j = columns[k]; require() must have seen the columns.
  void products(const std::vector<int>& columns, double* out) const {
    list(columns).times_vector(vector_.data(), size_, out);
  }

  // out += sum of factor[k] * x_j for j = columns[k]; up to a constant if columns are centred.
  void add(const std::vector<int>& columns, const std::vector<double>& factor,
           VectorXd& out) const {
    list(columns).add(factor.data(), out);
  }

  // Column j without its scale, which is column_norm[j].
  const float* column(int j) const { return at(static_cast<std::size_t>(place_[j])); }

 private:
  static constexpr int kWidth = FloatProducts::kWidth;
  static constexpr double kUnitRoundoff = 5.97e-8;  // of float, rounded up
  static constexpr std::size_t kPerBlock = 64;      // columns in a block of memory

  float* at(std::size_t place) const {
    return block_[place / kPerBlock].get() + place % kPerBlock * static_cast<std::size_t>(length_);
  }

  FloatProducts list(const std::vector<int>& columns) const {
    FloatProducts all(length_, model_->threads);
    for (int j : columns) all.append(column(j), model_->column_norm[j]);
    return all;
  }

  const Model* model_;
  int length_;
  std::vector<int> place_;  // of a column in the store, or -1
  std::vector<int> node_;   // the columns in the store
  std::vector<std::unique_ptr<float[]>> block_;  // the store, which grows without being copied
  Eigen::VectorXf vector_;  // of the products, divided by its norm
  double size_ = 0;         // that norm
};

}  // namespace n2gfl
