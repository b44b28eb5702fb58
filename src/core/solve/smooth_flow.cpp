#include "solve/smooth_flow.hpp"

#include <cmath>
#include <cstddef>
#include <memory>

namespace n2gfl {

SmoothFlow::SmoothFlow(const Model& model, Network& network, LazyGradient& gradient,
                       const Regions& regions)
    : model_(&model), net_(&network), gradient_(&gradient), regions_(&regions) {}

void SmoothFlow::set_penalties(double lambda1, double lambda2) {
  lambda1_ = lambda1;
  unit_ = lambda2 * mean_weight();
  scale_ = lambda1 * model_->least_factor * model_->features();
  strong_ = std::isfinite(scale_) && scale_ > 0 && unit_ > kStrong * lambda1;
}

void SmoothFlow::start_row() {
  if (!strong_ || predicted_excess() <= kMuchExcess * scale_) return;
  if (prediction_is_poor()) gradient_->compute_all();
  sweep();
}

bool SmoothFlow::help_search(std::size_t seeds) {
  if (!strong_ || static_cast<double>(seeds) <= kManySeeds * model_->features()) return false;
  sweep();
  return true;
}

double SmoothFlow::mean_weight() {
  if (mean_weight_ >= 0) return mean_weight_;
  double sum = 0;
  for (int a = 0; a < model_->graph.arcs(); ++a) sum += model_->graph.weight(a);
  return mean_weight_ = model_->graph.arcs() > 0 ? sum / model_->graph.arcs() : 0.0;
}

// The sum of all that is beyond the thresholds.
double SmoothFlow::predicted_excess() const {
  double sum = 0;
  gradient_->for_each_predicted(net_->outflows(), [&](int i, double net) {
    sum += std::fmax(0.0, net - lambda1_ * model_->factor[i]);
  });
  return sum;
}

// A typical error is much smaller than the bound, which holds for the worst of N directions.
bool SmoothFlow::prediction_is_poor() const {
  const double typical = gradient_->reach() / std::sqrt(model_->x.rows());
  return typical * model_->column_norm.sum() > kPoor * scale_;
}

// Sweeps until they no longer reduce the excess, or little is left for the search. If they
// increase it, which may happen at nodes of very high degree, the flow stays as it was.
void SmoothFlow::sweep() {
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
void SmoothFlow::load() {
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

}  // namespace n2gfl
