#include "data/design.hpp"

#include <algorithm>
#include <array>
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

void Design::deconfound(const MatrixXd& nuisance, const MatrixXd& estimator) {
  std::vector<VectorXd> row(estimator.rows());
  for (std::size_t k = 0; k < row.size(); ++k) row[k] = estimator.row(k);
  MatrixXd effects(estimator.rows(), cols());
  for (int j = 0; j < cols(); ++j)
    for (std::size_t k = 0; k < row.size(); ++k) effects(k, j) = storage_->dot(j, row[k]);
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
  if (!deconfounded() && used_.size() == 0) {  // by far the most frequent case
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

VectorXd Design::nuisance_part(const VectorXd& v) const {
  return deconfounded() ? VectorXd(nuisance_.transpose() * v) : VectorXd();
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

// Moments of the columns before scaling; the dot is that of the column as it is stored.
void Design::moments(int begin, int end, const VectorXd& v, Storage::Moments* out) const {
  if (!deconfounded()) return storage_->moments(begin, end, v, used_, out);
  for (int j = begin; j < end; ++j) {
    VectorXd x = expanded(j);
    if (used_.size() > 0) x.array() *= used_.array();
    out[j - begin] = {storage_->dot(j, v), x.sum(), x.squaredNorm()};
  }
}

Design::Survey Design::survey(int j, const Storage::Moments& moments, const VectorXd& part) const {
  const double mean_part = moments.sum * moments.sum / counted_rows_;
  const double rest = std::fmax(0.0, moments.squares - mean_part) + 1e-14 * moments.squares;
  const double size = std::fabs(scale(j));
  return {seen_dot(j, moments.dot, part), size * std::sqrt(rest),
          size * std::sqrt(moments.squares),
          std::isfinite(moments.squares) || expanded(j).allFinite()};
}

// The products of columns as they are stored go through a buffer: a list may name a column twice.
void Design::products(const ColumnList& columns, const VectorXd& v, VectorXd& out, int threads,
                      Poll& poll) const {
  const VectorXd part = nuisance_part(v);
  in_batches(columns.size(), threads, poll, [&](int begin, int end) {
    std::array<double, kMostInBatch> stored;
    storage_->dots(columns, begin, end, v, stored.data());
    for (int k = begin; k < end; ++k) {
      const int j = columns[k];
      out[j] = seen_dot(j, stored[static_cast<std::size_t>(k - begin)], part);
    }
  });
}

// Column j as a vector, before scaling.
VectorXd Design::expanded(int j) const {
  VectorXd x;
  const Storage::Column stored = storage_->column(j, x);
  if (stored.data() != x.data()) x = stored;
  if (deconfounded()) x.noalias() -= nuisance_ * effects_.col(j);
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
