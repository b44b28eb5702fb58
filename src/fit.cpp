// n2gfl() and lambda_max() for R: checked arguments in, mapped without a copy, fits out.
#include <RcppEigen.h>

#include <n2gfl/path.hpp>

#include <algorithm>
#include <cmath>

#include "glue.h"

namespace {

n2gfl::Settings as_settings(const Rcpp::List& control) {
  n2gfl::Settings s;
  s.family = Rcpp::as<std::string>(control["family"]);
  s.penalty = Rcpp::as<std::string>(control["penalty"]);
  s.algorithm = Rcpp::as<std::string>(control["algorithm"]);
  s.sign = as_core_sign(Rcpp::as<std::string>(control["sign"]));
  s.standardize = Rcpp::as<bool>(control["standardize"]);
  s.intercept = Rcpp::as<bool>(control["intercept"]);
  s.thresh = Rcpp::as<double>(control["thresh"]);
  s.lambda_min_ratio = Rcpp::as<double>(control["lambda.min.ratio"]);
  s.max_iterations = Rcpp::as<int>(control["maxit"]);
  s.threads = Rcpp::as<int>(control["threads"]);
  s.nlambda1 = Rcpp::as<int>(control["nlambda1"]);
  s.nlambda2 = Rcpp::as<int>(control["nlambda2"]);
  return s;
}

// `map`: NULL, or what is removed from x: the covariates z and their estimator p.
n2gfl::Design as_design(const SEXP x, const Rcpp::Nullable<Rcpp::List>& map) {
  n2gfl::Design design = ::as_design(x);
  if (map.isNotNull()) {
    const Rcpp::List given(map.get());
    design.deconfound(Rcpp::as<Eigen::MatrixXd>(given["z"]), Rcpp::as<Eigen::MatrixXd>(given["p"]));
  }
  return design;
}

// Rows of the grid as the columns of R's result.
class Collector {
 public:
  Collector(int rows, int covariates)
      : intercept_(rows), pieces_(rows), regions_(rows), nonzero_(rows), iterations_(rows),
        deviance_ratio_(rows), gap_(rows), converged_(rows), gamma_(covariates, rows),
        starts_(rows + 1) {}

  void add(int row, const n2gfl::Fit& fit) {
    intercept_[row] = fit.intercept;
    for (int k = 0; k < gamma_.nrow(); ++k) gamma_(k, row) = fit.covariates[k];
    pieces_[row] = fit.pieces;
    regions_[row] = fit.regions;
    nonzero_[row] = static_cast<int>(fit.index.size());
    iterations_[row] = fit.iterations;
    deviance_ratio_[row] = fit.deviance_ratio;
    gap_[row] = fit.gap;
    converged_[row] = fit.converged;
    index_.insert(index_.end(), fit.index.begin(), fit.index.end());
    value_.insert(value_.end(), fit.value.begin(), fit.value.end());
    starts_[row + 1] = static_cast<int>(index_.size());
  }

  Rcpp::List result(const std::vector<n2gfl::Penalties>& grid, double nulldev) const {
    Rcpp::NumericVector lambda1(grid.size()), lambda2(grid.size());
    for (std::size_t k = 0; k < grid.size(); ++k) {
      lambda1[k] = grid[k].lambda1;
      lambda2[k] = grid[k].lambda2;
    }
    using Rcpp::Named;
    return Rcpp::List::create(
        Named("a0") = intercept_, Named("gamma") = gamma_, Named("beta_i") = index_,
        Named("beta_p") = starts_, Named("beta_x") = value_, Named("lambda1") = lambda1,
        Named("lambda2") = lambda2, Named("df") = pieces_, Named("regions") = regions_,
        Named("nonzero") = nonzero_, Named("dev_ratio") = deviance_ratio_, Named("gap") = gap_,
        Named("iter") = iterations_, Named("converged") = converged_, Named("nulldev") = nulldev);
  }

 private:
  Rcpp::NumericVector intercept_;
  Rcpp::IntegerVector pieces_, regions_, nonzero_, iterations_;
  Rcpp::NumericVector deviance_ratio_, gap_;
  Rcpp::LogicalVector converged_;
  Rcpp::NumericMatrix gamma_;
  std::vector<int> starts_, index_;
  std::vector<double> value_;
};

// The rows of a grid that is fixed already.
std::vector<n2gfl::Penalties> pairs(const std::vector<double>& lambda1,
                                    const std::vector<double>& lambda2) {
  std::vector<n2gfl::Penalties> rows;
  for (std::size_t k = 0; k < lambda1.size(); ++k) rows.push_back({lambda1[k], lambda2[k]});
  return rows;
}

}  // namespace

// `paired`: the k-th lambda1 goes with the k-th lambda2, as in the rows of a grid made before;
// otherwise every lambda1 goes with every lambda2.
// [[Rcpp::export]]
Rcpp::List fit_grid_cpp(const SEXP x, const Rcpp::Nullable<Rcpp::List>& map,
                        const Eigen::VectorXd& y, const Eigen::VectorXd& weights,
                        const Eigen::VectorXd& offset, const Eigen::MatrixXd& covariates,
                        const Rcpp::List& graph, const Eigen::VectorXd& penalty_factor,
                        const std::vector<double>& lambda1, const std::vector<double>& lambda2,
                        const bool paired, const Rcpp::List& control,
                        const Rcpp::Nullable<Rcpp::Function>& progress, const std::string& alive) {
  const n2gfl::Graph core_graph = as_core_graph(graph);
  n2gfl::Poll poll = interrupt_poll(alive);
  n2gfl::Path path(as_design(x, map), y, weights, offset, covariates, core_graph,
                   penalty_factor, as_settings(control), poll);
  const std::vector<n2gfl::Penalties> grid =
      paired ? pairs(lambda1, lambda2) : path.grid(lambda1, lambda2);
  const int rows = static_cast<int>(grid.size());
  Collector fits(rows, static_cast<int>(covariates.cols()));
  for (int row = 0; row < rows; ++row) {
    if (progress.isNotNull()) {
      const Rcpp::Function show(progress.get());
      show(row + 1, rows, grid[row].lambda1, grid[row].lambda2);
    }
    fits.add(row, path.fit(grid[row]));
  }
  return fits.result(grid, 2 * weights.sum() * path.null_loss());
}

// [[Rcpp::export]]
Rcpp::NumericVector lambda_max_cpp(const SEXP x, const Eigen::VectorXd& y,
                                   const Eigen::VectorXd& weights, const Eigen::VectorXd& offset,
                                   const Eigen::MatrixXd& covariates, const Rcpp::List& graph,
                                   const Eigen::VectorXd& penalty_factor,
                                   const std::vector<double>& lambda2, const Rcpp::List& control) {
  const n2gfl::Graph core_graph = as_core_graph(graph);
  n2gfl::Poll poll = interrupt_poll();
  n2gfl::Path path(as_design(x), y, weights, offset, covariates, core_graph,
                   penalty_factor, as_settings(control), poll);
  Rcpp::NumericVector answer(lambda2.size());
  for (std::size_t k = 0; k < lambda2.size(); ++k) answer[k] = path.lambda1_max(lambda2[k]);
  return answer;
}

// Without the logical matrix that is.finite() would allocate.
// [[Rcpp::export]]
bool all_finite_cpp(const SEXP x) {
  Rcpp::NumericVector values = Rf_isS4(x) ? Rcpp::NumericVector(Rcpp::S4(x).slot("x"))
                                          : Rcpp::NumericVector(x);
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}
