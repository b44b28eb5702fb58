// Is theta = s r dual feasible? It is if every set S of nodes satisfies
//
//   s * sum_S g_i <= lambda1 u(S) + lambda2 cut(S),  g = X'r  (and the same for -g if beta is free)
//
// so the best s is min(1, 1/rho), where rho is the largest ratio of the two sides. A flow within
// the capacities lambda2 w bounds rho from above, its minimum cut bounds rho from below, and
// Dinkelbach's method closes the difference. The same searches give the exact smallest lambda1 at
// which all penalised coefficients are zero.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "data/lazy_gradient.hpp"
#include "data/model.hpp"
#include "data/regions.hpp"
#include "graph/max_flow.hpp"
#include "graph/network.hpp"
#include "penalty/certificate.hpp"

namespace n2gfl {

// The excess of every node for MaxFlow. In the zero set (sign = +1: can a value rise from zero? -1:
// can a value fall?) the penalty of a node acts against both; in a region it pulls
// towards zero.
struct GradientTerms {
  const Model& model;
  const Network& network;
  LazyGradient& gradient;
  const Regions* regions;  // null: all nodes count as zero, and flow may cross every edge
  double lambda1;
  int sign;
  // Mean excess per region, which the search ignores: it is removed by changing the regions'
  // values, not by flow.
  const std::vector<double>* ignored = nullptr;
  const std::vector<unsigned char>* zero_part = nullptr;  // of each node, see part()

  int region(int i) const { return regions ? regions->of(i) : Regions::kZeroSet; }
  int sign_of(int i) const {
    const int k = region(i);
    return k < 0 || (*regions)[k].value == 0 ? sign : (*regions)[k].value > 0 ? 1 : -1;
  }
  double excess(int i) {
    const double t = model.threshold(lambda1, i);
    if (std::isinf(t)) return -sign * t;
    const int k = region(i);
    if (k < 0 && !gradient.known(i)) {
      if (gradient.coarse()) return gradient.latest(i) - sign * t - network.outflow(i);
      const double bound = upper_bound(i, t);
      if (bound < 0) return sign * bound;
    }
    const double e = gradient(i) - sign_of(i) * t - network.outflow(i);
    return k < 0 || ignored == nullptr ? e : e - (*ignored)[k];
  }
  // An upper bound of sign * excess that needs no product with X.
  double outlook(int i) const {
    const double t = model.threshold(lambda1, i);
    if (std::isinf(t)) return -t;
    const LazyGradient::Estimate g = gradient.estimate(i);
    return sign * (g.value - sign_of(i) * t - network.outflow(i)) + g.error;
  }
  // The violation of dual feasibility at node i on this side, or an upper bound of it; <= 0 if
  // feasible.
  double violation(int i) const {
    const double t = model.threshold(lambda1, i);
    if (std::isinf(t)) return -t;
    const LazyGradient::Estimate g = gradient.estimate(i);
    return sign * (g.value - network.outflow(i)) - t + g.error;
  }
  bool open(int i, int j) const { return regions == nullptr || regions->of(i) == regions->of(j); }

  // What a search may take apart: the regions, and components of the graph in the zero set. The
  // many components of some graphs share kZeroParts parts.
  static constexpr int kZeroParts = 8;
  int part(int i) const {
    const int k = region(i);
    return k < 0 ? (*zero_part)[i] : kZeroParts + k;
  }

 private:
  static constexpr double kSharpEnough = 0.25;

  // The same as outlook() for a node far below its threshold t, where the bound is a good
  // substitute for the product; positive if it is not.
  double upper_bound(int i, double t) const {
    const LazyGradient::Estimate g = gradient.estimate(i);
    const double e = sign * (g.value - network.outflow(i)) - t;
    return g.error <= -kSharpEnough * e ? e + g.error : 1.0;
  }
};

class DualNorm {
 public:
  DualNorm(const Model& model, Network& network, MaxFlow& search, LazyGradient& gradient);

  GradientTerms terms(double lambda1, int sign, const Regions* regions) {
    if (zero_part_.empty()) find_zero_parts();
    return {model_, net_, gradient_, regions, lambda1, sign, nullptr, &zero_part_};
  }

  // Searches from every node whose excess may exceed the tolerance. The upward search balances the
  // regions, so the downward search covers the zero set only.
  void search_from_all(GradientTerms& terms, double tolerance);

  // Moves the excess of the seeds away as far as possible.
  void search(GradientTerms& terms, const std::vector<int>& seeds, double tolerance);

  // Zero nodes within `margin` of their threshold share their surplus with neighbours that are
  // farther from it. A search stops as soon as a surplus is exactly zero, and every small change
  // of the residual would make such nodes seeds again.
  void keep_margin(GradientTerms& terms, const std::vector<int>& nodes, double margin);

  // The excess that remains after search_from_all.
  Leftover leftover(const GradientTerms& terms) const;

  // rho by Dinkelbach's method, on all nodes and edges. Starts at a ratio that some set attains
  // (or 1). Stops as soon as an upper bound gives a gap of at most `thresh`, or a lower bound
  // shows that no such gap is possible. With `thresh` = 0 it computes rho itself.
  template <class GapOf>
  Leftover dinkelbach(double lambda1, double lower, double tolerance, double thresh, GapOf gap_of) {
    double rho = 1;
    Leftover best{std::numeric_limits<double>::infinity(), 0};
    for (int step = 0; step < 50; ++step) {
      net_.scale_capacities(lower / rho);
      rho = lower;
      Leftover left;
      for (int sign : model_.signs()) {
        GradientTerms node = terms(rho * lambda1, sign, nullptr);
        search_from_all(node, tolerance);
        include(left, leftover(node));
        lower = std::max(lower, attained(node, rho));
      }
      left.ratio = rho * (1 + left.ratio) - 1;  // the thresholds were scaled by rho
      if (step == 0 || gap_of(left) < gap_of(best)) best = left;
      if (gap_of(best) <= thresh || lower <= rho * (1 + 1e-14)) break;
      if (thresh > 0 && gap_of({lower - 1, 0.0}) > thresh) break;
    }
    net_.scale(1 / rho);
    return best;
  }

  static void include(Leftover& total, const Leftover& part);

  // The smallest lambda1 at which all penalised coefficients are zero, given the regions of the
  // unpenalised ones. The gradient must be exact at all nodes.
  double lambda1_max(const Regions& regions, double tolerance);

 private:
  static constexpr int kMarginPasses = 1;
  static constexpr double kDeepest = 1.5;  // margins that a node may give away below its threshold

  void find_zero_parts();
  void share(GradientTerms& terms, int i, double margin);
  float& surplus(GradientTerms& terms, int i);
  void count(const GradientTerms& terms, int i, Leftover& left) const;
  double attained(const GradientTerms& terms, double rho) const;
  double one_sided_lambda1_max(const Regions& regions, int sign, double tolerance);
  double lambda1_rise(int sign) const;

  const Model& model_;
  Network& net_;
  MaxFlow& search_;
  LazyGradient& gradient_;
  std::vector<unsigned char> zero_part_;  // of every node; found when first needed
  std::vector<int> seeds_;
  Leftover small_;  // of the nodes that were not seeds
  struct Surplus {
    float value = 0;  // a guide for what to send; the flow itself is exact
    int stamp = 0;
  };
  std::vector<Surplus> surplus_;
  int margins_ = 0;  // calls of keep_margin()
};

}  // namespace n2gfl
