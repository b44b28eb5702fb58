# The propositions, the dual and the errata of the paper, checked with numbers. Each check is a
# row: what was checked, the resulting number, and the bound that it must satisfy.

check_row <- function(what, value, bound, holds = value <= bound) {
  data.frame(what = what, value = value, bound = bound, holds = holds)
}

run_checks <- function(folder) {
  table <- all_checks()
  utils::write.csv(table, file.path(folder, "checks.csv"), row.names = FALSE)
  as_png(file.path(folder, "proposition1.png"), 800, 520,
         function() plot_convergence(proposition1()))
  table
}

all_checks <- function() {
  set.seed(1)
  rbind(check_proposition1(), check_proposition2(), check_dual(), check_dual_cone(),
        check_proposition3(), check_errata())
}

# ---- Proposition 1: ista and fista under their bounds --------------------------------------------

# The two iterations as the paper writes them, with the exact prox and the exact Lipschitz constant
# L. Least squares without an intercept on a chain. Returns F(beta_k) - F(beta*) and the two
# bounds.
proposition1 <- function(steps = 200) {
  set.seed(1)
  d <- 60
  x <- matrix(stats::rnorm(40 * d), 40)
  y <- drop(x[, 20:29] %*% rep(1, 10)) + stats::rnorm(40)
  graph <- n2gfl::graph_chain(d)
  lambda <- 0.05
  fit <- n2gfl::n2gfl(x, y, graph, lambda1 = lambda, lambda2 = lambda, intercept = FALSE,
                      thresh = 1e-14)
  best <- as.numeric(fit$beta)
  objective <- function(b) mean((y - x %*% b)^2) / 2 + lambda * (sum(b) + sum(abs(diff(b))))
  gradient <- function(b) drop(crossprod(x, x %*% b - y)) / nrow(x)
  L <- max(eigen(tcrossprod(x) / nrow(x), TRUE, TRUE)$values)
  prox <- function(z) n2gfl::fused_prox(z, graph, lambda / L, lambda / L)
  above <- matrix(0, steps, 2, dimnames = list(NULL, c("ista", "fista")))
  ista <- fista <- before <- numeric(d)
  momentum <- 1
  for (k in seq_len(steps)) {
    ista <- prox(ista - gradient(ista) / L)
    following <- (1 + sqrt(1 + 4 * momentum^2)) / 2
    point <- fista + (if (k > 1) (last_momentum - 1) / momentum else 0) * (fista - before)
    before <- fista
    fista <- prox(point - gradient(point) / L)
    last_momentum <- momentum
    momentum <- following
    above[k, ] <- c(objective(ista), objective(fista)) - objective(best)
  }
  k <- seq_len(steps)
  distance <- sum(best^2)
  data.frame(k = k, above, ista_bound = L * distance / (2 * k),
             fista_bound = 2 * L * distance / (k + 1)^2)
}

check_proposition1 <- function(run = proposition1()) {
  ratio <- function(name) max(run[[name]] / run[[paste0(name, "_bound")]])
  rbind(check_row("Prop. 1: largest ratio of ista's error to its bound", ratio("ista"), 1),
        check_row("Prop. 1: largest ratio of fista's error to its bound", ratio("fista"), 1))
}

plot_convergence <- function(run) {
  shown <- pmax(as.matrix(run[-1]), 1e-16)
  colours <- c("steelblue", "firebrick")
  graphics::matplot(run$k, shown, log = "xy", type = "l", lty = c(1, 1, 2, 2),
                    lwd = c(2, 2, 1, 1), col = colours, xlab = "iteration k",
                    ylab = "F(beta_k) - F(beta*)", ylim = c(1e-12, max(shown)))
  graphics::legend("bottomleft", bty = "n", lty = c(1, 1, 2, 2), lwd = c(2, 2, 1, 1), col = colours,
                   legend = c("ista", "fista", "bound for ista", "bound for fista"))
}

# ---- Proposition 2: soft-threshold and clip the total variation solution -------------------------

soft_and_clip <- function(b, threshold) pmax(sign(b) * pmax(abs(b) - threshold, 0), 0)

check_proposition2 <- function(rounds = 100) {
  worst <- 0
  for (k in seq_len(rounds)) {
    p <- random_tv_problem(12)
    threshold <- stats::runif(1)
    clipped <- soft_and_clip(n2gfl::tv_denoise(p$z, p$graph, p$lambda), threshold)
    direct <- n2gfl::fused_prox(p$z, p$graph, threshold, p$lambda)
    worst <- max(worst, abs(clipped - direct))
  }
  check_row("Prop. 2: prox against the clipped total variation solution", worst, 1e-12)
}

# A connected graph with random edges and weights, and random values on it.
random_tv_problem <- function(n) {
  from <- c(seq_len(n - 1), sample.int(n - 2, 5, replace = TRUE))
  to <- c(2:n, from[n:(n + 4)] + 2)
  pairs <- !duplicated(cbind(from, to))
  list(graph = n2gfl::graph_edges(from[pairs], to[pairs], stats::runif(sum(pairs), 0.2, 2)),
       z = stats::rnorm(n, sd = 2), lambda = stats::runif(1, 0.1, 1))
}

# ---- the conic dual ------------------------------------------------------------------------------

outflow <- function(graph, flow) {
  sums <- numeric(graph$n)
  for (e in seq_along(flow)) {
    sums[graph$from[e]] <- sums[graph$from[e]] + flow[e]
    sums[graph$to[e]] <- sums[graph$to[e]] - flow[e]
  }
  sums
}

# Problem (9) and total variation: beta = z - sum of xi, capacities kept, equal objectives.
check_dual <- function() {
  p <- random_tv_problem(15)
  answer <- n2gfl::tv_denoise(p$z, p$graph, p$lambda, dual = TRUE)
  s <- outflow(p$graph, answer$flow)
  ends <- abs(answer$beta[p$graph$from] - answer$beta[p$graph$to])
  primal <- sum((answer$beta - p$z)^2) / 2 + p$lambda * sum(p$graph$weight * ends)
  dual <- sum(p$z^2) / 2 - sum((p$z - s)^2) / 2
  rbind(check_row("Dual: beta against z minus the flows", max(abs(p$z - s - answer$beta)), 1e-12),
        check_row("Dual: flow over capacity", max(abs(answer$flow) / (p$lambda * p$graph$weight)),
                  1 + 1e-12),
        check_row("Dual: primal minus dual objective", abs(primal - dual), 1e-10))
}

# (xi, tau) is in the dual cone of C exactly if xi_i + xi_j = 0 and |xi_i| <= tau. Inside, no point
# of C has a negative product with it; outside, one of three points of C has.
check_dual_cone <- function(rounds = 200) {
  wrong <- 0
  for (k in seq_len(rounds)) {
    xi <- stats::rnorm(2)
    if (k %% 2) xi[2] <- -xi[1]
    tau <- stats::runif(1, 0, 2)
    inside <- abs(sum(xi)) < 1e-12 && abs(xi[1]) <= tau
    beta <- matrix(stats::rnorm(400), 2)
    members <- rbind(beta, abs(beta[1, ] - beta[2, ]) + stats::rexp(200))
    # the line in C, both ways, and the two faces
    line <- cbind(c(1, 1, 0), c(-1, -1, 0), c(1, 0, 1), c(-1, 0, 1), c(0, 1, 1), c(0, -1, 1))
    least <- min(c(xi, tau) %*% cbind(members, line))
    wrong <- wrong + (inside != (least >= -1e-12))
  }
  check_row("Dual cone: points on the wrong side", wrong, 0)
}

# ---- Proposition 3: the minimum norm point -------------------------------------------------------

# All sets of nodes as columns, with the weight of their cuts.
all_cuts <- function(graph, lambda) {
  sets <- t(as.matrix(expand.grid(rep(list(0:1), graph$n))))
  cut <- colSums(abs(sets[graph$from, , drop = FALSE] - sets[graph$to, , drop = FALSE]) *
                   graph$weight)
  list(sets = unname(sets), cost = lambda * unname(cut))
}

# Both directions: the sum of the flows solves the minimum norm point problem (solved
# independently, with all sets of nodes as constraints), and the minimum norm point is a sum of
# flows within capacity.
check_proposition3 <- function(n = 7) {
  p <- random_tv_problem(n)
  s <- outflow(p$graph, n2gfl::tv_denoise(p$z, p$graph, p$lambda, dual = TRUE)$flow)
  cuts <- all_cuts(p$graph, p$lambda)
  proper <- colSums(cuts$sets) %% n > 0
  sides <- cbind(rep(1, n), -cuts$sets[, proper])  # s(V) = 0, s(S) <= lambda f_c(S)
  point <- quadprog::solve.QP(diag(n), p$z, sides, c(0, -cuts$cost[proper]), meq = 1)$solution
  # `point` is a sum of flows within capacity exactly if its own total variation solution is zero.
  left <- n2gfl::tv_denoise(point, p$graph, p$lambda)
  rbind(check_row("Prop. 3: flows' sum beyond the base polyhedron",
                  max(crossprod(cuts$sets, s) - cuts$cost, abs(sum(s))), 1e-12),
        check_row("Prop. 3: flows' sum against the minimum norm point", max(abs(s - point)), 1e-7),
        check_row("Prop. 3: what no flow can carry of the minimum norm point", max(abs(left)),
                  1e-7))
}

# ---- errata --------------------------------------------------------------------------------------

# Each shows that a statement of the paper is not correct as it stands: see vignette("paper").
check_errata <- function() {
  rbind(erratum_thresholds(), erratum_cone(), erratum_es(), erratum_cost())
}

# Prop. 2 needs one threshold for all nodes: with two, clipping is not the prox.
erratum_thresholds <- function() {
  graph <- n2gfl::graph_chain(2)
  exact <- n2gfl::fused_prox(c(2, 2), graph, 1, 1, penalty.factor = c(2, 0))
  clipped <- soft_and_clip(n2gfl::tv_denoise(c(2, 2), graph, 1), c(2, 0))
  off <- max(abs(exact - clipped))
  check_row("Erratum, Prop. 2: clipping is wrong by this with two thresholds", off, 0.5, off >= 0.5)
}

# Lemma 1: a proper cone contains no line, but C contains (1, ..., 1, 0) and its opposite.
erratum_cone <- function() {
  in_cone <- function(v) max(stats::dist(v[-length(v)])) <= v[length(v)]
  line <- c(1, 1, 1, 0)
  both <- in_cone(line) + in_cone(-line)
  check_row("Erratum, Lemma 1: opposite points that are both in C", both, 2, both == 2)
}

# ES: each feature twice with half its weight predicts the same, but the paper's ES doubles.
erratum_es <- function() {
  x <- rbind(c(1, 0, 2), c(2, 1, 1), c(0, -1, 1))
  runs <- cbind(c(1, 0, 2), c(1, 0.5, 1))
  twice <- function(...) {
    n2gfl::ES(rbind(runs, runs) / 2, cbind(x, x), ...) / n2gfl::ES(runs, x, ...)
  }
  rbind(check_row("Erratum, ES: the paper's form, twice the features over once", twice(), 2,
                  abs(twice() - 2) < 1e-12),
        check_row("Erratum, ES: divided by the fit, twice the features over once",
                  twice(normalize = "fit"), 1, abs(twice(normalize = "fit") - 1) < 1e-12))
}

# Figure 1: without the square all flows cost the same, because flow that leaves one node enters
# another.
erratum_cost <- function() {
  example <- flow_example()
  cost <- function(net) sum(example$z + example$gamma - (net + example$gamma)) / 2
  difference <- abs(cost(example$net) - cost(numeric(5)))
  check_row("Erratum, Figure 1: linear cost of the best flow minus that of none", difference, 1e-12)
}
