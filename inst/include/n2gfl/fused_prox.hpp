// The prox of the fused lasso on a graph, exactly:
//   min_b  sum_i m_i/2 (b_i - z_i)^2 + sum_i a_i |b_i| + theta sum_ij w_ij |b_i - b_j|
// with b >= 0, b <= 0 or b free. For t >= 0 the set {b > t} is a minimum cut with node terms
// m_i (z_i - t) - a_i, for t < 0 the set {b < t} one with m_i (z_i - t) + a_i. So a cut at zero
// finds the support, and only the support needs its levels resolved. The flow of the cuts is the
// paper's dual variable xi; it is kept, and the next call starts from it.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include <Eigen/Core>

#include "graph.hpp"
#include "level_sets.hpp"
#include "max_flow.hpp"
#include "poll.hpp"
#include "sign.hpp"
#include "total_variation.hpp"

namespace n2gfl {

class FusedProx {
 public:
  // From `large` nodes on the levels get a fast start (total_variation.hpp); tests change it.
  FusedProx(const Graph& graph, Poll& poll, int large = 500)
      : graph_(&graph), net_(graph), flow_(net_, poll),
        total_variation_(net_, flow_, poll, terms_, large) {
    int count = 0;
    component_ = components(graph, [](int, int) { return true; }, count);
    sort_by_component(count);
  }

  FusedProx(const FusedProx&) = delete;
  FusedProx& operator=(const FusedProx&) = delete;

  // Masses are positive; thresholds are >= 0, and +Inf fixes b_i = 0.
  void solve(const Eigen::VectorXd& z, const Eigen::VectorXd& masses,
             const Eigen::VectorXd& thresholds, double theta, Sign sign, Eigen::VectorXd& b) {
    if (theta != theta_) net_.set_capacities(*graph_, theta);
    theta_ = theta;
    terms_.mass = masses;
    b.resize(z.size());
    if (sign == Sign::free && (thresholds.array() == 0).all()) return solve_plain(z, b);
    const Input input{&z, &masses, &thresholds};
    terms_.linear.resize(z.size());
    if (last_.size() == 0 && are_small(input)) approach(input, sign, b);
    b.setZero();
    const std::vector<int> above = sign == Sign::nonpositive ? none() : support(input, +1);
    const std::vector<int> below = sign == Sign::nonnegative ? none() : support(input, -1);
    resolve_side(above, +1, b);
    resolve_side(below, -1, b);
    last_ = b;
  }

  // The flow of the last solution; arcs are numbered as in the graph.
  const Network& network() const { return net_; }

  // Relative duality gap of b and the kept flow, from scratch. Primal minus dual is a sum of terms
  // that are each >= 0 (one a node, one an edge), so nothing cancels. All in units of the largest
  // value: squares of the values themselves may overflow.
  double gap(const Eigen::VectorXd& z, const Eigen::VectorXd& masses,
             const Eigen::VectorXd& thresholds, double theta, Sign sign,
             const Eigen::VectorXd& b) const {
    const double infinity = std::numeric_limits<double>::infinity();
    const double largest = z.size() > 0 ? z.cwiseAbs().maxCoeff() : 0.0;
    const double unit = largest > 0 ? largest : 1.0;
    double gap = 0, primal = 0, null = 0;
    for (int i = 0; i < graph_->nodes(); ++i) {
      const double m = masses[i], a = thresholds[i] / unit, zi = z[i] / unit, bi = b[i] / unit;
      double outflow = 0;
      for (int arc = graph_->begin(i); arc < graph_->end(i); ++arc) {
        const double flow = net_.arc(arc).flow, capacity = theta * graph_->weight(arc);
        if (!(std::fabs(flow) <= capacity)) return infinity;
        outflow += flow / unit;
        const double difference = bi - b[graph_->head(arc)] / unit;
        if (difference <= 0) continue;
        primal += capacity / unit * difference;
        gap += (capacity - flow) / unit * difference;
      }
      null += 0.5 * m * zi * zi;
      primal += 0.5 * m * (bi - zi) * (bi - zi) + (bi == 0 ? 0 : a * std::fabs(bi));
      gap += node_gap(m * zi - outflow, m, a, sign, bi);
    }
    if (gap == 0) return 0;
    return gap < infinity ? gap / std::fmax(primal, 1e-12 * null) : infinity;  // NaN proves nothing
  }

 private:
  struct Input {
    const Eigen::VectorXd *z, *masses, *thresholds;
    double pull(int i, int side) const {
      return (*masses)[i] * (*z)[i] - side * (*thresholds)[i];
    }
  };

  // The cut between zero and the values of one side: above zero (side = 1) or below (-1).
  struct ZeroCut {
    const Input* input;
    const Network* net;
    int side;
    double excess(int i) const { return input->pull(i, side) - net->outflow(i); }
    bool open(int, int) const { return true; }
  };

  static std::vector<int> none() { return {}; }

  // Components know nothing of each other: what rounds in one must not round in another, whose
  // numbers may be far smaller.
  void sort_by_component(int count) {
    begin_.assign(count + 1, 0);
    for (int c : component_) ++begin_[c + 1];
    for (int c = 0; c < count; ++c) begin_[c + 1] += begin_[c];
    std::vector<int> next(begin_.begin(), begin_.end() - 1);
    sorted_.resize(component_.size());
    for (int i = 0; i < static_cast<int>(component_.size()); ++i) sorted_[next[component_[i]]++] = i;
  }

  // Without thresholds and signs zero is a value like any other. Centred values round better.
  void solve_plain(const Eigen::VectorXd& z, Eigen::VectorXd& b) {
    if (z.size() == 0) return;
    const Eigen::VectorXd centre = component_means(z);
    terms_.linear = terms_.mass.array() * (z - centre).array();
    total_variation_.resolve(sorted_, last_, b);
    b += centre;
    last_ = b;
  }

  // Every node gets the mean of its component.
  Eigen::VectorXd component_means(const Eigen::VectorXd& z) const {
    Eigen::VectorXd mean(z.size());
    for (std::size_t c = 0; c + 1 < begin_.size(); ++c) {
      double mass = 0, value = 0;
      for (int k = begin_[c]; k < begin_[c + 1]; ++k) mass += terms_.mass[sorted_[k]];
      for (int k = begin_[c]; k < begin_[c + 1]; ++k)
        value += terms_.mass[sorted_[k]] / mass * z[sorted_[k]];
      for (int k = begin_[c]; k < begin_[c + 1]; ++k) mean[sorted_[k]] = value;
    }
    return mean;
  }

  // Thresholds far below the spread of z: many values are near zero, and the cut at zero is slow
  // without a flow to start from. Excluded nodes have an infinite threshold and count as large.
  static bool are_small(const Input& input) {
    const auto& m = input.masses->array();
    const double mass = m.sum(), mean = (m * input.z->array()).sum() / mass;
    const double spread = std::sqrt((m * (input.z->array() - mean).square()).sum() / mass);
    return input.thresholds->array().min(m * spread).sum() < 0.1 * spread * mass;
  }

  void approach(const Input& input, Sign sign, Eigen::VectorXd& b) {
    const int side = sign == Sign::free ? 0 : sign == Sign::nonnegative ? 1 : -1;
    std::vector<int> nodes;
    for (int i = 0; i < net_.nodes(); ++i) {
      if (std::isinf((*input.thresholds)[i])) continue;
      nodes.push_back(i);
      terms_.linear[i] = input.pull(i, side);
    }
    total_variation_.approach(nodes, b);
  }

  // The nodes above (below) zero. Sets their linear terms.
  std::vector<int> support(const Input& input, int side) {
    std::vector<int> inside;
    for (std::size_t c = 0; c + 1 < begin_.size(); ++c)
      add_support(input, side, begin_[c], begin_[c + 1], inside);
    return inside;
  }

  // The same for the component sorted_[begin, end).
  void add_support(const Input& input, int side, int begin, int end, std::vector<int>& inside) {
    ZeroCut cut{&input, &net_, side};
    double size = 0;
    seeds_.clear();
    for (int k = begin; k < end; ++k) {
      const int i = sorted_[k];
      if (std::isfinite(input.pull(i, side)))
        size = std::fmax(size, std::fabs(input.pull(i, side)) + std::fabs(net_.outflow(i)));
      if (side * cut.excess(i) > 0) seeds_.push_back(i);
    }
    if (seeds_.empty()) return;
    const double tolerance = 8 * std::numeric_limits<double>::epsilon() * size;
    flow_.run(cut, seeds_, side > 0 ? Grow::from_surplus : Grow::from_deficit, tolerance);
    for (int i : flow_.touched()) {
      if (!flow_.reached(i)) continue;
      inside.push_back(i);
      terms_.linear[i] = input.pull(i, side);
    }
  }

  void resolve_side(const std::vector<int>& nodes, int side, Eigen::VectorXd& b) {
    total_variation_.resolve(nodes, last_, b);
    for (int i : nodes)
      if (side * b[i] < 0) b[i] = 0;  // rounding at the edge of zero
  }

  // phi(b) - min phi for phi(b) = m/2 b^2 - r b + a |b| under the sign, r = m z - outflow.
  static double node_gap(double r, double m, double a, Sign sign, double b) {
    const double infinity = std::numeric_limits<double>::infinity();
    if (sign == Sign::nonnegative && b < 0) return infinity;
    if (sign == Sign::nonpositive && b > 0) return infinity;
    if (std::isinf(a)) return b == 0 ? 0 : infinity;
    if (r > a && sign != Sign::nonpositive)
      return 0.5 * m * square(b - (r - a) / m) + a * (std::fabs(b) - b);
    if (r < -a && sign != Sign::nonnegative)
      return 0.5 * m * square(b - (r + a) / m) + a * (std::fabs(b) + b);
    return 0.5 * m * b * b + (a * std::fabs(b) - r * b);
  }

  static double square(double v) { return v * v; }

  const Graph* graph_;
  Network net_;
  NodeTerms terms_;
  MaxFlow flow_;
  TotalVariation total_variation_;
  Eigen::VectorXd last_;  // the last solution, empty before the first
  double theta_ = std::numeric_limits<double>::quiet_NaN();
  std::vector<int> component_, sorted_, begin_;  // nodes by connected component
  std::vector<int> seeds_;
};

}  // namespace n2gfl
