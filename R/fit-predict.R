#' Predictions of a fit
#'
#' @inheritParams coef.n2gfl
#' @inheritSection coef.n2gfl Data
#' @param newx Features of the observations to predict: a matrix with the columns of `x`, in the
#'   same order. If both have column names, these must agree. Not needed for `type` `"coefficients"`
#'   and `"nonzero"`.
#' @param type What to return:
#'   * `"link"`: the linear predictor, with intercept, covariates and offset;
#'   * `"response"`: the mean; for `"binomial"` the probability of the second class in
#'     `object$classnames`, for `"ordinal"` that of each level, for `"cox"` the relative risk
#'     \eqn{e^\eta}{exp(eta)};
#'   * `"class"`: the most probable class or level (`"binomial"` and `"ordinal"`);
#'   * `"coefficients"`: as [coef()][coef.n2gfl];
#'   * `"nonzero"`: which coefficients are not zero;
#'   * `"cumulative"`: for `"ordinal"` the probability of each level or a lower one, except the
#'     highest level;
#'   * `"risk"`: another name for the `"response"` of `"cox"`;
#'   * `"survival"`: for `"cox"` the probability of no event up to each of the `times`;
#'   * `"time"`: for `"cox"` the time until the event has happened with the probability `quantile`.
#' @param newcovariates,newoffset Covariates and offset of the new observations; needed if the fit
#'   had them. If the covariates were a formula, a data frame with its variables; its rows are
#'   matched by name like those of `data` in [n2gfl()]. The default for images is their own table.
#' @param newdata A data frame with the variables that the fit's `scale` and `harmonize` (with
#'   `preserve`) need, and those of `covariates` unless `newcovariates` is given; `newcovariates`
#'   serves too, if it is a data frame. Its rows are matched by name. The default for images is
#'   their own table. `global` and means are computed from `newx`.
#' @param newscale For a fit whose `scale` was one number per row: those of the new observations.
#' @param new.site For a fit with `harmonize`: `"error"` or `"pooled"`, what to do with sites that
#'   the fit has not seen; `NULL` for the fit's own choice. See *Sites* in [n2gfl()].
#' @param times For `"survival"`: times at which the curve is wanted, by default those of the events
#'   of the fit's data.
#' @param quantile For `"time"`: a probability, by default 0.5 for the median time.
#' @param newstrata The stratum of each new observation, for `"survival"` and `"time"` if the fit
#'   had strata.
#' @return For `"link"`, `"response"`, `"class"`, `"risk"` and `"time"` a matrix with one row per
#'   observation and one column per fit. For `"survival"` and `"cumulative"`, and for `"response"`
#'   of `"ordinal"`, an array of three dimensions: observations, times or levels, fits. For
#'   `"coefficients"` a sparse matrix; for `"nonzero"` a list with the feature numbers of each fit.
#'
#' @section Survival:
#' The curve is \eqn{S(t) = \exp(-H_0(t) e^\eta)}{S(t) = exp(-H0(t) exp(eta))}, where Breslow's
#' estimate of the cumulative baseline hazard \eqn{H_0}{H0} comes from the fit's own data: it jumps
#' at each event time by the weight of the events there, divided by the sum of
#' \eqn{e^\eta}{exp(eta)} times the weights over the rows at risk. It is kept with the fit, see
#' `own` in [n2gfl()]. After the last time in the data (of the stratum) the curve is not known and
#' `NA`; so is a quantile that it does not reach.
#' @seealso [coef.n2gfl()]
#' @examples
#' set.seed(1)
#' cohort <- simulate_cohort(n = 80, dim = c(12, 12))
#' train <- 1:60
#' fit <- n2gfl(cohort$x[train, ], cohort$y[train], cohort$graph, family = "binomial",
#'              lambda1 = c(0.01, 0.003), lambda2 = 0.002)
#' predict(fit, cohort$x[61:65, ], type = "response")
#' predicted <- predict(fit, cohort$x[-train, ], row = 2, type = "class")
#' mean(predicted == cohort$y[-train])
#' predict(fit, type = "nonzero")
#'
#' # Regions as selected, their coefficients without shrinkage
#' predict(fit, cohort$x[61:65, ], row = 2, type = "response", refit = TRUE,
#'         x = cohort$x[train, ], y = cohort$y[train])
#'
#' # Time to event: the share without an event after 1 and 2 years, and the median time
#' time <- rexp(60, exp(cohort$data$age[train] / 10 - 8))
#' y <- cbind(time = pmin(time, 3), status = time <= 3)
#' fit <- n2gfl(cohort$x[train, ], y, cohort$graph, family = "cox", sign = "nonpositive",
#'              lambda1 = c(0.1, 0.03), lambda2 = 0.01)
#' predict(fit, cohort$x[61:63, ], row = 2, type = "survival", times = c(1, 2))
#' predict(fit, cohort$x[61:63, ], row = 2, type = "time")
#' @importFrom stats predict
#' @export
predict.n2gfl <- function(object, newx, s = NULL, row = NULL,
                          type = c("link", "response", "class", "coefficients", "nonzero",
                                   "cumulative", "risk", "survival", "time"),
                          newcovariates = NULL, newoffset = NULL, newdata = NULL, newscale = NULL,
                          new.site = NULL, times = NULL, quantile = NULL, newstrata = NULL,
                          exact = FALSE, refit = FALSE, ...) {
  family <- family_of(object$family)
  type <- match_type(type, family)
  special <- check_special_arguments(type, family, list(times = times, quantile = quantile,
                                                        newstrata = newstrata))
  if (type == "coefficients") return(coef(object, s, row, exact, refit, ...))
  # `own` can be added by exact = TRUE or changed by refit = TRUE.
  chosen <- choose_fits(object, s, row, exact, refit, ...)
  if (type == "nonzero") return(nonzero_features(chosen$beta))
  if (missing(newx)) stop_bad("`newx` must be given for type \"", type, "\".")
  link <- new_link(object, chosen, newx, newcovariates, newoffset, newdata, newscale, new.site)
  switch(type, link = link, response = named_mean(link, chosen$own, object),
         class = family$classes(link, object$classnames, chosen$own),
         do.call(family$predictions[[type]], c(list(link, chosen$own, object), special)))
}

#' @rdname predict.n2gfl
#' @export
predict.n2gfl_cv <- function(object, newx, s = NULL, row = NULL, ...) {
  at <- cv_choice(object, s, row)
  predict(full_fit(object), newx, s = at$s, row = at$row, ...)
}

# The linear predictor of new observations, whose covariates, offset and table are put into the
# order of the rows of newx. `chosen` is from choose_fits().
new_link <- function(object, chosen, newx, newcovariates, newoffset, newdata, newscale,
                     new.site = NULL) {
  tables <- new_tables(object, newx, newcovariates, newdata)
  labels <- row_labels(newx)
  newoffset <- align_vector(newoffset, "newoffset", labels, tables$order)
  newscale <- align_vector(newscale, "newscale", labels, tables$order)
  newx <- check_newx(newx, object)
  means <- means_of(newx, "newx")
  newcovariates <- check_newcovariates(tables$covariates, nrow(newx), object, means = means)
  newoffset <- check_newoffset(newoffset, nrow(newx), object)
  map <- new_map(object, newx, tables$data, newscale, new.site, means, labels)
  linear_predictor(chosen, newx, newcovariates, newoffset, map = map)
}

# The covariates and the table of new observations, list(covariates, data, order). Either may serve
# as the other, and both may be the table of the images. `order` is from new_table().
new_tables <- function(object, newx, newcovariates, newdata) {
  own <- if (is_images(newx)) newx$data
  formula <- !is.null(object$coding)
  if (is.null(newdata)) newdata <- if (is.data.frame(newcovariates)) newcovariates else own
  else check_new_table(newdata)
  if (is.null(newcovariates) && formula) newcovariates <- newdata
  order <- new_table(newcovariates, newx, "newcovariates")
  covariates <- if (is.data.frame(newcovariates)) order$data
    else align_new(newcovariates, "newcovariates", newx)
  data <- if (identical(newdata, newcovariates)) covariates
    else new_table(newdata, newx, "newdata")$data
  list(covariates = covariates, data = data, order = order)
}

check_new_table <- function(newdata) {
  if (is.data.frame(newdata)) return(newdata)
  stop_bad("`newdata` must be a data frame with one row per row of `newx`, not ",
           describe(newdata), ".")
}

# What a fit did to x, for other rows: list(factors, sites), see view_map(). `names` are those of
# the caller's arguments.
new_map <- function(object, x, data, scale, new.site, means, labels,
                    names = list(x = "newx", data = "newdata", scale = "newscale")) {
  n <- nrow(x)
  if (!is.null(data) && nrow(data) != n && needs_table(object)) {
    stop_bad("`", names$data, "` must have one row per row of `", names$x, "` (", n, "), not ",
             nrow(data), ".")
  }
  factors <- new_factors(object$scale, scale, data, means, row_words(labels, n), names)
  sites <- if (!is.null(object$harmonize)) {
    new_sites(object$harmonize, data, n, means, new.site, names$data, labels)
  } else if (!is.null(new.site)) {
    stop_bad("`new.site` must not be given, because the fit has no `harmonize`.")
  }
  list(factors = factors, sites = sites)
}

# Does a fit need a table of the subjects for what it does to x?
needs_table <- function(object) {
  !is.null(object$harmonize) || !(object$scale$by %or% "mean") %in% c("mean", "numbers")
}

# Intercept, features, covariates and offset at the given rows of x, one column per fit.
linear_predictor <- function(chosen, x, covariates, offset, rows = seq_len(nrow(x)), map = NULL) {
  link <- feature_link(x, chosen$beta, rows, map, chosen$sites)
  link <- sweep(link, 2, chosen$a0, "+")
  if (ncol(covariates)) link <- link + covariates[rows, , drop = FALSE] %*% chosen$gamma
  link <- link + offset[rows]
  dimnames(link) <- list(rownames(x)[rows], colnames(chosen$beta))
  link
}

# The mean as predict() and fitted() give it: probabilities with the names of their classes.
named_mean <- function(link, own, object) {
  mean <- family_of(object$family)$mean(link, own)
  if (length(dim(mean)) == 3) {
    dimnames(mean) <- list(rownames(link), object$classnames, colnames(link))
  }
  mean
}

nonzero_features <- function(beta) {
  fit <- factor(rep(seq_len(ncol(beta)), diff(beta@p)), levels = seq_len(ncol(beta)))
  stats::setNames(split(beta@i + 1L, fit), colnames(beta))
}

# ---- what to predict -----------------------------------------------------------------------------

# The argument `type`. The usage shows the types of all families in the package; a family may have
# more.
match_type <- function(type, family) {
  shown <- eval(formals(predict.n2gfl)$type)
  if (identical(type, shown)) return("link")
  type <- match_choice(type, "type", union(shown, names(family$predictions)))
  known <- c(family$predict_types, names(family$predictions))
  if (!type %in% c(known, "coefficients", "nonzero")) {
    stop_bad("`type` must be ", or_quoted(known), " for family ", quoted(family$name), ", not ",
             quoted(type), ".")
  }
  type
}

# Those of predict()'s arguments that only some types need, if they were given.
check_special_arguments <- function(type, family, given) {
  given <- Filter(Negate(is.null), given)
  special <- family$predictions[[type]]
  unused <- setdiff(names(given), if (is.function(special)) names(formals(special)))
  if (length(unused)) {
    stop_bad("`", unused[1], "` must not be given for type ", quoted(type), ".")
  }
  given
}

# ---- new data ------------------------------------------------------------------------------------

check_newx <- function(newx, object, name = "newx") {
  newx <- check_matrix(new_image_matrix(newx, object, name), name)
  d <- nrow(object$beta)
  if (ncol(newx) != d) {
    stop_bad("`", name, "` must have the ", count_of(d, "column"), " of the fit's `x`, not ",
             ncol(newx), ".")
  }
  check_same_names(colnames(newx), rownames(object$beta), name)
  newx
}

check_same_names <- function(names, expected, name) {
  if (is.null(names) || is.null(expected)) return(invisible())
  k <- which(names != expected)[1]
  if (!is.na(k)) {
    stop_bad("`", name, "` must have the columns of the fit in the same order, but column ", k,
             " is ", quoted(names[k]), ", not ", quoted(expected[k]), ".")
  }
}

# `means` are for `global`, which the fit may have made itself, see add_global().
check_newcovariates <- function(newcovariates, n, object, name = "newcovariates", rows = "newx",
                                means = NULL) {
  if (isTRUE(object$coding$global) && (is.null(newcovariates) || is.data.frame(newcovariates))) {
    newcovariates <- with_global(newcovariates, means())
  }
  if (is.null(newcovariates) != is.null(object$gamma)) {
    stop_bad("`", name, "` must ", if (is.null(newcovariates)) "" else "not ",
             "be given, because the fit has ", if (is.null(object$gamma)) "no " else "",
             "covariates.")
  }
  newcovariates <- code_new_covariates(newcovariates, object$coding, n)
  named <- !is.null(colnames(newcovariates))
  newcovariates <- check_covariates(newcovariates, n, name, rows)
  q <- NROW(object$gamma)
  if (ncol(newcovariates) != q) {
    stop_bad("`", name, "` must have the ", count_of(q, "column"), " of the fit's `covariates`,",
             " not ", ncol(newcovariates), ".")
  }
  if (named) check_same_names(colnames(newcovariates), rownames(object$gamma), name)
  newcovariates
}

check_newoffset <- function(newoffset, n, object, name = "newoffset", rows = "newx") {
  if (is.null(newoffset) == object$offset) {
    stop_bad("`", name, "` must ", if (is.null(newoffset)) "" else "not ",
             "be given, because the fit has ", if (object$offset) "an" else "no", " offset.")
  }
  if (is.null(newoffset)) return(numeric(n))
  check_numbers(newoffset, name, n, paste0("row of `", rows, "`"))
}
