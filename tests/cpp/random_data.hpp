// Random vectors, matrices and graphs for the tests.
#pragma once

#include "data/design.hpp"
#include "graph/graph.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace testing {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Random = std::mt19937;

const double kInfinity = std::numeric_limits<double>::infinity();

// One of 0, ..., n - 1.
inline int below(Random& random, int n) {
  return static_cast<int>(random() % static_cast<unsigned>(n));
}

inline double uniform(Random& random, double from, double to) {
  return std::uniform_real_distribution<double>(from, to)(random);
}

inline VectorXd vec(std::initializer_list<double> values) {
  VectorXd v(static_cast<int>(values.size()));
  int i = 0;
  for (double value : values) v[i++] = value;
  return v;
}

inline VectorXd uniform_vector(Random& random, int n, double from, double to) {
  VectorXd v(n);
  for (int i = 0; i < n; ++i) v[i] = uniform(random, from, to);
  return v;
}

inline MatrixXd uniform_matrix(Random& random, int rows, int cols, double from, double to) {
  MatrixXd m(rows, cols);
  for (int j = 0; j < cols; ++j) m.col(j) = uniform_vector(random, rows, from, to);
  return m;
}

const char* const kFamilies[] = {"gaussian", "binomial", "poisson", "cox", "ordinal"};

// A response of a family, one row per observation, with ties and two strata for "cox".
inline MatrixXd random_response(Random& random, const std::string& family, int n) {
  MatrixXd y = uniform_matrix(random, n, family == "cox" ? 3 : 1, -2, 2);
  for (int i = 0; i < n; ++i) {
    if (family == "binomial") y(i, 0) = y(i, 0) > 0 ? 1 : -1;
    if (family == "poisson") y(i, 0) = std::max(0.0, std::floor(3 * y(i, 0)));
    if (family == "ordinal") y(i, 0) = i < 4 ? i + 1 : 1 + below(random, 4);  // all levels occur
    if (family != "cox") continue;
    y(i, 0) = 1 + below(random, n);
    y(i, 1) = i == 0 || y(i, 1) > -0.5 ? 1 : 0;
    y(i, 2) = y(i, 2) > 0.8 ? 2 : 1;
  }
  return y;
}

inline n2gfl::Graph chain(int n, double weight = 1) {
  std::vector<n2gfl::Edge> edges;
  for (int i = 0; i + 1 < n; ++i) edges.push_back({i, i + 1, weight});
  return n2gfl::Graph(n, edges);
}

// Any number of edges, so that some graphs are empty, some disconnected and some dense.
inline n2gfl::Graph random_graph(Random& random, int n) {
  std::vector<n2gfl::Edge> edges;
  const int wanted = below(random, 2 * n);
  for (int k = 0; k < wanted; ++k) {
    const int i = below(random, n), j = below(random, n);
    if (i != j) edges.push_back({i, j, uniform(random, 0.2, 2)});
  }
  return n2gfl::Graph(n, edges);
}

// A matrix by columns, in the format of Matrix::dgCMatrix.
struct SparseColumns {
  explicit SparseColumns(const MatrixXd& x) : rows(static_cast<int>(x.rows())) {
    for (int j = 0; j < x.cols(); ++j) {
      for (int i = 0; i < x.rows(); ++i) {
        if (x(i, j) == 0) continue;
        indices.push_back(i);
        values.push_back(x(i, j));
      }
      starts.push_back(static_cast<int>(values.size()));
    }
  }
  n2gfl::Design design() const {
    return n2gfl::Design::sparse(starts.data(), indices.data(), values.data(), rows,
                                 static_cast<int>(starts.size()) - 1);
  }
  int rows;
  std::vector<int> starts{0}, indices;
  std::vector<double> values;
};

}  // namespace testing
