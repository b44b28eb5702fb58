// What every call from R needs: R's objects as the core's, and R's interrupts as a Poll.
#pragma once

#include <Rcpp.h>

#include <n2gfl/graph.hpp>
#include <n2gfl/poll.hpp>
#include <n2gfl/sign.hpp>

#include <string>
#include <vector>

// R counts nodes from 1.
inline n2gfl::Graph as_core_graph(const Rcpp::List& graph) {
  const Rcpp::IntegerVector from = graph["from"], to = graph["to"];
  const Rcpp::NumericVector weight = graph["weight"];
  std::vector<n2gfl::Edge> edges(from.size());
  for (R_xlen_t e = 0; e < from.size(); ++e) edges[e] = {from[e] - 1, to[e] - 1, weight[e]};
  return n2gfl::Graph(Rcpp::as<int>(graph["n"]), std::move(edges));
}

inline n2gfl::Sign as_core_sign(const std::string& sign) {
  if (sign == "nonnegative") return n2gfl::Sign::nonnegative;
  if (sign == "nonpositive") return n2gfl::Sign::nonpositive;
  return n2gfl::Sign::free;
}

// Stops the core's work by a C++ exception, so that destructors run.
inline n2gfl::Poll interrupt_poll() { return n2gfl::Poll([] { Rcpp::checkUserInterrupt(); }); }
