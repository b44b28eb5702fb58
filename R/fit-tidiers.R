# Methods for the generics of a package that is not imported: they are registered when generics is
# loaded. lintr knows imported generics only, so it takes the names of such methods for bad ones.

#' Fits and cross-validations as data frames
#'
#' Methods for `tidy()`, `glance()` and `augment()` of the generics package, which broom exports
#' too. They need one of the two to be loaded.
#'
#' @param x A fit from [n2gfl()] or a cross-validation from [cv.n2gfl()].
#' @param return_zeros Include coefficients that are zero?
#' @param newx,newcovariates,newoffset,newdata,newscale Data to predict, see [predict.n2gfl()].
#' @param y The outcome of these observations, for residuals; or `NULL`.
#' @param data A data frame with one row per observation, to which the new columns are added; or
#'   `NULL`. Like `y` it is put into the order of the rows of `newx` by their names, see [n2gfl()].
#' @param s,row The one fit that predicts, see [coef.n2gfl()].
#' @param ... For `augment()` of a cross-validation, arguments of the method for fits; otherwise it
#'   must be empty.
#' @return A data frame. (Not a tibble: that would need another package.)
#'   * `tidy()` of a fit: a line per nonzero coefficient, with `row` (of the grid), `term`,
#'     `estimate`, `lambda1`, `lambda2`, `dev.ratio`.
#'   * `tidy()` of a cross-validation: a line per row of the grid, with `row`, `lambda1`, `lambda2`,
#'     `df`, `nzero`, `estimate`, `std.error`, `conf.low`, `conf.high` (one standard error down and
#'     up) and `choice` (`"min"`, `"1se"`, `"es"`, `"stable"`, several of them, or empty).
#'   * `glance()`: one line. Of a fit: `nobs`, `features`, `fits`, `nulldev`, the largest
#'     `dev.ratio`, the largest `gap` and whether all fits have `converged`. Of a cross-validation:
#'     `nobs`, `measure`, and for each choice the penalties and the score; with a nested
#'     cross-validation also, for each choice, its nested score and the stability of the outer
#'     folds' maps, with names such as `nogueira.stable`.
#'   * `augment()`: a line per observation, with `.fitted` (the mean, the probability, or for
#'     `"cox"` the relative risk), for `"binomial"` also `.class`, and with `y` also `.resid` (the
#'     observed minus the fitted value, for `"cox"` the martingale residual). For `"ordinal"` there
#'     are `.class` and a probability for each level, named like `.prob.MCI`.
#' @examples
#' if (requireNamespace("generics", quietly = TRUE)) {
#'   set.seed(1)
#'   x <- matrix(rnorm(40 * 10), 40)
#'   y <- rowSums(x[, 3:5]) + rnorm(40)
#'   fit <- n2gfl(x, y, graph_chain(10), lambda1 = c(0.5, 0.1), lambda2 = 0.1)
#'   print(generics::tidy(fit))
#'   print(generics::glance(fit))
#'   head(generics::augment(fit, x, y, row = 2))
#' }
#' @name tidy.n2gfl
NULL

#' @rdname tidy.n2gfl
#' @exportS3Method generics::tidy
tidy.n2gfl <- function(x, return_zeros = FALSE, ...) {
  check_empty_dots(...)
  all <- coef(x)
  rows <- if (check_flag(return_zeros, "return_zeros")) rep(nrow(all), ncol(all)) else diff(all@p)
  row <- rep(seq_len(ncol(all)), rows)
  term <- if (return_zeros) rep(seq_len(nrow(all)), ncol(all)) else all@i + 1L
  data.frame(row = row, term = rownames(all)[term],
             estimate = if (return_zeros) as.vector(all) else all@x,
             x$grid[row, c("lambda1", "lambda2", "dev.ratio")], row.names = NULL)
}

#' @rdname tidy.n2gfl
#' @exportS3Method generics::tidy
tidy.n2gfl_cv <- function(x, ...) {  # nolint: object_name.
  check_empty_dots(...)
  data.frame(row = seq_len(nrow(x$grid)), x$grid[c("lambda1", "lambda2", "df")], nzero = x$nzero,
             estimate = x$cvm, std.error = x$cvsd, conf.low = x$cvlo, conf.high = x$cvup,
             choice = row_choices(x, seq_len(nrow(x$grid))), row.names = NULL)
}

#' @rdname tidy.n2gfl
#' @exportS3Method generics::glance
glance.n2gfl <- function(x, ...) {
  check_empty_dots(...)
  data.frame(nobs = x$nobs, features = x$dim[1], fits = x$dim[2], nulldev = x$nulldev,
             dev.ratio = max(x$grid$dev.ratio), gap = max(x$grid$gap),
             converged = all(x$grid$converged))
}

#' @rdname tidy.n2gfl
#' @exportS3Method generics::glance
glance.n2gfl_cv <- function(x, ...) {  # nolint: object_name.
  check_empty_dots(...)
  index <- x$index[!is.na(x$index)]
  chosen <- rbind(lambda1 = x$grid$lambda1[index], lambda2 = x$grid$lambda2[index],
                  cvm = x$cvm[index])
  names <- outer(rownames(chosen), names(index), paste, sep = ".")
  data.frame(nobs = nobs(x), measure = x$type.measure,
             as.list(stats::setNames(as.vector(chosen), as.vector(names))), nested_columns(x))
}

nested_columns <- function(x) {
  if (is.null(x$nested$stability)) return(data.frame(row.names = 1L))
  what <- c("nonzero", "mdc", "nogueira", "nogueira.lower", "nogueira.upper", "dice.dilated",
            "es.fit")
  values <- t(cbind(nested = x$nested$estimate$cvm, x$nested$stability[what]))
  names <- outer(rownames(values), rownames(x$nested$estimate), paste, sep = ".")
  data.frame(as.list(stats::setNames(as.vector(values), as.vector(names))))
}

#' @rdname tidy.n2gfl
#' @exportS3Method generics::augment
augment.n2gfl <- function(x, newx, y = NULL, data = NULL, s = NULL, row = NULL,
                          newcovariates = NULL, newoffset = NULL, newdata = NULL,
                          newscale = NULL, ...) {
  if (missing(newx)) stop_no_data("newx", "augment")
  check_no_dots(list(...))
  row <- choose_rows(x, s, row)
  if (length(row) != 1) {
    stop_bad("`row` or `s` must choose one fit for augment(), not ", length(row), ".")
  }
  # predict() aligns covariates and offset. Rows of `y` and `data` must be those of `newx` as well.
  table <- new_table(if (is.null(data)) newcovariates else data, newx, "data")
  if (is.data.frame(data)) data <- table$data
  if (is.null(newdata) && is.data.frame(data)) newdata <- data
  y <- align_vector(y, "y", row_labels(newx), table)
  family <- family_of(x$family)
  link <- predict(x, newx, row = row, type = "link", newcovariates = newcovariates,
                  newoffset = newoffset, newdata = newdata, newscale = newscale)
  own <- x$own[, row, drop = FALSE]
  columns <- family$columns(named_mean(link, own, x), x)
  added <- do.call(data.frame, c(lapply(columns, unname), list(row.names = names(columns[[1]]))))
  if (!is.null(y)) {
    type <- utils::tail(family$residual_types, 1)
    if (!length(type)) {
      stop_bad("`y` must not be given for family ", quoted(x$family), ", which has no residuals.")
    }
    y <- family$new_response(y, x, "y", nrow(added))
    added$.resid <- as.vector(family$residuals(y, link, own, 1, type, x))
  }
  if (is.null(data)) added else cbind(check_data_frame(data, nrow(added)), added)
}

#' @rdname tidy.n2gfl
#' @exportS3Method generics::augment
augment.n2gfl_cv <- function(x, newx, y = NULL, data = NULL, s = NULL,  # nolint: object_name.
                             row = NULL, ...) {
  if (missing(newx)) stop_no_data("newx", "augment")
  at <- cv_choice(x, s, row)
  augment.n2gfl(full_fit(x), newx, y, data, s = at$s, row = at$row, ...)
}

check_data_frame <- function(data, n) {
  if (!is.data.frame(data) || nrow(data) != n) {
    stop_bad("`data` must be a data frame with one row per row of `newx` (", n, "), not ",
             if (is.data.frame(data)) paste("one with", nrow(data)) else describe(data), ".")
  }
  data
}
