// The dual norm and lambda1_max against brute force over all sets of nodes.
#include "check.hpp"
#include "random_data.hpp"

#include "loss/binomial_loss.hpp"
#include "loss/gaussian_loss.hpp"
#include "penalty/dual_norm.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using Eigen::MatrixXd;
using Eigen::VectorXd;
using n2gfl::Graph;
using n2gfl::Leftover;
using testing::below;
using testing::kInfinity;
using testing::Random;
using testing::random_graph;
using testing::uniform;
using testing::uniform_vector;
using testing::vec;

namespace {

// X = I and y = d * g: the gradient of the null fit is g itself.
struct Instance {
  Instance(const VectorXd& g, const VectorXd& u, const Graph& edges, double second, bool one_sided)
      : graph(edges), lambda2(second), identity(MatrixXd::Identity(g.size(), g.size())),
        loss(g.size() * g, VectorXd::Ones(g.size())),
        profile(loss, MatrixXd(g.size(), 0), VectorXd::Zero(g.size())),
        design(n2gfl::Design::dense(identity.data(), static_cast<int>(g.size()),
                                    static_cast<int>(g.size()))),
        model(design, profile, graph, u, one_sided, false, 1, poll), network(graph),
        search(network, poll), gradient(model), norm(model, network, search, gradient) {
    network.set_capacities(graph, lambda2);
    gradient.set_residual(model.null_residual);
    gradient.compute_all();
  }

  double tolerance() const { return model.rounding(model.null_residual); }

  // The exact rho: the search may not stop early.
  Leftover rho(double lambda1) {
    return norm.dinkelbach(lambda1, 1.0, tolerance(), 0.0, [](const Leftover& left) {
      return left.unpenalised > 0 ? 1e100 * left.unpenalised : left.ratio;
    });
  }

  Graph graph;
  double lambda2;
  MatrixXd identity;
  n2gfl::Poll poll;
  n2gfl::GaussianLoss loss;
  n2gfl::Profile profile;
  n2gfl::Design design;
  n2gfl::Model model;
  n2gfl::Network network;
  n2gfl::MaxFlow search;
  n2gfl::LazyGradient gradient;
  n2gfl::DualNorm norm;
};

// The gradient's sum over a set of nodes and the penalty of this set.
struct SetSums {
  double gain = 0, factor = 0, cut = 0;
};

template <class Visit>
void for_all_sets(const Graph& graph, const VectorXd& g, const VectorXd& u, Visit visit) {
  for (unsigned set = 1; set < (1u << graph.nodes()); ++set) {
    SetSums sums;
    for (int i = 0; i < graph.nodes(); ++i) {
      if (!(set >> i & 1)) continue;
      sums.gain += g[i];
      sums.factor += u[i];
      for (int a = graph.begin(i); a < graph.end(i); ++a)
        if (!(set >> graph.head(a) & 1)) sums.cut += graph.weight(a);
    }
    if (std::isfinite(sums.factor)) visit(sums);
  }
}

double brute_rho(const Instance& in, const VectorXd& g, double lambda1) {
  double rho = 1;  // no scaling is needed below one
  for_all_sets(in.graph, g, in.model.factor, [&](const SetSums& s) {
    const double gain = in.model.nonnegative ? s.gain : std::fabs(s.gain);
    rho = std::max(rho, gain / (lambda1 * s.factor + in.lambda2 * s.cut));
  });
  return rho;
}

double brute_lambda1_max(const Instance& in, const VectorXd& g) {
  double answer = 0;
  for_all_sets(in.graph, g, in.model.factor, [&](const SetSums& s) {
    const double gain = in.model.nonnegative ? s.gain : std::fabs(s.gain);
    answer = std::max(answer, (gain - in.lambda2 * s.cut) / s.factor);
  });
  return answer;
}

VectorXd random_factor(Random& random, int n) {
  VectorXd u = random() % 2 ? VectorXd::Ones(n) : uniform_vector(random, n, 0.2, 3);
  if (random() % 3 == 0) u[random() % n] = kInfinity;
  return u;
}

// Within the capacities lambda2 w, antisymmetric, and outflow equal to the sum over the arcs.
bool flow_is_feasible(const Instance& in) {
  for (int i = 0; i < in.graph.nodes(); ++i) {
    double sum = 0;
    for (int a = in.graph.begin(i); a < in.graph.end(i); ++a) {
      const n2gfl::Arc& u = in.network.arc(a);
      const double capacity = in.lambda2 * in.graph.weight(a);
      if (!(std::fabs(u.capacity - capacity) <= 1e-12 * capacity)) return false;
      if (std::fabs(u.flow) > u.capacity || in.network.arc(u.reverse).flow != -u.flow) return false;
      sum += u.flow;
    }
    if (!(std::fabs(sum - in.network.outflow(i)) <= 1e-12 * in.model.null_gradient.norm()))
      return false;
  }
  return true;
}

// The flow itself proves rho: |g_i - outflow_i / ...| at every node.
bool flow_proves(const Instance& in, const VectorXd& g, double lambda1, double rho) {
  for (int i = 0; i < in.graph.nodes(); ++i) {
    const double rest = g[i] / rho - in.network.outflow(i);
    const double limit = lambda1 * in.model.factor[i] + 1e-12 * g.norm();
    if (rest > limit || (!in.model.nonnegative && -rest > limit)) return false;
  }
  return true;
}

// sign * excess of all nodes.
VectorXd surpluses(n2gfl::GradientTerms& terms, int n) {
  VectorXd all(n);
  for (int i = 0; i < n; ++i) all[i] = terms.sign * terms.excess(i);
  return all;
}

// The flow is within the capacities and antisymmetric, and outflows are sums of flows.
void check_flow(const n2gfl::Network& net) {
  for (int i = 0; i < net.nodes(); ++i) {
    double sum = 0, size = 0;
    for (int a = net.begin(i); a < net.end(i); ++a) {
      const n2gfl::Arc& u = net.arc(a);
      CHECK(std::fabs(u.flow) <= u.capacity);
      CHECK(net.arc(u.reverse).flow == -u.flow);
      sum += u.flow;
      size += u.capacity;
    }
    CHECK_NEAR(net.outflow(i), sum, 1e-14 * size);
  }
}

// Half of the nodes are regions of their own, with the sign of their gradient.
n2gfl::Regions some_regions(const Instance& in, Random& random) {
  n2gfl::Regions regions(in.model);
  std::vector<n2gfl::Piece> pieces;
  for (int i = 0; i < in.graph.nodes(); ++i) {
    if (random() % 2 || std::isinf(in.model.factor[i])) continue;
    n2gfl::Piece piece;
    piece.nodes = {i};
    pieces.push_back(piece);
  }
  regions.split(pieces);
  VectorXd values(regions.size());
  for (int k = 0; k < regions.size(); ++k)
    values[k] = in.model.null_gradient[regions[k].nodes[0]] > 0 ? 1 : -1;
  regions.set_values(values, false);
  return regions;
}

void check_margin(Instance& in, n2gfl::GradientTerms& terms, Random& random) {
  const int n = in.graph.nodes();
  const double margin = uniform(random, 0.1, 1), rounding = 1e-5;  // surpluses are floats
  const int giver = below(random, n);
  VectorXd before = surpluses(terms, n);
  in.norm.keep_margin(terms, {giver}, margin);
  VectorXd after = surpluses(terms, n);
  check_flow(in.network);
  for (int i = 0; i < n; ++i) {
    if (terms.region(i) >= 0 || std::isinf(before[i])) CHECK(after[i] == before[i]);
    if (i != giver) CHECK(after[i] <= std::max(before[i], before[giver]) + rounding);
  }
  CHECK(after[giver] <= before[giver]);
  if (after[giver] < before[giver]) CHECK(after[giver] >= -1.5 * margin - rounding);

  std::vector<int> all(n);
  for (int i = 0; i < n; ++i) all[i] = i;
  before = after;
  in.norm.keep_margin(terms, all, margin);
  after = surpluses(terms, n);
  check_flow(in.network);
  CHECK(after.maxCoeff() <= before.maxCoeff() + rounding || std::isinf(before.maxCoeff()));
  for (int i = 0; i < n; ++i)
    if (terms.region(i) >= 0) CHECK(after[i] == before[i]);
}

}  // namespace

TEST(dual_norm_agrees_with_all_subsets) {
  for (int seed = 0; seed < 400; ++seed) {
    Random random(seed);
    const int n = 1 + below(random, 10);
    const VectorXd g = uniform_vector(random, n, -1, 1);
    const double lambda1 = uniform(random, 0.01, 0.5), lambda2 = uniform(random, 0, 0.5);
    Instance in(g, random_factor(random, n), random_graph(random, n), lambda2, seed % 2 == 0);
    const double rho = brute_rho(in, g, lambda1);
    for (int again = 0; again < 2; ++again) {  // the second run starts from the kept flow
      const Leftover left = in.rho(lambda1);
      CHECK_NEAR(1 + left.ratio, rho, 1e-11 * rho);
      CHECK_NEAR(left.unpenalised, 0, 1e-13);
      CHECK(flow_is_feasible(in));
    }
    // With one sign there is one flow; with two, the flow is that of the second side.
    if (in.model.nonnegative) CHECK(flow_proves(in, g, lambda1, rho));
  }
}

TEST(dual_norm_stops_when_told) {
  Random random(1);
  const int n = 8;
  const VectorXd g = uniform_vector(random, n, 0, 1);
  Instance in(g, VectorXd::Ones(n), testing::chain(n), 0.05, true);
  const double rho = brute_rho(in, g, 0.05);
  const auto ratio = [](const Leftover& left) { return left.ratio; };
  const Leftover generous = in.norm.dinkelbach(0.05, 1.0, in.tolerance(), 1e6, ratio);
  CHECK(1 + generous.ratio >= rho * (1 - 1e-12));  // still an upper bound
  CHECK(1 + generous.ratio > rho * (1 + 1e-6));    // but not the exact one
  CHECK(flow_is_feasible(in));
  const Leftover hopeless = in.norm.dinkelbach(0.05, 1.0, in.tolerance(), 0.1 * (rho - 1), ratio);
  CHECK(1 + hopeless.ratio >= rho * (1 - 1e-12));
  CHECK(flow_is_feasible(in));
}

TEST(lambda1_max_agrees_with_all_subsets) {
  for (int seed = 0; seed < 400; ++seed) {
    Random random(seed);
    const int n = 1 + below(random, 10);
    VectorXd g = uniform_vector(random, n, -1, 1);
    if (seed % 10 == 0) g = -g.cwiseAbs();  // no coefficient should rise
    const double lambda2 = seed % 5 == 0 ? 0 : uniform(random, 0, 0.5);
    Instance in(g, random_factor(random, n), random_graph(random, n), lambda2, seed % 2 == 0);
    const double expected = brute_lambda1_max(in, g);
    const n2gfl::Regions none(in.model);
    CHECK_NEAR(in.norm.lambda1_max(none, in.tolerance()), expected, 1e-12);
    CHECK_NEAR(in.norm.lambda1_max(none, in.tolerance()), expected, 1e-12);
    CHECK(flow_is_feasible(in));
  }
}

TEST(dual_norm_does_not_mind_scale) {
  for (double scale : {1e-100, 1e-8, 1e8, 1e100}) {
    Random random(3);
    const int n = 9;
    const VectorXd g = uniform_vector(random, n, -1, 1), u = uniform_vector(random, n, 0.5, 2);
    const Graph graph = random_graph(random, n);
    Instance plain(g, u, graph, 0.1, false), scaled(scale * g, u, graph, 0.1 * scale, false);
    CHECK_NEAR(scaled.rho(0.1 * scale).ratio, plain.rho(0.1).ratio, 1e-11);
    const n2gfl::Regions none(plain.model), none_scaled(scaled.model);
    CHECK_NEAR(scaled.norm.lambda1_max(none_scaled, scaled.tolerance()) / scale,
               plain.norm.lambda1_max(none, plain.tolerance()), 1e-12);
  }
}

TEST(dual_norm_without_edges_is_the_largest_ratio) {
  const VectorXd g = vec({0.5, -3, 1, 0}), u = vec({1, 2, 0.25, 1});
  Instance one(g, u, Graph(4, {}), 0.7, true), both(g, u, Graph(4, {}), 0.7, false);
  CHECK_NEAR(one.rho(0.1).ratio, 39, 1e-12);
  CHECK_NEAR(both.rho(0.1).ratio, 39, 1e-12);
  CHECK_NEAR(one.rho(4).ratio, 0, 0);  // no scaling needed: theta = r
  const n2gfl::Regions none(one.model);
  CHECK_NEAR(one.norm.lambda1_max(none, one.tolerance()), 4, 1e-14);
  CHECK_NEAR(both.norm.lambda1_max(none, both.tolerance()), 4, 1e-14);
}

TEST(dual_norm_uses_cuts_where_single_nodes_are_free) {
  // Node 0 has no penalty of its own; only the cut around it is penalised. Every set has a finite
  // ratio.
  const VectorXd g = vec({0.9, 0.1, -0.2}), u = vec({0, 1, 1});
  Instance in(g, u, testing::chain(3), 0.3, true);
  const double rho = brute_rho(in, g, 0.2);
  CHECK(rho > 1.5);
  const Leftover left = in.rho(0.2);
  CHECK_NEAR(1 + left.ratio, rho, 1e-12);
  CHECK_NEAR(left.unpenalised, 0, 1e-13);
  CHECK(flow_is_feasible(in));
}

TEST(what_is_no_number_proves_nothing) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  Leftover left;
  left.add(none, 1.0);
  CHECK(left.ratio == kInfinity);
  left.add(none, 0.0);
  CHECK(left.unpenalised == kInfinity);
  Instance plain(vec({1, 2}), vec({1, 1}), testing::chain(2), 0.5, true);
  const n2gfl::DualPoint residual{plain.model.null_residual, {}};
  const n2gfl::DualPoint no_number{none * residual.theta, {}};
  CHECK(n2gfl::relative_gap(plain.model, none, residual, {}, 0) == kInfinity);
  CHECK(n2gfl::relative_gap(plain.model, 1, no_number, {}, 0) == kInfinity);
  CHECK(n2gfl::relative_gap(plain.model, 1, residual, {none, 0}, 0) == kInfinity);
  const auto logistic = n2gfl::BinomialLoss(vec({1, -1}), vec({1, 1}));
  CHECK(logistic.dual(vec({none, 0})) == -kInfinity);
}

TEST(margins_are_taken_from_zero_nodes_only) {
  for (int seed = 0; seed < 1000; ++seed) {
    Random random(seed);
    const int n = 2 + below(random, 12);
    VectorXd u = uniform_vector(random, n, 0.3, 2);
    if (random() % 2) u[random() % n] = kInfinity;
    if (random() % 2) u[random() % n] = 0;
    Instance in(uniform_vector(random, n, -2, 2), u, random_graph(random, n),
                uniform(random, 0.05, 1), seed % 2 == 0);
    const n2gfl::Regions regions = some_regions(in, random);
    for (int a = 0; a < in.network.arcs(); ++a)
      if (random() % 3 == 0) {
        const double share = random() % 2 ? 1 : uniform(random, -1, 1);
        in.network.set_flow(a, share * in.network.arc(a).capacity);
      }
    for (int sign : {1, -1}) {
      n2gfl::GradientTerms terms = in.norm.terms(uniform(random, 0.2, 1), sign, &regions);
      check_margin(in, terms, random);
    }
  }
}

TEST(a_margin_moves_nodes_away_from_their_threshold) {
  for (int sign : {1, -1}) {
    // node 1 is at its threshold, nodes 0 and 2 are far from theirs
    Instance in(sign * vec({-1, 1, -2}), vec({1, 1, 1}), testing::chain(3), 10, false);
    n2gfl::GradientTerms terms = in.norm.terms(1, sign, nullptr);
    in.norm.keep_margin(terms, {1}, 0.5);
    const VectorXd after = surpluses(terms, 3);
    CHECK_NEAR(after[1], -0.75, 1e-6);
    CHECK_NEAR(after[0], -1.25, 1e-6);
    CHECK_NEAR(after[2], -3, 1e-6);
  }
}

TEST(a_margin_makes_neighbours_equal_if_both_are_near_their_thresholds) {
  Instance in(vec({1, 0.6}), vec({1, 1}), testing::chain(2), 10, false);
  n2gfl::GradientTerms terms = in.norm.terms(1, 1, nullptr);
  in.norm.keep_margin(terms, {0}, 1);
  const VectorXd after = surpluses(terms, 2);
  CHECK_NEAR(after[0], -0.2, 1e-6);
  CHECK_NEAR(after[1], -0.2, 1e-6);
}
