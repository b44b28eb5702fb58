// A gaussian model and everything that it refers to, for tests of the parts of a solver.
#pragma once

#include "random_data.hpp"

#include "data/model.hpp"
#include "loss/families.hpp"

#include <memory>
#include <utility>

namespace testing {

struct ExampleModel {
  ExampleModel(const n2gfl::Design& x, const VectorXd& weights, bool has_intercept)
      : ExampleModel(x, weights, has_intercept, chain(x.cols()), VectorXd::Ones(x.cols()), false) {}

  ExampleModel(const n2gfl::Design& x, const VectorXd& weights, bool has_intercept, n2gfl::Graph g,
               const VectorXd& factor, bool nonnegative)
      : design(x), intercept(has_intercept), graph(std::move(g)),
        loss(n2gfl::make_loss("gaussian", VectorXd::LinSpaced(x.rows(), -1, 2), weights)),
        profile(*loss, MatrixXd::Ones(x.rows(), intercept ? 1 : 0), VectorXd::Zero(x.rows())),
        model(design, profile, graph, factor, nonnegative, intercept, 1, poll) {}

  ExampleModel(const ExampleModel&) = delete;
  ExampleModel& operator=(const ExampleModel&) = delete;

  // A vector as products meet it: without weight no value, and its sum is zero if there is an
  // intercept.
  VectorXd residual(Random& random) const {
    VectorXd v = uniform_vector(random, design.rows(), -1, 1);
    v = (loss->weights().array() > 0).select(v, 0.0);
    if (intercept)
      v = (loss->weights().array() > 0).select(v.array() - v.sum() / design.counted_rows(), 0.0);
    return v;
  }

  n2gfl::Design design;
  bool intercept;
  n2gfl::Graph graph;
  n2gfl::Poll poll;
  std::unique_ptr<n2gfl::Loss> loss;
  n2gfl::Profile profile;
  n2gfl::Model model;
};

// A grid of `side` nodes along each of `axes` axes; every edge gets the weight `weight()`.
template <class Weight>
n2gfl::Graph grid_graph(int side, int axes, Weight weight) {
  int nodes = 1;
  for (int k = 0; k < axes; ++k) nodes *= side;
  std::vector<n2gfl::Edge> edges;
  for (int i = 0; i < nodes; ++i)
    for (int k = 0, step = 1; k < axes; ++k, step *= side)
      if (i / step % side + 1 < side) edges.push_back({i, i + step, weight()});
  return n2gfl::Graph(nodes, edges);
}

}  // namespace testing
