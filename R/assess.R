#' How good are the predictions?
#'
#' Scores the predictions of observations that the fits have not seen, with confidence intervals:
#' the held-out predictions of a cross-validation, or those of new data. For two classes accuracy,
#' area under the ROC curve, Brier score, confusion matrix, ROC curve and calibration; for numbers
#' \eqn{R^2}, errors, correlation and calibration; for ordered classes accuracy, errors in levels,
#' ranked probability score and confusion matrix; for times to an event concordance and calibration.
#'
#' @details
#' **Which predictions.** [cv.n2gfl()] keeps the held-out predictions at the rows of the grid that
#' it chooses, so `assess(cvfit)` needs no data. With `nested = TRUE` in the cross-validation these
#' are the predictions of the outer folds, which had no part in the choice of the penalties: an
#' honest assessment of the whole procedure. Otherwise the row was chosen by the same held-out
#' data, and the figures are optimistically biased; a note says so. Other rows of the grid need
#' `cv.n2gfl(keep = TRUE)`. With `newx` and `newy` the fit to all data is applied to new data, an
#' external validation.
#'
#' All held-out predictions are scored together. The scores in the cross-validation itself are means
#' over folds, which differs a little for the AUC and RMSE.
#'
#' **Weak models.** The intercept of each fold's fit is too small where the outcomes held out are
#' large, because these are missing in its mean. That biases the AUC, the correlation and the
#' calibration slope of all folds together downwards if the fits predict little else: leaving one
#' out with fits that select nothing gives an AUC of 0. So these measures are `NA`, and the ROC
#' curve has no rows, if the intercepts matter more than the features: if the median difference
#' between a prediction and its fold's intercept (the mean outcome of the other folds, for classes
#' its logit) is at most the standard deviation of these intercepts. A note then gives the AUC or
#' correlation within folds (of pairs of observations of one fold; of differences from the fold's
#' means), where intercepts cancel; folds of one observation have no such score. The same note is
#' given if the interval includes chance or lies below it, or if both scores differ by more than
#' the standard error. `NA` is more frequent for weak models: a mean over several assessments that
#' leaves out `NA` is too good.
#'
#' **Measures for classes.** `accuracy`, `sensitivity` (of the modelled class), `specificity` and
#' `balanced` (the mean of these two) are for the `threshold`; `auc` and `brier` (mean squared error
#' of the probability) are not. `intercept` and `slope` describe calibration: the intercept of a
#' logistic regression on the linear predictor with its slope fixed at 1 (0 is ideal; above 0,
#' probabilities are too small on average), and the slope when it is not fixed (1 is ideal; below 1,
#' probabilities are too extreme, above 1 too close to the mean, as is usual for shrunken fits).
#'
#' **Measures for numbers.** `r.squared` (1 minus the mean squared error divided by the variance of
#' the response), `rmse`, `mae`, `correlation`, and `intercept` (mean of observed minus predicted)
#' and `slope` of observed on predicted values.
#'
#' **Measures for ordered classes.** `accuracy` of the most probable level, `mae` (by how many
#' levels that is wrong, on average) and `rps` (ranked probability score: the mean over the cut
#' points of the Brier score of "at most this level").
#'
#' **Measures for times.** `concordance` (the share of pairs of an event and an observation with a
#' longer time in which the event has the higher predicted risk; ties count half) and `slope`, the
#' coefficient of a Cox regression on the linear predictor (1 is ideal, below 1 predictions are too
#' extreme). Observations are compared within their stratum and, held out, within their fold: the
#' linear predictors of different folds have different zeros. So folds of one observation give
#' neither.
#'
#' **Intervals.** Wilson's for accuracy, sensitivity, specificity and the shares in tables and
#' curves; for balanced accuracy the two Wilson intervals are combined by Newcombe's
#' square-and-add rule; DeLong's for the AUC; normal ones for the Brier score, \eqn{R^2} (delta
#' method), MAE and the mean squared error, whose root gives the RMSE's; Fisher's z for the
#' correlation; those of (logistic or Cox) regression for intercept and slope; for the ranked
#' probability score a normal one, and for the concordance one from the infinitesimal jackknife, as
#' in `survival::concordance()`. They assume independent
#' observations and take the fits as fixed: they do not include the uncertainty of training again on
#' other data, and they are too narrow for several rows of one `group`, such as two scans of a
#' subject.
#' * *Weights*: measures are weighted. Intervals use the effective number of observations,
#'   \eqn{(\sum w)^2 / \sum w^2}{sum(w)^2 / sum(w^2)} (for means and the AUC, weighted variances).
#'   Observations of weight 0 are left out.
#' * *Repeats*: measures are means over the repeats; curves and tables pool them, each with an equal
#'   share. Repeats share the observations, so the intervals are as wide as those of one repeat
#'   (variances are averaged, not divided).
#' @param object A cross-validation from [cv.n2gfl()], or a fit from [n2gfl()], which needs `newx`
#'   and `newy`.
#' @param newx,newy New data, see [predict.n2gfl()], and their response, coded as `y` was. For
#'   images with a table of their subjects `newy` can also be the name of a column or a formula, as
#'   in [n2gfl()]; covariates are taken from that table as the fit needs them. `NULL` for the
#'   held-out predictions.
#' @param s,row Which row of the grid, see [coef.n2gfl()]: one. For a cross-validation
#'   `"lambda.min"`, `"lambda.1se"`, `"lambda.es"` or `"lambda.stable"`, the default.
#' @param nested Use the predictions of the outer folds? By default, if the cross-validation has
#'   them and the row is not given by a number.
#' @param threshold The modelled class is predicted where its probability exceeds this. For classes
#'   only.
#' @param level Confidence level of the intervals.
#' @param bins Number of bins in the calibration table, each with about the same number of
#'   predictions; `NULL` is one for every 20 observations, but at least 3 and at most 10.
#' @param newcovariates,newoffset,newweights Covariates, offset and weights of new data; the first
#'   two are needed if the fit had them.
#' @param newdata,newscale What else [predict()][predict.n2gfl] needs of new data.
#' @param ... Must be empty.
#' @return A list of class `n2gfl_assessment`, which is printed and drawn
#'   ([plot()][plot.n2gfl_assessment]):
#'   \item{measures}{A data frame with the columns `measure`, `estimate`, `lower` and `upper`.}
#'   \item{confusion}{For classes, ordered or not: a data frame with `predicted` and `observed`
#'     class and their number `n` (sum of weights, mean over repeats).}
#'   \item{roc}{For classes: a data frame with a row for each threshold (a probability that exceeds
#'     it predicts the modelled class): `threshold`, `sensitivity` and `specificity`, with
#'     `.lower` and `.upper` limits. No rows for weak models, see *Details*.}
#'   \item{calibration}{For numbers and two classes: a data frame with a row for each bin: its
#'     limits `from` and `to`, the number `n` of its observations, mean `predicted` and `observed`
#'     values, the latter with limits `lower` and `upper`.}
#'   \item{survival}{For times: the Kaplan-Meier curves of the thirds of the rows with `low`,
#'     `middle` and `high` predicted `risk` within their fold and stratum, a data frame with a row
#'     for each `time`: the share `survival` without the event after it, and whether rows are
#'     `censored` then (all repeats in one).}
#'   \item{predictions}{A data frame with `row`, `repetition`, `observed` and `predicted` values
#'     (for two classes 0 or 1, and the probability of 1; for ordered classes the number of the
#'     level and of the most probable one; for times the columns `time`, `status` and, as
#'     `predicted`, the linear predictor) and `weight`.}
#'   \item{source, choice, notes}{`"held out"`, `"nested"` or `"new data"`; the row of the grid;
#'     what to bear in mind.}
#'   \item{family, classnames, nobs, repeats, threshold, level, title}{What was assessed, and how.}
#' @references
#' DeLong, E. R., DeLong, D. M. and Clarke-Pearson, D. L. (1988). Comparing the Areas under Two or
#' More Correlated Receiver Operating Characteristic Curves: A Nonparametric Approach. *Biometrics*
#' 44, 837--845.
#'
#' Newcombe, R. G. (1998). Interval Estimation for the Difference between Independent Proportions:
#' Comparison of Eleven Methods. *Statistics in Medicine* 17, 873--890.
#'
#' Wilson, E. B. (1927). Probable Inference, the Law of Succession, and Statistical Inference.
#' *Journal of the American Statistical Association* 22, 209--212.
#' @seealso [cv.n2gfl()], [plot.n2gfl_assessment()]
#' @examples
#' set.seed(1)
#' cohort <- simulate_cohort(n = 120, dim = c(12, 12))
#' train <- 1:80
#' cvfit <- cv.n2gfl(cohort$x[train, ], cohort$y[train], cohort$graph, family = "binomial",
#'                   nlambda1 = 10, nlambda2 = 2, nfolds = 5, nested = TRUE)
#' held_out <- assess(cvfit)
#' held_out
#' held_out$calibration
#' plot(held_out)
#'
#' # On data that had no part in the fit
#' assess(cvfit, cohort$x[-train, ], cohort$y[-train])
#' @export
assess <- function(object, ...) UseMethod("assess")

#' @rdname assess
#' @export
assess.n2gfl_cv <- function(object, newx = NULL, newy = NULL, s = NULL, row = NULL, nested = NULL,
                            threshold = 0.5, level = 0.95, bins = NULL, newcovariates = NULL,
                            newoffset = NULL, newweights = NULL, newdata = NULL, newscale = NULL,
                            ...) {
  check_no_dots(list(...))
  check_assessed(full_fit(object), !missing(threshold))
  settings <- assess_settings(threshold, level, bins)
  is_new <- !is.null(newx) || !is.null(newy)
  if (is_new && !is.null(nested)) stop_bad("`nested` must not be given together with `newx`.")
  sample <- if (is_new) {
    new_sample(object, newx, newy, s, row, newcovariates, newoffset, newweights, newdata, newscale)
  } else {
    check_only_new(newcovariates = newcovariates, newoffset = newoffset, newweights = newweights,
                   newdata = newdata, newscale = newscale)
    held_out_sample(object, s, row, nested)
  }
  new_assessment(sample, full_fit(object), settings)
}

#' @rdname assess
#' @export
assess.n2gfl <- function(object, newx = NULL, newy = NULL, s = NULL, row = NULL, threshold = 0.5,
                         level = 0.95, bins = NULL, newcovariates = NULL, newoffset = NULL,
                         newweights = NULL, newdata = NULL, newscale = NULL, ...) {
  check_no_dots(list(...))
  check_assessed(full_fit(object), !missing(threshold))
  settings <- assess_settings(threshold, level, bins)
  if (is.null(newx) && is.null(newy)) {
    stop_bad("`newx` and `newy` must be given for a fit from n2gfl(), which has no held-out ",
             "predictions; cv.n2gfl() makes them.")
  }
  sample <- new_sample(object, newx, newy, s, row, newcovariates, newoffset, newweights, newdata,
                       newscale)
  new_assessment(sample, object, settings)
}

#' @export
assess.default <- function(object, ...) {
  stop_bad("`object` must be a fit from n2gfl() or cv.n2gfl(), not ", describe(object), ".")
}

assess_settings <- function(threshold, level, bins) {
  list(threshold = check_ratio(threshold, "threshold"), level = check_ratio(level, "level"),
       bins = if (!is.null(bins)) check_count(bins, "bins", 2L))
}

# Is there something to assess, and a threshold if one was given?
check_assessed <- function(fit, threshold) {
  kind <- assess_kind(fit$family)
  if (threshold && !kind$threshold) {
    stop_bad("`threshold` must not be given for family ", quoted(fit$family), ", which predicts ",
             family_of(fit$family)$outcome, ", not classes.")
  }
}

check_only_new <- function(...) {
  given <- Filter(Negate(is.null), list(...))
  if (length(given)) stop_bad("`", names(given)[1], "` must not be given without `newx`.")
}

# ---- which predictions ---------------------------------------------------------------------------

# A sample to assess: `link` (N x repeats), `y` and `weights` (all 1 if there are none) of the rows
# with weight, their numbers `row`, and where they come from: `source`, `choice` (text), `title`
# (for pictures), `notes`; `fold` (N x repeats) if they are held-out predictions. `own`: for each
# repeat the family's parameters for each row, one column per row, or NULL if it has none.
new_assess_sample <- function(link, y, weights, source, choice, title, notes = NULL, fold = NULL,
                              own = NULL) {
  used <- if (is.null(weights)) rep(TRUE, NROW(y)) else weights > 0
  list(link = link[used, , drop = FALSE], y = response_rows(y, used), row = which(used),
       weights = if (is.null(weights)) rep(1, NROW(y)) else weights[used],
       weighted = !is.null(weights), source = source, choice = choice, title = title,
       notes = notes, fold = if (!is.null(fold)) as.matrix(fold)[used, , drop = FALSE],
       own = lapply(own, function(own) own[, used, drop = FALSE]))
}

held_out_sample <- function(object, s, row, nested) {
  if (is.null(object$y) || is.null(object$held.out)) {
    stop_bad("`object` must hold `y` and its held-out predictions, but it was made by an older ",
             "version of the package: run cv.n2gfl() again, or give `newx` and `newy`.")
  }
  by_name <- is.null(row) && (is.null(s) || is.character(s))
  at <- map_row(object, s, row)
  if (use_nested(nested, object, by_name)) {
    chosen <- match_choice_name(s %or% usual_choice(object))
    column <- sub("lambda.", "", chosen, fixed = TRUE)
    fold <- as.matrix(object$foldid)[, 1, drop = FALSE]
    return(new_assess_sample(unname(object$nested$link[, column, drop = FALSE]), object$y,
                             object$weights, "nested", chosen, paste0(chosen, ", nested"),
                             fold = fold, own = own_of_rows(object$nested$own, column, fold)))
  }
  own <- lapply(object$fold.fits, `[[`, "own")
  new_assess_sample(kept_links(object, at), object$y, object$weights, "held out",
                    choice_text(object, at), choice_title(object, at), held_out_notes(object, at),
                    object$foldid, own_of_rows(own, at, object$foldid))
}

# The family's parameters for each row, in each repeat: column `column` of those of the fold that
# held it out. `own`: one matrix for each fold, those of the first repeat first.
own_of_rows <- function(own, column, foldid) {
  if (!length(own) || is.null(own[[1]])) return(NULL)
  foldid <- as.matrix(foldid)
  before <- c(0, cumsum(apply(foldid, 2, max)))
  all <- vapply(own, function(own) own[, column], numeric(nrow(own[[1]])))
  all <- matrix(all, nrow(own[[1]]))
  lapply(seq_len(ncol(foldid)), function(k) all[, before[k] + foldid[, k], drop = FALSE])
}

use_nested <- function(nested, object, by_name) {
  if (is.null(nested)) return(by_name && !is.null(object$nested))
  nested <- check_flag(nested, "nested")
  if (nested && is.null(object$nested)) {
    stop_bad("`nested` must be FALSE, because the cross-validation was made without ",
             "`nested = TRUE`.")
  }
  if (nested && !by_name) {
    stop_bad("`nested` must be FALSE for a row that is given by numbers: every outer fold ",
             "chose its own row by one of ", quoted(choice_names), ".")
  }
  nested
}

# Held-out linear predictors at one row of the grid, N x repeats.
kept_links <- function(object, row) {
  chosen <- match(row, object$index)
  if (is.na(chosen) && is.null(object$fit.preval)) {
    stop_bad("`row` must be one that the cross-validation chose (",
             paste(unique(object$index), collapse = ", "), "), not ", row,
             ", because it was made without `keep = TRUE`.")
  }
  links <- if (is.na(chosen)) object$fit.preval else object$held.out
  column <- if (is.na(chosen)) row else chosen
  if (is.matrix(links)) unname(links[, column, drop = FALSE]) else unname(links[, column, ])
}

held_out_notes <- function(object, row) {
  c(
    paste("The same held-out data chose the row of the grid, so these figures are optimistically",
          "biased; cv.n2gfl(nested = TRUE) gives honest ones."),
    if (object$grid$nonzero[row] == 0) {
      "The map is empty: the fit to all data uses no feature."
    }
  )
}

new_sample <- function(object, newx, newy, s, row, newcovariates, newoffset, newweights, newdata,
                       newscale) {
  if (is.null(newx)) stop_bad("`newx` must be given together with `newy`.")
  if (is.null(newy)) stop_bad("`newy` must be given together with `newx`.")
  table <- new_table(newcovariates, newx, "newcovariates")
  if (is.data.frame(newcovariates)) newcovariates <- table$data
  if (!is.null(newdata)) newdata <- new_table(check_new_table(newdata), newx, "newdata")$data
  newy <- align_vector(new_outcome(newy, newx), "newy", row_labels(newx), table)
  newweights <- align_vector(newweights, "newweights", row_labels(newx), table)
  newoffset <- align_vector(newoffset, "newoffset", row_labels(newx), table)
  fit <- full_fit(object)
  row <- map_row(object, s, row)
  link <- predict(fit, newx, row = row, type = "link", newcovariates = newcovariates,
                  newoffset = newoffset, newdata = newdata, newscale = newscale)
  weights <- check_newweights(newweights, nrow(link))
  y <- check_newy(newy, fit, weights %or% rep(1, nrow(link)))
  # Parameters that are no coefficients, such as a baseline hazard, are not needed here.
  own <- if (family_of(fit$family)$own_terms) {
    list(fit$own[, rep(row, nrow(link)), drop = FALSE])
  }
  new_assess_sample(unname(link), y, weights, "new data", choice_text(object, row),
                    choice_title(object, row), own = own)
}

# The outcome itself, or what its name or a formula means in the table of the images.
new_outcome <- function(newy, newx) {
  by_name <- is.character(newy) && length(newy) == 1 && NROW(newx) > 1
  if (!by_name && !inherits(newy, "formula")) return(align_new(newy, "newy", newx))
  if (!is_images(newx) || is.null(newx$data)) {
    stop_bad("`newy` must be the outcome itself, not ",
             if (by_name) paste("the name", quoted(newy)) else "a formula",
             ", because `newx` has no table of its subjects",
             if (is_images(newx)) "." else ": only images have one.")
  }
  if (by_name && is.null(newx$data[[newy]])) {
    stop_bad("`newy` must be the outcome or the name of a column of the table of `newx`, but ",
             "there is no column ", quoted(newy), " among ", quoted(names(newx$data)), ".")
  }
  resolve_outcome(align_arguments(list(x = newx, y = newy)))$y
}

check_newweights <- function(weights, n) {
  if (is.null(weights)) return(NULL)
  weights <- check_numbers(weights, "newweights", n, "row of `newx`")
  check_no_negative(weights, "newweights")
  if (!any(weights > 0)) stop_bad("`newweights` must have a positive value, but all are 0.")
  weights / mean(weights)
}

# The new outcome as the family codes it, if it can be scored.
check_newy <- function(newy, fit, weights) {
  kind <- assess_kind(fit$family)
  newy <- family_of(fit$family)$new_response(newy, fit, "newy", length(weights))
  kind$check_new(newy, weights, fit$classnames)
  newy
}

# ---- the object ----------------------------------------------------------------------------------

new_assessment <- function(sample, fit, settings) {
  kind <- assess_kind(fit$family)
  sample$mean <- sample_means(sample, family_of(fit$family))
  measures <- kind$measures(sample, settings)
  ranked <- !is.null(kind$rank)
  nothing <- ranked && mostly_intercepts(sample, fit$family)
  # It compares the pooled scores with those within folds, so it needs them as they are.
  folds <- if (ranked) folds_note(sample, measures, kind, nothing, settings$level)
  if (nothing) {
    measures[measures$measure %in% rank_measures, c("estimate", "lower", "upper")] <- NA_real_
  }
  structure(
    c(list(measures = measures), kind$tables(sample, fit$classnames, settings, nothing),
      list(calibration = if (!is.null(kind$interval)) calibration_bins(sample, kind, settings),
           predictions = prediction_table(sample, kind), source = sample$source,
           choice = sample$choice,
           notes = assessment_notes(sample, measures, c(folds, kind$notes(sample))),
           family = fit$family, classnames = fit$classnames, nobs = nrow(sample$link),
           repeats = ncol(sample$link), threshold = if (kind$threshold) settings$threshold,
           level = settings$level, title = sample$title)),
    class = "n2gfl_assessment"
  )
}

# Measures that compare predictions of different folds with each other.
rank_measures <- c("auc", "correlation", "slope")

# What the intercepts of the folds do to the scores; NULL if that does not matter: the model is
# better than chance, and within folds its score is about the same.
folds_note <- function(sample, measures, kind, nothing, level) {
  if (is.null(sample$fold)) return(NULL)
  score <- kind$score
  within <- within_folds(sample, kind)
  if (!nothing && !intercepts_matter(measures, within, kind, level)) return(NULL)
  paste0(
    if (nothing) {
      paste0("The model selects nothing or almost nothing in these folds: predictions differ ",
             "mainly by the folds' intercepts, so ", kind$lost,
             " and calibration slope are not defined")
    } else {
      paste0("The folds' intercepts bias the ", score, " and the calibration slope of a weak ",
             "model downwards")
    },
    if (!is.na(within)) paste0("; within folds the ", score, " is ", decimal_text(within, 3)),
    if (!anyDuplicated(sample$fold[, 1])) {
      "; folds of one observation give no score without this bias, larger folds do"
    }, "."
  )
}

intercepts_matter <- function(measures, within, kind, level) {
  pooled <- measures[measures$measure == kind$rank, ]
  if (is.na(pooled$estimate)) return(FALSE)
  # Without an interval, by the estimate.
  low <- if (is.na(pooled$lower)) pooled$estimate else pooled$lower
  error <- (pooled$upper - pooled$lower) / (2 * normal_quantile(level))
  low <= kind$chance || isTRUE(abs(within - pooled$estimate) > error)
}

# The means that the links stand for: N x repeats, or N x K x repeats if they are probabilities of K
# classes. There each row has parameters of its own, so it is taken as a fit of its own.
sample_means <- function(sample, family) {
  if (!length(sample$own)) return(family$mean(sample$link, NULL))
  each <- lapply(seq_len(ncol(sample$link)), function(k) {
    t(family$mean(t(sample$link[, k]), sample$own[[k]])[1, , ])
  })
  array(unlist(each), c(dim(each[[1]]), length(each)))
}

prediction_table <- function(sample, kind) {
  repeats <- ncol(sample$link)
  data.frame(row = rep(sample$row, repeats),
             repetition = rep(seq_len(repeats), each = nrow(sample$link)),
             kind$predictions(sample), weight = rep(sample$weights, repeats))
}

assessment_notes <- function(sample, measures, of_kind) {
  auc <- measures[measures$measure == "auc", ]
  c(
    sample$notes, of_kind,
    if (ncol(sample$link) > 1) {
      paste0("Means over ", ncol(sample$link), " repeats; the intervals are as wide as those of ",
             "one repeat.")
    },
    if (sample$weighted) {
      paste0("Weighted; the intervals are those of ", number_text(effective_number(sample$weights)),
             " observations, the effective number.")
    },
    if (any(is.na(auc$lower) & !is.na(auc$estimate))) {
      paste("The AUC has no interval: DeLong's needs pairs in the right and in the wrong order,",
            "and two observations or more of each class.")
    }
  )
}

# ---- print ---------------------------------------------------------------------------------------

measure_names <- c(
  accuracy = "Accuracy", balanced = "Balanced accuracy", sensitivity = "Sensitivity",
  specificity = "Specificity", auc = "AUC", brier = "Brier score", r.squared = "R squared",
  rmse = "RMSE", mae = "MAE", correlation = "Correlation", intercept = "Calibration intercept",
  slope = "Calibration slope", rps = "Ranked probability score", concordance = "Concordance"
)

#' Print an assessment
#'
#' Shows what was assessed, the measures with their intervals, the confusion matrix for classes, and
#' what to bear in mind.
#' @param x An assessment from [assess()].
#' @param digits Number of digits after the decimal point.
#' @param ... Not used.
#' @return `x`, invisibly.
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(60 * 20), 60)
#' y <- rowSums(x[, 3:6]) + rnorm(60)
#' cvfit <- cv.n2gfl(x, y, graph_chain(20), lambda2 = 0.1, nlambda1 = 10, nfolds = 4)
#' print(assess(cvfit), digits = 2)
#' @method print n2gfl_assessment
#' @export
print.n2gfl_assessment <- function(x, digits = 3, ...) {
  digits <- check_count(digits, "digits")
  cat("\n", c(`held out` = "Held-out predictions", nested = "Predictions of the outer folds",
              `new data` = "Predictions of new data")[[x$source]], " at ", x$choice,
      if (x$source == "nested") ", chosen anew for each fold", "\n", sep = "")
  kind <- assess_kind(x$family)
  cat(count_of(x$nobs, "observation"), kind$counts(x, digits), "\n\n", sep = "")
  number <- function(values) ifelse(is.na(values), "-", decimal_text(values, digits))
  table <- x$measures
  print(data.frame(estimate = number(table$estimate), lower = number(table$lower),
                   upper = number(table$upper), row.names = measure_names[table$measure]))
  cat("\nLower and upper: ", format(100 * x$level), " % confidence limits\n", sep = "")
  kind$print(x)
  if (length(x$notes)) cat("\n", paste0(strwrap(x$notes, 80), "\n"), sep = "")
  invisible(x)
}

# Adding 0 drops the minus sign of a negative zero.
decimal_text <- function(values, digits) sprintf("%.*f", digits, round(values, digits) + 0)
