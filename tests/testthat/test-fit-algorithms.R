# Three algorithms, one optimum: the objectives agree to 1e-7.

test_that("ista, fista and pursuit agree on random problems", {
  withr::local_seed(241)
  for (family in reference_families) for (sign in c("nonnegative", "nonpositive", "free")) {
    for (k in 1:3) {
      p <- random_problem(family, sign, n = 40, d = 12)
      unit <- lambda_unit(p)
      values <- vapply(c("pursuit", "fista", "ista"), function(algorithm) {
        fit <- fit_problem(p, unit * c(0.5, 0.1), unit * c(0.1, 0.02), algorithm = algorithm,
                           thresh = 5e-8, maxit = 1e5)
        expect_kkt(fit, p, thresh = 5e-8)
        fit_objective(p, fit)
      }, numeric(4)) / null_objective(p)
      expect_lte(max(abs(values - values[, 1])), 1e-7)
    }
  }
})

test_that("they agree on an image: a grid with two blocks", {
  withr::local_seed(242)
  g <- graph_grid(c(10, 9))
  image <- matrix(0, 10, 9)
  image[2:5, 2:5] <- 0.5
  image[7:9, 6:8] <- 0.3
  x <- matrix(rnorm(60 * 90), 60)
  eta <- drop(x %*% c(image))
  for (family in reference_families) {
    y <- if (family == "binomial") random_classes(eta) else random_response(family, eta)
    p <- reference_problem(x, y, g, family = family)
    unit <- lambda_unit(p)
    values <- vapply(c("pursuit", "fista", "ista"), function(algorithm) {
      fit <- fit_problem(p, unit * c(0.3, 0.1), 0.1 * unit, algorithm = algorithm, thresh = 5e-8,
                         maxit = 1e5)
      expect_kkt(fit, p, thresh = 5e-8)
      expect_gt(fit$grid$nonzero[2], 0)
      fit_objective(p, fit)
    }, numeric(2)) / null_objective(p)
    expect_lte(max(abs(values - values[, 1])), 1e-7)
  }
})

test_that("fista multiplies by the active columns, not by all of them in every step", {
  withr::local_seed(243)
  x <- matrix(rnorm(50 * 400), 50)
  y <- rowSums(x[, c(50:55, 200:203)]) + rnorm(50)
  for (sign in c("nonnegative", "free")) {
    fit <- n2gfl(x, y, graph_chain(400), sign = sign, lambda1 = c(0.3, 0.2), lambda2 = 0.1,
                 algorithm = "fista")
    expect_true(all(fit$grid$converged))
    expect_gt(sum(fit$grid$iter), 50)
    expect_lt(fit$npasses, 0.6 * sum(fit$grid$iter))
  }
})

test_that("they agree on the quadratic penalty", {
  withr::local_seed(243)
  for (family in reference_families) for (sign in c("nonnegative", "free")) {
    p <- random_problem(family, sign, n = 40, d = 12, penalty = "laplacian")
    unit <- lambda_unit(p)
    values <- vapply(c("pursuit", "fista", "ista"), function(algorithm) {
      fit <- fit_problem(p, unit * c(0.5, 0.1), 0.1 * unit, algorithm = algorithm, thresh = 5e-8,
                         maxit = 1e5)
      expect_kkt(fit, p, thresh = 5e-8)
      fit_objective(p, fit)
    }, numeric(2)) / null_objective(p)
    expect_lte(max(abs(values - values[, 1])), 1e-7)
  }
})

test_that("a fit alone is the same as the same row of a path", {
  withr::local_seed(244)
  for (sign in c("nonnegative", "free")) {
    p <- random_problem("binomial", sign, n = 40, d = 12)
    unit <- lambda_unit(p)
    lambda1 <- unit * c(0.8, 0.4, 0.2, 0.1, 0.05)
    lambda2 <- unit * c(0.2, 0.05)
    path <- fit_problem(p, lambda1, lambda2, thresh = 1e-9)
    expect_kkt(path, p, thresh = 1e-9)
    expect_identical(path$grid$lambda1, rep(lambda1, 2))
    expect_identical(path$grid$lambda2, rep(lambda2, each = 5))
    values <- fit_objective(p, path)
    for (row in c(3, 5, 10)) {
      alone <- fit_problem(p, path$grid$lambda1[row], path$grid$lambda2[row], thresh = 1e-9)
      expect_equal(fit_objective(p, alone), values[row], tolerance = 1e-8)
    }
  }
})

test_that("a fit says when it was stopped early", {
  withr::local_seed(245)
  p <- random_problem("binomial", "nonnegative", n = 40, d = 12, extras = FALSE)
  lambda <- 0.02 * lambda_unit(p)
  expect_warning(
    fit <- fit_problem(p, lambda, lambda, algorithm = "ista", maxit = 2, thresh = 1e-12)
  )
  expect_false(fit$grid$converged)
  expect_gt(fit$grid$gap, 1e-12)
  # the gap it reports is a bound: the true distance to the optimum is less
  truth <- fit_problem(p, lambda, lambda, thresh = 1e-10)
  missing <- (fit_objective(p, fit) - fit_objective(p, truth)) / null_objective(p)
  expect_lte(missing, fit$grid$gap * (1 + 1e-6) + 1e-10)
})
