// How the values of X lie in memory, by columns. The memory is the caller's, or a file's that is
// mapped into memory, and is only read.
//
// A view of X (Design) works with any storage and knows no more of it than this class. No virtual
// function is for one value: each is for a column, or for many where they are short.
#pragma once

#include <vector>

#include "types.hpp"

namespace n2gfl {

// The columns of a list, or all columns. The list must outlive this.
class ColumnList {
 public:
  explicit ColumnList(int all) : count_(all) {}
  explicit ColumnList(const std::vector<int>& columns)
      : columns_(columns.data()), count_(static_cast<int>(columns.size())), scattered_(true) {}

  int size() const { return count_; }
  int operator[](int k) const { return scattered_ ? columns_[k] : k; }
  bool scattered() const { return scattered_; }

 private:
  const int* columns_ = nullptr;
  int count_;
  bool scattered_ = false;
};

class Storage {
 public:
  using Column = Eigen::Map<const VectorXd>;

  Storage(int rows, int cols) : rows_(rows), cols_(cols) {}
  virtual ~Storage() = default;
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  int rows() const { return rows_; }
  int cols() const { return cols_; }

  // Column j in double precision: where it lies, if it lies there like this; otherwise it is
  // written to `room`.
  virtual Column column(int j, VectorXd& room) const = 0;

  // out = factor * x_j in single precision, less its mean if `centred`
  virtual void copy(int j, bool centred, double factor, float* out) const;

  // Are products faster with dense copies of columns in single precision than with the columns?
  virtual bool gains_from_copies() const { return true; }

  // x_j'v
  virtual double dot(int j, const VectorXd& v) const = 0;

  // out[k - begin] = x_j'v with j = columns[k], for k = begin, ..., end - 1
  virtual void dots(const ColumnList& columns, int begin, int end, const VectorXd& v,
                    double* out) const = 0;

  struct Moments {
    double dot;           // x_j'v, over all rows
    double sum, squares;  // of x_j, over the rows that are used
  };

  // out[j - begin] is for column j = begin, ..., end - 1. `used` is 1 in the rows that are used and
  // 0 in the others, or empty if all are.
  virtual void moments(int begin, int end, const VectorXd& v, const VectorXd& used,
                       Moments* out) const = 0;

  // out += factor * x_j
  virtual void add(int j, double factor, VectorXd& out) const = 0;

  // out[k] += factor * x_j at rows[k]; `slot` maps every row to its k, or to -1.
  virtual void add_at(int j, double factor, const std::vector<int>& rows,
                      const std::vector<int>& slot, double* out) const = 0;

  // out += factor * h * x_j, entry by entry
  virtual void add_weighted(int j, double factor, const VectorXd& h, VectorXd& out) const = 0;

  // sum_i h_i x_ij^2
  virtual double weighted_square(int j, const VectorXd& h) const = 0;

 protected:
  static void copy(const Column& x, bool centred, double factor, float* out) {
    const double mean = centred ? x.sum() / static_cast<double>(x.size()) : 0.0;
    Eigen::Map<Eigen::ArrayXf>(out, x.size()) = (factor * (x.array() - mean)).cast<float>();
  }

 private:
  int rows_, cols_;
};

}  // namespace n2gfl
