#include "solve/region_gram.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "parallel.hpp"

namespace n2gfl {

MatrixXd weighted_gram(const MatrixXd& columns, const VectorXd& h, int threads) {
  constexpr Eigen::Index kPanel = 32;
  const Eigen::Index size = columns.cols(), panels = (size + kPanel - 1) / kPanel;
  MatrixXd gram(size, size);
  const double cost = 0.5 * static_cast<double>(columns.rows() * kPanel * size);
  parallel_for(panels, threads, cost, [&](std::ptrdiff_t p) {
    const Eigen::Index begin = p * kPanel, width = std::min(kPanel, size - begin);
    const MatrixXd weighted = h.asDiagonal() * columns.middleCols(begin, width);
    gram.block(begin, begin, size - begin, width).noalias() =
        columns.rightCols(size - begin).transpose() * weighted;
  });
  gram.triangularView<Eigen::StrictlyUpper>() = gram.transpose();
  return gram;
}

const MatrixXd& RegionGram::of(const Regions& regions, const MatrixXd& columns,
                               const VectorXd& curvature) {
  const std::vector<int> fresh = move_known(regions);
  if (2 * static_cast<int>(fresh.size()) > regions.size())
    fill_all(columns, curvature);
  else
    fill(fresh, columns, curvature);
  return gram_;
}

void RegionGram::merge(const std::vector<int>& group, const Regions& merged) {
  MatrixXd rows = MatrixXd::Zero(merged.size(), gram_.cols());
  for (std::size_t k = 0; k < group.size(); ++k)
    if (group[k] >= 0) rows.row(group[k]) += gram_.row(static_cast<Eigen::Index>(k));
  gram_.setZero(merged.size(), merged.size());
  for (std::size_t k = 0; k < group.size(); ++k)
    if (group[k] >= 0) gram_.col(group[k]) += rows.col(static_cast<Eigen::Index>(k));
  remember(merged);
}

void RegionGram::remember(const Regions& regions) {
  content_.clear();
  for (int k = 0; k < regions.size(); ++k) content_[regions[k].content] = k;
}

// Moves known entries to their new places. Returns the regions without entries.
std::vector<int> RegionGram::move_known(const Regions& regions) {
  std::vector<int> fresh, known, old;
  for (int k = 0; k < regions.size(); ++k) {
    const auto found = content_.find(regions[k].content);
    if (found == content_.end()) {
      fresh.push_back(k);
    } else {
      known.push_back(k);
      old.push_back(found->second);
    }
  }
  MatrixXd moved(regions.size(), regions.size());
  for (std::size_t b = 0; b < known.size(); ++b)
    for (std::size_t a = 0; a < known.size(); ++a)
      moved(known[a], known[b]) = gram_(old[a], old[b]);
  gram_.swap(moved);
  remember(regions);
  return fresh;
}

void RegionGram::fill(const std::vector<int>& fresh, const MatrixXd& columns,
                      const VectorXd& curvature) {
  if (fresh.empty()) return;
  MatrixXd weighted(columns.rows(), static_cast<Eigen::Index>(fresh.size()));
  for (std::size_t h = 0; h < fresh.size(); ++h)
    weighted.col(static_cast<Eigen::Index>(h)) = curvature.cwiseProduct(columns.col(fresh[h]));
  const MatrixXd products = columns.transpose() * weighted;
  for (std::size_t h = 0; h < fresh.size(); ++h) {
    gram_.col(fresh[h]) = products.col(static_cast<Eigen::Index>(h));
    gram_.row(fresh[h]) = products.col(static_cast<Eigen::Index>(h)).transpose();
  }
}

void RegionGram::fill_all(const MatrixXd& columns, const VectorXd& curvature) {
  gram_ = weighted_gram(columns, curvature, threads_);
}

}  // namespace n2gfl
