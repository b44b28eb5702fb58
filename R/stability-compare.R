#' Compare the stability of two models
#'
#' Tests whether Nogueira's measure differs between two models, and gives an interval for the
#' difference. Run both on the same folds (`foldid`): the comparison is then paired and more
#' precise.
#'
#' @details
#' The estimate of each model and its influence values \eqn{\phi_i}{phi_i} are those of
#' [stability()]. Unpaired, the statistic is that of Nogueira et al. (2018),
#' \eqn{(\Phi_1 - \Phi_2) / \sqrt{v_1 + v_2}}{(Phi1 - Phi2) / sqrt(v1 + v2)} with the two variances.
#' Paired, the variance is \eqn{(4/K^2) \sum_i (\phi_{1i} - \phi_{2i} - \bar\phi_1 + \bar\phi_2)^2}{
#' (4/K^2) sum_i (phi_1i - phi_2i - mean)^2}: effects that a fold has on both models cancel. The
#' statistic is compared with the normal distribution. Folds share most of their data, so the test
#' is about this way of perturbing this cohort; with many repeats it will detect any difference.
#'
#' If the standard error is zero, for example because all runs of each model select the same
#' features, the interval has width zero and the p-value is `NA`.
#'
#' @param object1,object2 What [stability()] takes, over the same features.
#' @param s1,s2 The rows of the grids to compare: see `s` in [stability()]; `NULL` means
#'   `"lambda.stable"` for a cross-validation. Not used for runs without a grid.
#' @param paired Does each run of one object belong to the same run of the other? By default `TRUE`
#'   if both have the same number of runs and, for cross-validations, the same folds.
#' @param level Confidence level of the interval.
#' @param measure Which measure to compare. So far only `"nogueira"` has the variance that a test
#'   needs.
#' @param ... Must be empty.
#' @return A list of class `htest`: the two values in `estimate`, their `difference` (first minus
#'   second) with its `stderr` and `conf.int`, `statistic` and `p.value`.
#' @references
#' Nogueira, S., Sechidis, K. and Brown, G. (2018). On the Stability of Feature Selection
#' Algorithms. *Journal of Machine Learning Research* 18(174), 1--54.
#' @family stability measures
#' @examples
#' set.seed(1)
#' steady <- replicate(20, as.numeric(1:50 %in% c(1:8, sample(9:50, 2))))
#' loose <- replicate(20, as.numeric(1:50 %in% c(1:4, sample(5:50, 6))))
#' compare_stability(steady, loose)
#' @export
compare_stability <- function(object1, object2, ..., s1 = NULL, s2 = s1, paired = NULL,
                              level = 0.95, measure = "nogueira") {
  check_empty_dots(...)
  names <- c(label_of(substitute(object1)), label_of(substitute(object2)))
  level <- check_ratio(level, "level")
  measure <- check_compared(measure)
  data1 <- compared_data(object1, s1, measure)
  data2 <- compared_data(object2, s2, measure)
  if (nrow(data1$runs) != nrow(data2$runs)) {
    stop_bad("`object2` must have the features of `object1` (", nrow(data1$runs), "), not ",
             nrow(data2$runs), ".")
  }
  paired <- check_paired(paired, object1, object2, ncol(data1$runs), ncol(data2$runs))
  first <- compared_estimate(data1, measure, "object1")
  second <- compared_estimate(data2, measure, "object2")
  new_comparison(first, second, paired, level, names, measure$whose)
}

# Only measures with influence values can be compared.
check_compared <- function(measure) {
  all <- Filter(function(measure) !is.null(measure$influence), stability_measures())
  all[[match_choice(measure, "measure", names(all))]]
}

# An expression in place of an object's name is printed as "runs".
label_of <- function(expression) if (is.name(expression)) as.character(expression) else "runs"

compared_data <- function(object, s, measure) {
  source <- run_source(object)
  if (is.null(s) && !is.null(source$index)) s <- usual_choice(source)
  rows <- run_rows(source, if (!is.null(source$grid)) s, NULL)
  if (length(rows) != 1) {
    stop_bad("`s1` and `s2` must each name one row of the grid, not ", length(rows), ".")
  }
  measure_data(source, rows, shared_data(source, list(measure), x = NULL, level = 0.95))
}

check_paired <- function(paired, object1, object2, k1, k2) {
  foldid1 <- if (is_run_object(object1)) object1$foldid
  foldid2 <- if (is_run_object(object2)) object2$foldid
  can <- k1 == k2 && (is.null(foldid1) || is.null(foldid2) || identical(foldid1, foldid2))
  if (is.null(paired)) return(can)
  if (check_flag(paired, "paired") && !can) {
    stop_bad("`paired` must be FALSE, because the two objects have ",
             if (k1 == k2) "different folds." else paste0(k1, " and ", k2, " runs."))
  }
  paired
}

compared_estimate <- function(data, measure, name) {
  reason <- measure$compute(data)$reason
  if (reason != "") {
    stop_bad("`", name, "` must have a value of ", measure$whose, " measure, but ", reason, ".")
  }
  measure$influence(data)
}

new_comparison <- function(first, second, paired, level, names, whose) {
  difference <- first$estimate - second$estimate
  error <- if (paired) {
    influence_error(first$influence - second$influence)
  } else {
    sqrt(influence_error(first$influence)^2 + influence_error(second$influence)^2)
  }
  z <- if (error > 0) difference / error else NA_real_
  half <- stats::qnorm((1 + level) / 2) * error
  structure(
    list(statistic = c(z = z), p.value = 2 * stats::pnorm(-abs(z)),
         conf.int = structure(difference + c(-half, half), conf.level = level),
         estimate = stats::setNames(c(first$estimate, second$estimate),
                                paste("stability of", names)),
         difference = difference, stderr = error,
         null.value = c("difference in stability" = 0), alternative = "two.sided",
         method = paste(whose, "test of equal stability,",
                        if (paired) "paired" else "unpaired"),
         data.name = paste(names, collapse = " and ")),
    class = "htest"
  )
}
