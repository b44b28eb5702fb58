#' Cross-validation for n2gfl
#'
#' Fits the path of [n2gfl()] once on all data and once for each fold without its rows, scores the
#' held-out predictions, and picks penalties: the best score, the sparsest fit that is as good
#' within one standard error, and the most stable one.
#'
#' @details
#' The grid of penalties comes from all data and is shared by the folds. A fold is a set of
#' observation weights that are 0 for the rows held out: neither `x` nor its rows are copied, and
#' centring, scaling, screening and the coding of covariates use the training rows only.
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
#' * `lambda.es`: the most stable row, by the estimation stability [ES()] in its "fit" form on
#'   centred `x`, among those within one standard error of the best that have no more regions than
#'   `lambda.min`. It often selects the same features again when the data change a little, and costs
#'   at most one standard error of accuracy. Check its number of features: a map that contains all
#'   features is stable, too.
#'
#' `coef()`, `predict()`, maps, tables and pictures use `lambda.min` unless `s` or `row` is given.
#' (glmnet uses `lambda.1se`. With fusion the sparsest row is the one with the fewest regions, which
#' can be a single region with more features than `lambda.min` has; `print()` says when that is so.)
#'
#' The best score on a grid is optimistically biased, since the same held-out data chose it.
#' `nested = TRUE` repeats the whole procedure, grid and choice of penalties included, inside each
#' fold's training rows and scores it on the rows held out: an honest estimate. It takes about
#' `nfolds` times as long.
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
#' @param nrepeats How many times to draw folds and cross-validate, when `foldid` is `NULL`.
#' @param nested Also compute an honest estimate of the score? See *Which penalties*.
#' @param keep Keep the held-out predictions, as `fit.preval`?
#' @param checkpoint Name of a folder where finished folds are kept, or `NULL`. Use a folder that
#'   others can write to only if you trust them: see *Parallel and interrupted runs*.
#' @param trace.it 1 shows a progress bar on the message stream, in scripts too; see *Progress*. A
#'   cross-validation counts the paths to fit: one to all rows, one for each fold and, if `nested`,
#'   those of each outer fold.
#' @return A list of class `n2gfl_cv`; L is the number of rows of `grid`.
#'   \item{cvm, cvsd, cvup, cvlo}{Mean score, its standard error, and the mean plus and minus it,
#'     one for each row of `grid`.}
#'   \item{nzero}{Nonzero coefficients of the fits to all data.}
#'   \item{grid}{The table of the fits to all data, see [n2gfl()].}
#'   \item{es, mdc}{Stability over the folds: a matrix with both forms of [ES()], and [mDC()].}
#'   \item{lambda.min, lambda.1se, lambda.es}{Chosen penalties, `c(lambda1 = , lambda2 = )`.}
#'   \item{index}{Their rows of `grid`.}
#'   \item{edge}{Which edges of the grid the best row lies on, and what to pass to extend it.}
#'   \item{type.measure, name}{The measure and its label.}
#'   \item{foldid}{The folds: a vector, or a matrix with one column per repeat.}
#'   \item{fold.fits}{For each fold (and repeat) a list with `a0`, `gamma`, `beta`, `gap` and
#'     `converged` at the rows of `grid`.}
#'   \item{fit.preval}{With `keep`: held-out linear predictors, a matrix with L columns, or an array
#'     whose third index is the repeat.}
#'   \item{held.out}{Held-out linear predictors at the chosen rows: a matrix with columns `min`,
#'     `1se` and `es`, or an array whose third index is the repeat. [assess()] reads it.}
#'   \item{y, weights}{The response as numbers (for classes, 1 is the modelled class and 0 the other
#'     one; for ordered classes the number of the level; for times a matrix); the weights rescaled
#'     to mean 1, or `NULL`.}
#'   \item{n2gfl.fit}{The fit to all data.}
#'   \item{nested}{With `nested`: a list with `estimate` (a data frame with the score `cvm` and its
#'     standard error `cvsd` for each way to choose), `lambda` (what each outer fold chose), `link`
#'     (its held-out linear predictors) and, for `"ordinal"`, `own` (its cut points).}
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
#' cvfit$lambda.1se
#' @export
cv.n2gfl <- function(x, y, graph = NULL, ..., type.measure = "default", nfolds = 10, foldid = NULL,
                     group = NULL, nrepeats = 1, nested = FALSE, keep = FALSE, checkpoint = NULL,
                     trace.it = 0) {
  given <- check_dots(...)
  call <- call_without_data(match.call(), "cv.n2gfl")
  problem <- check_problem(fit_arguments(c(list(x = x, y = y, graph = graph), given)))
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
                         cv_key(problem, folds, group, about))
  plan <- resumed$plan
  check_plan(problem, plan, about)
  outer <- if (nested) new_plan("outer folds", plan$from)
  if (nested) check_plan(problem, outer, about)
  pieces <- 1 + sum(plan_pieces(plan), plan_pieces(outer))
  progress <- start_progress("Cross-validation", pieces, trace)
  on.exit(end_progress(progress), add = TRUE)
  cv <- cross_validate(problem_at(problem), plan, measure, resumed$store, progress)
  warn_wrong_sign(cv$full$effects, problem)
  warn_common_scale(problem)
  warn_not_converged(cv$full, problem$control)
  warn_folds_not_converged(cv$folds)
  object <- new_cv(cv, problem, plan$from$foldid, measure, keep, call)
  if (nested) object$nested <- nested_cv(problem, outer, measure, resumed$store, progress)
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

# ---- folds ---------------------------------------------------------------------------------------

# list(foldid = N x repeats, inner = NULL or, for each outer fold, the folds inside it): what the
# plans of folds and outer folds are made from. All random numbers are drawn here, before any work.
check_folds <- function(problem, nfolds, foldid, group, nrepeats, nested) {
  n <- nrow(problem$data$x)
  nrepeats <- check_count(nrepeats, "nrepeats")
  strata <- problem_strata(problem)
  used <- problem$data$weights > 0
  if (is.null(foldid)) {
    nfolds <- check_nfolds(nfolds, sum(used), if (!all(used)) " with a positive weight")
    foldid <- matrix(replicate(nrepeats, weighted_folds(strata, nfolds, group, used)), n)
  } else {
    foldid <- check_foldid(foldid, n, group)
    if (nrepeats > 1 && nrepeats != ncol(foldid)) {
      stop_bad("`nrepeats` must be the number of columns of `foldid` (", ncol(foldid),
               ") when that is given, not ", nrepeats, ".")
    }
  }
  inner <- if (nested) inner_folds(strata, foldid[, 1], group, used)
  list(foldid = foldid, inner = inner)
}

# For each outer fold, the inner folds of its training rows: as many as there are outer folds, or as
# many as there are rows or groups; 0 = held out.
inner_folds <- function(strata, foldid, group, used) {
  lapply(seq_len(max(foldid)), function(k) {
    train <- which(foldid != k)
    inner <- integer(length(strata))
    within <- if (!is.null(group)) droplevels(group[train])
    most <- if (is.null(within)) sum(used[train]) else length(unique(within[used[train]]))
    if (most < 2) {
      stop_bad("`nested` needs 2 ", if (is.null(group)) "rows with a positive weight" else "groups",
               " or more outside of every fold, but without fold ", k, " there is only ",
               if (is.null(group)) most else quoted(unique(within[used[train]])), ".")
    }
    inner[train] <- weighted_folds(strata[train], min(max(foldid), most), within, used[train])
    inner
  })
}

# The default number of folds, or fewer if there are too few observations (or groups), or if the
# family needs fewer.
default_nfolds <- function(nfolds, problem, group, measure, nested) {
  used <- problem$data$weights > 0
  noun <- if (is.null(group)) "observation" else "group"
  most <- if (is.null(group)) sum(used) else length(unique(group[used]))
  if (most < 2) stop_bad("`group` must have at least 2 different values, but it has 1.")
  why <- paste("there are only", count_of(most, noun))
  limit <- family_of(problem$control$family)$most_folds(problem$data, group, measure, nested)
  if (!is.null(limit)) {
    most <- limit$most
    why <- limit$why
  }
  if (most >= nfolds) return(nfolds)
  message("`nfolds` is ", most, " instead of the default ", nfolds, ", because ", why, ".")
  most
}

# Finds what would stop the work halfway, or make a score NaN, before the work begins. `about`: how
# folds are scored (`measure`), and whether they were `drawn`. `where` is " inside fold 2" for folds
# among the rows that `weights` leave there.
check_fold_runs <- function(problem, plan, about, weights = problem$data$weights, where = "") {
  used <- weights > 0
  family <- family_of(problem$control$family)
  for (run in plan$runs) {
    name <- paste0(run$fold, where)
    if (!any(used[run$held])) {
      stop_bad(fold_argument(about), " must put a row with a positive weight into every fold, ",
               "but fold ", name, " has none.")
    }
    family$check_fold(problem$data, new_fold_check(used, run$held, about, name))
    check_fold_view(problem, run_weights(run, weights), name)
  }
}

check_outer_runs <- function(problem, plan, about) {
  for (k in seq_along(plan$runs)) {
    run <- plan$runs[[k]]
    check_fold_runs(problem, run$inner, about, run_weights(run, problem$data$weights),
                    paste(" inside fold", k))
  }
}

# The argument that determined the folds, and that must change if they cannot be used.
fold_argument <- function(about) if (about$drawn) "`nfolds`" else "`foldid`"

# What a family gets to check of a fold: which rows are left for training and which are `held` out,
# how they are scored, and for messages the fold's name, the argument that determined it and whether
# it was drawn.
new_fold_check <- function(used, held, about, name) {
  out <- seq_along(used) %in% held
  list(train = used & !out, held = used & out, measure = about$measure, drawn = about$drawn,
       argument = fold_argument(about), name = name)
}

# A covariate that varies in one fold only, such as the indicator of a small site, is constant
# without this fold. Controls that `deconfound` needs can also be missing.
check_fold_view <- function(problem, weights, name) {
  tryCatch({
    view <- problem_at(problem, weights, paste("fold", name))
    check_rank(view$data$covariates, view$data$y, weights, view$control)
  }, error = function(e) stop_bad("Without fold ", name, ", ", conditionMessage(e)))
}

cv_key <- function(problem, folds, group, about) {
  work_key(problem[c("data", "control", "lambda1", "lambda2")], about$measure, about$drawn,
           if (about$drawn) list(dim(folds$foldid), max(folds$foldid)) else folds$foldid,
           is.null(folds$inner), as.integer(group))
}

# ---- the work ------------------------------------------------------------------------------------

# The fit to all rows of a view, the fits without each fold, and what they choose.
cross_validate <- function(view, plan, measure, store = NULL, progress = NULL, alive = "") {
  full <- fit_all_rows(view, store, progress, alive)
  folds <- run_plan(view, plan, fit_fold, grid = full[c("lambda1", "lambda2")], measure = measure,
                    weights = view$data$weights, checkpoint = store, progress = progress,
                    alive = alive)
  links <- held_out_links(folds, plan, length(full$lambda1))
  foldid <- plan$from$foldid
  scores <- lapply(seq_len(ncol(foldid)), function(k) {
    used <- foldid[, k] > 0
    fold_scores(measure, matrix(links[used, , k], sum(used)),
                response_rows(view$data$y, used), view$data$weights[used], foldid[used, k],
                view$control$family, folds[repeat_of(plan) == k])
  })
  choose_penalties(list(full = full, folds = folds, links = links, scores = scores), view, measure)
}

# `weights`: those of the problem of which `view` leaves the fold out.
fit_fold <- function(view, run, grid, measure, weights, alive, inside = NULL) {
  fits <- solve_view(view, grid, path_callback(inside), alive)
  c(run_fields(fits), list(held = run$held, link = view_link(view, fits, run$held),
                           score = score_run(measure, view, run, fits, weights)))
}

# The linear predictor of some rows of a view, one column per fit.
view_link <- function(view, fits, rows) {
  data <- view$data
  unname(linear_predictor(fits, data$x, data$covariates, data$offset, rows, data$map))
}

# N x L x repeats: each row predicted by the fits that have not seen it.
held_out_links <- function(folds, plan, rows) {
  foldid <- plan$from$foldid
  links <- array(NA_real_, c(nrow(foldid), rows, ncol(foldid)))
  which_repeat <- repeat_of(plan)
  for (k in seq_along(folds)) links[folds[[k]]$held, , which_repeat[k]] <- folds[[k]]$link
  links
}

# The repeat to which each run belongs.
repeat_of <- function(plan) vapply(plan$runs, `[[`, 1L, "repetition")

# ---- the choice ----------------------------------------------------------------------------------

# Adds scores, stability over the folds, and the rows of the grid that these choose.
choose_penalties <- function(cv, view, measure) {
  score <- summarise_scores(cv$scores)
  stable <- stability_columns(cv$folds, view, lapply(cv$folds, `[[`, "held"))
  larger <- larger_is_better(measure)
  best <- best_row(score$cvm, cv$full, larger)
  index <- c(
    min = best, `1se` = sparsest_row(within_one_se(score, best, larger), cv$full),
    es = choose_es(score$cvm, score$cvsd, as.data.frame(cv$full[c("lambda1", "lambda2", "df")]),
                   best, unname(stable$es[, "fit"]), larger)
  )
  c(cv, score, stable, list(index = index))
}

# Ties go to the larger lambda2, then to the larger lambda1.
best_row <- function(cvm, grid, larger) {
  best <- which(cvm == if (larger) max(cvm) else min(cvm))
  best[order(-grid$lambda2[best], -grid$lambda1[best])[1]]
}

within_one_se <- function(score, best, larger) {
  worse <- if (larger) score$cvm[best] - score$cvm else score$cvm - score$cvm[best]
  which(worse <= score$cvsd[best])
}

# Fewer regions, then fewer features, then the larger lambda2, then the larger lambda1.
sparsest_row <- function(rows, grid) {
  rows[order(grid$df[rows], grid$nonzero[rows], -grid$lambda2[rows], -grid$lambda1[rows])[1]]
}

# The edges of the grid on which the best row lies, named, with a value to try beyond each of them.
# `made`: was the sequence of lambda1 made? Only then lambda.min.ratio has an effect.
grid_edges <- function(grid, best, made = TRUE) {
  # If the best model is empty, larger penalties give the same model.
  filled <- grid$nonzero[best] > 0
  lambda2 <- grid$lambda2[best]
  first <- sort(grid$lambda1[grid$lambda2 == lambda2])
  second <- sort(unique(grid$lambda2))
  here <- grid$lambda1[best]
  several <- length(first) > 1
  c(
    `largest lambda1` = if (several && here == max(first) && filled)
      paste("try lambda1 up to", number_text(beyond(rev(first)))),
    `smallest lambda1` = if (several && here == min(first) && here > 0)
      paste0("try lambda1 down to ", number_text(beyond(first, 5)), if (made) {
        paste0(" (lambda.min.ratio = ", number_text(signif(beyond(first, 5) / max(first), 2)), ")")
      }),
    `largest lambda2` = if (any(second < lambda2) && lambda2 == max(second) && filled)
      paste("try lambda2 up to", number_text(beyond(rev(second)))),
    `smallest lambda2` = if (any(second > lambda2) && lambda2 == min(second) && lambda2 > 0)
      paste("try lambda2 down to", number_text(beyond(second)))
  )
}

# Extends a sequence beyond its first value, by the ratio of its first two values or by `least`,
# whichever goes further; two significant digits.
beyond <- function(values, least = 2) {
  ratio <- values[1] / values[2]
  if (!is.finite(ratio)) ratio <- least
  ratio <- if (ratio > 1) max(ratio, least) else min(ratio, 1 / least)
  signif(values[1] * ratio, 2)
}

# ---- the object ----------------------------------------------------------------------------------

new_cv <- function(cv, problem, foldid, measure, keep, call) {
  fit <- new_fit(cv$full, problem, fit_call(call))
  lambda <- function(row) unlist(fit$grid[row, c("lambda1", "lambda2")])
  repeats <- ncol(foldid)
  structure(
    list(call = call, grid = fit$grid, cvm = cv$cvm, cvsd = cv$cvsd, cvup = cv$cvm + cv$cvsd,
         cvlo = cv$cvm - cv$cvsd, nzero = fit$grid$nonzero, es = cv$es, mdc = cv$mdc,
         lambda.min = lambda(cv$index[["min"]]), lambda.1se = lambda(cv$index[["1se"]]),
         lambda.es = lambda(cv$index[["es"]]), index = cv$index,
         edge = grid_edges(fit$grid, cv$index[["min"]], made = !length(problem$lambda1)),
         type.measure = measure,
         name = measure_label(measure, fit$family), foldid = drop(foldid),
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

warn_folds_not_converged <- function(folds, nouns = "folds", kept = TRUE) {
  text <- not_converged_text(folds, nouns)
  if (!is.null(text)) {
    warning("Fits did not converge: ", text, if (kept) "; their gaps are in `fold.fits`", ".",
            call. = FALSE)
  }
}

warn_outer_not_converged <- function(outer) {
  text <- unlist(lapply(outer, `[[`, "not_converged"))
  if (!is.null(text)) {
    warning("Fits inside outer folds did not converge: ",
            paste0(names(text), " (", text, ")", collapse = "; "), ".", call. = FALSE)
  }
}

# Which rows of which fits, or NULL. `nouns`: what the fits belong to.
not_converged_text <- function(fits, nouns = "folds") {
  failed <- lapply(fits, function(fit) which(!fit$converged))
  failed <- failed[lengths(failed) > 0]
  if (!length(failed)) return(NULL)
  shown <- utils::head(failed, 5)
  paste0(paste0(names(shown), ifelse(lengths(shown) == 1, " row ", " rows "),
                vapply(shown, some_numbers, ""), collapse = ", "),
         if (length(failed) > 5) paste(" and", length(failed) - 5, "more", nouns))
}

some_numbers <- function(values) {
  paste(c(utils::head(values, 5), if (length(values) > 5) "..."), collapse = ", ")
}

# ---- nested --------------------------------------------------------------------------------------

# The whole procedure inside the training rows of each outer fold, scored on the rows held out.
nested_cv <- function(problem, plan, measure, store, progress) {
  outer <- run_plan(problem, plan, fit_outer_fold, measure = measure,
                    weights = problem$data$weights, checkpoint = store, progress = progress)
  warn_outer_not_converged(outer)
  foldid <- plan$from$foldid[, 1]
  link <- matrix(NA_real_, length(foldid), 3, dimnames = list(NULL, c("min", "1se", "es")))
  for (k in seq_along(outer)) link[plan$runs[[k]]$held, ] <- outer[[k]]$link
  scores <- fold_scores(measure, link, problem$data$y, problem$data$weights, foldid,
                        problem$control$family, outer)
  lambda <- do.call(rbind, lapply(seq_along(outer), function(k) {
    data.frame(fold = k, choice = colnames(link), as.data.frame(outer[[k]]$chosen))
  }))
  own <- lapply(outer, function(fold) {
    if (!is.null(fold$own)) matrix(fold$own, ncol = 3, dimnames = list(NULL, colnames(link)))
  })
  c(list(estimate = data.frame(summarise_scores(list(scores)), row.names = colnames(link)),
         lambda = lambda, link = link), if (!is.null(own[[1]])) list(own = unname(own)))
}

fit_outer_fold <- function(view, run, measure, weights, alive, inside = NULL) {
  cv <- cross_validate(view, run$inner, measure, progress = part_progress(inside), alive = alive)
  chosen <- list(a0 = cv$full$a0[cv$index], gamma = cv$full$gamma[, cv$index, drop = FALSE],
                 beta = cv$full$beta[, cv$index, drop = FALSE],
                 own = cv$full$own[, cv$index, drop = FALSE], sites = cv$full$sites)
  list(link = view_link(view, chosen, run$held), own = chosen$own,
       score = score_run(measure, view, run, chosen, weights),
       not_converged = not_converged_text(c(list(`All rows` = cv$full), cv$folds)),
       chosen = lapply(cv$full[c("lambda1", "lambda2", "df", "nonzero")], `[`, cv$index))
}
