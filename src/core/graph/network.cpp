#include "graph/network.hpp"

#include <cmath>
#include <limits>
#include <vector>

namespace n2gfl {

Network::Network(const Graph& graph)
    : first_(graph.nodes() + 1), outflow_(graph.nodes(), 0.0), is_marked_(graph.nodes(), 0) {
  for (int i = 0; i < graph.nodes(); ++i) first_[i + 1] = graph.end(i);
  arcs_.resize(graph.arcs());
  // Rows are sorted, so the arcs of j meet their opposite arcs in the order of the nodes.
  std::vector<int> opposite(first_.begin(), first_.end() - 1);
  for (int i = 0; i < graph.nodes(); ++i)
    for (int a = graph.begin(i); a < graph.end(i); ++a)
      arcs_[a] = {0.0, graph.weight(a), graph.head(a), opposite[graph.head(a)]++};
}

void Network::scale(double factor) {
  for (Arc& u : arcs_) {
    u.capacity *= factor;
    u.flow *= factor;
  }
  for (double& v : outflow_) v *= factor;
  all_marked_ = true;
}

void Network::scale_capacities(double factor) {
  for (Arc& u : arcs_) u.capacity *= factor;
}

void Network::set_capacities(const Graph& graph, double factor) {
  for (int a = 0; a < graph.arcs(); ++a) {
    Arc& u = arcs_[a];
    u.capacity = factor * graph.weight(a);
    u.flow = std::fmax(-u.capacity, std::fmin(u.capacity, u.flow));
  }
  refresh_outflow();
}

void Network::clear_flow(const std::vector<int>& nodes) {
  for (int i : nodes) {
    for (int a = begin(i); a < end(i); ++a) arcs_[a].flow = 0;
    outflow_[i] = 0;
    mark(i);
  }
}

double Network::refresh_outflow() {
  clear_marks();
  largest_ = 0;
  for (int i = 0; i < nodes(); ++i) largest_ = std::fmax(largest_, refresh_outflow(i));
  return std::numeric_limits<double>::epsilon() * largest_;
}

double Network::refresh_marked() {
  if (all_marked_) return refresh_outflow();
  for (int i : marked_) largest_ = std::fmax(largest_, refresh_outflow(i));
  clear_marks();
  return std::numeric_limits<double>::epsilon() * largest_;
}

double Network::refresh_outflow(int i) {
  double sum = 0, largest = 0;
  for (int a = begin(i); a < end(i); ++a) {
    sum += arcs_[a].flow;
    largest = std::fmax(largest, std::fabs(arcs_[a].flow));
  }
  outflow_[i] = sum;
  return largest;
}

void Network::clear_marks() {
  for (int i : marked_) is_marked_[i] = 0;
  marked_.clear();
  all_marked_ = false;
}

}  // namespace n2gfl
