#include "data/design.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace n2gfl {

Design Design::dense(const double* values, int rows, int cols) {
  Design x(rows, cols);
  x.values_ = values;
  return x;
}

Design Design::sparse(const int* starts, const int* indices, const double* values, int rows,
                      int cols) {
  Design x = dense(values, rows, cols);
  x.starts_ = starts;
  x.indices_ = indices;
  return x;
}

void Design::deconfound(const MatrixXd& nuisance, const MatrixXd& estimator) {
  std::vector<VectorXd> row(estimator.rows());
  for (std::size_t k = 0; k < row.size(); ++k) row[k] = estimator.row(k);
  MatrixXd effects(estimator.rows(), cols_);
  for (int j = 0; j < cols_; ++j)
    for (std::size_t k = 0; k < row.size(); ++k) effects(k, j) = raw_dot(j, row[k]);
  nuisance_ = nuisance;
  effects_ = std::move(effects);
}

void Design::use_rows(const VectorXd& weights) {
  used_.resize(0);
  if ((weights.array() == 0).any()) used_ = (weights.array() > 0).cast<double>();
  counted_rows_ = used_.size() > 0 ? used_.sum() : rows_;
}

void Design::standardise(const VectorXd& omega) {
  scale_.resize(cols_);
  for (int j = 0; j < cols_; ++j) {
    const double sd = deviation(j, omega);
    scale_[j] = sd > 0 ? 1.0 / sd : 0.0;
  }
}

double Design::dot(int j, const VectorXd& v, const VectorXd& part) const {
  dots_.add(1);
  return uncounted_dot(j, v, part);
}

void Design::fetch(int j) const {
#ifdef __GNUC__
  if (starts_ != nullptr) return;
  const double* x = values_ + static_cast<std::ptrdiff_t>(j) * rows_;
  for (int i = 0; i < std::min(rows_, kFetched); i += kFetchedAtOnce) __builtin_prefetch(x + i);
#else
  (void)j;
#endif
}

void Design::copy_column(int j, bool centred, double factor, float* out, int length) const {
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

VectorXd Design::nuisance_part(const VectorXd& v) const {
  return deconfounded() ? VectorXd(nuisance_.transpose() * v) : VectorXd();
}

void Design::add(int j, double factor, VectorXd& out) const {
  factor *= scale(j);
  if (deconfounded()) out.noalias() -= nuisance_ * (factor * effects_.col(j));
  if (starts_ == nullptr) {
    out += factor * column(j);
    return;
  }
  for (int k = starts_[j]; k < starts_[j + 1]; ++k) out[indices_[k]] += factor * values_[k];
}

void Design::add_at(int j, double factor, const std::vector<int>& rows,
                    const std::vector<int>& slot, double* out) const {
  factor *= scale(j);
  if (starts_ == nullptr) {
    const double* x = values_ + static_cast<std::ptrdiff_t>(j) * rows_;
    for (std::size_t k = 0; k < rows.size(); ++k) out[k] += factor * x[rows[k]];
    return;
  }
  for (int k = starts_[j]; k < starts_[j + 1]; ++k)
    if (slot[indices_[k]] >= 0) out[slot[indices_[k]]] += factor * values_[k];
}

void Design::add_weighted(int j, double factor, const VectorXd& h, VectorXd& out) const {
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

double Design::weighted_square(int j, const VectorXd& h) const {
  const double s = scale(j) * scale(j);
  if (deconfounded()) return s * expanded(j).cwiseAbs2().dot(h);
  if (starts_ == nullptr) return s * column(j).cwiseAbs2().dot(h);
  double sum = 0;
  for (int k = starts_[j]; k < starts_[j + 1]; ++k) sum += h[indices_[k]] * values_[k] * values_[k];
  return s * sum;
}

void Design::transpose_times(const VectorXd& v, VectorXd& out, int threads, Poll& poll) const {
  out.resize(cols_);
  const VectorXd part = nuisance_part(v);
  for_each(cols_, threads, poll, [&](int j) { out[j] = uncounted_dot(j, v, part); });
}

void Design::transpose_times(const VectorXd& v, const std::vector<int>& columns, VectorXd& out,
                             int threads, Poll& poll) const {
  const int count = static_cast<int>(columns.size());
  const VectorXd part = nuisance_part(v);
  for_each(count, threads, poll, [&](int k) {
    if (k + 2 < count) fetch(columns[k + 2]);
    out[columns[k]] = uncounted_dot(columns[k], v, part);
  });
}

Design::Survey Design::survey(int j, const VectorXd& v, const VectorXd& part) const {
  const Moments m = moments(j, v);
  const double removed = deconfounded() ? effects_.col(j).dot(part) : 0.0;
  const double mean_part = m.sum * m.sum / counted_rows_;
  const double rest = std::fmax(0.0, m.squares - mean_part) + 1e-14 * m.squares;
  const double size = std::fabs(scale(j));
  return {scale(j) * (m.dot - removed), size * std::sqrt(rest), size * std::sqrt(m.squares),
          std::isfinite(m.squares) || expanded(j).allFinite()};
}

Design::Column Design::column(int j) const {
  return Column(values_ + static_cast<std::ptrdiff_t>(j) * rows_, rows_);
}

double Design::uncounted_dot(int j, const VectorXd& v, const VectorXd& part) const {
  const double removed = deconfounded() ? effects_.col(j).dot(part) : 0.0;
  return scale(j) * (raw_dot(j, v) - removed);
}

double Design::raw_dot(int j, const VectorXd& v) const {
  if (starts_ == nullptr) return column(j).dot(v);
  double sum = 0;
  for (int k = starts_[j]; k < starts_[j + 1]; ++k) sum += values_[k] * v[indices_[k]];
  return sum;
}

Design::Moments Design::moments(int j, const VectorXd& v) const {
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
Design::Moments Design::dense_moments(const double* x, const VectorXd& v) const {
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

// Column j as a vector, before scaling.
VectorXd Design::expanded(int j) const {
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
double Design::deviation(int j, const VectorXd& omega) const {
  const VectorXd x = expanded(j);
  const double mean = x.dot(omega);
  const double sd = std::sqrt((x.array() - mean).square().matrix().dot(omega));
  return sd > 1e-13 * std::fabs(mean) ? sd : 0.0;
}

}  // namespace n2gfl
