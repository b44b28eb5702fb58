// Times the prox inside fista: at chosen iterations, the kept FusedProx against a new one on the
// same z.
//
//   warm_prox SIDE DIMENSIONS N SHARE SIGN ITERATIONS
//
// Least squares on a grid, lambda1 = lambda2 = SHARE max(X'y) / N, three blocks of signal. Prints
// one line per iteration: its number, the CPU seconds of the warm and the cold prox, the size of
// the support and the relative gap of the warm prox.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include <Eigen/Core>

#include "grid.hpp"
#include "graph/graph.hpp"
#include "poll.hpp"
#include "prox/fused_prox.hpp"
#include "sign.hpp"

using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

using bench::cpu_seconds;
using bench::grid;

// Ones where every coordinate is near 1/4, 1/2 or 3/4, the same for all.
VectorXd blocks(int side, int dimensions, int nodes) {
  VectorXd beta = VectorXd::Zero(nodes);
  for (int i = 0; i < nodes; ++i)
    for (double centre : {0.25, 0.5, 0.75}) {
      bool inside = true;
      for (int k = 0; k < dimensions; ++k)
        inside = inside && std::fabs(bench::position(i, k, side) - centre) <= 0.07;
      if (inside) beta[i] = 1;
    }
  return beta;
}

struct Problem {
  n2gfl::Graph graph;
  MatrixXd x;
  VectorXd y;
  double lambda = 0, lipschitz = 0;
};

Problem make_problem(int side, int dimensions, int n, double share) {
  Problem p;
  p.graph = grid(side, dimensions);
  const int d = p.graph.nodes();
  std::mt19937 generator(1);
  std::normal_distribution<double> normal;
  p.x = MatrixXd::NullaryExpr(n, d, [&] { return normal(generator); });
  const VectorXd noise = VectorXd::NullaryExpr(n, [&] { return normal(generator); });
  p.y = p.x * blocks(side, dimensions, d) + noise;
  p.lambda = share * (p.x.transpose() * p.y).maxCoeff() / n;
  VectorXd v = VectorXd::Ones(n);
  for (int k = 0; k < 20; ++k) {  // power iterations for the largest curvature
    v = (p.x * (p.x.transpose() * v)).eval();
    p.lipschitz = v.norm() / n;
    v /= v.norm();
  }
  p.lipschitz *= 1.05;
  return p;
}

// One run of fista. The new prox gets the same z as the kept one, after it; only solve() is timed.
void run(const Problem& p, n2gfl::Sign sign, int iterations) {
  const int d = p.graph.nodes();
  const double n = static_cast<double>(p.y.size());
  const double theta = p.lambda / p.lipschitz;
  const VectorXd ones = VectorXd::Ones(d), thresholds = VectorXd::Constant(d, theta);
  n2gfl::Poll poll;
  n2gfl::FusedProx kept(p.graph, poll);
  VectorXd beta = VectorXd::Zero(d), point = beta, next, again;
  double momentum = 1;
  for (int k = 1; k <= iterations; ++k) {
    const VectorXd residual = p.y - p.x * point;
    const VectorXd z = point + p.x.transpose() * residual / (n * p.lipschitz);
    const double begin = cpu_seconds();
    kept.solve(z, ones, thresholds, theta, sign, next);
    const double warm = cpu_seconds() - begin;
    n2gfl::FusedProx fresh(p.graph, poll);
    const double middle = cpu_seconds();
    fresh.solve(z, ones, thresholds, theta, sign, again);
    const double cold = cpu_seconds() - middle;
    const int support = static_cast<int>((next.array() != 0).count());
    std::printf("%d %.9f %.9f %d %.3g\n", k, warm, cold, support,
                kept.gap(z, ones, thresholds, theta, sign, next));
    const double larger = 0.5 * (1 + std::sqrt(1 + 4 * momentum * momentum));
    point = next + (momentum - 1) / larger * (next - beta);
    momentum = larger;
    beta = next;
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 7) {
    std::fprintf(stderr, "usage: warm_prox SIDE DIMENSIONS N SHARE nonnegative|free ITERATIONS\n");
    return 1;
  }
  const Problem p = make_problem(std::atoi(arguments[1]), std::atoi(arguments[2]),
                                 std::atoi(arguments[3]), std::atof(arguments[4]));
  const bool free = std::string(arguments[5]) == "free";
  for (int repeat = 0; repeat < 3; ++repeat)  // the script takes medians
    run(p, free ? n2gfl::Sign::free : n2gfl::Sign::nonnegative, std::atoi(arguments[6]));
  return 0;
}
