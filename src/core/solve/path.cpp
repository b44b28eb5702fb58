#include "solve/path.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "graph/parts.hpp"
#include "loss/families.hpp"
#include "penalty/fused_penalty.hpp"
#include "penalty/laplacian_penalty.hpp"
#include "penalty/penalty.hpp"
#include "solve/laplacian_descent.hpp"
#include "solve/proximal_gradient.hpp"
#include "solve/region_pursuit.hpp"

namespace n2gfl {

Path::Path(Design design, const MatrixXd& response, const VectorXd& weights, VectorXd offset,
           const MatrixXd& covariates, const Graph& graph, VectorXd factor, Settings settings,
           Poll& poll)
    : settings_(std::move(settings)), graph_(graph), design_(std::move(design)),
      loss_(make_loss(settings_.family, response, weights)),
      mean_(loss_->take_over(offset, settings_.intercept)),
      profile_(*loss_, unpenalised(covariates), offset) {
  design_.use_rows(weights);
  if (settings_.sign == Sign::nonpositive) design_.mirror();
  if (settings_.standardize) standardise(factor);
  model_ = std::make_unique<Model>(design_, profile_, graph_, std::move(factor),
                                   settings_.sign != Sign::free, has_constant(),
                                   settings_.threads, poll);
  make_solvers();
  find_null_loss(offset);
}

Path::~Path() = default;

Effects Path::strong_effects(double least) const {
  const double freedom = design_.counted_rows() - 1 - profile_.unpenalised();
  const double size = model_->null_residual.norm();
  Effects found;
  if (freedom < 1 || size <= 0) return found;
  for (int j = 0; j < design_.cols(); ++j) {
    const double norm = model_->column_norm[j];
    if (norm <= 0 || std::isinf(model_->factor[j])) continue;
    const double r = model_->null_gradient[j] / (norm * size);
    if (r * r * (freedom + least * least) <= least * least) continue;  // |t| <= least
    ++(r < 0 ? found.against : found.along);
  }
  return found;
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
  const Solution s = solve(row, true);
  last_ = row;
  return describe(s);
}

MatrixXd Path::unpenalised(const MatrixXd& covariates) const {
  const int extra = has_constant() ? 1 : 0;
  MatrixXd all(loss_->size(), covariates.cols() + extra);
  if (extra) all.col(0).setOnes();
  all.rightCols(covariates.cols()) = covariates;
  return all;
}

// A constant column cannot be standardised: its coefficient is fixed at zero.
void Path::standardise(VectorXd& factor) {
  design_.standardise(loss_->weights());
  for (int j = 0; j < design_.cols(); ++j)
    if (design_.scale(j) == 0) factor[j] = std::numeric_limits<double>::infinity();
}

void Path::make_solvers() {
  const bool fused = settings_.penalty == PenaltyType::fused;
  if (fused)
    direct_ = std::make_unique<RegionPursuit>(*model_);
  else
    direct_ = std::make_unique<LaplacianDescent>(*model_);
  if (settings_.algorithm == Algorithm::pursuit) return;
  std::unique_ptr<Penalty> penalty;
  if (fused)
    penalty = std::make_unique<FusedPenalty>(*model_);
  else
    penalty = std::make_unique<LaplacianPenalty>(*model_);
  const bool accelerated = settings_.algorithm == Algorithm::fista;
  const Steps steps = accelerated ? Steps::accelerated : Steps::plain;
  iterative_ = std::make_unique<ProximalGradient>(*model_, std::move(penalty), steps);
}

// The answer of the solver, or of fista if the solver gives up. A solver that gave up before its
// first iteration does not know fista's solutions of earlier rows, so fista then continues from
// its own.
Solution Path::solve(const Penalties& row, bool with_proof) {
  Solution s = solve_by(solver(), row, with_proof);
  if (!s.gave_up) return s;
  const bool first = stand_in_ == nullptr;
  if (first)
    stand_in_ = std::make_unique<ProximalGradient>(
        *model_, std::make_unique<FusedPenalty>(*model_), Steps::with_jumps);
  if (first || s.iterations > 0) stand_in_->start(s);
  return solve_by(*stand_in_, row, with_proof);
}

Solution Path::solve_by(Solver& solver, const Penalties& row, bool with_proof) const {
  const int most = settings_.max_iterations;
  return with_proof ? solver.solve(row.lambda1, row.lambda2, settings_.thresh, most)
                    : solver.approach(row.lambda1, row.lambda2, most);
}

void Path::find_null_loss(const VectorXd& offset) {
  Profile null(*loss_, unpenalised(MatrixXd(loss_->size(), 0)), offset);
  null_loss_ = null.evaluate(VectorXd::Zero(loss_->size())).loss();
  if (null_loss_ > 0 && model_->null_value <= 1e-12 * null_loss_)
    throw NothingLeft();
}

std::vector<double> Path::geometric(double first, double ratio, int count) {
  std::vector<double> values(count, first);
  for (int k = 1; k < count; ++k) values[k] = first * std::pow(ratio, k / (count - 1.0));
  return values;
}

// If no coefficient can leave zero, any positive sequence will do.
double Path::start_of_path(double lambda2) {
  const double lambda1 = direct_->lambda1_max(lambda2);
  forget_ = true;
  return lambda1 > 0 ? lambda1 : std::max(model_->null_gradient.cwiseAbs().maxCoeff(), 1e-300);
}

// If the row is far below the solver's last fit, fits a few rows in between without proof, which
// is much faster than one cold fit. From a cold start both penalties decrease together: with the
// lambda2 of the final row, the rows before it would have many small regions that must be fused
// later. From a warm start lambda2 does not change.
void Path::approach(const Penalties& row) {
  const bool cold = forget_ || row.lambda1 > 1.5 * last_.lambda1;
  if (cold) {
    solver().restart();
    last_ = {direct_->lambda1_max(row.lambda2), row.lambda2};
    forget_ = false;
  }
  const double floor = std::max(row.lambda1, 1e-4 * last_.lambda1);
  double lambda1 = last_.lambda1;
  while (row.lambda1 < kFarRatio * lambda1 && kStepRatio * lambda1 > floor) {
    lambda1 *= kStepRatio;
    const double more = cold && row.lambda1 > 0 ? lambda1 / row.lambda1 : 1.0;
    solve({lambda1, more * row.lambda2}, false);
  }
}

Fit Path::describe(const Solution& s) const {
  Fit fit;
  const VectorXd coefficients = profile_.coefficients(s.unpenalised);
  const int extra = has_constant() ? 1 : 0;
  if (extra) fit.intercept = coefficients[0] + mean_;
  fit.covariates = coefficients.tail(coefficients.size() - extra);
  fit.own = s.own;
  fit.index = s.index;
  fit.value = s.value;
  fit.regions = count_parts(graph_, s.index, [](int, int) { return true; });
  const auto equal = [&](int a, int b) { return s.value[a] == s.value[b]; };
  fit.pieces = settings_.penalty == PenaltyType::fused ? count_parts(graph_, s.index, equal)
                                            : static_cast<int>(s.index.size());
  for (std::size_t k = 0; k < s.index.size(); ++k) fit.value[k] *= design_.scale(s.index[k]);
  fit.deviance_ratio = null_loss_ > 0 ? 1 - s.loss / null_loss_ : 0.0;
  fit.gap = s.gap;
  fit.iterations = s.iterations;
  fit.converged = s.gap <= settings_.thresh;
  return fit;
}

}  // namespace n2gfl
