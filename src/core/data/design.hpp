// A view of X, dense or sparse by columns. X is never copied, centred or scaled in memory: scaling
// and the mirroring for sign = "nonpositive" are applied on the fly. The same holds for nuisance
// effects: after deconfound() the view is X - Z P X, that is, x_j - Z b_j for column j, with b_j =
// P x_j stored.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "parallel.hpp"
#include "poll.hpp"
#include "types.hpp"

namespace n2gfl {

class Design {
 public:
  static Design dense(const double* values, int rows, int cols);

  // Compressed columns as in Matrix::dgCMatrix: starts (cols + 1), row indices, values.
  static Design sparse(const int* starts, const int* indices, const double* values, int rows,
                       int cols);

  int rows() const { return rows_; }
  int cols() const { return cols_; }
  double counted_rows() const { return counted_rows_; }  // rows with weight
  double scale(int j) const { return scale_.size() > 0 ? mirror_ * scale_[j] : mirror_; }

  // The b_j as columns; empty if no nuisance effects are removed.
  const MatrixXd& effects() const { return effects_; }

  void mirror() { mirror_ = -mirror_; }

  // Z: rows x q, P: q x rows. Rows in which P is zero do not influence what is removed.
  void deconfound(const MatrixXd& nuisance, const MatrixXd& estimator);

  // Rows without weight are left out of the norms, so that held-out rows cannot influence
  // anything.
  void use_rows(const VectorXd& weights);

  // Divides columns by their weighted standard deviation; a constant column becomes zero.
  void standardise(const VectorXd& omega);

  double dot(int j, const VectorXd& v) const { return dot(j, v, nuisance_part(v)); }

  // The same for many columns and one v, whose nuisance_part() is passed as `part`.
  double dot(int j, const VectorXd& v, const VectorXd& part) const;

  // The number of passes over all columns in products with a vector: X'v counts as one.
  double passes() const { return static_cast<double>(dots_.value()) / std::max(cols_, 1); }

  void count_products(std::size_t products) const { dots_.add(static_cast<std::int64_t>(products)); }

  // Prefetches column j: reading scattered columns of X is otherwise half as fast as reading
  // consecutive ones.
  void fetch(int j) const;

  bool is_sparse() const { return starts_ != nullptr; }

  // out = factor * column j in single precision, filled up with zeros to `length`; less its mean if
  // `centred`. Rows without weight are zero.
  void copy_column(int j, bool centred, double factor, float* out, int length) const;

  // Z'v; empty if no nuisance effects are removed.
  VectorXd nuisance_part(const VectorXd& v) const;

  // out += factor * column j
  void add(int j, double factor, VectorXd& out) const;

  // out[k] += factor * column j at rows[k]; `slot` maps every row to its k, or to -1.
  void add_at(int j, double factor, const std::vector<int>& rows, const std::vector<int>& slot,
              double* out) const;

  // out += factor * h * column j, entry by entry
  void add_weighted(int j, double factor, const VectorXd& h, VectorXd& out) const;

  // sum_i h_i x_ij^2
  double weighted_square(int j, const VectorXd& h) const;

  // X'v, by columns: a vectorised dot product per column is as fast as memory allows.
  void transpose_times(const VectorXd& v, VectorXd& out, int threads, Poll& poll) const;

  // The same for some of the columns; the rest of `out` stays as it is.
  void transpose_times(const VectorXd& v, const std::vector<int>& columns, VectorXd& out,
                       int threads, Poll& poll) const;

  // Calls seen(j, survey) for every column, by several threads.
  template <class Seen>
  void survey_all(const VectorXd& v, int threads, Poll& poll, const Seen& seen) const {
    const VectorXd part = nuisance_part(v);
    for_each(cols_, threads, poll, [&](int j) { seen(j, survey(j, v, part)); });
  }

  // What a model needs to know about column j, computed in one pass over it: x_j'v, two bounds
  // that hold for every u that is zero in rows without weight, and whether the column is finite.
  struct Survey {
    double dot;
    double centred;  // bound of |x_j - mean|, hence of x_j'u / |u| for u that sums to zero
    double plain;    // |x_j|
    bool finite;     // all values are finite
  };

  Survey survey(int j, const VectorXd& v, const VectorXd& part) const;

 private:
  static constexpr int kBetweenPolls = 1 << 23;  // multiplications, some milliseconds
  static constexpr int kFetchedAtOnce = 8;  // doubles per cache line
  static constexpr int kFetched = 1024;     // of a column; the hardware prefetches the rest
  using Column = Eigen::Map<const VectorXd>;
  using Packet = Eigen::Map<const Eigen::Array4d>;

  struct Moments {
    double dot = 0;               // with the column as it is stored
    double sum = 0, squares = 0;  // after deconfounding, over the rows with weight
  };

  Design(int rows, int cols) : rows_(rows), cols_(cols), counted_rows_(rows) {}
  Column column(int j) const;
  double uncounted_dot(int j, const VectorXd& v, const VectorXd& part) const;

  // Polls now and then: not within a loop, where an exception would end the program.
  template <class Dot>
  void for_each(int count, int threads, Poll& poll, const Dot& dot) const {
    const int block = std::max(4096, kBetweenPolls / std::max(rows_, 1));
    for (int begin = 0; begin < count; begin += block) {
      parallel_for(std::min(count - begin, block), threads, rows_,
                   [&](std::ptrdiff_t k) { dot(begin + static_cast<int>(k)); });
      poll.now();
    }
    dots_.add(count);
  }

  double raw_dot(int j, const VectorXd& v) const;
  Moments moments(int j, const VectorXd& v) const;

  template <bool kSomeRows>
  Moments dense_moments(const double* x, const VectorXd& v) const;
  bool deconfounded() const { return effects_.size() > 0; }
  VectorXd expanded(int j) const;
  double deviation(int j, const VectorXd& omega) const;

  int rows_, cols_;
  const double* values_ = nullptr;
  const int* starts_ = nullptr;
  const int* indices_ = nullptr;
  double mirror_ = 1.0;
  mutable SharedCount dots_;
  VectorXd scale_;
  VectorXd used_;                // 1 where a row has weight, else 0; empty if all rows have
  double counted_rows_;          // number of rows with weight
  MatrixXd nuisance_, effects_;  // Z, and the b_j as columns
};

}  // namespace n2gfl
