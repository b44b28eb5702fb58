#include "prox/fused_prox.hpp"

#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

#include "graph/parts.hpp"

namespace n2gfl {

FusedProx::FusedProx(const Graph& graph, Poll& poll, int large)
    : graph_(&graph), net_(graph), flow_(net_, poll), closed_(net_, poll),
      total_variation_(net_, flow_, poll, terms_, large), nodes_(graph.nodes()) {
  std::iota(nodes_.begin(), nodes_.end(), 0);
  components_ = connected_components(graph, nodes_);
  sizes_.assign(components_.size(), 0.0);
}

void FusedProx::solve(const Eigen::VectorXd& z, const Eigen::VectorXd& masses,
                      const Eigen::VectorXd& thresholds, double theta, Sign allowed,
                      Eigen::VectorXd& b) {
  if (theta != theta_) net_.set_capacities(*graph_, theta);
  theta_ = theta;
  ++calls_;
  terms_.mass = masses.data();
  terms_.linear.resize(z.size());
  b.setZero(z.size());
  const Input input{&z, &masses, &thresholds};
  forget_large_flows(input);
  if (allowed == Sign::free && (thresholds.array() == 0).all()) {  // zero is not special
    resolve(input, components_, 0, b);
  } else {
    if (last_.size() == 0 && are_small(input)) approach(input, allowed, b);
    const std::vector<int> above = support(input, allowed == Sign::nonpositive ? 0 : +1);
    const std::vector<int> below = support(input, allowed == Sign::nonnegative ? 0 : -1);
    resolve_support(input, above, +1, b);
    resolve_support(input, below, -1, b);
  }
  last_ = b;
}

double FusedProx::gap(const Eigen::VectorXd& z, const Eigen::VectorXd& masses,
                      const Eigen::VectorXd& thresholds, double theta, Sign allowed,
                      const Eigen::VectorXd& b) const {
  const double infinity = std::numeric_limits<double>::infinity();
  const double largest = z.size() > 0 ? z.cwiseAbs().maxCoeff() : 0.0;
  const double unit = largest > 0 ? largest : 1.0;
  double gap = 0, primal = 0, null = 0;
  for (int i = 0; i < graph_->nodes(); ++i) {
    const double m = masses[i], a = thresholds[i] / unit, zi = z[i] / unit, bi = b[i] / unit;
    double outflow = 0;
    for (int arc = graph_->begin(i); arc < graph_->end(i); ++arc) {
      const double flow = net_.arc(arc).flow, capacity = theta * graph_->weight(arc);
      if (!(std::fabs(flow) <= capacity)) return infinity;
      outflow += flow / unit;
      const double difference = bi - b[graph_->head(arc)] / unit;
      if (difference <= 0) continue;
      primal += capacity / unit * difference;
      gap += (capacity - flow) / unit * difference;
    }
    null += 0.5 * m * zi * zi;
    primal += 0.5 * m * (bi - zi) * (bi - zi) + (bi == 0 ? 0 : a * std::fabs(bi));
    gap += node_gap(m * zi - outflow, m, a, allowed, bi);
  }
  if (gap == 0) return 0;
  return gap < infinity ? gap / std::fmax(primal, 1e-12 * null) : infinity;  // NaN: Inf
}

// True if the thresholds are much smaller than the spread of z. Then many values are near zero,
// and the cut at zero is slow without a flow to start from. Excluded nodes have an infinite
// threshold and count as large.
bool FusedProx::are_small(const Input& input) {
  const auto& m = input.masses->array();
  const double mass = m.sum(), mean = (m * input.z->array()).sum() / mass;
  const double spread = std::sqrt((m * (input.z->array() - mean).square()).sum() / mass);
  return input.thresholds->array().min(m * spread).sum() < 0.1 * spread * mass;
}

// A flow that was found for much larger values keeps their rounding errors, in its sums and in
// circulations around cycles. Components whose values have become much smaller start without
// flow, because these errors could be larger than their values.
void FusedProx::forget_large_flows(const Input& input) {
  for (std::size_t k = 0; k < components_.size(); ++k) {
    const double size = size_of(input, components_[k]);
    const bool much_smaller = size < kMuchSmaller * sizes_[k];
    if (much_smaller) net_.clear_flow(components_[k]);
    sizes_[k] = much_smaller ? size : std::fmax(size, sizes_[k]);
  }
}

double FusedProx::size_of(const Input& input, const std::vector<int>& part) {
  double size = 0;
  for (int i : part) size = std::fmax(size, std::fabs((*input.masses)[i] * (*input.z)[i]));
  return size;
}

void FusedProx::approach(const Input& input, Sign allowed, Eigen::VectorXd& b) {
  const int sign = allowed == Sign::free ? 0 : allowed == Sign::nonnegative ? 1 : -1;
  std::vector<int> nodes;
  for (int i = 0; i < net_.nodes(); ++i) {
    if (std::isinf((*input.thresholds)[i])) continue;
    nodes.push_back(i);
    terms_.linear[i] = input.pull(i, sign);
  }
  total_variation_.approach(connected_components(*graph_, nodes), b);
  b.setZero();
}

// The nodes above (sign = 1) or below zero (sign = -1).
std::vector<int> FusedProx::support(const Input& input, int sign) {
  std::vector<int> inside;
  if (sign == 0) return inside;
  for (const auto& part : components_) add_support(input, sign, part, inside);
  return inside;
}

// The same for one component of the graph.
void FusedProx::add_support(const Input& input, int sign, const std::vector<int>& part,
                            std::vector<int>& inside) {
  const double tolerance = find_seeds(input, sign, part);
  if (seeds_.empty()) return;
  const Grow grow = sign > 0 ? Grow::from_surplus : Grow::from_deficit;
  ZeroCut cut{&input, &net_, sign, &closed_};
  if (last_.size() > 0) find_closed_seeds(cut, grow, tolerance, inside);
  flow_.run(cut, seeds_, grow, tolerance);
  for (int i : flow_.touched())
    if (flow_.reached(i)) inside.push_back(i);
  if (calls_ > 2) make_margins(cut);
}

// The nodes that prefer a value above (below) zero. Returns a bound of the rounding error of
// their excess.
double FusedProx::find_seeds(const Input& input, int sign, const std::vector<int>& part) {
  double size = 0;
  std::size_t count = 0;
  seeds_.resize(part.size());
  for (int i : part) {
    const double pull = input.pull(i, sign), outflow = net_.outflow(i);
    const double sum = std::fabs(pull) + std::fabs(outflow);
    if (sum > size && sum <= std::numeric_limits<double>::max()) size = sum;
    seeds_[count] = i;  // overwritten by the next node unless it is a seed
    count += sign * (pull - outflow) > 0;
  }
  seeds_.resize(count);
  return 8 * std::numeric_limits<double>::epsilon() * size;
}

// Moves closed seeds from seeds_ to `inside`. Only the last support is searched for them: nodes
// that are new in the support are seldom closed.
void FusedProx::find_closed_seeds(const ZeroCut& cut, Grow grow, double tolerance,
                                  std::vector<int>& inside) {
  candidates_.clear();
  for (int i : seeds_)
    if (cut.sign * last_[i] > 0 && cut.sign * cut.excess(i) > tolerance) candidates_.push_back(i);
  closed_.find(candidates_, grow);
  std::size_t kept = 0;
  for (int i : seeds_) {
    if (closed_.contains(i)) inside.push_back(i);
    else seeds_[kept++] = i;
  }
  seeds_.resize(kept);
}

// A search leaves its seeds at zero without any margin, so every second one would be a seed of
// the next search too. A margin costs about as much as a search and saves those of all later
// calls: it is worth its cost only if there are many, and only some seeds get one in each call.
void FusedProx::make_margins(const ZeroCut& cut) {
  for (std::size_t k = 0; k < seeds_.size(); k += kSeedsPerMargin)
    if (!flow_.reached(seeds_[k])) make_margin(cut, seeds_[k]);
}

// The node shares the margins of its neighbours. It keeps to the half of its interval on this
// sign, so that it remains at zero for the other sign too.
void FusedProx::make_margin(const ZeroCut& cut, int i) {
  const double half = (*cut.input->thresholds)[i];
  double margin = -cut.sign * cut.excess(i);
  if (!(margin < kLeastMargin * half && half <= std::numeric_limits<double>::max())) return;
  for (int a = net_.begin(i); a < net_.end(i) && margin < kLeastMargin * half; ++a) {
    const Arc& u = net_.arc(a);
    if (flow_.reached(u.head) || closed_.contains(u.head)) continue;
    const double difference = -cut.sign * cut.excess(u.head) - margin;
    const double room = u.capacity - cut.sign * u.flow;
    if (difference <= 0 || room <= 0) continue;
    const double amount = std::fmin(0.5 * difference, half - margin);
    const double flow = u.flow + cut.sign * amount;
    net_.set_flow(a, amount < room ? flow : cut.sign * u.capacity);
    margin += std::fmin(amount, room);
  }
}

void FusedProx::resolve_support(const Input& input, const std::vector<int>& nodes, int sign,
                                Eigen::VectorXd& b) {
  if (last_.size() == 0 || !resolve_again(input, nodes, sign, b))
    resolve(input, connected_components(*graph_, nodes), sign, b);
}

// Starts from the last blocks, for which the parts need not be known. Returns false if most of
// the blocks are wrong.
bool FusedProx::resolve_again(const Input& input, const std::vector<int>& nodes, int sign,
                              Eigen::VectorXd& b) {
  const double centre = centre_of(input, nodes, sign);
  for (int i : nodes) terms_.linear[i] = input.pull(i, sign, centre);
  if (!total_variation_.resolve_again(nodes, last_, b)) return false;
  for (int i : nodes) {
    b[i] += centre;
    if (sign * b[i] < 0) b[i] = 0;  // rounding near zero
  }
  return true;
}

void FusedProx::resolve(const Input& input, const Parts& parts, int sign, Eigen::VectorXd& b) {
  std::vector<double> centres;
  for (const auto& part : parts) {
    const double centre = centre_of(input, part, sign);
    centres.push_back(centre);
    for (int i : part) terms_.linear[i] = input.pull(i, sign, centre);
  }
  if (sign != 0 || !total_variation_.resolve_again(nodes_, last_, b))
    total_variation_.resolve(parts, b);
  for (std::size_t k = 0; k < parts.size(); ++k)
    for (int i : parts[k]) {
      b[i] += centres[k];
      if (sign * b[i] < 0) b[i] = 0;  // rounding near zero
    }
}

// Centred values have smaller rounding errors. Next to zero the values are centred only if all
// are far from zero: values near zero must keep their accuracy.
double FusedProx::centre_of(const Input& input, const std::vector<int>& part, int sign) {
  double mass = 0, centre = 0, spread = 0;
  for (int i : part) mass += (*input.masses)[i];
  for (int i : part) centre += (*input.masses)[i] / mass * (*input.z)[i];
  if (sign == 0) return centre;
  for (int i : part) spread = std::fmax(spread, std::fabs((*input.z)[i] - centre));
  return spread <= 0.5 * std::fabs(centre) ? centre : 0.0;
}

// phi(b) - min phi for phi(b) = m/2 b^2 - r b + a |b| under the sign, r = m z - outflow.
double FusedProx::node_gap(double r, double m, double a, Sign allowed, double b) {
  const double infinity = std::numeric_limits<double>::infinity();
  if (allowed == Sign::nonnegative && b < 0) return infinity;
  if (allowed == Sign::nonpositive && b > 0) return infinity;
  if (std::isinf(a)) return b == 0 ? 0 : infinity;
  if (r > a && allowed != Sign::nonpositive)
    return 0.5 * m * square(b - (r - a) / m) + a * (std::fabs(b) - b);
  if (r < -a && allowed != Sign::nonnegative)
    return 0.5 * m * square(b - (r + a) / m) + a * (std::fabs(b) + b);
  return 0.5 * m * b * b + (a * std::fabs(b) - r * b);
}

}  // namespace n2gfl
