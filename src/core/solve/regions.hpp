// The coefficients as a short list of regions: connected sets of features with one common value.
// All other features are zero. Regions are split into pieces and merged. Each stores the sum of
// its columns of X with the unpenalised part projected out, which is all that the contracted
// problem needs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "data/model.hpp"
#include "parallel.hpp"
#include "solve/active_set.hpp"

namespace n2gfl {

struct Region {
  std::vector<int> nodes;
  VectorXd column;      // sum of the nodes' columns, projected
  VectorXd projection;  // the part that was projected out, in the basis of the unpenalised part
  double value = 0;
  double factor = 0;    // sum of the nodes' penalty factors
  double tie = 0;       // of regions with equal values, the one with the larger tie should rise
  int content = 0;      // changes whenever the nodes change
  std::vector<int> border;  // arcs that leave the region
  int bordered = -1;    // the content that the border belongs to
  int losses = 0;       // pieces that left since the column was summed
  double lost = 0;      // the largest column among these
};

// A set of nodes that should leave its region (or the zero set) upwards or downwards.
struct Piece {
  std::vector<int> nodes;
  int parent = -1;
  int way = 1;
  double gain = 0;       // remaining excess: the slope of the objective
  double threshold = 0;  // sum of lambda1 * u_i
};

// columns' diag(h) columns. Only one triangle is computed, in panels of fixed width, so that the
// result does not depend on the number of threads.
inline MatrixXd weighted_gram(const MatrixXd& columns, const VectorXd& h, int threads) {
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

class Regions {
 public:
  static constexpr int kZeroSet = -1;

  explicit Regions(const Model& model) : model_(&model), of_(model.features(), kZeroSet) {}

  int size() const { return static_cast<int>(list_.size()); }
  int of(int node) const { return of_[node]; }
  const Region& operator[](int k) const { return list_[k]; }
  double value_at(int node) const { return of_[node] < 0 ? 0.0 : list_[of_[node]].value; }
  void set_fused(bool fused) {
    fused_ = fused;
    find_borders();
  }
  void set_tie(int k, double tie) { list_[k].tie = tie; }
  bool fused() const { return fused_; }

  void clear() {
    for (const Region& r : list_) assign(r.nodes, kZeroSet);
    list_.clear();
  }

  int nonzero() const {
    std::size_t count = 0;
    for (const Region& r : list_) count += r.nodes.size();
    return static_cast<int>(count);
  }

  VectorXd values() const {
    VectorXd u(size());
    for (int k = 0; k < size(); ++k) u[k] = list_[k].value;
    return u;
  }

  void set_values(const VectorXd& u, bool keep_ties) {
    for (int k = 0; k < size(); ++k) {
      list_[k].value = u[k];
      if (!keep_ties) list_[k].tie = 0;
    }
  }

  std::vector<double> ties() const {
    std::vector<double> tie(size());
    for (int k = 0; k < size(); ++k) tie[k] = list_[k].tie;
    return tie;
  }

  MatrixXd columns() const {
    MatrixXd x(model_->x.rows(), size());
    for (int k = 0; k < size(); ++k) x.col(k) = list_[k].column;
    return x;
  }

  // All penalty terms of the contracted problem: region against region, region against zero.
  std::vector<Kink> kinks(double lambda1, double lambda2) const {
    std::vector<std::pair<std::int64_t, double>> crossing;
    std::vector<double> to_zero(size());
    for (int k = 0; k < size(); ++k) {
      to_zero[k] = list_[k].factor == 0 ? 0.0 : lambda1 * list_[k].factor;
      if (fused_) collect_crossing(k, lambda2, crossing, to_zero[k]);
    }
    std::sort(crossing.begin(), crossing.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Kink> kinks;
    for (std::size_t h = 0; h < crossing.size(); ++h) {
      if (h > 0 && crossing[h].first == crossing[h - 1].first)
        kinks.back().weight += crossing[h].second;
      else
        kinks.push_back({static_cast<int>(crossing[h].first / size()),
                         static_cast<int>(crossing[h].first % size()), crossing[h].second});
    }
    for (int k = 0; k < size(); ++k) kinks.push_back({k, ContractedProblem::kZero, to_zero[k]});
    return kinks;
  }

  // Merges the regions of each group; the regions of group -1 join the zero set.
  void merge(const std::vector<int>& group, int groups, const VectorXd& value) {
    std::vector<Region> merged(groups);
    for (int k = 0; k < size(); ++k) {
      if (group[k] < 0) {
        assign(list_[k].nodes, kZeroSet);
        continue;
      }
      Region& target = merged[group[k]];
      if (target.nodes.empty()) {
        target = std::move(list_[k]);
        target.value = value[k];
        target.tie = 0;
      } else {
        absorb(target, list_[k]);
      }
    }
    list_ = std::move(merged);
    for (int k = 0; k < size(); ++k) assign(list_[k].nodes, k);
    find_borders();
  }

  // Every piece becomes a region with the value of its parent; the rest of a parent is split into
  // its connected parts.
  void split(std::vector<Piece>& pieces) {
    std::vector<int> parents;
    for (Piece& piece : pieces) {
      const int parent = piece.parent;
      if (parent >= 0) parents.push_back(parent);
      append(std::move(piece.nodes), parent < 0 ? 0.0 : list_[parent].value, piece.way);
      if (parent >= 0) take_off(list_[parent], list_.back());
    }
    std::sort(parents.begin(), parents.end());
    parents.erase(std::unique(parents.begin(), parents.end()), parents.end());
    for (int parent : parents) rebuild(parent);
    drop_empty();
    find_borders();
  }

  // The connected set of nodes around `start`; `inside(node)` must be true until `take(node)` is
  // called.
  template <class Inside, class Take>
  std::vector<int> grow(int start, Inside inside, Take take) const {
    std::vector<int> part(1, start);
    take(start);
    for (std::size_t h = 0; fused_ && h < part.size(); ++h) {
      const int i = part[h];
      for (int a = model_->graph.begin(i); a < model_->graph.end(i); ++a) {
        const int j = model_->graph.head(a);
        if (!inside(j)) continue;
        take(j);
        part.push_back(j);
      }
    }
    return part;
  }

 private:
  void assign(const std::vector<int>& nodes, int k) {
    for (int i : nodes) of_[i] = k;
  }

  void collect_crossing(int k, double lambda2, std::vector<std::pair<std::int64_t, double>>& crossing,
                        double& to_zero) const {
    for (int a : list_[k].border) {
      const int other = of_[model_->graph.head(a)];
      const double weight = lambda2 * model_->graph.weight(a);
      if (other < 0)
        to_zero += weight;
      else if (k < other)
        crossing.emplace_back(static_cast<std::int64_t>(k) * size() + other, weight);
    }
  }

  // Whether an arc leaves its region depends on the region's own nodes only, so the border is kept
  // as long as these do not change.
  void find_borders() {
    if (!fused_) return;
    for (int k = 0; k < size(); ++k) {
      Region& region = list_[k];
      if (region.bordered == region.content) continue;
      region.bordered = region.content;
      region.border.clear();
      for (int i : region.nodes)
        for (int a = model_->graph.begin(i); a < model_->graph.end(i); ++a)
          if (of_[model_->graph.head(a)] != k) region.border.push_back(a);
    }
  }

  void append(std::vector<int> nodes, double value, double tie) {
    Region region;
    region.value = value;
    region.tie = tie;
    region.nodes = std::move(nodes);
    sum_columns(region);
    assign(region.nodes, size());
    list_.push_back(std::move(region));
  }

  void sum_columns(Region& region) {
    region.column.setZero(model_->x.rows());
    for (int i : region.nodes) {
      model_->x.add(i, 1.0, region.column);
      model_->poll();
    }
    model_->profile.project_out(region.column, region.projection);
    region.losses = 0;
    region.lost = 0;
    sum_factors(region);
  }

  void sum_factors(Region& region) {
    region.content = next_content_++;
    region.factor = 0;
    for (int i : region.nodes) region.factor += model_->factor[i];
  }

  static void take_off(Region& region, const Region& part) {
    region.column -= part.column;
    region.projection -= part.projection;
    region.lost = std::max(region.lost, part.column.norm());
    ++region.losses;
  }

  void absorb(Region& target, Region& other) {
    target.content = next_content_++;
    target.column += other.column;
    target.projection += other.projection;
    target.losses += other.losses;
    target.lost = std::max(target.lost, other.lost);
    target.factor += other.factor;
    target.nodes.insert(target.nodes.end(), other.nodes.begin(), other.nodes.end());
  }

  // After pieces have left region k: splits the rest into connected parts; the largest keeps the
  // number. The column of the rest is what the pieces left of it, but each difference costs digits:
  // after many of them, or if little is left, of the nodes or of the column, it is summed again.
  void rebuild(int k) {
    std::vector<int> old = std::move(list_[k].nodes);
    std::vector<std::vector<int>> parts;
    for (int start : old) {
      if (of_[start] != k) continue;
      parts.push_back(grow(start, [&](int j) { return of_[j] == k; },
                           [&](int j) { of_[j] = kTaken; }));
    }
    list_[k].nodes.clear();
    if (parts.empty()) return;
    auto larger = [](const auto& a, const auto& b) { return a.size() < b.size(); };
    std::swap(parts[0], *std::max_element(parts.begin(), parts.end(), larger));
    for (std::size_t h = 1; h < parts.size(); ++h) {
      append(std::move(parts[h]), list_[k].value, -1);
      take_off(list_[k], list_.back());
    }
    Region& rest = list_[k];
    rest.nodes = std::move(parts[0]);
    rest.tie = -1;
    assign(rest.nodes, k);
    const bool little = kLittle * rest.nodes.size() < old.size() ||
                        kLittleLength * rest.column.norm() < rest.lost;
    if (little || rest.losses > kMostLosses)
      sum_columns(rest);
    else
      sum_factors(rest);
  }

  void drop_empty() {
    auto empty = [](const Region& r) { return r.nodes.empty(); };
    const auto end = std::remove_if(list_.begin(), list_.end(), empty);
    if (end == list_.end()) return;
    list_.erase(end, list_.end());
    for (int k = 0; k < size(); ++k) assign(list_[k].nodes, k);
  }

  static constexpr int kTaken = -2;
  static constexpr int kMostLosses = 50;
  static constexpr std::size_t kLittle = 4;  // less than a quarter is left
  static constexpr double kLittleLength = 10;
  const Model* model_;
  std::vector<Region> list_;
  std::vector<int> of_;
  int next_content_ = 0;
  bool fused_ = true;
};

}  // namespace n2gfl
