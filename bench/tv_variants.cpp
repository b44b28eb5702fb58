// Times the variants of exact total variation denoising in the core.
//
//   tv_variants SIDE DIMENSIONS LAMBDA LARGE
//
// A ball and a bar with unit noise on a grid. Problems with at least LARGE nodes get the fast
// start; a huge LARGE uses cuts only. Prints the CPU seconds and the relative gap.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

#include <Eigen/Core>

#include "grid.hpp"
#include "poll.hpp"
#include "prox/fused_prox.hpp"
#include "sign.hpp"

using Eigen::VectorXd;

namespace {

VectorXd noisy_blocks(int side, int dimensions, int nodes) {
  std::mt19937 generator(1);
  std::normal_distribution<double> normal;
  VectorXd z(nodes);
  for (int i = 0; i < nodes; ++i) {
    double distance = 0;
    for (int k = 0; k < dimensions; ++k)
      distance += std::pow(bench::position(i, k, side) - (k == 0 ? 0.3 : 0.45), 2);
    const bool bar = std::fabs(bench::position(i, 0, side) - 0.7) < 0.1;
    z[i] = (bar ? -2 : distance < 0.04 ? 3 : 0) + normal(generator);
  }
  return z;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 5) {
    std::fprintf(stderr, "usage: tv_variants SIDE DIMENSIONS LAMBDA LARGE\n");
    return 1;
  }
  const int side = std::atoi(arguments[1]), dimensions = std::atoi(arguments[2]);
  const double lambda = std::atof(arguments[3]);
  const n2gfl::Graph graph = bench::grid(side, dimensions);
  const VectorXd z = noisy_blocks(side, dimensions, graph.nodes());
  const VectorXd ones = VectorXd::Ones(z.size()), none = VectorXd::Zero(z.size());
  n2gfl::Poll poll;
  VectorXd b;
  const double begin = bench::cpu_seconds();
  n2gfl::FusedProx prox(graph, poll, std::atoi(arguments[4]));
  prox.solve(z, ones, none, lambda, n2gfl::Sign::free, b);
  const double seconds = bench::cpu_seconds() - begin;
  std::printf("%.9f %.3g\n", seconds, prox.gap(z, ones, none, lambda, n2gfl::Sign::free, b));
  return 0;
}
