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
#'     `object$classnames`;
#'   * `"class"`: the more probable class, `"binomial"` only;
#'   * `"coefficients"`: as [coef()][coef.n2gfl];
#'   * `"nonzero"`: which coefficients are not zero.
#' @param newcovariates,newoffset Covariates and offset of the new observations; needed if the fit
#'   had them. If the covariates were a formula, a data frame with its variables; its rows are
#'   matched by name like those of `data` in [n2gfl()]. The default for images is their own table.
#' @return For `"link"`, `"response"` and `"class"` a matrix with one row per observation and one
#'   column per fit; for `"coefficients"` a sparse matrix; for `"nonzero"` a list with the feature
#'   numbers of each fit.
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
#' @importFrom stats predict
#' @export
predict.n2gfl <- function(object, newx, s = NULL, row = NULL,
                          type = c("link", "response", "class", "coefficients", "nonzero"),
                          newcovariates = NULL, newoffset = NULL, exact = FALSE,
                          refit = FALSE, ...) {
  type <- match_choice(type, "type", c("link", "response", "class", "coefficients", "nonzero"))
  if (type == "coefficients") return(coef(object, s, row, exact, refit, ...))
  chosen <- choose_fits(object, s, row, exact, refit, ...)
  if (type == "nonzero") return(nonzero_features(chosen$beta))
  family <- family_of(object$family)
  if (!type %in% family$predict_types) {
    stop_bad("`type` must be ", or_quoted(family$predict_types), " for family ",
             quoted(object$family), ", not ", quoted(type), ".")
  }
  if (missing(newx)) stop_bad("`newx` must be given for type \"", type, "\".")
  if (is.null(newcovariates) && !is.null(object$coding) && is_images(newx)) {
    newcovariates <- newx$data
  }
  table <- new_table(newcovariates, newx, "newcovariates")
  newcovariates <- if (is.data.frame(newcovariates)) table$data
    else align_new(newcovariates, "newcovariates", newx)
  newoffset <- align_vector(newoffset, "newoffset", row_labels(newx), table)
  newx <- check_newx(newx, object)
  newcovariates <- check_newcovariates(newcovariates, nrow(newx), object)
  newoffset <- check_newoffset(newoffset, nrow(newx), object)

  link <- linear_predictor(chosen, newx, newcovariates, newoffset)
  switch(type, link = link, response = family$mean(link, chosen$own),
         class = family$classes(link, object$classnames, chosen$own))
}

#' @rdname predict.n2gfl
#' @export
predict.n2gfl_cv <- function(object, newx, s = NULL, row = NULL, ...) {
  at <- cv_choice(object, s, row)
  predict(full_fit(object), newx, s = at$s, row = at$row, ...)
}

# Intercept, features, covariates and offset at the given rows of x, one column per fit.
linear_predictor <- function(chosen, x, covariates, offset, rows = seq_len(nrow(x))) {
  link <- linear_predictor_cpp(x, chosen$beta, rows)
  link <- sweep(link, 2, chosen$a0, "+")
  if (ncol(covariates)) link <- link + covariates[rows, , drop = FALSE] %*% chosen$gamma
  link <- link + offset[rows]
  dimnames(link) <- list(rownames(x)[rows], colnames(chosen$beta))
  link
}

nonzero_features <- function(beta) {
  fit <- factor(rep(seq_len(ncol(beta)), diff(beta@p)), levels = seq_len(ncol(beta)))
  stats::setNames(split(beta@i + 1L, fit), colnames(beta))
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

check_newcovariates <- function(newcovariates, n, object, name = "newcovariates", rows = "newx") {
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
