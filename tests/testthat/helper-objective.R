# Objective values directly from their definitions, without code of the package. All other
# references in the tests are built on these.

# Total variation sum w_ij |b_i - b_j| of a vector on a graph.
total_variation <- function(b, graph) {
  sum(graph$weight * abs(b[graph$from] - b[graph$to]))
}

# The net flow out of each node for a `flow` along the edges (positive: from -> to).
divergence <- function(flow, graph) {
  out <- numeric(graph$n)
  for (e in seq_along(flow)) {
    out[graph$from[e]] <- out[graph$from[e]] + flow[e]
    out[graph$to[e]] <- out[graph$to[e]] - flow[e]
  }
  out
}

# lambda1 * sum u_i |b_i|; u_i = Inf forbids a nonzero b_i, whatever lambda1 is.
l1_penalty <- function(b, u, lambda1) {
  on <- b != 0
  if (any(u[on] == Inf)) return(Inf)
  lambda1 * sum(u[on] * abs(b[on]))
}

prox_objective <- function(b, z, graph, lambda1, lambda2, masses = 1, factor = 1) {
  sum(masses * (b - z)^2) / 2 + l1_penalty(b, rep_len(factor, length(z)), lambda1) +
    lambda2 * total_variation(b, graph)
}

# A model with everything that n2gfl() takes, once as given (`args`) and once reduced to
#   loss(y, o + a b + free g) + lambda1 sum u|b| + lambda2 pen(b),   weights w with sum 1.
# `free` holds the intercept, the family's own parameters and the covariates (helper-losses.R).
reference_problem <- function(x, y, graph, family = "gaussian", sign = "nonnegative",
                              covariates = NULL, weights = NULL, offset = NULL,
                              penalty = "fused", penalty.factor = NULL, standardize = FALSE,
                              intercept = TRUE) {
  args <- list(
    x = x, y = y, graph = graph, family = family, sign = sign, covariates = covariates,
    weights = weights, offset = offset, penalty = penalty, penalty.factor = penalty.factor,
    standardize = standardize, intercept = intercept
  )
  a <- unname(as.matrix(x))
  storage.mode(a) <- "double"
  w <- if (is.null(weights)) rep(1, nrow(a)) else weights
  w <- w / sum(w)
  scale <- rep(1, ncol(a))
  if (standardize) {
    centre <- colSums(w * a)
    scale <- sqrt(colSums(w * sweep(a, 2, centre)^2))
    a <- sweep(a, 2, scale, "/")
  }
  loss <- reference_losses()[[family]]
  intercept <- intercept && loss$intercept
  free <- cbind(if (intercept) rep(1, nrow(a)), covariates)
  # rows of weight 0 have no influence
  on <- which(w > 0)
  p <- list(
    args = args, a = a[on, , drop = FALSE], y = loss$code(y, on), w = w[on], scale = scale,
    o = if (is.null(offset)) rep(0, length(on)) else offset[on],
    free = if (length(free)) free[on, , drop = FALSE],
    u = if (is.null(penalty.factor)) rep(1, ncol(a)) else penalty.factor,
    graph = graph, family = family, sign = sign, penalty = penalty, intercept = intercept
  )
  p <- loss$arrange(p)
  p$null <- null_model(p)
  p
}

# The penalty at a coefficient vector on the internal (possibly standardised) scale.
penalty_value <- function(p, b, lambda1, lambda2) {
  size <- l1_penalty(b, p$u, lambda1)
  if (p$penalty == "fused") return(size + lambda2 * total_variation(b, p$graph))
  size + lambda2 * sum(p$graph$weight * (b[p$graph$from] - b[p$graph$to])^2)
}

# eta for coefficients on the scale of the given x; `free` in the order of p$free.
linear_predictor <- function(p, free, beta) {
  eta <- p$o + drop(p$a %*% (beta * p$scale))
  if (length(free)) eta <- eta + drop(p$free %*% free)
  eta
}

model_objective <- function(p, free, beta, lambda1, lambda2) {
  loss_value(p, linear_predictor(p, free, beta)) +
    penalty_value(p, beta * p$scale, lambda1, lambda2)
}

# Best intercept, cut points and covariate coefficients for fixed beta, by damped Newton steps.
best_free <- function(p, beta) {
  if (!length(p$free)) return(numeric(0))
  fixed <- linear_predictor(p, NULL, beta)
  free <- loss_of(p)$start(p, fixed)
  for (step in 1:500) {
    eta <- fixed + drop(p$free %*% free)
    gradient <- crossprod(p$free, loss_residual(p, eta))
    hessian <- crossprod(p$free, loss_of(p)$curve(p, eta, p$free))
    # separated classes leave hardly any curvature
    if (max(diag(hessian)) < 1e-200) break
    move <- drop(solve(hessian + diag(1e-13 * max(diag(hessian)), ncol(hessian)), gradient))
    move <- move * step_size(p, eta, drop(p$free %*% move))
    free <- free + move
    if (max(abs(move)) <= 1e-13 * max(1, abs(free))) break
  }
  free
}

# The largest of 1, 1/2, 1/4, ... that does not increase the loss; 0 if none does.
step_size <- function(p, eta, direction) {
  now <- loss_value(p, eta) * (1 + 1e-14)
  for (size in 2^-(0:60)) if (loss_value(p, eta + size * direction) <= now) return(size)
  0
}

# The model without features: its objective is the unit of all gaps, its largest gradient a natural
# unit for lambda.
null_model <- function(p) {
  zero <- rep(0, ncol(p$a))
  eta <- linear_predictor(p, best_free(p, zero), zero)
  residual <- loss_residual(p, eta)
  list(objective = loss_value(p, eta), residual = residual,
       gradient = drop(crossprod(p$a, residual)))
}

null_objective <- function(p) p$null$objective
lambda_unit <- function(p) max(abs(p$null$gradient))

# One row of a fit as plain numbers.
fit_row <- function(fit, row) {
  beta <- as.numeric(fit$beta[, row])
  list(
    a0 = fit$a0[row], gamma = if (is.null(fit$gamma)) numeric(0) else fit$gamma[, row],
    own = if (is.null(fit$own)) numeric(0) else fit$own[, row],
    beta = beta, lambda1 = fit$grid$lambda1[row], lambda2 = fit$grid$lambda2[row]
  )
}

# The free coefficients of a fitted row in the order of p$free.
fit_free <- function(p, row) {
  unname(c(if (p$intercept) row$a0, if (!is.null(p$cuts)) row$own, row$gamma))
}

fit_objective <- function(p, fit) {
  vapply(seq_len(nrow(fit$grid)), function(k) {
    row <- fit_row(fit, k)
    model_objective(p, fit_free(p, row), row$beta, row$lambda1, row$lambda2)
  }, numeric(1))
}

# The fit that the package makes of a reference problem.
fit_problem <- function(p, lambda1, lambda2, ...) {
  given <- p$args
  any_sign(n2gfl(
    given$x, given$y, given$graph,
    family = given$family, sign = given$sign, covariates = given$covariates,
    weights = given$weights, offset = given$offset, penalty = given$penalty,
    penalty.factor = given$penalty.factor, standardize = given$standardize,
    intercept = given$intercept, lambda1 = lambda1, lambda2 = lambda2, ...
  ))
}

# Random problems whose effects oppose the constraint are meant so.
any_sign <- function(code) {
  withCallingHandlers(code, n2gfl_sign_warning = function(w) invokeRestart("muffleWarning"))
}
