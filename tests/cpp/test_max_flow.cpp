// Max-flow against plain breadth-first augmentation (Edmonds-Karp) on a dense matrix with a source
// and a sink, without code of the core.
#include "check.hpp"
#include "random_data.hpp"

#include "graph/max_flow.hpp"
#include "prox/closed_seeds.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

using n2gfl::Edge;
using n2gfl::Graph;
using n2gfl::Grow;
using n2gfl::MaxFlow;
using n2gfl::Network;
using n2gfl::Poll;
using testing::below;
using testing::Random;
using testing::uniform;

namespace {

using Matrix = std::vector<std::vector<double>>;

double reference_max_flow(Matrix residual, int source, int sink) {
  const int n = static_cast<int>(residual.size());
  double total = 0;
  for (;;) {
    std::vector<int> parent(n, -1), queue(1, source);
    parent[source] = source;
    for (std::size_t h = 0; h < queue.size() && parent[sink] < 0; ++h)
      for (int j = 0; j < n; ++j)
        if (parent[j] < 0 && residual[queue[h]][j] > 0) {
          parent[j] = queue[h];
          queue.push_back(j);
        }
    if (parent[sink] < 0) return total;
    double amount = residual[parent[sink]][sink];
    for (int j = sink; j != source; j = parent[j])
      amount = std::min(amount, residual[parent[j]][j]);
    for (int j = sink; j != source; j = parent[j]) {
      residual[parent[j]][j] -= amount;
      residual[j][parent[j]] += amount;
    }
    total += amount;
  }
}

enum Kind { kInteger, kTiny, kHuge, kMixed, kDegenerate, kKinds };

double draw_capacity(Random& random, Kind kind) {
  switch (kind) {
    case kInteger: return 1 + static_cast<double>(random() % 9);
    case kTiny: return 1e-12 * uniform(random, 0, 1);
    case kHuge: return 1e12 * uniform(random, 0, 1);
    case kMixed: return std::exp(uniform(random, -28, 28));
    default: return random() % 3 == 0 ? 0 : 1;
  }
}

// A random problem: supplies at the nodes, a graph, and groups that flow may not leave.
struct Instance {
  int n;
  Kind kind;
  Graph graph;
  std::vector<double> supply;
  std::vector<int> group;

  Instance(Graph g, std::vector<double> s)
      : n(g.nodes()), kind(kInteger), graph(std::move(g)), supply(std::move(s)), group(n, 0) {}

  // Changes some supplies; flow may or may not be restricted to groups.
  void change(Random& random) {
    const bool few = random() % 2 == 0;
    for (double& s : supply)
      if (!few || random() % 3 == 0)
        s = (random() % 2 ? 1 : -1) * draw_capacity(random, kind) * (random() % 4 ? 1 : 3);
    const int groups = random() % 3 == 0 ? 2 : 1;
    for (int& g : group) g = below(random, groups);
  }
};

Instance random_instance(Random& random, Kind kind) {
  const int n = 1 + below(random, 10);
  const int wanted = below(random, 3 * n);
  std::vector<Edge> edges;
  for (int k = 0; k < wanted; ++k) {
    const int i = below(random, n), j = below(random, n);
    if (i != j) edges.push_back({i, j, draw_capacity(random, kind)});
  }
  Instance in(Graph(n, edges), std::vector<double>(n, 0.0));
  in.kind = kind;
  in.change(random);
  return in;
}

Graph chain(int n, double weight) {
  std::vector<Edge> edges;
  for (int i = 0; i + 1 < n; ++i) edges.push_back({i, i + 1, weight});
  return Graph(n, edges);
}

struct Problem {
  const Instance* instance;
  const Network* net;
  double excess(int i) const { return instance->supply[i] - net->outflow(i); }
  bool open(int i, int j) const { return instance->group[i] == instance->group[j]; }
  int part(int i) const { return instance->group[i]; }
};

// Supplies minus the flow between groups, which is fixed.
std::vector<double> effective_supply(const Instance& in, const Network& net) {
  std::vector<double> supply = in.supply;
  for (int i = 0; i < in.n; ++i)
    for (int a = net.begin(i); a < net.end(i); ++a)
      if (in.group[i] != in.group[net.arc(a).head]) supply[i] -= net.arc(a).flow;
  return supply;
}

double reference_leftover(const Instance& in, const std::vector<double>& supply, int sign) {
  const int source = in.n, sink = in.n + 1;
  Matrix residual(in.n + 2, std::vector<double>(in.n + 2, 0.0));
  double total = 0;
  for (int i = 0; i < in.n; ++i) {
    const double s = sign * supply[i];
    (s > 0 ? residual[source][i] : residual[i][sink]) = std::fabs(s);
    total += std::max(s, 0.0);
    for (int a = in.graph.begin(i); a < in.graph.end(i); ++a) {
      const int j = in.graph.head(a);
      if (in.group[i] == in.group[j]) residual[i][j] = in.graph.weight(a);
    }
  }
  return total - reference_max_flow(residual, source, sink);
}

double scale_of(const Instance& in) {
  double scale = 0;
  for (double s : in.supply) scale += std::fabs(s);
  for (int a = 0; a < in.graph.arcs(); ++a) scale += in.graph.weight(a);
  return scale;
}

bool flow_is_feasible(const Instance& in, const Network& net, double slack) {
  for (int i = 0; i < in.n; ++i) {
    double sum = 0;
    for (int a = net.begin(i); a < net.end(i); ++a) {
      const double flow = net.arc(a).flow;
      sum += flow;
      if (std::fabs(flow) > in.graph.weight(a)) return false;
      if (net.arc(net.arc(a).reverse).flow != -flow) return false;
    }
    if (!(std::fabs(sum - net.outflow(i)) <= slack)) return false;
  }
  return true;
}

// The nodes that the remaining excess can still reach, by a search over the final residual
// capacities.
std::vector<bool> residual_side(const Problem& problem, int sign, double tolerance) {
  const Instance& in = *problem.instance;
  const Network& net = *problem.net;
  std::vector<bool> side(in.n, false);
  std::vector<int> queue;
  for (int i = 0; i < in.n; ++i)
    if (sign * problem.excess(i) > tolerance) {
      side[i] = true;
      queue.push_back(i);
    }
  for (std::size_t h = 0; h < queue.size(); ++h)
    for (int a = net.begin(queue[h]); a < net.end(queue[h]); ++a) {
      const int j = net.arc(a).head;
      if (side[j] || !problem.open(queue[h], j)) continue;
      if (in.graph.weight(a) - sign * net.arc(a).flow <= 0) continue;
      side[j] = true;
      queue.push_back(j);
    }
  return side;
}

// The value of the cut around `side`: its supply minus the capacity out of it.
double cut_value(const Instance& in, const std::vector<double>& supply,
                 const std::vector<bool>& side, int sign) {
  double value = 0;
  for (int i = 0; i < in.n; ++i) {
    if (!side[i]) continue;
    value += sign * supply[i];
    for (int a = in.graph.begin(i); a < in.graph.end(i); ++a) {
      const int j = in.graph.head(a);
      if (!side[j] && in.group[i] == in.group[j]) value -= in.graph.weight(a);
    }
  }
  return value;
}

// `by_parts`: each group is searched by itself.
void search_and_check(const Instance& in, Network& net, MaxFlow& search, Grow grow,
                      bool by_parts = false) {
  const int sign = static_cast<int>(grow);
  const std::vector<double> supply = effective_supply(in, net);
  const double slack = 1e-11 * scale_of(in), tolerance = 1e-15 * scale_of(in);
  Problem problem{&in, &net};
  std::vector<int> everything(in.n);
  for (int i = 0; i < in.n; ++i) everything[i] = i;
  if (by_parts)
    search.run_parts(problem, everything, grow, tolerance);
  else
    search.run(problem, everything, grow, tolerance);

  double leftover = 0;
  for (int i = 0; i < in.n; ++i) leftover += std::max(sign * problem.excess(i), 0.0);
  CHECK_NEAR(leftover, reference_leftover(in, supply, sign), slack);
  CHECK(flow_is_feasible(in, net, slack));
  const std::vector<bool> side = residual_side(problem, sign, tolerance);
  for (int i = 0; i < in.n; ++i) {
    CHECK(search.reached(i) == side[i]);
    CHECK(search.is_touched(i));
    CHECK_NEAR(search.excess(i), problem.excess(i), slack);
  }
  CHECK_NEAR(cut_value(in, supply, side, sign), leftover, slack);
}

// A search from some of the nodes.
void search_from_some(const Instance& in, Network& net, MaxFlow& search, Grow grow,
                      const std::vector<int>& seeds) {
  const int sign = static_cast<int>(grow);
  const double slack = 1e-11 * scale_of(in), tolerance = 1e-15 * scale_of(in);
  const std::vector<double> supply = effective_supply(in, net);
  std::vector<double> before(in.n);
  Problem problem{&in, &net};
  std::vector<bool> is_seed(in.n, false);
  for (int i : seeds) is_seed[i] = true;
  for (int i = 0; i < in.n; ++i) before[i] = sign * problem.excess(i);
  search.run(problem, seeds, grow, tolerance);

  CHECK(flow_is_feasible(in, net, slack));
  double leftover = 0;
  for (int i = 0; i < in.n; ++i) {
    const double now = sign * problem.excess(i);
    leftover += std::max(now, 0.0);
    if (!search.is_touched(i)) {
      CHECK(now == before[i] && !search.reached(i));
      continue;
    }
    const double most = is_seed[i] ? 0.0 : std::max(before[i], 0.0);
    CHECK(search.reached(i) || now <= most + slack);
    CHECK(now >= std::min(before[i], 0.0) - slack);  // no node gives more than it has
    CHECK_NEAR(search.excess(i), problem.excess(i), slack);
  }
  if (static_cast<int>(seeds.size()) == in.n)
    CHECK_NEAR(leftover, reference_leftover(in, supply, sign), slack);
}

// Calls body(random, instance, network, search) on random graphs; the flow is kept from round to
// round, while the instance changes.
template <class Body>
void on_random_graphs(int graphs, int rounds, Body body) {
  for (int seed = 0; seed < graphs; ++seed) {
    Random random(seed);
    Instance in = random_instance(random, static_cast<Kind>(seed % kKinds));
    Network net(in.graph);
    Poll poll;
    MaxFlow search(net, poll);
    for (int round = 0; round < rounds; ++round) {
      body(random, in, net, search);
      in.change(random);
    }
  }
}

Grow any_direction(Random& random) {
  return random() % 2 ? Grow::from_surplus : Grow::from_deficit;
}

// The flow of a random edge becomes a random share of its capacity.
void change_flow(Random& random, Network& net) {
  if (net.arcs() == 0) return;
  const int a = below(random, net.arcs());
  net.set_flow(a, uniform(random, -1, 1) * net.arc(a).capacity);
}

}  // namespace

TEST(max_flow_from_some_seeds_leaves_the_others_alone) {
  on_random_graphs(5000, 4, [](Random& random, const Instance& in, Network& net, MaxFlow& search) {
    std::vector<int> seeds;
    const bool all = random() % 2;
    for (int i = 0; i < in.n; ++i)
      if (all || random() % 2) seeds.push_back(i);
    search_from_some(in, net, search, any_direction(random), seeds);
  });
}

TEST(network_sums_the_marked_nodes_again) {
  on_random_graphs(2000, 8, [](Random& random, const Instance& in, Network& net, MaxFlow& search) {
    Problem problem{&in, &net};
    for (int k = below(random, 4); k > 0; --k) change_flow(random, net);
    if (random() % 2) search.run(problem, {below(random, in.n)}, Grow::from_surplus, 0);
    if (random() % 4 == 0) net.scale(uniform(random, 0.5, 1));
    Network copy = net;
    const double bound = copy.refresh_outflow();
    CHECK(net.refresh_marked() >= bound);
    for (int i = 0; i < in.n; ++i) CHECK(net.outflow(i) == copy.outflow(i));
  });
}

TEST(max_flow_agrees_with_a_simple_one_on_10000_graphs) {
  on_random_graphs(10000, 3, [](Random& random, const Instance& in, Network& net, MaxFlow& search) {
    search_and_check(in, net, search, any_direction(random), in.n % 2 == 0);
  });
}

// A grid whose columns belong to bands of 3: no flow passes between bands.
Instance banded_grid(Random& random, int side) {
  std::vector<Edge> edges;
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x) {
      const int i = y * side + x;
      if (x + 1 < side) edges.push_back({i, i + 1, uniform(random, 0, 2)});
      if (y + 1 < side) edges.push_back({i, i + side, uniform(random, 0, 2)});
    }
  Instance in(Graph(side * side, edges), std::vector<double>(side * side, 0.0));
  for (int i = 0; i < in.n; ++i) in.group[i] = i % side / 3;
  return in;
}

TEST(max_flow_on_a_larger_grid_with_kept_flow) {
  Random random(7);
  Instance in = banded_grid(random, 12);
  in.group.assign(in.n, 0);
  Network net(in.graph);
  Poll poll;
  MaxFlow search(net, poll);
  for (int round = 0; round < 10; ++round) {
    for (double& s : in.supply) s += uniform(random, -2, 2);
    search_and_check(in, net, search, round % 2 ? Grow::from_surplus : Grow::from_deficit);
  }
}

TEST(max_flow_by_parts_is_the_same_with_any_number_of_threads) {
  Random random(3);
  Instance in = banded_grid(random, 16);
  Poll poll;
  std::vector<Network> net(3, Network(in.graph));
  std::vector<MaxFlow> search;
  for (int t = 0; t < 3; ++t) search.emplace_back(net[t], poll, t + 1);
  for (int round = 0; round < 6; ++round) {
    for (double& s : in.supply) s += uniform(random, -2, 2);
    const Grow grow = round % 2 ? Grow::from_surplus : Grow::from_deficit;
    for (int t = 0; t < 3; ++t) search_and_check(in, net[t], search[t], grow, true);
    for (int t = 1; t < 3; ++t) {
      CHECK(search[t].touched() == search[0].touched());
      for (int a = 0; a < net[0].arcs(); ++a) CHECK(net[t].arc(a).flow == net[0].arc(a).flow);
    }
  }
}

TEST(max_flow_without_seeds_reaches_nothing) {
  Instance in(chain(3, 1.0), {1, 0, -1});
  Network net(in.graph);
  Poll poll;
  MaxFlow search(net, poll);
  Problem problem{&in, &net};
  search.run(problem, {}, Grow::from_surplus, 0);
  CHECK(search.touched().empty());
  search.run_parts(problem, {}, Grow::from_surplus, 0);
  CHECK(search.touched().empty());
  CHECK(!search.reached(0));
  search.run(problem, {1, 2}, Grow::from_surplus, 0);  // neither has a surplus
  CHECK(!search.reached(1) && net.outflow(0) == 0);
}

TEST(max_flow_is_local) {
  Instance in(chain(1000, 1.0), std::vector<double>(1000, -0.25));
  in.supply[500] = 1;
  Network net(in.graph);
  Poll poll;
  MaxFlow search(net, poll);
  Problem problem{&in, &net};
  search.run(problem, {500}, Grow::from_surplus, 0);
  CHECK_NEAR(problem.excess(500), 0, 0);
  CHECK(search.touched().size() < 10);
}

TEST(seeds_are_closed_if_no_path_leaves_them) {
  // a chain of 5 nodes; the edge from 2 to 3 is full in this direction
  const Graph chain(5, {{0, 1, 1.0}, {1, 2, 1.0}, {2, 3, 1.0}, {3, 4, 1.0}});
  Network net(chain);
  Poll poll;
  n2gfl::ClosedSeeds closed(net, poll);
  const auto found = [&](const std::vector<int>& candidates, Grow grow) {
    closed.find(candidates, grow);
    std::vector<int> nodes;
    for (int i = 0; i < chain.nodes(); ++i)
      if (closed.contains(i)) nodes.push_back(i);
    return nodes;
  };
  for (int a = net.begin(2); a < net.end(2); ++a)
    if (net.arc(a).head == 3) net.set_flow(a, 1);
  CHECK(found({0, 1, 2}, Grow::from_surplus) == (std::vector<int>{0, 1, 2}));
  CHECK(found({1, 2}, Grow::from_surplus).empty());           // 1 leads to 0, and 2 leads to 1
  CHECK(found({3, 4}, Grow::from_surplus).empty());           // against the full edge
  CHECK(found({3, 4}, Grow::from_deficit) == (std::vector<int>{3, 4}));
  CHECK(found({0, 1, 2}, Grow::from_deficit).empty());
  CHECK(found({}, Grow::from_surplus).empty());
}

TEST(network_scales_flow_and_capacity_together) {
  const Graph graph(3, {{0, 1, 1.0}, {1, 2, 2.0}});
  Network net(graph);
  net.set_flow(graph.begin(0), 0.75);
  CHECK(net.outflow(0) == 0.75);
  CHECK(net.outflow(1) == -0.75);
  net.scale(2);
  CHECK(net.arc(graph.begin(0)).flow == 1.5);
  CHECK(net.arc(graph.begin(0)).capacity == 2);
  CHECK(net.outflow(1) == -1.5);
  net.set_capacities(graph, 0.5);
  CHECK(net.arc(graph.begin(0)).flow == 0.5);
  CHECK(net.outflow(0) == 0.5 && net.outflow(1) == -0.5 && net.outflow(2) == 0);
}

TEST(max_flow_can_be_interrupted) {
  const int n = 20000;
  Instance in(chain(n, 1e9), std::vector<double>(n, -1.0));
  for (int i = 0; i < n / 2; ++i) in.supply[i] = 1;
  Network net(in.graph);
  Poll poll([] { throw std::runtime_error("stop"); });
  MaxFlow search(net, poll);
  Problem problem{&in, &net};
  std::vector<int> seeds(n / 2);
  for (int i = 0; i < n / 2; ++i) seeds[i] = i;
  std::this_thread::sleep_for(std::chrono::milliseconds(150));  // a Poll checks ten times a second
  CHECK_THROWS(search.run(problem, seeds, Grow::from_surplus, 0));
}
