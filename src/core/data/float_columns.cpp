#include "data/float_columns.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "parallel.hpp"

namespace n2gfl {

void FloatProducts::append(const float* column, double scale) {
  column_.push_back(column);
  scale_.push_back(scale);
}

void FloatProducts::times_vector(const float* v, double size, double* out) const {
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

void FloatProducts::add(const double* factor, VectorXd& out) const {
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

double FloatProducts::one_product(const float* x, const float* v) const {
  Pack sums = Pack::Zero();
  for (int i = 0; i < length_; i += kWidth) sums += pack(v + i) * pack(x + i);
  return static_cast<double>(sums.sum());
}

// Four sums that do not wait for each other, and the vector is read once.
void FloatProducts::four_products(const float* const* x, const float* v, double* out) const {
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
void FloatProducts::add_tile(const std::vector<float>& share, double unit, int begin, int end,
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
void FloatProducts::add_some(const std::vector<float>& share, std::size_t k, std::size_t last,
                             int begin, int end, float* sums) const {
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

FloatColumns::FloatColumns(const Model& model)
    : model_(&model), length_((model.x.rows() + kWidth - 1) / kWidth * kWidth) {}

void FloatColumns::trim(std::size_t most) {
  if (node_.size() <= most) return;
  for (int j : node_) place_[j] = -1;
  node_.clear();
  block_.clear();
}

void FloatColumns::require(const std::vector<int>& columns) {
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

void FloatColumns::set_vector(const VectorXd& v) {
  size_ = v.norm();
  vector_.setZero(length_);
  if (size_ > 0) vector_.head(v.size()) = (v / size_).cast<float>();
}

void FloatColumns::products(const std::vector<int>& columns, double* out) const {
  list(columns).times_vector(vector_.data(), size_, out);
  model_->x.count_products(columns.size());
}

void FloatColumns::add(const std::vector<int>& columns, const std::vector<double>& factor,
                       VectorXd& out) const {
  list(columns).add(factor.data(), out);
}

float* FloatColumns::at(std::size_t place) const {
  return block_[place / kPerBlock].get() + place % kPerBlock * static_cast<std::size_t>(length_);
}

FloatProducts FloatColumns::list(const std::vector<int>& columns) const {
  FloatProducts all(length_, model_->threads);
  for (int j : columns) all.append(column(j), model_->column_norm[j]);
  return all;
}

}  // namespace n2gfl
