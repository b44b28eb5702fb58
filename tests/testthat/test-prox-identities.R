# Identities of the prox that hold for all data.

signs <- c("nonnegative", "nonpositive", "free")

test_that("a constant signal stays, minus its threshold", {
  g <- graph_grid(c(6, 5))
  expect_equal(tv_denoise(rep(3, 30), g, 2), rep(3, 30), tolerance = 1e-12)
  expect_equal(fused_prox(rep(3, 30), g, 1, 2), rep(2, 30), tolerance = 1e-12)
  expect_equal(fused_prox(rep(-3, 30), g, 1, 2, sign = "free"), rep(-2, 30), tolerance = 1e-12)
  expect_identical(fused_prox(rep(-3, 30), g, 1, 2), rep(0, 30))
})

test_that("without a penalty only the sign constraint changes the values", {
  withr::local_seed(111)
  z <- rnorm(30)
  g <- graph_grid(c(6, 5))
  expect_equal(tv_denoise(z, g, 0), z, tolerance = 1e-14)
  expect_equal(fused_prox(z, g, 0, 0, sign = "free"), z, tolerance = 1e-14)
  expect_equal(fused_prox(z, g, 0, 0), pmax(z, 0), tolerance = 1e-14)
  expect_equal(fused_prox(z, g, 0, 0, sign = "nonpositive"), pmin(z, 0), tolerance = 1e-14)
})

test_that("lambda2 = 0 is soft-thresholding with each node's own mass and factor", {
  withr::local_seed(112)
  z <- rnorm(30)
  m <- runif(30, 0.5, 2)
  u <- runif(30, 0, 2)
  g <- graph_chain(30)
  cut <- 0.5 * u / m
  expect_equal(fused_prox(z, g, 0.5, 0, sign = "free", weights = m, penalty.factor = u),
               sign(z) * pmax(abs(z) - cut, 0), tolerance = 1e-14)
  expect_equal(fused_prox(z, g, 0.5, 0, weights = m, penalty.factor = u), pmax(z - cut, 0),
               tolerance = 1e-14)
})

test_that("a huge lambda gives the weighted mean of each component", {
  withr::local_seed(113)
  edges <- edge_list(9, c(1, 2, 3, 5, 6), c(2, 3, 4, 6, 7))
  z <- rnorm(9)
  m <- runif(9, 0.5, 2)
  part <- component_labels(edges)
  means <- tapply(m * z, part, sum) / tapply(m, part, sum)
  expect_equal(tv_denoise(z, package_graph(edges), 1e6, weights = m), as.numeric(means[part]),
               tolerance = 1e-12)
})

test_that("a graph without edges treats nodes one by one", {
  withr::local_seed(114)
  z <- rnorm(7)
  g <- graph_edges(integer(0), integer(0), n = 7)
  expect_equal(tv_denoise(z, g, 5), z, tolerance = 1e-14)
  expect_equal(fused_prox(z, g, 0.3, 5), pmax(z - 0.3, 0), tolerance = 1e-14)
})

test_that("a single node is soft-thresholded", {
  g <- graph_chain(1)
  expect_equal(fused_prox(2, g, 0.5, 1), 1.5)
  expect_equal(fused_prox(-2, g, 0.5, 1, sign = "free", weights = 2), -1.75)
})

test_that("shifting z shifts the solution", {
  withr::local_seed(115)
  z <- rnorm(42)
  g <- graph_grid(c(7, 6))
  expect_equal(tv_denoise(z + 10, g, 0.4), tv_denoise(z, g, 0.4) + 10, tolerance = 1e-12)
})

test_that("scaling z and lambda scales the solution, from 1e-100 to 1e100", {
  withr::local_seed(116)
  z <- rnorm(42)
  g <- graph_grid(c(7, 6))
  for (sign in signs) {
    base <- fused_prox(z, g, 0.1, 0.3, sign = sign)
    for (by in c(1e-100, 1e-8, 3, 1e8, 1e100)) {
      scaled <- fused_prox(by * z, g, 0.1 * by, 0.3 * by, sign = sign)
      expect_equal(scaled / by, base, tolerance = 1e-12)
    }
  }
})

test_that("scaling masses and penalties together changes nothing", {
  withr::local_seed(117)
  z <- rnorm(42)
  m <- runif(42, 0.5, 2)
  g <- graph_grid(c(7, 6))
  for (by in c(1e-8, 7, 1e8)) {
    expect_equal(fused_prox(z, g, 0.1 * by, 0.3 * by, weights = m * by, sign = "free"),
                 fused_prox(z, g, 0.1, 0.3, weights = m, sign = "free"), tolerance = 1e-12)
  }
})

test_that("the order of nodes does not matter", {
  withr::local_seed(118)
  n <- 40
  edges <- random_edges(n, 0.1)
  z <- rnorm(n)
  m <- runif(n, 0.5, 2)
  u <- runif(n, 0, 2)
  new <- sample(n)
  moved <- edge_list(n, new[edges$from], new[edges$to], edges$weight)
  for (sign in signs) {
    base <- fused_prox(z, package_graph(edges), 0.2, 0.3, sign, weights = m, penalty.factor = u)
    o <- order(new)
    other <- fused_prox(z[o], package_graph(moved), 0.2, 0.3, sign, weights = m[o],
                        penalty.factor = u[o])
    expect_equal(other[new], base, tolerance = 1e-12)
  }
})

test_that("mirroring z mirrors the solution", {
  withr::local_seed(119)
  z <- rnorm(40)
  u <- runif(40, 0, 2)
  g <- package_graph(random_edges(40, 0.1))
  expect_equal(fused_prox(-z, g, 0.2, 0.3, "nonpositive", penalty.factor = u),
               -fused_prox(z, g, 0.2, 0.3, "nonnegative", penalty.factor = u), tolerance = 1e-12)
  expect_equal(fused_prox(-z, g, 0.2, 0.3, "free", penalty.factor = u),
               -fused_prox(z, g, 0.2, 0.3, "free", penalty.factor = u), tolerance = 1e-12)
})

test_that("an edge of weight two is two edges of weight one", {
  withr::local_seed(120)
  z <- rnorm(10)
  once <- graph_edges(1:9, 2:10, rep(2, 9), n = 10)
  twice <- graph_edges(c(1:9, 2:10), c(2:10, 1:9), rep(1, 18), n = 10)
  expect_equal(tv_denoise(z, twice, 0.3), tv_denoise(z, once, 0.3), tolerance = 1e-14)
})

test_that("a node of mass two is two fused nodes of mass one", {
  withr::local_seed(121)
  z <- rnorm(10)
  one <- tv_denoise(z, graph_chain(10), 0.3, weights = rep(2, 10))
  edges <- edge_list(20, c(1:9, 1:10), c(2:10, 11:20), rep(c(1, 1e6), c(9, 10)))
  two <- tv_denoise(c(z, z), package_graph(edges), 0.3)
  expect_equal(two, c(one, one), tolerance = 1e-9)
})

test_that("the prox is firmly nonexpansive", {
  withr::local_seed(122)
  g <- graph_grid(c(7, 6))
  for (sign in signs) for (k in 1:20) {
    z1 <- rnorm(42)
    z2 <- z1 + rnorm(42, sd = 10^runif(1, -6, 0))
    b1 <- fused_prox(z1, g, 0.1, 0.3, sign = sign)
    b2 <- fused_prox(z2, g, 0.1, 0.3, sign = sign)
    expect_lte(sum((b1 - b2)^2), sum((b1 - b2) * (z1 - z2)) + 1e-13)
  }
})
