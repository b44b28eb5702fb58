# The paper's propositions on the prox, checked with numbers.

signs <- c("nonnegative", "nonpositive", "free")

random_case <- function(n, density = 0.3) {
  list(graph = random_edges(n, density), z = rnorm(n, sd = 2), masses = runif(n, 0.3, 2))
}

test_that("Prop. 2: equal thresholds mean soft-threshold, then clip, the TV solution", {
  withr::local_seed(131)
  for (k in 1:40) {
    case <- random_case(sample(2:40, 1))
    g <- package_graph(case$graph)
    tv <- tv_denoise(case$z, g, 0.3)
    soft <- sign(tv) * pmax(abs(tv) - 0.2, 0)
    expect_equal(fused_prox(case$z, g, 0.2, 0.3, "free"), soft, tolerance = 1e-11)
    expect_equal(fused_prox(case$z, g, 0.2, 0.3, "nonnegative"), pmax(soft, 0), tolerance = 1e-11)
    expect_equal(fused_prox(case$z, g, 0.2, 0.3, "nonpositive"), pmin(soft, 0), tolerance = 1e-11)
  }
})

test_that("Prop. 2 needs equal thresholds: node-wise ones are not soft-thresholding", {
  g <- graph_chain(2)
  z <- c(1, 1.2)
  u <- c(1, 0)
  tv <- tv_denoise(z, g, 0.5)
  naive <- pmax(tv - 0.9 * u, 0)
  exact <- fused_prox(z, g, 0.9, 0.5, penalty.factor = u)
  expect_gt(max(abs(exact - naive)), 0.1)
  expect_equal(exact, brute_prox(z, chain_edges(2), c(1, 1), 0.9 * u, 0.5, "nonnegative"))
})

# The optimality of TV denoising by its flow: m b = m z - div(flow), |flow| <= caps, and flow
# at its cap wherever the values differ.
expect_tv_flow <- function(answer, z, graph, masses, lambda) {
  b <- answer$beta
  caps <- lambda * graph$weight
  expect_equal(masses * b, masses * z - divergence(answer$flow, graph), tolerance = 1e-10)
  expect_lte(max(abs(answer$flow) - caps * (1 + 1e-12)), 0)
  step <- b[graph$from] - b[graph$to]
  apart <- abs(step) > 1e-8
  expect_equal(answer$flow[apart], (sign(step) * caps)[apart], tolerance = 1e-8)
}

test_that("strong duality of (4) and (9): primal and dual value agree to 1e-10", {
  withr::local_seed(132)
  for (k in 1:40) {
    case <- random_case(sample(2:60, 1), 0.15)
    lambda <- 10^runif(1, -2, 1)
    answer <- tv_denoise(case$z, package_graph(case$graph), lambda, case$masses, dual = TRUE)
    expect_tv_flow(answer, case$z, case$graph, case$masses, lambda)
    m <- case$masses
    primal <- prox_objective(answer$beta, case$z, case$graph, 0, lambda, m)
    dual <- sum(m * case$z^2) / 2 -
      sum((m * case$z - divergence(answer$flow, case$graph))^2 / m) / 2
    expect_equal(dual, primal, tolerance = 1e-10)
    expect_lte(abs(answer$gap), 1e-10)
  }
})

test_that("strong duality holds with thresholds, masses and signs", {
  withr::local_seed(133)
  for (sign in signs) for (k in 1:25) {
    case <- random_case(sample(2:60, 1), 0.15)
    u <- sample(c(0, 0.5, 1, 2, Inf), length(case$z), TRUE)
    lambda <- 10^runif(2, -2, 0.5)
    answer <- fused_prox(case$z, package_graph(case$graph), lambda[1], lambda[2], sign,
                         weights = case$masses, penalty.factor = u, dual = TRUE)
    expect_lte(max(abs(answer$flow) - lambda[2] * case$graph$weight * (1 + 1e-12), 0), 0)
    gap <- prox_gap(answer$beta, answer$flow, case$z, case$graph, lambda[1], lambda[2],
                    case$masses, u, sign)
    expect_lte(abs(gap), 1e-10)
    expect_lte(abs(answer$gap), 1e-10)
  }
})

# Is s(S) <= lambda * cut(S) for every set of nodes? Tries all sets.
worst_set <- function(s, graph, lambda) {
  n <- length(s)
  inside <- as.matrix(expand.grid(rep(list(0:1), n)))
  cut <- inside[, graph$from, drop = FALSE] != inside[, graph$to, drop = FALSE]
  max(inside %*% s - lambda * drop(cut %*% graph$weight))
}

# Edmonds' greedy method: the point of the base polyhedron with the largest <direction, q>.
greedy_base <- function(direction, graph, lambda) {
  q <- numeric(graph$n)
  inside <- logical(graph$n)
  value <- 0
  for (i in order(-direction)) {
    inside[i] <- TRUE
    cut <- lambda * sum(graph$weight[inside[graph$from] != inside[graph$to]])
    q[i] <- cut - value
    value <- cut
  }
  q
}

test_that("Prop. 3: s = div(flow) is in the base polyhedron (all subsets up to 10 nodes)", {
  withr::local_seed(134)
  for (n in 2:10) for (k in 1:3) {
    case <- random_case(n, 0.5)
    lambda <- runif(1, 0.1, 1)
    answer <- tv_denoise(case$z, package_graph(case$graph), lambda, dual = TRUE)
    s <- divergence(answer$flow, case$graph)
    expect_lt(abs(sum(s)), 1e-12)
    expect_lt(worst_set(s, case$graph, lambda), 1e-12)
  }
})

test_that("Prop. 3: z - solution has the minimum norm in the base polyhedron", {
  withr::local_seed(135)
  for (n in c(2:10, 25, 50)) {
    case <- random_case(n, 0.3)
    lambda <- runif(1, 0.1, 1)
    b <- tv_denoise(case$z, package_graph(case$graph), lambda)
    s <- case$z - b
    best <- greedy_base(b, case$graph, lambda)
    # s is nearest to z when no other base goes further in the direction z - s
    expect_lte(sum(b * best) - sum(b * s), 1e-10 * sum(case$z^2))
    for (k in 1:10) {
      other <- greedy_base(rnorm(n), case$graph, lambda)
      expect_gte(sum((case$z - other)^2), sum((case$z - s)^2) - 1e-12)
    }
  }
})

test_that("Prop. 3: membership beyond 10 nodes, by a max-flow of igraph", {
  skip_if_not_installed("igraph")
  withr::local_seed(136)
  for (n in c(20, 50, 100)) {
    case <- random_case(n, 4 / n)
    lambda <- 0.5
    s <- case$z - tv_denoise(case$z, package_graph(case$graph), lambda)
    edges <- case$graph
    from <- c(edges$from, edges$to, rep(n + 1, n), seq_len(n))
    to <- c(edges$to, edges$from, seq_len(n), rep(n + 2, n))
    caps <- c(lambda * edges$weight, lambda * edges$weight, pmax(s, 0), pmax(-s, 0))
    on <- caps > 0
    net <- igraph::make_graph(rbind(from, to)[, on], n = n + 2)
    value <- igraph::max_flow(net, n + 1, n + 2, capacity = caps[on])$value
    # s is a base exactly when everything that leaves its positive nodes gets through
    expect_equal(value, sum(pmax(s, 0)), tolerance = 1e-9)
  }
})
