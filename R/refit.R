# Coefficients without shrinkage on the regions that a fit selected. The region's column is the sum
# of its features' columns, and the core itself solves the small problem that is left: no graph, no
# penalty, the same sign.

# `chosen` (a0, gamma, beta) with every column refitted.
refit_regions <- function(object, chosen, given) {
  scale <- support_scale(object, chosen$beta, given)
  label <- region_labels(chosen$beta, object, scale)
  column <- rep(seq_len(ncol(chosen$beta)), diff(chosen$beta@p))
  for (k in which(diff(chosen$beta@p) > 0)) {
    entries <- which(column == k)
    features <- chosen$beta@i[entries] + 1L
    fit <- fit_regions(object, given, features, label[entries], scale[features],
                       colnames(chosen$beta)[k])
    chosen$a0[k] <- fit$a0
    if (!is.null(chosen$gamma)) chosen$gamma[, k] <- fit$gamma
    chosen$beta@x[entries] <- fit$beta[label[entries], 1] / scale[features]
  }
  # A sign can forbid what the shrunken fit had: those regions drop out.
  chosen$beta <- Matrix::drop0(chosen$beta)
  chosen
}

# The model of one fit's regions: one column each, nothing penalised.
fit_regions <- function(object, given, features, label, scale, name) {
  columns <- sum_columns(given$x, features, label, scale)
  check_region_count(object, given, ncol(columns), name)
  arguments <- refit_arguments(object, given, lambda1 = 0, lambda2 = 0)
  arguments$x <- columns
  arguments$graph <- graph_edges(integer(0), integer(0), n = ncol(columns))
  arguments[c("penalty", "standardize")] <- list("fused", FALSE)
  arguments["penalty.factor"] <- list(NULL)
  # Its one warning speaks of a grid that the user has not asked for, its one message is known.
  fit <- suppressMessages(suppressWarnings(do.call(n2gfl, arguments)))
  warn_refit(fit, name)
  fit
}

sum_columns <- function(x, features, label, scale) {
  which_region <- Matrix::sparseMatrix(seq_along(label), label, x = 1 / scale)
  as.matrix(x[, features, drop = FALSE] %*% which_region)
}

# Separated classes have no best coefficients: the deviance goes to zero as they grow.
warn_refit <- function(fit, name) {
  if (fit$family == "binomial" && fit$grid$dev.ratio > 1 - 1e-4) {
    warning("The regions of fit ", name, " separate the classes perfectly: without shrinkage ",
            "their coefficients have no finite value.", call. = FALSE)
  } else if (!fit$grid$converged) {
    warning("The refit of ", name, " did not converge (gap ", format(fit$grid$gap, digits = 2),
            ").", call. = FALSE)
  }
}

check_region_count <- function(object, given, regions, name) {
  rows <- if (is.null(given$weights)) object$nobs else sum(given$weights > 0)
  others <- unpenalised_count(object)
  if (regions + others >= rows) {
    stop_bad("`refit` must leave more observations than coefficients, but fit ", name, " has ",
             count_of(regions, "region"), if (others) paste(" and", others, "unpenalised"),
             " for ", count_of(rows, "observation"), ".")
  }
}

# Coefficients that are free. Those of covariates removed from x follow from the features' own.
unpenalised_count <- function(object) {
  object$control$intercept + if (isTRUE(object$deconfound)) 0L else NROW(object$gamma)
}

# The standard deviations by which the fit divided the columns of its supports, 1 without
# standardize = TRUE. Only the support's are computed.
support_scale <- function(object, beta, given) {
  scale <- rep(1, nrow(beta))
  if (!object$control$standardize) return(scale)
  if (isTRUE(object$deconfound)) {
    stop_bad("`refit` must be FALSE for a fit with standardize = TRUE and `deconfound`, whose ",
             "coefficients do not tell its regions.")
  }
  weights <- check_weights(given$weights, nrow(given$x))
  weights <- weights / sum(weights)
  for (j in sort(unique(beta@i)) + 1L) {
    centred <- given$x[, j] - sum(weights * given$x[, j])
    scale[j] <- sqrt(sum(weights * centred^2))
  }
  scale
}

# ---- regions of coefficients ---------------------------------------------------------------------

# The region of each nonzero entry of `beta`, counted from 1 in each column: pieces of one value for
# the fused penalty. Squared differences leave no such pieces; there it is each feature for itself,
# as in `df`.
region_labels <- function(beta, object, scale = NULL) {
  if (object$penalty == "laplacian") return(sequence(diff(beta@p)))
  # Undoing the scale of standardize = TRUE rounds.
  rounded <- object$control$standardize
  values <- if (rounded) beta@x * scale[beta@i + 1L] else beta@x
  label_parts(beta, object$graph, values, if (rounded) 1e-9 else 0)
}

# Neighbours belong together when their values differ by at most `slack`, relatively.
label_parts <- function(beta, graph, values, slack) {
  label_parts_cpp(graph_list(graph), beta@p, beta@i, values, slack)
}
