# Units do not matter: the same data in other units give the same solution in other units.

scale_cases <- function(run) {
  for (penalty in c("fused", "laplacian")) for (sign in c("nonnegative", "free")) {
    for (by in c(1e-8, 2^-27, 2^27, 1e8)) run(penalty, sign, by)
  }
}

# A gap of g allows two solutions a distance of order sqrt(g). But scaling by a power of two changes
# no rounding, so the arithmetic is the same, digit by digit, unless a tolerance is absolute.
expect_same_scaled <- function(p, q, lambda_p, lambda_q, factor, thresh = 1e-10) {
  exact <- log2(factor) == round(log2(factor))
  base <- fit_problem(p, lambda_p$lambda1, lambda_p$lambda2, thresh = thresh)
  other <- fit_problem(q, lambda_q$lambda1, lambda_q$lambda2, thresh = thresh)
  expect_kkt(base, p, thresh = thresh)
  expect_kkt(other, q, thresh = thresh)
  expect_equal(as.matrix(other$beta) * factor, as.matrix(base$beta),
               tolerance = if (exact) 1e-12 else 1e-4)
  expect_identical(other$grid$nonzero, base$grid$nonzero)
  expect_gt(max(base$grid$nonzero), 0)
}

test_that("x in other units", {
  withr::local_seed(271)
  for (family in reference_families) scale_cases(function(penalty, sign, by) {
    p <- random_problem(family, sign, n = 40, d = 10, penalty = penalty, extras = FALSE)
    q <- do.call(reference_problem, modifyList(p$args, list(x = p$args$x * by)))
    share <- if (family %in% c("gaussian", "binomial")) c(0.4, 0.1) else c(0.2, 0.02)
    unit <- lambda_unit(p) * share
    # beta becomes beta / by; the quadratic penalty grows with its square
    second <- if (penalty == "fused") by else by^2
    expect_same_scaled(
      p, q, list(lambda1 = unit, lambda2 = unit[2]),
      list(lambda1 = unit * by, lambda2 = unit[2] * second), by
    )
  })
})

test_that("y in other units", {
  withr::local_seed(272)
  scale_cases(function(penalty, sign, by) {
    p <- random_problem("gaussian", sign, n = 40, d = 10, penalty = penalty, extras = FALSE)
    q <- do.call(reference_problem, modifyList(p$args, list(y = p$args$y * by)))
    unit <- lambda_unit(p) * c(0.4, 0.1)
    second <- if (penalty == "fused") by else 1
    expect_same_scaled(
      p, q, list(lambda1 = unit, lambda2 = unit[2]),
      list(lambda1 = unit * by, lambda2 = unit[2] * second), 1 / by
    )
  })
})

test_that("weights in other units", {
  withr::local_seed(273)
  w <- runif(40, 0.5, 2)
  for (family in reference_families) for (by in c(1e-8, 1e8)) {
    p <- random_problem(family, "nonnegative", n = 40, d = 10, extras = FALSE)
    base <- do.call(reference_problem, modifyList(p$args, list(weights = w)))
    other <- do.call(reference_problem, modifyList(p$args, list(weights = w * by)))
    unit <- lambda_unit(base) * c(0.4, 0.02)
    expect_same_scaled(base, other, list(lambda1 = unit, lambda2 = unit[2]),
                       list(lambda1 = unit, lambda2 = unit[2]), 1)
  }
})

test_that("the three algorithms do not depend on units", {
  withr::local_seed(274)
  p <- random_problem("gaussian", "nonnegative", n = 40, d = 10, extras = FALSE)
  lambda <- lambda_unit(p) * c(0.3, 0.1)
  for (algorithm in c("pursuit", "fista", "ista")) for (by in c(1e-8, 1e8)) {
    q <- do.call(reference_problem, modifyList(p$args, list(x = p$args$x * by)))
    base <- fit_problem(p, lambda[1], lambda[2], algorithm = algorithm, thresh = 1e-8)
    other <- fit_problem(q, lambda[1] * by, lambda[2] * by, algorithm = algorithm, thresh = 1e-8)
    expect_kkt(base, p, thresh = 1e-8)
    expect_kkt(other, q, thresh = 1e-8)
    expect_equal(as.numeric(other$beta) * by, as.numeric(base$beta), tolerance = 1e-4)
  }
})

test_that("lambda_max follows the units", {
  withr::local_seed(275)
  p <- random_problem("gaussian", "nonnegative", extras = FALSE)
  x <- p$args$x
  y <- p$args$y
  base <- lambda_max(x, y, p$args$graph, 0.1)
  expect_equal(lambda_max(x * 1e8, y, p$args$graph, 0.1 * 1e8), base * 1e8, tolerance = 1e-10)
  expect_equal(lambda_max(x, y * 1e-8, p$args$graph, 0.1 * 1e-8), base * 1e-8, tolerance = 1e-10)
})
