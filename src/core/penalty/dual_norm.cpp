#include "penalty/dual_norm.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "graph/parts.hpp"

namespace n2gfl {

DualNorm::DualNorm(const Model& model, Network& network, MaxFlow& search, LazyGradient& gradient)
    : model_(model), net_(network), search_(search), gradient_(gradient) {}

void DualNorm::search_from_all(GradientTerms& terms, double tolerance) {
  seeds_.clear();
  small_ = Leftover();
  for (int i = 0; i < model_.features(); ++i) {
    const bool balanced = terms.sign < 0 && terms.regions && terms.regions->of(i) >= 0;
    if (!balanced && terms.outlook(i) > tolerance)
      seeds_.push_back(i);
    else
      count(terms, i, small_);
  }
  search(terms, seeds_, tolerance);
}

void DualNorm::search(GradientTerms& terms, const std::vector<int>& seeds, double tolerance) {
  search_.run_parts(terms, seeds, terms.sign > 0 ? Grow::from_surplus : Grow::from_deficit, tolerance);
}

void DualNorm::keep_margin(GradientTerms& terms, const std::vector<int>& nodes, double margin) {
  surplus_.resize(model_.features());
  ++margins_;
  for (int pass = 0; pass < kMarginPasses; ++pass)
    for (int i : nodes)
      if (terms.region(i) < 0) share(terms, i, margin);
}

Leftover DualNorm::leftover(const GradientTerms& terms) const {
  Leftover left = small_;
  for (int i : search_.touched()) count(terms, i, left);
  return left;
}

void DualNorm::include(Leftover& total, const Leftover& part) {
  total.ratio = std::max(total.ratio, part.ratio);
  total.unpenalised += part.unpenalised;
}

double DualNorm::lambda1_max(const Regions& regions, double tolerance) {
  double largest = 0;
  for (int sign : model_.signs())
    largest = std::max(largest, one_sided_lambda1_max(regions, sign, tolerance));
  return largest;
}

void DualNorm::find_zero_parts() {
  int count = 0;
  const std::vector<int> of = components(model_.graph, [](int, int) { return true; }, count);
  for (int component : of)
    zero_part_.push_back(static_cast<unsigned char>(component % GradientTerms::kZeroParts));
}

void DualNorm::share(GradientTerms& terms, int i, double margin) {
  const int sign = terms.sign;
  float& mine = surplus(terms, i);
  if (!(mine > -margin) || std::isinf(mine)) return;
  for (int a = net_.begin(i); a < net_.end(i) && mine > -margin; ++a) {
    const Arc& u = net_.arc(a);
    const double room = u.capacity - sign * u.flow;
    if (room <= 0 || terms.region(u.head) >= 0) continue;
    float& other = surplus(terms, u.head);
    if (!(other < mine) || std::isinf(other)) continue;
    const double sent = std::min(0.5 * (mine - other), mine + kDeepest * margin);
    net_.set_flow(a, sent < room ? u.flow + sign * sent : sign * u.capacity);
    const auto moved = static_cast<float>(std::min(sent, room));
    mine -= moved;
    other += moved;
  }
}

// sign * excess of a node, kept while keep_margin() runs.
float& DualNorm::surplus(GradientTerms& terms, int i) {
  if (surplus_[i].stamp != margins_)
    surplus_[i] = {static_cast<float>(terms.sign * terms.excess(i)), margins_};
  return surplus_[i].value;
}

void DualNorm::count(const GradientTerms& terms, int i, Leftover& left) const {
  left.add(terms.violation(i), model_.threshold(terms.lambda1, i));
}

// rho of the set whose surplus the search could not remove.
double DualNorm::attained(const GradientTerms& terms, double rho) const {
  double total = 0, excess = 0;
  for (int i : search_.touched()) {
    if (!search_.reached(i)) continue;
    total += terms.sign * gradient_.value(i);
    excess += terms.sign * search_.excess(i);
  }
  return excess > 0 && total > excess ? rho * total / (total - excess) : 0.0;
}

// Decreases lambda1 from above until some set has a surplus, which keeps the searches small.
// Then Dinkelbach's steps increase it to the answer.
double DualNorm::one_sided_lambda1_max(const Regions& regions, int sign, double tolerance) {
  double lambda1 = 0;
  for (int i = 0; i < model_.features(); ++i)
    if (regions.of(i) < 0 && model_.factor[i] > 0 && std::isfinite(model_.factor[i]))
      lambda1 = std::max(lambda1, sign * gradient_(i) / model_.factor[i]);
  const double start = lambda1;
  bool rising = false;
  for (int step = 0; step < 400 && lambda1 > 0; ++step) {
    if (!rising) lambda1 = lambda1 > 1e-13 * start ? 0.7 * lambda1 : 0.0;
    GradientTerms node = terms(lambda1, sign, &regions);
    search_from_all(node, tolerance);
    const double rise = lambda1_rise(sign);
    if (rise > 0) rising = true;
    if (rising && rise <= 1e-13 * lambda1) break;
    lambda1 += rise;
  }
  return lambda1;
}

double DualNorm::lambda1_rise(int sign) const {
  double excess = 0, factor = 0;
  for (int i : search_.touched()) {
    if (!search_.reached(i)) continue;
    excess += sign * search_.excess(i);
    factor += model_.factor[i];
  }
  return excess > 0 && factor > 0 ? excess / factor : 0.0;
}

}  // namespace n2gfl
