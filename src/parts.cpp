// Regions of fits for R: connected parts of each column's support.
#include <Rcpp.h>

#include "graph/parts.hpp"

#include <algorithm>
#include <cmath>

#include "glue.h"

// The parts of each column of a sparse matrix (slots p, i, x), counted from 1 in each column.
// Neighbours belong together if their values differ by at most `slack` times the larger one.
// [[Rcpp::export(rng = false)]]
Rcpp::IntegerVector label_parts_cpp(const Rcpp::List& graph, const Rcpp::IntegerVector& p,
                                    const Rcpp::IntegerVector& i, const Rcpp::NumericVector& x,
                                    double slack) {
  const n2gfl::Graph core_graph = as_core_graph(graph);
  Rcpp::IntegerVector label(i.size());
  for (R_xlen_t column = 0; column + 1 < p.size(); ++column) {
    const int first = p[column];
    const std::vector<int> nodes(i.begin() + first, i.begin() + p[column + 1]);
    const auto same = [&](int a, int b) {
      const double u = x[first + a], v = x[first + b];
      return std::abs(u - v) <= slack * std::max(std::abs(u), std::abs(v));
    };
    const std::vector<int> part = n2gfl::label_parts(core_graph, nodes, same);
    for (std::size_t k = 0; k < part.size(); ++k) label[first + k] = part[k] + 1;
  }
  return label;
}
