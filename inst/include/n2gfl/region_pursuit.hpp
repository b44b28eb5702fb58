// Region pursuit represents the fused fit as a short list of regions. One flow, kept for the whole
// path, shows which pieces must leave their region, and proves optimality. It calls max-flow
// directly and never the prox.
//
// For one pair of penalties:
//   1. Newton's method on the old regions.
//   2. On a working set of features: compute exact gradients, saturate the edges between regions,
//      search. Split off the pieces that the flow cannot balance; run Newton's method again. Repeat
//      until there are no such pieces.
//   3. Compute the certificate on all features; most are settled by a bound of their gradient. If
//      it fails, the features that violate it join the working set.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "dual_norm.hpp"
#include "free_directions.hpp"
#include "lazy_gradient.hpp"
#include "max_flow.hpp"
#include "model.hpp"
#include "region_newton.hpp"
#include "regions.hpp"
#include "solver.hpp"

namespace n2gfl {

class RegionPursuit final : public PathSolver {
 public:
  explicit RegionPursuit(Model& model)
      : model_(model), network_(model.graph), search_(network_, model.poll), gradient_(model),
        norm_(model, network_, search_, gradient_), free_(model), regions_(model), newton_(model),
        in_work_(model.features(), 0) {
    network_.scale_capacities(0.0);
    newton_.evaluate(regions_, 0, 0);
  }

  // Fits at the two penalties, starting from the last fit, until the relative gap is at most
  // `thresh`.
  Solution solve(double lambda1, double lambda2, double thresh, int max_iterations) override {
    may_give_up_ = thresh >= kLeastGapOfOthers;
    double gap = std::numeric_limits<double>::infinity(), stop = 0.3 * thresh;
    if (!start_row(lambda1, lambda2)) return solution(gap);
    for (int attempt = 0; attempt < kMaxCertificates; ++attempt) {
      const bool moved = solve_on_work(stop, max_iterations);
      if (too_many_regions()) return solution(gap);
      if (!moved && attempt > 0) stop *= 0.01;
      gap = certify(thresh);
      if (gap <= thresh || iterations_ >= max_iterations) break;
      if (!moved && pieces_.empty() && stop < 1e-14 * thresh) break;
      for (const Piece& piece : pieces_) add_to_work(piece.nodes);
      if (!free_.empty()) add_to_work(free_.objectors());
      add_steep_to_work();
      // Nothing to split: the rest of the gap is due to the regions' values.
      if (!moved) newton_.run(regions_, lambda1_, lambda2_, 0.0, 5);
    }
    return solution(gap);
  }

  // The same on the first working set only, to low accuracy.
  Solution approach(double lambda1, double lambda2, int max_iterations) override {
    may_give_up_ = true;
    if (start_row(lambda1, lambda2)) solve_on_work(kNearEnough, max_iterations);
    return solution(std::numeric_limits<double>::infinity());
  }

  // The smallest lambda1 at which all penalised coefficients are zero.
  double lambda1_max(double lambda2) override {
    const double infinity = std::numeric_limits<double>::infinity();
    restart();
    if (model_.any_unpenalised) {
      solve(infinity, lambda2, 1e-12, 1000);
    } else {
      set_penalties(infinity, lambda2);
      newton_.evaluate(regions_, infinity, lambda2);
    }
    gradient_.set_residual(newton_.residual());
    if (regions_.size() > 0)
      gradient_.compute_all();
    else
      gradient_.assume_null();
    saturate_borders();
    const double answer = norm_.lambda1_max(regions_, model_.rounding(newton_.residual()));
    restart();
    return answer;
  }

  void restart() override { regions_.clear(); }

 private:
  static constexpr int kMaxCertificates = 50;
  static constexpr int kMaxRounds = 40;     // for one working set
  static constexpr double kNearEnough = 0.05;  // the gap for fits without proof
  static constexpr int kMostPieces = 60;    // splits per round, or half the regions if more
  static constexpr double kSteep = 0.9;     // share of the threshold, for the working set
  static constexpr int kManyRegions = 300;
  static constexpr double kStepsForOne = 40;        // first-order steps per Newton step
  static constexpr double kLeastGapOfOthers = 1e-8;
  static constexpr double kLazyShare = 0.2; // above this share: one full product

  // A Newton step costs about R^3 + N R^2 / 4 for R regions, a step of a first-order method about
  // N d. With many regions a first-order method is faster, unless the required accuracy is beyond
  // its reach.
  bool too_many_regions() const {
    const double regions = regions_.size(), rows = model_.x.rows();
    if (!may_give_up_ || regions < kManyRegions) return false;
    return regions * regions * (regions + 0.25 * rows) > kStepsForOne * rows * model_.features();
  }

  // Fits the old regions at the new penalties and chooses the working set. Returns false if
  // another solver will be faster.
  bool start_row(double lambda1, double lambda2) {
    set_penalties(lambda1, lambda2);
    iterations_ = 0;
    if (too_many_regions()) return false;
    newton_.run(regions_, lambda1_, lambda2_, 1e-8, 10);
    choose_work();
    return true;
  }

  // ---- penalties

  void set_penalties(double lambda1, double lambda2) {
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
  }

  // ---- the working set

  void choose_work() {
    for (int i : work_) in_work_[i] = 0;
    work_.clear();
    gradient_.set_residual(newton_.residual());
    gradient_.predict();
    add_steep_to_work();
  }

  // The gradient relative to its threshold.
  double steepness(int i) const {
    const double t = model_.threshold(lambda1_, i);
    const double g = model_.nonnegative ? gradient_.value(i) : std::fabs(gradient_.value(i));
    return t > 0 ? g / t : g > 0 ? std::numeric_limits<double>::max() : 0.0;
  }

  void add_steep_to_work() {
    std::vector<int> steep;
    for (int i = 0; i < model_.features(); ++i)
      if (!in_work_[i] && steepness(i) > kSteep) steep.push_back(i);
    const auto most = static_cast<std::size_t>(
        std::max({1000.0, 0.03 * model_.features(), 2.0 * regions_.nonzero()}));
    if (steep.size() > most) {
      auto steeper = [&](int a, int b) { return rank(a) > rank(b); };
      std::nth_element(steep.begin(), steep.begin() + most, steep.end(), steeper);
      steep.resize(most);
      std::sort(steep.begin(), steep.end());
    }
    add_to_work(steep);
  }

  double rank(int i) const {
    const double s = steepness(i);
    return s < std::numeric_limits<double>::max() ? s : std::fabs(gradient_.value(i));
  }

  void add_to_work(int i) {
    if (in_work_[i]) return;
    in_work_[i] = 1;
    work_.push_back(i);
  }
  void add_to_work(const std::vector<int>& nodes) {
    for (int i : nodes) add_to_work(i);
  }

  // The support and its neighbours are always in the working set.
  void add_support_to_work() {
    for (int k = 0; k < regions_.size(); ++k) {
      for (int i : regions_[k].nodes) {
        add_to_work(i);
        for (int a = network_.begin(i); a < network_.end(i); ++a) add_to_work(network_.arc(a).head);
      }
    }
  }

  // ---- rounds on the working set: search, split, Newton. True if a region was split.

  bool solve_on_work(double stop, int max_iterations) {
    bool moved = false;
    int most = pieces_at_a_time();
    double last = std::numeric_limits<double>::infinity(), last_gap = last;
    for (int round = 0;; ++round) {
      find_pieces_on_work();
      const Leftover left = leftover_of_pieces();
      const double gap = relative_gap(newton_.residual(), left);
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
      split(most);
      if (too_many_regions()) return true;
      newton_.run(regions_, lambda1_, lambda2_, 1e-13, round < 2 && left.ratio > 1e-2 ? 4 : 12);
      moved = true;
    }
    return moved;
  }

  int pieces_at_a_time() const { return std::max(kMostPieces, regions_.size() / 2); }

  void find_pieces_on_work() {
    add_support_to_work();
    gradient_.set_residual(newton_.residual());
    gradient_.compute(work_);
    saturate_borders();
    pieces_.clear();
    const double tolerance = rounding_ = model_.rounding(newton_.residual());
    for (int way = 1; way >= (model_.nonnegative ? 1 : -1); way -= 2) {
      GradientTerms terms = norm_.terms(lambda1_, way, &regions_);
      std::vector<int> seeds;
      for (int i : work_)
        if ((way > 0 || regions_.of(i) < 0) && way * terms.excess(i) > tolerance) seeds.push_back(i);
      norm_.search(terms, seeds, tolerance);
      collect_pieces(way);
    }
  }

  // Edges between regions of different values are saturated, from the larger to the smaller value.
  void saturate_borders() {
    if (lambda2_ == 0) return;
    for (int k = 0; k < regions_.size(); ++k) {
      for (int i : regions_[k].nodes) {
        for (int a = network_.begin(i); a < network_.end(i); ++a) {
          const Arc& u = network_.arc(a);
          const double difference = regions_[k].value - regions_.value_at(u.head);
          if (regions_.of(u.head) == k || difference == 0) continue;
          const double flow = difference > 0 ? u.capacity : -u.capacity;
          if (u.flow != flow) network_.set_flow(a, flow);
        }
      }
    }
  }

  // The connected parts of the set whose excess the search could not remove.
  void collect_pieces(int way) {
    taken_.resize(model_.features(), 0);
    for (int start : search_.touched()) {
      if (!search_.reached(start) || taken_[start]) continue;
      Piece piece;
      piece.parent = regions_.of(start);
      piece.way = way;
      piece.nodes = regions_.grow(
          start,
          [&](int j) {
            return search_.reached(j) && !taken_[j] && regions_.of(j) == piece.parent;
          },
          [&](int j) { taken_[j] = 1; });
      for (int i : piece.nodes) {
        piece.gain += std::max(0.0, way * search_.excess(i));
        piece.threshold += model_.threshold(lambda1_, i);
      }
      if (matters(piece)) pieces_.push_back(std::move(piece));
    }
    for (int i : search_.touched()) taken_[i] = 0;
  }

  bool matters(const Piece& piece) const {
    if (piece.threshold > 0 && piece.gain <= 1e-12 * piece.threshold) return false;
    return piece.gain > rounding_ * static_cast<double>(piece.nodes.size());
  }

  Leftover leftover_of_pieces() const {
    Leftover left;
    for (const Piece& piece : pieces_) {
      if (piece.threshold > 0)
        left.ratio = std::max(left.ratio, piece.gain / piece.threshold);
      else
        left.unpenalised += piece.gain;
    }
    return left;
  }

  void split(int most) {
    std::sort(pieces_.begin(), pieces_.end(),
              [](const Piece& a, const Piece& b) { return a.gain > b.gain; });
    if (static_cast<int>(pieces_.size()) > most) pieces_.resize(most);
    for (const Piece& piece : pieces_) add_to_work(piece.nodes);
    regions_.split(pieces_);
  }

  // ---- the certificate

  double relative_gap(const VectorXd& theta, const Leftover& left) const {
    return n2gfl::relative_gap(model_, newton_.objective(), theta, left, rounding_);
  }

  // Excess that the certificate may leave: a small share of what the gap allows. For unpenalised
  // features the gap allows rounding only.
  double tolerated_excess(double thresh) const {
    if (!std::isfinite(lambda1_) || model_.any_unpenalised) return rounding_;
    return std::max(rounding_, 0.02 * thresh * lambda1_ * model_.least_factor);
  }

  double certify(double thresh) {
    saturate_borders();
    rounding_ = model_.rounding(newton_.residual()) + network_.refresh_outflow();
    const double tolerance = tolerated_excess(thresh);
    theta_ = newton_.residual();
    if (!free_.empty()) {
      theta_ = free_.feasible(theta_);
      gradient_.set_residual(theta_);
    }
    make_gradient_certain(tolerance);
    pieces_.clear();
    Leftover left;
    for (int way = 1; way >= (model_.nonnegative ? 1 : -1); way -= 2) {
      GradientTerms terms = norm_.terms(lambda1_, way, &regions_);
      norm_.search_from_all(terms, tolerance);
      DualNorm::include(left, norm_.leftover(terms));
      collect_pieces(way);
    }
    const double gap = relative_gap(theta_, left);
    return gap <= thresh || !std::isfinite(lambda1_) ? gap : sharper_gap(gap, thresh, tolerance);
  }

  // The excess of one node overestimates the violation of a set. If the ratios of the pieces are
  // small enough, the exact ratio is computed.
  double sharper_gap(double gap, double thresh, double tolerance) {
    double lower = 1;
    for (const Piece& piece : pieces_) lower = std::max(lower, set_ratio(piece));
    if (relative_gap(theta_, {lower - 1, 0.0}) > thresh) return gap;
    const Leftover exact =
        norm_.dinkelbach(lambda1_, lower, tolerance, thresh,
                         [&](const Leftover& left) { return relative_gap(theta_, left); });
    return std::min(gap, relative_gap(theta_, exact));
  }

  double set_ratio(const Piece& piece) {
    double gain = 0, resistance = piece.threshold;
    for (int i : piece.nodes) taken_[i] = 1;
    for (int i : piece.nodes) {
      gain += piece.way * gradient_.value(i);
      for (int a = network_.begin(i); a < network_.end(i); ++a)
        if (!taken_[network_.arc(a).head]) resistance += network_.arc(a).capacity;
    }
    for (int i : piece.nodes) taken_[i] = 0;
    return resistance > 0 ? gain / resistance : 0.0;
  }

  // Computes exact products only for columns that their bound does not settle, or one full product
  // if these are many.
  void make_gradient_certain(double tolerance) {
    gradient_.predict();
    std::vector<int> uncertain;
    for (int i = 0; i < model_.features(); ++i)
      if (gradient_.error(i) > 0 && may_violate(i, tolerance)) uncertain.push_back(i);
    if (static_cast<double>(uncertain.size()) > kLazyShare * model_.features()) return gradient_.compute_all();
    gradient_.compute(uncertain);
  }

  bool may_violate(int i, double tolerance) {
    if (norm_.terms(lambda1_, 1, &regions_).outlook(i) > tolerance) return true;
    return !model_.nonnegative && norm_.terms(lambda1_, -1, &regions_).outlook(i) > tolerance;
  }

  // ---- the answer

  Solution solution(double gap) const {
    Solution answer;
    answer.unpenalised = model_.profile.coordinates();
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
    answer.loss = newton_.loss();
    answer.objective = newton_.objective();
    answer.gap = gap;
    answer.iterations = iterations_;
    answer.gave_up = too_many_regions();
    return answer;
  }

  Model& model_;
  Network network_;
  MaxFlow search_;
  LazyGradient gradient_;
  DualNorm norm_;
  FreeDirections free_;
  Regions regions_;
  RegionNewton newton_;
  double lambda1_ = 0, lambda2_ = 0;
  VectorXd theta_;       // the dual point of the certificate: the residual or close to it
  double rounding_ = 0;  // rounding error of one node's excess, at the present residual and flow
  int iterations_ = 0;
  bool may_give_up_ = false;
  std::vector<int> work_;
  std::vector<char> in_work_, taken_;
  std::vector<Piece> pieces_;
};

}  // namespace n2gfl
