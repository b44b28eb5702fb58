// Brings the flow of region pursuit close to that of new penalties, where fusion is strong and
// flows travel far: sweeps over all edges are then much faster than a search that moves the excess
// of every node to a distant deficit.
#pragma once

#include <cmath>
#include <memory>

#include "data/lazy_gradient.hpp"
#include "data/model.hpp"
#include "graph/network.hpp"
#include "solve/balance_sweeps.hpp"
#include "solve/regions.hpp"

namespace n2gfl {

class SmoothFlow {
 public:
  SmoothFlow(const Model& model, Network& network, LazyGradient& gradient, const Regions& regions)
      : model_(&model), net_(&network), gradient_(&gradient), regions_(&regions) {}

  void set_penalties(double lambda1, double lambda2) {
    lambda1_ = lambda1;
    unit_ = lambda2 * mean_weight();
    scale_ = lambda1 * model_->least_factor * model_->features();
    strong_ = std::isfinite(scale_) && scale_ > 0 && unit_ > kStrong * lambda1;
  }

  bool is_strong() const { return strong_; }

  // At the start of a row, after gradient.predict(): sweeps if there is much excess.
  void start_row() {
    if (!strong_ || predicted_excess() <= kMuchExcess * scale_) return;
    if (prediction_is_poor()) gradient_->compute_all();
    sweep();
  }

  // Later in the row: sweeps if there are so many seeds that the search would be slow.
  bool help_search(std::size_t seeds) {
    if (!strong_ || static_cast<double>(seeds) <= kManySeeds * model_->features()) return false;
    sweep();
    return true;
  }

 private:
  static constexpr double kStrong = 0.2;     // lambda2 w / lambda1 from which flows travel far
  static constexpr double kPoor = 0.05;      // of lambda1: a typical error of a poor prediction
  static constexpr double kManySeeds = 0.1;  // of all nodes
  static constexpr double kMuchExcess = 1e-3;    // of lambda1 d, from which on sweeps pay
  static constexpr double kLittleExcess = 3e-4;  // of lambda1 d, that the search removes as fast
  static constexpr double kStalled = 0.95;   // share that is left after useless sweeps
  static constexpr int kMostSweeps = 200, kSweepsAtOnce = 5;

  double mean_weight() {
    if (mean_weight_ >= 0) return mean_weight_;
    double sum = 0;
    for (int a = 0; a < model_->graph.arcs(); ++a) sum += model_->graph.weight(a);
    return mean_weight_ = model_->graph.arcs() > 0 ? sum / model_->graph.arcs() : 0.0;
  }

  // The sum of all that is beyond the thresholds.
  double predicted_excess() const {
    double sum = 0;
    gradient_->for_each_predicted(net_->outflows(), [&](int i, double net) {
      sum += std::fmax(0.0, net - lambda1_ * model_->factor[i]);
    });
    return sum;
  }

  // A typical error is much smaller than the bound, which holds for the worst of N directions.
  bool prediction_is_poor() const {
    const double typical = gradient_->reach() / std::sqrt(model_->x.rows());
    return typical * model_->column_norm.sum() > kPoor * scale_;
  }

  // Sweeps until they no longer reduce the excess, or little is left for the search. If they
  // increase it, which may happen at nodes of very high degree, the flow stays as it was.
  void sweep() {
    if (!sweeps_)
      sweeps_ = std::make_unique<BalanceSweeps>(*net_, model_->poll, model_->threads);
    load();
    const double first = sweeps_->overflow();
    double last = first;
    for (int done = 0; done < kMostSweeps && last > kLittleExcess * scale_; done += kSweepsAtOnce) {
      sweeps_->run(kSweepsAtOnce);
      const double before = last;
      last = sweeps_->overflow();
      if (!(last <= kStalled * before)) break;
    }
    if (last < first) sweeps_->unload();
  }

  // In the zero set the gradient of free coefficients may lie anywhere between two thresholds.
  void load() {
    const auto is_between = [&](int i) { return !model_->nonnegative && regions_->of(i) < 0; };
    const auto excess = [&](int i) {
      const double g = gradient_->latest(i) - net_->outflow(i);
      if (is_between(i)) return g;
      const double t = model_->threshold(lambda1_, i);
      return regions_->value_at(i) < 0 ? g + t : g - t;
    };
    const auto limit = [&](int i) {
      return is_between(i) ? model_->threshold(lambda1_, i) : BalanceSweeps::kOneSided;
    };
    sweeps_->load(excess, limit, [&](int i) { return regions_->of(i); }, unit_);
  }

  const Model* model_;
  Network* net_;
  LazyGradient* gradient_;
  const Regions* regions_;
  std::unique_ptr<BalanceSweeps> sweeps_;  // made when first needed
  double lambda1_ = 0;
  double unit_ = 0;          // a typical capacity
  double scale_ = 0;         // lambda1 d
  double mean_weight_ = -1;  // of the graph's edges; negative: not known yet
  bool strong_ = false;
};

}  // namespace n2gfl
