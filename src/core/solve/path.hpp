// Fits along a grid of penalties, from data and settings. Each row starts from the fit before it.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "data/design.hpp"
#include "data/model.hpp"
#include "graph/graph.hpp"
#include "loss/loss.hpp"
#include "loss/profile.hpp"
#include "poll.hpp"
#include "sign.hpp"
#include "solve/solver.hpp"
#include "types.hpp"

namespace n2gfl {

struct Model;
class ProximalGradient;

enum class PenaltyType { fused, laplacian };
enum class Algorithm { pursuit, fista, ista };

// The covariates alone explain the response, so that no loss is left for X.
struct NothingLeft : std::invalid_argument {
  NothingLeft() : std::invalid_argument("the unpenalised part fits the response without error") {}
};

struct Settings {
  std::string family = "gaussian";  // a name in families.cpp
  PenaltyType penalty = PenaltyType::fused;
  Algorithm algorithm = Algorithm::pursuit;
  Sign sign = Sign::nonnegative;
  bool standardize = false, intercept = true;
  double thresh = 1e-6, lambda_min_ratio = 0.02;
  int max_iterations = 10000, threads = 1, nlambda1 = 30, nlambda2 = 5;
};

struct Penalties {
  double lambda1, lambda2;
};

// How many features have a strong effect of their own, by direction.
struct Effects {
  int against = 0, along = 0;
};

struct Fit {
  double intercept = 0;
  VectorXd covariates, own;  // own: parameters that only the loss has
  std::vector<int> index;  // nonzero coefficients
  std::vector<double> value;
  int pieces = 0;   // regions of one nonzero value
  int regions = 0;  // components of the support
  double deviance_ratio = 0, gap = 0;
  int iterations = 0;
  bool converged = false;
};

class Path {
 public:
  Path(Design design, const MatrixXd& response, const VectorXd& weights, VectorXd offset,
       const MatrixXd& covariates, const Graph& graph, VectorXd factor, Settings settings,
       Poll& poll);
  ~Path();

  Path(const Path&) = delete;
  Path& operator=(const Path&) = delete;

  // The loss with intercept and offset only, at which the deviance ratio is zero.
  double null_loss() const { return null_loss_; }

  // Features whose t statistic, on the residuals of the model without features, exceeds `least`.
  // `against` counts those with the sign that the model excludes (for free signs: negative ones).
  // The statistics come from the gradient and the norms that the model has already.
  Effects strong_effects(double least) const;

  // Products X'v so far, counted in whole passes over X.
  double passes() const { return design_.passes(); }

  double lambda1_max(double lambda2) { return direct_->lambda1_max(lambda2); }

  // Rows by lambda2, then lambda1; penalties that the user did not give are computed from the
  // data.
  std::vector<Penalties> grid(const std::vector<double>& lambda1, std::vector<double> lambda2);

  Fit fit(const Penalties& row);

  const Loss& loss() const { return *loss_; }

 private:
  static constexpr double kFarRatio = 0.2;  // a larger decrease of lambda1 needs steps in between
  static constexpr double kStepRatio = 0.2;

  bool has_constant() const { return settings_.intercept || loss_->ignores_constants(); }
  MatrixXd unpenalised(const MatrixXd& covariates) const;
  void standardise(VectorXd& factor);
  void make_solvers();
  Solution solve(const Penalties& row, bool with_proof);
  Solution solve_by(Solver& solver, const Penalties& row, bool with_proof) const;
  Solver& solver() { return iterative_ ? *iterative_ : static_cast<Solver&>(*direct_); }
  void find_null_loss(const VectorXd& offset);
  static std::vector<double> geometric(double first, double ratio, int count);

  // A fixed share of the lambda1 at which the first coefficient would enter without fusion.
  double largest_lambda2() { return 0.3 * start_of_path(0.0); }
  double start_of_path(double lambda2);
  void approach(const Penalties& row);
  Fit describe(const Solution& s) const;

  Settings settings_;
  const Graph& graph_;
  Design design_;
  std::unique_ptr<Loss> loss_;
  double mean_;  // what the loss took from the intercept
  Profile profile_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<PathSolver> direct_;
  std::unique_ptr<Solver> iterative_;  // ista, fista
  std::unique_ptr<ProximalGradient> stand_in_;
  double null_loss_ = 0;
  Penalties last_{0, 0};
  bool forget_ = true;  // the solver's state is not from this path
};

}  // namespace n2gfl
