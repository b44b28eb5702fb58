#' Stability selection
#'
#' Fits the model to many random halves of the data, lets each half select up to `q` features, and
#' keeps the features that at least a share `cutoff` of the halves select. The expected number of
#' false selections is bounded.
#'
#' @details
#' **How a half selects q features.** The fused lasso has two penalties. `lambda2` is fixed, and the
#' path is followed from the largest `lambda1` of that half downwards. The half selects the nonzero
#' features of the last fit before more than `q` different features have entered the path. This is
#' what `stabs::glmnet.lasso()` (its default, conservative form) does for the lasso: with
#' `lambda2 = 0`, `sign = "free"` the result is the same, apart from features that glmnet counts as
#' entered although it leaves them at zero. So a half selects at most `q` features, and the bound
#' holds.
#'
#' With fusion whole regions enter at once. Make `q` as large as a few regions: when the first
#' region that enters is larger than `q`, a half selects nothing, and a warning says in how many
#' halves that happened. `sizes` in the result has the number of features that each half selected.
#'
#' **Which lambda2.** One number. The default (`NULL`) is the middle of [n2gfl()]'s default
#' sequence: 0.03 times [lambda_max()] at `lambda2 = 0`. After a cross-validation,
#' `cvfit$lambda.stable["lambda2"]` is the better choice.
#'
#' **Halves.** `"SS"` splits the rows `B` times into two complementary halves, as [make_folds()]
#' makes 2 folds: stratified by class, level or event, and rows of one `group` in the same half.
#' `"MB"` uses only the first half of each split. The halves are 0/1 observation weights for the
#' same `x`. They can run in parallel and are kept in `checkpoint`, like the folds of [cv.n2gfl()].
#'
#' **Regions.** Voxels of a region are almost always selected together or not at all. `regions`
#' lists the connected regions of the selected features and the share of the halves in which each
#' survives: see [stable_regions()].
#'
#' @inheritSection n2gfl Progress
#' @inheritParams cv.n2gfl
#' @inheritParams stability_bound
#' @param trace.it 1 shows a progress bar on the message stream, in scripts too; see *Progress*.
#' @param cutoff,q,PFER Give two of the three; the third is computed, see [stability_bound()].
#'   `cutoff` is the share of halves that must select a feature, `q` the largest number of features
#'   that a half selects, `PFER` the bound on the expected number of falsely selected features.
#' @param ... Further arguments of [n2gfl()], such as `family`, `lambda2`, `covariates`; but not
#'   `lambda1`, because each half has its own sequence. The defaults here are `nlambda1 = 100` and
#'   `lambda.min.ratio = 0.01`.
#' @return A list of class `n2gfl_stability_selection`:
#'   \item{prob}{The share of halves that select each feature: a map.}
#'   \item{selected}{The features for which this share is at least `cutoff`.}
#'   \item{regions}{A data frame of their connected regions, see [stable_regions()].}
#'   \item{runs}{A sparse matrix of zeros and ones, features by halves: what each half selected.
#'     [stability()] and [mDC()] take the object.}
#'   \item{sizes}{How many features each half selected.}
#'   \item{cutoff, q, PFER, p, B, assumption, sampling.type}{As in [stability_bound()].}
#'   \item{lambda2, graph, call}{The penalty, the graph, the call without the data.}
#' @inherit stability_bound references
#' @seealso [stability_bound()], [stable_regions()], [plot.n2gfl_stability_selection()].
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(80 * 40), 80)
#' y <- rowSums(x[, 5:9]) + rowSums(x[, 21:24]) + rnorm(80)
#' selection <- stability_selection(x, y, graph_chain(40), cutoff = 0.75, q = 12, B = 10,
#'                                  lambda2 = 0.05)
#' selection
#' which(selection$prob > 0.5)
#' plot(selection)
#' @export
stability_selection <- function(x, y, graph = NULL, cutoff = NULL, q = NULL, PFER = NULL, B = 50,
                                assumption = c("unimodal", "r-concave", "none"),
                                sampling.type = c("SS", "MB"), ..., group = NULL, checkpoint = NULL,
                                trace.it = 0) {
  given <- check_dots(...)
  call <- call_without_data(match.call(), "stability_selection")
  problem <- check_selection_problem(x, y, graph, given)
  bound <- stability_bound(ncol(problem$data$x), cutoff, q, PFER, B, assumption, sampling.type)
  trace <- check_trace(trace.it)
  group <- check_group(align_rows(group, "group", problem$rows), nrow(problem$data$x))

  halves <- draw_halves(problem_strata(problem), group, bound$B, bound$sampling.type)
  kind <- if (bound$sampling.type == "SS") "pairs" else "halves"
  # "stabsel" stays as it is: with another word the work that a checkpoint holds would be refused.
  resumed <- resume_plan(new_plan(kind, halves), checkpoint, work_key(
    "stabsel", problem, bound$q, dim(halves), bound$sampling.type, as.integer(group)))
  plan <- resumed$plan
  check_plan(problem, plan)
  null <- start_facts(problem_at(problem), 0)
  warn_wrong_sign(null$effects, problem)
  warn_common_scale(problem)
  # The geometric middle of the sequence that n2gfl() makes.
  if (!length(problem$lambda2)) problem$lambda2 <- 0.03 * null$lambda_max
  progress <- start_progress("Stability selection", length(plan$runs), trace)
  on.exit(end_progress(progress), add = TRUE)
  chosen <- run_plan(problem, plan, select_features, q = bound$q, checkpoint = resumed$store,
                     progress = progress)
  new_selection(chosen, bound, problem, call)
}

check_selection_problem <- function(x, y, graph, given) {
  if (!is.null(given$lambda1)) {
    stop_bad("`lambda1` must not be given: every half of the data follows a path of its own, ",
             "until `q` features have entered.")
  }
  defaults <- list(nlambda1 = 100, lambda.min.ratio = 0.01)
  given <- utils::modifyList(defaults, given, keep.null = TRUE)
  problem <- check_problem(fit_arguments(c(list(x = x, y = y, graph = graph), given)))
  if (length(problem$lambda2) > 1) {
    stop_bad("`lambda2` must be one number or NULL, not ", length(problem$lambda2), " numbers.")
  }
  problem
}

# The features of the last fit before more than `q` have entered.
select_features <- function(view, run, q, alive, inside = NULL) {
  fits <- solve_view(view, progress = path_callback(inside), alive = alive, pmax = q)
  beta <- fits$beta
  rows <- ncol(beta)
  entered <- length(unique(beta@i))
  last <- if (entered > q) rows - 1L else rows
  # More than q unpenalised features can be nonzero in the first fit.
  range <- if (last > 0) beta@p[last + 0:1] else c(0L, 0L)
  at <- seq.int(range[1] + 1L, length.out = range[2] - range[1])
  list(features = beta@i[at], converged = fits$converged, gap = fits$gap,
       too_large = !length(at) && last < rows)
}

new_selection <- function(chosen, bound, problem, call) {
  columns <- lapply(chosen, function(half) {
    list(i = sort(half$features), x = rep(1, length(half$features)))
  })
  runs <- sparse_columns(unname(columns), bound$p)
  warn_folds_not_converged(chosen, "halves", kept = FALSE)
  warn_too_large(vapply(chosen, `[[`, NA, "too_large"), bound$q)
  prob <- Matrix::rowMeans(runs)
  names(prob) <- colnames(problem$data$x)
  object <- structure(
    c(list(call = call, prob = prob, selected = which(prob >= bound$cutoff - 1e-9), runs = runs,
           sizes = diff(runs@p)), bound,
      list(lambda2 = problem$lambda2, graph = problem$data$graph, space = problem$data$space)),
    class = "n2gfl_stability_selection"
  )
  object$regions <- stable_regions(object)
  object
}

warn_too_large <- function(too_large, q) {
  if (!any(too_large)) return(invisible())
  warning(sum(too_large), " of ", length(too_large), " halves selected nothing, because the first ",
          "region that enters has more than q = ", q, " features: take a larger `q` or a smaller ",
          "`lambda2`.", call. = FALSE)
}

# ---- print ---------------------------------------------------------------------------------------

#' @method print n2gfl_stability_selection
#' @export
print.n2gfl_stability_selection <- function(x, digits = 3, rows = 20, ...) {
  cat("\nCall:  ", paste(deparse(x$call), collapse = "\n"), "\n\n", sep = "")
  cat("Stability selection, ",
      if (x$sampling.type == "SS") paste(x$B, "complementary pairs") else paste(x$B, "subsamples"),
      ", ", count_of(x$p, "feature"), "\n", sep = "")
  cat("Cutoff ", number_text(x$cutoff), ", q ", x$q, ", PFER at most ",
      short_number(x$PFER, digits), " (assumption ", x$assumption, ")\n", sep = "")
  cat("A half selected ", paste(unique(range(x$sizes)), collapse = " to "), " features, ",
      number_text(round(mean(x$sizes), 1)), " on average\n\n", sep = "")
  cat(count_of(length(x$selected), "feature"), " selected, in ",
      count_of(nrow(x$regions), "region"), "\n", sep = "")
  if (nrow(x$regions)) {
    cat("\n")
    print_grid(as.data.frame(lapply(unclass(x$regions), function(column) {
      if (is.integer(column)) column else short_number(column, digits)
    })), check_count(rows, "rows", 2L))
  }
  invisible(x)
}
