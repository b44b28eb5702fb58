# What new users type first: arguments of other packages, a mask as a graph, few observations.

first <- function(n = 40, d = 12) {
  withr::local_seed(9)
  x <- matrix(stats::rnorm(n * d), n)
  list(x = x, y = rowSums(x[, 1:3]) + stats::rnorm(n))
}

test_that("glmnet's arguments get a sentence, not R's", {
  p <- first()
  expect_snapshot({
    refusal(n2gfl(p$x, p$y, graph_chain(12), lambda = 0.1))
    refusal(n2gfl(p$x, p$y, graph_chain(12), nlambda = 10))
    refusal(n2gfl(p$x, p$y, graph_chain(12), alpha = 1))
    refusal(cv.n2gfl(p$x, p$y, graph_chain(12), lambda = 0.1))
    refusal(n2gfl(p$x, p$y, graph_chain(12), familly = "binomial"))
  })
})

test_that("the lasso needs no graph", {
  p <- first()
  lasso <- n2gfl(p$x, p$y, lambda2 = 0, nlambda1 = 5)
  with_graph <- n2gfl(p$x, p$y, graph_chain(12), lambda2 = 0, nlambda1 = 5)
  expect_equal(lasso$beta, with_graph$beta, tolerance = 1e-6)
  expect_s3_class(cv.n2gfl(p$x, p$y, lambda2 = 0, nlambda1 = 5, nfolds = 3), "n2gfl_cv")
  expect_equal(lambda_max(p$x, p$y), lambda_max(p$x, p$y, graph_chain(12)))
  expect_snapshot({
    refusal(n2gfl(p$x, p$y))
    refusal(lambda_max(p$x, p$y, lambda2 = 0.1))
  })
})

test_that("the error for a mask as graph, or a cohort as x, says what to use", {
  p <- first()
  expect_snapshot({
    refusal(n2gfl(p$x, p$y, array(TRUE, c(2, 3, 2))))
    refusal(n2gfl(p$x, p$y, matrix(TRUE, 3, 4)))
    refusal(n2gfl(p$x, p$y, matrix(TRUE, 4, 4)))
    refusal(n2gfl(p$x, p$y, matrix(c(0, 1, 0, 0), 2)))
  })
  cohort <- withr::with_seed(1, simulate_cohort(n = 4, dim = c(12, 14)))
  expect_snapshot(refusal(n2gfl(cohort, cohort$y)))
})

test_that("messages about few observations in a class use the user's terms", {
  p <- first()
  y <- factor(rep(c("case", "control"), c(3, 37)))
  run <- function(...) cv.n2gfl(p$x, y, lambda2 = 0, nlambda1 = 3, family = "binomial", ...)
  expect_snapshot({
    cat(capture_warnings(any_sign(withr::with_seed(1, run()))), sep = "\n")
    refusal(run(type.measure = "auc", nfolds = 10))
  })
  expect_no_warning(any_sign(withr::with_seed(1, run(nfolds = 3))))
  y <- factor(rep(c("case", "control"), c(1, 39)))
  expect_snapshot(refusal(run()))
  y <- factor(rep(c("case", "control"), c(8, 32)))
  site <- rep(1:10, each = 4)
  expect_snapshot(refusal(run(type.measure = "auc", group = site, nfolds = 5)))
})

test_that("few observations in nested cross-validations are reported before the fits", {
  p <- first()
  run <- function(cases, ...) {
    y <- factor(rep(c("case", "control"), c(cases, 40 - cases)))
    any_sign(withr::with_seed(1, cv.n2gfl(p$x, y, lambda2 = 0, nlambda1 = 3, family = "binomial",
                                          nested = TRUE, ...)))
  }
  expect_snapshot({
    refusal(run(5, type.measure = "auc", nfolds = 5))
    refusal(run(3, type.measure = "auc", nfolds = 2))
    refusal(run(2, nfolds = 2))
    refusal(run(2, nfolds = 3))
    cat(capture_warnings(run(5, nfolds = 5)), sep = "\n")
    cat(capture_warnings(run(3, nfolds = 3)), sep = "\n")
  })
  expect_no_warning(run(5, nfolds = 3))
  expect_no_warning(run(5, nfolds = 3, type.measure = "auc"))
  expect_no_warning(run(4, nfolds = 2, type.measure = "auc"))
})

test_that("the default number of folds is reduced where there are few observations or groups", {
  p <- first()
  run <- function(rows, y = p$y, ...) {
    withr::with_seed(1, cv.n2gfl(p$x[rows, ], y[rows], lambda2 = 0, nlambda1 = 3, ...))
  }
  said <- function(code) cat(capture_messages(code), sep = "")
  expect_snapshot({
    said(eight <- run(1:8))
    said(groups <- run(1:40, group = rep(1:5, 8)))
    said(auc <- any_sign(run(1:40, factor(rep(1:2, c(6, 34))), family = "binomial",
                             type.measure = "auc")))
    refusal(run(1:8, nfolds = 10))
    refusal(run(1:40, group = rep(1, 40)))
  })
  expect_identical(c(max(eight$foldid), max(groups$foldid), max(auc$foldid)), c(8L, 5L, 6L))
  expect_no_message(run(1:10))
})

test_that("leave-one-out gives no warning about classes", {
  p <- first()
  y <- factor(rep(1:2, 10))
  expect_no_warning(any_sign(cv.n2gfl(p$x[1:20, ], y, lambda2 = 0, nlambda1 = 3, nfolds = 20,
                                      family = "binomial")))
})

test_that("folds are balanced over the rows with a positive weight", {
  p <- first()
  weights <- rep(c(1, 0), c(8, 32))
  y <- factor(rep(c("a", "b", "a"), c(4, 4, 32)))
  for (seed in 1:10) {
    cv <- any_sign(withr::with_seed(seed, {
      cv.n2gfl(p$x, y, lambda2 = 0, nlambda1 = 3, nfolds = 4, weights = weights, nested = TRUE,
               family = "binomial")
    }))
    expect_identical(as.vector(table(cv$foldid[1:8], y[1:8])), rep(1L, 8))
  }
  expect_snapshot(refusal(cv.n2gfl(p$x, p$y, lambda2 = 0, weights = weights, nfolds = 9)))
  two <- rep(c(1, 0), c(2, 38))
  expect_snapshot(refusal(cv.n2gfl(p$x, p$y, lambda2 = 0, weights = two, nfolds = 2,
                                   nested = TRUE)))
  # Rows of a group stay together, also those of weight 0.
  group <- rep(1:10, 4)
  cv <- any_sign(withr::with_seed(1, {
    cv.n2gfl(p$x, p$y, lambda2 = 0, nlambda1 = 3, nfolds = 8, weights = weights, group = group)
  }))
  expect_identical(sort(cv$foldid[1:8]), 1:8)
  expect_true(all(tapply(cv$foldid, group, function(fold) length(unique(fold))) == 1))
})

test_that("too few controls in a fold are found before the fits", {
  p <- first()
  y <- factor(rep(c("NC", "AD"), c(9, 31)))
  age <- stats::rnorm(40)
  # An error of the work itself would begin with the name of the fold.
  expect_snapshot(refusal(
    cv.n2gfl(p$x, y, graph_chain(12), family = "binomial", covariates = cbind(age, age^2, age^3),
             deconfound = "controls", controls = "NC", foldid = c(rep(1, 6), rep(2:3, 17)))
  ))
})

test_that("stability selection's own lambda2 is that of the deconfounded features", {
  p <- first()
  age <- p$y + stats::rnorm(40, sd = 0.1)
  controls <- rep(c(TRUE, FALSE), 20)
  given <- list(p$x, p$y, graph_chain(12), covariates = cbind(age), deconfound = "controls",
                controls = controls)
  selection <- do.call(stability_selection, c(given, list(cutoff = 0.8, q = 6, B = 2)))
  expect_equal(selection$lambda2, 0.03 * do.call(lambda_max, given))
  plain <- lambda_max(p$x, p$y, graph_chain(12), covariates = cbind(age))
  expect_gt(abs(selection$lambda2 / (0.03 * plain) - 1), 0.01)
})

test_that("every exported function gives a mistyped argument a sentence", {
  functions <- Filter(function(name) is.function(getExportedValue("n2gfl", name)),
                      getNamespaceExports("n2gfl"))
  functions <- setdiff(functions, "assess")  # a generic: its methods check
  expect_gt(length(functions), 25)
  for (name in functions) {
    said <- tryCatch(do.call(getExportedValue("n2gfl", name), list(misspelt_argument = 1)),
                     error = conditionMessage)
    expect_match(said, "^`...` must .* `misspelt_argument`", label = name)
  }
})

test_that("one lambda for the two penalties of fused_prox() gets a sentence", {
  expect_error(fused_prox(1:3, graph_chain(3), lambda = 1), "as `lambda1` .* and `lambda2`")
})
