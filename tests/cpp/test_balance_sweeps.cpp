// Sweeps over the edges in single precision: the flow stays feasible, and the excess of the nodes
// becomes more equal.
#include "check.hpp"
#include "example_model.hpp"

#include "graph/edge_sweeps.hpp"
#include "solve/balance_sweeps.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

using n2gfl::BalanceSweeps;
using n2gfl::Edge;
using n2gfl::EdgeRuns;
using n2gfl::Graph;
using n2gfl::Network;
using n2gfl::Poll;
using testing::below;
using testing::Random;
using testing::uniform;
using testing::uniform_vector;
using testing::VectorXd;

namespace {

// The first node has `degree` neighbours, which form a chain.
Graph star(int degree) {
  std::vector<Edge> edges;
  for (int i = 1; i <= degree; ++i) edges.push_back({0, i, 1.0});
  for (int i = 1; i < degree; ++i) edges.push_back({i, i + 1, 0.5});
  return Graph(degree + 1, edges);
}

// More edges at each of the nodes than there are colours.
Graph clique(int nodes) {
  std::vector<Edge> edges;
  for (int i = 0; i < nodes; ++i)
    for (int j = i + 1; j < nodes; ++j) edges.push_back({i, j, 1.0 + (i + j) % 3});
  return Graph(nodes, edges);
}

std::vector<Graph> graphs(Random& random) {
  std::vector<Graph> all{star(100), clique(70), testing::chain(1), testing::chain(50)};
  all.push_back(testing::grid_graph(20, 2, [] { return 1.0; }));
  all.push_back(testing::grid_graph(7, 3, [&] { return uniform(random, 0.1, 2); }));
  for (int k = 0; k < 20; ++k) all.push_back(testing::random_graph(random, 1 + below(random, 40)));
  return all;
}

// Supplies, parts that flow may not leave, and a flow to start from.
struct Instance {
  Instance(const Graph& graph, Random& random, double capacity, int parts)
      : net(graph), supply(uniform_vector(random, graph.nodes(), -1, 1)), part(graph.nodes()) {
    net.set_capacities(graph, capacity);
    for (int& p : part) p = below(random, parts);
    for (int a = 0; a < net.arcs(); ++a)
      if (random() % 2)
        net.set_flow(a, uniform(random, -1, 1) * std::min(1.0, net.arc(a).capacity));
    net.refresh_outflow();
  }

  double excess(int i) const { return supply[i] - net.outflow(i); }
  double energy() const {
    double sum = 0;
    for (int i = 0; i < net.nodes(); ++i) sum += excess(i) * excess(i);
    return sum;
  }
  bool is_closed(int a) const { return part[net.tail(a)] != part[net.arc(a).head]; }

  void load(BalanceSweeps& sweeps, double limit, double unit) const {
    sweeps.load([this](int i) { return excess(i); }, [limit](int) { return limit; },
                [this](int i) { return part[i]; }, unit);
  }

  void sweep(int count, double unit) {
    Poll poll;
    BalanceSweeps sweeps(net, poll);
    load(sweeps, BalanceSweeps::kOneSided, unit);
    sweeps.run(count);
    sweeps.unload();
  }

  Network net;
  VectorXd supply;
  std::vector<int> part;
};

void check_flow(const Instance& in, const Network& before) {
  for (int i = 0; i < in.net.nodes(); ++i) {
    double sum = 0;
    for (int a = in.net.begin(i); a < in.net.end(i); ++a) {
      const n2gfl::Arc& u = in.net.arc(a);
      CHECK(std::fabs(u.flow) <= u.capacity);
      CHECK(in.net.arc(u.reverse).flow == -u.flow);
      CHECK(!in.is_closed(a) || u.flow == before.arc(a).flow);
      sum += u.flow;
    }
    CHECK(in.net.outflow(i) == sum);
  }
}

double overflow_of(const Instance& in, double limit) {
  double sum = 0;
  for (int i = 0; i < in.net.nodes(); ++i) {
    const double e = in.excess(i);
    sum += limit < 0 ? std::fmax(0.0, e) : std::fmax(0.0, std::fabs(e) - limit);
  }
  return sum;
}

void check_runs(const Network& net, const EdgeRuns& edges, const std::vector<bool>& inside) {
  std::set<int> seen;
  int wanted = 0, next = 0;
  for (int a = 0; a < net.arcs(); ++a)
    wanted += a < net.arc(a).reverse && inside[net.tail(a)] && inside[net.arc(a).head];
  for (int e = 0; e < edges.edges(); ++e) {
    const int a = edges.arc(e);
    CHECK(inside[net.tail(a)] && inside[net.arc(a).head]);
    seen.insert(std::min(a, net.arc(a).reverse));
  }
  CHECK(wanted == edges.edges() && wanted == static_cast<int>(seen.size()));
  for (const EdgeRuns::Run& run : edges.runs()) {
    CHECK(run.first == next);
    next += run.size;
    std::set<int> ends;
    for (int k = 0; k < run.size; ++k) {
      ends.insert({run.a + k, run.b + k});
      const int a = edges.arc(run.first + k);
      CHECK(edges.node(run.a + k) == net.tail(a) && edges.node(run.b + k) == net.arc(a).head);
    }
    CHECK(static_cast<int>(ends.size()) == 2 * run.size);  // all nodes of a run differ
  }
  CHECK(next == edges.edges());
}

}  // namespace

TEST(edge_runs_hold_every_edge_once) {
  Random random(1);
  Poll poll;
  for (const Graph& graph : graphs(random))
    for (bool some : {false, true}) {
      const Network net(graph);
      std::vector<bool> inside(graph.nodes());
      std::vector<int> nodes;
      for (int i = graph.nodes() - 1; i >= 0; --i) {
        inside[i] = !some || random() % 3 > 0;
        if (inside[i]) nodes.push_back(i);
      }
      const EdgeRuns edges(net, poll, nodes);
      for (int i = 0; i < graph.nodes(); ++i)
        CHECK(inside[i] ? edges.node(edges.place(i)) == i : edges.place(i) == -1);
      check_runs(net, edges, inside);
      const std::vector<int> edge = edges.edge_of_arcs(net);
      for (int a = 0; a < net.arcs(); ++a) {
        const bool kept = inside[net.tail(a)] && inside[net.arc(a).head];
        CHECK(kept == (edge[a] >= 0));
        CHECK(!kept || edges.arc(edge[a]) == a || edges.arc(edge[a]) == net.arc(a).reverse);
      }
    }
}

TEST(balance_sweeps_keep_the_flow_feasible) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    Random random(seed);
    for (const Graph& graph : graphs(random))
      for (int parts : {1, 3}) {
        const double capacity = std::pow(10, uniform(random, -2, 1));
        Instance in(graph, random, capacity, parts);
        const Network before = in.net;
        in.sweep(1 + below(random, 30), capacity * uniform(random, 0.3, 3));
        check_flow(in, before);
      }
  }
}

// Without momentum every update of an edge decreases the energy.
TEST(one_balance_sweep_reduces_the_squares_of_the_excess) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    Random random(seed);
    for (const Graph& graph : graphs(random)) {
      Instance in(graph, random, uniform(random, 0.1, 2), 1 + below(random, 2));
      const double before = in.energy();
      in.sweep(1, 1);
      CHECK(in.energy() <= before * (1 + 1e-5));
      if (graph.edges() > 20) CHECK(in.energy() < 0.999 * before);
    }
  }
}

TEST(many_balance_sweeps_reduce_the_squares_of_the_excess) {
  for (unsigned seed = 1; seed <= 5; ++seed)
    for (int axes : {1, 2, 3}) {
      Random random(seed);
      const Graph graph = testing::grid_graph(8, axes, [&] { return uniform(random, 0.1, 2); });
      Instance few(graph, random, 0.3, 1), many = few;
      const double before = few.energy();
      few.sweep(3, 0.3);
      many.sweep(100, 0.3);
      CHECK(few.energy() < before);
      CHECK(many.energy() <= few.energy() * (1 + 1e-5));
    }
}

TEST(balance_sweeps_make_the_excess_equal_if_capacities_are_large) {
  for (int axes : {2, 3})
    for (bool equal : {true, false}) {
      Random random(axes);
      const Graph graph =
          testing::grid_graph(6, axes, [&] { return equal ? 1.0 : uniform(random, 0.5, 2); });
      Instance in(graph, random, 1000, 1);
      in.sweep(300, 1);
      const double mean = in.supply.mean();
      for (int i = 0; i < graph.nodes(); ++i) CHECK_NEAR(in.excess(i), mean, 1e-3);
    }
}

TEST(balance_sweeps_know_what_is_beyond_the_limits) {
  Random random(3);
  Poll poll;
  const Graph graph = testing::grid_graph(6, 2, [] { return 1.0; });
  for (double limit : {BalanceSweeps::kOneSided, 0.0, 0.3, 0.9}) {
    Instance in(graph, random, 0.1, 1);
    BalanceSweeps sweeps(in.net, poll);
    in.load(sweeps, limit, 0.1);
    CHECK_NEAR(sweeps.overflow(), overflow_of(in, limit), 1e-4);
    sweeps.run(3);
    const double overflow = sweeps.overflow();
    sweeps.unload();
    CHECK_NEAR(overflow, overflow_of(in, limit), 1e-3);
  }
}

// Excluded features have an infinite threshold.
TEST(balance_sweeps_survive_an_infinite_excess) {
  Random random(4);
  Poll poll;
  const Graph graph = testing::grid_graph(5, 2, [] { return 1.0; });
  Instance in(graph, random, 0.5, 1);
  const Network before = in.net;
  BalanceSweeps sweeps(in.net, poll);
  sweeps.load([&](int i) { return i == 7 ? -testing::kInfinity : in.excess(i); },
              [](int) { return BalanceSweeps::kOneSided; }, [](int) { return 0; }, 0.5);
  sweeps.run(30);
  CHECK(std::isfinite(sweeps.overflow()));
  sweeps.unload();
  check_flow(in, before);
  for (int a = in.net.begin(7); a < in.net.end(7); ++a)
    CHECK(in.net.arc(a).flow == -in.net.arc(a).capacity);
}

// A weight times lambda2 may be zero although both are positive.
TEST(balance_sweeps_leave_out_edges_without_capacity) {
  const Graph graph(4, {{0, 1, 1.0}, {1, 2, 5e-324}, {2, 3, 1.0}});
  Random random(5);
  Instance in(graph, random, 0.25, 1);
  const Network before = in.net;
  in.sweep(20, 0.25);
  check_flow(in, before);
  CHECK(in.net.outflow(0) == -in.net.outflow(1) && in.net.outflow(2) == -in.net.outflow(3));
}
