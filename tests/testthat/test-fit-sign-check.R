# The check that univariate effects do not oppose the sign constraint, and messages about classes.

falling <- function(n = 80, d = 20) {
  withr::local_seed(5)
  x <- matrix(stats::rnorm(n * d), n)
  list(x = x, y = 3 - 2 * rowSums(x[, 1:4]) + stats::rnorm(n), graph = graph_chain(d))
}

short <- function(p, ..., fun = n2gfl) {
  fun(p$x, p$y, p$graph, lambda2 = 0.1, nlambda1 = 3, ...)
}

test_that("every function that fits a plain matrix warns once", {
  p <- falling()
  for (fun in list(n2gfl, cv.n2gfl, perturb_fits)) {
    said <- capture_warnings(short(p, fun = fun))
    expect_length(said, 1)
    expect_match(said, "use sign = \"nonpositive\"", fixed = TRUE)
  }
  said <- capture_warnings(stability_selection(p$x, p$y, p$graph, cutoff = 0.8, q = 10, B = 2,
                                               lambda2 = 0.1))
  expect_length(said, 1)
  expect_warning(short(p), class = "n2gfl_sign_warning")
  expect_no_warning(short(p, sign = "nonpositive"))
  expect_no_warning(short(p, sign = "free"))
  p$y <- -p$y
  expect_no_warning(short(p))
  expect_warning(short(p, sign = "nonpositive"), "use sign = \"nonnegative\"")
})

test_that("the warning counts the features and names the class", {
  p <- falling()
  p$y <- factor(ifelse(p$y > 3, "AD", "NC"), c("NC", "AD"))
  expect_snapshot(cat(capture_warnings(short(p, family = "binomial")), sep = "\n"))
  expect_snapshot({
    cat(sign_warning(c(1, 0), 3, "nonpositive", NULL))
    cat(sign_warning(c(3, 1), 3, "nonpositive", NULL))
  })
})

test_that("noise causes no warning, a few strong effects among many features do", {
  problem <- function(d) {
    list(control = list(family = "gaussian", sign = "nonnegative", strong = c(5, 3)),
         data = list(x = matrix(0, 50, d)))
  }
  effects <- function(...) matrix(c(...), 2)
  expect_no_warning(warn_wrong_sign(effects(0L, 0L, 200L, 20L), problem(10000)))
  expect_warning(warn_wrong_sign(effects(0L, 0L, 250L, 20L), problem(10000)), "250 of the 270")
  expect_warning(warn_wrong_sign(effects(3L, 0L, 20L, 19L), problem(10000)), "all 3 features")
  expect_no_warning(warn_wrong_sign(effects(2L, 1L, 5L, 3L), problem(100)))
  withr::local_seed(3)
  x <- matrix(stats::rnorm(100 * 2000), 100)
  y <- -2 * rowSums(x[, 1:5]) + stats::rnorm(100)
  expect_warning(n2gfl(x, y, lambda2 = 0, nlambda1 = 2), class = "n2gfl_sign_warning")
  alarms <- vapply(1:60, function(k) {
    noise <- matrix(stats::rnorm(60 * 100), 60)
    length(capture_warnings(n2gfl(noise, stats::rnorm(60), lambda2 = 0, nlambda1 = 1)))
  }, 0L)
  expect_lt(sum(alarms), 4)
})

test_that("effects are counted as t tests count them, also of sparse x", {
  withr::local_seed(3)
  x <- matrix(stats::rnorm(30 * 40), 30)
  y <- rep(c(0, 1), 15)
  x[, 1:10] <- x[, 1:10] + 1.6 * y
  x[, 11:15] <- x[, 11:15] - 1.8 * y + 1e3
  x[, 40] <- 5
  t <- apply(x[, -40], 2, function(v) {
    stats::t.test(v[y > 0], v[y == 0], var.equal = TRUE)$statistic
  })
  effects <- function(x, ...) {
    problem <- check_problem(fit_arguments(list(x = x, y = y, graph = graph_chain(40),
                                                family = "binomial", ...)))
    start_facts(problem_at(problem), 0)$effects
  }
  limit <- strong_limits(x)[1]
  counts <- c(sum(t < -limit), sum(t > limit), sum(t < -3), sum(t > 3))
  expect_identical(as.vector(effects(x)), counts)
  expect_identical(as.vector(effects(methods::as(x, "CsparseMatrix"))), counts)
  expect_identical(as.vector(effects(x, sign = "nonpositive")), counts[c(2, 1, 4, 3)])
  expect_identical(effects(x, penalty.factor = rep(c(Inf, 1), c(10, 30)))[, 2],
                   c(sum(t < -3), sum(t[-(1:10)] > 3)))
})

test_that("effects are adjusted for the covariates", {
  withr::local_seed(8)
  age <- stats::rnorm(100)
  x <- matrix(stats::rnorm(100 * 10), 100) + age
  y <- -3 * age + rowSums(x[, 1:2] - age) + stats::rnorm(100)
  expect_warning(n2gfl(x, y, graph_chain(10), lambda2 = 0.1, nlambda1 = 3), "sign")
  expect_no_warning(n2gfl(x, y, graph_chain(10), covariates = cbind(age), lambda2 = 0.1,
                          nlambda1 = 3))
})

test_that("for text, which has no order, one message names the modelled class", {
  p <- falling()
  p$y <- ifelse(p$y < 3, "patient", "control")
  expect_message(short(p, family = "binomial"), "Modelling the probability of \"patient\"")
  said <- character(0)
  withCallingHandlers(short(p, family = "binomial", fun = cv.n2gfl, nested = TRUE, nfolds = 3),
                      message = function(m) {
                        said <<- c(said, conditionMessage(m))
                        invokeRestart("muffleMessage")
                      })
  expect_length(said, 1)
  p$y <- factor(p$y)
  expect_no_message(short(p, family = "binomial"))
})

test_that("two values as numbers suggest binomial", {
  p <- falling()
  p$y <- ifelse(p$y < 3, 2L, 1L)
  expect_message(short(p), "if they are classes, use family = \"binomial\"", fixed = TRUE)
  expect_no_message(short(p, family = "binomial"))
})
