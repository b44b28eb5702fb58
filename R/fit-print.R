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
#' The columns are those of `x$grid`: the penalties `lambda1` and `lambda2`, `df` (regions of
#' one value), `regions` (components of the support), `nonzero` (coefficients), `%dev` (percent of
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
  print_fit_head(x)
  print_grid(grid_table(x$grid, digits), rows, "fit")
  failed <- sum(!x$grid$converged)
  if (failed) {
    cat("\n* ", count_of(failed, "fit"), " did not converge, largest gap ",
        format(max(x$grid$gap[!x$grid$converged]), digits = 2), "\n", sep = "")
  }
  invisible(x)
}

#' Print a cross-validation
#'
#' Shows the measure, the rows of the grid that were chosen, the honest estimate if there is one,
#' and a note when the best row lies on the edge of the grid.
#'
#' @param x A cross-validation from [cv.n2gfl()].
#' @inheritParams print.n2gfl
#' @return `x`, invisibly.
#' @details
#' The table has a line for each choice: `min` (the best row), `1se` (the sparsest within one
#' standard error), `es` (that of Lim and Yu) and `stable` (the centre of the stable ones). Its
#' columns are the row of the grid, the penalties, `df` (the number of regions), `nonzero`
#' (coefficients), the measure and its standard error `SE`. With `nested = TRUE` the columns
#' `Nested` and `SE` follow: the score of this way to choose on data that had no part in the choice.
#' The grid's own scores are optimistically biased. A second table says how stable the maps of this
#' way to choose are, over the outer folds: see *Stability of the procedure* in [cv.n2gfl()].
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(60 * 20), 60)
#' y <- rowSums(x[, 3:6]) + rnorm(60)
#' cv.n2gfl(x, y, graph_chain(20), lambda2 = 0.1, nlambda1 = 10, nfolds = 4, nested = TRUE)
#' @method print n2gfl_cv
#' @export
print.n2gfl_cv <- function(x, digits = max(3, getOption("digits") - 3), ...) {
  print_cv_head(x)
  print(choice_table(x, digits))
  if (!is.null(x$nested)) {
    cat("\n\"Measure\" is optimistically biased, because the same data chose the row.\n",
        "\"Nested\" is an honest estimate, from folds that had no part in the choice.\n", sep = "")
    print_procedure(x$nested$stability, digits)
  }
  cat("\nThe default of `s` is \"", usual_choice(x), "\": ",
      lambda_text(x$grid[cv_choice(x)$row, ]), ".\n", sep = "")
  print_notes(choice_notes(x))
  print_edge(x$edge)
  invisible(x)
}

# The maps of the outer folds. An object of an older version has none.
print_procedure <- function(table, digits = 3) {
  if (is.null(table)) return(invisible())
  number <- function(values) short_number(values, min(digits, 3))
  cat("\nStability of the whole procedure (maps of the outer folds, each with its own ",
      "penalties):\n", sep = "")
  print(data.frame(
    nonzero = paste0(number(table$nonzero), " (", table$least, "-", table$most, ")"),
    mDC = number(table$mdc), Nogueira = number(table$nogueira),
    `95 %` = ifelse(is.na(table$nogueira.lower), "NA",
                    paste(number(table$nogueira.lower), "to", number(table$nogueira.upper))),
    Dice = number(table$dice), `Dice, dilated` = number(table$dice.dilated),
    ES = number(table$es.fit), row.names = rownames(table), check.names = FALSE
  ))
}

print_notes <- function(notes) {
  if (length(notes)) cat("\n", paste0(notes, "\n"), sep = "")
}

print_cv_head <- function(x) {
  cat("\nCall:  ", paste(deparse(x$call), collapse = "\n"), "\n\n", sep = "")
  folds <- apply(as.matrix(x$foldid), 2, max)
  cat("Measure: ", x$name, " (", if (larger_is_better(x$type.measure)) "larger" else "smaller",
      " is better), ", count_of(folds[1], "fold"),
      if (length(folds) > 1) paste0(", ", count_of(length(folds), "repeat")), "\n\n", sep = "")
}

# The chosen rows as text, one line each.
choice_table <- function(x, digits) {
  index <- x$index[!is.na(x$index)]
  grid <- x$grid[index, ]
  number <- function(values) significant(values, digits)
  table <- data.frame(row = unname(index), lambda1 = number(grid$lambda1),
                      lambda2 = number(grid$lambda2), df = grid$df, nonzero = grid$nonzero,
                      Measure = number(x$cvm[index]), SE = number(x$cvsd[index]),
                      row.names = names(index))
  if (is.null(x$nested)) return(table)
  nested <- x$nested$estimate[names(index), ]
  cbind(table, Nested = number(nested$cvm), SE = number(nested$cvsd))
}

print_edge <- function(edge) {
  if (!length(edge)) return(invisible())
  cat("\nThe best row lies on the edge of the grid:\n",
      paste0("  ", names(edge), ": ", edge, "\n"), sep = "")
}

# Call, model and sizes, of a fit or its summary.
print_fit_head <- function(x) {
  covariates <- max(NROW(x$gamma), x$covariates)
  outcome <- x$outcome %or% family_of(x$family)$outcome_line(x)
  cat("\nCall:  ", paste(deparse(x$call), collapse = "\n"), "\n\n", sep = "")
  cat("Family ", x$family, ", sign ", x$sign, ", ", x$penalty, " penalty\n", sep = "")
  if (!is.null(outcome)) cat(outcome, "\n", sep = "")
  cat(count_of(x$nobs, "observation"), ", ", count_of(x$dim[1], "feature"),
      if (covariates) paste0(", ", count_of(covariates, "covariate")),
      ", ", count_of(x$dim[2], "fit"), "\n\n", sep = "")
}

# formatC() would add blanks in some versions of R.
significant <- function(values, digits) sprintf("%.*g", as.integer(digits), values)

# The grid as text, ready to print.
grid_table <- function(grid, digits) {
  data.frame(
    lambda1 = significant(grid$lambda1, digits), lambda2 = significant(grid$lambda2, digits),
    df = grid$df, regions = grid$regions, nonzero = grid$nonzero,
    `%dev` = format(round(100 * grid$dev.ratio, 2), nsmall = 2),
    gap = paste0(formatC(grid$gap, format = "e", digits = 1), ifelse(grid$converged, " ", "*")),
    iter = grid$iter,
    check.names = FALSE
  )
}

print_grid <- function(table, rows, name = "x") {
  if (nrow(table) <= rows) return(print(table))
  first <- ceiling(rows / 2)
  text <- utils::capture.output(print(table, max = prod(dim(table)) + 1))
  shown <- c(seq_len(first), nrow(table) - rev(seq_len(rows - first)) + 1)
  cat(text[1], text[1 + seq_len(first)],
      paste0("... ", nrow(table) - rows, " more rows; print(", name, ", rows = Inf) shows all"),
      text[1 + shown[-seq_len(first)]], sep = "\n")
}
