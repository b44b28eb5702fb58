#' Refit a path on perturbed data
#'
#' Fits the path of [n2gfl()] to many perturbed versions of the data, so that [stability()] can
#' measure how often features are selected again. [cv.n2gfl()] does this with folds; here the data
#' can also be resampled.
#'
#' @details
#' The grid of penalties comes from all data and is shared by the runs. A perturbation is a set of
#' observation weights for the same `x`, which is never copied. Each run leaves rows out or counts
#' them more than once, in one of five ways:
#'
#' * `"cv"`: the rows of one of `B` folds are left out (`B` runs);
#' * `"bootstrap"`: rows are drawn with replacement, as many as there are (`B` runs);
#' * `"jackknife"`: one row, or one group, is left out (as many runs as rows or groups; `B` is not
#'   used);
#' * `"subsample"`: a share `fraction` of the rows is drawn without replacement (`B` runs);
#' * `"halves"`: the rows are split into two halves, and both are runs; `B / 2` splits, for an even
#'   `B`. Halves of one split share no row, so this is the strictest.
#'
#' Classes and levels keep their shares in all of them, and events for `"cox"`, because they are
#' drawn one by one; rows with the same `group` are drawn or left out together. All random numbers
#' are drawn from the session's generator before the work begins: call [set.seed()] first to get the
#' same runs again.
#'
#' Under a weaker perturbation every model looks more stable: compare models only under the same
#' perturbation. Runs can be parallel and are kept in `checkpoint`, like the folds of [cv.n2gfl()].
#' @inheritSection n2gfl Progress
#' @inheritParams cv.n2gfl
#' @param trace.it 1 shows a progress bar on the message stream, in scripts too; see *Progress*.
#' @param perturb How to perturb: see *Details*.
#' @param B Number of runs (of folds for `"cv"`).
#' @param fraction Share of the rows in a subsample.
#' @return A list of class `n2gfl_perturbed` that [stability()], [ES()], [mDC()],
#'   [compare_stability()] and [stable_regions()] take: `grid`, `es`, `mdc`, `fold.fits` and
#'   `n2gfl.fit` as in [cv.n2gfl()], and `perturb`, `runs` (how often each row of `x` counts in each
#'   run, one column per run) and `call`.
#' @seealso [stability()], [cv.n2gfl()], [stability_selection()].
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(60 * 30), 60)
#' y <- rowSums(x[, 5:9]) + rnorm(60)
#' runs <- perturb_fits(x, y, graph_chain(30), perturb = "bootstrap", B = 10,
#'                      lambda2 = 0.1, nlambda1 = 6)
#' runs
#' stability(runs, row = 6)
#' @export
perturb_fits <- function(x, y, graph = NULL, ...,
                         perturb = c("cv", "bootstrap", "jackknife", "subsample", "halves"), B = 10,
                         fraction = 0.5, group = NULL, checkpoint = NULL, trace.it = 0) {
  given <- check_dots(...)
  call <- call_without_data(match.call(), "perturb_fits")
  perturb <- match_choice(perturb, "perturb",
                          c("cv", "bootstrap", "jackknife", "subsample", "halves"))
  problem <- check_problem(fit_arguments(c(list(x = x, y = y, graph = graph), given)))
  B <- check_count(B, "B", 2L)
  if (perturb == "halves" && B %% 2) {
    stop_bad("`B` must be even for perturb = \"halves\", not ", B, ".")
  }
  fraction <- check_ratio(fraction, "fraction")
  trace <- check_trace(trace.it)
  group <- check_group(align_rows(group, "group", problem$rows), nrow(problem$data$x))

  drawn <- draw_runs(perturb, fold_classes(problem_strata(problem)), group, B, fraction)
  resumed <- resume_plan(new_plan(perturb, drawn), checkpoint, work_key(
    "perturb", problem, perturb, dim(drawn), fraction, as.integer(group)))
  plan <- resumed$plan
  check_plan(problem, plan)
  progress <- start_progress("Perturbed fits", 1 + length(plan$runs), trace)
  on.exit(end_progress(progress), add = TRUE)
  full <- fit_all_rows(problem_at(problem), resumed$store, progress, "")
  fits <- run_plan(problem, plan, fit_run, grid = full[c("lambda1", "lambda2")],
                   checkpoint = resumed$store, progress = progress)
  warn_wrong_sign(full$effects, problem)
  warn_common_scale(problem)
  warn_not_converged(full, problem$control)
  warn_folds_not_converged(fits, "runs")
  new_perturbed(full, fits, problem, plan, call)
}

new_perturbed <- function(full, fits, problem, plan, call) {
  fit <- new_fit(full, problem, call)
  stable <- stability_columns(fits, problem, lapply(plan$runs, `[[`, "held"))
  structure(
    list(call = call, grid = fit$grid, es = stable$es, mdc = stable$mdc, fold.fits = unname(fits),
         n2gfl.fit = fit, perturb = plan$kind, runs = plan$from),
    class = "n2gfl_perturbed"
  )
}

fit_run <- function(view, run, grid, alive, inside = NULL) {
  run_fields(solve_view(view, grid, path_callback(inside), alive))
}

# ---- plot and print ------------------------------------------------------------------------------

# The stability of the runs: there are no scores to draw.
#' @rdname plot.n2gfl_stability
#' @method plot n2gfl_perturbed
#' @export
plot.n2gfl_perturbed <- function(x, ...) {
  plot(stability(x), ...)
  invisible(x)
}

#' @method print n2gfl_perturbed
#' @export
print.n2gfl_perturbed <- function(x, digits = 3, rows = 40, ...) {
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
