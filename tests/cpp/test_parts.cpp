#include "check.hpp"

#include "graph/parts.hpp"

#include <vector>

using n2gfl::Graph;

namespace {

bool always(int, int) { return true; }

}  // namespace

TEST(parts_are_connected_inside_the_set_only) {
  // a chain of 6 nodes without node 3
  const Graph chain(6, {{0, 1, 1.0}, {1, 2, 1.0}, {2, 3, 1.0}, {3, 4, 1.0}, {4, 5, 1.0}});
  CHECK(n2gfl::label_parts(chain, {0, 1, 2, 4, 5}, always) == (std::vector<int>{0, 0, 0, 1, 1}));
  CHECK(n2gfl::count_parts(chain, {0, 2, 4}, always) == 3);
  CHECK(n2gfl::count_parts(chain, {}, always) == 0);
}

TEST(parts_follow_the_rule_and_are_numbered_by_their_first_nodes) {
  // a ring with values 1 2 1 1: the first and the last node are neighbours
  const Graph ring(4, {{0, 1, 1.0}, {1, 2, 1.0}, {2, 3, 1.0}, {0, 3, 1.0}});
  const std::vector<double> value{1, 2, 1, 1};
  const auto equal = [&](int a, int b) { return value[a] == value[b]; };
  CHECK(n2gfl::label_parts(ring, {0, 1, 2, 3}, equal) == (std::vector<int>{0, 1, 0, 0}));
}

TEST(connected_components_keep_the_given_order) {
  const Graph chain(6, {{0, 1, 1.0}, {1, 2, 1.0}, {2, 3, 1.0}, {3, 4, 1.0}, {4, 5, 1.0}});
  const std::vector<std::vector<int>> parts = n2gfl::connected_components(chain, {5, 1, 0, 4, 2});
  CHECK(parts == (std::vector<std::vector<int>>{{5, 4}, {1, 0, 2}}));
  CHECK(n2gfl::connected_components(chain, {}).empty());
}
