# The losses of the families from their definitions. Each entry has
#   code(y, on)         the rows `on` of the user's response as numbers
#   intercept           does the family have one?
#   arrange(p)          what else the entry needs, added to the problem (see reference_problem)
#   value(p, eta)       the loss: half the deviance per unit of weight, so that its infimum is 0
#   residual(p, eta)    - d value / d eta
#   curve(p, eta, v)    the second derivative times the columns of v
#   dual(p, theta)      inf over eta of value(p, p$o + eta) + theta'eta, -Inf outside its domain
#   start(p, fixed)     where Newton's method for the free coefficients starts
loss_of <- function(p) reference_losses()[[p$family]]

reference_losses <- function() {
  list(gaussian = gaussian_reference, binomial = binomial_reference, poisson = poisson_reference,
       cox = cox_reference, ordinal = ordinal_reference, huber = huber_reference)
}

reference_families <- c("gaussian", "binomial", "poisson", "cox", "ordinal")

loss_value <- function(p, eta) loss_of(p)$value(p, eta)
loss_residual <- function(p, eta) loss_of(p)$residual(p, eta)
loss_dual <- function(p, theta) loss_of(p)$dual(p, theta)

# log(1 + exp(-m)) without overflow.
log1p_exp_neg <- function(m) pmax(-m, 0) + log1p(exp(-abs(m)))

# x log(x / y), and 0 for x = 0.
entropy_term <- function(x, y = 1) ifelse(x <= 0, 0, x * log(x / y))

# Removes large shifts from eta.
shift_start <- function(p, fixed) -stats::lm.wfit(p$free, fixed, p$w)$coefficients

# ---- gaussian, binomial, poisson -----------------------------------------------------------------

gaussian_reference <- list(
  intercept = TRUE, arrange = identity, start = shift_start,
  code = function(y, on) as.numeric(y)[on],
  value = function(p, eta) sum(p$w * (p$y - eta)^2) / 2,
  residual = function(p, eta) p$w * (p$y - eta),
  curve = function(p, eta, v) p$w * v,
  dual = function(p, theta) sum(theta * (p$y - p$o)) - sum(theta^2 / p$w) / 2
)

# Two classes become -1 and 1, the larger one is 1.
binomial_reference <- list(
  intercept = TRUE, arrange = identity, start = shift_start,
  code = function(y, on) {
    y <- if (is.factor(y)) as.integer(y)[on] else as.numeric(y)[on]
    ifelse(y == max(y), 1, -1)
  },
  value = function(p, eta) sum(p$w * log1p_exp_neg(p$y * eta)),
  residual = function(p, eta) p$w * p$y * stats::plogis(-p$y * eta),
  curve = function(p, eta, v) p$w * stats::plogis(eta) * stats::plogis(-eta) * v,
  dual = function(p, theta) {
    q <- p$y * theta / p$w
    entropy <- ifelse(q <= 0, 0, q * log(q)) + ifelse(q >= 1, 0, (1 - q) * log1p(-q))
    -sum(theta * p$o) - sum(p$w * entropy)
  }
)

# exp(eta) - y eta, and what makes its infimum 0. With mean m = y - theta / w the infimum of
# loss + theta'eta is m - m log(m), with the same constant.
poisson_reference <- list(
  intercept = TRUE, arrange = identity,
  code = function(y, on) as.numeric(y)[on],
  value = function(p, eta) sum(p$w * (exp(eta) - p$y * eta + entropy_term(p$y) - p$y)),
  residual = function(p, eta) p$w * (p$y - exp(eta)),
  curve = function(p, eta, v) p$w * exp(eta) * v,
  dual = function(p, theta) {
    mean <- p$y - theta / p$w
    if (min(mean) < -1e-12 * max(1, p$y)) return(-Inf)
    mean <- pmax(mean, 0)
    sum(p$w * (mean - entropy_term(mean) + entropy_term(p$y) - p$y)) - sum(theta * p$o)
  },
  # The intercept at which the means add up to the counts, without overflow.
  start = function(p, fixed) {
    if (!p$intercept) return(shift_start(p, fixed))
    top <- max(fixed)
    level <- log(sum(p$w * p$y)) - log(sum(p$w * exp(fixed - top))) - top
    c(level, rep(0, ncol(p$free) - 1))
  }
)

# The family of test-added-family.R: r^2 / 2 for |r| <= 1, else |r| - 1/2. The second derivative of
# the second part is 0; a little more lets Newton's method move from there.
huber_reference <- list(
  intercept = TRUE, arrange = identity, start = shift_start,
  code = function(y, on) as.numeric(y)[on],
  value = function(p, eta) {
    size <- abs(p$y - eta)
    sum(p$w * ifelse(size <= 1, size^2 / 2, size - 0.5))
  },
  residual = function(p, eta) p$w * pmax(pmin(p$y - eta, 1), -1),
  curve = function(p, eta, v) p$w * ifelse(abs(p$y - eta) <= 1, 1, 1e-3) * v,
  dual = function(p, theta) {
    if (max(abs(theta) / p$w) > 1 + 1e-12) return(-Inf)
    sum(theta * (p$y - p$o)) - sum(theta^2 / p$w) / 2
  }
)

# ---- cox -----------------------------------------------------------------------------------------

# Breslow's partial likelihood. For each stratum and each time t with events of weight D_t
#   D_t log(sum over the risk set of w_j exp(eta_j) / D_t) - sum over the events of w_i eta_i.
cox_reference <- list(
  intercept = FALSE, start = shift_start,
  code = function(y, on) {
    strata <- attr(y, "strata")
    y <- unclass(y)
    all <- cbind(time = y[, "time"], status = y[, "status"],
                 stratum = if (is.null(strata)) 1 else as.integer(factor(strata)))
    all[on, , drop = FALSE]
  },
  arrange = function(p) {
    p$event <- p$w * p$y[, "status"]
    times <- unique(p$y[p$event > 0, c("stratum", "time"), drop = FALSE])
    times <- times[order(times[, "stratum"], times[, "time"]), , drop = FALSE]
    same <- outer(times[, "stratum"], p$y[, "stratum"], "==")
    p$at_risk <- same & outer(times[, "time"], p$y[, "time"], "<=")
    p$died <- drop((same & outer(times[, "time"], p$y[, "time"], "==")) %*% p$event)
    p$times <- times
    p
  },
  value = function(p, eta) sum(p$died * (cox_log_sums(p, eta) - log(p$died))) - sum(p$event * eta),
  residual = function(p, eta) p$event - drop(crossprod(cox_shares(p, eta), p$died)),
  curve = function(p, eta, v) {
    share <- cox_shares(p, eta)
    drop(crossprod(share, p$died)) * v - crossprod(share, p$died * (share %*% v))
  },
  dual = function(p, theta) {
    parts <- cox_parts(p, p$event - theta)
    if (is.null(parts)) return(-Inf)
    weight <- matrix(p$w, nrow(parts), ncol(parts), byrow = TRUE)
    -sum(entropy_term(parts, weight)) - sum(theta * p$o)
  }
)

# For each event time the logarithm of the risk set's sum of w exp(eta).
cox_log_sums <- function(p, eta) {
  apply(p$at_risk, 1, function(on) {
    term <- (log(p$w) + eta)[on]
    max(term) + log(sum(exp(term - max(term))))
  })
}

# The share of each row (column) in the sum of each event time (row).
cox_shares <- function(p, eta) {
  term <- matrix(log(p$w) + eta, nrow(p$at_risk), ncol(p$at_risk), byrow = TRUE)
  ifelse(p$at_risk, exp(term - cox_log_sums(p, eta)), 0)
}

# The conjugate of a term D log(sum w exp(eta) / D) at q is sum q log(q / w), for q >= 0 on the risk
# set with sum(q) = D. For a sum of such terms `mass`, one number per row, is divided among the
# event times with the least sum of entropies. The best division is that of an eta: a row at risk
# until event k gives event t <= k the share (1 - kept_t) kept_(t+1) ... kept_k of its mass, where
# kept_t = A_t / (A_t + D_t), and A_t is the mass of all rows that are at risk at t or later minus
# the D of t and of later events. There is no division if a mass or an A is negative.
cox_parts <- function(p, mass) {
  tiny <- 1e-12 * sum(p$died)
  never <- !apply(p$at_risk, 2, any)
  if (min(mass) < -tiny || any(abs(mass[never]) > tiny)) return(NULL)
  mass <- pmax(mass, 0)
  parts <- 0 * p$at_risk
  for (stratum in unique(p$times[, "stratum"])) {
    events <- which(p$times[, "stratum"] == stratum)
    later <- drop((p$at_risk[events, , drop = FALSE] + 0) %*% mass)
    spare <- later - rev(cumsum(rev(p$died[events])))
    if (min(spare) < -tiny || abs(spare[1]) > tiny) return(NULL)
    spare <- replace(pmax(spare, 0), 1, 0)
    kept <- spare / (spare + p$died[events])
    # share[t, k] of the mass of a row that is at risk until event k
    share <- outer(seq_along(events), seq_along(events), Vectorize(function(t, k) {
      if (t <= k) (1 - kept[t]) * prod(kept[seq_len(k - t) + t]) else 0
    }))
    last <- colSums(p$at_risk[events, , drop = FALSE])
    rows <- which(last > 0)
    parts[events, rows] <- share[, last[rows]] * rep(mass[rows], each = length(events))
  }
  parts
}

# ---- ordinal -------------------------------------------------------------------------------------

# -log(plogis(u) - plogis(v)) with u = cut_y - eta and v = cut_(y-1) - eta. It is a loss of the pair
# (-u, -v), so each row becomes two, one for each end that is finite, with the cut points as free
# coefficients. The dual is then the conjugate in the pair, row by row.
ordinal_reference <- list(
  intercept = FALSE,
  code = function(y, on) as.integer(factor(as.integer(y)[on])),
  arrange = function(p) {
    p$cuts <- max(p$y) - 1
    p$upper <- which(p$y <= p$cuts)
    p$lower <- which(p$y > 1)
    rows <- c(p$upper, p$lower)
    p$level_weight <- p$w
    p$free <- cbind(-diag(p$cuts)[c(p$y[p$upper], p$y[p$lower] - 1), , drop = FALSE],
                    p$free[rows, , drop = FALSE])
    p$a <- p$a[rows, , drop = FALSE]
    p$o <- p$o[rows]
    p$w <- p$w[rows]
    p
  },
  value = function(p, eta) {
    ends <- ordinal_ends(p, eta)
    if (any(ends$u <= ends$v)) return(Inf)
    term <- log1p_exp_neg(ends$u) + log1p_exp_neg(-ends$v) - log(-expm1(ends$v - ends$u))
    sum(p$level_weight * term)
  },
  residual = function(p, eta) {
    ends <- ordinal_ends(p, eta)
    close <- p$level_weight / expm1(ends$u - ends$v)
    up <- -p$level_weight * stats::plogis(-ends$u) - close
    down <- p$level_weight * stats::plogis(ends$v) + close
    c(up[p$upper], down[p$lower])
  },
  curve = function(p, eta, v) {
    ends <- ordinal_ends(p, eta)
    close <- 1 / expm1(ends$u - ends$v)
    close <- close * (1 + close)
    own <- function(end) stats::plogis(end) * stats::plogis(-end)
    v <- as.matrix(v)
    up <- down <- matrix(0, length(ends$u), ncol(v))
    up[p$upper, ] <- v[seq_along(p$upper), ]
    down[p$lower, ] <- v[length(p$upper) + seq_along(p$lower), ]
    both <- close * (up - down)
    p$w * rbind((own(ends$u) * up + both)[p$upper, , drop = FALSE],
                (own(ends$v) * down - both)[p$lower, , drop = FALSE])
  },
  dual = function(p, theta) {
    up <- down <- 0 * p$level_weight
    up[p$upper] <- -theta[seq_along(p$upper)]
    down[p$lower] <- theta[length(p$upper) + seq_along(p$lower)]
    w <- p$level_weight
    sum(w * ordinal_conjugate(up / w, down / w)) - sum(theta * p$o)
  },
  # Cut points as without features, moved by the mean of eta.
  start = function(p, fixed) {
    below <- vapply(seq_len(p$cuts), function(k) {
      sum(p$level_weight[p$y <= k]) / sum(p$level_weight)
    }, 0)
    c(stats::qlogis(below) + stats::weighted.mean(fixed, p$w), rep(0, ncol(p$free) - p$cuts))
  }
)

# Both ends of each row's level.
ordinal_ends <- function(p, eta) {
  u <- rep(Inf, length(p$level_weight))
  v <- -u
  u[p$upper] <- -eta[seq_along(p$upper)]
  v[p$lower] <- -eta[length(p$upper) + seq_along(p$lower)]
  list(u = u, v = v)
}

# inf over u > v of -log(plogis(u) - plogis(v)) + a u - b v. At the infimum P = plogis(u) and
# Q = plogis(v) satisfy P (1 - P) = a (P - Q) and Q (1 - Q) = b (P - Q), hence P + Q = 1 - a + b,
# and P - Q solves a quadratic equation. The logits follow from the same equations.
ordinal_conjugate <- function(a, b) {
  if (min(a, b) < -1e-12 || max(abs(a - b)) > 1 + 1e-12) return(-Inf)
  a <- pmax(a, 0)
  b <- pmax(b, 0)
  rise <- pmax(1 - a + b, 1e-16)
  fall <- pmax(1 + a - b, 1e-16)
  width <- rise * fall / (sqrt(4 * a * b + 1) + a + b)
  upper <- (rise + width) / 2
  above_lower <- (fall + width) / 2
  2 * a * log(upper) - entropy_term(a, 1 / width) - entropy_term(b, 1 / width) +
    2 * b * log(above_lower) - log(width)
}
