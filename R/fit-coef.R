#' Coefficients of a fit
#'
#' The intercept, the coefficients of the covariates and those of the features, of some or all fits
#' of a grid, or of the fit that cross-validation chose.
#'
#' @param object A fit from [n2gfl()], or a cross-validation from [cv.n2gfl()].
#' @param s The penalties whose coefficients are wanted: `c(lambda1 = , lambda2 = )`, or a matrix or
#'   data frame with columns `lambda1` and `lambda2`, such as some rows of `object$grid`. If the fit
#'   has only one `lambda2`, plain numbers are values of `lambda1`, as in glmnet. `NULL` means every
#'   fit. Penalties that are not in the grid are an error, unless `exact = TRUE`: there is no
#'   interpolation, because it would destroy the sparsity and the regions.
#'
#'   For a cross-validation also `"lambda.min"`, `"lambda.1se"`, `"lambda.es"` or `"lambda.stable"`;
#'   there `NULL` means `"lambda.stable"`, the default of all functions that read a cross-validation
#'   (unlike glmnet's `"lambda.1se"`; see *Which penalties* in [cv.n2gfl()]).
#' @param row Numbers of rows of `object$grid`, another way to choose fits.
#' @param exact Fit at those `s` that are not in the grid? See *Data*.
#' @param refit Estimate the coefficients again on the regions that were selected, without
#'   shrinkage? See *Refitting* and *Data*.
#' @param ... For `exact = TRUE` and `refit = TRUE` the data and further arguments of [n2gfl()];
#'   otherwise nothing.
#'
#' @section Refitting:
#' The penalties shrink the coefficients of the regions that they select. `refit = TRUE` keeps the
#' regions, the pieces of the graph with one nonzero value, and estimates one coefficient for each
#' of them without a penalty, from the sum of its columns (divided by their standard deviations if
#' the fit had `standardize = TRUE`). The fit's `sign`, weights, offset, intercept and covariates
#' hold for the refit too. There must be more observations than coefficients to estimate. If the
#' regions separate the two classes perfectly, or order the levels or events perfectly, no finite
#' coefficients exist, and a warning says so.
#' This is the relaxed lasso, applied to regions.
#'
#' @section Data:
#' A fit does not keep the data. For `exact = TRUE` and `refit = TRUE` they must be given again by
#' name: `x`, `y`, and `weights`, `offset`, `covariates` (with `data`, if they are a formula) and
#' `controls` where the fit had them; `data` also for a `scale` by a column and for `harmonize`, and
#' `scale` if it was one number per row. All other choices are those of the fit, unless given.
#' @return A sparse matrix with one column per fit and the rows `(Intercept)`, the covariates and
#'   the features. Features without a name are called V1, V2 and so on. For `"ordinal"` the cut
#'   points, such as `MCI|NC`, take the place of the intercept; `"cox"` has neither.
#' @seealso [predict.n2gfl()]
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(40 * 10), 40)
#' y <- rowSums(x[, 3:5]) + rnorm(40)
#' fit <- n2gfl(x, y, graph_chain(10), lambda1 = c(0.5, 0.1, 0.02), lambda2 = 0.1)
#' coef(fit)
#' coef(fit, row = 3)
#' coef(fit, s = c(lambda1 = 0.1, lambda2 = 0.1))
#'
#' # Off the grid, and without shrinkage: the data are needed again
#' coef(fit, s = c(lambda1 = 0.05, lambda2 = 0.1), exact = TRUE, x = x, y = y)
#' coef(fit, row = 2, refit = TRUE, x = x, y = y)
#' @importFrom stats coef
#' @export
coef.n2gfl <- function(object, s = NULL, row = NULL, exact = FALSE, refit = FALSE, ...) {
  family <- family_of(object$family)
  chosen <- choose_fits(object, s, row, exact, refit, ...)
  unpenalised <- rbind("(Intercept)" = if (family$intercept) chosen$a0,
                       if (family$own_terms) chosen$own, chosen$gamma)
  features <- feature_names(chosen$beta)
  all <- if (is.null(unpenalised)) chosen$beta else {
    rbind(as(unpenalised, "CsparseMatrix"), chosen$beta)
  }
  dimnames(all) <- list(c(rownames(unpenalised), features), colnames(chosen$beta))
  all
}

feature_names <- function(beta) {
  if (is.null(rownames(beta))) paste0("V", seq_len(nrow(beta))) else rownames(beta)
}

#' @rdname coef.n2gfl
#' @export
coef.n2gfl_cv <- function(object, s = NULL, row = NULL, ...) {
  at <- cv_choice(object, s, row)
  coef(full_fit(object), s = at$s, row = at$row, ...)
}

# ---- which fits ----------------------------------------------------------------------------------

# The columns of a fit that `s` or `row` ask for: list(a0, gamma, beta, own, sites).
choose_fits <- function(object, s, row, exact = FALSE, refit = FALSE, ...) {
  exact <- check_flag(exact, "exact")
  refit <- check_flag(refit, "refit")
  given <- list(...)
  exact <- exact && !is.null(s)
  if (exact || refit) {
    given <- check_refit(object, given, if (exact) "exact" else "refit")
  } else {
    check_no_dots(given, " unless `exact` or `refit` is TRUE")
  }
  if (exact) object <- add_exact_fits(object, check_s(s, object$grid), given)
  row <- choose_rows(object, s, row)
  chosen <- list(a0 = object$a0[row], gamma = object$gamma[, row, drop = FALSE],
                 beta = object$beta[, row, drop = FALSE], own = object$own[, row, drop = FALSE],
                 sites = object$harmonize$estimates)
  if (refit) refit_regions(object, chosen, given) else chosen
}

# ---- exact fits off the grid ---------------------------------------------------------------------

# The object with one more row in its grid for each `s` that is not in it.
add_exact_fits <- function(object, s, given) {
  missing <- unique(s[is.na(find_rows(object$grid, s)), , drop = FALSE])
  for (lambda2 in unique(missing$lambda2)) {
    lambda1 <- sort(missing$lambda1[missing$lambda2 == lambda2], decreasing = TRUE)
    more <- without_repeats(do.call(n2gfl, refit_arguments(object, given, lambda1, lambda2)))
    object <- append_fits(object, more)
  }
  object
}

# The first fit already gave the messages about the outcome and the warnings about sign and scale.
without_repeats <- function(fit) {
  muffle <- function(w) invokeRestart("muffleWarning")
  withCallingHandlers(suppressMessages(fit), n2gfl_sign_warning = muffle,
                      n2gfl_scale_warning = muffle)
}

# The arguments given for a refit, with x as a plain matrix. `purpose` is "exact" or "refit", the
# argument that needs the data.
check_refit <- function(object, given, purpose) {
  stop_lacking(setdiff(c("x", "y"), names(given)), purpose)
  fixed <- c("lambda1", "lambda2", "nlambda1", "nlambda2", "lambda.min.ratio", "family")
  unknown <- setdiff(names(given), setdiff(c("x", "y", fit_argument_names()), fixed))
  if (length(unknown)) {
    stop_bad("`...` must hold data and settings of n2gfl() for ", purpose, " = TRUE, but `",
             unknown[1], "` cannot be given.")
  }
  given <- resolve_outcome(align_arguments(given))
  given$rows <- NULL
  given <- given[!vapply(given, is.null, NA)]
  had <- c(weights = object$weighted, offset = object$offset, covariates = !is.null(object$gamma),
           scale = identical(object$scale$by, "numbers"), data = needs_table(object))
  stop_lacking(setdiff(names(had)[had], names(given)), purpose)
  given$x <- check_newx(given$x, object, "x")
  rows <- object$rows %or% object$nobs  # fits of earlier versions have no `rows`
  if (nrow(given$x) != rows) {
    stop_bad("`x` must have the ", count_of(rows, "row"), " that the fit was made with, not ",
             nrow(given$x), ".")
  }
  weights <- check_weights(given$weights, rows)
  check_same_classes(object, check_y(given$y, object$family, weights))
  given
}

stop_lacking <- function(lacking, purpose) {
  if (!length(lacking)) return(invisible())
  stop_bad("`", lacking[1], "` must be given by name for ", purpose, " = TRUE, because the fit ",
           "was made with it and does not keep it.")
}

# Other classes, or the same in another order, would silently change what the coefficients mean;
# other strata would change which rows are compared. `response` is from check_y().
check_same_classes <- function(object, response) {
  if (!identical(response$classnames, object$classnames)) {
    stop_bad("`y` must have the classes of the fit, ", quoted(object$classnames), ", not ",
             quoted(response$classnames), ".")
  }
  strata <- attr(response$y, "strata")
  if (!identical(strata, object$strata)) {
    name <- function(strata) if (is.null(strata)) "none" else quoted(strata)
    stop_bad("`y` must have the strata of the fit, ", name(object$strata), ", not ", name(strata),
             ".")
  }
}

refit_arguments <- function(object, given, lambda1, lambda2) {
  same <- c(object[c("graph", "family", "sign", "penalty", "penalty.factor")], object$control)
  same$lambda1 <- lambda1
  same$lambda2 <- lambda2
  if (isTRUE(object$deconfound)) same$deconfound <- "controls"
  if (!is.null(object$scale) && object$scale$by != "numbers") same$scale <- object$scale$by
  utils::modifyList(c(same, harmonize_arguments(object$harmonize)), given, keep.null = TRUE)
}

append_fits <- function(object, more) {
  object$a0 <- c(object$a0, more$a0)
  if (!is.null(object$gamma)) object$gamma <- cbind(object$gamma, more$gamma)
  object$beta <- cbind(object$beta, more$beta)
  object$harmonize$estimates <- merge_estimates(object$harmonize$estimates,
                                                more$harmonize$estimates)
  if (!is.null(object$own)) object$own <- cbind(object$own, more$own)
  object$grid <- rbind(object$grid, more$grid)
  names(object$a0) <- colnames(object$beta) <- paste0("s", seq_len(ncol(object$beta)))
  object
}
