#' Summary of a fit or a cross-validation
#'
#' A short table in place of the whole grid.
#'
#' @param object A fit from [n2gfl()] or a cross-validation from [cv.n2gfl()].
#' @param x A summary.
#' @param digits Number of significant digits.
#' @param ... Must be empty; not used by `print()`.
#' @return An object of class `n2gfl_summary` or `n2gfl_cv_summary`: a list with the `call`, a few
#'   facts and the data frame `table`, which [print()] shows.
#'
#'   The table of a fit has a line for each `lambda2`: the number of fits `fits`, the largest and
#'   smallest `lambda1` (`from`, `to`), the largest number of regions `df` and of `nonzero`
#'   coefficients, the largest share of deviance explained `dev.ratio`, the largest `gap`, and the
#'   row of the grid with the smallest BIC (see [logLik.n2gfl()]), `bic.row`, with its `bic`.
#'
#'   The table of a cross-validation has a line for the best row of each `lambda2` and one for each
#'   chosen row, in the order of the grid: `row`, `choice` (`"min"`, `"1se"`, `"es"`, `"stable"` or
#'   empty), the penalties, `df`, `nonzero`, `dev.ratio`, the measure `cvm` with its standard error
#'   `cvsd`, and the stability of the folds `es` (its "fit" form, smaller is more stable) and `mdc`
#'   (larger is more stable).
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(60 * 20), 60)
#' y <- rowSums(x[, 3:6]) + rnorm(60)
#' fit <- n2gfl(x, y, graph_chain(20), nlambda1 = 10)
#' summary(fit)
#' cvfit <- cv.n2gfl(x, y, graph_chain(20), lambda2 = c(0.2, 0.05), nlambda1 = 10, nfolds = 5)
#' summary(cvfit)$table
#' @method summary n2gfl
#' @export
summary.n2gfl <- function(object, ...) {
  check_empty_dots(...)
  grid <- object$grid
  bic <- stats::BIC(object)
  groups <- split(seq_len(nrow(grid)), factor(grid$lambda2, unique(grid$lambda2)))
  lines <- lapply(unname(groups), function(rows) {
    best <- rows[which.min(bic[rows])]
    data.frame(
      lambda2 = grid$lambda2[rows[1]], fits = length(rows), from = max(grid$lambda1[rows]),
      to = min(grid$lambda1[rows]), df = max(grid$df[rows]), nonzero = max(grid$nonzero[rows]),
      dev.ratio = max(grid$dev.ratio[rows]), gap = max(grid$gap[rows]), bic.row = best,
      bic = bic[best]
    )
  })
  structure(
    c(object[c("call", "family", "sign", "penalty", "classnames", "nobs", "dim")],
      list(covariates = NROW(object$gamma), failed = which(!grid$converged),
           outcome = family_of(object$family)$outcome_line(object),
           table = do.call(rbind, lines))),
    class = "n2gfl_summary"
  )
}

#' @rdname summary.n2gfl
#' @method print n2gfl_summary
#' @export
print.n2gfl_summary <- function(x, digits = max(3, getOption("digits") - 3), ...) {
  print_fit_head(x)
  table <- x$table
  number <- function(values) significant(values, digits)
  cat("Range of lambda1, largest df, nonzero, %dev and gap, and the row with the best BIC:\n")
  print(data.frame(
    lambda2 = number(table$lambda2), fits = table$fits, from = number(table$from),
    to = number(table$to), df = table$df, nonzero = table$nonzero,
    `%dev` = format(round(100 * table$dev.ratio, 2), nsmall = 2),
    gap = formatC(table$gap, format = "e", digits = 1), row = table$bic.row,
    BIC = number(table$bic), check.names = FALSE
  ), row.names = FALSE)
  if (length(x$failed)) {
    cat("\n", count_of(length(x$failed), "fit"), " did not converge: ", rows_text(x$failed), "\n",
        sep = "")
  }
  invisible(x)
}

rows_text <- function(rows) {
  paste0(if (length(rows) == 1) "row " else "rows ", some_numbers(rows))
}

#' @rdname summary.n2gfl
#' @method summary n2gfl_cv
#' @export
summary.n2gfl_cv <- function(object, ...) {
  check_empty_dots(...)
  grid <- object$grid
  sign <- if (larger_is_better(object$type.measure)) -1 else 1
  best <- tapply(seq_len(nrow(grid)), grid$lambda2, function(rows) {
    rows[which.min(sign * object$cvm[rows])]
  })
  rows <- sort(unique(c(best, object$index[!is.na(object$index)])))
  table <- data.frame(row = rows, choice = row_choices(object, rows),
                      grid[rows, c("lambda1", "lambda2", "df", "nonzero", "dev.ratio")],
                      cvm = object$cvm[rows], cvsd = object$cvsd[rows],
                      es = object$es[rows, "fit"], mdc = object$mdc[rows], row.names = NULL)
  failed <- vapply(object$fold.fits, function(fold) sum(!fold$converged), 1)
  structure(
    c(object[c("call", "type.measure", "name", "foldid", "edge")],
      list(notes = choice_notes(object), nested = object$nested$estimate,
           procedure = object$nested$stability,
           failed = sum(failed > 0), table = table)),
    class = "n2gfl_cv_summary"
  )
}

# The choices that picked each row, such as "min, 1se".
row_choices <- function(object, rows) {
  index <- object$index
  vapply(rows, function(row) paste(names(index)[index %in% row], collapse = ", "), "")
}

#' @rdname summary.n2gfl
#' @method print n2gfl_cv_summary
#' @export
print.n2gfl_cv_summary <- function(x, digits = max(3, getOption("digits") - 3), ...) {
  print_cv_head(x)
  number <- function(values) significant(values, digits)
  cat("Best row of each lambda2, and the chosen rows:\n")
  table <- x$table
  print(data.frame(
    choice = table$choice, row = table$row, lambda1 = number(table$lambda1),
    lambda2 = number(table$lambda2), df = table$df, nonzero = table$nonzero,
    `%dev` = format(round(100 * table$dev.ratio, 2), nsmall = 2), Measure = number(table$cvm),
    SE = number(table$cvsd), ES = number(table$es), mDC = number(table$mdc), check.names = FALSE
  ), row.names = FALSE)
  if (!is.null(x$nested)) {
    cat("\nHonest estimates from nested cross-validation:\n")
    print(data.frame(Nested = number(x$nested$cvm), SE = number(x$nested$cvsd),
                     row.names = rownames(x$nested)))
    print_procedure(x$procedure, digits)
  }
  print_notes(x$notes)
  if (x$failed) cat("\nIn ", count_of(x$failed, "fold"), " some fits did not converge.\n", sep = "")
  print_edge(x$edge)
  invisible(x)
}
