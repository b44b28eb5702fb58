#include "solve/region_descent.hpp"

#include <cstddef>
#include <vector>

#include "graph/parts.hpp"

namespace n2gfl {

double RegionDescent::change(const VectorXd& before, const VectorXd& after) const {
  int changed = 0, total = 1;
  for (int i = 0; i < model_.features(); ++i) {
    changed += (before[i] != 0) != (after[i] != 0);
    if (before[i] == 0 || after[i] == 0) continue;
    ++total;
    for (int a = model_.graph.begin(i); a < model_.graph.end(i); ++a) {
      const int j = model_.graph.head(a);
      if (j > i && before[j] != 0 && after[j] != 0)
        changed += (before[i] == before[j]) != (after[i] == after[j]);
    }
  }
  return static_cast<double>(changed) / total;
}

int RegionDescent::run(const FloatColumns& floats, const LossPoint& at, const VectorXd& slope,
                      double goal, int most, VectorXd& beta, VectorXd& eta) {
  find_regions(floats, beta);
  if (nodes_.empty()) return 0;
  const ProfileCurvature metric = model_.profile.curvature(at);
  VectorXd rest = VectorXd::Zero(count());  // of the right side, in units of the columns' norms
  for (std::size_t k = 0; k < nodes_.size(); ++k)
    if (norm_[of_[k]] > 0) rest[of_[k]] -= slope[nodes_[k]] / norm_[of_[k]];
  VectorXd value = VectorXd::Zero(count()), direction = rest, moved, image;
  double size = rest.squaredNorm();
  const double last = goal * goal * size, flat = kFlat * metric.diagonal().maxCoeff();
  int iteration = 0;
  for (; iteration < most && size > last; ++iteration) {
    multiply(metric, direction, moved, image);
    const double curvature = direction.dot(image);
    if (!(curvature > flat * direction.squaredNorm())) break;
    const double length = size / curvature;
    value += length * direction;
    eta += length * moved;
    rest -= length * image;
    const double next = rest.squaredNorm();
    direction = rest + (next / size) * direction;
    size = next;
    model_.poll.now();
  }
  for (std::size_t k = 0; k < nodes_.size(); ++k)
    if (norm_[of_[k]] > 0) beta[nodes_[k]] += value[of_[k]] / norm_[of_[k]];
  sums_.clear();
  return iteration;
}

void RegionDescent::find_regions(const FloatColumns& floats, const VectorXd& beta) {
  nodes_.clear();
  for (int i = 0; i < model_.features(); ++i)
    if (beta[i] != 0) nodes_.push_back(i);
  of_ = label_parts(model_.graph, nodes_,
                    [&](int a, int b) { return beta[nodes_[a]] == beta[nodes_[b]]; });
  std::vector<std::vector<int>> members;
  for (std::size_t k = 0; k < nodes_.size(); ++k) {
    if (of_[k] == static_cast<int>(members.size())) members.emplace_back();
    members[of_[k]].push_back(nodes_[k]);
  }
  sum_columns(floats, members);
}

// The columns of the regions have norm 1; those of single nodes are not copied.
void RegionDescent::sum_columns(const FloatColumns& floats,
                               const std::vector<std::vector<int>>& members) {
  columns_ = FloatProducts(floats.length(), model_.threads);
  norm_.clear();
  sums_.clear();
  VectorXd sum(floats.length());
  for (const std::vector<int>& region : members) {
    if (region.size() == 1) {
      norm_.push_back(model_.column_norm[region[0]]);
      columns_.append(floats.column(region[0]), 1.0);
      continue;
    }
    sum.setZero();
    floats.add(region, std::vector<double>(region.size(), 1.0), sum);
    norm_.push_back(sum.norm());
    sums_.push_back((sum / (norm_.back() > 0 ? norm_.back() : 1.0)).cast<float>());
    columns_.append(sums_.back().data(), 1.0);
  }
}

// moved = the columns times the direction; image = the Hessian of the profiled loss times it.
void RegionDescent::multiply(const ProfileCurvature& metric, const VectorXd& direction,
                            VectorXd& moved, VectorXd& image) {
  moved.setZero(model_.x.rows());
  columns_.add(direction.data(), moved);
  const VectorXd bent = metric.times(moved);
  const double size = bent.norm();
  Eigen::VectorXf v = Eigen::VectorXf::Zero(columns_.length());
  if (size > 0) v.head(bent.size()) = (bent / size).cast<float>();
  image.resize(count());
  columns_.times_vector(v.data(), size, image.data());
}

}  // namespace n2gfl
