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
#'   For a cross-validation also `"lambda.min"`, `"lambda.1se"` or `"lambda.es"`; there `NULL` means
#'   `"lambda.min"`, the default of all functions that read a cross-validation (unlike glmnet's
#'   `"lambda.1se"`; see *Which penalties* in [cv.n2gfl()]).
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
#' regions separate the two classes perfectly, no finite coefficients exist, and a warning says so.
#' This is the relaxed lasso, applied to regions.
#'
#' @section Data:
#' A fit does not keep the data. For `exact = TRUE` and `refit = TRUE` they must be given again by
#' name: `x`, `y`, and `weights`, `offset`, `covariates` (with `data`, if they are a formula) and
#' `controls` where the fit had them. All other choices are those of the fit, unless given.
#' @return A sparse matrix with one column per fit and the rows `(Intercept)`, the covariates and
#'   the features. Features without a name are called V1, V2 and so on.
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
  chosen <- choose_fits(object, s, row, exact, refit, ...)
  features <- feature_names(chosen$beta)
  unpenalised <- rbind("(Intercept)" = chosen$a0, chosen$own, chosen$gamma)
  unpenalised <- as(unpenalised, "CsparseMatrix")
  all <- rbind(unpenalised, chosen$beta)
  dimnames(all) <- list(c(rownames(unpenalised), features), colnames(chosen$beta))
  all
}

feature_names <- function(beta) {
  if (is.null(rownames(beta))) paste0("V", seq_len(nrow(beta))) else rownames(beta)
}

#' @rdname coef.n2gfl
#' @export
coef.cv.n2gfl <- function(object, s = NULL, row = NULL, ...) {
  at <- cv_choice(object, s, row)
  coef(full_fit(object), s = at$s, row = at$row, ...)
}

#' Predictions of a fit
#'
#' @inheritParams coef.n2gfl
#' @inheritSection coef.n2gfl Data
#' @param newx Features of the observations to predict: a matrix with the columns of `x`, in the
#'   same order. If both have column names, these must agree. Not needed for `type` `"coefficients"`
#'   and `"nonzero"`.
#' @param type What to return:
#'   * `"link"`: the linear predictor, with intercept, covariates and offset;
#'   * `"response"`: the mean; for `"binomial"` the probability of the second class in
#'     `object$classnames`;
#'   * `"class"`: the more probable class, `"binomial"` only;
#'   * `"coefficients"`: as [coef()][coef.n2gfl];
#'   * `"nonzero"`: which coefficients are not zero.
#' @param newcovariates,newoffset Covariates and offset of the new observations; needed if the fit
#'   had them. If the covariates were a formula, a data frame with its variables; its rows are
#'   matched by name like those of `data` in [n2gfl()]. The default for images is their own table.
#' @return For `"link"`, `"response"` and `"class"` a matrix with one row per observation and one
#'   column per fit; for `"coefficients"` a sparse matrix; for `"nonzero"` a list with the feature
#'   numbers of each fit.
#' @seealso [coef.n2gfl()]
#' @examples
#' set.seed(1)
#' cohort <- simulate_cohort(n = 80, dim = c(12, 12))
#' train <- 1:60
#' fit <- n2gfl(cohort$x[train, ], cohort$y[train], cohort$graph, family = "binomial",
#'              lambda1 = c(0.01, 0.003), lambda2 = 0.002)
#' predict(fit, cohort$x[61:65, ], type = "response")
#' predicted <- predict(fit, cohort$x[-train, ], row = 2, type = "class")
#' mean(predicted == cohort$y[-train])
#' predict(fit, type = "nonzero")
#'
#' # Regions as selected, their coefficients without shrinkage
#' predict(fit, cohort$x[61:65, ], row = 2, type = "response", refit = TRUE,
#'         x = cohort$x[train, ], y = cohort$y[train])
#' @importFrom stats predict
#' @export
predict.n2gfl <- function(object, newx, s = NULL, row = NULL,
                          type = c("link", "response", "class", "coefficients", "nonzero"),
                          newcovariates = NULL, newoffset = NULL, exact = FALSE,
                          refit = FALSE, ...) {
  type <- match_choice(type, "type", c("link", "response", "class", "coefficients", "nonzero"))
  if (type == "coefficients") return(coef(object, s, row, exact, refit, ...))
  chosen <- choose_fits(object, s, row, exact, refit, ...)
  if (type == "nonzero") return(nonzero_features(chosen$beta))
  family <- family_of(object$family)
  if (!type %in% family$predict_types) {
    stop_bad("`type` must be ", or_quoted(family$predict_types), " for family ",
             quoted(object$family), ", not ", quoted(type), ".")
  }
  if (missing(newx)) stop_bad("`newx` must be given for type \"", type, "\".")
  if (is.null(newcovariates) && !is.null(object$coding) && is_images(newx)) {
    newcovariates <- newx$data
  }
  table <- new_table(newcovariates, newx, "newcovariates")
  newcovariates <- if (is.data.frame(newcovariates)) table$data
    else align_new(newcovariates, "newcovariates", newx)
  newoffset <- align_vector(newoffset, "newoffset", row_labels(newx), table)
  newx <- check_newx(newx, object)
  newcovariates <- check_newcovariates(newcovariates, nrow(newx), object)
  newoffset <- check_newoffset(newoffset, nrow(newx), object)

  link <- linear_predictor(chosen, newx, newcovariates, newoffset)
  switch(type, link = link, response = family$mean(link, chosen$own),
         class = family$classes(link, object$classnames, chosen$own))
}

#' @rdname predict.n2gfl
#' @export
predict.cv.n2gfl <- function(object, newx, s = NULL, row = NULL, ...) {
  at <- cv_choice(object, s, row)
  predict(full_fit(object), newx, s = at$s, row = at$row, ...)
}

# Intercept, features, covariates and offset at the given rows of x, one column per fit.
linear_predictor <- function(chosen, x, covariates, offset, rows = seq_len(nrow(x))) {
  link <- linear_predictor_cpp(x, chosen$beta, rows)
  link <- sweep(link, 2, chosen$a0, "+")
  if (ncol(covariates)) link <- link + covariates[rows, , drop = FALSE] %*% chosen$gamma
  link <- link + offset[rows]
  dimnames(link) <- list(rownames(x)[rows], colnames(chosen$beta))
  link
}

nonzero_features <- function(beta) {
  fit <- factor(rep(seq_len(ncol(beta)), diff(beta@p)), levels = seq_len(ncol(beta)))
  stats::setNames(split(beta@i + 1L, fit), colnames(beta))
}

# ---- which fits ----------------------------------------------------------------------------------

# The columns of a fit that `s` or `row` ask for: list(a0, gamma, beta, own).
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
                 beta = object$beta[, row, drop = FALSE], own = object$own[, row, drop = FALSE])
  if (refit) refit_regions(object, chosen, given) else chosen
}

# The rows of the grid that `s` or `row` ask for; all of them, if neither is given. `exact`: should
# the message for an `s` off the grid suggest `exact = TRUE`?
choose_rows <- function(object, s, row, exact = TRUE) {
  if (is.null(s)) return(check_row(row, nrow(object$grid)))
  if (!is.null(row)) stop_bad("`s` and `row` must not both be given.")
  s <- check_s(s, object$grid)
  row <- find_rows(object$grid, s)
  if (anyNA(row)) stop_off_grid(object$grid, s[is.na(row), , drop = FALSE][1, ], exact)
  row
}

# A data frame with columns lambda1 and lambda2. Plain numbers are values of lambda1, as in glmnet,
# if the grid has only one lambda2.
check_s <- function(s, grid) {
  if (is.numeric(s) && is.null(dim(s))) {
    lambda2 <- unique(grid$lambda2)
    plain <- is.null(names(s)) && length(s) && length(lambda2) == 1
    s <- if (plain) cbind(lambda1 = s, lambda2 = lambda2) else t(s)
  }
  wanted <- c("lambda1", "lambda2")
  if (!(is.data.frame(s) || is.matrix(s)) || !all(wanted %in% colnames(s)) || !nrow(s)) {
    stop_bad("`s` must be c(lambda1 = , lambda2 = ) or have columns with these names, not ",
             describe(if (is.matrix(s) && nrow(s) == 1) s[1, ] else s), ".")
  }
  data.frame(lambda1 = check_lambda_values(s[, "lambda1"], "s"),
             lambda2 = check_lambda_values(s[, "lambda2"], "s"))
}

check_row <- function(row, rows) {
  if (is.null(row)) return(seq_len(rows))
  bad <- if (is.numeric(row) && length(row)) which(is.na(row) | !row %in% seq_len(rows))[1] else 1
  if (!is.na(bad)) {
    stop_bad("`row` must hold row numbers of the grid, from 1 to ", rows, ", not ",
             if (length(row) > 1) describe(row[bad]) else describe(row), ".")
  }
  row
}

# The grid's row for each row of `s`, or NA. The tolerance only allows for rounding errors.
find_rows <- function(grid, s) {
  same <- function(a, b) abs(a - b) <= 1e-10 * pmax(a, b)
  find_one <- function(lambda1, lambda2) {
    which(same(grid$lambda1, lambda1) & same(grid$lambda2, lambda2))[1]
  }
  mapply(find_one, s$lambda1, s$lambda2)
}

stop_off_grid <- function(grid, s, exact = TRUE) {
  # Relative distances, because grids are geometric; zero has distance 1 from all other values.
  apart <- function(a, b) abs(a - b) / pmax(a, b, .Machine$double.xmin)
  near <- order(apart(grid$lambda1, s$lambda1) + apart(grid$lambda2, s$lambda2))
  near <- sort(utils::head(near, 2))
  stop_bad("`s` must be in the grid of the fit, but (", lambda_text(s), ") is not; the nearest ",
           if (length(near) == 1) "is " else "are ",
           paste0("row ", near, " (", lambda_text(grid[near, ]), ")", collapse = " and "),
           ": give `row`", if (exact) ", or `exact = TRUE` with the data", ".")
}

lambda_text <- function(rows) {
  paste0("lambda1 = ", number_text_each(rows$lambda1), ", lambda2 = ",
         number_text_each(rows$lambda2))
}

number_text_each <- function(values) vapply(values, number_text, "")

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

# The first fit already gave the messages about the outcome and the warning about the sign.
without_repeats <- function(fit) {
  withCallingHandlers(suppressMessages(fit), n2gfl_sign_warning = function(w) {
    invokeRestart("muffleWarning")
  })
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
  had <- c(weights = object$weighted, offset = object$offset, covariates = !is.null(object$gamma))
  stop_lacking(setdiff(names(had)[had], names(given)), purpose)
  given$x <- check_newx(given$x, object, "x")
  if (nrow(given$x) != object$nobs) {
    stop_bad("`x` must have the ", count_of(object$nobs, "row"), " that the fit was made with, ",
             "not ", nrow(given$x), ".")
  }
  weights <- check_weights(given$weights, object$nobs)
  check_same_classes(object, check_y(given$y, object$family, weights)$classnames)
  given
}

stop_lacking <- function(lacking, purpose) {
  if (!length(lacking)) return(invisible())
  stop_bad("`", lacking[1], "` must be given by name for ", purpose, " = TRUE, because the fit ",
           "was made with it and does not keep it.")
}

# Other classes, or the same in another order, would silently change what the coefficients mean.
check_same_classes <- function(object, classes) {
  if (!identical(classes, object$classnames)) {
    stop_bad("`y` must have the classes of the fit, ", quoted(object$classnames), ", not ",
             quoted(classes), ".")
  }
}

refit_arguments <- function(object, given, lambda1, lambda2) {
  same <- c(object[c("graph", "family", "sign", "penalty", "penalty.factor")], object$control)
  same$lambda1 <- lambda1
  same$lambda2 <- lambda2
  if (isTRUE(object$deconfound)) same$deconfound <- "controls"
  utils::modifyList(same, given, keep.null = TRUE)
}

append_fits <- function(object, more) {
  object$a0 <- c(object$a0, more$a0)
  if (!is.null(object$gamma)) object$gamma <- cbind(object$gamma, more$gamma)
  object$beta <- cbind(object$beta, more$beta)
  if (!is.null(object$own)) object$own <- cbind(object$own, more$own)
  object$grid <- rbind(object$grid, more$grid)
  names(object$a0) <- colnames(object$beta) <- paste0("s", seq_len(ncol(object$beta)))
  object
}

# ---- new data ------------------------------------------------------------------------------------

check_newx <- function(newx, object, name = "newx") {
  newx <- check_matrix(new_image_matrix(newx, object, name), name)
  d <- nrow(object$beta)
  if (ncol(newx) != d) {
    stop_bad("`", name, "` must have the ", count_of(d, "column"), " of the fit's `x`, not ",
             ncol(newx), ".")
  }
  check_same_names(colnames(newx), rownames(object$beta), name)
  newx
}

check_same_names <- function(names, expected, name) {
  if (is.null(names) || is.null(expected)) return(invisible())
  k <- which(names != expected)[1]
  if (!is.na(k)) {
    stop_bad("`", name, "` must have the columns of the fit in the same order, but column ", k,
             " is ", quoted(names[k]), ", not ", quoted(expected[k]), ".")
  }
}

check_newcovariates <- function(newcovariates, n, object, name = "newcovariates", rows = "newx") {
  if (is.null(newcovariates) != is.null(object$gamma)) {
    stop_bad("`", name, "` must ", if (is.null(newcovariates)) "" else "not ",
             "be given, because the fit has ", if (is.null(object$gamma)) "no " else "",
             "covariates.")
  }
  newcovariates <- code_new_covariates(newcovariates, object$coding, n)
  named <- !is.null(colnames(newcovariates))
  newcovariates <- check_covariates(newcovariates, n, name, rows)
  q <- NROW(object$gamma)
  if (ncol(newcovariates) != q) {
    stop_bad("`", name, "` must have the ", count_of(q, "column"), " of the fit's `covariates`,",
             " not ", ncol(newcovariates), ".")
  }
  if (named) check_same_names(colnames(newcovariates), rownames(object$gamma), name)
  newcovariates
}

check_newoffset <- function(newoffset, n, object, name = "newoffset", rows = "newx") {
  if (is.null(newoffset) == object$offset) {
    stop_bad("`", name, "` must ", if (is.null(newoffset)) "" else "not ",
             "be given, because the fit has ", if (object$offset) "an" else "no", " offset.")
  }
  if (is.null(newoffset)) return(numeric(n))
  check_numbers(newoffset, name, n, paste0("row of `", rows, "`"))
}
