#' Cross-validation for n2gfl
#'
#' Fits the path of [n2gfl()] once on all data and once for each fold without its rows, scores the
#' held-out predictions, and picks penalties: the best score, the sparsest fit that is as good
#' within one standard error, and stable ones, whose map can be expected to come back.
#'
#' @details
#' The grid of penalties comes from all data and is shared by the folds; see *The grid*. A fold is a
#' set of observation weights that are 0 for the rows held out: neither `x` nor its rows are copied,
#' and centring, scaling, screening and the coding of covariates use the training rows only.
#'
#' The scores are averaged over the folds as in `cv.glmnet()`: `cvm` is the mean over folds,
#' weighted by their observation weights, `cvsd` its standard error. With fewer than 3 observations
#' per fold, the mean is over observations. With `nrepeats` the means are averaged, and `cvsd` is
#' the root mean square of the repeats' standard errors: repeats share the data and do not make the
#' mean more certain.
#'
#' @section Which penalties:
#' * `lambda.min`: the best `cvm`; ties go to the larger `lambda2`, then the larger `lambda1`.
#' * `lambda.1se`: the sparsest row whose `cvm` is within one standard error of the best. Sparser
#'   means fewer regions (`df`), then fewer features; ties go to the larger `lambda2`, then the
#'   larger `lambda1`.
#' * `lambda.es`: the rule of Lim and Yu (2016): the most stable row, by the estimation stability
#'   [ES()] in its "fit" form on centred `x`, among those within one standard error of the best that
#'   have no more regions than `lambda.min`. Check its number of features: a map that contains all
#'   features is stable, too.
#' * `lambda.stable`: the centre of the rows that are about as accurate as the best one, more stable
#'   rows counting more, with at most half of the features. [stable_rule()] says how, and has the
#'   knobs. Unlike the other three it does not jump when a few observations are exchanged.
#'
#' `coef()`, `predict()`, maps, tables and pictures use `lambda.stable` unless `s` or `row` is
#' given. (glmnet uses `lambda.1se`. With fusion the sparsest row is the one with the fewest
#' regions, which can be a single region with more features than `lambda.min` has; `print()` says
#' when that is so.)
#'
#' The best score on a grid is optimistically biased, since the same held-out data chose it.
#' `nested = TRUE` repeats the whole procedure, grid and choice of penalties included, inside each
#' fold's training rows and scores it on the rows held out: an honest estimate. It takes about
#' `nfolds` times as long.
#'
#' @section The grid:
#' With `lambda2 = NULL` the grid refines itself in rounds. The first round is a coarse sweep: five
#' `lambda2` from 0.3 times [lambda_max()] at `lambda2 = 0` down to a hundredth of that, and 0, each
#' with about half of `nlambda1` values of `lambda1`. Each further round adds at most a third of the
#' paths that are left in the budget: with a larger `lambda2` if the best row or `lambda.stable` has
#' the largest one and a larger one would still change the map; with smaller `lambda1` if one of
#' them lies at the end of its path; between two `lambda2`, one of which has a row within one
#' standard error of the best; and between the `lambda1` of the paths of these two rows, as far as
#' they are within one standard error. It ends when a round does not change the two rows, or when
#' the budget `nlambda2` is spent (12 paths, if it is not given; a path is one `lambda2`, or an
#' addition to one). The columns of the grid are therefore not equally long; pictures take it as it
#' is. The last path of the budget goes through the penalties of `lambda.stable`, the centre of the
#' rows that [stable_rule()] weighs: the closest row of the other paths would jump from one to the
#' next. With a `lambda2` of your own the grid is fixed, and `lambda.stable` is its row closest to
#' the centre.
#'
#' With such a grid and a sign constraint it is also measured whether the subjects' means as a
#' covariate would improve the score: see *Scale* in [n2gfl()].
#'
#' @section Stability of the procedure:
#' The stability that [stability()] measures over the folds of a cross-validation belongs to fixed
#' penalties. Whoever repeats a study chooses penalties again, and the map depends on that choice:
#' the figure at fixed penalties is too kind. `nested = TRUE` measures the stability of the whole
#' procedure: every outer fold makes its own grid and chooses its own penalties, and `nested$maps`
#' are the maps that they would have reported. `nested$stability` has a row for each way to choose:
#' the number of features (median, `least`, `most`), [mDC()], Nogueira's measure with its interval,
#' Dice's, also of maps dilated by one neighbour, and [ES()]. `print()` and `summary()` show it
#' beside the accuracy, `plot(type = "tradeoff")` draws both, and `stability(nested = TRUE)` has all
#' measures.
#'
#' @section Parallel and interrupted runs:
#' Folds, repeats and outer folds run in parallel when a [future::plan()] is set; all plans give
#' identical results.
#'
#' With `checkpoint` each finished fold is written to that folder at once. The same call then
#' computes only what is missing and returns the same object; random folds are those of the first
#' call. A folder that belongs to other data or arguments is refused; damaged files are computed
#' again. The files hold plain numbers and text, and nothing in them is ever evaluated. Their
#' checksums detect damage, not tampering: anyone who can write to the folder can change the
#' results. Workers on other machines must see the folder under the same name.
#'
#' @section Memory:
#' Beyond `x` a run needs the coefficients of all folds (sparse), `nfolds` x L numbers for each
#' nonzero coefficient, and the working memory of one fit at a time, which grows with features and
#' edges, not with `x`. Forked workers (`plan(multicore)`) share `x`; those of `plan(multisession)`
#' and clusters need a copy each.
#'
#' @inheritSection n2gfl Progress
#' @param x,y,graph As in [n2gfl()].
#' @param ... Further arguments of [n2gfl()], such as `family`, `lambda1`, `lambda2`, `covariates`.
#' @param type.measure How held-out predictions are scored; `"deviance"` is the default for every
#'   family.
#'   * `"gaussian"`: `"mse"` (which is the deviance) or `"mae"`.
#'   * `"binomial"`: `"deviance"`, `"class"` (share of wrong classes), `"auc"` (area under the ROC
#'     curve; larger is better), `"mse"` and `"mae"` (summed over both classes, as in glmnet) or
#'     `"brier"`.
#'   * `"poisson"`: `"deviance"`, `"mse"` or `"mae"`.
#'   * `"cox"`: `"deviance"` or `"C"` (concordance within the stratum; larger is better). The
#'     deviance is the grouped one of `cv.glmnet()`: that of all rows minus that of the training
#'     rows, divided by the weight of the rows held out (glmnet before version 5 divided by that of
#'     the events held out). Every fold must have an event.
#'   * `"ordinal"`: `"deviance"`, `"class"`, `"mae"` (by how many levels the most probable one is
#'     wrong) or `"rps"` (ranked probability score: the mean over the cut points of the Brier score
#'     of "at most this level").
#'
#'   Probabilities are kept 1e-5 away from 0 and 1 for the deviance.
#' @param nfolds Number of folds, at least 2, when `foldid` is `NULL`. If it is not given and there
#'   are too few observations or groups, it is the largest number possible, with a message.
#' @param foldid The fold in which each row of `x` is held out, numbered from 1 without gaps, or a
#'   matrix with one column per repeat; `NULL` draws folds with [make_folds()].
#' @param group A vector with one value per row of `x`: rows with the same value, such as a
#'   subject's or a site's, stay in one fold.
#' @param nrepeats How many times to draw folds and cross-validate, when `foldid` is `NULL`. More
#'   than one steadies the choice of penalties: scores are averaged over the repeats, and stability
#'   is measured over the folds of all repeats; inside of outer folds as well.
#' @param nested Also compute an honest estimate of score and stability? See *Which penalties* and
#'   *Stability of the procedure*.
#' @param rule How `lambda.stable` is chosen, see [stable_rule()].
#' @param keep Keep the held-out predictions, as `fit.preval`?
#' @param checkpoint Name of a folder where finished folds are kept, or `NULL`. Use a folder that
#'   others can write to only if you trust them: see *Parallel and interrupted runs*.
#' @param trace.it 1 shows a progress bar on the message stream, in scripts too; see *Progress*. A
#'   cross-validation counts the paths to fit: one to all rows, one for each fold and, if `nested`,
#'   those of each outer fold, each as many times as `lambda2` has values when the package chooses
#'   them.
#' @return A list of class `n2gfl_cv`; L is the number of rows of `grid`.
#'   \item{cvm, cvsd, cvup, cvlo}{Mean score, its standard error, and the mean plus and minus it,
#'     one for each row of `grid`.}
#'   \item{nzero}{Nonzero coefficients of the fits to all data.}
#'   \item{grid}{The table of the fits to all data, see [n2gfl()].}
#'   \item{es, mdc}{Stability over the folds: a matrix with both forms of [ES()], and [mDC()].}
#'   \item{lambda.min, lambda.1se, lambda.es, lambda.stable}{Chosen penalties,
#'     `c(lambda1 = , lambda2 = )`.}
#'   \item{index}{Their rows of `grid`.}
#'   \item{stable, rule}{What limited `lambda.stable`: a list with the `share` of the features that
#'     the most stable of the accurate maps has, and the `reason` if there is no stable row (`"no
#'     evidence"` for any map, or the `"size"` of all of them); the rule.}
#'   \item{scale.check}{Where it was measured (see *The grid*) what the subjects' means as a
#'     covariate would gain: a list with the best scores `without` and `with` them, the `gain` and
#'     its standard error `se`, the `share` of the features' variance that the means explain, and
#'     whether a warning `advised` it.}
#'   \item{edge}{Which edges of the grid the best row lies on, and what to pass to extend it.}
#'   \item{type.measure, name}{The measure and its label.}
#'   \item{foldid}{The folds: a vector, or a matrix with one column per repeat.}
#'   \item{fold.fits}{For each fold (and repeat) a list with `a0`, `gamma`, `beta`, `gap` and
#'     `converged` at the rows of `grid`.}
#'   \item{fit.preval}{With `keep`: held-out linear predictors, a matrix with L columns, or an array
#'     whose third index is the repeat.}
#'   \item{held.out}{Held-out linear predictors at the chosen rows: a matrix with columns `min`,
#'     `1se`, `es` and `stable`, or an array whose third index is the repeat. [assess()] reads it.}
#'   \item{y, weights}{The response as numbers (for classes, 1 is the modelled class and 0 the other
#'     one; for ordered classes the number of the level; for times a matrix); the weights rescaled
#'     to mean 1 over the rows with a positive weight, or `NULL`.}
#'   \item{n2gfl.fit}{The fit to all data.}
#'   \item{nested}{With `nested`: a list with `estimate` (a data frame with the score `cvm` and its
#'     standard error `cvsd` for each way to choose), `stability` (see *Stability of the
#'     procedure*), `lambda` (what each outer fold chose), `link` (its held-out linear predictors),
#'     `maps` (for each way to choose a sparse matrix with one column per outer fold) and, for
#'     `"ordinal"`, `own` (its cut points).}
#' @references
#' Lim, C. and Yu, B. (2016). Estimation Stability with Cross-Validation (ESCV). *Journal of
#' Computational and Graphical Statistics* 25, 464--492.
#' @seealso [assess()], [make_folds()], [predict.n2gfl_cv()], [plot.n2gfl_cv()], [stability()].
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(60 * 30), 60)
#' y <- rowSums(x[, 5:9]) + rnorm(60)
#' cvfit <- cv.n2gfl(x, y, graph_chain(30), lambda2 = c(0.2, 0.02), nlambda1 = 10, nfolds = 5)
#' cvfit
#' cvfit$lambda.stable
#' @export
cv.n2gfl <- function(x, y, graph = NULL, ..., type.measure = "default", nfolds = 10, foldid = NULL,
                     group = NULL, nrepeats = 1, nested = FALSE, rule = stable_rule(),
                     keep = FALSE, checkpoint = NULL, trace.it = 0) {
  given <- check_dots(...)
  call <- call_without_data(match.call(), "cv.n2gfl")
  if (is.null(given$nlambda2)) given$nlambda2 <- default_budget
  problem <- check_problem(fit_arguments(c(list(x = x, y = y, graph = graph), given)))
  rule <- check_rule(rule)
  measure <- match_measure(type.measure, problem$control$family)
  nested <- check_flag(nested, "nested")
  keep <- check_flag(keep, "keep")
  trace <- check_trace(trace.it)
  group <- check_group(align_rows(group, "group", problem$rows), nrow(problem$data$x))
  foldid <- align_rows(foldid, "foldid", problem$rows)
  if (missing(nfolds) && is.null(foldid)) {
    nfolds <- default_nfolds(nfolds, problem, group, measure, nested)
  }
  folds <- check_folds(problem, nfolds, foldid, group, nrepeats, nested)
  about <- list(measure = measure, drawn = is.null(foldid))
  if (about$drawn) {
    family_of(problem$control$family)$check_folds(problem$data, group, folds, measure)
  }

  resumed <- resume_plan(new_plan("folds", folds), checkpoint,
                         cv_key(problem, folds, group, about, rule))
  plan <- resumed$plan
  how <- list(measure = measure, rule = rule)
  check_plan(problem, plan, about)
  outer <- if (nested) new_plan("outer folds", plan$from)
  if (nested) check_plan(problem, outer, about)
  measured <- has_scale_check(problem)
  pieces <- path_units(problem) * (plan_size(plan) + sum(plan_pieces(outer))) +
    measured * plan_size(plan)
  progress <- start_progress("Cross-validation", pieces, trace)
  on.exit(end_progress(progress), add = TRUE)
  cv <- cross_validate(problem_at(problem), plan, how, resumed$store, progress)
  check <- if (measured) scale_check(cv, problem, plan, how, resumed$store, progress)
  warn_wrong_sign(cv$full$effects, problem)
  advise_scale(check, problem, how)
  warn_not_converged(cv$full, problem$control)
  warn_folds_not_converged(cv$folds)
  object <- new_cv(cv, problem, plan$from$foldid, how, keep, call)
  object$scale.check <- check
  if (nested) object$nested <- nested_cv(problem, outer, how, resumed$store, progress)
  object
}

# Arguments for n2gfl() in `...`: a misspelt one is an error instead of being ignored.
check_dots <- function(...) {
  given <- list(...)
  known <- setdiff(fit_argument_names(), c("graph", "trace.it"))
  names <- if (is.null(names(given))) rep("", length(given)) else names(given)
  bad <- which(!names %in% known)
  own <- names(formals(sys.function(sys.parent())))
  if (length(bad)) stop_unknown_argument(given[bad], c(known, own))
  if (anyDuplicated(names)) {
    stop_bad("`...` must hold each argument of n2gfl() once, but `",
             names[anyDuplicated(names)], "` is given more than once.")
  }
  given
}

# The same message for n2gfl() itself and for functions that pass their `...` on to it.
stop_unknown_argument <- function(given, known) {
  what <- unknown_argument(given, known, "one without a name")
  stop_bad("`...` must hold arguments of n2gfl() by name, but there is ", what,
           if (!endsWith(what, "?")) ".")
}

# ---- the object ----------------------------------------------------------------------------------

new_cv <- function(cv, problem, foldid, how, keep, call) {
  fit <- new_fit(cv$full, problem, fit_call(call))
  lambda <- function(row) unlist(fit$grid[row, c("lambda1", "lambda2")])
  repeats <- ncol(foldid)
  structure(
    list(call = call, grid = fit$grid, cvm = cv$cvm, cvsd = cv$cvsd, cvup = cv$cvm + cv$cvsd,
         cvlo = cv$cvm - cv$cvsd, nzero = fit$grid$nonzero, es = cv$es, mdc = cv$mdc,
         lambda.min = lambda(cv$index[["min"]]), lambda.1se = lambda(cv$index[["1se"]]),
         lambda.es = lambda(cv$index[["es"]]), lambda.stable = lambda(cv$index[["stable"]]),
         index = cv$index, stable = cv$stable, rule = how$rule,
         edge = grid_edges(fit$grid, cv$index[["min"]], made = !length(problem$lambda1)),
         type.measure = how$measure,
         name = measure_label(how$measure, fit$family), foldid = drop(foldid),
         fold.fits = lapply(cv$folds, run_fields),
         fit.preval = if (keep) if (repeats > 1) cv$links else matrix(cv$links, nrow(cv$links)),
         held.out = chosen_links(cv$links, cv$index),
         y = family_of(fit$family)$numbers(problem$data$y),
         weights = if (problem$weighted) problem$data$weights, n2gfl.fit = fit, nested = NULL),
    class = "n2gfl_cv"
  )
}

# What assess() needs. It is small, so it is always kept.
chosen_links <- function(links, index) {
  chosen <- links[, index, , drop = FALSE]
  dimnames(chosen) <- list(NULL, names(index), NULL)
  if (dim(chosen)[3] > 1) return(chosen)
  matrix(chosen, nrow(chosen), dimnames = dimnames(chosen)[1:2])
}
