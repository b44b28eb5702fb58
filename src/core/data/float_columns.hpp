// Columns of X in single precision, side by side in memory: half the bytes of the original, and no
// jumps between columns that lie far apart. They serve where a product need not be exact.
//
// Each column is centred (if the model has an intercept, residuals sum to zero and the mean does
// not matter) and divided by its norm, so that neither a large mean nor an extreme scale costs
// digits. Rows without weight are zero.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <Eigen/Core>

#include "data/model.hpp"
#include "types.hpp"

namespace n2gfl {

// Products with a list of float columns, each of which stands for `scale` times its values. The
// length of the columns is a multiple of kWidth.
class FloatProducts {
 public:
  static constexpr int kWidth = 8;

  FloatProducts(int length, int threads) : length_(length), threads_(threads) {}

  void append(const float* column, double scale);

  int length() const { return length_; }

  // out[k] = scale[k] * size * column[k]'v
  void times_vector(const float* v, double size, double* out) const;

  // out += sum of factor[k] * scale[k] * column[k]
  void add(const double* factor, VectorXd& out) const;

 private:
  static constexpr std::size_t kAtOnce = 4;    // columns per loop of a product
  static constexpr std::size_t kAdded = 8;     // columns per loop of a sum
  static constexpr std::size_t kInFloat = 64;  // terms of a sum before it becomes double
  static constexpr int kTile = 4096;           // rows whose sums fit into the fastest cache
  using Pack = Eigen::Array<float, kWidth, 1>;

  static auto pack(const float* x) { return Eigen::Map<const Pack>(x); }
  double one_product(const float* x, const float* v) const;
  void four_products(const float* const* x, const float* v, double* out) const;
  void add_tile(const std::vector<float>& share, double unit, int begin, int end,
                VectorXd& out) const;
  void add_some(const std::vector<float>& share, std::size_t k, std::size_t last, int begin,
                int end, float* sums) const;

  int length_, threads_;
  std::vector<const float*> column_;
  std::vector<double> scale_;
};

class FloatColumns {
 public:
  explicit FloatColumns(const Model& model);

  // Are products faster with copies of the columns?
  bool usable() const { return model_->x.gains_from_copies(); }

  int length() const { return length_; }  // of a column, filled with zeros to a multiple of kWidth

  // Forgets all columns if there are more than `most`.
  void trim(std::size_t most);

  // Copies the columns that are not there yet.
  void require(const std::vector<int>& columns);

  // The vector of the products that follow.
  void set_vector(const VectorXd& v);

  // |error| <= relative_error() * |x_j| * |v|: each of the eight sums of a product rounds once per
  // term, and the conversions to float round once each.
  double relative_error() const {
    const int terms = length_ / kWidth;
    return kUnitRoundoff * (terms + 12);
  }

  // out[k] = x_j'v for j = columns[k]; require() must have seen the columns.
  void products(const std::vector<int>& columns, double* out) const;

  // out += sum of factor[k] * x_j for j = columns[k]; up to a constant if columns are centred.
  void add(const std::vector<int>& columns, const std::vector<double>& factor, VectorXd& out) const;

  // Column j without its scale, which is column_norm[j].
  const float* column(int j) const { return at(static_cast<std::size_t>(place_[j])); }

 private:
  static constexpr int kWidth = FloatProducts::kWidth;
  static constexpr double kUnitRoundoff = 5.97e-8;  // of float, rounded up
  static constexpr std::size_t kPerBlock = 64;      // columns in a block of memory

  float* at(std::size_t place) const;
  FloatProducts list(const std::vector<int>& columns) const;

  const Model* model_;
  int length_;
  std::vector<int> place_;  // of a column in the store, or -1
  std::vector<int> node_;   // the columns in the store
  std::vector<std::unique_ptr<float[]>> block_;  // the store, which grows without being copied
  Eigen::VectorXf vector_;  // of the products, divided by its norm
  double size_ = 0;         // that norm
};

}  // namespace n2gfl
