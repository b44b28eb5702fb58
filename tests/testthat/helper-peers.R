# Calls of other packages, turned into the terms of reference_problem().

# The lasso of glmnet (lambda2 = 0): covariates are columns without penalty. glmnet rescales
# penalty factors to mean 1; this is undone in lambda.
glmnet_lasso <- function(p, lambda1, thresh = 1e-14) {
  given <- p$args
  q <- NCOL(given$covariates)
  if (is.null(given$covariates)) q <- 0
  factor <- c(rep(0, q), p$u)
  limits <- function(value) c(rep(value[1], q), rep(value[2], length(p$u)))
  counted <- sum(replace(factor, factor == Inf, 1)) / length(factor)
  # glmnet warns of any value of `intercept` if there can be none
  intercept <- if (loss_of(p)$intercept) list(intercept = given$intercept)
  fit <- do.call(glmnet::glmnet, c(list(
    cbind(given$covariates, as.matrix(given$x)), glmnet_response(given$y, p$family),
    family = p$family, weights = given$weights, offset = given$offset,
    lambda = lambda1 * counted, penalty.factor = factor, standardize = given$standardize,
    thresh = thresh, maxit = 1e7,
    lower.limits = limits(c(-Inf, if (p$sign == "nonnegative") 0 else -Inf)),
    upper.limits = limits(c(Inf, if (p$sign == "nonpositive") 0 else Inf))
  ), intercept))
  coefs <- as.matrix(fit$beta)
  list(a0 = if (p$intercept) unname(fit$a0) else 0 * lambda1,
       gamma = unname(coefs[seq_len(q), , drop = FALSE]),
       beta = unname(coefs[q + seq_along(p$u), , drop = FALSE]))
}

# Strata of survival times as glmnet takes them.
glmnet_response <- function(y, family) {
  strata <- attr(y, "strata")
  if (family != "cox" || is.null(strata)) return(y)
  glmnet::stratifySurv(survival::Surv(y[, "time"], y[, "status"]), strata)
}

# The smallest lambda1 at which zero is optimal, by a linear program: g - div(flow) <= t u.
lambda_max_program <- function(p, lambda2) {
  on <- which(p$u < Inf)
  g <- p$null$gradient
  caps <- lambda2 * p$graph$weight
  scale <- max(abs(g))
  v <- conic_variables(c(t = 1, flow = length(caps)))
  div <- t(incidence(p$graph))[on, , drop = FALSE]
  side <- function(s) in_cone(v, -s * g[on] / scale, t = p$u[on], flow = s * div)
  box <- function(s) in_cone(v, caps / scale, flow = s * diag(length(caps)))
  rows <- stack_rows(c(
    list(in_cone(v, 0, t = 1)), if (p$sign != "nonpositive") list(side(1)),
    if (p$sign != "nonnegative") list(side(-1)), if (length(caps)) list(box(1), box(-1))
  ))
  cost <- replace(numeric(1 + length(caps)), 1, 1)
  ecos_solve(cost, rows, list(l = length(rows$h), q = integer(0), e = 0))$x[1] * scale
}

# The quadratic penalty with squared error, by quadprog: one quadratic program for each
# combination of signs, the best of them.
laplacian_program <- function(p, lambda1, lambda2) {
  d <- ncol(p$a)
  design <- cbind(p$a, p$free)
  q <- ncol(design) - d
  smooth <- matrix(0, d + q, d + q)
  root <- sqrt(2 * lambda2 * p$graph$weight)
  smooth[seq_len(d), seq_len(d)] <- crossprod(root * incidence(p$graph))
  quadratic <- crossprod(design * sqrt(p$w)) + smooth
  linear <- drop(crossprod(design, p$w * (p$y - p$o)))
  signs <- switch(p$sign, nonnegative = matrix(1, 1, d), nonpositive = matrix(-1, 1, d),
                  free = as.matrix(expand.grid(rep(list(c(-1, 1)), d))))
  best <- NULL
  for (k in seq_len(nrow(signs))) {
    s <- signs[k, ]
    sides <- rbind(diag(s, d), matrix(0, q, d))
    answer <- quadprog::solve.QP(quadratic, linear - c(lambda1 * p$u * s, rep(0, q)), sides)
    beta <- s * pmax(s * answer$solution[seq_len(d)], 0) / p$scale
    value <- model_objective(p, best_free(p, beta), beta, lambda1, lambda2)
    if (is.null(best) || value < best$objective) best <- list(beta = beta, objective = value)
  }
  best
}
