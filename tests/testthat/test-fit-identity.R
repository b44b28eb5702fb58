# With X = I and no intercept the model is the prox: loss 1/(2d) |y - b|^2.

signs <- c("nonnegative", "nonpositive", "free")

test_that("X = I gives fused_prox, whatever the algorithm", {
  withr::local_seed(231)
  d <- 30
  z <- rnorm(d) + rep(c(2, 0, -2), each = 10)
  u <- runif(d, 0.2, 2)
  g <- graph_grid(c(6, 5))
  for (sign in signs) for (algorithm in c("pursuit", "fista", "ista")) {
    p <- reference_problem(diag(d), z, g, sign = sign, penalty.factor = u, intercept = FALSE)
    fit <- fit_problem(p, 0.3 / d, 0.4 / d, algorithm = algorithm, thresh = 1e-11)
    expect_kkt(fit, p, thresh = 1e-11)
    truth <- fused_prox(z, g, 0.3, 0.4, sign = sign, penalty.factor = u)
    expect_equal(as.numeric(fit$beta), truth, tolerance = 1e-4)
    unit <- sum(z^2) / 2
    expect_lte(
      prox_objective(as.numeric(fit$beta), z, g, 0.3, 0.4, factor = u),
      prox_objective(truth, z, g, 0.3, 0.4, factor = u) + 1e-10 * unit
    )
  }
})

test_that("a diagonal X with weights is the prox with masses", {
  withr::local_seed(232)
  d <- 24
  z <- rnorm(d)
  w <- runif(d, 0.3, 2)
  x <- diag(runif(d, 0.5, 2))
  g <- package_graph(random_edges(d, 0.15))
  for (sign in signs) {
    p <- reference_problem(x, z, g, sign = sign, weights = w, intercept = FALSE)
    fit <- fit_problem(p, 0.01, 0.01, thresh = 1e-11)
    expect_kkt(fit, p, thresh = 1e-11)
    # sum w/2 (z - x b)^2 = sum (w x^2)/2 (b - z/x)^2
    truth <- fused_prox(z / diag(x), g, 0.01, 0.01, sign = sign, weights = w / sum(w) * diag(x)^2)
    expect_equal(as.numeric(fit$beta), truth, tolerance = 1e-4)
  }
})

test_that("an orthogonal X gives the prox of X'y", {
  withr::local_seed(233)
  n <- 40
  d <- 25
  x <- qr.Q(qr(matrix(rnorm(n * d), n))) * sqrt(n)
  y <- drop(x %*% rep(c(1, 0, 0.5, 0, -1), each = 5)) + rnorm(n)
  g <- graph_grid(c(5, 5))
  for (sign in signs) {
    p <- reference_problem(x, y, g, sign = sign, intercept = FALSE)
    fit <- fit_problem(p, 0.05, 0.1, thresh = 1e-11)
    expect_kkt(fit, p, thresh = 1e-11)
    truth <- fused_prox(drop(crossprod(x, y)) / n, g, 0.05, 0.1, sign = sign)
    expect_equal(as.numeric(fit$beta), truth, tolerance = 1e-4)
  }
})
