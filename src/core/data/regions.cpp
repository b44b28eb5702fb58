#include "data/regions.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace n2gfl {

void Regions::set_fused(bool fused) {
  fused_ = fused;
  find_borders();
}

void Regions::clear() {
  for (const Region& r : list_) assign(r.nodes, kZeroSet);
  list_.clear();
}

int Regions::nonzero() const {
  std::size_t count = 0;
  for (const Region& r : list_) count += r.nodes.size();
  return static_cast<int>(count);
}

VectorXd Regions::values() const {
  VectorXd u(size());
  for (int k = 0; k < size(); ++k) u[k] = list_[k].value;
  return u;
}

void Regions::set_values(const VectorXd& u, bool keep_ties) {
  for (int k = 0; k < size(); ++k) {
    list_[k].value = u[k];
    if (!keep_ties) list_[k].tie = 0;
  }
}

std::vector<double> Regions::ties() const {
  std::vector<double> tie(size());
  for (int k = 0; k < size(); ++k) tie[k] = list_[k].tie;
  return tie;
}

MatrixXd Regions::columns() const {
  MatrixXd x(model_->x.rows(), size());
  for (int k = 0; k < size(); ++k) x.col(k) = list_[k].column;
  return x;
}

void Regions::merge(const std::vector<int>& group, int groups, const VectorXd& value) {
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

void Regions::split(std::vector<Piece>& pieces) {
  std::vector<int> parents;
  for (Piece& piece : pieces) {
    const int parent = piece.parent;
    if (parent >= 0) parents.push_back(parent);
    append(std::move(piece.nodes), parent < 0 ? 0.0 : list_[parent].value, piece.sign);
    if (parent >= 0) take_off(list_[parent], list_.back());
  }
  std::sort(parents.begin(), parents.end());
  parents.erase(std::unique(parents.begin(), parents.end()), parents.end());
  for (int parent : parents) rebuild(parent);
  drop_empty();
  find_borders();
}

void Regions::assign(const std::vector<int>& nodes, int k) {
  for (int i : nodes) of_[i] = k;
}

// Whether an arc leaves its region depends on the region's own nodes only, so the border is kept
// as long as these do not change.
void Regions::find_borders() {
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

void Regions::append(std::vector<int> nodes, double value, double tie) {
  Region region;
  region.value = value;
  region.tie = tie;
  region.nodes = std::move(nodes);
  sum_columns(region);
  assign(region.nodes, size());
  list_.push_back(std::move(region));
}

void Regions::sum_columns(Region& region) {
  region.column.setZero(model_->x.rows());
  model_->x.add_sum(region.nodes, region.column, model_->poll);
  model_->profile.project_out(region.column, region.projection);
  region.losses = 0;
  region.lost = 0;
  sum_factors(region);
}

void Regions::sum_factors(Region& region) {
  region.content = next_content_++;
  region.factor = 0;
  for (int i : region.nodes) region.factor += model_->factor[i];
}

void Regions::take_off(Region& region, const Region& part) {
  region.column -= part.column;
  region.projection -= part.projection;
  region.lost = std::max(region.lost, part.column.norm());
  ++region.losses;
}

void Regions::absorb(Region& target, Region& other) {
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
void Regions::rebuild(int k) {
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

void Regions::drop_empty() {
  auto empty = [](const Region& r) { return r.nodes.empty(); };
  const auto end = std::remove_if(list_.begin(), list_.end(), empty);
  if (end == list_.end()) return;
  list_.erase(end, list_.end());
  for (int k = 0; k < size(); ++k) assign(list_[k].nodes, k);
}

}  // namespace n2gfl
