// The prox against brute force over all weak orders of the nodes, and against its own certificate.
#include "check.hpp"
#include "random_data.hpp"

#include "graph/parts.hpp"
#include "prox/fused_prox.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

using Eigen::VectorXd;
using n2gfl::Edge;
using n2gfl::FusedProx;
using n2gfl::Graph;
using n2gfl::Poll;
using n2gfl::Sign;
using testing::below;
using testing::kInfinity;
using testing::Random;
using testing::uniform;

namespace {

const Sign kSigns[] = {Sign::nonnegative, Sign::nonpositive, Sign::free};

double normal(Random& random) { return std::normal_distribution<double>()(random); }

struct Problem {
  int n;
  std::vector<Edge> edges;
  VectorXd z, masses, thresholds;
  double theta = 1;
  Sign sign = Sign::free;

  Problem(int nodes, std::vector<Edge> e)
      : n(nodes), edges(std::move(e)), z(VectorXd::Zero(n)), masses(VectorXd::Ones(n)),
        thresholds(VectorXd::Zero(n)) {}

  double objective(const VectorXd& b) const {
    double value = 0;
    for (int i = 0; i < n; ++i) {
      value += 0.5 * masses[i] * (b[i] - z[i]) * (b[i] - z[i]);
      if (b[i] != 0) value += thresholds[i] * std::fabs(b[i]);
      if (sign == Sign::nonnegative && b[i] < 0) return kInfinity;
      if (sign == Sign::nonpositive && b[i] > 0) return kInfinity;
    }
    for (const Edge& e : edges) value += theta * e.weight * std::fabs(b[e.from] - b[e.to]);
    return value;
  }
};

struct Solution {
  VectorXd b;
  double gap;
};

const int kAlways = 1, kNever = std::numeric_limits<int>::max();  // sizes for a fast start

Solution solve(const Problem& p, int large = kNever) {
  const Graph graph(p.n, p.edges);
  Poll poll;
  FusedProx prox(graph, poll, large);
  Solution s;
  prox.solve(p.z, p.masses, p.thresholds, p.theta, p.sign, s.b);
  s.gap = prox.gap(p.z, p.masses, p.thresholds, p.theta, p.sign, s.b);
  return s;
}

double distance(const VectorXd& a, const VectorXd& b) {
  return a.size() == 0 ? 0 : (a - b).cwiseAbs().maxCoeff();
}

// ---- brute force ----------------------------------------------------------------------------

// All weak orders of n items, as ranks 0, 1, ... without gaps.
std::vector<std::vector<int>> weak_orders(int n) {
  std::vector<std::vector<int>> orders;
  std::vector<int> rank(n, 0);
  for (;;) {
    const int top = *std::max_element(rank.begin(), rank.end());
    bool dense = true;
    for (int r = 0; r < top && dense; ++r)
      dense = std::find(rank.begin(), rank.end(), r) != rank.end();
    if (dense) orders.push_back(rank);
    int k = 0;
    while (k < n && ++rank[k] == n) rank[k++] = 0;
    if (k == n) return orders;
  }
}

// The best b with the given order; the last rank is the rank of zero.
VectorXd best_in_order(const Problem& p, const std::vector<int>& rank) {
  std::vector<double> sum(p.n + 1, 0.0), mass(p.n + 1, 0.0);
  const int zero = rank[p.n];
  for (int i = 0; i < p.n; ++i) {
    sum[rank[i]] += p.masses[i] * p.z[i];
    if (rank[i] != zero) sum[rank[i]] -= rank[i] > zero ? p.thresholds[i] : -p.thresholds[i];
    mass[rank[i]] += p.masses[i];
  }
  for (const Edge& e : p.edges) {
    if (rank[e.from] == rank[e.to]) continue;
    const double pull = (rank[e.from] > rank[e.to] ? 1 : -1) * p.theta * e.weight;
    sum[rank[e.from]] -= pull;
    sum[rank[e.to]] += pull;
  }
  VectorXd b(p.n);
  for (int i = 0; i < p.n; ++i) b[i] = rank[i] == zero ? 0 : sum[rank[i]] / mass[rank[i]];
  return b;
}

VectorXd brute_force(const Problem& p, const std::vector<std::vector<int>>& orders) {
  VectorXd best;
  double best_value = kInfinity;
  for (const auto& rank : orders) {
    const VectorXd b = best_in_order(p, rank);
    if (!b.allFinite()) continue;
    const double value = p.objective(b);
    if (value < best_value) {
      best_value = value;
      best = b;
    }
  }
  return best;
}

// All connected graphs on n labelled nodes, as lists of edges with weight 1.
std::vector<std::vector<Edge>> connected_graphs(int n) {
  std::vector<Edge> pairs;
  for (int i = 0; i < n; ++i)
    for (int j = i + 1; j < n; ++j) pairs.push_back({i, j, 1.0});
  std::vector<std::vector<Edge>> graphs;
  for (unsigned subset = 0; subset < 1u << pairs.size(); ++subset) {
    std::vector<Edge> edges;
    for (std::size_t k = 0; k < pairs.size(); ++k)
      if (subset >> k & 1) edges.push_back(pairs[k]);
    int count = 0;
    components(Graph(n, edges), [](int, int) { return true; }, count);
    if (count == 1) graphs.push_back(edges);
  }
  return graphs;
}

void randomise(Problem& p, Random& random) {
  const int kind = below(random, 5);
  for (Edge& e : p.edges) e.weight = kind == 0 ? 1 : uniform(random, 0.1, 2);
  for (int i = 0; i < p.n; ++i) {
    p.z[i] = kind == 1 ? static_cast<double>(random() % 5) - 2 : 2 * normal(random);
    p.masses[i] = kind < 2 ? 1 : uniform(random, 0.2, 3);
    p.thresholds[i] = kind == 2 ? 0.5 : uniform(random, 0, 1.5);
    if (kind == 3 && random() % 3 == 0) p.thresholds[i] = random() % 2 ? 0 : kInfinity;
    if (kind == 4) p.thresholds[i] = 0;
  }
  p.theta = random() % 8 == 0 ? 0 : uniform(random, 0, 1);
}

void compare_with_brute_force(int n, int repeats) {
  Random random(n);
  const auto orders = weak_orders(n + 1);
  for (const auto& edges : connected_graphs(n))
    for (int r = 0; r < repeats; ++r) {
      Problem p(n, edges);
      randomise(p, random);
      p.sign = kSigns[random() % 3];
      const VectorXd best = brute_force(p, orders);
      for (int large : {kAlways, kNever}) {
        const Solution s = solve(p, large);
        CHECK_NEAR(distance(s.b, best), 0, 1e-10);
        CHECK(s.gap <= 1e-14);
      }
    }
}

}  // namespace

TEST(prox_is_the_brute_force_solution_up_to_4_nodes) {
  compare_with_brute_force(1, 100);
  compare_with_brute_force(2, 100);
  compare_with_brute_force(3, 100);
  compare_with_brute_force(4, 40);
}

TEST(prox_is_the_brute_force_solution_on_all_graphs_of_5_nodes) { compare_with_brute_force(5, 1); }

// ---- larger problems, judged by the certificate ---------------------------------------------

namespace {

double draw_weight(Random& random, int kind) {
  switch (kind) {
    case 0: return 1;
    case 1: return uniform(random, 0, 2);
    case 2: return random() % 3 ? uniform(random, 0, 1) : 0;
    default: return std::exp(uniform(random, -6, 4));
  }
}

double draw_value(Random& random, int kind) {
  switch (kind) {
    case 0: return static_cast<double>(random() % 4);
    case 1: return 1e3 + normal(random);
    case 2: return 0;
    default: return normal(random);
  }
}

double draw_threshold(Random& random, int kind) {
  switch (kind) {
    case 0: return 0;
    case 1: return 0.3;
    case 2: return uniform(random, 0, 1);
    default: return random() % 10 == 0 ? kInfinity : random() % 3 == 0 ? 0 : uniform(random, 0, 2);
  }
}

// Sparse random graphs, long-range or chain-like, with degenerate weights and values.
Problem random_problem(int seed, int most_nodes) {
  Random random(seed);
  const int n = 1 + below(random, most_nodes);
  const int wanted = n < 2 ? 0 : below(random, 4 * n + 1);
  std::vector<Edge> edges;
  for (int k = 0; k < wanted; ++k) {
    const int i = below(random, n);
    const int j = seed % 3 == 0 ? below(random, n) : std::min<int>(n - 1, i + 1 + below(random, 4));
    if (i != j) edges.push_back({i, j, draw_weight(random, seed % 4)});
  }
  Problem p(n, edges);
  const int threshold_kind = random() % 4;
  for (int i = 0; i < n; ++i) {
    p.z[i] = draw_value(random, seed % 5);
    if (seed % 2) p.masses[i] = std::exp(uniform(random, -2, 2));
    p.thresholds[i] = draw_threshold(random, threshold_kind);
  }
  p.sign = kSigns[random() % 3];
  return p;
}

Problem grid_problem(int side, double theta, int seed) {
  Random random(seed);
  std::vector<Edge> edges;
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x) {
      if (x + 1 < side) edges.push_back({y * side + x, y * side + x + 1, 1.0});
      if (y + 1 < side) edges.push_back({y * side + x, (y + 1) * side + x, 1.0});
    }
  Problem p(side * side, edges);
  for (int i = 0; i < p.n; ++i)
    p.z[i] = normal(random) + (i % side < side / 3 ? 2 : 0) - (i / side > side / 2 ? 2 : 0);
  p.theta = theta;
  return p;
}

}  // namespace

TEST(prox_certifies_itself_on_random_graphs) {
  for (int seed = 0; seed < 1500; ++seed) {
    const Problem p = random_problem(seed, seed % 25 == 0 ? 3000 : 150);
    CHECK_NEAR(solve(p, kNever).gap, 0, 1e-12);
    CHECK_NEAR(solve(p, kAlways).gap, 0, 1e-12);
  }
}

TEST(prox_on_grids_is_certified_for_every_sign) {
  for (double theta : {0.05, 0.3, 1.0, 5.0})
    for (Sign sign : kSigns)
      for (double threshold : {0.0, 0.01, 0.4}) {
        Problem p = grid_problem(60, theta, 1);
        p.sign = sign;
        p.thresholds.setConstant(threshold);
        const Solution fast = solve(p, kAlways), plain = solve(p, kNever);
        CHECK_NEAR(fast.gap, 0, 1e-20);
        CHECK_NEAR(plain.gap, 0, 1e-20);
        CHECK_NEAR(distance(fast.b, plain.b), 0, 1e-12);
      }
}

TEST(prox_on_random_trees_is_certified) {
  for (int seed = 0; seed < 300; ++seed) {
    Random random(seed);
    Problem p = random_problem(seed, 300);
    p.edges.clear();
    for (int i = 1; i < p.n; ++i) {
      const int parent = seed % 2 ? below(random, i) : std::max<int>(0, i - 1 - below(random, 2));
      p.edges.push_back({parent, i, draw_weight(random, seed % 4)});
    }
    CHECK_NEAR(solve(p, kAlways).gap, 0, 1e-12);
    CHECK_NEAR(solve(p, kNever).gap, 0, 1e-12);
  }
}

// Augmenting paths alone would take minutes here.
TEST(prox_on_a_long_chain_with_large_lambda_is_fast) {
  Random random(1);
  std::vector<Edge> edges;
  for (int i = 0; i + 1 < 50000; ++i) edges.push_back({i, i + 1, 1.0});
  Problem p(50000, edges);
  for (int i = 0; i < p.n; ++i) p.z[i] = normal(random) + i / 5000 % 3;
  p.theta = 500;
  CHECK_NEAR(solve(p, 500).gap, 0, 1e-18);
}

TEST(prox_copes_with_nodes_of_very_high_degree) {
  Random random(5);
  std::vector<Edge> edges;
  for (int i = 2; i < 400; ++i) {
    edges.push_back({0, i, 1.0});
    edges.push_back({1, i, 0.5});
  }
  Problem p(400, edges);
  for (int i = 0; i < p.n; ++i) p.z[i] = 3 * normal(random);
  for (double theta : {0.1, 1.0, 10.0}) {
    p.theta = theta;
    CHECK_NEAR(solve(p, kAlways).gap, 0, 1e-20);
  }
}

TEST(prox_copes_with_masses_and_capacities_beyond_float) {
  Problem p = grid_problem(20, 1, 3);
  for (int i = 0; i < p.n; ++i) p.masses[i] = i % 7 == 0 ? 1e-60 : i % 7 == 1 ? 1e50 : 1;
  CHECK(solve(p, kAlways).b.allFinite());  // no better answer exists in double for such masses
  p.masses.setOnes();
  for (std::size_t k = 0; k < p.edges.size(); ++k)
    p.edges[k].weight = k % 5 == 0 ? 1e-60 : k % 5 == 1 ? 1e60 : 1;
  CHECK_NEAR(solve(p, kAlways).gap, 0, 1e-12);
}

TEST(prox_can_be_interrupted) {
  const Problem p = grid_problem(600, 5, 4);  // takes more than the 0.2 s until the second call
  const Graph graph(p.n, p.edges);
  int calls = 0;
  Poll poll([&] {
    if (++calls == 2) throw std::runtime_error("stop");
  });
  FusedProx prox(graph, poll);
  VectorXd b;
  CHECK_THROWS(prox.solve(p.z, p.masses, p.thresholds, p.theta, p.sign, b));
  CHECK(calls == 2);
}

TEST(prox_with_one_threshold_is_soft_thresholded_total_variation) {
  for (int seed = 0; seed < 300; ++seed) {
    Random random(seed);
    Problem p = random_problem(seed, 100);
    p.masses.setOnes();
    p.thresholds.setZero();
    p.sign = Sign::free;
    const VectorXd tv = solve(p).b;
    const double threshold = uniform(random, 0, 1);
    p.thresholds.setConstant(threshold);
    for (Sign sign : kSigns) {
      p.sign = sign;
      VectorXd expected(p.n);
      for (int i = 0; i < p.n; ++i) {
        const double up = std::max(tv[i] - threshold, 0.0), down = std::min(tv[i] + threshold, 0.0);
        expected[i] = (sign == Sign::nonpositive ? 0 : up) + (sign == Sign::nonnegative ? 0 : down);
      }
      CHECK_NEAR(distance(solve(p).b, expected), 0, 1e-9 * (1 + p.z.cwiseAbs().maxCoeff()));
    }
  }
}

TEST(prox_started_from_a_kept_flow_is_the_cold_prox) {
  for (int seed = 0; seed < 200; ++seed) {
    Random random(seed);
    Problem p = random_problem(seed, 100);
    const Graph graph(p.n, p.edges);
    Poll poll;
    FusedProx prox(graph, poll, seed % 2 ? kAlways : kNever);
    for (int step = 0; step < 6; ++step) {
      VectorXd warm;
      prox.solve(p.z, p.masses, p.thresholds, p.theta, p.sign, warm);
      CHECK_NEAR(prox.gap(p.z, p.masses, p.thresholds, p.theta, p.sign, warm), 0, 1e-10);
      const double size = 1 + p.z.cwiseAbs().maxCoeff();
      CHECK_NEAR(distance(warm, solve(p).b), 0, 1e-9 * size);
      for (int i = 0; i < p.n; ++i) p.z[i] += 0.1 * normal(random);
      if (step % 3 == 2) p.theta *= uniform(random, 0.5, 1.5);
      p.sign = kSigns[random() % 3];
    }
  }
}

namespace {

// Steps of a solver on a grid: the values drift towards `aim`, a little differently in each step.
void drift(Problem& p, const VectorXd& aim, double share, Random& random) {
  for (int i = 0; i < p.n; ++i)
    p.z[i] += share * (aim[i] - p.z[i]) + 0.1 * share * normal(random);
}

// Nodes at zero that any increase of their value would make seeds of the next cut.
int count_without_margin(const Problem& p, const n2gfl::Network& net, const VectorXd& b) {
  int count = 0;
  for (int i = 0; i < p.n; ++i)
    count += b[i] == 0 && p.z[i] - p.thresholds[i] - net.outflow(i) > -1e-12;
  return count;
}

}  // namespace

TEST(steps_of_a_solver_on_a_grid_give_the_cold_prox) {
  for (Sign sign : kSigns)
    for (double threshold : {0.0, 0.1, 0.5})
      for (double share : {0.01, 0.1, 1.0}) {
        Problem p = grid_problem(40, 0.3, 7);
        const VectorXd aim = grid_problem(40, 0.3, 8).z;
        Random random(9);
        for (int i = 0; i < p.n; ++i) {
          p.thresholds[i] = i % 50 == 0 ? 0 : i % 70 == 0 ? kInfinity : threshold;
          p.masses[i] = uniform(random, 0.5, 2);
        }
        p.sign = sign;
        const Graph graph(p.n, p.edges);
        Poll poll;
        FusedProx prox(graph, poll);
        VectorXd warm;
        for (int step = 0; step < 5; ++step) {
          prox.solve(p.z, p.masses, p.thresholds, p.theta, p.sign, warm);
          CHECK_NEAR(prox.gap(p.z, p.masses, p.thresholds, p.theta, p.sign, warm), 0, 1e-18);
          CHECK_NEAR(distance(warm, solve(p, 500).b), 0, 1e-12);
          drift(p, aim, share, random);
        }
      }
}

// A search that moved the surplus inside the support would lose the flow that proves its blocks.
TEST(the_cut_at_zero_keeps_the_flow_inside_the_support) {
  for (Sign sign : kSigns) {
    Problem p = grid_problem(40, 0.3, 7);
    p.thresholds.setConstant(0.2);
    p.sign = sign;
    const Graph graph(p.n, p.edges);
    Poll poll;
    FusedProx prox(graph, poll);
    VectorXd first, second;
    prox.solve(p.z, p.masses, p.thresholds, p.theta, p.sign, first);
    std::vector<double> flow;
    for (int a = 0; a < graph.arcs(); ++a) flow.push_back(prox.network().arc(a).flow);
    prox.solve(p.z, p.masses, p.thresholds, p.theta, p.sign, second);
    CHECK_NEAR(distance(first, second), 0, 1e-14);
    int inside = 0;
    for (int i = 0; i < p.n; ++i)
      for (int a = graph.begin(i); a < graph.end(i); ++a) {
        if (first[i] * first[graph.head(a)] <= 0) continue;
        ++inside;
        CHECK_NEAR(prox.network().arc(a).flow, flow[a], 1e-13);
      }
    CHECK(inside > 500);
  }
}

TEST(nodes_at_zero_have_a_margin_after_a_warm_cut) {
  Problem p = grid_problem(40, 0.3, 7);
  p.z.array() -= 0.5;
  p.thresholds.setConstant(0.2);
  p.sign = Sign::nonnegative;
  const Graph graph(p.n, p.edges);
  Poll poll;
  FusedProx prox(graph, poll);
  VectorXd b;
  prox.solve(p.z, p.masses, p.thresholds, p.theta, p.sign, b);
  const VectorXd aim = grid_problem(40, 0.3, 8).z.array() - 0.5;
  Random random(9);
  for (int step = 0; step < 4; ++step) {
    drift(p, aim, 0.02, random);
    prox.solve(p.z, p.masses, p.thresholds, p.theta, p.sign, b);
  }
  FusedProx cold(graph, poll);
  VectorXd again;
  cold.solve(p.z, p.masses, p.thresholds, p.theta, p.sign, again);
  CHECK(count_without_margin(p, cold.network(), again) > 100);
  CHECK(10 * count_without_margin(p, prox.network(), b) <
        count_without_margin(p, cold.network(), again));
}

TEST(prox_does_not_depend_on_the_scale_of_the_data) {
  for (int seed = 0; seed < 200; ++seed) {
    const Problem p = random_problem(seed, 100);
    const VectorXd b = solve(p).b;
    for (double factor : {1e-8, 1e8}) {
      Problem scaled = p;
      scaled.z *= factor;
      scaled.thresholds *= factor;
      scaled.theta *= factor;
      const Solution s = solve(scaled);
      CHECK_NEAR(distance(s.b / factor, b), 0, 1e-10 * (1 + p.z.cwiseAbs().maxCoeff()));
      CHECK_NEAR(s.gap, 0, 1e-10);
    }
  }
}

TEST(constant_data_come_back_whatever_their_scale) {
  // Nothing needs to change, with the fast start too, whose floats cannot hold a capacity of
  // 1e-290.
  for (double unit : {1.0, 1e-290, 1e290})
    for (Sign sign : {Sign::nonnegative, Sign::free}) {
      Problem p(4, {{0, 1, 1e4}, {1, 2, 1e-4}, {2, 3, 1e5}, {3, 0, 1}, {0, 2, 1e-4}});
      p.masses << 3.1, 2.9, 1.6, 1.5;
      p.z.setConstant(0.3 * unit);
      p.theta = 1e6 * unit;
      p.sign = sign;
      CHECK(distance(solve(p, kAlways).b, p.z) <= 1e-15 * unit);
    }
}

TEST(prox_is_mirrored_when_signs_are) {
  for (int seed = 0; seed < 200; ++seed) {
    Problem p = random_problem(seed, 100);
    Problem mirrored = p;
    mirrored.z = -p.z;
    p.sign = seed % 2 ? Sign::nonnegative : Sign::free;
    mirrored.sign = seed % 2 ? Sign::nonpositive : Sign::free;
    const double size = 1 + p.z.cwiseAbs().maxCoeff();
    CHECK_NEAR(distance(solve(p).b, -solve(mirrored).b), 0, 1e-10 * size);
  }
}

TEST(prox_with_huge_lambda_is_the_mean_of_every_component) {
  for (int seed = 0; seed < 200; ++seed) {
    Problem p = random_problem(seed, 100);
    if (seed % 4 == 2) continue;  // weights that may be zero
    p.sign = Sign::free;
    p.thresholds.setZero();
    p.theta = 1e9;
    int count = 0;
    const Graph graph(p.n, p.edges);
    const auto label = components(graph, [](int, int) { return true; }, count);
    VectorXd sum = VectorXd::Zero(count), mass = VectorXd::Zero(count), expected(p.n);
    for (int i = 0; i < p.n; ++i) {
      sum[label[i]] += p.masses[i] * p.z[i];
      mass[label[i]] += p.masses[i];
    }
    for (int i = 0; i < p.n; ++i) expected[i] = sum[label[i]] / mass[label[i]];
    CHECK_NEAR(distance(solve(p).b, expected), 0, 1e-10 * (1 + p.z.cwiseAbs().maxCoeff()));
  }
}

TEST(prox_without_lambda_works_node_by_node) {
  Problem p(4, {{0, 1, 1.0}, {1, 2, 1.0}, {2, 3, 1.0}});
  p.theta = 0;
  p.z << 3, -3, 0.25, -7;
  p.masses << 1, 2, 1, 1;
  p.thresholds << 1, 1, 1, kInfinity;
  VectorXd expected(4);
  expected << 2, -2.5, 0, 0;
  CHECK_NEAR(distance(solve(p).b, expected), 0, 1e-15);
  p.thresholds.setZero();
  CHECK_NEAR(distance(solve(p).b, p.z), 0, 1e-15);
}

TEST(prox_of_nothing_is_nothing) {
  CHECK(solve(Problem(0, {})).b.size() == 0);
  Problem zero(3, {{0, 1, 1.0}});
  CHECK(solve(zero).b == VectorXd::Zero(3));
  CHECK(solve(zero).gap == 0);
  zero.z.setConstant(0.1);
  CHECK_NEAR(distance(solve(zero).b, zero.z), 0, 1e-16);
}

TEST(prox_gap_sees_a_wrong_solution) {
  const Problem p = grid_problem(10, 0.5, 2);
  const Graph graph(p.n, p.edges);
  Poll poll;
  FusedProx prox(graph, poll);
  VectorXd b;
  prox.solve(p.z, p.masses, p.thresholds, p.theta, p.sign, b);
  const double size = p.objective(b);
  b[17] += 1e-3;
  CHECK(prox.gap(p.z, p.masses, p.thresholds, p.theta, p.sign, b) > 0.4e-6 / size);
}

// Rings, because a flow around a cycle can stay large. The second ring keeps its values.
TEST(values_that_were_large_before_do_not_blur_small_ones) {
  Random random(11);
  std::vector<Edge> edges;
  for (int i = 0; i < 12; ++i) edges.push_back({i, i / 6 * 6 + (i + 1) % 6, 1e6});
  for (int trial = 0; trial < 20; ++trial) {
    Problem p(12, edges);
    for (int i = 0; i < p.n; ++i) p.z[i] = normal(random);
    p.sign = kSigns[trial % 3];
    p.thresholds.setConstant(trial % 2 * 1e-9);
    const Graph graph(p.n, p.edges);
    Poll poll;
    FusedProx prox(graph, poll);
    VectorXd b, large = p.z;
    large.head(6) *= 1e9;
    prox.solve(large, p.masses, p.thresholds, p.theta, p.sign, b);
    p.z.head(6) *= 1e-6;
    prox.solve(p.z, p.masses, p.thresholds, p.theta, p.sign, b);
    const VectorXd cold = solve(p).b;
    CHECK_NEAR(distance(b.head(6), cold.head(6)), 0, 1e-18);
    CHECK_NEAR(distance(b.tail(6), cold.tail(6)), 0, 1e-12);
  }
}

TEST(components_do_not_blur_each_other) {
  // Next to a component with values a billion times larger, each component is solved as if it were
  // alone.
  for (int large : {kAlways, kNever})
    for (Sign sign : kSigns)
      for (double threshold : {0.0, 0.2}) {
        Random random(31);
        Problem small(6, {{0, 1, 1.0}, {1, 2, 0.5}, {2, 3, 1.0}, {3, 4, 0.7}, {4, 5, 1.0}, {0, 5, 1.0}});
        for (int i = 0; i < 6; ++i) small.z[i] = 2 * normal(random);
        small.thresholds.setConstant(threshold);
        small.theta = 0.3;
        small.sign = sign;
        Problem both(12, small.edges);
        for (const Edge& e : small.edges) both.edges.push_back({e.from + 6, e.to + 6, 1e9 * e.weight});
        both.z << small.z, 1e9 * (small.z.array() + 3).matrix();
        both.thresholds << small.thresholds, 1e9 * small.thresholds;
        both.theta = small.theta;
        both.sign = sign;
        CHECK_NEAR(distance(solve(both, large).b.head(6), solve(small, large).b), 0, 1e-14);
      }
}

TEST(prox_takes_numbers_whose_squares_are_none) {
  for (int large : {kAlways, kNever})
    for (double unit : {1e290, 1e-290}) {
      Random random(32);
      Problem p(30, {});
      for (int i = 0; i + 1 < 30; ++i) p.edges.push_back({i, i + 1, 1.0});
      for (int i = 0; i + 6 < 30; i += 2) p.edges.push_back({i, i + 6, 0.5});
      for (int i = 0; i < 30; ++i) p.z[i] = normal(random);
      p.theta = 0.4;
      const Solution plain = solve(p, large);
      p.z *= unit;
      p.theta *= unit;
      const Solution s = solve(p, large);
      CHECK(s.gap <= 1e-12);
      CHECK_NEAR(distance(s.b / unit, plain.b), 0, 1e-12);
    }
}
