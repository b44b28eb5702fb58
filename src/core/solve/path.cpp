#include "solve/path.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "graph/parts.hpp"
#include "solve/proximal_gradient.hpp"

namespace n2gfl {

Path::Path(Problem& problem, const PathSettings& settings)
    : settings_(settings), problem_(problem), model_(problem.model()),
      penalty_(make_penalty_kind(settings.penalty, model_)) {
  if (settings_.algorithm == Algorithm::pursuit) return;
  const bool accelerated = settings_.algorithm == Algorithm::fista;
  const Steps steps = accelerated ? Steps::accelerated : Steps::plain;
  first_order_ = std::make_unique<ProximalGradient>(model_, penalty_->make_penalty(), steps);
}

std::vector<Penalties> Path::grid(const std::vector<double>& lambda1, std::vector<double> lambda2) {
  if (lambda2.empty()) lambda2 = geometric(largest_lambda2(), 0.01, settings_.nlambda2);
  std::vector<Penalties> rows;
  for (double second : lambda2) {
    const std::vector<double> first =
        lambda1.empty()
            ? geometric(start_of_path(second), settings_.lambda_min_ratio, settings_.nlambda1)
            : lambda1;
    for (double value : first) rows.push_back({value, second});
  }
  return rows;
}

Fit Path::fit(const Penalties& row) {
  approach(row);
  const Solution s =
      solver().solve(row.lambda1, row.lambda2, settings_.thresh, settings_.max_iterations);
  last_ = row;
  return describe(s);
}

std::vector<double> Path::geometric(double first, double ratio, int count) {
  std::vector<double> values(count, first);
  for (int k = 1; k < count; ++k) values[k] = first * std::pow(ratio, k / (count - 1.0));
  return values;
}

// If no coefficient can leave zero, any positive sequence will do.
double Path::start_of_path(double lambda2) {
  const double lambda1 = lambda1_max(lambda2);
  forget_ = true;
  return lambda1 > 0 ? lambda1 : std::max(model_.null_gradient.cwiseAbs().maxCoeff(), 1e-300);
}

// If the row is far below the solver's last fit, fits a few rows in between without proof, which
// is much faster than one cold fit. From a cold start both penalties decrease together: with the
// lambda2 of the final row, the rows before it would have many small regions that must be fused
// later. From a warm start lambda2 does not change.
void Path::approach(const Penalties& row) {
  const bool cold = forget_ || row.lambda1 > 1.5 * last_.lambda1;
  if (cold) {
    solver().restart();
    last_ = {lambda1_max(row.lambda2), row.lambda2};
    forget_ = false;
  }
  const double floor = std::max(row.lambda1, 1e-4 * last_.lambda1);
  double lambda1 = last_.lambda1;
  while (row.lambda1 < kFarRatio * lambda1 && kStepRatio * lambda1 > floor) {
    lambda1 *= kStepRatio;
    const double more = cold && row.lambda1 > 0 ? lambda1 / row.lambda1 : 1.0;
    solver().approach(lambda1, more * row.lambda2, settings_.max_iterations);
  }
}

Fit Path::describe(const Solution& s) const {
  Fit fit;
  const Unpenalised unpenalised = problem_.unpenalised_at(s.unpenalised);
  fit.intercept = unpenalised.intercept;
  fit.covariates = unpenalised.covariates;
  fit.own = s.own;
  fit.index = s.index;
  fit.value = problem_.on_scale_of_x(s.index, s.value);
  fit.regions = count_parts(model_.graph, s.index, [](int, int) { return true; });
  fit.df = penalty_->count_df(s);
  fit.deviance_ratio = problem_.deviance_ratio(s.loss);
  fit.gap = s.gap;
  fit.iterations = s.iterations;
  fit.converged = s.gap <= settings_.thresh;
  return fit;
}

}  // namespace n2gfl
