# The prox against other packages and against dynamic programming on chains.

signs <- c("nonnegative", "nonpositive", "free")

test_that("a chain agrees with dynamic programming: masses, weights, thresholds, signs", {
  withr::local_seed(141)
  for (sign in signs) for (n in c(2, 3, 10, 60, 200)) for (k in 1:3) {
    z <- cumsum(rnorm(n, sd = 0.5)) + rnorm(n)
    m <- runif(n, 0.3, 2)
    u <- runif(n, 0, 2)
    w <- runif(n - 1, 0.1, 2)
    lambda <- 10^runif(2, -1.5, 0.7)
    b <- fused_prox(z, package_graph(chain_edges(n, w)), lambda[1], lambda[2], sign,
                    weights = m, penalty.factor = u)
    expect_equal(b, chain_prox(z, m, lambda[1] * u, lambda[2] * w, sign), tolerance = 1e-10)
  }
})

test_that("a long chain agrees with dynamic programming", {
  withr::local_seed(142)
  z <- rnorm(5000) + rep(c(0, 1, -1, 2, 0), each = 1000)
  expect_equal(tv_denoise(z, graph_chain(5000), 8), chain_prox(z, caps = rep(8, 4999)),
               tolerance = 1e-10)
})

test_that("a chain agrees with flsa", {
  skip_if_not_installed("flsa")
  withr::local_seed(143)
  z <- rnorm(300) + rep(c(0, 2, -1), each = 100)
  for (lambda2 in c(0.1, 1, 10)) {
    peer <- as.numeric(flsa::flsa(z, lambda1 = 0.2, lambda2 = lambda2))
    expect_equal(fused_prox(z, graph_chain(300), 0.2, lambda2, "free"), peer, tolerance = 1e-8)
  }
})

test_that("a grid agrees with flsa", {
  skip_if_not_installed("flsa")
  withr::local_seed(144)
  z <- matrix(rnorm(12 * 9), 12, 9)
  z[3:8, 3:6] <- z[3:8, 3:6] + 2
  for (lambda2 in c(0.05, 0.3, 1)) {
    peer <- as.numeric(flsa::flsa(z, lambda1 = 0.1, lambda2 = lambda2))
    own <- fused_prox(c(z), graph_grid(c(12, 9)), 0.1, lambda2, "free")
    expect_equal(own, peer, tolerance = 1e-6)
  }
})

test_that("a grid agrees with genlasso", {
  skip_if_not_installed("genlasso")
  withr::local_seed(145)
  z <- matrix(rnorm(6 * 5), 6, 5)
  z[2:4, 2:4] <- z[2:4, 2:4] + 2
  path <- genlasso::fusedlasso2d(z)
  for (lambda2 in c(0.05, 0.3, 1)) {
    peer <- coef(path, lambda = lambda2)$beta
    expect_equal(tv_denoise(c(z), graph_grid(c(6, 5)), lambda2), drop(peer), tolerance = 1e-7)
  }
})
