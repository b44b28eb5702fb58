#' Print a fit
#'
#' Shows the call, the kind of model and the table of fits.
#'
#' @param x A fit from [n2gfl()].
#' @param digits Number of significant digits.
#' @param rows Largest number of rows of the table to print; of a longer table the first and the
#'   last rows are shown. `Inf` prints all.
#' @param ... Not used.
#' @return `x`, invisibly.
#' @details
#' The columns are those of `x$grid`: the penalties `lambda1` and `lambda2`, `df` (constant nonzero
#' pieces), `regions` (connected parts of the support), `nonzero` (coefficients), `%dev` (percent of
#' the null deviance explained), the duality `gap` and the iterations `iter`. A `*` marks fits that
#' have not converged.
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(40 * 10), 40)
#' y <- rowSums(x[, 3:5]) + rnorm(40)
#' fit <- n2gfl(x, y, graph_chain(10))
#' print(fit, rows = 6)
#' @method print n2gfl
#' @export
print.n2gfl <- function(x, digits = max(3, getOption("digits") - 3), rows = 40, ...) {
  rows <- if (identical(rows, Inf)) Inf else check_count(rows, "rows", 2L)
  cat("\nCall:  ", paste(deparse(x$call), collapse = "\n"), "\n\n", sep = "")
  cat("Family ", x$family, ", sign ", x$sign, ", ", x$penalty, " penalty\n", sep = "")
  if (!is.null(x$classnames)) {
    cat("Modelled class: ", x$classnames[2], " (against ", x$classnames[1], ")\n", sep = "")
  }
  cat(count_of(x$nobs, "observation"), ", ", count_of(x$dim[1], "feature"),
      if (!is.null(x$gamma)) paste(",", count_of(nrow(x$gamma), "covariate")),
      ", ", count_of(x$dim[2], "fit"), "\n\n", sep = "")
  print_grid(grid_table(x$grid, digits), rows)
  failed <- sum(!x$grid$converged)
  if (failed) {
    cat("\n* ", count_of(failed, "fit"), " did not converge, largest gap ",
        format(max(x$grid$gap[!x$grid$converged]), digits = 2), "\n", sep = "")
  }
  invisible(x)
}

# The grid as text, one column per thing, ready to print.
grid_table <- function(grid, digits) {
  data.frame(
    lambda1 = formatC(grid$lambda1, digits = digits, format = "g"),
    lambda2 = formatC(grid$lambda2, digits = digits, format = "g"),
    df = grid$df, regions = grid$regions, nonzero = grid$nonzero,
    `%dev` = format(round(100 * grid$dev.ratio, 2), nsmall = 2),
    gap = paste0(formatC(grid$gap, format = "e", digits = 1), ifelse(grid$converged, " ", "*")),
    iter = grid$iter,
    check.names = FALSE
  )
}

print_grid <- function(table, rows) {
  if (nrow(table) <= rows) return(print(table))
  first <- ceiling(rows / 2)
  text <- utils::capture.output(print(table, max = prod(dim(table)) + 1))
  shown <- c(seq_len(first), nrow(table) - rev(seq_len(rows - first)) + 1)
  cat(text[1], text[1 + seq_len(first)],
      paste0("... ", nrow(table) - rows, " more rows; print(fit, rows = Inf) shows all"),
      text[1 + shown[-seq_len(first)]], sep = "\n")
}
