#' The smallest lambda1 at which every coefficient is zero
#'
#' Computes the exact value, for each `lambda2`, above which the fit has no features and below which
#' it has some. With nonnegative coefficients only sets of features that together rise with the
#' response matter, so the value is never larger than for free signs.
#'
#' @details
#' With the negative gradient \eqn{g} of the loss at the model without features, the value is
#' \deqn{\max_S \frac{\sum_{j \in S} g_j - \lambda_2 \mathrm{cut}(S)}{\sum_{j \in S} u_j}}{
#'   max over node sets S of (sum_S g_j - lambda2 cut(S)) / sum_S u_j}
#' over all sets of nodes \eqn{S}, or 0 if that is negative; \eqn{-g} takes the place of \eqn{g} for
#' `sign = "nonpositive"`, and the larger of the two counts for `"free"`. It is found by
#' Dinkelbach's method with one maximum flow per step. With `penalty = "laplacian"` it does not
#' depend on `lambda2`.
#'
#' Features with `penalty.factor` 0 may be nonzero at any `lambda1`. If there are some, \eqn{g} is
#' the negative gradient of the fit with them alone, and the value is the one above which all other
#' coefficients are zero.
#' @param lambda2 One or more nonnegative numbers, in any order.
#' @inheritParams n2gfl
#' @param ... Must be empty.
#' @return A number for each `lambda2`.
#' @seealso [n2gfl()], which starts its sequence of `lambda1` there.
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(40 * 10), 40)
#' y <- rowSums(x[, 3:5]) + rnorm(40)
#' lambda_max(x, y, graph_chain(10), lambda2 = c(0.2, 0.1, 0))
#'
#' # At lambda2 = 0 and with free signs it is the lasso's
#' lambda_max(x, y, graph_chain(10), sign = "free")
#' max(abs(crossprod(scale(x, scale = FALSE), y))) / 40
#' @export
lambda_max <- function(x, y, graph = NULL, lambda2 = 0,
                       family = c("gaussian", "binomial", "poisson", "cox", "ordinal"),
                       sign = c("nonnegative", "nonpositive", "free"), covariates = NULL,
                       data = NULL, scale = NULL, harmonize = NULL, preserve = NULL,
                       reference = NULL, harmonize.among = c("all", "controls"),
                       new.site = c("error", "pooled"), deconfound = NULL, controls = NULL,
                       weights = NULL, offset = NULL, penalty = c("fused", "laplacian"),
                       penalty.factor = NULL, standardize = FALSE, intercept = TRUE, ...) {
  check_empty_dots(...)
  arguments <- as.list(environment())
  # check_problem() requires a decreasing lambda2, so it does not get the user's, except lambda2 = 0
  # without a graph.
  arguments$lambda2 <- if (is.null(graph) && identical(lambda2, 0)) 0
  problem <- check_problem(fit_arguments(arguments))
  lambda2 <- check_lambda_values(lambda2, "lambda2")
  start_facts(problem_at(problem), lambda2)$lambda_max
}
