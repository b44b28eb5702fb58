# The fused lasso on a chain, against packages made for that.

signal_problem <- function(family, n = 60, d = 15) {
  x <- matrix(rnorm(n * d), n, d)
  eta <- drop(x %*% rep(c(0, 1, 1, -1, 0), each = d / 5))
  y <- if (family == "gaussian") 1 + eta + rnorm(n) else random_classes(eta / 2)
  reference_problem(x, y, graph_chain(d), family = family, sign = "free")
}

test_that("squared error agrees with genlasso", {
  skip_if_not_installed("genlasso")
  withr::local_seed(221)
  p <- signal_problem("gaussian")
  x <- scale(p$args$x, scale = FALSE)
  y <- p$y - mean(p$y)
  # genlasso fixes the ratio lambda1 / lambda2 = gamma and uses plain sums
  for (gamma in c(0, 0.5, 2)) {
    path <- genlasso::fusedlasso1d(y, X = x, gamma = gamma)
    for (lambda2 in lambda_unit(p) * c(0.2, 0.05, 0.01)) {
      fit <- fit_problem(p, gamma * lambda2, lambda2, thresh = 1e-11)
      expect_kkt(fit, p, thresh = 1e-11)
      peer <- drop(coef(path, lambda = lambda2 * length(y))$beta)
      expect_equal(as.numeric(fit$beta), unname(peer), tolerance = 1e-5)
      value <- model_objective(p, best_free(p, peer), peer, gamma * lambda2, lambda2)
      expect_equal(fit_objective(p, fit), value, tolerance = 1e-9)
    }
  }
})

test_that("logistic loss agrees with penalized", {
  skip_if_not_installed("penalized")
  withr::local_seed(222)
  p <- signal_problem("binomial", d = 10)
  n <- length(p$y)
  met <- 0
  for (share in c(0.5, 0.3, 0.2, 0.1)) for (ratio in c(0.2, 0.5, 2)) {
    lambda <- share * lambda_unit(p) * c(1, ratio)
    fit <- fit_problem(p, lambda[1], lambda[2], thresh = 1e-10)
    expect_kkt(fit, p, thresh = 1e-10)
    peer <- penalized::penalized(
      factor(p$y), p$args$x, lambda1 = n * lambda[1], lambda2 = n * lambda[2], fusedl = TRUE,
      model = "logistic", epsilon = 1e-13, maxiter = 1e4, trace = FALSE
    )
    coefs <- unname(penalized::coefficients(peer, "all"))
    more <- model_objective(p, coefs[1], coefs[-1], lambda[1], lambda[2]) - fit_objective(p, fit)
    # penalized stops short of the optimum now and then, but it is never below it
    expect_gte(more, -1e-9)
    if (more > 1e-8) next
    met <- met + 1
    expect_equal(unname(c(fit$a0, as.numeric(fit$beta))), coefs, tolerance = 1e-4)
  }
  expect_gte(met, 6)
})
