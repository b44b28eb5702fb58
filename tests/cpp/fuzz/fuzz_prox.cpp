// Random total-variation problems: tiny next to huge weights, ties, constant data, isolated nodes,
// several components of different size. Each component is judged in long double: by the gap
// between b and the flow, which proves b on any graph, and with up to 8 nodes by brute force over
// all sets of nodes (brute_prox.hpp).
#include "brute_prox.hpp"
#include "fuzz.hpp"
#include "random_data.hpp"

#include "graph/parts.hpp"
#include "prox/fused_prox.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <sstream>
#include <vector>

using Eigen::VectorXd;
using n2gfl::Edge;
using n2gfl::Graph;
using n2gfl::Sign;
using testing::below;
using testing::Random;
using testing::uniform;

namespace {

using Long = long double;

constexpr Long kInfinity = std::numeric_limits<Long>::infinity();

using Problem = testing::ProxProblem;

const Sign kSigns[] = {Sign::nonnegative, Sign::nonpositive, Sign::free};

std::vector<Edge> grid_edges(int width, int height) {
  std::vector<Edge> edges;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const int i = y * width + x;
      if (x + 1 < width) edges.push_back({i, i + 1, 1.0});
      if (y + 1 < height) edges.push_back({i, i + width, 1.0});
    }
  return edges;
}

void add_clique(Problem& p, int first, int last) {
  for (int i = first; i < last; ++i)
    for (int j = i + 1; j < last; ++j) p.edges.push_back({i, j, 1.0});
}

// Nodes that are removed from a grid remain as isolated nodes.
void make_holes(Problem& p, Random& random) {
  std::vector<char> hole(p.n);
  const int one_in = 2 + below(random, 6);
  for (char& h : hole) h = below(random, one_in) == 0;
  const auto gone = [&](const Edge& e) { return hole[e.from] != 0 || hole[e.to] != 0; };
  p.edges.erase(std::remove_if(p.edges.begin(), p.edges.end(), gone), p.edges.end());
}

// Repeated edges, but no loops.
void add_any_edges(Problem& p, Random& random, int count) {
  for (int k = 0; k < count && p.n > 1; ++k) {
    const int i = below(random, p.n), j = (i + 1 + below(random, p.n - 1)) % p.n;
    p.edges.push_back({i, j, 1.0});
  }
}

void draw_graph(Problem& p, Random& random) {
  const int side = below(random, 8) == 0 ? 24 : 2 + below(random, 6);
  switch (random() % 9) {
    case 0:
      p.n = side * side;
      p.edges = grid_edges(side, side);
      break;
    case 1:  // a chain
      p.n = 1 + below(random, 60);
      p.edges = grid_edges(p.n, 1);
      break;
    case 2:  // a star: one node of high degree
      p.n = 2 + below(random, 90);
      for (int i = 1; i < p.n; ++i) p.edges.push_back({0, i, 1.0});
      break;
    case 3:  // a tree
      p.n = 1 + below(random, 80);
      for (int i = 1; i < p.n; ++i) p.edges.push_back({below(random, i), i, 1.0});
      break;
    case 4:
      p.n = side * (side + 1);
      p.edges = grid_edges(side, side + 1);
      make_holes(p, random);
      break;
    case 5:  // two cliques, sometimes with a bridge
      p.n = 2 + below(random, 12);
      add_clique(p, 0, p.n / 2);
      add_clique(p, p.n / 2, p.n);
      if (below(random, 2) == 0) p.edges.push_back({0, p.n - 1, 1.0});
      break;
    case 6:  // small enough for brute force
      p.n = 1 + below(random, 8);
      add_any_edges(p, random, below(random, 5 * p.n));
      break;
    default:  // anything: isolated nodes, several components
      p.n = 1 + below(random, 40);
      add_any_edges(p, random, below(random, 4 * p.n));
  }
}

void draw_weights(Problem& p, Random& random) {
  const int kind = below(random, 5);
  for (Edge& e : p.edges) {
    if (kind == 1) e.weight = uniform(random, 0, 2);
    if (kind == 2) e.weight = below(random, 3);
    if (kind == 3) e.weight = std::pow(10.0, uniform(random, -6, 6));
    if (kind == 4) e.weight = random() % 2 ? 1e-12 : 1;
  }
}

double draw_value(Random& random, int kind) {
  switch (kind) {
    case 0: return 0.3;
    case 1: return static_cast<double>(random() % 3) - 1;
    case 2: return std::pow(10.0, uniform(random, -6, 6)) * (random() % 2 ? 1 : -1);
    case 3: return 1e8 + uniform(random, -1, 1);
    default: return std::normal_distribution<double>()(random);
  }
}

void draw_terms(Problem& p, Random& random) {
  const int values = below(random, 7), masses = below(random, 4), thresholds = below(random, 5);
  p.z.resize(p.n);
  p.masses.setOnes(p.n);
  p.thresholds.setZero(p.n);
  for (int i = 0; i < p.n; ++i) {
    p.z[i] = draw_value(random, values);
    if (masses == 0) p.masses[i] = uniform(random, 0.1, 5);
    if (masses == 1) p.masses[i] = std::pow(10.0, uniform(random, -3, 3));
    if (thresholds == 1) p.thresholds[i] = 0.4;
    if (thresholds == 2) p.thresholds[i] = uniform(random, 0, 2);
    if (thresholds == 3 && random() % 3 == 0)
      p.thresholds[i] = random() % 2 ? std::numeric_limits<double>::infinity() : 1e-9;
  }
}

// Scales each component by a different factor.
void scale_components(Problem& p, Random& random) {
  int count = 0;
  const std::vector<int> of = components(Graph(p.n, p.edges), [](int, int) { return true; }, count);
  std::vector<double> unit(count);
  for (double& u : unit) u = std::pow(10.0, uniform(random, -9, 9));
  for (int i = 0; i < p.n; ++i) {
    p.z[i] *= unit[of[i]];
    p.thresholds[i] *= unit[of[i]];
  }
  for (Edge& e : p.edges) e.weight *= unit[of[e.from]];
}

void scale_all(Problem& p, double unit) {
  p.z *= unit;
  p.thresholds *= unit;
  p.theta *= unit;
}

Problem draw(Random& random) {
  Problem p;
  draw_graph(p, random);
  draw_weights(p, random);
  draw_terms(p, random);
  const double strength[] = {0, 0.1, 1, 1, 10, 1e6};
  p.theta = strength[random() % 6];
  p.sign = kSigns[random() % 3];
  if (random() % 4 == 0) scale_components(p, random);
  if (random() % 8 == 0) scale_all(p, random() % 2 ? 1e-290 : 1e290);
  if (random() % 16 == 0) scale_all(p, 1e-310);  // denormal
  double largest = p.n * (p.masses.array() * p.z.array()).abs().maxCoeff();
  const double many = static_cast<double>(p.edges.size());
  for (const Edge& e : p.edges) largest = std::fmax(largest, many * p.theta * e.weight);
  if (!(largest < 1e305)) scale_all(p, 1e-20);  // sums must stay finite
  return p;
}

// A similar problem, as the next step of a solver: all values change together, all a little, or a
// few a lot; or a few nodes get values of other nodes, which may be in a component of another
// scale. Sometimes the strengths or the sign change too.
void change(Problem& p, int call, Random& random) {
  const int kind = call == 0 ? 0 : 1 + below(random, 4);
  const double share = std::pow(10.0, uniform(random, -4, -0.5));
  if (kind == 0) p.z *= 1.1;
  for (int i = 0; i < p.n; ++i) {
    if (kind == 1) p.z[i] *= 1 + share * uniform(random, -1, 1);
    if (kind == 2 && below(random, 8) == 0) p.z[i] *= uniform(random, -2, 2);
    if (kind == 4 && below(random, 8) == 0) p.z[i] = p.z[below(random, p.n)];
  }
  if (kind == 3) p.z = (1 - share) * p.z + share * VectorXd::Constant(p.n, p.z.mean());
  if (random() % 4 == 0) p.theta *= uniform(random, 0.5, 1.5);
  if (random() % 8 == 0) p.thresholds *= uniform(random, 0.5, 1.5);
  if (random() % 8 == 0) p.sign = kSigns[random() % 3];
}

// phi(b) - min phi for phi(b) = m/2 b^2 - r b + a |b| under the sign.
Long node_gap(Long r, Long m, Long a, Sign sign, Long b) {
  if ((sign == Sign::nonnegative && b < 0) || (sign == Sign::nonpositive && b > 0)) return kInfinity;
  if (std::isinf(a)) return b == 0 ? 0 : kInfinity;
  Long best = 0;
  if (r > a && sign != Sign::nonpositive) best = (r - a) / m;
  if (r < -a && sign != Sign::nonnegative) best = (r + a) / m;
  const Long slope = m * best - r;  // with the kink: never negative away from the optimum
  return m / 2 * (b - best) * (b - best) + slope * (b - best) + a * (std::fabs(b) - std::fabs(best));
}

struct Judgement {
  Long gap = 0, primal = 0, size = 0, least_mass = kInfinity, largest_value = 0;
  int nodes = 0;
  // A correct answer differs by the rounding of the largest numbers involved.
  Long rounding() const {
    return 64 * std::numeric_limits<double>::epsilon() * nodes * size +
           16 * std::numeric_limits<double>::min();
  }
  // All-zero input with all-zero output is correct, even if the flow has rounding residue within
  // the capacities.
  Long allowed() const {
    if (largest_value == 0) return std::numeric_limits<Long>::max();
    return 1e-12L * primal + rounding() * (largest_value + nodes * rounding() / least_mass);
  }
  Long allowed_value() const { return 1e-11L * largest_value + nodes * rounding() / least_mass; }
};

std::vector<Judgement> judge(const Problem& p, const Graph& graph, const n2gfl::Network& net,
                             const VectorXd& b) {
  int count = 0;
  const std::vector<int> of = components(graph, [](int, int) { return true; }, count);
  std::vector<Judgement> all(count);
  for (int i = 0; i < p.n; ++i) {
    Judgement& j = all[of[i]];
    const Long m = p.masses[i], a = p.thresholds[i], z = p.z[i];
    Long outflow = 0, through = 0;
    for (int arc = graph.begin(i); arc < graph.end(i); ++arc) {
      const Long flow = net.arc(arc).flow, capacity = p.theta * graph.weight(arc);
      const Long difference = static_cast<Long>(b[i]) - b[graph.head(arc)];
      if (std::fabs(flow) > capacity) j.gap = kInfinity;
      outflow += flow;
      through += std::fabs(flow);
      if (difference <= 0) continue;
      j.gap += (capacity - flow) * difference;
      j.primal += capacity * difference;
    }
    j.gap += node_gap(m * z - outflow, m, a, p.sign, b[i]);
    j.primal += m / 2 * (b[i] - z) * (b[i] - z) + (b[i] == 0 ? 0 : a * std::fabs(b[i]));
    j.size = std::max(j.size, m * std::fabs(z) + through + (std::isinf(a) ? 0 : a));
    j.least_mass = std::min(j.least_mass, m);
    j.largest_value = std::max({j.largest_value, std::fabs(static_cast<Long>(b[i])), std::fabs(z)});
    ++j.nodes;
  }
  return all;
}

// Components of at most 8 nodes against brute force.
std::string brute_verdict(const Problem& p, const Graph& graph, const std::vector<Judgement>& all,
                          const VectorXd& b) {
  int count = 0;
  const std::vector<int> of = components(graph, [](int, int) { return true; }, count);
  std::vector<std::vector<int>> members(count);
  for (int i = 0; i < p.n; ++i) members[of[i]].push_back(i);
  for (int c = 0; c < count; ++c) {
    if (members[c].size() > testing::BruteProx::kMostNodes) continue;
    const std::vector<Long> right = testing::BruteProx(p, members[c]).solve();
    for (std::size_t k = 0; k < right.size(); ++k) {
      const Long wrong = std::fabs(b[members[c][k]] - right[k]);
      if (wrong <= all[c].allowed_value()) continue;
      std::ostringstream out;
      out << "a value is off by " << wrong << " from brute force's " << right[k] << ", allowed "
          << all[c].allowed_value();
      return out.str();
    }
  }
  return "";
}

std::string verdict(const Problem& p, const Graph& graph, const n2gfl::Network& net,
                    const VectorXd& b) {
  if (!b.allFinite()) return "a value is not finite";
  const std::vector<Judgement> all = judge(p, graph, net, b);
  for (const Judgement& j : all) {
    if (j.gap <= j.allowed()) continue;
    std::ostringstream out;
    out << "gap " << j.gap << " of a component with " << j.nodes << " nodes, primal " << j.primal
        << ", allowed " << j.allowed();
    return out.str();
  }
  return brute_verdict(p, graph, all, b);
}

}  // namespace

fuzz::Outcome fuzz::prox_case(std::uint32_t seed) {
  Random random(seed);
  Problem p = draw(random);
  const Graph graph(p.n, p.edges);
  n2gfl::Poll poll;
  const int large = random() % 2 ? 1 : 500;
  n2gfl::FusedProx prox(graph, poll, large);
  Outcome outcome;
  std::ostringstream setting;
  setting << p.n << " nodes, " << graph.edges() << " edges, theta " << p.theta << ", sign "
          << static_cast<int>(p.sign) << ", large " << large;
  outcome.setting = setting.str();
  VectorXd b;
  for (int call = 0; call < 6 && outcome.wrong.empty(); ++call) {  // cold, then warm
    prox.solve(p.z, p.masses, p.thresholds, p.theta, p.sign, b);
    outcome.wrong = verdict(p, graph, prox.network(), b);
    const double gap = prox.gap(p.z, p.masses, p.thresholds, p.theta, p.sign, b);
    if (std::isnan(gap)) outcome.wrong += " the gap is no number";
    const bool has_digits = p.z.cwiseAbs().maxCoeff() > 1e-280;  // denormal numbers have few
    if (has_digits && gap > 1e-9) {
      std::ostringstream own;
      own << " its own gap is " << gap << " in call " << call;
      outcome.wrong += own.str();
    }
    change(p, call, random);
  }
  return outcome;
}
