# Whole models against a general conic solver: random problems for each family and sign, with
# weights, offset, covariates, penalty factors and standardize switched on at random; weights of
# zero, ties, censored rows and strata where the family has them (random_problem()).

# ECOS stops within about 1e-7 of the optimum and can never be below it.
expect_conic <- function(family, sign, penalty = "fused", problems = 50) {
  for (k in seq_len(problems)) {
    p <- random_problem(family, sign, penalty = penalty)
    lambda <- lambda_unit(p) * c(10^runif(1, -2, 0), 10^runif(1, -2.5, -0.3))
    truth <- ecos_fit(p, lambda[1], lambda[2])
    fit <- fit_problem(p, lambda[1], lambda[2], thresh = 1e-9)
    expect_kkt(fit, p, thresh = 1e-9)
    unit <- null_objective(p)
    difference <- (fit_objective(p, fit) - truth$objective) / unit
    expect_lte(difference, 2e-9)
    expect_gte(difference, -1e-6)
    move <- drop(p$a %*% ((as.numeric(fit$beta) - truth$beta) * p$scale))
    expect_lte(sqrt(sum(p$w * (move - weighted.mean(move, p$w))^2)), 5e-3 * max(1, sqrt(unit)))
  }
}

for (family in c("gaussian", "binomial")) for (sign in c("nonnegative", "nonpositive", "free")) {
  test_that(paste("50 random problems:", family, sign), {
    skip_if_not_installed("ECOSolveR")
    withr::local_seed(211)
    expect_conic(family, sign)
  })
}

for (family in c("poisson", "cox", "ordinal")) {
  test_that(paste("30 random problems:", family), {
    skip_if_not_installed("ECOSolveR")
    withr::local_seed(212)
    for (sign in c("nonnegative", "nonpositive", "free")) {
      expect_conic(family, sign, problems = 10)
    }
  })
}
