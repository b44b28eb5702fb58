# Independent solvers: brute force and dynamic programming for the prox, a conic solver for the
# whole model. They are slow and simple on purpose and share nothing with the package.

# ---- the prox by brute force ------------------------------------------------------------

# Every way to order n values with ties, and every place of zero in that order. `rank` has one
# column per candidate; `side` is the sign of each value (-1, 0, 1).
ordered_patterns <- function(n) {
  rank <- unname(t(as.matrix(expand.grid(rep(list(seq_len(n)), n)))))
  levels <- apply(rank, 2, max)
  rank <- rank[, apply(rank, 2, function(r) length(unique(r))) == levels, drop = FALSE]
  levels <- apply(rank, 2, max)
  places <- lapply(levels, function(k) seq(0.5, k + 0.5, by = 0.5))
  rank <- rank[, rep(seq_along(places), lengths(places)), drop = FALSE]
  list(rank = rank, side = sign(rank - rep(unlist(places), each = n)))
}

# The patterns of each size, computed once.
pattern_store <- local({
  store <- list()
  function(n) {
    if (length(store) < n || is.null(store[[n]])) store[[n]] <<- ordered_patterns(n)
    store[[n]]
  }
})

# The patterns that are compatible with the sign and the excluded nodes (threshold Inf).
allowed_patterns <- function(n, thresholds, sign) {
  pattern <- pattern_store(n)
  keep <- switch(sign, nonnegative = colSums(pattern$side < 0) == 0,
                 nonpositive = colSums(pattern$side > 0) == 0, free = TRUE)
  keep <- keep & colSums(pattern$side != 0 & thresholds == Inf) == 0
  lapply(pattern, function(m) m[, keep, drop = FALSE])
}

# min sum m/2 (b - z)^2 + sum a|b| + sum cap |b_i - b_j|: the optimum has some order and some
# signs; given these the objective is a quadratic in the values of the tied groups. So solve
# it for every pattern and keep the candidate with the smallest true objective.
brute_prox <- function(z, graph, masses, thresholds, caps, sign) {
  pattern <- allowed_patterns(length(z), thresholds, sign)
  rank <- pattern$rank
  thresholds[thresholds == Inf] <- 0
  pull <- masses * z - thresholds * pattern$side
  for (e in seq_along(caps)) {
    i <- graph$from[e]
    j <- graph$to[e]
    push <- caps[e] * sign(rank[i, ] - rank[j, ])
    pull[i, ] <- pull[i, ] - push
    pull[j, ] <- pull[j, ] + push
  }
  b <- pull
  for (i in seq_along(z)) {
    same <- rank == rep(rank[i, ], each = length(z))
    b[i, ] <- colSums(pull * same) / colSums(masses * same)
  }
  b[pattern$side == 0] <- 0
  if (sign == "nonnegative") b <- pmax(b, 0)
  if (sign == "nonpositive") b <- pmin(b, 0)
  value <- colSums(masses / 2 * (b - z)^2 + thresholds * abs(b))
  for (e in seq_along(caps)) value <- value + caps[e] * abs(b[graph$from[e], ] - b[graph$to[e], ])
  b[, which.min(value)]
}

# ---- the prox on a chain by dynamic programming -----------------------------------------

# Johnson's method: walk along the chain with the derivative of the best cost so far. It is a
# nondecreasing function made of lines: `left` = c(slope, intercept) of the first line, and
# knots where slope and intercept change. A term a|b| is a jump at zero.
chain_prox <- function(z, masses = rep(1, length(z)), thresholds = rep(0, length(z)),
                       caps = rep(1, length(z) - 1), sign = "free") {
  if (sign == "nonpositive") return(-chain_prox(-z, masses, thresholds, caps, "nonnegative"))
  if (sign == "nonnegative") {
    # a|b| is linear for b >= 0, and cutting at zero keeps the order of all values
    return(pmax(chain_prox(z - thresholds / masses, masses, 0 * z, caps), 0))
  }
  n <- length(z)
  message <- list(left = c(0, 0), at = numeric(0), slope = numeric(0), jump = numeric(0))
  low <- high <- numeric(n)
  for (i in seq_len(n)) {
    message <- add_node(message, masses[i], z[i], thresholds[i])
    cap <- if (i < n) caps[i] else 0
    clipped <- clip_message(message, cap)
    low[i] <- clipped$low
    high[i] <- clipped$high
    message <- clipped$message
  }
  b <- numeric(n)
  b[n] <- low[n]
  for (i in rev(seq_len(n - 1))) b[i] <- min(max(b[i + 1], low[i]), high[i])
  b
}

# Adds the derivative of m/2 (b - z)^2 + a|b|.
add_node <- function(message, m, z, a) {
  message$left <- message$left + c(m, -m * z - a)
  if (a == 0) return(message)
  place <- sum(message$at < 0)
  message$at <- append(message$at, 0, place)
  message$slope <- append(message$slope, 0, place)
  message$jump <- append(message$jump, 2 * a, place)
  message
}

# Limits the derivative to [-cap, cap]; `low` and `high` are where it leaves these limits.
clip_message <- function(message, cap) {
  count <- length(message$at)
  line <- message$left
  first <- 1
  low <- (-cap - line[2]) / line[1]
  while (first <= count && low > message$at[first]) {
    line <- line + c(message$slope[first], message$jump[first])
    low <- max((-cap - line[2]) / line[1], message$at[first])
    first <- first + 1
  }
  opening <- line
  line <- message$left + c(sum(message$slope), sum(message$jump))
  last <- count
  high <- (cap - line[2]) / line[1]
  while (last >= 1 && high < message$at[last]) {
    line <- line - c(message$slope[last], message$jump[last])
    high <- min((cap - line[2]) / line[1], message$at[last])
    last <- last - 1
  }
  if (first > last + 1) {
    # both limits are passed within one jump
    step <- list(left = c(0, -cap), at = low, slope = 0, jump = 2 * cap)
    return(list(low = low, high = low, message = step))
  }
  inside <- if (first <= last) first:last else integer(0)
  list(low = low, high = high, message = list(
    left = c(0, -cap), at = c(low, message$at[inside], high),
    slope = c(opening[1], message$slope[inside], -line[1]),
    jump = c(opening[2] + cap, message$jump[inside], cap - line[2])
  ))
}

# ---- the whole model by a conic solver --------------------------------------------------

# Variables of a conic program: a named list of their numbers, in the order of `sizes`.
conic_variables <- function(sizes) {
  end <- cumsum(sizes)
  variables <- lapply(names(sizes), function(k) seq_len(sizes[[k]]) + end[[k]] - sizes[[k]])
  stats::setNames(variables, names(sizes))
}

# Rows that say: constant + sum of blocks times variables lies in a cone (ECOS: h - G v).
in_cone <- function(variables, constant, ...) {
  blocks <- list(...)
  matrix <- matrix(0, length(constant), sum(lengths(variables)))
  for (name in names(blocks)) matrix[, variables[[name]]] <- blocks[[name]]
  list(G = -matrix, h = constant)
}

stack_rows <- function(rows) {
  list(G = do.call(rbind, lapply(rows, `[[`, "G")), h = unlist(lapply(rows, `[[`, "h")))
}

# One row per edge: 1 at its first node, -1 at its second.
incidence <- function(graph) {
  edges <- seq_along(graph$from)
  out <- matrix(0, length(edges), graph$n)
  out[cbind(edges, graph$from)] <- 1
  out[cbind(edges, graph$to)] <- -1
  out
}

# The model of reference_problem() as a conic program in units of the null objective.
ecos_fit <- function(p, lambda1, lambda2) {
  d <- ncol(p$a)
  unit <- null_objective(p)
  fused <- p$penalty == "fused"
  v <- conic_variables(c(
    beta = d, free = length(p$free) / nrow(p$a), size = if (p$sign == "free") d else 0,
    edge = if (fused) length(p$graph$from) else 0, smooth = if (fused) 0 else 1,
    conic_losses[[p$family]]$sizes(p)
  ))
  loss <- conic_losses[[p$family]]$rows(p, v, unit)
  linear <- stack_rows(c(conic_signs(p, v), conic_edges(p, v), loss$linear))
  quadratic <- c(loss$quadratic, if (!fused) list(conic_smooth(p, v, lambda2, unit)))
  rows <- stack_rows(c(list(linear), quadratic, loss$exponential))
  cost <- conic_cost(p, v, loss, lambda1, lambda2, unit)
  dims <- list(l = length(linear$h), q = lengths(lapply(quadratic, `[[`, "h")),
               e = length(loss$exponential))
  ecos_answer(p, ecos_solve(cost, rows, dims, which(p$u == Inf)), lambda1, lambda2)
}

conic_cost <- function(p, v, loss, lambda1, lambda2, unit) {
  cost <- numeric(sum(lengths(v)))
  u <- ifelse(p$u == Inf, 0, p$u)
  cost[if (p$sign == "free") v$size else v$beta] <- lambda1 * u / unit
  if (p$sign == "nonpositive") cost <- -cost
  if (!is.null(loss$slope)) {
    cost[v$beta] <- cost[v$beta] + crossprod(p$a, loss$slope) / unit
    if (length(v$free)) cost[v$free] <- crossprod(p$free, loss$slope) / unit
  }
  cost[v$edge] <- lambda2 * p$graph$weight / unit
  cost[v$smooth] <- 1
  cost[v$loss] <- loss$cost
  cost
}

conic_signs <- function(p, v) {
  zero <- numeric(length(v$beta))
  one <- diag(length(zero))
  switch(p$sign,
    nonnegative = list(in_cone(v, zero, beta = one)),
    nonpositive = list(in_cone(v, zero, beta = -one)),
    free = list(in_cone(v, zero, beta = one, size = one), in_cone(v, zero, beta = -one, size = one))
  )
}

conic_edges <- function(p, v) {
  if (!length(v$edge)) return(NULL)
  zero <- numeric(length(v$edge))
  one <- diag(length(zero))
  list(in_cone(v, zero, beta = incidence(p$graph), edge = one),
       in_cone(v, zero, beta = -incidence(p$graph), edge = one))
}

# lambda2 sum w (b_i - b_j)^2 <= unit * t
conic_smooth <- function(p, v, lambda2, unit) {
  root <- 2 * sqrt(lambda2 * p$graph$weight / unit)
  stack_rows(list(
    in_cone(v, 1, smooth = 1), in_cone(v, 0 * root, beta = root * incidence(p$graph)),
    in_cone(v, -1, smooth = 1)
  ))
}

# ---- the losses in cones ----------------------------------------------------------------

# For each family how many variables `loss` and `part` its loss needs, and
#   rows(p, v, unit)   its rows by kind of cone, the cost of its variables, and `slope`: what it
#                      costs to increase eta, row by row
conic_losses <- list(
  gaussian = list(
    sizes = function(p) c(loss = 1, part = 0),
    rows = function(p, v, unit) list(quadratic = list(conic_squares(p, v, unit)), cost = 1)
  ),
  binomial = list(
    sizes = function(p) c(loss = 1, part = 2) * length(p$y),
    rows = function(p, v, unit) {
      list(linear = conic_parts(p, v), exponential = conic_softplus(p, v, p$y), cost = p$w / unit)
    }
  ),
  # the mean is at most t: exp(eta) <= t
  poisson = list(
    sizes = function(p) c(loss = length(p$y), part = 0),
    rows = function(p, v, unit) {
      cones <- lapply(seq_along(p$y), function(i) {
        exponential_cone(v, eta_row(p, v, i), in_cone(v, 0, loss = pick(i, length(v$loss))))
      })
      list(exponential = cones, cost = p$w / unit, slope = -p$w * p$y)
    }
  ),
  # log(sum w_j exp(eta_j)) <= t  as  w_j exp(eta_j - t) <= p_j, sum p_j <= 1
  cox = list(
    sizes = function(p) c(loss = length(p$died), part = sum(p$at_risk)),
    rows = function(p, v, unit) {
      pairs <- which(p$at_risk, arr.ind = TRUE)
      cones <- lapply(seq_len(nrow(pairs)), function(k) {
        j <- pairs[k, 2]
        exponent <- eta_row(p, v, j, log(p$w[j]), loss = -pick(pairs[k, 1], length(v$loss)))
        exponential_cone(v, exponent, in_cone(v, 0, part = pick(k, nrow(pairs))))
      })
      sums <- outer(seq_along(v$loss), pairs[, 1], "==") + 0
      list(linear = list(in_cone(v, rep(1, length(v$loss)), part = -sums)), exponential = cones,
           cost = p$died / unit, slope = -p$event)
    }
  ),
  # log(1 + exp(-u)) + log(1 + exp(v)) - log(1 - exp(v - u)). The ends are the rows of the problem.
  ordinal = list(
    sizes = function(p) c(1, 2) * length(p$w) + c(loss = 1, part = 1) * length(inner_levels(p)),
    rows = function(p, v, unit) {
      side <- rep(c(-1, 1), c(length(p$upper), length(p$lower)))
      list(linear = conic_parts(p, v), cost = c(p$w, p$level_weight[inner_levels(p)]) / unit,
           exponential = c(conic_softplus(p, v, side), conic_gaps(p, v)))
    }
  )
)

pick <- function(k, size) replace(numeric(size), k, 1)

# constant + sign * eta_i, plus multiples of the variables `loss`.
eta_row <- function(p, v, i, constant = 0, sign = 1, loss = numeric(length(v$loss))) {
  free <- if (length(v$free)) sign * p$free[i, ] else numeric(0)
  in_cone(v, constant + sign * p$o[i], beta = sign * p$a[i, ], free = free, loss = loss)
}

# The exponential of one row is at most another row.
exponential_cone <- function(v, exponent, bound) stack_rows(list(exponent, bound, in_cone(v, 1)))

# sum w (y - eta)^2 / 2 <= unit * t  as  |(sqrt(2 w / unit) (y - eta), t - 1)| <= t + 1
conic_squares <- function(p, v, unit) {
  root <- sqrt(2 * p$w / unit)
  free <- if (length(v$free)) -root * p$free else numeric(0)
  stack_rows(list(
    in_cone(v, 1, loss = 1), in_cone(v, root * (p$y - p$o), beta = -root * p$a, free = free),
    in_cone(v, -1, loss = 1)
  ))
}

# log(1 + exp(-m)) <= t  as  exp(-t) <= p, exp(-m - t) <= q, p + q <= 1; here p + q <= 1
conic_parts <- function(p, v) {
  rows <- length(p$w)
  one <- diag(rows)
  rest <- matrix(0, rows, length(v$part) - 2 * rows)
  list(in_cone(v, rep(1, rows), part = cbind(-one, -one, rest)))
}

# The other two, with m = side * eta.
conic_softplus <- function(p, v, side) {
  n <- length(p$w)
  unlist(lapply(seq_len(n), function(i) {
    loss <- -pick(i, length(v$loss))
    lapply(1:2, function(which) {
      exponent <- if (which == 1) in_cone(v, 0, loss = loss) else {
        eta_row(p, v, i, sign = -side[i], loss = loss)
      }
      exponential_cone(v, exponent, in_cone(v, 0, part = pick(i + (which - 1) * n, length(v$part))))
    })
  }), recursive = FALSE)
}

# Rows of an ordinal response with two finite ends.
inner_levels <- function(p) intersect(p$upper, p$lower)

# -log(1 - exp(v - u)) <= t  as  exp(v - u) <= 1 - q, exp(-t) <= q. The rows of the problem are
# eta - cut, so v - u is the row of the upper end minus that of the lower one.
conic_gaps <- function(p, v) {
  rows <- inner_levels(p)
  before <- length(p$w)
  unlist(lapply(seq_along(rows), function(k) {
    upper <- match(rows[k], p$upper)
    lower <- length(p$upper) + match(rows[k], p$lower)
    left <- -pick(2 * before + k, length(v$part))
    difference <- in_cone(v, 0, beta = 0 * p$a[1, ], free = p$free[upper, ] - p$free[lower, ])
    loss <- in_cone(v, 0, loss = -pick(before + k, length(v$loss)))
    list(exponential_cone(v, difference, in_cone(v, 1, part = left)),
         exponential_cone(v, loss, in_cone(v, 0, part = -left)))
  }), recursive = FALSE)
}

# ---- the call of the conic solver -------------------------------------------------------

# min cost'v with v = 0 where `zero` says so; rows and dims as ECOS wants them.
ecos_solve <- function(cost, rows, dims, zero = integer(0)) {
  testthat::skip_if_not_installed("ECOSolveR")
  as_sparse <- function(m) methods::as(Matrix::Matrix(m, sparse = TRUE), "generalMatrix")
  fix <- diag(length(cost))[zero, , drop = FALSE]
  tight <- ECOSolveR::ecos.control(maxit = 200L, feastol = 1e-11, reltol = 1e-11, abstol = 1e-11)
  dims <- list(l = as.integer(dims$l), q = if (length(dims$q)) as.integer(dims$q),
               e = as.integer(dims$e))
  ECOSolveR::ECOS_csolve(cost, as_sparse(rows$G), rows$h, dims,
                         A = if (length(zero)) as_sparse(fix), b = numeric(length(zero)),
                         control = tight)
}

# An interior point solution is near the boundary, not on it: moves it there.
ecos_answer <- function(p, answer, lambda1, lambda2) {
  b <- answer$x[seq_len(ncol(p$a))]
  if (p$sign == "nonnegative") b <- pmax(b, 0)
  if (p$sign == "nonpositive") b <- pmin(b, 0)
  b[p$u == Inf] <- 0
  beta <- b / p$scale
  free <- best_free(p, beta)
  list(beta = beta, free = free, status = answer$retcodes[["exitFlag"]],
       objective = model_objective(p, free, beta, lambda1, lambda2))
}
