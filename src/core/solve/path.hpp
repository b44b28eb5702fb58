// Fits along a grid of penalties. Each row starts from the fit before it.
#pragma once

#include <memory>
#include <vector>

#include "data/model.hpp"
#include "data/problem.hpp"
#include "solve/penalty_kinds.hpp"
#include "solve/solver.hpp"
#include "types.hpp"

namespace n2gfl {

enum class Algorithm { pursuit, fista, ista };

struct PathSettings {
  PenaltyType penalty = PenaltyType::fused;
  Algorithm algorithm = Algorithm::pursuit;
  double thresh = 1e-6, lambda_min_ratio = 0.02;
  int max_iterations = 10000, nlambda1 = 30, nlambda2 = 5;
};

struct Penalties {
  double lambda1, lambda2;
};

struct Fit {
  double intercept = 0;
  VectorXd covariates, own;  // own: parameters that only the loss has
  std::vector<int> index;  // nonzero coefficients
  std::vector<double> value;
  int df = 0;       // see PenaltyKind::count_df()
  int regions = 0;  // components of the support
  double deviance_ratio = 0, gap = 0;
  int iterations = 0;
  bool converged = false;
};

class Path {
 public:
  Path(Problem& problem, const PathSettings& settings);

  double lambda1_max(double lambda2) { return penalty_->lambda1_max(lambda2); }

  // Where a grid begins: a fixed share of the lambda1 at which the first coefficient would enter
  // without fusion.
  double largest_lambda2() { return 0.3 * start_of_path(0.0); }

  // Rows by lambda2, then lambda1; penalties that the user did not give are computed from the
  // data.
  std::vector<Penalties> grid(const std::vector<double>& lambda1, std::vector<double> lambda2);

  Fit fit(const Penalties& row);

 private:
  static constexpr double kFarRatio = 0.2;  // a larger decrease of lambda1 needs steps in between
  static constexpr double kStepRatio = 0.2;

  Solver& solver() { return first_order_ ? *first_order_ : penalty_->solver(); }
  static std::vector<double> geometric(double first, double ratio, int count);

  double start_of_path(double lambda2);
  void approach(const Penalties& row);
  Fit describe(const Solution& s) const;

  PathSettings settings_;
  Problem& problem_;
  Model& model_;
  std::unique_ptr<PenaltyKind> penalty_;
  std::unique_ptr<Solver> first_order_;  // ista, fista; otherwise the penalty's own solver is used
  Penalties last_{0, 0};
  bool forget_ = true;  // the solver's state is not from this path
};

}  // namespace n2gfl
