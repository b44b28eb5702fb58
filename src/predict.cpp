// X beta at some rows of X, for sparse beta: reads only the columns of the support, copies
// nothing.
#include "glue.h"

#include <cstddef>
#include <vector>

// `beta` is a dgCMatrix with one column per fit, `rows` counts from 1.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericMatrix linear_predictor_cpp(const SEXP x, const Rcpp::S4& beta,
                                         const Rcpp::IntegerVector& rows) {
  const n2gfl::Design design = as_design(x);
  const Rcpp::IntegerVector starts = beta.slot("p"), index = beta.slot("i");
  const Rcpp::NumericVector value = beta.slot("x");
  std::vector<int> at(rows.size()), slot(design.rows(), -1);
  for (std::size_t k = 0; k < at.size(); ++k) {
    at[k] = rows[k] - 1;
    slot[at[k]] = static_cast<int>(k);
  }
  const int fits = static_cast<int>(starts.size()) - 1;
  Rcpp::NumericMatrix link(static_cast<int>(at.size()), fits);
  for (int fit = 0; fit < fits; ++fit)
    for (int k = starts[fit]; k < starts[fit + 1]; ++k)
      design.add_at(index[k], value[k], at, slot, &link(0, fit));
  return link;
}
