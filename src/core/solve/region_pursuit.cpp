#include "solve/region_pursuit.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace n2gfl {

RegionPursuit::RegionPursuit(Model& model)
    : model_(model), network_(model.graph), search_(network_, model.poll, model.threads),
      gradient_(model), norm_(model, network_, search_, gradient_), free_(model), regions_(model),
      newton_(model), balance_(network_, regions_, model.poll, model.threads),
      smooth_(model, network_, gradient_, regions_), work_(model, network_, gradient_, regions_) {
  network_.scale_capacities(0.0);
  newton_.evaluate(regions_, 0, 0);
}

Solution RegionPursuit::solve(double lambda1, double lambda2, double thresh, int max_iterations) {
  double gap = kInfinity;
  if (!start_row(lambda1, lambda2)) return solution(gap);
  const bool done = penalised_ && solve_coarsely(thresh, max_iterations, gap);
  if (!done) solve_finely(thresh, max_iterations, gap);
  return solution(gap);
}

Solution RegionPursuit::approach(double lambda1, double lambda2, int max_iterations) {
  if (start_row(lambda1, lambda2)) {
    if (penalised_)
      coarse_rounds(kNearEnough, max_iterations, kFirstRatio, false);
    else
      fine_rounds(kNearEnough, max_iterations);
  }
  return solution(kInfinity);
}

void RegionPursuit::fit_unpenalised(double lambda2) {
  limit_work(kInfinity);
  if (model_.any_unpenalised) {
    solve(kInfinity, lambda2, 1e-12, 1000);
  } else {
    set_penalties(kInfinity, lambda2);
    newton_.evaluate(regions_, kInfinity, lambda2);
  }
  gradient_.set_residual(newton_.residual());
  if (regions_.size() > 0)
    gradient_.compute_all();
  else
    gradient_.assume_null();
  saturate_borders();
}

bool RegionPursuit::too_many_regions() const {
  const double regions = regions_.size(), rows = model_.x.rows();
  return regions >= kManyRegions && regions * regions * (regions + 0.25 * rows) > most_work_;
}

// Fits the old regions at the new penalties and chooses the working set. Returns false if there
// are too many regions.
bool RegionPursuit::start_row(double lambda1, double lambda2) {
  set_penalties(lambda1, lambda2);
  iterations_ = 0;
  if (too_many_regions()) return false;
  // The sweeps cannot remove an excess that is due to the regions' values.
  const double stop = smooth_.is_strong() || !penalised_ ? kTightNewton : kStartNewton;
  newton_.run(regions_, lambda1_, lambda2_, stop, 10);
  gradient_.set_coarse(false);
  gradient_.trim(static_cast<std::size_t>(std::max(2000, 8 * regions_.nonzero())));
  gradient_.set_residual(newton_.residual());
  gradient_.predict();
  saturate_borders();
  smooth_.start_row();
  work_.clear();
  work_.add_steep(lambda1_, kSteep);
  return true;
}

// ---- penalties

void RegionPursuit::set_penalties(double lambda1, double lambda2) {
  if (lambda2 != lambda2_) {
    if (lambda2 == 0) regions_.clear();  // without fusion, every feature is its own region
    // A flow that stays feasible is not scaled: scaling up would only add rounding errors.
    if (lambda2_ > lambda2 && lambda2 > 0)
      network_.scale(lambda2 / lambda2_);
    else
      network_.set_capacities(model_.graph, lambda2);
  }
  lambda1_ = lambda1;
  lambda2_ = lambda2;
  free_.find(lambda1, lambda2);
  regions_.set_fused(lambda2 > 0);
  smooth_.set_penalties(lambda1, lambda2);
  penalised_ = std::isfinite(lambda1) && scale() > 0;
}

// ---- coarse rounds, then the certificate

// Returns false if exact rounds should take over.
bool RegionPursuit::solve_coarsely(double thresh, int max_iterations, double& gap) {
  double ratio = kFirstRatio;
  for (int attempt = 0; attempt < kMaxCertificates; ++attempt) {
    if (ratio > 0) coarse_rounds(0, max_iterations, ratio, ratio >= kFirstRatio);
    if (too_many_regions()) return true;
    newton_.run(regions_, lambda1_, lambda2_, kTightNewton, 12);
    gap = certify(thresh);
    if (gap <= thresh) leave_margin();
    if (gap <= thresh || iterations_ >= max_iterations) return true;
    if (attempt >= kPatience || pieces_.empty()) return false;
    ratio = violation_of_pieces() > kSearchAgain ? kSecondRatio : 0.0;
    ++iterations_;
    if (!free_.empty()) work_.add(free_.objectors());
    work_.add_steep(lambda1_, kSteep);
    split(pieces_at_a_time());
    if (too_many_regions()) return true;
    if (ratio > 0) newton_.run(regions_, lambda1_, lambda2_, 1e-3 * gap, 12);
  }
  return false;
}

// Search, split, Newton on the working set: excess below a share of the last violation stays
// where it is, and Newton takes few steps. `look`: look around once, unless the first round finds
// little. Ends when the pieces or the gap are small.
void RegionPursuit::coarse_rounds(double stop, int max_iterations, double ratio, bool look) {
  double last = kInfinity;
  for (int round = 0; round < kMaxCoarseRounds; ++round) {
    find_pieces_coarsely(ratio);
    const double gap = relative_gap(newton_.at().dual, leftover_of_pieces());
    ratio = violation_of_pieces();
    if (round == 0 && ratio < kLookRatio) look = false;
    if (look && round > 0) {
      look = false;
      look_around();
    }
    if (pieces_.empty() || gap <= stop || iterations_++ >= max_iterations) break;
    if (newton_.objective() >= last - 1e-12 * model_.null_value) break;  // stalled
    last = newton_.objective();
    split(pieces_at_a_time());
    if (too_many_regions() || ratio <= kSmallRatio) break;
    newton_.run(regions_, lambda1_, lambda2_, std::max(kTightNewton, kLooseNewton * gap),
                round < 2 && ratio > 1e-2 ? 4 : 12);
  }
}

void RegionPursuit::find_pieces_coarsely(double ratio) {
  work_.add_support();
  gradient_.set_coarse(true);
  gradient_.set_residual(newton_.residual());
  rounding_ = model_.rounding(newton_.residual());
  const double tolerance = std::max(rounding_, std::max(kTolerated * ratio, 1e-6) * scale());
  compute_unsettled(tolerance);
  saturate_borders();
  pieces_.clear();
  for (int sign : model_.signs()) {
    GradientTerms terms = norm_.terms(lambda1_, sign, &regions_);
    if (sign > 0) balance_.run(terms, tolerance, smooth_.is_strong());
    terms.ignored = &balance_.mean();
    norm_.keep_margin(terms, unsettled_, kMargin * scale());
    std::vector<int> seeds = seeds_among(unsettled_, terms, tolerance);
    if (sign > 0 && smooth_.help_search(seeds.size())) {
      balance_.run(terms, tolerance, true);
      seeds = seeds_among(unsettled_, terms, tolerance);
    }
    norm_.search(terms, seeds, tolerance);
    collect_pieces(sign);
  }
}

// The search upwards balances the regions, so the search downwards covers the zero set only.
std::vector<int> RegionPursuit::seeds_among(const std::vector<int>& nodes, GradientTerms& terms,
                                            double tolerance) const {
  std::vector<int> seeds;
  for (int i : nodes)
    if ((terms.sign > 0 || regions_.of(i) < 0) && terms.sign * terms.excess(i) > tolerance)
      seeds.push_back(i);
  return seeds;
}

// Computes the gradients of the regions, and of nodes at zero whose last product does not show
// that they stay there. A gradient changes much less than the bound allows, so a share of it is
// used; the certificate will use all of it.
void RegionPursuit::compute_unsettled(double tolerance) {
  unsettled_.clear();
  for (int i : work_.nodes())
    if (regions_.of(i) >= 0 || !is_settled(i, kUsualShare, tolerance)) unsettled_.push_back(i);
  gradient_.compute(unsettled_);
}

bool RegionPursuit::is_settled(int i, double share, double tolerance) const {
  const LazyGradient::Estimate g = gradient_.estimate(i);
  const double net = g.value - network_.outflow(i), t = model_.threshold(lambda1_, i);
  const double most = (model_.nonnegative ? net : std::fabs(net)) + share * g.error;
  return most - t <= tolerance;
}

// Brings features into the working set that became steep after the first rounds.
void RegionPursuit::look_around() {
  gradient_.set_coarse(false);
  gradient_.set_residual(newton_.residual());
  gradient_.predict();
  std::vector<int> uncertain;
  for (int i = 0; i < model_.features(); ++i) {
    if (work_.contains(i) || gradient_.exact(i)) continue;
    const double t = model_.threshold(lambda1_, i);
    if (!is_settled(i, kUsualShare, (kSteep - 1) * t)) uncertain.push_back(i);
  }
  compute_or_all(uncertain);
  work_.add_steep(lambda1_, kSteep);
}

void RegionPursuit::compute_or_all(const std::vector<int>& columns) {
  if (static_cast<double>(columns.size()) > kLazyShare * model_.features())
    gradient_.compute_all();
  else
    gradient_.compute(columns);
}

// The next row starts with flows that do not make every node a seed.
void RegionPursuit::leave_margin() {
  gradient_.set_coarse(true);
  find_near(kNear);
  for (int sign : model_.signs()) {
    GradientTerms terms = norm_.terms(lambda1_, sign, &regions_);
    norm_.keep_margin(terms, passed_, kMargin * scale());
  }
}

// Nodes that are predicted to be above a share of their threshold.
void RegionPursuit::find_near(double share) {
  const double* factor = model_.factor.data();
  const double level = share * lambda1_;
  passed_.resize(model_.features());
  int* end = passed_.data();
  gradient_.for_each_predicted(network_.outflows(), [&](int i, double net) {
    *end = i;  // overwritten by the next node unless it is near
    end += net > level * factor[i];
  });
  passed_.resize(static_cast<std::size_t>(end - passed_.data()));
}

// ---- exact rounds

void RegionPursuit::solve_finely(double thresh, int max_iterations, double& gap) {
  double stop = 0.3 * thresh, last = kInfinity;
  for (int attempt = 0; attempt < kMaxCertificates; ++attempt) {
    const bool moved = fine_rounds(stop, max_iterations);
    if (too_many_regions()) return;
    if (!moved && attempt > 0) stop *= 0.01;
    gap = certify(thresh);
    if (gap <= thresh || iterations_ >= max_iterations) break;
    const bool falls = newton_.objective() < last - kTightNewton * model_.null_value;
    if (!moved && !falls && pieces_.empty() && stop < 1e-14 * thresh) break;
    last = newton_.objective();
    for (const Piece& piece : pieces_) work_.add(piece.nodes);
    if (!free_.empty()) work_.add(free_.objectors());
    work_.add_steep(lambda1_, kSteep);
    // Nothing to split: the rest of the gap is due to the regions' values.
    if (!moved) newton_.run(regions_, lambda1_, lambda2_, 0.0, 5);
  }
}

// True if a region was split.
bool RegionPursuit::fine_rounds(double stop, int max_iterations) {
  bool moved = false;
  int most = pieces_at_a_time();
  double last = kInfinity, last_gap = last;
  for (int round = 0;; ++round) {
    find_pieces_exactly();
    const double gap = relative_gap(newton_.at().dual, leftover_of_pieces());
    if (gap <= stop || pieces_.empty() || round >= kMaxRounds) break;
    if (iterations_++ >= max_iterations) break;
    // Pieces that are split together may not decrease the objective; a single piece always does.
    // Near the end the decrease is lost in rounding, and the gap decides.
    const bool stalled =
        newton_.objective() >= last - 1e-14 * model_.null_value && gap >= 0.9 * last_gap;
    if (stalled && most == 1) break;
    most = stalled ? std::max(1, most / 4) : pieces_at_a_time();
    last = newton_.objective();
    last_gap = gap;
    const int steps = round < 2 && leftover_of_pieces().ratio > 1e-2 ? 4 : 12;
    split(most);
    if (too_many_regions()) return true;
    newton_.run(regions_, lambda1_, lambda2_, kTightNewton, steps);
    moved = true;
  }
  return moved;
}

void RegionPursuit::find_pieces_exactly() {
  work_.add_support();
  gradient_.set_coarse(false);
  gradient_.set_residual(newton_.residual());
  gradient_.compute(work_.nodes());
  saturate_borders();
  pieces_.clear();
  const double tolerance = rounding_ = model_.rounding(newton_.residual());
  for (int sign : model_.signs()) {
    GradientTerms terms = norm_.terms(lambda1_, sign, &regions_);
    norm_.search(terms, seeds_among(work_.nodes(), terms, tolerance), tolerance);
    collect_pieces(sign);
  }
}

// Edges between regions of different values are saturated, from the larger to the smaller value.
void RegionPursuit::saturate_borders() {
  if (lambda2_ == 0) return;
  for (int k = 0; k < regions_.size(); ++k) {
    for (int a : regions_[k].border) {
      const Arc& u = network_.arc(a);
      const double difference = regions_[k].value - regions_.value_at(u.head);
      if (difference == 0) continue;
      const double flow = difference > 0 ? u.capacity : -u.capacity;
      if (u.flow != flow) network_.set_flow(a, flow);
    }
  }
}

// The connected parts of the set whose excess the search could not remove.
void RegionPursuit::collect_pieces(int sign) {
  taken_.resize(model_.features(), 0);
  for (int start : search_.touched()) {
    if (!search_.reached(start) || taken_[start]) continue;
    Piece piece;
    piece.parent = regions_.of(start);
    piece.sign = sign;
    piece.nodes = regions_.grow(
        start,
        [&](int j) {
          return search_.reached(j) && !taken_[j] && regions_.of(j) == piece.parent;
        },
        [&](int j) { taken_[j] = 1; });
    for (int i : piece.nodes) {
      piece.gain += std::max(0.0, sign * search_.excess(i));
      piece.threshold += model_.threshold(lambda1_, i);
    }
    if (matters(piece)) pieces_.push_back(std::move(piece));
  }
  for (int i : search_.touched()) taken_[i] = 0;
}

bool RegionPursuit::matters(const Piece& piece) const {
  if (piece.threshold > 0 && piece.gain <= 1e-12 * piece.threshold) return false;
  return piece.gain > rounding_ * static_cast<double>(piece.nodes.size());
}

Leftover RegionPursuit::leftover_of_pieces() const {
  Leftover left;
  for (const Piece& piece : pieces_) {
    if (piece.threshold > 0)
      left.ratio = std::max(left.ratio, piece.gain / piece.threshold);
    else
      left.unpenalised += piece.gain;
  }
  return left;
}

// The largest violation, relative to a threshold, to steer the coarse rounds.
double RegionPursuit::violation_of_pieces() const {
  const Leftover left = leftover_of_pieces();
  return std::max(left.ratio, left.unpenalised / scale());
}

void RegionPursuit::split(int most) {
  std::sort(pieces_.begin(), pieces_.end(),
            [](const Piece& a, const Piece& b) { return a.gain > b.gain; });
  if (static_cast<int>(pieces_.size()) > most) pieces_.resize(most);
  for (const Piece& piece : pieces_) work_.add(piece.nodes);
  regions_.split(pieces_);
  set_ties();
}

// Of regions with equal values, the one with the larger mean excess should rise.
void RegionPursuit::set_ties() {
  GradientTerms terms = norm_.terms(lambda1_, 1, &regions_);
  for (int k = 0; k < regions_.size(); ++k) {
    if (regions_[k].tie == 0) continue;
    double sum = 0;
    for (int i : regions_[k].nodes) sum += terms.excess(i);
    regions_.set_tie(k, sum / static_cast<double>(regions_[k].nodes.size()));
  }
}

// ---- the certificate

double RegionPursuit::relative_gap(const DualPoint& point, const Leftover& left) const {
  return n2gfl::relative_gap(model_, newton_.objective(), point, left, rounding_);
}

// Excess that the certificate may leave: a small share of what the gap allows. For unpenalised
// features the gap allows rounding only.
double RegionPursuit::tolerated_excess(double thresh) const {
  if (!std::isfinite(lambda1_) || model_.any_unpenalised) return rounding_;
  return std::max(rounding_, 0.02 * thresh * lambda1_ * model_.least_factor);
}

double RegionPursuit::certify(double thresh) {
  gradient_.set_coarse(false);
  gradient_.set_residual(newton_.residual());
  saturate_borders();
  rounding_ = model_.rounding(newton_.residual()) + network_.refresh_marked();
  const double tolerance = tolerated_excess(thresh);
  dual_ = newton_.at().dual;
  if (!free_.empty()) {
    dual_ = free_.feasible(newton_.at());
    gradient_.set_residual(dual_.theta);
  }
  find_candidates(tolerance);
  pieces_.clear();
  Leftover left;
  for (int sign : model_.signs()) {
    GradientTerms terms = norm_.terms(lambda1_, sign, &regions_);
    if (sign > 0) balance_.run(terms, tolerance, smooth_.is_strong());
    terms.ignored = &balance_.mean();
    norm_.search(terms, seeds_among(candidates_, terms, tolerance), tolerance);
    DualNorm::include(left, leftover_of_candidates(terms));
    collect_pieces(sign);
  }
  const double gap = relative_gap(dual_, left);
  return gap <= thresh || !std::isfinite(lambda1_) ? gap : sharper_gap(gap, thresh, tolerance);
}

Leftover RegionPursuit::leftover_of_candidates(const GradientTerms& terms) const {
  Leftover left;
  if (settled_excess_ > 0) left.ratio = settled_excess_ / scale();
  for (int i : candidates_)
    if (!search_.is_touched(i)) left.add(terms.violation(i), model_.threshold(lambda1_, i));
  for (int i : search_.touched()) left.add(terms.violation(i), model_.threshold(lambda1_, i));
  return left;
}

// The excess of one node overestimates the violation of a set. If the ratios of the pieces are
// small enough, the exact ratio is computed.
double RegionPursuit::sharper_gap(double gap, double thresh, double tolerance) {
  double lower = 1;
  for (const Piece& piece : pieces_) lower = std::max(lower, set_ratio(piece));
  if (relative_gap(dual_, {lower - 1, 0.0}) > thresh) return gap;
  const Leftover exact =
      norm_.dinkelbach(lambda1_, lower, tolerance, thresh,
                       [&](const Leftover& left) { return relative_gap(dual_, left); });
  return std::min(gap, relative_gap(dual_, exact));
}

double RegionPursuit::set_ratio(const Piece& piece) {
  double gain = 0, resistance = piece.threshold;
  for (int i : piece.nodes) taken_[i] = 1;
  for (int i : piece.nodes) {
    gain += piece.sign * gradient_.value(i);
    for (int a = network_.begin(i); a < network_.end(i); ++a)
      if (!taken_[network_.arc(a).head]) resistance += network_.arc(a).capacity;
  }
  for (int i : piece.nodes) taken_[i] = 0;
  return resistance > 0 ? gain / resistance : 0.0;
}

// The nodes that may violate the certificate, with exact gradients. Nodes without threshold are
// all candidates, because their excess is summed. The excess of all other nodes is at most
// settled_excess_, which is within the tolerance.
void RegionPursuit::find_candidates(double tolerance) {
  gradient_.predict();
  candidates_.clear();
  uncertain_.clear();
  settled_excess_ = 0;
  for (int k = 0; k < regions_.size(); ++k)
    for (int i : regions_[k].nodes) add_candidate(i);
  for (int i : not_settled_at_once(tolerance))
    if (regions_.of(i) < 0 && !is_certain(i, tolerance)) add_candidate(i);
  compute_or_all(uncertain_);
  // Exact gradients settle most of them.
  auto is_settled = [&](int i) { return regions_.of(i) < 0 && is_certain(i, tolerance); };
  candidates_.erase(std::remove_if(candidates_.begin(), candidates_.end(), is_settled),
                    candidates_.end());
}

void RegionPursuit::add_candidate(int i) {
  candidates_.push_back(i);
  if (!gradient_.exact(i)) uncertain_.push_back(i);
}

// One simple loop over all nodes, which most of them do not pass. NaN passes.
const std::vector<int>& RegionPursuit::not_settled_at_once(double tolerance) {
  const double *norm = model_.column_norm.data(), *factor = model_.factor.data();
  const double lambda1 = std::min(lambda1_, std::numeric_limits<double>::max());
  const double reach = gradient_.reach();
  double largest = settled_excess_;
  passed_.resize(model_.features());
  int* end = passed_.data();
  gradient_.for_each_predicted(network_.outflows(), [&](int i, double net) {
    const double t = lambda1 * factor[i], most = net + norm[i] * reach - t;
    const bool passes = !(most <= tolerance) || t == 0;
    if (!passes && most > largest) largest = most;
    *end = i;
    end += passes;
  });
  settled_excess_ = largest;
  passed_.resize(static_cast<std::size_t>(end - passed_.data()));
  return passed_;
}

bool RegionPursuit::is_certain(int i, double tolerance) {
  if (model_.threshold(lambda1_, i) == 0) return false;
  double most = settled_excess_;
  for (int sign : model_.signs()) {
    const double excess = norm_.terms(lambda1_, sign, &regions_).outlook(i);
    if (!(excess <= tolerance)) return false;
    most = std::max(most, excess);
  }
  settled_excess_ = most;
  return true;
}

// ---- the answer

Solution RegionPursuit::solution(double gap) const {
  Solution answer;
  answer.unpenalised = newton_.at().coordinates;
  answer.own = newton_.at().at.own;
  std::vector<std::pair<int, double>> entries;
  for (int k = 0; k < regions_.size(); ++k) {
    answer.unpenalised -= regions_[k].value * regions_[k].projection;
    if (regions_[k].value == 0) continue;
    for (int i : regions_[k].nodes) entries.emplace_back(i, regions_[k].value);
  }
  std::sort(entries.begin(), entries.end());
  for (const auto& [i, value] : entries) {
    answer.index.push_back(i);
    answer.value.push_back(value);
  }
  answer.loss = newton_.at().loss();
  answer.objective = newton_.objective();
  answer.gap = gap;
  answer.iterations = iterations_;
  return answer;
}

}  // namespace n2gfl
