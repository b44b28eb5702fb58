# What the subjects' means as a covariate would gain: measured by cross-validation, said only if it
# is clear, and the same as two cross-validations by hand.

# Features of a chain with what they share, an effect in the first ones, and a gain of each subject.
shared_case <- function(n = 80, d = 60, gain = 0.3, shape = stats::rnorm(n)) {
  y <- rep(0:1, n / 2)
  x <- 10 + matrix(stats::rnorm(n * d), n, d)
  x[, 1:6] <- x[, 1:6] + 1.2 * y
  list(x = x * exp(gain * shape), y = y, graph = graph_chain(d))
}

checked <- function(case, ...) {
  said <- NULL
  cv <- withCallingHandlers(
    cv.n2gfl(case$x, case$y, case$graph, family = "binomial", nlambda1 = 8,
             foldid = rep(1:5, length.out = length(case$y)), ...),
    warning = function(w) {
      if (inherits(w, "n2gfl_scale_warning")) said <<- c(said, conditionMessage(w))
      invokeRestart("muffleWarning")
    })
  list(cv = cv, check = cv$scale.check, said = said)
}

test_that("a gain that hides the effect is measured, and said once", {
  withr::local_seed(41)
  case <- shared_case()
  found <- checked(case)
  expect_true(found$check$advised)
  expect_length(found$said, 1)
  expect_match(found$said, "Binomial deviance in cross-validation is 0[.0-9]+ with the subjects'")
  expect_match(found$said, "`covariates = ~ global`, or divide by it, scale = \"mean\"",
               fixed = TRUE)
  expect_output(print(found$cv), "with the subjects' means as a covariate")
  # Who follows it, sees the score that was promised, or a better one, and no more advice.
  followed <- checked(case, covariates = ~ global)
  expect_lte(min(followed$cv$cvm), found$check$with * (1 + 1e-6))
  expect_null(followed$check)
  expect_null(followed$said)
})

test_that("the scores are those of cross-validations by hand", {
  withr::local_seed(42)
  case <- shared_case()
  z <- cbind(age = stats::rnorm(80))
  for (covariates in list(NULL, z)) {
    found <- checked(case, covariates = covariates, thresh = 1e-9)
    cv <- found$cv
    expect_equal(found$check$without, min(cv$cvm))
    lambda2 <- cv$lambda.min[["lambda2"]]
    by_hand <- cv.n2gfl(case$x, case$y, case$graph, family = "binomial", lambda2 = lambda2,
                        covariates = cbind(covariates, global = rowMeans(case$x)), nlambda1 = 5,
                        foldid = cv$foldid, thresh = 1e-9)
    expect_equal(found$check$with, min(by_hand$cvm), tolerance = 1e-5)
    expect_equal(found$check$gain, min(cv$cvm) - min(by_hand$cvm), tolerance = 1e-4)
  }
  # The standard error is that of the folds' differences.
  scores <- function(values) list(list(scores = cbind(values), weights = rep(8, 5)))
  one <- c(1, 2, 3, 4, 5)
  two <- c(1, 1, 1, 1, 2)
  compared <- compare_scales(scores(one), scores(two), 1, 0.5, "deviance")
  expect_equal(compared$gain, mean(one - two))
  expect_equal(compared$se, stats::sd(one - two) / sqrt(5))
  expect_false(compare_scales(scores(one), scores(two), 1, 0.5, "auc")$advised)
  # A gain that is certain, but small beside the score's own standard error.
  small <- compare_scales(scores(one), scores(one - 0.1), 1, 0.5, "deviance")
  expect_lt(small$se, 1e-12)
  expect_false(small$advised)
  expect_true(compare_scales(scores(one), scores(one - 1), 1, 0.5, "deviance")$advised)
})

test_that("a common part that costs nothing is not advised about, however large", {
  withr::local_seed(43)
  # What the features share is what predicts: there is nothing to subtract.
  y <- rep(0:1, 40)
  found <- checked(shared_case(shape = (y - 0.5) * 2 + 0.8 * stats::rnorm(80), gain = 0.1))
  expect_gt(found$check$share, 0.5)
  expect_false(found$check$advised)
  expect_null(found$said)
})

test_that("nothing is measured where there is nothing to say", {
  withr::local_seed(44)
  noise <- list(x = matrix(stats::rnorm(80 * 200), 80), y = rep(0:1, 40), graph = graph_chain(200))
  expect_null(checked(noise)$check)
  case <- shared_case()
  expect_null(checked(case, sign = "free")$check)
  expect_null(checked(case, scale = "mean")$check)
  # With penalties of the user's own the share alone is known.
  fixed <- checked(case, lambda2 = 0.01)
  expect_null(fixed$check)
  expect_match(fixed$said, "The subjects' means explain")
})

test_that("formulas keep their terms, their environment and their data", {
  withr::local_seed(45)
  case <- shared_case()
  data <- data.frame(sex = rep(c("f", "m"), each = 40), age = stats::rnorm(80))
  degree <- 2
  problem <- check_problem(fit_arguments(list(
    x = case$x, y = case$y, graph = case$graph, family = "binomial", data = data,
    covariates = ~ sex + poly(age, degree))))
  both <- with_means(problem)$data$covariates
  expect_identical(colnames(both), c(colnames(problem$data$covariates), "global"))
  expect_equal(unname(both[, "global"]), rowMeans(case$x))
  expect_equal(both[, -ncol(both)], problem$data$covariates, ignore_attr = TRUE)
  found <- checked(case, data = data, covariates = ~ sex + age)
  expect_true(found$check$advised)
})
