// Regions after many splits and merges against their definition; the balance inside regions; the
// working set.
#include "check.hpp"
#include "example_model.hpp"

#include "data/regions.hpp"
#include "graph/parts.hpp"
#include "penalty/dual_norm.hpp"
#include "solve/region_balance.hpp"
#include "solve/working_set.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

using n2gfl::Design;
using n2gfl::Graph;
using n2gfl::GradientTerms;
using n2gfl::Piece;
using n2gfl::Region;
using n2gfl::Regions;
using testing::below;
using testing::ExampleModel;
using testing::MatrixXd;
using testing::Random;
using testing::SparseColumns;
using testing::uniform;
using testing::uniform_matrix;
using testing::uniform_vector;
using testing::VectorXd;

namespace {

// A connected set of at most `most` nodes around `start`, all in the same region, none of them in
// `taken`.
std::vector<int> connected_set(const Graph& graph, const Regions& regions, int start, int most,
                               std::vector<char>& taken) {
  std::vector<int> set(1, start);
  taken[start] = 1;
  for (std::size_t h = 0; h < set.size(); ++h)
    for (int a = graph.begin(set[h]); a < graph.end(set[h]); ++a) {
      const int j = graph.head(a);
      if (static_cast<int>(set.size()) == most) return set;
      if (taken[j] || regions.of(j) != regions.of(start)) continue;
      taken[j] = 1;
      set.push_back(j);
    }
  return set;
}

std::vector<Piece> random_pieces(Random& random, const Graph& graph, const Regions& regions) {
  std::vector<Piece> pieces;
  std::vector<char> taken(graph.nodes(), 0);
  for (int k = 1 + below(random, 5); k > 0; --k) {
    const int start = below(random, graph.nodes());
    if (taken[start]) continue;
    Piece piece;
    piece.nodes = connected_set(graph, regions, start, 1 + below(random, 60), taken);
    piece.parent = regions.of(start);
    piece.sign = random() % 2 ? 1 : -1;
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

// Joins some neighbouring regions and drops some.
void merge_some(Random& random, const Graph& graph, Regions& regions) {
  std::vector<int> group(regions.size());
  for (int k = 0; k < regions.size(); ++k) group[k] = k;
  for (int k = 0; k < regions.size(); ++k)
    for (int a : regions[k].border) {
      const int other = regions.of(graph.head(a));
      if (other < 0 || random() % 20) continue;
      const int from = group[other], to = group[k];
      for (int& g : group)
        if (g == from) g = to;
    }
  for (int k = 0; k < regions.size(); ++k) {
    if (random() % 20) continue;
    const int dropped = group[k];
    std::replace(group.begin(), group.end(), dropped, -1);
  }
  std::map<int, int> number;  // groups are numbered without gaps
  for (int& g : group)
    if (g >= 0) g = number.emplace(g, static_cast<int>(number.size())).first->second;
  regions.merge(group, static_cast<int>(number.size()), regions.values());
}

std::vector<int> sorted(std::vector<int> v) {
  std::sort(v.begin(), v.end());
  return v;
}

void check_region(const ExampleModel& in, const Regions& regions, int k) {
  const Region& region = regions[k];
  VectorXd column = VectorXd::Zero(in.design.rows()), projection;
  double factor = 0;
  std::vector<int> border;
  for (int i : region.nodes) {
    CHECK(regions.of(i) == k);
    in.design.add(i, 1.0, column);
    factor += in.model.factor[i];
    for (int a = in.graph.begin(i); a < in.graph.end(i); ++a)
      if (regions.of(in.graph.head(a)) != k) border.push_back(a);
  }
  const double size = column.norm();
  in.profile.project_out(column, projection);
  CHECK((region.column - column).norm() <= 1e-12 * column.norm());
  CHECK((region.projection - projection).norm() <= 1e-12 * size);
  CHECK(region.factor == factor);  // the factors are multiples of 1/64, so sums are exact
  CHECK(sorted(region.border) == sorted(border));
}

// Every region is connected, and nodes in no region are marked so.
void check_partition(const ExampleModel& in, const Regions& regions) {
  int inside = 0, count = 0;
  for (int i = 0; i < in.graph.nodes(); ++i) inside += regions.of(i) >= 0;
  CHECK(inside == regions.nonzero());
  auto joins = [&](int i, int a) { return regions.of(i) == regions.of(in.graph.head(a)); };
  const std::vector<int> label = components(in.graph, joins, count);
  for (int k = 0; k < regions.size(); ++k) {
    CHECK(!regions[k].nodes.empty());
    for (int i : regions[k].nodes) CHECK(label[i] == label[regions[k].nodes[0]]);
  }
}

VectorXd dyadic_factors(Random& random, int n) {
  VectorXd factor(n);
  for (int i = 0; i < n; ++i) factor[i] = below(random, 200) / 64.0;
  return factor;
}

// X = I, so that the gradient is the residual; a network with capacities, and exact gradients.
struct FlowModel {
  FlowModel(Random& random, const Graph& g, const VectorXd& factor, bool nonnegative,
            double lambda2)
      : columns(MatrixXd::Identity(g.nodes(), g.nodes())),
        in(columns.design(), VectorXd::Ones(g.nodes()), false, g, factor, nonnegative),
        network(in.graph), search(network, in.poll), gradient(in.model), regions(in.model),
        residual(uniform_vector(random, g.nodes(), -1, 1)),
        norm(in.model, network, search, gradient) {
    network.set_capacities(in.graph, lambda2);
    gradient.set_residual(residual);
    gradient.compute_all();
  }

  void set_random_flow(Random& random) {
    for (int a = 0; a < network.arcs(); ++a)
      if (random() % 2) network.set_flow(a, uniform(random, -1, 1) * network.arc(a).capacity);
  }

  SparseColumns columns;
  ExampleModel in;
  n2gfl::Network network;
  n2gfl::MaxFlow search;
  n2gfl::LazyGradient gradient;
  Regions regions;
  VectorXd residual;
  n2gfl::DualNorm norm;
};

void check_balance(FlowModel& m, bool roomy) {
  GradientTerms terms = m.norm.terms(0.2, 1, &m.regions);
  n2gfl::RegionBalance balance(m.network, m.regions, m.in.poll, 1);
  std::vector<double> outflow(m.network.outflows(), m.network.outflows() + m.network.nodes());
  balance.run(terms, 1e-12, false);
  for (int i = 0; i < m.network.nodes(); ++i) CHECK(m.network.outflow(i) == outflow[i]);
  const std::vector<double> mean = balance.mean();
  balance.run(terms, 1e-12, true);
  for (int k = 0; k < m.regions.size(); ++k) {
    double sum = 0;
    for (int i : m.regions[k].nodes) {
      sum += m.residual[i] - 0.2 * m.in.model.factor[i] - outflow[i];
      if (roomy) CHECK_NEAR(terms.excess(i), mean[k], 1e-10);
    }
    CHECK_NEAR(mean[k], sum / static_cast<double>(m.regions[k].nodes.size()), 1e-12);
    CHECK_NEAR(balance.mean()[k], mean[k], 1e-12);
  }
  for (int i = 0; i < m.network.nodes(); ++i)
    if (m.regions.of(i) < 0) CHECK(m.network.outflow(i) == outflow[i]);
  for (int a = 0; a < m.network.arcs(); ++a) {
    CHECK(std::fabs(m.network.arc(a).flow) <= m.network.arc(a).capacity);
    CHECK(m.network.arc(m.network.arc(a).reverse).flow == -m.network.arc(a).flow);
  }
  n2gfl::Network copy = m.network;  // all nodes whose flow has changed are marked
  copy.refresh_outflow();
  m.network.refresh_marked();
  for (int i = 0; i < m.network.nodes(); ++i) CHECK(m.network.outflow(i) == copy.outflow(i));
}

}  // namespace

TEST(regions_are_what_their_nodes_say_after_many_splits_and_merges) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    Random random(seed);
    const Graph graph = testing::grid_graph(18, 2, [&] { return uniform(random, 0.5, 2); });
    const MatrixXd x = uniform_matrix(random, 12, graph.nodes(), -1, 1).array() + 0.3;
    VectorXd weights = uniform_vector(random, 12, 0.5, 2);
    weights[3] = 0;
    Design design = Design::dense(x.data(), 12, graph.nodes());
    design.use_rows(weights);
    const VectorXd factor = dyadic_factors(random, graph.nodes());
    const ExampleModel in(design, weights, true, graph, factor, true);
    Regions regions(in.model);
    std::map<int, std::vector<int>> contents;  // a content number belongs to one set of nodes
    for (int step = 0; step < 300; ++step) {
      std::vector<Piece> pieces = random_pieces(random, graph, regions);
      if (step % 4 < 3) regions.split(pieces);
      else merge_some(random, graph, regions);
      if (step % 50 == 20) regions.set_fused(false);
      if (step % 50 == 20) regions.set_fused(true);
      for (int k = 0; k < regions.size(); ++k) {
        check_region(in, regions, k);
        const std::vector<int> nodes = sorted(regions[k].nodes);
        CHECK(contents.emplace(regions[k].content, nodes).first->second == nodes);
      }
      check_partition(in, regions);
    }
  }
}

TEST(region_balance_spreads_the_mean_excess) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    const bool roomy = seed % 2 == 0;
    const Graph graph = testing::grid_graph(8, 2, [&] { return uniform(random, 0.5, 2); });
    const VectorXd factor = uniform_vector(random, graph.nodes(), 0.3, 2);
    FlowModel m(random, graph, factor, true, roomy ? 500 : 0.2);
    std::vector<Piece> pieces = random_pieces(random, graph, m.regions);
    m.regions.split(pieces);
    m.regions.set_values(VectorXd::Ones(m.regions.size()), false);
    if (!roomy) m.set_random_flow(random);
    m.network.refresh_outflow();
    check_balance(m, roomy);
  }
}

TEST(region_balance_is_the_same_with_any_number_of_threads) {
  const Graph graph = testing::grid_graph(32, 2, [] { return 1.0; });
  std::vector<std::vector<double>> flow;
  for (int threads = 1; threads < 4; ++threads) {
    Random random(4);
    FlowModel m(random, graph, VectorXd::Ones(graph.nodes()), true, 0.4);
    std::vector<Piece> rows(32);  // every row of the grid is a region
    for (int i = 0; i < graph.nodes(); ++i) rows[i / 32].nodes.push_back(i);
    m.regions.split(rows);
    m.regions.set_values(VectorXd::Ones(m.regions.size()), false);
    GradientTerms terms = m.norm.terms(0.2, 1, &m.regions);
    n2gfl::RegionBalance balance(m.network, m.regions, m.in.poll, threads);
    balance.run(terms, 1e-12, true);
    flow.emplace_back();
    for (int a = 0; a < m.network.arcs(); ++a) flow.back().push_back(m.network.arc(a).flow);
    CHECK(flow.back() == flow.front());
  }
  CHECK(std::any_of(flow[0].begin(), flow[0].end(), [](double f) { return f != 0; }));
}

TEST(working_set_holds_the_support_and_its_neighbours) {
  Random random(1);
  const Graph graph = testing::grid_graph(12, 2, [] { return 1.0; });
  FlowModel m(random, graph, VectorXd::Ones(graph.nodes()), false, 1);
  n2gfl::WorkingSet work(m.in.model, m.network, m.gradient, m.regions);
  for (int step = 0; step < 30; ++step) {
    if (step % 10 == 9) work.clear();
    std::vector<Piece> pieces = random_pieces(random, graph, m.regions);
    if (step % 3 < 2) m.regions.split(pieces);
    else merge_some(random, graph, m.regions);
    work.add_support();
    for (int k = 0; k < m.regions.size(); ++k)
      for (int i : m.regions[k].nodes) {
        CHECK(work.contains(i));
        for (int a = graph.begin(i); a < graph.end(i); ++a) CHECK(work.contains(graph.head(a)));
      }
    const std::vector<int> nodes = sorted(work.nodes());
    CHECK(std::adjacent_find(nodes.begin(), nodes.end()) == nodes.end());
    CHECK(std::all_of(nodes.begin(), nodes.end(), [&](int i) { return work.contains(i); }));
  }
}

TEST(working_set_takes_the_steepest_features) {
  for (bool nonnegative : {true, false}) {
    Random random(2);
    const int n = 1500, most = 1000;
    VectorXd factor = uniform_vector(random, n, 0.3, 2);
    factor[17] = 0;
    factor[18] = testing::kInfinity;
    FlowModel m(random, testing::chain(n), factor, nonnegative, 0.3);
    m.set_random_flow(random);
    VectorXd steep(n);
    for (int i = 0; i < n; ++i) {
      const double net = m.residual[i] - m.network.outflow(i), t = factor[i];
      steep[i] = (nonnegative ? net : std::fabs(net)) / t;
    }
    for (double share : {0.9, -1e9}) {
      const double lambda1 = 1;
      n2gfl::WorkingSet work(m.in.model, m.network, m.gradient, m.regions);
      work.add_steep(lambda1, share);
      CHECK(std::is_sorted(work.nodes().begin(), work.nodes().end()));
      const int wanted = static_cast<int>((steep.array() > share).count());
      CHECK(static_cast<int>(work.nodes().size()) <= most);
      CHECK(wanted > most || std::abs(wanted - static_cast<int>(work.nodes().size())) <= 1);
      double least = testing::kInfinity;
      for (int i : work.nodes()) least = i == 17 ? least : std::min(least, steep[i]);
      CHECK(least > share);
      for (int i = 0; i < n; ++i)
        if (!work.contains(i) && i != 17) CHECK(!(steep[i] > (wanted > most ? least : share)));
    }
  }
}
