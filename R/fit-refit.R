# Coefficients without shrinkage on the regions that a fit selected. The column of a region is the
# sum of its features' columns. The core solves the resulting small problem: no graph, no penalty,
# the same sign.

# `chosen` (a0, gamma, beta, own) with every column refitted.
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
    if (!is.null(chosen$own)) chosen$own[, k] <- fit$own
    chosen$beta@x[entries] <- fit$beta[label[entries], 1] / scale[features]
  }
  # The sign constraint can set a region of the shrunken fit to 0: such regions are dropped.
  chosen$beta <- Matrix::drop0(chosen$beta)
  chosen
}

# The model of one fit's regions: one column each, nothing penalised.
fit_regions <- function(object, given, features, label, scale, name) {
  columns <- sum_columns(object, given, features, label, scale)
  check_region_count(object, given, ncol(columns), name)
  arguments <- refit_arguments(object, given, lambda1 = 0, lambda2 = 0)
  arguments <- add_global(arguments, means_of(given$x))
  # The columns are those of scaled and harmonised features already.
  arguments[c("global", "scale", names(harmonize_arguments(object$harmonize)))] <- NULL
  arguments$x <- columns
  arguments$graph <- graph_edges(integer(0), integer(0), n = ncol(columns))
  arguments[c("penalty", "standardize")] <- list("fused", FALSE)
  arguments["penalty.factor"] <- list(NULL)
  fit <- fit_quietly(arguments)
  warn_refit(fit, arguments, name)
  fit
}

# Its warnings refer to a fit that the user did not ask for; the first fit gave its messages.
fit_quietly <- function(arguments) suppressMessages(suppressWarnings(do.call(n2gfl, arguments)))

# The sums of the features of each region, as the fit saw them.
sum_columns <- function(object, given, features, label, scale) {
  regions <- Matrix::sparseMatrix(features, label, x = 1 / scale,
                                  dims = c(ncol(given$x), max(label)))
  map <- new_map(object, given$x, given$data, given$scale, NULL, means_of(given$x), NULL,
                 list(x = "x", data = "data", scale = "scale"))
  feature_link(given$x, regions, map = map, estimates = object$harmonize$estimates)
}

warn_refit <- function(fit, arguments, name) {
  flaw <- family_of(fit$family)$refit_flaw(fit)
  if (!is.null(flaw)) {
    warning("The regions of fit ", name, " ", flaw, ": without shrinkage their coefficients have ",
            "no finite value.", call. = FALSE)
  } else if (any_diverges(fit, arguments)) {
    warning("A region of fit ", name, " separates some observations from all others: without ",
            "shrinkage its coefficient has no finite value.", call. = FALSE)
  } else if (!fit$grid$converged) {
    warning("The refit of ", name, " did not converge (gap ", format(fit$grid$gap, digits = 2),
            ").", call. = FALSE)
  }
}

# Does the deviance still fall, up to the precision of fits, where a coefficient is doubled? Only
# coefficients that move links by more than 10 can be on their way to infinity: the fit ends when
# what is left of the deviance is below `thresh`.
any_diverges <- function(fit, arguments) {
  if (isTRUE(fit$deconfound)) return(FALSE)  # the columns here are not those of the model
  used <- (arguments$weights %or% rep(1, nrow(arguments$x))) > 0
  beta <- as.vector(fit$beta[, 1])
  reach <- abs(beta) * apply(arguments$x[used, , drop = FALSE], 2, function(x) diff(range(x)))
  for (k in which(reach > 10)) {
    farther <- arguments
    farther$offset <- (arguments$offset %or% 0) + 2 * beta[k] * arguments$x[, k]
    # The column itself must stay out; the other regions remain without penalty.
    farther$penalty.factor <- as.numeric(seq_along(beta) == k)
    farther$lambda1 <- 1e10
    # Where the deviance overflows, it does not fall.
    there <- tryCatch(deviance(fit_quietly(farther)), error = function(e) Inf)
    if (there <= deviance(fit) + fit$control$thresh * fit$nulldev) return(TRUE)
  }
  FALSE
}

check_region_count <- function(object, given, regions, name) {
  rows <- if (is.null(given$weights)) object$nobs else sum(given$weights > 0)
  others <- unpenalised_count(object)
  if (regions + others >= rows) {
    stop_bad("`refit` must leave more observations than coefficients, but fit ", name, " has ",
             count_of(regions, "region"),
             if (others) paste(" and", count_of(others, "unpenalised coefficient")),
             " for ", count_of(rows, "observation"), ".")
  }
}

# The number of free coefficients. Those of covariates that were removed from x are not free: they
# follow from the coefficients of the features.
unpenalised_count <- function(object) {
  own <- if (family_of(object$family)$own_terms) NROW(object$own) else 0L
  object$control$intercept + own + if (isTRUE(object$deconfound)) 0L else NROW(object$gamma)
}

# The standard deviations by which the fit divided the columns of its supports, 1 without
# standardize = TRUE. Only those of the supports are computed.
support_scale <- function(object, beta, given) {
  scale <- rep(1, nrow(beta))
  if (!object$control$standardize) return(scale)
  if (isTRUE(object$deconfound)) {
    stop_bad("`refit` must be FALSE for a fit with standardize = TRUE and `deconfound`, whose ",
             "coefficients do not determine its regions.")
  }
  weights <- check_weights(given$weights, nrow(given$x))
  weights <- weights / sum(weights)
  for (j in sort(unique(beta@i)) + 1L) {
    column <- sum_columns(object, given, j, 1L, 1)
    centred <- column - sum(weights * column)
    scale[j] <- sqrt(sum(weights * centred^2))
  }
  scale
}

# ---- regions of coefficients ---------------------------------------------------------------------

# The region of each nonzero entry of `beta`, counted from 1 in each column. With the Laplacian
# penalty neighbours do not get one value, and each feature is a region, as in `df`.
region_labels <- function(beta, object, scale = NULL) {
  if (!makes_regions(object)) return(sequence(diff(beta@p)))
  # Undoing the scale of standardize = TRUE causes rounding errors.
  rounded <- object$control$standardize
  values <- if (rounded) beta@x * scale[beta@i + 1L] else beta@x
  label_parts(beta, object$graph, values, if (rounded) 1e-9 else 0)
}
