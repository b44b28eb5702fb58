#' Refit a path on perturbed data
#'
#' Fits the path of [n2gfl()] to many perturbed versions of the data, so that [stability()] can
#' measure how often features are selected again. [cv.n2gfl()] does this with folds; here the data
#' can also be resampled.
#'
#' @details
#' The grid of penalties comes from all data and is shared by the runs. A perturbation is a set of
#' observation weights for the same `x`, which is never copied. Each run leaves rows out or counts
#' them more than once, in one of four ways:
#'
#' * `"cv"`: the rows of one of `B` folds are left out (`B` runs);
#' * `"bootstrap"`: rows are drawn with replacement, as many as there are (`B` runs);
#' * `"jackknife"`: one row, or one group, is left out (as many runs as rows or groups; `B` is not
#'   used);
#' * `"subsample"`: a share `fraction` of the rows is drawn without replacement (`B` runs).
#'
#' For `"binomial"` all of them are drawn class by class, so that the classes keep their shares, and
#' rows with the same `group` are drawn or left out together. All random numbers are drawn from the
#' session's generator before the work begins: call [set.seed()] first to get the same runs again.
#'
#' Under a weaker perturbation every model looks more stable: compare models only under the same
#' perturbation. Runs can be parallel and are kept in `checkpoint`, like the folds of [cv.n2gfl()].
#' @inheritSection n2gfl Progress
#' @inheritParams cv.n2gfl
#' @param trace.it 1 shows a progress bar on the message stream, in scripts too; see *Progress*.
#' @param perturb How to perturb: see *Details*.
#' @param B Number of runs (of folds for `"cv"`).
#' @param fraction Share of the rows in a subsample.
#' @return A list of class `perturb.n2gfl` that [stability()], [ES()], [mDC()],
#'   [compare_stability()] and [stable_regions()] take: `grid`, `es`, `mdc`, `fold.fits` and
#'   `n2gfl.fit` as in [cv.n2gfl()], and `perturb`, `runs` (how often each row of `x` counts in each
#'   run, one column per run) and `call`.
#' @seealso [stability()], [cv.n2gfl()], [stabsel.n2gfl()].
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(60 * 30), 60)
#' y <- rowSums(x[, 5:9]) + rnorm(60)
#' runs <- perturb.n2gfl(x, y, graph_chain(30), perturb = "bootstrap", B = 10,
#'                       lambda2 = 0.1, nlambda1 = 6)
#' runs
#' stability(runs, row = 6)
#' @export
perturb.n2gfl <- function(x, y, graph = NULL, ...,
                          perturb = c("cv", "bootstrap", "jackknife", "subsample"), B = 10,
                          fraction = 0.5, group = NULL, checkpoint = NULL, trace.it = 0) {
  given <- check_dots(...)
  call <- call_without_data(match.call(), "perturb.n2gfl")
  perturb <- match_choice(perturb, "perturb", c("cv", "bootstrap", "jackknife", "subsample"))
  problem <- check_problem(fit_arguments(c(list(x = x, y = y, graph = graph), given)))
  B <- check_count(B, "B", 2L)
  fraction <- check_ratio(fraction, "fraction")
  trace <- check_trace(trace.it)
  group <- check_group(align_rows(group, "group", problem$rows), nrow(problem$data$x))

  drawn <- draw_runs(perturb, fold_classes(problem_strata(problem)), group, B, fraction)
  store <- open_checkpoint(checkpoint, if (!is.null(checkpoint)) {
    work_key("perturb", problem, perturb, dim(drawn), fraction, as.integer(group))
  })
  drawn <- remember_runs(store, drawn)
  store <- store_for_runs(store, drawn)
  check_runs(problem, drawn)
  progress <- start_progress("Perturbed fits", 1 + ncol(drawn), trace)
  on.exit(end_progress(progress), add = TRUE)
  full <- fit_all_rows(problem_at(problem), store, progress, "")
  fits <- run_tasks(run_weights(problem, drawn), fit_run, problem = problem,
                    grid = full[c("lambda1", "lambda2")], checkpoint = store, progress = progress)
  warn_wrong_sign(full$effects, problem)
  warn_not_converged(full, problem$control)
  warn_folds_not_converged(fits, "runs")
  new_perturbed(full, fits, problem, drawn, perturb, call)
}

new_perturbed <- function(full, fits, problem, drawn, perturb, call) {
  fit <- new_fit(full, problem, call)
  stable <- stability_columns(fits, problem$data$x, problem$data$graph)
  structure(
    list(call = call, grid = fit$grid, es = stable$es, mdc = stable$mdc, fold.fits = unname(fits),
         n2gfl.fit = fit, perturb = perturb, runs = drawn),
    class = "perturb.n2gfl"
  )
}

fit_run <- function(weights, problem, grid, alive, inside = NULL) {
  run_fields(solve_view(problem_at(problem, weights), grid, path_callback(inside), alive))
}

# Observation weights of each run, with the names that errors and checkpoints use.
run_weights <- function(problem, drawn, name = "Run") {
  weights <- lapply(seq_len(ncol(drawn)), function(k) problem$data$weights * drawn[, k])
  stats::setNames(weights, paste(name, seq_along(weights)))
}

# Work that is resumed must use the runs of its first call, not the runs drawn now.
remember_runs <- function(store, drawn) {
  if (is.null(store)) return(drawn)
  known <- read_piece(store, "runs")
  if (is.null(known)) write_piece(store, "runs", drawn) else known
}

# The runs become part of the key. If the file with the runs is lost, other runs are drawn, and the
# old fits no longer match.
store_for_runs <- function(store, drawn) {
  if (!is.null(store)) store$key <- work_key(store$key, drawn)
  store
}

# ---- which rows ----------------------------------------------------------------------------------

# How often each row counts in each run: an integer matrix with one column per run.
draw_runs <- function(perturb, strata, group, B, fraction) {
  n <- length(strata)
  if (perturb == "cv") {
    foldid <- make_folds(strata, min(B, if (is.null(group)) n else nlevels(group)), group)
    return(outer(foldid, seq_len(max(foldid)), "!=") + 0L)
  }
  unit <- if (is.null(group)) seq_len(n) else as.integer(group)
  units <- switch(perturb,
    jackknife = 1L - diag(1L, max(unit)),
    bootstrap = replicate(B, draw_units(unit_strata(strata, unit), 1, TRUE)),
    subsample = replicate(B, draw_units(unit_strata(strata, unit), fraction, FALSE))
  )
  storage.mode(units) <- "integer"
  units[unit, , drop = FALSE]
}

# The stratum of each unit; groups with rows of several strata make strata of their own.
unit_strata <- function(strata, unit) {
  match_strata <- function(rows) paste(sort(unique(strata[rows])), collapse = " ")
  as.vector(tapply(seq_along(strata), unit, match_strata))
}

# How often each unit is drawn, stratum by stratum.
draw_units <- function(strata, fraction, replace) {
  drawn <- integer(length(strata))
  for (stratum in split(seq_along(strata), strata)) {
    size <- max(1, round(fraction * length(stratum)))
    chosen <- stratum[sample.int(length(stratum), size, replace)]
    drawn <- drawn + tabulate(chosen, length(strata))
  }
  drawn
}

# Every run must be a problem that can be fitted.
check_runs <- function(problem, drawn) {
  data <- problem$data
  family <- family_of(problem$control$family)
  for (k in seq_len(ncol(drawn))) {
    used <- drawn[, k] > 0 & data$weights > 0
    family$check_run(response_rows(data$y, used), data$classnames, k)
  }
}

# ---- plot and print ------------------------------------------------------------------------------

# The stability of the runs: there are no scores to draw.
#' @rdname plot.n2gfl_stability
#' @method plot perturb.n2gfl
#' @export
plot.perturb.n2gfl <- function(x, ...) {
  plot(stability(x), ...)
  invisible(x)
}

#' @method print perturb.n2gfl
#' @export
print.perturb.n2gfl <- function(x, digits = 3, rows = 40, ...) {
  cat("\nCall:  ", paste(deparse(x$call), collapse = "\n"), "\n\n", sep = "")
  cat(count_of(length(x$fold.fits), "run"), " (", x$perturb, ") over ",
      count_of(full_fit(x)$dim[1], "feature"), "\n\n", sep = "")
  table <- data.frame(lambda1 = short_number(x$grid$lambda1, 4),
                      lambda2 = short_number(x$grid$lambda2, 4), df = x$grid$df,
                      nonzero = x$grid$nonzero, es.coef = short_number(x$es[, "coef"], digits),
                      es.fit = short_number(x$es[, "fit"], digits),
                      mdc = short_number(x$mdc, digits))
  print_grid(table, check_count(rows, "rows", 2L))
  invisible(x)
}
