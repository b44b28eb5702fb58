# Optimality of a fit, checked without the package: the best dual point along the residual is
# found by a linear program (the package uses flows), then made exactly feasible, so that the
# gap below is a proof and not an estimate.

# Variables: the flow of each edge and one number t, all in units of `scale`.
#   what = "scale":   largest t <= 1 with  t g - div(flow) within the bounds
#   what = "violate": smallest t >= 0 with  g - div(flow) within the bounds widened by t
# The bounds are +-lambda1 u (one side only for one-sided signs); |flow| <= cap.
dual_program <- function(g, bound, caps, graph, sign, what) {
  on <- which(bound < Inf)
  scale <- max(abs(g), caps, bound[on])
  v <- conic_variables(c(t = 1, flow = length(caps)))
  div <- t(incidence(graph))[on, , drop = FALSE]
  g <- g[on] / scale
  bound <- bound[on] / scale
  side <- function(s) {
    if (what == "scale") return(in_cone(v, bound, t = -s * g, flow = s * div))
    in_cone(v, bound - s * g, t = rep(1, length(g)), flow = s * div)
  }
  box <- function(s) in_cone(v, caps / scale, flow = s * diag(length(caps)))
  limit <- if (what == "scale") in_cone(v, 1, t = -1) else in_cone(v, 0, t = 1)
  rows <- stack_rows(c(
    list(limit), if (sign != "nonpositive") list(side(1)),
    if (sign != "nonnegative") list(side(-1)), if (length(caps)) list(box(1), box(-1))
  ))
  cost <- replace(numeric(1 + length(caps)), 1, if (what == "scale") -1 else 1)
  answer <- ecos_solve(cost, rows, list(l = length(rows$h), q = integer(0), e = 0))
  flow <- answer$x[v$flow] * scale
  list(t = answer$x[v$t], flow = pmin(pmax(flow, -caps), caps))
}

# By how much `excess` violates its bounds, node by node.
outside <- function(excess, bound, sign) {
  out <- switch(sign, nonnegative = excess, nonpositive = -excess, free = abs(excess)) - bound
  out[bound == Inf] <- 0
  pmax(out, 0)
}

# Dual values of the point along r, each with a flow and less what gradients outside of their bounds
# may gain for the optimum, which is near b. Where a feature has a penalty of its own, the point is
# scaled until nothing is outside.
scaled_dual <- function(p, r, b, bound, caps) {
  g <- drop(crossprod(p$a, r))
  best <- dual_program(g, bound, caps, p$graph, p$sign, "scale")
  t <- min(max(best$t, 0), 1)
  excess <- outside(t * g - divergence(best$flow, p$graph), bound, p$sign)
  own <- bound > 0
  shrink <- min((bound / (bound + excess))[own], 1, na.rm = TRUE)
  loss_dual(p, t * shrink * r) - shrink * max(excess[!own], 0) * sum(abs(b))
}

# The same for the quadratic penalty: its dual variable is the flow 2 lambda2 w (v_i - v_j) of some
# v, such as b.
laplacian_dual <- function(p, r, v, b, bound, lambda2) {
  g <- drop(crossprod(p$a, r))
  flow <- 2 * lambda2 * p$graph$weight * (v[p$graph$from] - v[p$graph$to])
  excess <- outside(g - divergence(flow, p$graph), bound, p$sign)
  t <- if (any(bound == 0)) 1 else min(bound / (bound + excess), 1, na.rm = TRUE)
  energy <- if (lambda2 > 0) sum(flow^2 / (4 * lambda2 * p$graph$weight)) else 0
  spare <- if (any(bound == 0)) max(excess) * sum(abs(b)) else 0
  loss_dual(p, t * r) - t^2 * energy - spare
}

# Features without a penalty of their own have no scale by which the dual point could be made
# feasible. Their rest of a gradient, along some columns, is removed by one Newton step of the dual
# point, along these columns and the free coefficients. `bend` and `pull` are the second derivative
# and the gradient of the penalty along the columns.
settle <- function(p, eta, r, columns, bend = 0, pull = 0) {
  first <- seq_len(ncol(columns))
  columns <- cbind(columns, p$free)
  hessian <- crossprod(columns, loss_of(p)$curve(p, eta, columns))
  hessian[first, first] <- hessian[first, first] + bend
  gradient <- crossprod(columns, r)
  gradient[first] <- gradient[first] - pull
  step <- tryCatch(solve(hessian, gradient), error = function(e) 0 * gradient)
  list(r = r - drop(loss_of(p)$curve(p, eta, columns %*% step)), step = step[first])
}

# Sets of nodes (columns) whose common value has no penalty: components without a penalty of any
# node; without fusion every node is a component.
free_sets <- function(p, bound, caps) {
  label <- component_labels(p$graph, caps > 0)
  free <- which(tapply(bound == 0, label, all))
  outer(label, free, "==") + 0
}

# The best of the dual values.
fused_bound <- function(p, eta, r, b, bound, caps, violation) {
  value <- scaled_dual(p, r, b, bound, caps)
  if (!any(bound == 0)) return(value)
  value <- max(value, loss_dual(p, r) - violation * sum(abs(b)))
  sets <- free_sets(p, bound, caps)
  wrong <- outside(drop(crossprod(p$a %*% sets, r)), numeric(ncol(sets)), p$sign) > 0
  if (!any(wrong)) return(value)
  moved <- settle(p, eta, r, p$a %*% sets[, wrong, drop = FALSE])
  max(value, scaled_dual(p, moved$r, b, bound, caps))
}

laplacian_bound <- function(p, eta, r, b, bound, lambda2, excess) {
  value <- laplacian_dual(p, r, b, b, bound, lambda2)
  on <- which(bound == 0 & excess > 0)
  if (!length(on)) return(value)
  smooth <- 2 * lambda2 * crossprod(sqrt(p$graph$weight) * incidence(p$graph))
  moved <- settle(p, eta, r, p$a[, on, drop = FALSE], smooth[on, on], (smooth %*% b)[on])
  v <- replace(b, on, b[on] + moved$step)
  max(value, laplacian_dual(p, moved$r, v, b, bound, lambda2))
}

# Four numbers that are zero at an optimum: violations of the sign, the gradient along intercept
# and covariates, the violation of stationarity (both in units of the largest gradient at zero),
# and the gap (in units of the null objective).
kkt_report <- function(p, row) {
  b <- row$beta * p$scale
  free <- fit_free(p, row)
  wrong <- switch(p$sign, nonnegative = b < 0, nonpositive = b > 0, free = FALSE)
  r_given <- loss_residual(p, linear_predictor(p, free, row$beta))
  slope <- if (length(free)) crossprod(p$free, r_given) / colSums(abs(p$free) * p$w) else 0
  best <- best_free(p, row$beta)
  eta <- linear_predictor(p, best, row$beta)
  r <- loss_residual(p, eta)
  g <- drop(crossprod(p$a, r))
  bound <- ifelse(p$u == Inf, Inf, row$lambda1 * p$u)
  primal <- model_objective(p, free, row$beta, row$lambda1, row$lambda2)
  if (p$penalty == "fused") {
    caps <- row$lambda2 * p$graph$weight
    flow <- dual_program(g, bound, caps, p$graph, p$sign, "violate")$flow
  } else {
    flow <- 2 * row$lambda2 * p$graph$weight * (b[p$graph$from] - b[p$graph$to])
  }
  excess <- outside(g - divergence(flow, p$graph), bound, p$sign)
  violation <- max(excess)
  dual <- if (p$penalty == "fused") fused_bound(p, eta, r, b, bound, caps, violation) else {
    laplacian_bound(p, eta, r, b, bound, row$lambda2, excess)
  }
  c(sign = sum(wrong | (p$u == Inf & b != 0)), slope = max(abs(slope)) / sum(abs(p$null$residual)),
    violation = violation / lambda_unit(p), gap = (primal - dual) / null_objective(p))
}

# Every row of a fit is proved optimal: by its own gap, and by the check above.
expect_kkt <- function(fit, p, thresh = 1e-6) {
  case <- paste0(" (", p$family, ", ", p$sign, ", ", p$penalty, ")")
  testthat::expect_true(all(fit$grid$converged), label = paste0("converged", case))
  testthat::expect_lte(max(fit$grid$gap), thresh, label = paste0("the fit's own gap", case))
  report <- vapply(seq_len(nrow(fit$grid)), function(k) kkt_report(p, fit_row(fit, k)), numeric(4))
  limit <- c(sign = 0, slope = 1e-7 + sqrt(thresh) / 100, violation = 1e-7 + sqrt(thresh),
             gap = 1e-8 + 2 * thresh)
  # If a feature is not penalised, the error of this dual point is proportional to the rest of its
  # gradient. The error of the fit's own dual point, which is moved first, is proportional to its
  # square.
  if (any(fit$grid$lambda1 == 0)) limit[["gap"]] <- limit[["gap"]] + sqrt(thresh) / 1000
  for (what in names(limit)) {
    testthat::expect_lte(max(report[what, ]), limit[[what]], label = paste0(what, case))
  }
  # the dual value is a lower bound, so a negative gap would mean a wrong check
  testthat::expect_gte(min(report["gap", ]), -1e-9, label = paste0("smallest gap", case))
}

# ---- the prox ---------------------------------------------------------------------------

# The dual value of a flow: the best b, node by node, if the edges only act through div(flow).
prox_dual <- function(flow, z, graph, masses, thresholds, sign) {
  v <- z - divergence(flow, graph) / masses
  a <- ifelse(thresholds == Inf, 0, thresholds) / masses
  b <- sign(v) * pmax(abs(v) - a, 0)
  if (sign == "nonnegative") b <- pmax(v - a, 0)
  if (sign == "nonpositive") b <- pmin(v + a, 0)
  b[thresholds == Inf] <- 0
  pull <- divergence(flow, graph)
  sum(masses * (b - z)^2 / 2 + a * masses * abs(b) + pull * b)
}

# The relative gap between a prox and the value of its flow, from scratch.
prox_gap <- function(b, flow, z, graph, lambda1, lambda2, masses, factor, sign) {
  thresholds <- ifelse(factor == Inf, Inf, lambda1 * factor)
  primal <- prox_objective(b, z, graph, lambda1, lambda2, masses, factor)
  dual <- prox_dual(flow, z, graph, masses, thresholds, sign)
  (primal - dual) / max(sum(masses * z^2) / 2, .Machine$double.xmin)
}
