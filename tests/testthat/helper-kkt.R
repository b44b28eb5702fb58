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

# A lower bound of the optimum: the dual value of the residual, scaled until a flow makes it
# feasible. What is left at a node without a penalty of its own, which no scale removes, may gain as
# much as it is times |b|_1, for an optimum near b.
scaled_bound <- function(p, r, b, bound, caps) {
  g <- drop(crossprod(p$a, r))
  best <- dual_program(g, bound, caps, p$graph, p$sign, "scale")
  t <- min(max(best$t, 0), 1)
  excess <- outside(t * g - divergence(best$flow, p$graph), bound, p$sign)
  held <- bound > 0
  shrink <- min((bound / (bound + excess))[held], 1, na.rm = TRUE)
  loss_dual(p, t * shrink * r) - max(0, excess[!held]) * sum(abs(b))
}

# The best of three bounds. Where only nodes without penalty are connected, scaling has to go to
# zero: then the residual is moved along these nodes first, or taken as it is, of which `violation`
# is left.
fused_bound <- function(p, eta, r, b, bound, caps, violation) {
  scaled <- scaled_bound(p, r, b, bound, caps)
  if (all(bound > 0)) return(scaled)
  moved <- settle_unpenalised(p, eta, r, b, 0, which(bound == 0 & b != 0))$r
  max(scaled, scaled_bound(p, moved, b, bound, caps),
      loss_dual(p, r) - violation * sum(abs(b)), na.rm = TRUE)
}

# The same for the quadratic penalty: its dual variable is the flow 2 lambda2 w (b_i - b_j).
laplacian_dual <- function(p, r, g, bound, flow, lambda2) {
  excess <- outside(g - divergence(flow, p$graph), bound, p$sign)
  t <- if (any(bound == 0)) 1 else min(bound / (bound + excess), 1, na.rm = TRUE)
  energy <- if (lambda2 > 0) sum(flow^2 / (4 * lambda2 * p$graph$weight)) else 0
  loss_dual(p, t * r) - t^2 * energy
}

# Features without a penalty of their own have no scale by which the dual point could be made
# feasible. Their rest of a gradient is removed by one Newton step of the dual point, along them and
# the free coefficients.
settle_unpenalised <- function(p, eta, r, b, lambda2, on) {
  columns <- cbind(p$a[, on, drop = FALSE], p$free)
  first <- seq_along(on)
  smooth <- 2 * lambda2 * crossprod(sqrt(p$graph$weight) * incidence(p$graph))
  hessian <- crossprod(columns, loss_of(p)$curve(p, eta, columns))
  hessian[first, first] <- hessian[first, first] + smooth[on, on]
  gradient <- crossprod(columns, r)
  gradient[first] <- gradient[first] - (smooth %*% b)[on]
  step <- tryCatch(solve(hessian, gradient), error = function(e) 0 * gradient)
  list(r = r - drop(loss_of(p)$curve(p, eta, columns %*% step)),
       b = replace(b, on, b[on] + step[first]))
}

# The better of both bounds, less what gradients outside of their bounds may gain for the optimum,
# which is near b.
laplacian_bound <- function(p, eta, r, b, bound, lambda2) {
  from_flow <- function(at) {
    flow <- 2 * lambda2 * p$graph$weight * (at$b[p$graph$from] - at$b[p$graph$to])
    g <- drop(crossprod(p$a, at$r))
    wrong <- outside(g - divergence(flow, p$graph), bound, p$sign)
    spare <- if (any(bound == 0)) max(wrong) * sum(abs(b)) else 0
    list(value = laplacian_dual(p, at$r, g, bound, flow, lambda2) - spare, wrong = wrong)
  }
  first <- from_flow(list(r = r, b = b))
  on <- which(bound == 0 & first$wrong > 0)
  if (!length(on)) return(first)
  moved <- from_flow(settle_unpenalised(p, eta, r, b, lambda2, on))
  list(value = max(first$value, moved$value), wrong = first$wrong)
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
    violation <- max(outside(g - divergence(flow, p$graph), bound, p$sign))
    dual <- fused_bound(p, eta, r, b, bound, caps, violation)
  } else {
    proof <- laplacian_bound(p, eta, r, b, bound, row$lambda2)
    violation <- max(proof$wrong)
    dual <- proof$value
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
