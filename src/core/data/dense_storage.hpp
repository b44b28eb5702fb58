// A matrix by columns, of floating point numbers or integers. Columns of another type than double
// are converted when they are read. So all sums have double precision, and a matrix gives the same
// results in all types that can hold its values.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <type_traits>
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

// A stored number means slope * number + intercept.
template <class T>
struct Scaled {
  double operator()(T stored) const { return slope * static_cast<double>(stored) + intercept; }

  double slope, intercept;
};

// The same, but one number means that a value is not known. It has a type of its own, because the
// comparison takes half of the time.
template <class T>
struct ScaledOrMissing {
  double operator()(T stored) const {
    const auto number = static_cast<double>(stored);
    return number == missing ? std::numeric_limits<double>::quiet_NaN()
                             : slope * number + intercept;
  }

  double slope, intercept, missing;
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
  static constexpr bool kAsDouble = std::is_same_v<Meaning, AsStored<double>>;

  double dot_of(const T* x, const double* v) const;
  template <bool kSomeRows>
  Moments moments_of(const T* x, const double* v, const double* used) const;

  // The values of these stored numbers: where they lie, or in `room`.
  const double* values_of(const T* from, int count, double* room) const {
    if constexpr (kAsDouble) {
      (void)count, (void)room;
      return from;
    } else {
      constexpr int kAtOnce = 8;  // compilers vectorise an inner loop of fixed length
      int i = 0;
      for (; i + kAtOnce <= count; i += kAtOnce)
        for (int k = 0; k < kAtOnce; ++k) room[i + k] = meaning_(from[i + k]);
      for (; i < count; ++i) room[i] = meaning_(from[i]);
      return room;
    }
  }

  const T* start(int j) const { return values_ + static_cast<std::ptrdiff_t>(j) * rows(); }

  const T* values_;
  Meaning meaning_;
  std::shared_ptr<const void> owner_;
};

}  // namespace n2gfl
