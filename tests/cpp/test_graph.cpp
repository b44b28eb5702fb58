#include "check.hpp"

#include "graph/graph.hpp"
#include "graph/max_flow.hpp"
#include "graph/parts.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

using n2gfl::Edge;
using n2gfl::Graph;

namespace {

double weight_between(const Graph& g, int i, int j) {
  for (int a = g.begin(i); a < g.end(i); ++a)
    if (g.head(a) == j) return g.weight(a);
  return 0;
}

int count_components(const Graph& g) {
  int count = -1;
  components(g, [](int, int) { return true; }, count);
  return count;
}

}  // namespace

TEST(graph_stores_every_edge_as_two_opposite_arcs) {
  const Graph g(4, {{2, 0, 0.5}, {3, 1, 2.0}, {0, 1, 1.0}, {3, 2, 4.0}});
  CHECK(g.nodes() == 4);
  CHECK(g.edges() == 4);
  CHECK(g.arcs() == 8);
  const n2gfl::Network net(g);
  for (int i = 0; i < g.nodes(); ++i)
    for (int a = g.begin(i); a < g.end(i); ++a) {
      const int back = net.arc(a).reverse;
      CHECK(g.head(back) == i);
      CHECK(net.arc(back).reverse == a);
      CHECK(g.weight(back) == g.weight(a));
      CHECK(back >= g.begin(g.head(a)) && back < g.end(g.head(a)));
    }
  CHECK(weight_between(g, 0, 2) == 0.5);
  CHECK(weight_between(g, 1, 3) == 2.0);
  CHECK(weight_between(g, 0, 3) == 0.0);
}

TEST(graph_arcs_are_sorted_by_head) {
  const Graph g(5, {{4, 0, 1}, {3, 0, 1}, {4, 3, 1}, {2, 3, 1}, {1, 3, 1}, {0, 1, 1}});
  for (int i = 0; i < g.nodes(); ++i)
    for (int a = g.begin(i); a + 1 < g.end(i); ++a) CHECK(g.head(a) < g.head(a + 1));
}

TEST(graph_merges_parallel_edges_and_drops_weight_zero) {
  const Graph g(3, {{0, 1, 1.0}, {1, 0, 2.5}, {1, 2, 0.0}, {0, 1, 0.5}});
  CHECK(g.edges() == 1);
  CHECK(weight_between(g, 0, 1) == 4.0);
  CHECK(weight_between(g, 1, 0) == 4.0);
  CHECK(g.begin(2) == g.end(2));
}

TEST(graph_may_be_empty_or_without_edges) {
  CHECK(Graph().nodes() == 0);
  CHECK(Graph(0, {}).arcs() == 0);
  CHECK(count_components(Graph(0, {})) == 0);
  const Graph g(3, {});
  CHECK(g.edges() == 0);
  CHECK(count_components(g) == 3);
}

TEST(graph_refuses_what_is_not_an_edge) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK_THROWS(Graph(-1, {}));
  CHECK_THROWS(Graph(2, {{0, 2, 1.0}}));
  CHECK_THROWS(Graph(2, {{-1, 0, 1.0}}));
  CHECK_THROWS(Graph(2, {{1, 1, 1.0}}));
  CHECK_THROWS(Graph(2, {{0, 1, -1.0}}));
  CHECK_THROWS(Graph(2, {{0, 1, nan}}));
  CHECK_THROWS(Graph(2, {{0, 1, infinity}}));
}

TEST(graph_error_names_the_edge_as_the_user_counts) {
  std::string message;
  try {
    Graph(3, {{1, 1, 1.0}});
  } catch (const std::invalid_argument& error) {
    message = error.what();
  }
  CHECK(message == "edge 2 - 2 is a self loop");
}

TEST(graph_components_follow_the_arcs_that_count) {
  const Graph g(6, {{0, 1, 1}, {1, 2, 5}, {3, 4, 1}});
  CHECK(count_components(g) == 3);
  int count = 0;
  const std::vector<int> label =
      components(g, [&](int, int arc) { return g.weight(arc) < 2; }, count);
  CHECK(count == 4);
  CHECK(label == std::vector<int>({0, 0, 1, 2, 2, 3}));
}
