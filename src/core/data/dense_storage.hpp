// A matrix by columns, of floating point numbers or integers. Columns of another type than double
// are converted when they are read. So all sums have double precision, and a matrix gives the same
// results in all types that can hold its values.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "data/storage.hpp"
#include "types.hpp"

namespace n2gfl {

// A stored number means itself.
template <class T>
struct AsStored {
  double operator()(T stored) const { return static_cast<double>(stored); }
};

// A stored number means slope * number + intercept, and one of them means that a value is not known.
template <class T>
class Scaled {
 public:
  Scaled(double slope, double intercept, bool has_missing, double missing)
      : slope_(slope), intercept_(intercept),
        missing_(has_missing ? missing : std::numeric_limits<double>::quiet_NaN()) {}

  double operator()(T stored) const {
    const auto value = static_cast<double>(stored);
    return value == missing_ ? kUnknown : slope_ * value + intercept_;
  }

 private:
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  double slope_, intercept_;
  double missing_;  // NaN, which equals nothing, if there is no such number
};

template <class T, class Meaning = AsStored<T>>
class DenseStorage final : public Storage {
 public:
  // `owner`: what must live as long as the values are used.
  DenseStorage(const T* values, int rows, int cols, Meaning meaning = Meaning(),
               std::shared_ptr<const void> owner = nullptr)
      : Storage(rows, cols), values_(values), meaning_(meaning), owner_(std::move(owner)) {}

  Column column(int j, VectorXd& room) const override;
  void copy(int j, bool centred, double factor, float* out) const override;
  double dot(int j, const VectorXd& v) const override;
  void dots(const ColumnList& columns, int begin, int end, const VectorXd& v,
            double* out) const override;
  void moments(int begin, int end, const VectorXd& v, const VectorXd& used,
               Moments* out) const override;
  void add(int j, double factor, VectorXd& out) const override;
  void add_at(int j, double factor, const std::vector<int>& rows, const std::vector<int>& slot,
              double* out) const override;
  void add_weighted(int j, double factor, const VectorXd& h, VectorXd& out) const override;
  double weighted_square(int j, const VectorXd& h) const override;

 private:
  static constexpr int kAhead = 2;                        // columns
  static constexpr int kCacheLine = 64 / int{sizeof(T)};  // values
  static constexpr int kFetched = 128 * kCacheLine;       // the hardware prefetches the rest
  using Packet = Eigen::Map<const Eigen::Array4d>;

  template <bool kSomeRows>
  static Moments moments_of(const Column& x, const double* v, const double* used);
  const T* start(int j) const { return values_ + static_cast<std::ptrdiff_t>(j) * rows(); }

  const T* values_;
  Meaning meaning_;
  std::shared_ptr<const void> owner_;
};

}  // namespace n2gfl
