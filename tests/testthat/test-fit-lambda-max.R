# lambda_max() is exact: everything is zero at it, something is not just below it.

problem_lambda_max <- function(p, lambda2) {
  given <- p$args
  lambda_max(given$x, given$y, given$graph, lambda2,
             family = given$family, sign = given$sign, covariates = given$covariates,
             weights = given$weights, offset = given$offset, penalty = given$penalty,
             penalty.factor = given$penalty.factor, standardize = given$standardize,
             intercept = given$intercept)
}

# A random problem in which every feature has a penalty (or is excluded).
penalised_problem <- function(family, sign, penalty = "fused") {
  p <- random_problem(family, sign, penalty = penalty)
  if (is.null(p$args$penalty.factor)) return(p)
  p$args$penalty.factor[p$args$penalty.factor == 0] <- 1
  do.call(reference_problem, p$args)
}

test_that("200 random problems: zero at lambda_max, not zero at 0.999 of it", {
  withr::local_seed(251)
  choices <- expand.grid(sign = c("nonnegative", "nonpositive", "free"),
                         family = reference_families, stringsAsFactors = FALSE)
  tested <- 0
  for (k in 1:200) {
    choice <- choices[k %% nrow(choices) + 1, ]
    p <- penalised_problem(choice$family, choice$sign)
    lambda2 <- lambda_unit(p) * sample(c(0, 10^runif(1, -2, 1)), 1, prob = c(1, 5))
    top <- problem_lambda_max(p, lambda2)
    fit <- fit_problem(p, top, lambda2, thresh = 1e-9)
    expect_identical(sum(fit$beta != 0), 0L)
    expect_kkt(fit, p, thresh = 1e-9)
    if (top < 1e-6 * lambda_unit(p)) next
    tested <- tested + 1
    below <- fit_problem(p, 0.999 * top, lambda2, thresh = 1e-9)
    expect_gt(sum(below$beta != 0), 0)
    expect_kkt(below, p, thresh = 1e-9)
  }
  expect_gt(tested, 150)
})

test_that("lambda_max is what a linear program finds", {
  skip_if_not_installed("ECOSolveR")
  withr::local_seed(252)
  for (sign in c("nonnegative", "nonpositive", "free")) for (k in 1:20) {
    p <- penalised_problem(sample(reference_families, 1), sign)
    lambda2 <- lambda_unit(p) * c(10^runif(1, -1, 1), 10^runif(1, -2, -1), 0)
    own <- problem_lambda_max(p, lambda2)
    truth <- vapply(lambda2, function(l) lambda_max_program(p, l), numeric(1))
    expect_lte(max(abs(own - truth)), 1e-7 * lambda_unit(p))
  }
})

test_that("without fusion lambda_max is the largest gradient, one-sided when beta is", {
  withr::local_seed(253)
  x <- matrix(rnorm(200), 20)
  y <- rnorm(20)
  g <- graph_chain(10)
  gradient <- drop(crossprod(x, y - mean(y))) / 20
  expect_equal(lambda_max(x, y, g, 0, sign = "free"), max(abs(gradient)))
  expect_equal(lambda_max(x, y, g, 0, sign = "nonnegative"), max(gradient))
  expect_equal(lambda_max(x, y, g, 0, sign = "nonpositive"), max(-gradient))
})

test_that("huge fusion makes each component one feature", {
  withr::local_seed(254)
  x <- matrix(rnorm(200), 20)
  y <- rnorm(20)
  edges <- edge_list(10, c(1:4, 6:9), c(2:5, 7:10))
  sums <- tapply(drop(crossprod(x, y - mean(y))) / 20, component_labels(edges), sum)
  expect_equal(lambda_max(x, y, package_graph(edges), 1e3, sign = "free"), max(abs(sums)) / 5)
})

test_that("the default path starts at lambda_max, for each lambda2", {
  withr::local_seed(255)
  p <- penalised_problem("binomial", "nonnegative")
  fit <- n2gfl(p$args$x, p$args$y, p$args$graph, family = "binomial", nlambda1 = 5, nlambda2 = 3)
  plain <- reference_problem(p$args$x, p$args$y, p$args$graph, family = "binomial")
  expect_kkt(fit, plain)
  first <- !duplicated(fit$grid$lambda2)
  expect_equal(sum(first), 3)
  own <- problem_lambda_max(plain, fit$grid$lambda2[first])
  expect_equal(fit$grid$lambda1[first], own, tolerance = 1e-12)
  expect_identical(sum(fit$beta[, first] != 0), 0L)
  expect_equal(fit$grid$lambda1[c(5, 10, 15)], 0.02 * own, tolerance = 1e-12)
})

test_that("lambda_max of the quadratic penalty does not depend on lambda2", {
  withr::local_seed(256)
  for (sign in c("nonnegative", "nonpositive", "free")) {
    p <- penalised_problem("gaussian", sign, penalty = "laplacian")
    top <- problem_lambda_max(p, c(1, 0.1, 0))
    expect_equal(top, rep(top[1], 3))
    fit <- fit_problem(p, c(top[1], 0.999 * top[1]), 0.1, thresh = 1e-9)
    expect_kkt(fit, p, thresh = 1e-9)
    expect_identical(sum(fit$beta[, 1] != 0), 0L)
    expect_gt(sum(fit$beta[, 2] != 0), 0)
  }
})
