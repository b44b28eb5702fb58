// The sums of columns that regions keep while pieces leave them and join them.
#include "check.hpp"
#include "random_problem.hpp"

#include "data/regions.hpp"
#include "loss/gaussian_loss.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

using Eigen::MatrixXd;
using Eigen::VectorXd;
using n2gfl::Piece;
using testing::Random;

namespace {

struct Data {
  explicit Data(const testing::Problem& p)
      : x(p.x), graph(p.graph), loss(p.y, p.weights),
        profile(loss, MatrixXd::Ones(p.rows(), 1), p.offset),
        design(n2gfl::Design::dense(x.data(), p.rows(), p.features())),
        model(design, profile, graph, p.factor, true, true, 1, poll), regions(model) {}

  void split(std::vector<int> nodes, int parent) {
    std::vector<Piece> pieces(1);
    pieces[0].nodes = std::move(nodes);
    pieces[0].parent = parent;
    regions.split(pieces);
  }

  // The relative error of the column that the region of a node keeps.
  double error_at(int node) const {
    const n2gfl::Region& region = regions[regions.of(node)];
    VectorXd sum = VectorXd::Zero(x.rows());
    for (int i : region.nodes) sum.array() += x.col(i).array() - x.col(i).mean();
    return (region.column - sum).norm() / sum.norm();
  }

  MatrixXd x;
  n2gfl::Graph graph;
  n2gfl::GaussianLoss loss;
  n2gfl::Profile profile;
  n2gfl::Design design;
  n2gfl::Poll poll;
  n2gfl::Model model;
  n2gfl::Regions regions;
};

}  // namespace

// What is left of a column after a much longer one was taken off is rounding.
TEST(a_region_that_loses_a_long_column_sums_the_others_again) {
  Random random(1);
  testing::Problem p = testing::plain_problem(random, "gaussian", 20, 8);
  p.x.col(0) *= 1e12;
  Data data(p);
  std::vector<int> all(8);
  std::iota(all.begin(), all.end(), 0);
  data.split(all, n2gfl::Regions::kZeroSet);
  data.split({0}, 0);
  CHECK(data.regions.size() == 2);
  CHECK(data.error_at(1) < 1e-13);
}

// Lengths that decrease step by step cost as many digits in the end.
TEST(a_region_that_loses_shorter_and_shorter_columns_stays_accurate) {
  Random random(2);
  const int features = 20;
  testing::Problem p = testing::plain_problem(random, "gaussian", 20, features);
  double length = 1e12;
  for (int j = 0; j < features; ++j, length = std::max(1.0, length / 5)) p.x.col(j) *= length;
  Data data(p);
  std::vector<int> all(features);
  std::iota(all.begin(), all.end(), 0);
  data.split(all, n2gfl::Regions::kZeroSet);
  for (int j = 0; j + 1 < features; ++j) {
    data.split({j}, data.regions.of(j));
    CHECK(data.error_at(j + 1) < 1e-12);
  }
}
