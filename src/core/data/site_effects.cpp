#include "data/site_effects.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace n2gfl {

SiteEffects::SiteEffects(Sites sites, int cols)
    : sites_(std::move(sites)), scale_(MatrixXd::Ones(sites_.count + 1, cols)),
      shift_(MatrixXd::Zero(sites_.count + 1, cols)),
      slopes_(MatrixXd::Zero(sites_.preserved.cols(), cols)), mean_(VectorXd::Zero(cols)),
      sd_(VectorXd::Zero(cols)) {
  order_rows();
  project_covariates();
}

void SiteEffects::order_rows() {
  starts_.assign(1, 0);
  for (int s = 0; s < sites_.count; ++s) {
    for (std::size_t i = 0; i < sites_.used.size(); ++i)
      if (sites_.used[i] && sites_.of_row[i] == s) rows_.push_back(static_cast<int>(i));
    starts_.push_back(static_cast<int>(rows_.size()));
  }
}

// Least squares on indicators of the sites and z is least squares on z less its sites' means.
void SiteEffects::project_covariates() {
  const auto q = sites_.preserved.cols();
  site_means_.resize(sites_.count, q);
  centred_.resize(static_cast<Eigen::Index>(rows_.size()), q);
  for (std::size_t k = 0; k < rows_.size(); ++k)
    centred_.row(static_cast<Eigen::Index>(k)) = sites_.preserved.row(rows_[k]);
  for (int s = 0; s < sites_.count; ++s) {
    auto block = centred_.middleRows(begin(s), size(s));
    site_means_.row(s) = block.colwise().mean();
    block.rowwise() -= site_means_.row(s);
  }
  if (q == 0) return;
  const Eigen::HouseholderQR<MatrixXd> qr(centred_);
  const MatrixXd basis = qr.householderQ() * MatrixXd::Identity(centred_.rows(), q);
  estimator_ = qr.matrixQR().topLeftCorner(q, q).triangularView<Eigen::Upper>().solve(
      basis.transpose());
}

void SiteEffects::see(int j, const VectorXd& x) {
  VectorXd rest(static_cast<Eigen::Index>(rows_.size())), means(sites_.count);
  for (std::size_t k = 0; k < rows_.size(); ++k) rest[static_cast<Eigen::Index>(k)] = x[rows_[k]];
  for (int s = 0; s < sites_.count; ++s) {
    auto part = rest.segment(begin(s), size(s));
    means[s] = part.mean();
    part.array() -= means[s];
  }
  if (!varies(rest, means)) return;
  if (slopes_.rows() > 0) {
    slopes_.col(j) = estimator_ * rest;
    rest.noalias() -= centred_ * slopes_.col(j);
    means.noalias() -= site_means_ * slopes_.col(j);
  }
  VectorXd squares(sites_.count), sizes(sites_.count);
  for (int s = 0; s < sites_.count; ++s) {
    squares[s] = rest.segment(begin(s), size(s)).squaredNorm();
    sizes[s] = size(s);
  }
  const int r = sites_.reference;
  const double variance = r >= 0 ? squares[r] / sizes[r] : squares.sum() / sizes.sum();
  if (!(variance > 0) || !std::isfinite(variance)) return;
  mean_[j] = r >= 0 ? means[r] : means.dot(sizes) / sizes.sum();
  sd_[j] = std::sqrt(variance);
  shift_.col(j).head(sites_.count) = (means.array() - mean_[j]) / sd_[j];
  scale_.col(j).head(sites_.count) = squares.array() / (sizes.array() - 1) / variance;
}

// Like a constant column in Design::standardise(). A column that is constant within a site, such as
// a voxel outside of the brains there, has no scale there, and is left as it is.
bool SiteEffects::varies(const VectorXd& values, const VectorXd& means) const {
  for (int s = 0; s < sites_.count; ++s) {
    const double least = 1e-13 * std::fabs(means[s]);
    if (values.segment(begin(s), size(s)).squaredNorm() <= size(s) * least * least) return false;
  }
  return true;
}

void SiteEffects::estimate() {
  std::vector<int> columns;
  for (int j = 0; j < sd_.size(); ++j)
    if (sd_[j] > 0) columns.push_back(j);
  if (columns.size() < 2) throw NoSiteVariance();
  for (int s = 0; s < sites_.count; ++s)
    if (s != sites_.reference) shrink(s, columns);
  finish();
}

namespace {

struct MeanVariance {
  double mean, variance;
};

template <class Value>
MeanVariance mean_variance(const std::vector<int>& columns, const Value& value) {
  const auto count = static_cast<double>(columns.size());
  double mean = 0, squares = 0;
  for (int j : columns) mean += value(j) / count;
  for (int j : columns) squares += (value(j) - mean) * (value(j) - mean);
  return {mean, squares / (count - 1)};
}

}  // namespace

// The mode of the posterior of all columns' g and d at one site, by fixed point iteration. It stops
// when no value has changed by more than a share of 1e-4, counted as in the R package sva (changes
// of negative g do not count), so that both take the same number of steps and agree to rounding.
void SiteEffects::shrink(int s, const std::vector<int>& columns) {
  constexpr double kChange = 1e-4;
  constexpr int kMostSteps = 1000;
  const auto location = [&](int j) { return shift_(s, j); };
  const auto spread = [&](int j) { return scale_(s, j); };
  const MeanVariance g_prior = mean_variance(columns, location);
  const MeanVariance d_prior = mean_variance(columns, spread);
  const double n = size(s), m = d_prior.mean, t2 = g_prior.variance;
  const double a = 2 + m * m / d_prior.variance, b = m * (a - 1);
  std::vector<double> g, d;
  for (int j : columns) {
    g.push_back(location(j));
    d.push_back(spread(j));
  }
  double change = 2 * kChange;
  for (int step = 0; step < kMostSteps && change > kChange; ++step) {
    change = 0;
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const double g_hat = location(columns[k]), d_hat = spread(columns[k]);
      const double g_new = (t2 * n * g_hat + d[k] * g_prior.mean) / (t2 * n + d[k]);
      const double squares = (n - 1) * d_hat + n * (g_hat - g_new) * (g_hat - g_new);
      const double d_new = std::isfinite(a) ? (0.5 * squares + b) / (n / 2 + a - 1) : m;
      change = std::max({change, std::fabs(g_new - g[k]) / g[k], std::fabs(d_new - d[k]) / d[k]});
      g[k] = g_new;
      d[k] = d_new;
    }
  }
  for (std::size_t k = 0; k < columns.size(); ++k) {
    shift_(s, columns[k]) = g[k];
    scale_(s, columns[k]) = d[k];
  }
}

void SiteEffects::finish() {
  for (int j = 0; j < sd_.size(); ++j) {
    const bool known = sd_[j] > 0;
    for (int s = 0; s < sites_.count; ++s) {
      const bool changes = known && s != sites_.reference;
      const double scale = changes ? 1 / std::sqrt(scale_(s, j)) : 1.0;
      shift_(s, j) = changes ? mean_[j] * (1 - scale) - scale * sd_[j] * shift_(s, j) : 0.0;
      scale_(s, j) = scale;
    }
  }
}

void SiteEffects::scale_rows(int j, VectorXd& v) const {
  const double* scale = scale_.col(j).data();
  const int* site = sites_.of_row.data();
  double* value = v.data();
  const auto rows = static_cast<int>(v.size());
  for (int i = 0; i < rows; ++i) value[i] *= scale[site[i]];
}

void SiteEffects::add_shift(int j, double factor, VectorXd& out) const {
  const auto rows = static_cast<int>(out.size());
  for (int i = 0; i < rows; ++i) out[i] += factor * shift_(site(i), j);
  if (slopes_.rows() == 0) return;
  const VectorXd effect = sites_.preserved * slopes_.col(j);
  for (int i = 0; i < rows; ++i) out[i] += factor * (1 - scale_(site(i), j)) * effect[i];
}

// For each site the sum of v, then for each covariate the sums of z v.
VectorXd SiteEffects::sums(const VectorXd& v) const {
  const int sites = sites_.count + 1;
  MatrixXd sums = MatrixXd::Zero(sites, 1 + sites_.preserved.cols());
  for (int i = 0; i < static_cast<int>(v.size()); ++i) {
    sums(site(i), 0) += v[i];
    for (Eigen::Index k = 0; k < sites_.preserved.cols(); ++k)
      sums(site(i), k + 1) += sites_.preserved(i, k) * v[i];
  }
  return Eigen::Map<const VectorXd>(sums.data(), sums.size());
}

double SiteEffects::shift_dot(int j, const VectorXd& sums) const {
  const auto sites = scale_.rows();
  double dot = shift_.col(j).dot(sums.head(sites));
  for (Eigen::Index k = 0; k < slopes_.rows(); ++k) {
    const auto of_site = sums.segment((k + 1) * sites, sites).array();
    dot += slopes_(k, j) * ((1 - scale_.col(j).array()) * of_site).sum();
  }
  return dot;
}

}  // namespace n2gfl
