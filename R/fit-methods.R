# Methods for generics of stats. A fit keeps no data: methods that need data take them as arguments,
# with the same names as in n2gfl().

#' Fitted values and residuals
#'
#' A fit does not keep the data, which may be many gigabytes: give them again, under the names they
#' have in [n2gfl()]. For new data see [predict()][predict.n2gfl].
#'
#' @inheritParams coef.n2gfl
#' @param x,y,covariates,offset,weights The data of the fit; `covariates`, `offset` and `weights`
#'   if the fit had them. For a fit whose covariates were a formula, `covariates` is the data frame
#'   with their variables.
#' @param data,scale The table with the variables of the fit's `scale` and `harmonize`, if it had
#'   them and `covariates` is not that table; its `scale`, if that was one number per row.
#' @param type Kind of residuals: `"deviance"` (signed square roots of the observations'
#'   contributions to the deviance), `"pearson"` (divided by the standard deviation that the model
#'   implies, up to the error variance) or `"response"` (observed minus fitted, with the modelled
#'   class of a `"binomial"` fit as 1 and the other as 0). Weights, rescaled to mean 1 over the
#'   rows with a positive weight, enter the first two.
#'
#'   For `"cox"` they are `"martingale"` (observed minus expected number of events) and `"deviance"`
#'   (the same made more symmetric, as in `survival::residuals.coxph()`), both without weights. For
#'   `"ordinal"` there are none.
#' @param ... `exact` and `refit`, see [coef.n2gfl()].
#' @return A matrix with one row per observation and one column per fit. Fitted values are means, as
#'   [predict()][predict.n2gfl] gives them for `type = "response"`. The squared deviance residuals
#'   sum to [deviance()][deviance.n2gfl], except for `"cox"`.
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(40 * 10), 40)
#' y <- rowSums(x[, 3:5]) + rnorm(40)
#' fit <- n2gfl(x, y, graph_chain(10), lambda1 = c(0.5, 0.1, 0.02), lambda2 = 0.1)
#' head(fitted(fit, x))
#' colSums(residuals(fit, x, y)^2)
#' deviance(fit)
#' @importFrom stats fitted
#' @export
fitted.n2gfl <- function(object, x, s = NULL, row = NULL, covariates = NULL, offset = NULL,
                         data = NULL, scale = NULL, ...) {
  if (missing(x)) stop_no_data("x", "fitted")
  again <- link_again(object, x, s, row, covariates, offset, data, scale, ...)
  named_mean(again$link, again$own, object)
}

# The linear predictor for the data of the fit, which are given again under the names of n2gfl(),
# and the parameters of the family: list(link, own).
# Everything is checked here, because messages of new_link() would name the arguments of predict().
link_again <- function(object, x, s, row, covariates, offset, data, scale, ...) {
  labels <- row_labels(x)
  table <- new_table(covariates, x, "covariates")
  covariates <- if (is.data.frame(covariates)) table$data
    else align_new(covariates, "covariates", x)
  offset <- align_vector(offset, "offset", labels, table)
  scale <- align_vector(scale, "scale", labels, table)
  data <- if (!is.null(data)) new_table(data, x, "data")$data
    else if (is.data.frame(covariates)) covariates else if (is_images(x)) x$data
  x <- check_newx(x, object, "x")
  means <- means_of(x)
  covariates <- check_newcovariates(covariates, nrow(x), object, "covariates", "x", means)
  map <- new_map(object, x, data, scale, NULL, means, labels,
                 list(x = "x", data = "data", scale = "scale"))
  given <- list(x = x, covariates = if (ncol(covariates)) covariates, offset = offset, data = data,
                scale = scale)
  offset <- check_newoffset(offset, nrow(x), object, "offset", "x")
  chosen <- do.call(choose_fits, c(list(object, s, row), data_for_refit(given, ...)))
  list(link = linear_predictor(chosen, x, covariates, offset, map = map), own = chosen$own)
}

#' @rdname fitted.n2gfl
#' @export
fitted.n2gfl_cv <- function(object, x, s = NULL, row = NULL, ...) {
  if (missing(x)) stop_no_data("x", "fitted")
  at <- cv_choice(object, s, row)
  fitted(full_fit(object), x, s = at$s, row = at$row, ...)
}

#' @rdname fitted.n2gfl
#' @importFrom stats residuals
#' @export
residuals.n2gfl <- function(object, x, y, s = NULL, row = NULL,
                            type = c("deviance", "pearson", "response", "martingale"),
                            covariates = NULL, offset = NULL, weights = NULL, data = NULL,
                            scale = NULL, ...) {
  type <- match_choice(type, "type", c("deviance", "pearson", "response", "martingale"))
  check_residual_type(type, object$family)
  if (missing(x)) stop_no_data("x", "residuals")
  if (missing(y)) stop_no_data("y", "residuals")
  check_given_weights(weights, object)
  given <- list(x = x, y = y, weights = weights, offset = offset, scale = scale)
  # The table of the images themselves is known to be in order.
  given$data <- if (!is.null(data)) data
    else if (is.data.frame(covariates) && !(is_images(x) && identical(covariates, x$data))) {
      covariates
    }
  given <- resolve_outcome(align_arguments(given))
  y <- given$y
  weights <- given$weights
  if (is.data.frame(covariates)) covariates <- given$data
  again <- do.call(link_again, c(
    list(object, x, s, row, covariates, given$offset, given$data, given$scale),
    data_for_refit(list(y = y, weights = weights), ...)))
  weights <- check_weights(weights, nrow(again$link))
  y <- check_outcome(y, object, weights)
  family_of(object$family)$residuals(y, again$link, again$own, weights, type, object)
}

#' @rdname fitted.n2gfl
#' @export
residuals.n2gfl_cv <- function(object, x, y, s = NULL, row = NULL, ...) {
  if (missing(x)) stop_no_data("x", "residuals")
  if (missing(y)) stop_no_data("y", "residuals")
  at <- cv_choice(object, s, row)
  residuals(full_fit(object), x, y, s = at$s, row = at$row, ...)
}

# exact = TRUE and refit = TRUE need the data by name; otherwise no data may be passed on.
data_for_refit <- function(data, exact = FALSE, refit = FALSE, ...) {
  again <- check_flag(exact, "exact") || check_flag(refit, "refit")
  data <- data[!vapply(data, is.null, NA)]
  c(list(exact = exact, refit = refit), if (again) data, list(...))
}

stop_no_data <- function(name, method) {
  stop_bad("`", name, "` must be given to ", method, "(), because the fit does not keep its data.")
}

check_given_weights <- function(weights, object) {
  if (is.null(weights) == object$weighted) {
    stop_bad("`weights` must ", if (is.null(weights)) "" else "not ", "be given, because the fit ",
             "has ", if (object$weighted) "" else "no ", "weights.")
  }
}

# The outcome as numbers: 0 and 1 for classes.
check_outcome <- function(y, object, weights) {
  response <- check_y(y, object$family, weights)
  check_same_classes(object, response)
  family_of(object$family)$numbers(response$y)
}

check_residual_type <- function(type, family) {
  types <- family_of(family)$residual_types
  if (!length(types)) stop_bad("residuals() are not defined for family ", quoted(family), ".")
  if (type %in% types) return(invisible())
  stop_bad("`type` must be ", or_quoted(types), " for family ", quoted(family), ", not ",
           quoted(type), ".")
}

#' Deviance, log-likelihood and information criteria
#'
#' `deviance()` gives `(1 - dev.ratio) * nulldev`; `logLik()` the maximised log-likelihood, from
#' which [stats::AIC()] and [stats::BIC()] follow; `nobs()` the number of observations with a
#' positive weight.
#'
#' @details
#' The degrees of freedom are the number of regions of one nonzero value, `df` in the fit's grid,
#' which is an unbiased estimate for least squares without a sign constraint (Tibshirani and Taylor,
#' 2012), plus the intercept or the cut points, the covariates (unless they were removed from `x`)
#' and, for `"gaussian"`, the error variance, as for [stats::lm()]. The error variance is estimated
#' by maximum likelihood. For `"cox"` the likelihood is the partial one, and BIC counts events
#' instead of observations, as for `survival::coxph()`. With `penalty = "laplacian"`, `df` counts
#' the nonzero coefficients and overstates the degrees of freedom.
#'
#' Weights count as frequencies, rescaled to mean 1 over the rows with a positive weight. Rows of
#' weight 0 do not count, as for [stats::glm()]: all results are those of a fit without them.
#'
#' For a fit with a whole grid the results have one value per row, and so do `AIC(fit)` and
#' `BIC(fit)`: `fit$grid[which.min(BIC(fit)), ]` is the row with the smallest BIC.
#' @inheritParams coef.n2gfl
#' @param ... Not used.
#' @return A number per fit; for `logLik()` of class `logLik`, with attributes `df` and `nobs`.
#' @references
#' Tibshirani, R. J. and Taylor, J. (2012). Degrees of freedom in lasso problems. *The Annals of
#' Statistics* 40, 1198--1232.
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(40 * 10), 40)
#' y <- rowSums(x[, 3:5]) + rnorm(40)
#' fit <- n2gfl(x, y, graph_chain(10), nlambda1 = 10, lambda2 = c(0.2, 0.1))
#' deviance(fit, row = 1:3)
#' logLik(fit, row = 5)
#' fit$grid[which.min(BIC(fit)), ]
#' @importFrom stats deviance
#' @export
deviance.n2gfl <- function(object, s = NULL, row = NULL, ...) {
  check_no_dots(list(...))
  (1 - object$grid$dev.ratio[choose_rows(object, s, row)]) * object$nulldev
}

#' @rdname deviance.n2gfl
#' @export
deviance.n2gfl_cv <- function(object, s = NULL, row = NULL, ...) {
  at <- cv_choice(object, s, row)
  deviance(full_fit(object), s = at$s, row = at$row, ...)
}

#' @rdname deviance.n2gfl
#' @importFrom stats logLik
#' @export
logLik.n2gfl <- function(object, s = NULL, row = NULL, ...) {
  check_no_dots(list(...))
  row <- choose_rows(object, s, row)
  family <- family_of(object$family)
  value <- family$log_likelihood(deviance(object, row = row), object)
  df <- object$grid$df[row] + unpenalised_count(object) + family$extra_parameters(object)
  # A censored time alone says nothing, so only events count where a fit has them.
  structure(value, df = as.numeric(df), nobs = object$events %or% object$nobs, class = "logLik")
}

#' @rdname deviance.n2gfl
#' @export
logLik.n2gfl_cv <- function(object, s = NULL, row = NULL, ...) {
  at <- cv_choice(object, s, row)
  logLik(full_fit(object), s = at$s, row = at$row, ...)
}

#' @rdname deviance.n2gfl
#' @importFrom stats nobs
#' @export
nobs.n2gfl <- function(object, ...) {
  check_empty_dots(...)
  object$nobs
}

#' @rdname deviance.n2gfl
#' @export
nobs.n2gfl_cv <- function(object, ...) nobs(full_fit(object), ...)

#' Fit again with changed arguments
#'
#' Takes the call of the fit, changes the arguments given and evaluates it where `update()` was
#' called. The fit keeps no data, so the names in its call must still refer to the same data there,
#' or the data must be given again.
#'
#' @param object A fit from [n2gfl()] or a cross-validation from [cv.n2gfl()].
#' @param ... Arguments to change or to add, by name. `NULL` restores the default.
#' @param evaluate `FALSE` gives the changed call, without evaluating it.
#' @return A new fit, or the call.
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(40 * 10), 40)
#' y <- rowSums(x[, 3:5]) + rnorm(40)
#' fit <- n2gfl(x, y, graph_chain(10), lambda1 = c(0.5, 0.1, 0.02), lambda2 = 0.1)
#' update(fit, sign = "free", lambda2 = 0.05)
#' @importFrom stats update
#' @method update n2gfl
#' @export
update.n2gfl <- function(object, ..., evaluate = TRUE) {
  evaluate <- check_flag(evaluate, "evaluate")
  changes <- match.call(expand.dots = FALSE)$...
  if (length(changes) && (is.null(names(changes)) || any(names(changes) == ""))) {
    stop_bad("`...` must hold arguments of the call by name, but there is one without a name.")
  }
  call <- object$call
  for (name in names(changes)) call[[name]] <- changes[[name]]
  if (!evaluate) return(call)
  check_call_data(call, parent.frame())
  eval(call, parent.frame())
}

#' @rdname update.n2gfl
#' @method update n2gfl_cv
#' @export
update.n2gfl_cv <- update.n2gfl

# The call of n2gfl() that a call of cv.n2gfl() contains: its fit can be updated on its own.
fit_call <- function(call) {
  name <- call[[1]]
  if (is.call(name)) name[[3]] <- as.name("n2gfl") else name <- as.name("n2gfl")
  given <- as.list(call)[-1]
  as.call(c(name, given[names(given) %in% names(formals(n2gfl))]))
}

# Stops if an object of the call no longer exists; the message names it and the argument that needs
# it. A function with the same name, such as t(), does not count.
check_call_data <- function(call, frame) {
  is_there <- function(name) exists(name, frame) && !is.function(get(name, frame))
  for (name in names(call)[-1]) {
    needed <- objects_in(call[[name]])
    gone <- needed[!vapply(needed, is_there, NA)]
    if (length(gone)) {
      stop_bad("`", name, "` must be given to update(), because the fit keeps no data and its ",
               "call says `", name, " = ", deparse1(call[[name]]), "`, but there is no `", gone[1],
               "` here.")
    }
  }
}

# The objects that an expression reads; all.vars() would also return the b of a$b and the variables
# of a formula, which come from the data.
objects_in <- function(expression) {
  if (is.name(expression)) return(setdiff(as.character(expression), ""))
  if (!is.call(expression)) return(character(0))
  parts <- as.list(expression)[-1]
  head <- as.character(expression[[1]])[1]
  if (head %in% c("::", ":::", "function", "~")) return(character(0))
  if (head %in% c("$", "@")) parts <- parts[1]
  unique(unlist(lapply(parts, objects_in)))
}
