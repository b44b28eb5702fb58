// A matrix by columns, of double or single precision. Columns of another type than double are
// converted when they are read. So all sums have double precision, and a matrix gives the same
// results in all types that can hold its values.
#pragma once

#include <cstddef>
#include <vector>

#include "data/storage.hpp"
#include "types.hpp"

namespace n2gfl {

template <class T>
class DenseStorage final : public Storage {
 public:
  DenseStorage(const T* values, int rows, int cols) : Storage(rows, cols), values_(values) {}

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
};

}  // namespace n2gfl
