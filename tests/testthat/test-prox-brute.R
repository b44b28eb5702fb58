# The prox against brute force over all orders and signs of the values, on one graph of each
# shape of the connected graphs with up to 5 nodes.

signs <- c("nonnegative", "nonpositive", "free")

shapes <- unlist(lapply(1:5, connected_shapes), recursive = FALSE)

test_that("every connected shape with up to five nodes is covered", {
  sizes <- vapply(shapes, function(g) g$n, numeric(1))
  expect_identical(as.vector(table(sizes)), c(1L, 1L, 2L, 6L, 21L))
})

# `draw(n, edges)` gives z, masses, factor and weight of one random problem.
compare_on_shapes <- function(draw, repeats, lambda1, lambda2) {
  worst <- c(beta = 0, gap = 0)
  for (shape in rep(shapes, each = repeats)) for (sign in signs) {
    n <- shape$n
    case <- draw(n, length(shape$from))
    shape$weight <- case$weight
    answer <- fused_prox(case$z, package_graph(shape), lambda1, lambda2, sign = sign,
                         weights = case$masses, penalty.factor = case$factor, dual = TRUE)
    thresholds <- ifelse(case$factor == Inf, Inf, lambda1 * case$factor)
    truth <- brute_prox(case$z, shape, case$masses, thresholds, lambda2 * shape$weight, sign)
    gap <- prox_gap(answer$beta, answer$flow, case$z, shape, lambda1, lambda2, case$masses,
                    case$factor, sign)
    worst <- pmax(worst, c(max(abs(answer$beta - truth)), abs(gap)))
  }
  worst
}

test_that("random weights, masses and thresholds give the brute-force answer", {
  withr::local_seed(101)
  draw <- function(n, edges) {
    list(z = rnorm(n, sd = 2), masses = runif(n, 0.2, 3), factor = runif(n, 0, 2),
         weight = runif(edges, 0.1, 2))
  }
  worst <- compare_on_shapes(draw, repeats = 6, lambda1 = 0.4, lambda2 = 0.3)
  expect_lt(worst[["beta"]], 1e-10)
  expect_lt(worst[["gap"]], 1e-10)
})

test_that("ties and whole numbers give the brute-force answer", {
  withr::local_seed(102)
  draw <- function(n, edges) {
    list(z = sample(-3:3, n, TRUE), masses = rep(1, n), factor = sample(0:2, n, TRUE),
         weight = sample(1:2, edges, TRUE))
  }
  worst <- compare_on_shapes(draw, repeats = 4, lambda1 = 0.5, lambda2 = 0.25)
  expect_lt(worst[["beta"]], 1e-10)
  expect_lt(worst[["gap"]], 1e-10)
})

test_that("unpenalised and excluded nodes give the brute-force answer", {
  withr::local_seed(103)
  draw <- function(n, edges) {
    list(z = rnorm(n, sd = 2), masses = runif(n, 0.5, 2), weight = runif(edges, 0.1, 2),
         factor = sample(c(0, 1, Inf), n, TRUE))
  }
  worst <- compare_on_shapes(draw, repeats = 4, lambda1 = 0.4, lambda2 = 0.3)
  expect_lt(worst[["beta"]], 1e-10)
  expect_lt(worst[["gap"]], 1e-10)
})

test_that("masses and weights of very different size give the brute-force answer", {
  withr::local_seed(104)
  draw <- function(n, edges) {
    list(z = rnorm(n), masses = 10^runif(n, -4, 4), factor = 10^runif(n, -4, 1),
         weight = 10^runif(edges, -5, 2))
  }
  worst <- compare_on_shapes(draw, repeats = 4, lambda1 = 0.4, lambda2 = 0.3)
  expect_lt(worst[["beta"]], 1e-7)
  expect_lt(worst[["gap"]], 1e-10)
})
