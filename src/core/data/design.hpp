// A view of X, whatever the storage of its values. X is never copied, centred or scaled in memory:
// all that follows is applied on the fly. Each step works on what the steps before it have made of
// X, so they must be called in this order; each of them may be left out:
//   scale_rows()    row i times f_i
//   harmonise()     row i of site s times scale_sj, plus a shift: see site_effects.hpp
//   deconfound()    X - Z P X, that is, x_j - Z b_j for column j, with b_j = P x_j stored
//   standardise()   column j divided by its standard deviation
//   mirror()        all of it times -1, for sign = "nonpositive"
// Copies of a view share the storage.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "data/site_effects.hpp"
#include "data/storage.hpp"
#include "parallel.hpp"
#include "poll.hpp"
#include "types.hpp"

namespace n2gfl {

class Design {
 public:
  explicit Design(std::shared_ptr<const Storage> storage);

  static Design dense(const double* values, int rows, int cols);
  static Design dense(const float* values, int rows, int cols);

  // Compressed columns as in Matrix::dgCMatrix: starts (cols + 1), row indices, values.
  static Design sparse(const int* starts, const int* indices, const double* values, int rows,
                       int cols);

  int rows() const { return storage_->rows(); }
  int cols() const { return storage_->cols(); }
  double counted_rows() const { return counted_rows_; }  // rows with weight
  double scale(int j) const { return scale_.size() > 0 ? mirror_ * scale_[j] : mirror_; }

  // What harmonise() has estimated, or null.
  const SiteEffects* sites() const { return sites_.get(); }

  // The b_j as columns; empty if no nuisance effects are removed.
  const MatrixXd& effects() const { return effects_; }

  void mirror() { mirror_ = -mirror_; }

  void scale_rows(const VectorXd& factors) { factors_ = factors; }

  // Removes what the effects of the sites are in the rows that `sites` says to use.
  void harmonise(Sites sites, int threads, Poll& poll);

  // Z: rows x q, P: q x rows. Rows in which P is zero do not influence what is removed.
  void deconfound(const MatrixXd& nuisance, const MatrixXd& estimator);

  // Rows without weight are left out of the norms, so that held-out rows cannot influence
  // anything.
  void use_rows(const VectorXd& weights);

  // Divides columns by their weighted standard deviation; a constant column becomes zero.
  void standardise(const VectorXd& omega);

  // What products of one v with many columns share.
  struct Shared {
    VectorXd scaled;    // v times the factors of the rows; empty if there are none
    VectorXd sites;     // sums for the shifts of the sites
    VectorXd nuisance;  // Z'v
  };
  Shared shared(const VectorXd& v) const;

  double dot(int j, const VectorXd& v) const { return dot(j, v, shared(v)); }

  // The same for many columns and one v, whose shared() is passed.
  double dot(int j, const VectorXd& v, const Shared& shared) const {
    dots_.add(1);
    return seen_dot(j, stored_dot(j, v, shared), shared);
  }

  // The number of passes over all columns in products with a vector: X'v counts as one.
  double passes() const { return static_cast<double>(dots_.value()) / std::max(cols(), 1); }

  void count_products(std::size_t products) const { dots_.add(static_cast<std::int64_t>(products)); }

  bool gains_from_copies() const { return storage_->gains_from_copies(); }

  // out = factor * column j in single precision, filled up with zeros to `length`; less its mean if
  // `centred`. Rows without weight are zero.
  void copy_column(int j, bool centred, double factor, float* out, int length) const;

  // out += factor * column j
  void add(int j, double factor, VectorXd& out) const {
    factor *= scale(j);
    if (is_plain()) return storage_->add(j, factor, out);
    add_shifts(j, factor, out);
    if (!has_factors()) return storage_->add(j, factor, out);
    storage_->add_weighted(j, factor, row_factors(j), out);
  }

  // Column j before it is standardised and mirrored.
  VectorXd expanded(int j) const;

  // out += the sum of the columns
  void add_sum(const std::vector<int>& columns, VectorXd& out, Poll& poll) const;

  // out += X v; reads only the columns with nonzero v.
  void add_times(const VectorXd& v, VectorXd& out, Poll& poll) const;

  // out[k] += factor * column j at rows[k]; `slot` maps every row to its k, or to -1.
  void add_at(int j, double factor, const std::vector<int>& rows, const std::vector<int>& slot,
              double* out) const;

  // out += factor * h * column j, entry by entry
  void add_weighted(int j, double factor, const VectorXd& h, VectorXd& out) const {
    if (is_plain()) return storage_->add_weighted(j, factor * scale(j), h, out);
    out.array() += factor * scale(j) * h.array() * expanded(j).array();
  }

  // sum_i h_i x_ij^2
  double weighted_square(int j, const VectorXd& h) const {
    const double square = is_plain() ? storage_->weighted_square(j, h)
                                     : expanded(j).cwiseAbs2().dot(h);
    return scale(j) * scale(j) * square;
  }

  // X'v, by columns: a vectorised dot product per column is as fast as memory allows.
  void transpose_times(const VectorXd& v, VectorXd& out, int threads, Poll& poll) const;

  // The same for some of the columns; the rest of `out` stays as it is.
  void transpose_times(const VectorXd& v, const std::vector<int>& columns, VectorXd& out,
                       int threads, Poll& poll) const;

  // Calls seen(j, survey) for every column, by several threads.
  template <class Seen>
  void survey_all(const VectorXd& v, int threads, Poll& poll, const Seen& seen) const {
    const Shared shared = this->shared(v);
    in_batches(cols(), threads, poll, [&](int begin, int end) {
      std::array<Storage::Moments, kMostInBatch> stored;
      moments(begin, end, v, shared, stored.data());
      for (int j = begin; j < end; ++j)
        seen(j, survey(j, stored[static_cast<std::size_t>(j - begin)], shared));
    });
  }

  // Are all values finite? One pass over all columns.
  bool all_finite(int threads, Poll& poll) const;

  // What a model needs to know about column j, computed in one pass over it: x_j'v, two bounds
  // that hold for every u that is zero in rows without weight, and whether the column is finite.
  struct Survey {
    double dot;
    double centred;  // bound of |x_j - mean|, hence of x_j'u / |u| for u that sums to zero
    double plain;    // |x_j|
    bool finite;     // all values are finite
  };

  Survey survey(int j, const VectorXd& v) const {
    const Shared shared = this->shared(v);
    Storage::Moments stored;
    moments(j, j + 1, v, shared, &stored);
    return survey(j, stored, shared);
  }

 private:
  static constexpr int kBetweenPolls = 1 << 23;  // multiplications, some milliseconds
  static constexpr int kPerBatch = 1 << 12;      // multiplications: a virtual call costs nothing
  static constexpr int kMostInBatch = 64;        // columns

  // Calls work(begin, end) for batches of 0, ..., count - 1. Polls now and then: not within a
  // loop, where an exception would end the program.
  template <class Work>
  void in_batches(int count, int threads, Poll& poll, const Work& work) const {
    const int size = std::max(1, std::min(kMostInBatch, kPerBatch / std::max(rows(), 1)));
    const int between = std::max(4096, kBetweenPolls / std::max(rows(), 1));
    for (int first = 0; first < count; first += between) {
      const int last = first + std::min(count - first, between);
      parallel_for((last - first + size - 1) / size, threads, static_cast<double>(size) * rows(),
                   [&](std::ptrdiff_t batch) {
                     const int begin = first + static_cast<int>(batch) * size;
                     work(begin, std::min(last, begin + size));
                   });
      poll.now();
    }
    dots_.add(count);
  }

  void products(const ColumnList& columns, const VectorXd& v, VectorXd& out, int threads,
                Poll& poll) const;
  void moments(int begin, int end, const VectorXd& v, const Shared& shared,
               Storage::Moments* out) const;
  Survey survey(int j, const Storage::Moments& moments, const Shared& shared) const;

  // Before scaling and mirroring, column j is the stored one, if is_plain(); otherwise the stored
  // one times row_factors(), if has_factors(), plus its shifts.
  bool is_plain() const { return !has_factors() && !deconfounded(); }
  bool has_factors() const { return factors_.size() > 0 || sites_; }
  bool deconfounded() const { return effects_.size() > 0; }
  VectorXd row_factors(int j) const;
  void add_shifts(int j, double factor, VectorXd& out) const;
  double deviation(int j, const VectorXd& omega) const;

  // x_j'v of the column as it is stored, times the factors of the rows.
  double stored_dot(int j, const VectorXd& v, const Shared& shared) const {
    const VectorXd& scaled = shared.scaled.size() > 0 ? shared.scaled : v;
    if (!sites_) return storage_->dot(j, scaled);
    VectorXd of_sites = scaled;
    sites_->scale_rows(j, of_sites);
    return storage_->dot(j, of_sites);
  }

  // x_j'v of the view, from stored_dot().
  double seen_dot(int j, double stored, const Shared& shared) const {
    if (sites_) stored += sites_->shift_dot(j, shared.sites);
    if (deconfounded()) stored -= effects_.col(j).dot(shared.nuisance);
    return scale(j) * stored;
  }

  std::shared_ptr<const Storage> storage_;
  double mirror_ = 1.0;
  mutable SharedCount dots_;
  VectorXd scale_;
  VectorXd used_;                // 1 where a row has weight, else 0; empty if all rows have
  double counted_rows_;          // number of rows with weight
  VectorXd factors_;             // of the rows; empty if there are none
  std::shared_ptr<const SiteEffects> sites_;
  MatrixXd nuisance_, effects_;  // Z, and the b_j as columns
};

}  // namespace n2gfl
