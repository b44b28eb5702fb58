// The exact prox for R: tv_denoise() and fused_prox().
#include <RcppEigen.h>

#include "prox/fused_prox.hpp"

#include "glue.h"

namespace {

// One number per edge, in R's order: positive values flow from the edge's first node to its
// second.
Rcpp::NumericVector edge_flow(const n2gfl::Graph& graph, const n2gfl::Network& network) {
  Rcpp::NumericVector flow(graph.edges());
  R_xlen_t edge = 0;
  for (int i = 0; i < graph.nodes(); ++i)
    for (int a = graph.begin(i); a < graph.end(i); ++a)
      if (graph.head(a) > i) flow[edge++] = network.arc(a).flow;
  return flow;
}

}  // namespace

// [[Rcpp::export(rng = false)]]
Rcpp::List fused_prox_cpp(const Eigen::VectorXd& z, const Eigen::VectorXd& masses,
                          const Eigen::VectorXd& thresholds, const Rcpp::List& graph,
                          double lambda2, const std::string& sign) {
  const n2gfl::Graph core_graph = as_core_graph(graph);
  const n2gfl::Sign core_sign = as_core_sign(sign);
  n2gfl::Poll poll = interrupt_poll();
  n2gfl::FusedProx prox(core_graph, poll);
  Eigen::VectorXd b;
  prox.solve(z, masses, thresholds, lambda2, core_sign, b);
  return Rcpp::List::create(
      Rcpp::Named("beta") = b,
      Rcpp::Named("flow") = edge_flow(core_graph, prox.network()),
      Rcpp::Named("gap") = prox.gap(z, masses, thresholds, lambda2, core_sign, b));
}
