// A view of X, dense or sparse by columns. X is never copied, centred or scaled in memory: scaling
// and the mirroring for sign = "nonpositive" are applied on the fly. The same holds for nuisance
// effects: after deconfound() the view is X - Z P X, that is, x_j - Z b_j for column j, with b_j =
// P x_j stored.
#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "loss.hpp"
#include "parallel.hpp"
#include "poll.hpp"

namespace n2gfl {

class Design {
 public:
  static Design dense(const double* values, int rows, int cols) {
    Design x(rows, cols);
    x.values_ = values;
    return x;
  }

  // Compressed columns as in Matrix::dgCMatrix: starts (cols + 1), row indices, values.
  static Design sparse(const int* starts, const int* indices, const double* values, int rows,
                       int cols) {
    Design x = dense(values, rows, cols);
    x.starts_ = starts;
    x.indices_ = indices;
    return x;
  }

  int rows() const { return rows_; }
  int cols() const { return cols_; }
  double counted_rows() const { return counted_rows_; }  // rows with weight
  double scale(int j) const { return scale_.size() > 0 ? mirror_ * scale_[j] : mirror_; }

  // The b_j as columns; empty if no nuisance effects are removed.
  const MatrixXd& effects() const { return effects_; }

  void mirror() { mirror_ = -mirror_; }

  // Z: rows x q, P: q x rows. Rows in which P is zero do not influence what is removed.
  void deconfound(const MatrixXd& nuisance, const MatrixXd& estimator) {
    std::vector<VectorXd> row(estimator.rows());
    for (std::size_t k = 0; k < row.size(); ++k) row[k] = estimator.row(k);
    MatrixXd effects(estimator.rows(), cols_);
    for (int j = 0; j < cols_; ++j)
      for (std::size_t k = 0; k < row.size(); ++k) effects(k, j) = raw_dot(j, row[k]);
    nuisance_ = nuisance;
    effects_ = std::move(effects);
  }

  // Rows without weight are left out of the norms, so that held-out rows cannot influence
  // anything.
  void use_rows(const VectorXd& weights) {
    used_.resize(0);
    if ((weights.array() == 0).any()) used_ = (weights.array() > 0).cast<double>();
    counted_rows_ = used_.size() > 0 ? used_.sum() : rows_;
  }

  // Divides columns by their weighted standard deviation; a constant column becomes zero.
  void standardise(const VectorXd& omega) {
    scale_.resize(cols_);
    for (int j = 0; j < cols_; ++j) {
      const double sd = deviation(j, omega);
      scale_[j] = sd > 0 ? 1.0 / sd : 0.0;
    }
  }

  double dot(int j, const VectorXd& v) const { return dot(j, v, nuisance_part(v)); }

  // The same for many columns and one v, whose nuisance_part() is passed as `part`.
  double dot(int j, const VectorXd& v, const VectorXd& part) const {
    dots_.add(1);
    return uncounted_dot(j, v, part);
  }

  // The number of passes over all columns in products with a vector: X'v counts as one.
  double passes() const { return static_cast<double>(dots_.value()) / std::max(cols_, 1); }

  void count_products(std::size_t products) const { dots_.add(static_cast<std::int64_t>(products)); }

  // Prefetches column j: reading scattered columns of X is otherwise half as fast as reading
  // consecutive ones.
  void fetch(int j) const {
#ifdef __GNUC__
    if (starts_ != nullptr) return;
    const double* x = values_ + static_cast<std::ptrdiff_t>(j) * rows_;
    for (int i = 0; i < std::min(rows_, kFetched); i += kFetchedAtOnce) __builtin_prefetch(x + i);
#else
    (void)j;
#endif
  }

  bool is_sparse() const { return starts_ != nullptr; }

  // out = factor * column j in single precision, filled up with zeros to `length`; less its mean if
  // `centred`. Rows without weight are zero.
  void copy_column(int j, bool centred, double factor, float* out, int length) const {
    Eigen::Map<Eigen::ArrayXf> target(out, rows_);
    const double scaled = factor * scale(j);
    if (!deconfounded() && !is_sparse() && used_.size() == 0) {  // by far the most frequent case
      const double mean = centred ? column(j).sum() / rows_ : 0.0;
      target = (scaled * (column(j).array() - mean)).cast<float>();
    } else {
      Eigen::ArrayXd x = expanded(j);
      if (used_.size() > 0) x = (used_.array() > 0).select(x, 0.0);
      if (centred) x -= x.sum() / counted_rows_;
      if (used_.size() > 0) x *= used_.array();
      target = (scaled * x).cast<float>();
    }
    std::fill(out + rows_, out + length, 0.0f);
  }

  // Z'v; empty if no nuisance effects are removed.
  VectorXd nuisance_part(const VectorXd& v) const {
    return deconfounded() ? VectorXd(nuisance_.transpose() * v) : VectorXd();
  }

  // out += factor * column j
  void add(int j, double factor, VectorXd& out) const {
    factor *= scale(j);
    if (deconfounded()) out.noalias() -= nuisance_ * (factor * effects_.col(j));
    if (starts_ == nullptr) {
      out += factor * column(j);
      return;
    }
    for (int k = starts_[j]; k < starts_[j + 1]; ++k) out[indices_[k]] += factor * values_[k];
  }

  // out[k] += factor * column j at rows[k]; `slot` maps every row to its k, or to -1.
  void add_at(int j, double factor, const std::vector<int>& rows, const std::vector<int>& slot,
              double* out) const {
    factor *= scale(j);
    if (starts_ == nullptr) {
      const double* x = values_ + static_cast<std::ptrdiff_t>(j) * rows_;
      for (std::size_t k = 0; k < rows.size(); ++k) out[k] += factor * x[rows[k]];
      return;
    }
    for (int k = starts_[j]; k < starts_[j + 1]; ++k)
      if (slot[indices_[k]] >= 0) out[slot[indices_[k]]] += factor * values_[k];
  }

  // out += factor * h * column j, entry by entry
  void add_weighted(int j, double factor, const VectorXd& h, VectorXd& out) const {
    factor *= scale(j);
    if (deconfounded()) out.array() -= h.array() * (nuisance_ * (factor * effects_.col(j))).array();
    if (starts_ == nullptr) {
      out.array() += factor * h.array() * column(j).array();
      return;
    }
    for (int k = starts_[j]; k < starts_[j + 1]; ++k) {
      const int i = indices_[k];
      out[i] += factor * h[i] * values_[k];
    }
  }

  // sum_i h_i x_ij^2
  double weighted_square(int j, const VectorXd& h) const {
    const double s = scale(j) * scale(j);
    if (deconfounded()) return s * expanded(j).cwiseAbs2().dot(h);
    if (starts_ == nullptr) return s * column(j).cwiseAbs2().dot(h);
    double sum = 0;
    for (int k = starts_[j]; k < starts_[j + 1]; ++k) sum += h[indices_[k]] * values_[k] * values_[k];
    return s * sum;
  }

  // X'v, by columns: a vectorised dot product per column is as fast as memory allows.
  void transpose_times(const VectorXd& v, VectorXd& out, int threads, Poll& poll) const {
    out.resize(cols_);
    const VectorXd part = nuisance_part(v);
    for_each(cols_, threads, poll, [&](int j) { out[j] = uncounted_dot(j, v, part); });
  }

  // The same for some of the columns; the rest of `out` stays as it is.
  void transpose_times(const VectorXd& v, const std::vector<int>& columns, VectorXd& out, int threads,
                       Poll& poll) const {
    const int count = static_cast<int>(columns.size());
    const VectorXd part = nuisance_part(v);
    for_each(count, threads, poll, [&](int k) {
      if (k + 2 < count) fetch(columns[k + 2]);
      out[columns[k]] = uncounted_dot(columns[k], v, part);
    });
  }

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

  Survey survey(int j, const VectorXd& v, const VectorXd& part) const {
    const Moments m = moments(j, v);
    const double removed = deconfounded() ? effects_.col(j).dot(part) : 0.0;
    const double mean_part = m.sum * m.sum / counted_rows_;
    const double rest = std::fmax(0.0, m.squares - mean_part) + 1e-14 * m.squares;
    const double size = std::fabs(scale(j));
    return {scale(j) * (m.dot - removed), size * std::sqrt(rest), size * std::sqrt(m.squares),
            std::isfinite(m.squares) || expanded(j).allFinite()};
  }

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

  Column column(int j) const {
    return Column(values_ + static_cast<std::ptrdiff_t>(j) * rows_, rows_);
  }

  double uncounted_dot(int j, const VectorXd& v, const VectorXd& part) const {
    const double removed = deconfounded() ? effects_.col(j).dot(part) : 0.0;
    return scale(j) * (raw_dot(j, v) - removed);
  }

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

  double raw_dot(int j, const VectorXd& v) const {
    if (starts_ == nullptr) return column(j).dot(v);
    double sum = 0;
    for (int k = starts_[j]; k < starts_[j + 1]; ++k) sum += values_[k] * v[indices_[k]];
    return sum;
  }

  Moments moments(int j, const VectorXd& v) const {
    if (deconfounded()) {
      VectorXd x = expanded(j);
      if (used_.size() > 0) x.array() *= used_.array();
      return {raw_dot(j, v), x.sum(), x.squaredNorm()};
    }
    if (starts_ == nullptr) {
      const double* x = values_ + static_cast<std::ptrdiff_t>(j) * rows_;
      return used_.size() > 0 ? dense_moments<true>(x, v) : dense_moments<false>(x, v);
    }
    Moments m;
    for (int k = starts_[j]; k < starts_[j + 1]; ++k) {
      const double x = values_[k], counted = used_.size() > 0 ? used_[indices_[k]] * x : x;
      m.dot += x * v[indices_[k]];
      m.sum += counted;
      m.squares += counted * counted;
    }
    return m;
  }

  // Computes all three in one pass, limited only by memory bandwidth.
  template <bool kSomeRows>
  Moments dense_moments(const double* x, const VectorXd& v) const {
    Eigen::Array4d dot = Eigen::Array4d::Zero(), sum = dot, squares = dot;
    int i = 0;
    for (; i + 4 <= rows_; i += 4) {
      Eigen::Array4d four = Packet(x + i);
      dot += four * Packet(v.data() + i);
      if (kSomeRows) four *= Packet(used_.data() + i);
      sum += four;
      squares += four * four;
    }
    Moments m{dot.sum(), sum.sum(), squares.sum()};
    for (; i < rows_; ++i) {
      const double counted = kSomeRows ? used_[i] * x[i] : x[i];
      m.dot += x[i] * v[i];
      m.sum += counted;
      m.squares += counted * counted;
    }
    return m;
  }

  bool deconfounded() const { return effects_.size() > 0; }

  // Column j as a vector, before scaling.
  VectorXd expanded(int j) const {
    VectorXd x = VectorXd::Zero(rows_);
    if (starts_ == nullptr)
      x = column(j);
    else
      for (int k = starts_[j]; k < starts_[j + 1]; ++k) x[indices_[k]] = values_[k];
    if (deconfounded()) x.noalias() -= nuisance_ * effects_.col(j);
    return x;
  }

  // Two passes, because one pass suffers from cancellation if the mean is much larger than the
  // deviation.
  double deviation(int j, const VectorXd& omega) const {
    const VectorXd x = expanded(j);
    const double mean = x.dot(omega);
    const double sd = std::sqrt((x.array() - mean).square().matrix().dot(omega));
    return sd > 1e-13 * std::fabs(mean) ? sd : 0.0;
  }

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
