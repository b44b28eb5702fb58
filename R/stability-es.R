#' Estimation stability
#'
#' How much the predictions of K runs differ, relative to their size. Smaller is more stable; 0
#' means that all runs make the same predictions.
#'
#' @details
#' With \eqn{\beta^{(k)}}{beta(k)} the coefficients of run \eqn{k} and \eqn{\bar\beta}{beta_bar}
#' their mean,
#' \deqn{ES = \frac{\sum_k \|X \beta^{(k)} - X \bar\beta\|^2}{K \|\bar\beta\|^2}
#'   \quad \textrm{or} \quad
#'   \frac{\sum_k \|X \beta^{(k)} - X \bar\beta\|^2}{K \|X \bar\beta\|^2}.}{
#'   ES = sum_k ||X beta(k) - X beta_bar||^2 / (K ||beta_bar||^2)  or the same over
#'   (K ||X beta_bar||^2).}
#' The first, `normalize = "coef"`, is that of Xin et al. (2015); the second, `"fit"`, that of Yu
#' (2013) and of Lim and Yu (2016). `x` holds all observations; the intercept and the covariates are
#' not used.
#'
#' **Which form.** Compare models by the second form on centred `x`
#' (`normalize = "fit", center = TRUE`). The first is not comparable between models whose regions
#' differ in size: a larger region spreads the same weight over more features, so
#' \eqn{\|\bar\beta\|^2}{||beta_bar||^2} falls and ES rises although the predictions agree better.
#' On a cohort of grey matter maps the lasso had 0.49 by the first form and 0.0155 by the second,
#' the nonnegative fused lasso 2.0 and 0.0037.
#'
#' **Centring.** The paper does not centre `x`, and `center = FALSE` is the default. With an
#' intercept the features' means are arbitrary; raw grey matter values are all positive, and their
#' mean image then dominates \eqn{\|X \bar\beta\|^2}{||X beta_bar||^2} and makes the second form
#' small for every model.
#'
#' The value is `NA` where it is 0/0 or where there is only one run; the attribute `reason` then
#' says why, row by row. If the runs differ but their mean is zero it is `Inf`.
#'
#' @param object An object with the coefficients of several runs, from [cv.n2gfl()] or
#'   [perturb_fits()], a list of coefficient vectors, or a (sparse) matrix with one row per feature
#'   and one column per run.
#' @param x The features: a matrix with one column per coefficient, but not for fits with `scale` or
#'   `harmonize`. For an object that stores its ES
#'   (`"coef"` without centring, `"fit"` with it) it need not be given.
#' @param s,row The rows of the grid that are wanted: `s` is `c(lambda1 = , lambda2 = )`, a data
#'   frame with these columns, or for a cross-validation `"lambda.min"`, `"lambda.1se"`,
#'   `"lambda.es"` or `"lambda.stable"`; `row` holds row numbers. `NULL` means every row.
#' @param normalize What to divide by: `"coef"` or `"fit"`, see *Details*.
#' @param center Remove the column means of `x`?
#' @param ... Must be empty.
#' @return A number for each row; one number for runs without a grid.
#' @references
#' Xin, B., Hu, L., Wang, Y. and Gao, W. (2015). Stable Feature Selection from Brain sMRI.
#' *Proceedings of the Twenty-Ninth AAAI Conference on Artificial Intelligence*, 1910--1916.
#'
#' Yu, B. (2013). Stability. *Bernoulli* 19, 1484--1500.
#'
#' Lim, C. and Yu, B. (2016). Estimation Stability With Cross-Validation (ESCV). *Journal of
#' Computational and Graphical Statistics* 25, 464--492.
#' @family stability measures
#' @examples
#' x <- rbind(c(1, 0, 2, -1), c(2, 1, 1, 0), c(0, -1, 1, 3))
#' runs <- list(c(1, 0, 2, 0), c(1, 0.5, 1, 0), c(0, 0, 2, 1))
#' ES(runs, x)
#' ES(runs, x, normalize = "fit")
#' @export
ES <- function(object, x = NULL, s = NULL, normalize = c("coef", "fit"), center = FALSE,
               row = NULL, ...) {
  check_empty_dots(...)
  normalize <- match_choice(normalize, "normalize", c("coef", "fit"))
  center <- check_flag(center, "center")
  source <- run_source(object)
  rows <- run_rows(source, s, row)
  if (is.null(x)) return(stored_es(source, rows, normalize, center))
  x <- check_run_x(x, nrow(source$runs(rows[1])), object)
  with_reasons(lapply(rows, function(row) {
    runs <- source$runs(row)
    es_measured(runs, run_predictors(x, runs), normalize, center)
  }))
}

check_run_x <- function(x, d, object) {
  fit <- fit_inside(object)
  if (!is.null(fit$scale) || !is.null(fit$harmonize)) {
    stop_bad("`x` must not be given for fits with `scale` or `harmonize`, whose runs see other ",
             "features: their ES is stored.")
  }
  if (inherits(x, "n2gfl_images")) x <- x$x
  x <- check_matrix(x, "x")
  if (ncol(x) != d) {
    stop_bad("`x` must have one column per feature of `object` (", d, "), not ", ncol(x), ".")
  }
  x
}

stored_es <- function(source, rows, normalize, center) {
  if (is.null(source$es) || center != (normalize == "fit")) {
    stop_bad("`x` must be given: this form of ES is not stored in `object`.")
  }
  with_reasons(lapply(source$es[rows, normalize], measured_es))
}

# One number per row, with the attribute `reason` if one of them is NA.
with_reasons <- function(results) {
  values <- vapply(results, function(result) result$value, 1)
  reasons <- vapply(results, function(result) result$reason, "")
  if (anyNA(values)) structure(values, reason = reasons) else values
}

es_measured <- function(runs, predictors, normalize, center) {
  if (ncol(runs) < 2) return(measured(NA_real_, one_run))
  measured_es(es_of_runs(runs, predictors, normalize, center))
}

measured_es <- function(value) {
  measured(value, "0/0: the predictions of all runs are zero, or there is only one run")
}

# Centring x is the same as centring x times the coefficients.
es_of_runs <- function(runs, predictors, normalize, center) {
  if (center) predictors <- sweep(predictors, 2, colMeans(predictors))
  mean_predictor <- rowMeans(predictors)
  spread <- sum((predictors - mean_predictor)^2)
  size <- if (normalize == "fit") sum(mean_predictor^2) else sum(Matrix::rowMeans(runs)^2)
  spread / (ncol(runs) * size)
}

# Both forms for the table of stability(): those that are stored, unless `x` is given.
es_of_data <- function(data) {
  if (ncol(data$runs) < 2) return(measured(c(NA_real_, NA_real_), one_run))
  if (is.null(data$x)) {
    if (is.null(data$es)) return(measured(c(NA_real_, NA_real_), "`x` was not given"))
    return(measured_es(data$es))
  }
  predictors <- run_predictors(data$x, data$runs)
  measured_es(c(es_of_runs(data$runs, predictors, "coef", center = FALSE),
                es_of_runs(data$runs, predictors, "fit", center = TRUE)))
}

# ---- in the cv object ----------------------------------------------------------------------------

# What cv.n2gfl() keeps for each row of the grid: the paper's ES, the form of Lim and Yu on centred
# x, and the multi-set Dice coefficient. Rows without weight, such as those that an outer fold holds
# out, must not influence the choice of a row. `held`: the rows that each run leaves out.
stability_columns <- function(fold.fits, view, held) {
  predictors_of <- predictors_in(fold.fits, view$data, held)
  rows <- seq_len(ncol(fold.fits[[1]]$beta))
  values <- vapply(rows, function(row) {
    runs <- runs_at(fold.fits, row)
    c(es_values(runs, predictors_of(runs)), mdc_measured(runs)$value)
  }, numeric(3))
  list(es = cbind(coef = values[1, ], fit = values[2, ]), mdc = values[3, ])
}

# The paper's form, and that of Lim and Yu on centred x.
es_values <- function(runs, predictors) {
  c(es_measured(runs, predictors, "coef", center = FALSE)$value,
    es_measured(runs, predictors, "fit", center = TRUE)$value)
}

# A function that gives the features' part of the linear predictor of all runs, with one column per
# run, in the rows with weight. Each run sees x as its own view does: scaled and harmonised with
# what its own rows say.
predictors_in <- function(fold.fits, data, held) {
  used <- which(data$weights > 0)
  if (is.null(data$scaling) && is.null(data$harmony)) {
    return(function(runs) run_predictors(data$x, runs, used))
  }
  data$controls <- NULL  # effects of covariates do not count here
  maps <- lapply(held, function(rows) view_map(data, replace(data$weights, rows, 0), "other runs"))
  function(runs) {
    vapply(seq_along(maps), function(k) {
      beta <- sparse_columns(list(column_entries(runs, k)), nrow(runs))
      feature_link(data$x, beta, used, maps[[k]], fold.fits[[k]]$sites)[, 1]
    }, numeric(length(used)))
  }
}
