# With lambda2 = 0 the model is the lasso: the same as glmnet, free and one-sided.

lasso_problem <- function(family, sign, n = 60, d = 20, ...) {
  x <- matrix(rnorm(n * d), n, d)
  eta <- drop(x[, 1:6] %*% c(1, -1, 0.7, -0.7, 0.5, 0.5))
  y <- if (family == "gaussian") 2 + eta + rnorm(n) else random_classes(eta)
  reference_problem(x, y, graph_chain(d), family = family, sign = sign, ...)
}

expect_lasso <- function(p) {
  lambda1 <- lambda_unit(p) * c(0.7, 0.3, 0.1, 0.03)
  fit <- fit_problem(p, lambda1, 0, thresh = 1e-10)
  expect_kkt(fit, p, thresh = 1e-10)
  peer <- glmnet_lasso(p, lambda1)
  size <- max(abs(peer$beta), abs(peer$a0))
  expect_lte(max(abs(as.matrix(fit$beta) - peer$beta)), 1e-4 * size)
  expect_lte(max(abs(fit$a0 - peer$a0)), 1e-4 * size)
  if (length(peer$gamma)) expect_lte(max(abs(fit$gamma - peer$gamma)), 1e-4 * size)
  theirs <- vapply(seq_along(lambda1), function(k) {
    free <- c(if (p$intercept) peer$a0[k], peer$gamma[, k])
    model_objective(p, free, peer$beta[, k], lambda1[k], 0)
  }, numeric(1))
  expect_equal(fit_objective(p, fit), theirs, tolerance = 1e-8)
}

for (family in c("gaussian", "binomial")) for (sign in c("free", "nonnegative", "nonpositive")) {
  test_that(paste("the lasso is glmnet's:", family, sign), {
    skip_if_not_installed("glmnet")
    withr::local_seed(201)
    expect_lasso(lasso_problem(family, sign))
  })

  test_that(paste("more features than observations:", family, sign), {
    skip_if_not_installed("glmnet")
    withr::local_seed(202)
    expect_lasso(lasso_problem(family, sign, n = 30, d = 50))
  })

  test_that(paste("weights, offset, covariates and penalty factors:", family, sign), {
    skip_if_not_installed("glmnet")
    withr::local_seed(203)
    factor <- rep(c(0.5, 1, 2, 0, Inf), 4)
    factor[c(9, 14, 19)] <- 1
    expect_lasso(lasso_problem(family, sign, weights = runif(60, 0.2, 2)))
    expect_lasso(lasso_problem(family, sign, offset = rnorm(60)))
    expect_lasso(lasso_problem(family, sign, covariates = matrix(rnorm(120), 60, 2)))
    expect_lasso(lasso_problem(family, sign, penalty.factor = factor))
    expect_lasso(lasso_problem(
      family, sign, weights = runif(60, 0.2, 2), offset = rnorm(60),
      covariates = matrix(rnorm(120), 60, 2), penalty.factor = factor
    ))
  })

  test_that(paste("standardize and no intercept:", family, sign), {
    skip_if_not_installed("glmnet")
    withr::local_seed(204)
    p <- lasso_problem(family, sign)
    p$args$x <- sweep(p$args$x, 2, 10^seq(-1, 1, length.out = 20), "*")
    scaled <- do.call(reference_problem, modifyList(p$args, list(
      standardize = TRUE, weights = runif(60, 0.2, 2)
    )))
    expect_lasso(scaled)
    expect_lasso(lasso_problem(family, sign, intercept = FALSE))
  })
}
