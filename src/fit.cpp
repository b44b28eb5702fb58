// n2gfl() and lambda_max() for R: takes checked arguments without copying them and returns the
// fits.
#include <RcppEigen.h>

#include "data/problem.hpp"
#include "data/row_means.hpp"
#include "solve/path.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "glue.h"

namespace {

n2gfl::Algorithm as_core_algorithm(const std::string& name) {
  if (name == "pursuit") return n2gfl::Algorithm::pursuit;
  return name == "fista" ? n2gfl::Algorithm::fista : n2gfl::Algorithm::ista;
}

n2gfl::ProblemSettings as_problem_settings(const Rcpp::List& control) {
  n2gfl::ProblemSettings s;
  s.family = Rcpp::as<std::string>(control["family"]);
  s.sign = as_core_sign(Rcpp::as<std::string>(control["sign"]));
  s.standardize = Rcpp::as<bool>(control["standardize"]);
  s.intercept = Rcpp::as<bool>(control["intercept"]);
  s.threads = Rcpp::as<int>(control["threads"]);
  return s;
}

n2gfl::PathSettings as_path_settings(const Rcpp::List& control) {
  n2gfl::PathSettings s;
  s.penalty = n2gfl::penalty_named(Rcpp::as<std::string>(control["penalty"]));
  s.algorithm = as_core_algorithm(Rcpp::as<std::string>(control["algorithm"]));
  s.thresh = Rcpp::as<double>(control["thresh"]);
  s.lambda_min_ratio = Rcpp::as<double>(control["lambda.min.ratio"]);
  s.max_iterations = Rcpp::as<int>(control["maxit"]);
  s.nlambda1 = Rcpp::as<int>(control["nlambda1"]);
  s.nlambda2 = Rcpp::as<int>(control["nlambda2"]);
  return s;
}

// Sites as R numbers them: 1, 2, ...; 0 for a site that is not known or not wanted.
n2gfl::Sites as_core_sites(const Rcpp::List& given) {
  n2gfl::Sites sites;
  sites.count = Rf_length(given["names"]);
  sites.reference = Rcpp::as<int>(given["reference"]) - 1;
  for (const int site : Rcpp::as<Rcpp::IntegerVector>(given["of_row"]))
    sites.of_row.push_back(site > 0 ? site - 1 : sites.count);
  sites.used = Rcpp::as<std::vector<bool>>(given["used"]);
  sites.preserved = Rcpp::as<Eigen::MatrixXd>(given["preserved"]);
  return sites;
}

// `map`: NULL, or what is done to x, see view_map() in R/fit-problem.R: the factors of its rows, the
// sites whose effects are removed, the covariates z whose effects are removed and their estimator p.
n2gfl::Design as_design(const SEXP x, const Rcpp::Nullable<Rcpp::List>& map, const int threads,
                        n2gfl::Poll& poll) {
  n2gfl::Design design = ::as_design(x);
  if (map.isNull()) return design;
  const Rcpp::List given(map.get());
  if (given.containsElementNamed("factors"))
    design.scale_rows(Rcpp::as<Eigen::VectorXd>(given["factors"]));
  if (given.containsElementNamed("sites")) try {
    design.harmonise(as_core_sites(given["sites"]), threads, poll);
  } catch (const n2gfl::NoSiteVariance&) {
    Rcpp::stop("`harmonize` needs at least 2 features that vary within every site.");
  }
  if (given.containsElementNamed("p"))
    design.deconfound(Rcpp::as<Eigen::MatrixXd>(given["z"]), Rcpp::as<Eigen::MatrixXd>(given["p"]));
  return design;
}

// What was estimated of the sites, for the given features (counted from 0): one row per site in
// scale and shift, one row per covariate in slopes.
Rcpp::List site_estimates(const n2gfl::SiteEffects& sites, const std::vector<int>& features) {
  const auto table = [&](const auto& column) {
    Eigen::MatrixXd values(column(0).size(), static_cast<Eigen::Index>(features.size()));
    for (std::size_t k = 0; k < features.size(); ++k)
      values.col(static_cast<Eigen::Index>(k)) = column(features[k]);
    return values;
  };
  return Rcpp::List::create(
      Rcpp::Named("index") = features,
      Rcpp::Named("scale") = table([&](int j) { return sites.scale(j); }),
      Rcpp::Named("shift") = table([&](int j) { return sites.shift(j); }),
      Rcpp::Named("slopes") = table([&](int j) { return sites.slopes(j); }));
}

// Prepares the problem, and words the core's errors with the names of R's arguments.
// R/fit-problem.R words NotFinite, because it looks for the value.
std::unique_ptr<n2gfl::Problem> make_problem(n2gfl::Inputs inputs, const n2gfl::Graph& graph,
                                             n2gfl::Poll& poll) {
  try {
    return std::make_unique<n2gfl::Problem>(std::move(inputs), graph, poll);
  } catch (const n2gfl::Overflow&) {
    Rcpp::stop("`offset` must be smaller: with it and without features the loss is infinite.");
  } catch (const n2gfl::NothingLeft&) {
    Rcpp::stop(
        "`covariates` already fit `y` without error, but something must be left for `x` to fit.");
  }
}

// What was removed from x. The core fits X - (Z - centre) B; without a map B is empty.
struct Removed {
  Eigen::MatrixXd effects;  // B
  Eigen::VectorXd centre;   // of the covariates among the controls
};

Removed removed_effects(const n2gfl::Design& design, const Rcpp::Nullable<Rcpp::List>& map) {
  if (design.effects().size() == 0) return {};
  const Rcpp::List given(map.get());
  return {design.effects(), Rcpp::as<Eigen::VectorXd>(given["centre"])};
}

// Collects the fits of a grid's rows as the vectors of R's result.
class Collector {
 public:
  Collector(Removed removed, const n2gfl::Loss& loss) : removed_(std::move(removed)), loss_(&loss) {}

  void add(const n2gfl::Penalties& row, const n2gfl::Fit& fit) {
    lambda1_.push_back(row.lambda1);
    lambda2_.push_back(row.lambda2);
    add_unpenalised(fit);
    df_.push_back(fit.df);
    regions_.push_back(fit.regions);
    nonzero_.push_back(static_cast<int>(fit.index.size()));
    iterations_.push_back(fit.iterations);
    deviance_ratio_.push_back(fit.deviance_ratio);
    gap_.push_back(fit.gap);
    converged_.push_back(fit.converged);
    index_.insert(index_.end(), fit.index.begin(), fit.index.end());
    value_.insert(value_.end(), fit.value.begin(), fit.value.end());
    starts_.push_back(static_cast<int>(index_.size()));
    entered_.insert(fit.index.begin(), fit.index.end());
  }

  // The number of features that were nonzero in any fit so far.
  int entered() const { return static_cast<int>(entered_.size()); }
  std::vector<int> entered_features() const {
    std::vector<int> features(entered_.begin(), entered_.end());
    std::sort(features.begin(), features.end());
    return features;
  }

  Rcpp::List result(double nulldev, double passes, const Rcpp::IntegerMatrix& effects) const {
    using Rcpp::Named;
    return Rcpp::List::create(
        Named("a0") = intercept_, Named("gamma") = gamma_, Named("own") = own(),
        Named("beta_i") = index_,
        Named("beta_p") = starts_, Named("beta_x") = value_, Named("lambda1") = lambda1_,
        Named("lambda2") = lambda2_, Named("df") = df_, Named("regions") = regions_,
        Named("nonzero") = nonzero_, Named("dev_ratio") = deviance_ratio_, Named("gap") = gap_,
        Named("iter") = iterations_, Named("converged") = converged_, Named("nulldev") = nulldev,
        Named("npasses") = passes, Named("effects") = effects);
  }

 private:
  // One column per fit; no rows if the loss has no parameters of its own.
  Rcpp::NumericMatrix own() const {
    const int fits = static_cast<int>(intercept_.size());
    const int rows = fits > 0 ? static_cast<int>(own_.size()) / fits : 0;
    return Rcpp::NumericMatrix(rows, fits, own_.begin());
  }

  // Covariates that were removed from x get the coefficients that beta implies, so that predictions
  // need X and Z only: X beta - (Z - centre) B beta = X beta + (Z - centre) gamma.
  void add_unpenalised(const n2gfl::Fit& fit) {
    double intercept = fit.intercept;
    Eigen::VectorXd gamma = fit.covariates;
    if (removed_.effects.size() > 0) {
      gamma = Eigen::VectorXd::Zero(removed_.effects.rows());
      for (std::size_t k = 0; k < fit.index.size(); ++k)
        gamma -= fit.value[k] * removed_.effects.col(fit.index[k]);
      intercept -= removed_.centre.dot(gamma);
    }
    Eigen::VectorXd own = fit.own;
    loss_->leave_out(intercept, own);
    own_.insert(own_.end(), own.data(), own.data() + own.size());
    intercept_.push_back(intercept);
    gamma_.insert(gamma_.end(), gamma.data(), gamma.data() + gamma.size());
  }

  Removed removed_;
  const n2gfl::Loss* loss_;
  std::vector<double> lambda1_, lambda2_, intercept_, gamma_, own_, deviance_ratio_, gap_, value_;
  std::vector<int> df_, regions_, nonzero_, iterations_, index_, starts_{0};
  std::vector<bool> converged_;
  std::unordered_set<int> entered_;
};

// For R/fit-sign-check.R: how many features have a t statistic beyond each of `limits`, against the
// sign constraint and along with it.
Rcpp::IntegerMatrix strong_effects(const n2gfl::Problem& problem, const Rcpp::List& control) {
  const Rcpp::NumericVector limits = control["strong"];
  Rcpp::IntegerMatrix count(2, static_cast<int>(limits.size()));
  for (int k = 0; k < count.ncol(); ++k) {
    const n2gfl::Effects found = problem.strong_effects(limits[k]);
    count(0, k) = found.against;
    count(1, k) = found.along;
  }
  return count;
}

// The rows of a grid that is fixed already.
std::vector<n2gfl::Penalties> pairs(const std::vector<double>& lambda1,
                                    const std::vector<double>& lambda2) {
  std::vector<n2gfl::Penalties> rows;
  for (std::size_t k = 0; k < lambda1.size(); ++k) rows.push_back({lambda1[k], lambda2[k]});
  return rows;
}

}  // namespace

// `paired`: the k-th lambda1 belongs to the k-th lambda2, as in the rows of an existing grid;
// otherwise every lambda1 is combined with every lambda2. `pmax`: the last row is the one in which
// more than that many features have entered (stability selection needs no more), or infinite.
// [[Rcpp::export(rng = false)]]
Rcpp::List fit_grid_cpp(const SEXP x, const Rcpp::Nullable<Rcpp::List>& map,
                        const Eigen::MatrixXd& y, const Eigen::VectorXd& weights,
                        const Eigen::VectorXd& offset, const Eigen::MatrixXd& covariates,
                        const Rcpp::List& graph, const Eigen::VectorXd& penalty_factor,
                        const std::vector<double>& lambda1, const std::vector<double>& lambda2,
                        const bool paired, const double pmax, const Rcpp::List& control,
                        const Rcpp::Nullable<Rcpp::Function>& progress, const std::string& alive) {
  const n2gfl::Graph core_graph = as_core_graph(graph);
  n2gfl::Poll poll = interrupt_poll(alive);
  const n2gfl::ProblemSettings settings = as_problem_settings(control);
  n2gfl::Design design = as_design(x, map, settings.threads, poll);
  Removed removed = removed_effects(design, map);
  const auto problem = make_problem({std::move(design), y, weights, offset, covariates,
                                     penalty_factor, settings},
                                    core_graph, poll);
  n2gfl::Path path(*problem, as_path_settings(control));
  Collector fits(std::move(removed), problem->loss());
  const std::vector<n2gfl::Penalties> grid =
      paired ? pairs(lambda1, lambda2) : path.grid(lambda1, lambda2);
  const int rows = static_cast<int>(grid.size());
  for (int row = 0; row < rows && fits.entered() <= pmax; ++row) {
    if (progress.isNotNull()) {
      const Rcpp::Function show(progress.get());
      show(row + 1, rows, grid[row].lambda1, grid[row].lambda2);
    }
    fits.add(grid[row], path.fit(grid[row]));
  }
  Rcpp::List result = fits.result(2 * weights.sum() * problem->null_loss(), problem->passes(),
                                  strong_effects(*problem, control));
  if (problem->sites())
    result["sites"] = site_estimates(*problem->sites(), fits.entered_features());
  return result;
}

// What is known of a problem before any fit: the largest lambda1 for each lambda2, the lambda2 with
// which a grid begins, and the features with a strong effect.
// [[Rcpp::export(rng = false)]]
Rcpp::List null_model_cpp(const SEXP x, const Rcpp::Nullable<Rcpp::List>& map,
                          const Eigen::MatrixXd& y, const Eigen::VectorXd& weights,
                          const Eigen::VectorXd& offset, const Eigen::MatrixXd& covariates,
                          const Rcpp::List& graph, const Eigen::VectorXd& penalty_factor,
                          const std::vector<double>& lambda2, const Rcpp::List& control) {
  const n2gfl::Graph core_graph = as_core_graph(graph);
  n2gfl::Poll poll = interrupt_poll();
  const n2gfl::ProblemSettings settings = as_problem_settings(control);
  const auto problem = make_problem({as_design(x, map, settings.threads, poll), y, weights, offset,
                                     covariates, penalty_factor, settings},
                                    core_graph, poll);
  n2gfl::Path path(*problem, as_path_settings(control));
  Rcpp::NumericVector largest(lambda2.size());
  for (std::size_t k = 0; k < lambda2.size(); ++k) largest[k] = path.lambda1_max(lambda2[k]);
  return Rcpp::List::create(Rcpp::Named("lambda_max") = largest,
                            Rcpp::Named("lambda2_max") = path.largest_lambda2(),
                            Rcpp::Named("effects") = strong_effects(*problem, control));
}

// The share of the features' variance that the rows' means explain, and the smallest mean: see
// data/row_means.hpp.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector share_of_row_means_cpp(const SEXP x, const Rcpp::Nullable<Rcpp::List>& map,
                                           const Eigen::VectorXd& weights,
                                           const Eigen::MatrixXd& covariates, const int threads) {
  n2gfl::Poll poll = interrupt_poll();
  const n2gfl::RowMeanShare found =
      n2gfl::share_of_row_means(as_design(x, map, threads, poll), weights, covariates);
  return Rcpp::NumericVector::create(Rcpp::Named("share") = found.share,
                                     Rcpp::Named("smallest") = found.smallest);
}

// The mean of each row, one pass over x.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector row_means_cpp(const SEXP x) {
  n2gfl::Poll poll = interrupt_poll();
  return Rcpp::wrap(n2gfl::row_means(::as_design(x), poll));
}

// Does not allocate the logical matrix of is.finite().
// [[Rcpp::export(rng = false)]]
bool all_finite_cpp(const SEXP x) {
  if (Rf_inherits(x, "disk_matrix")) {
    n2gfl::Poll poll = interrupt_poll();
    return ::as_design(x).all_finite(1, poll);
  }
  Rcpp::NumericVector values = Rf_isS4(x) ? Rcpp::NumericVector(Rcpp::S4(x).slot("x"))
                                          : Rcpp::NumericVector(x);
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}
