#include "solve/region_newton.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace n2gfl {

void RegionNewton::run(Regions& regions, double lambda1, double lambda2, double stop, int max_steps) {
  for (int step = 0; step < max_steps && regions.size() > 0; ++step) {
    model_->poll.now();
    const double gain = one_step(regions, lambda1, lambda2);
    const double next = model_->profile.loss().quadratic() ? kRidgeShare * gain : gain;
    if (next <= stop * model_->null_value) break;
  }
  evaluate(regions, lambda1, lambda2);
}

void RegionNewton::evaluate(const Regions& regions, double lambda1, double lambda2) {
  VectorXd eta = VectorXd::Zero(model_->x.rows());
  for (int k = 0; k < regions.size(); ++k) eta += regions[k].value * regions[k].column;
  at_ = model_->profile.evaluate(eta);
  penalty_ = penalty(kinks(regions, lambda1, lambda2), regions.values());
}

std::vector<Kink> RegionNewton::kinks(const Regions& regions, double lambda1,
                                      double lambda2) const {
  const int size = regions.size();
  Crossings crossing;
  std::vector<double> to_zero(size);
  for (int k = 0; k < size; ++k) {
    to_zero[k] = regions[k].factor == 0 ? 0.0 : lambda1 * regions[k].factor;
    if (regions.fused()) collect_crossing(regions, k, lambda2, crossing, to_zero[k]);
  }
  std::sort(crossing.begin(), crossing.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Kink> kinks;
  for (std::size_t h = 0; h < crossing.size(); ++h) {
    if (h > 0 && crossing[h].first == crossing[h - 1].first)
      kinks.back().weight += crossing[h].second;
    else
      kinks.push_back({static_cast<int>(crossing[h].first / size),
                       static_cast<int>(crossing[h].first % size), crossing[h].second});
  }
  for (int k = 0; k < size; ++k) kinks.push_back({k, ContractedProblem::kZero, to_zero[k]});
  return kinks;
}

void RegionNewton::collect_crossing(const Regions& regions, int k, double lambda2,
                                    Crossings& crossing, double& to_zero) const {
  for (int a : regions[k].border) {
    const int other = regions.of(model_->graph.head(a));
    const double weight = lambda2 * model_->graph.weight(a);
    if (other < 0)
      to_zero += weight;
    else if (k < other)
      crossing.emplace_back(static_cast<std::int64_t>(k) * regions.size() + other, weight);
  }
}

double RegionNewton::penalty(const std::vector<Kink>& kinks, const VectorXd& u) {
  double sum = 0;
  for (const Kink& z : kinks) sum += z.weight * ContractedProblem::height(z, u);
  return sum;
}

double RegionNewton::one_step(Regions& regions, double lambda1, double lambda2) {
  const MatrixXd columns = regions.columns();
  ContractedProblem problem;
  problem.start = regions.values();
  problem.kinks = kinks(regions, lambda1, lambda2);
  problem.nonnegative = model_->nonnegative;
  problem.tie = regions.ties();
  at_ = model_->profile.evaluate(columns * problem.start);
  const double before = at_.loss() + penalty(problem.kinks, problem.start);
  problem.gradient = columns.transpose() * at_.residual();
  ContractedSolution best;
  double t = 0;
  for (int tries = 0; t == 0 && tries < kMostDampings; ++tries) {
    fill_hessian(regions, columns, model_->profile.curvature(at_.at, damping_), problem);
    best = ActiveSet(problem, model_->poll).solve();
    if (!(best.decrease > 0)) return 0;
    t = line_search(columns, problem, best, before);
    if (t > 0 || model_->profile.loss().quadratic()) break;
    damp(columns * (best.value - problem.start), before);
  }
  if (t == 1) damping_ *= 0.1;
  if (t == 1 && best.groups < regions.size()) {
    regions.merge(best.group, best.groups, best.value);
    if (model_->profile.loss().quadratic()) gram_.merge(best.group, regions);
  } else {
    regions.set_values(problem.start + t * (best.value - problem.start), t < 1);
  }
  return t > 0 ? best.decrease : 0;
}

// Raises the damping so far that the same step would no longer pay.
void RegionNewton::damp(const VectorXd& step, double objective) {
  const double length = step.cwiseAbs2().dot(model_->profile.loss().weights());
  damping_ = std::max(10 * damping_, objective / std::max(length, 1e-300));
}

// The model is centred at the start, so the small ridge shortens steps but does not move the
// optimum.
void RegionNewton::fill_hessian(const Regions& regions, const MatrixXd& columns,
                                const ProfileCurvature& curvature, ContractedProblem& problem) {
  const bool quadratic = model_->profile.loss().quadratic();
  MatrixXd hessian = quadratic ? gram_.of(regions, columns, curvature.diagonal())
                               : weighted_gram(columns, curvature.diagonal(), model_->threads);
  const VectorXd whole = hessian.diagonal();  // the projected diagonal may be pure rounding
  if (!quadratic) curvature.subtract(columns, hessian);
  hessian.diagonal() += 1e-11 * whole;
  hessian.diagonal().array() += 1e-12 * whole.maxCoeff();
  problem.hessian = std::move(hessian);
}

double RegionNewton::line_search(const MatrixXd& columns, const ContractedProblem& problem,
                                 const ContractedSolution& best, double before) {
  if (best.decrease < kRoundingGain * model_->null_value) return 1;
  double t = 1;
  for (int halvings = 0; halvings < kHalvings; ++halvings, t *= 0.5) {
    const VectorXd u = problem.start + t * (best.value - problem.start);
    const double now =
        model_->profile.evaluate(columns * u).loss() + penalty(problem.kinks, u);
    if (now <= before - 1e-4 * t * best.decrease) return t;
  }
  return 0;
}

}  // namespace n2gfl
