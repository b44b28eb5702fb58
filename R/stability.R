#' The stability of a model, by many measures
#'
#' Are the same features selected when the data change a little? A table of measures for every row
#' of the grid of penalties, from the coefficients that each fold of a cross-validation (or each run
#' of another perturbation) found.
#'
#' @details
#' There are K runs over p features; \eqn{S_i} is the set of features with a nonzero coefficient in
#' run \eqn{i}, \eqn{k_i} its size, \eqn{\bar k}{kbar} the mean size and \eqn{f_j} the share of the
#' sets that contain feature \eqn{j}. Most measures are defined for two sets A and B of sizes a and
#' b with r features in common, and averaged over all pairs:
#'
#' | Column | Formula | Better |
#' |---|---|---|
#' | `es.coef`, `es.fit` | see [ES()]; `es.fit` on centred x | smaller |
#' | `mdc` | see [mDC()] | larger |
#' | `dice` | 2 r / (a + b) | larger |
#' | `jaccard` | r / (a + b - r) | larger |
#' | `ochiai` | r / sqrt(a b) | larger |
#' | `kuncheva` | (r p - k^2) / (k (p - k)), only for a = b = k | larger |
#' | `lustgarten` | (r - a b / p) / (min(a, b) - max(0, a + b - p)) | larger |
#' | `kappa` | (o - e) / (1 - e), o and e as below | larger |
#' | `phi` | (r p - a b) / sqrt(a b (p - a) (p - b)) | larger |
#' | `nogueira` | below | larger |
#' | `correlation` | Pearson's, of two coefficient vectors with their zeros | larger |
#' | `dice.dilated` | Dice, each set with all its graph neighbours added | larger |
#' | `dice.near` | share of the features of A and B in or next to the other set | larger |
#' | `centre.distance` | from a region's centre to the nearest one in the other run | smaller |
#'
#' In kappa, o = (p - a - b + 2 r) / p is the observed agreement of the two selections and
#' e = (a b + (p - a) (p - b)) / p^2 the agreement expected by chance. Dice, Jaccard, Ochiai and the
#' two forms for maps lie between 0 and 1, the others between -1 and 1; Lustgarten's does not reach
#' 1 even for identical sets. Sources: Dice (1945), Jaccard (1901), Ochiai (1957), Kuncheva (2007),
#' Lustgarten et al. (2009), Carletta (1996) for kappa, Nogueira and Brown (2016) for phi, as
#' collected by Bommert and Lang (2021); the last four are defined here.
#'
#' Kuncheva's index, Lustgarten's, kappa, phi and Nogueira's measure are corrected for chance:
#' random selections have 0 on average, so models of different sizes can be compared. Nogueira's is
#' \deqn{\Phi = 1 - \frac{\frac{K}{K-1} \frac{1}{p} \sum_j f_j (1 - f_j)}{D}, \quad
#'   D = \frac{\bar k}{p} \left(1 - \frac{\bar k}{p}\right),}{
#'   Phi = 1 - [K/(K-1) mean_j f_j (1 - f_j)] / D, D = (kbar/p) (1 - kbar/p),}
#' with the variance \eqn{(4/K^2) \sum_i (\phi_i - \bar\phi)^2}{(4/K^2) sum_i (phi_i - mean phi)^2},
#' \deqn{\phi_i = \frac{1}{D} \left[\frac{1}{p} \sum_{j \in S_i} f_j - \frac{k_i \bar k}{p^2} +
#'   \frac{\Phi}{2} \left(\frac{2 k_i \bar k}{p^2} - \frac{k_i}{p} - \frac{\bar k}{p} + 1\right)
#'   \right].}{
#'   phi_i = (1/D) [sum_(j in S_i) f_j / p - k_i kbar/p^2 +
#'   (Phi/2) (2 k_i kbar/p^2 - k_i/p - kbar/p + 1)].}
#' The interval is based on the normal distribution. It treats the runs as independent; the folds of
#' one cross-validation share most of their data, so the interval describes this way of perturbing
#' the data, not new cohorts.
#'
#' `dice.dilated`, `dice.near` and `centre.distance` tolerate a small shift: `dice.near` is still 1
#' for a map that has moved by one neighbour. Regions are the components of the support.
#' Their distance is in mm where the space of the images is known and in the units of the graph's
#' coordinates (voxels) otherwise; it is `NA` if a run has more than 500 regions.
#'
#' A value that is not defined is `NA`, and the column `reason` says why: only one run, empty or
#' full sets, sets of different sizes (`kuncheva`), no graph, no coordinates, no `x` (`es.coef`,
#' `es.fit`). A mean over pairs is `NA` as soon as one pair has no value.
#'
#' **Which perturbation.** The runs of a cross-validation are its folds: two of them share most of
#' their observations, and the stability that they show is too kind. [perturb_fits()] refits on
#' bootstrap samples or on halves of the data (`perturb = "bootstrap"` or `"halves"`), and this
#' function takes what it returns; `print()` says which runs were compared. All of these keep the
#' penalties fixed. The maps of a nested cross-validation (`nested = TRUE`) come from the whole
#' procedure, choice of penalties included.
#'
#' **Which row to report.** `lambda.stable` of [cv.n2gfl()], the default. A map that contains almost
#' all features is stable but not informative, so that rule leaves such maps out.
#' `plot(type = "tradeoff")` shows what stability costs in accuracy.
#'
#' @inheritParams mDC
#' @param measures Which measures to compute: `"all"`, or some of `"es"`, `"mdc"`, `"dice"`,
#'   `"jaccard"`, `"ochiai"`, `"kuncheva"`, `"lustgarten"`, `"kappa"`, `"phi"`, `"nogueira"`,
#'   `"correlation"`, `"dilated"`, `"distance"`.
#' @param x,graph The features and their graph, for runs that are given as a list or a matrix.
#'   Without them the measures that need them are `NA`. [cv.n2gfl()] objects store their ES and
#'   their graph.
#' @param level Confidence level of the interval for Nogueira's measure.
#' @param nested Measure the maps of the outer folds of a nested cross-validation instead, each with
#'   the penalties that its fold chose? `s` then names the way to choose.
#' @param ... Must be empty.
#' @return A data frame of class `n2gfl_stability` with one row per row of the grid: `row`,
#'   `lambda1`, `lambda2`, `df`, for a cross-validation its score `cvm` and the standard error
#'   `cvsd`, then the measures (`nogueira` with `nogueira.se`, `nogueira.lower` and
#'   `nogueira.upper`), and `reason`. For runs without a grid it has the measures and `reason` only.
#' @references
#' Nogueira, S., Sechidis, K. and Brown, G. (2018). On the Stability of Feature Selection
#' Algorithms. *Journal of Machine Learning Research* 18(174), 1--54.
#'
#' Bommert, A. and Lang, M. (2021). stabm: Stability Measures for Feature Selection. *Journal of
#' Open Source Software* 6(59), 3010.
#' @seealso [plot.n2gfl_stability()], [compare_stability()], [stable_regions()],
#'   [stability_selection()].
#' @family stability measures
#' @examples
#' # Three selections out of ten features
#' runs <- sapply(list(1:3, 1:4, 1:5), function(set) as.numeric(1:10 %in% set))
#' stability(runs)
#' stability(runs, graph = graph_chain(10), measures = c("nogueira", "dilated"))
#' @export
stability <- function(object, s = NULL, measures = "all", x = NULL, graph = NULL, row = NULL,
                      level = 0.95, nested = FALSE, ...) {
  check_empty_dots(...)
  measures <- check_measures(measures)
  level <- check_ratio(level, "level")
  nested <- check_flag(nested, "nested")
  if (nested && !is.null(row)) stop_bad("`row` must not be given together with `nested`.")
  source <- if (nested) nested_source(object, s) else run_source(object, graph)
  rows <- if (nested) 1L else run_rows(source, s, row)
  if (!is.null(x)) x <- check_run_x(x, nrow(source$runs(rows[1])), object)
  shared <- shared_data(source, measures, x, level)
  table <- do.call(rbind, lapply(rows, function(row) {
    measure_row(measures, measure_data(source, row, shared))
  }))
  new_stability(source, rows, table, ncol(source$runs(rows[1])))
}

# One row of the table: the measures of the runs at one row of the grid.
measure_row <- function(measures, data) {
  results <- lapply(measures, function(measure) measure$compute(data))
  values <- unlist(lapply(results, `[[`, "value"), use.names = FALSE)
  reasons <- vapply(results, `[[`, "", "reason")
  reasons <- paste0(names(measures), ": ", reasons)[reasons != ""]
  columns <- unlist(lapply(measures, `[[`, "columns"))
  data.frame(as.list(stats::setNames(values, columns)), reason = paste(reasons, collapse = "; "))
}

new_stability <- function(source, rows, table, k) {
  if (!is.null(source$grid)) {
    where <- cbind(row = rows, source$grid[rows, c("lambda1", "lambda2", "df")])
    if (!is.null(source$cvm)) {
      where <- cbind(where, cvm = source$cvm[rows], cvsd = source$cvsd[rows])
    }
    table <- cbind(where, table)
  }
  rownames(table) <- NULL
  structure(table, class = c("n2gfl_stability", "data.frame"), runs = k,
            features = nrow(source$runs(rows[1])), index = source$index, name = source$name,
            larger = source$larger, what = source$what)
}

# ---- print ---------------------------------------------------------------------------------------

#' @method print n2gfl_stability
#' @export
print.n2gfl_stability <- function(x, digits = 3, rows = 40, ...) {
  what <- attr(x, "what")
  cat("Stability of ", count_of(attr(x, "runs"), "run"), " over ",
      count_of(attr(x, "features"), "feature"), if (!is.null(what)) paste0(": ", what), "\n\n",
      sep = "")
  if (nrow(x) == 1) print_one_row(x, digits) else print_many_rows(x, digits, rows)
  print_reasons(x$reason)
  invisible(x)
}

# Each reason once, with the measures that it concerns.
print_reasons <- function(reason) {
  parts <- unique(unlist(strsplit(reason, "; ", fixed = TRUE)))
  if (!length(parts)) return(invisible())
  measure <- sub(":.*", "", parts)
  grouped <- tapply(measure, sub("[^:]*: ", "", parts), paste, collapse = ", ")
  cat("\nNA:\n", paste0("  ", grouped, ": ", names(grouped), "\n"), sep = "")
}

print_one_row <- function(x, digits) {
  if (!is.null(x$lambda1)) cat(lambda_text(x), " (row ", x$row, ", df ", x$df, ")\n\n", sep = "")
  shown <- value_columns(x)
  value <- vapply(shown, function(name) value_text(x, name, digits), "")
  better <- ifelse(vapply(shown, has_larger_better, NA), "larger", "smaller")
  print(data.frame(value = value, better = better, row.names = shown), right = FALSE)
}

# A value with its interval.
value_text <- function(x, name, digits) {
  value <- short_number(x[[name]], digits)
  interval <- unlist(column_interval(x, name))
  if (!length(interval) || is.na(x[[name]])) return(value)
  paste0(value, " (", paste(short_number(interval, digits), collapse = " to "), ")")
}

print_many_rows <- function(x, digits, rows) {
  main <- c("row", "lambda1", "lambda2", "df", "cvm", usual_columns(interval = TRUE))
  shown <- intersect(main, names(x))
  # Without any of the main measures, show the measures that there are.
  if (!any(measure_columns(x) %in% shown)) shown <- c(shown, measure_columns(x))
  table <- as.data.frame(lapply(unclass(x)[shown], function(column) {
    if (is.integer(column)) column else short_number(column, digits)
  }))
  chosen <- attr(x, "index")
  marks <- vapply(x$row, function(row) paste(names(chosen)[chosen == row], collapse = " "), "")
  if (any(marks != "")) table$chosen <- marks
  print_grid(table, check_count(rows, "rows", 2L))
  hidden <- setdiff(measure_columns(x), shown)
  if (length(hidden)) cat("\nMore columns: ", paste(hidden, collapse = ", "), "\n", sep = "")
}
