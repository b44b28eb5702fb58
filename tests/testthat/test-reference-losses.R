# The references themselves: losses and conic programs of the helpers, without any fit of the
# package. Losses agree with their derivatives and conjugates, solutions with those of others.

# A problem whose features alone decide its size, with everything else that a peer knows.
peer_problem <- function(family, sign = "free", zeros = FALSE, n = 80, d = 4, ...) {
  x <- matrix(rnorm(n * d), n, d)
  y <- random_response(family, drop(x %*% c(1, -0.5, 0.5, 0, rep(0, d - 4))))
  weights <- runif(n, 0.3, 2)
  if (zeros) weights[21:30] <- 0
  reference_problem(x, y, package_graph(chain_edges(d)), family = family, sign = sign,
                    weights = weights, offset = rnorm(n) / 3, ...)
}

expect_derivatives <- function(p) {
  eta <- linear_predictor(p, best_free(p, rep(0.1, ncol(p$a))), rep(0.1, ncol(p$a)))
  residual <- loss_residual(p, eta)
  slope <- vapply(seq_along(eta), function(i) {
    step <- replace(0 * eta, i, 1e-5)
    (loss_value(p, eta + step) - loss_value(p, eta - step)) / 2e-5
  }, 0)
  expect_lte(max(abs(residual + slope)), 1e-9)
  v <- rnorm(length(eta))
  change <- (loss_residual(p, eta + 1e-5 * v) - loss_residual(p, eta - 1e-5 * v)) / 2e-5
  expect_lte(max(abs(loss_of(p)$curve(p, eta, v) + change)), 1e-9)
  if (length(p$free)) expect_lte(max(abs(crossprod(p$free, residual))), 1e-12)
}

# The dual value is that of a general optimiser, which can only be above it.
expect_conjugate <- function(p) {
  eta <- linear_predictor(p, best_free(p, rep(0.1, ncol(p$a))), rep(0.1, ncol(p$a)))
  residual <- loss_residual(p, eta)
  expect_equal(loss_dual(p, residual), loss_value(p, eta) + sum(residual * (eta - p$o)),
               tolerance = 1e-12)
  for (share in c(0.3, 0.9)) {
    theta <- share * residual
    best <- optim(eta - p$o, function(e) loss_value(p, p$o + e) + sum(theta * e),
                  function(e) theta - loss_residual(p, p$o + e), method = "BFGS",
                  control = list(maxit = 10000, reltol = 1e-16))
    expect_lte(loss_dual(p, theta), best$value + 1e-13)
    expect_equal(loss_dual(p, theta), best$value, tolerance = 1e-9)
  }
  expect_equal(loss_dual(p, 0 * residual), 0, tolerance = 1e-12)
}

test_that("derivatives and conjugates", {
  withr::local_seed(601)
  for (family in reference_families) for (k in 1:5) {
    p <- random_problem(family, "free")
    expect_derivatives(p)
    expect_conjugate(p)
  }
})

test_that("outside of its domain the conjugate is infinite", {
  withr::local_seed(602)
  for (family in c("poisson", "cox", "ordinal")) {
    p <- peer_problem(family)
    # more than all counts, all events, or a level can give
    expect_identical(loss_dual(p, replace(0 * p$w, 1, 100)), -Inf)
  }
})

# The conic program without penalties.
free_solution <- function(p) ecos_fit(p, 0, 0)

test_that("without penalties: poisson is glm()'s", {
  skip_if_not_installed("ECOSolveR")
  withr::local_seed(603)
  p <- peer_problem("poisson", zeros = TRUE, covariates = matrix(rnorm(160), 80))
  peer <- glm(p$args$y ~ p$args$covariates + p$args$x, family = poisson(),
              weights = p$args$weights, offset = p$args$offset, epsilon = 1e-14)
  ours <- free_solution(p)
  expect_equal(unname(c(ours$free, ours$beta)), unname(coef(peer)), tolerance = 1e-6)
  expect_equal(2 * sum(p$args$weights) * ours$objective, peer$deviance, tolerance = 1e-9)
})

test_that("without penalties: cox is coxph()'s, with ties, strata and weights", {
  skip_if_not_installed("ECOSolveR")
  skip_if_not_installed("survival")
  withr::local_seed(604)
  p <- peer_problem("cox", zeros = TRUE, covariates = matrix(rnorm(160), 80))
  time <- ceiling(4 * p$args$y[, "time"]) / 4
  status <- p$args$y[, "status"]
  strata <- survival::strata
  for (split in list(rep(1, 80), rep(1:2, 40))) {
    p$args$y <- structure(cbind(time = time, status = status), strata = split)
    q <- do.call(reference_problem, p$args)
    data <- list(y = survival::Surv(time, status), x = cbind(p$args$covariates, p$args$x),
                 split = split, o = p$args$offset)
    peer <- survival::coxph(
      y ~ x + offset(o) + strata(split), data, weights = p$args$weights,
      subset = p$args$weights > 0, ties = "breslow",
      control = survival::coxph.control(1e-13, 1e-14, 100))
    ours <- free_solution(q)
    expect_equal(unname(c(ours$free, ours$beta)), unname(coef(peer)), tolerance = 1e-6)
    # the loss is half a deviance: the log likelihood lacks what a saturated model has
    died <- sum(p$args$weights) * q$died
    likelihood <- -sum(p$args$weights) * ours$objective - sum(died * log(died))
    expect_equal(likelihood, peer$loglik[2], tolerance = 1e-9)
  }
})

test_that("without penalties: ordinal is polr()'s", {
  skip_if_not_installed("ECOSolveR")
  skip_if_not_installed("MASS")
  withr::local_seed(605)
  for (k in 1:4) {
    p <- peer_problem("ordinal", zeros = TRUE, covariates = matrix(rnorm(160), 80))
    data <- list(y = p$args$y, x = cbind(p$args$covariates, p$args$x), o = p$args$offset)
    on <- p$args$weights > 0
    # it warns that weights are not whole numbers
    peer <- suppressWarnings(MASS::polr(
      y ~ x + offset(o), data, weights = p$args$weights, subset = on,
      control = list(reltol = 1e-15, maxit = 1000)))
    ours <- free_solution(p)
    cuts <- seq_len(p$cuts)
    expect_equal(ours$free[cuts], unname(peer$zeta), tolerance = 1e-5)
    expect_equal(unname(c(ours$free[-cuts], ours$beta)), unname(coef(peer)), tolerance = 1e-5)
    expect_equal(2 * sum(p$args$weights) * ours$objective, peer$deviance, tolerance = 1e-9)
  }
})

# glmnet solves problems with strata by another method, which is less accurate.
expect_glmnet <- function(p) {
  strata <- !is.null(attr(p$args$y, "strata"))
  lambda1 <- lambda_unit(p) * c(0.5, 0.2, 0.05)
  peer <- glmnet_lasso(p, lambda1, thresh = if (strata) 1e-9 else 1e-14)
  for (k in seq_along(lambda1)) {
    ours <- ecos_fit(p, lambda1[k], 0)
    expect_equal(ours$beta, peer$beta[, k], tolerance = if (strata) 1e-3 else 1e-6)
    if (p$intercept) expect_equal(unname(ours$free), peer$a0[k], tolerance = 1e-6)
    free <- if (p$intercept) peer$a0[k]
    theirs <- model_objective(p, free, peer$beta[, k], lambda1[k], 0)
    expect_equal(ours$objective, theirs, tolerance = if (strata) 1e-7 else 1e-11)
  }
}

test_that("without fusion: poisson and cox are glmnet's", {
  skip_if_not_installed("ECOSolveR")
  skip_if_not_installed("glmnet")
  skip_if_not_installed("survival")
  withr::local_seed(606)
  for (family in c("poisson", "cox")) for (sign in c("nonnegative", "nonpositive", "free")) {
    p <- peer_problem(family, sign, d = 8, penalty.factor = c(1, 0.5, 2, 1, Inf, 1, 1, 1))
    expect_glmnet(p)
    if (family == "poisson" || sign != "nonnegative") next
    attr(p$args$y, "strata") <- rep(1:2, 40)
    expect_glmnet(do.call(reference_problem, p$args))
  }
})
