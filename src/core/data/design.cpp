#include "data/design.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "data/dense_storage.hpp"
#include "data/sparse_storage.hpp"

namespace n2gfl {

Design::Design(std::shared_ptr<const Storage> storage)
    : storage_(std::move(storage)), counted_rows_(storage_->rows()) {}

Design Design::dense(const double* values, int rows, int cols) {
  return Design(std::make_shared<DenseStorage<double>>(values, rows, cols));
}

Design Design::dense(const float* values, int rows, int cols) {
  return Design(std::make_shared<DenseStorage<float>>(values, rows, cols));
}

Design Design::sparse(const int* starts, const int* indices, const double* values, int rows,
                      int cols) {
  return Design(std::make_shared<SparseStorage>(starts, indices, values, rows, cols));
}

void Design::harmonise(Sites sites, int threads, Poll& poll) {
  const auto effects = std::make_shared<SiteEffects>(std::move(sites), cols());
  in_batches(cols(), threads, poll, [&](int begin, int end) {
    for (int j = begin; j < end; ++j) effects->see(j, expanded(j));
  });
  effects->estimate();
  sites_ = effects;
}

void Design::deconfound(const MatrixXd& nuisance, const MatrixXd& estimator) {
  std::vector<VectorXd> row(estimator.rows());
  std::vector<Shared> of_row(row.size());
  for (std::size_t k = 0; k < row.size(); ++k) {
    row[k] = estimator.row(k);
    of_row[k] = shared(row[k]);
  }
  MatrixXd effects(estimator.rows(), cols());
  for (int j = 0; j < cols(); ++j)
    for (std::size_t k = 0; k < row.size(); ++k)
      effects(k, j) = seen_dot(j, stored_dot(j, row[k], of_row[k]), of_row[k]);
  nuisance_ = nuisance;
  effects_ = std::move(effects);
}

void Design::use_rows(const VectorXd& weights) {
  used_.resize(0);
  if ((weights.array() == 0).any()) used_ = (weights.array() > 0).cast<double>();
  counted_rows_ = used_.size() > 0 ? used_.sum() : rows();
}

void Design::standardise(const VectorXd& omega) {
  scale_.resize(cols());
  for (int j = 0; j < cols(); ++j) {
    const double sd = deviation(j, omega);
    scale_[j] = sd > 0 ? 1.0 / sd : 0.0;
  }
}

void Design::copy_column(int j, bool centred, double factor, float* out, int length) const {
  const double scaled = factor * scale(j);
  if (is_plain() && used_.size() == 0) {  // by far the most frequent case
    storage_->copy(j, centred, scaled, out);
  } else {
    Eigen::ArrayXd x = expanded(j);
    if (used_.size() > 0) x = (used_.array() > 0).select(x, 0.0);
    if (centred) x -= x.sum() / counted_rows_;
    if (used_.size() > 0) x *= used_.array();
    Eigen::Map<Eigen::ArrayXf>(out, rows()) = (scaled * x).cast<float>();
  }
  std::fill(out + rows(), out + length, 0.0f);
}

Design::Shared Design::shared(const VectorXd& v) const {
  Shared shared;
  if (factors_.size() > 0) shared.scaled = factors_.cwiseProduct(v);
  if (sites_) shared.sites = sites_->sums(v);
  if (deconfounded()) shared.nuisance = nuisance_.transpose() * v;
  return shared;
}

void Design::add_at(int j, double factor, const std::vector<int>& rows,
                    const std::vector<int>& slot, double* out) const {
  factor *= scale(j);
  if (is_plain()) return storage_->add_at(j, factor, rows, slot, out);
  const VectorXd x = expanded(j);
  for (std::size_t k = 0; k < rows.size(); ++k) out[k] += factor * x[rows[k]];
}

void Design::add_sum(const std::vector<int>& columns, VectorXd& out, Poll& poll) const {
  for (int j : columns) {
    add(j, 1.0, out);
    poll();
  }
}

void Design::add_times(const VectorXd& v, VectorXd& out, Poll& poll) const {
  for (int j = 0; j < cols(); ++j) {
    if (v[j] != 0) add(j, v[j], out);
    poll();
  }
}

void Design::transpose_times(const VectorXd& v, VectorXd& out, int threads, Poll& poll) const {
  out.resize(cols());
  products(ColumnList(cols()), v, out, threads, poll);
}

void Design::transpose_times(const VectorXd& v, const std::vector<int>& columns, VectorXd& out,
                             int threads, Poll& poll) const {
  products(ColumnList(columns), v, out, threads, poll);
}

bool Design::all_finite(int threads, Poll& poll) const {
  std::atomic<bool> all{true};
  survey_all(VectorXd::Zero(rows()), threads, poll, [&](int, const Survey& seen) {
    if (!seen.finite) all = false;
  });
  return all;
}

// Moments of the columns before scaling; the dot is stored_dot().
void Design::moments(int begin, int end, const VectorXd& v, const Shared& shared,
                     Storage::Moments* out) const {
  if (!sites_ && !deconfounded()) {
    if (factors_.size() == 0) return storage_->moments(begin, end, v, used_, out);
    // A row counts with its factor, or not at all.
    const VectorXd counted = used_.size() > 0 ? VectorXd(factors_.cwiseProduct(used_)) : factors_;
    return storage_->moments(begin, end, shared.scaled, counted, out);
  }
  for (int j = begin; j < end; ++j) {
    VectorXd x = expanded(j);
    if (used_.size() > 0) x.array() *= used_.array();
    out[j - begin] = {stored_dot(j, v, shared), x.sum(), x.squaredNorm()};
  }
}

Design::Survey Design::survey(int j, const Storage::Moments& moments, const Shared& shared) const {
  const double mean_part = moments.sum * moments.sum / counted_rows_;
  const double rest = std::fmax(0.0, moments.squares - mean_part) + 1e-14 * moments.squares;
  const double size = std::fabs(scale(j));
  return {seen_dot(j, moments.dot, shared), size * std::sqrt(rest),
          size * std::sqrt(moments.squares),
          std::isfinite(moments.squares) || expanded(j).allFinite()};
}

// The products of columns as they are stored go through a buffer: a list may name a column twice.
void Design::products(const ColumnList& columns, const VectorXd& v, VectorXd& out, int threads,
                      Poll& poll) const {
  const Shared shared = this->shared(v);
  const VectorXd& scaled = shared.scaled.size() > 0 ? shared.scaled : v;
  in_batches(columns.size(), threads, poll, [&](int begin, int end) {
    std::array<double, kMostInBatch> stored;
    if (!sites_) storage_->dots(columns, begin, end, scaled, stored.data());
    VectorXd of_sites;
    for (int k = begin; sites_ && k < end; ++k) {
      of_sites = scaled;
      sites_->scale_rows(columns[k], of_sites);
      storage_->dots(columns, k, k + 1, of_sites, &stored[static_cast<std::size_t>(k - begin)]);
    }
    for (int k = begin; k < end; ++k) {
      const int j = columns[k];
      out[j] = seen_dot(j, stored[static_cast<std::size_t>(k - begin)], shared);
    }
  });
}

// What the values of column j are multiplied by, if has_factors().
VectorXd Design::row_factors(int j) const {
  VectorXd factors = factors_.size() > 0 ? factors_ : VectorXd::Ones(rows());
  if (sites_) sites_->scale_rows(j, factors);
  return factors;
}

// out += factor * what is added to column j
void Design::add_shifts(int j, double factor, VectorXd& out) const {
  if (sites_) sites_->add_shift(j, factor, out);
  if (deconfounded()) out.noalias() -= nuisance_ * (factor * effects_.col(j));
}

VectorXd Design::expanded(int j) const {
  VectorXd x;
  const Storage::Column stored = storage_->column(j, x);
  if (stored.data() != x.data()) x = stored;
  if (factors_.size() > 0) x.array() *= factors_.array();
  if (sites_) sites_->scale_rows(j, x);
  add_shifts(j, 1.0, x);
  return x;
}

// Two passes, because one pass suffers from cancellation if the mean is much larger than the
// deviation.
double Design::deviation(int j, const VectorXd& omega) const {
  const VectorXd x = expanded(j);
  const double mean = x.dot(omega);
  const double sd = std::sqrt((x.array() - mean).square().matrix().dot(omega));
  return sd > 1e-13 * std::fabs(mean) ? sd : 0.0;
}

}  // namespace n2gfl
