# With lambda2 = 0 cross-validation is cv.glmnet()'s: the same scores, errors and choice.

expect_cv_glmnet <- function(family, sign, measure, weights = NULL, foldid = NULL, n = 80) {
  data <- cv_problem(family, n = n, d = 15)
  if (is.null(foldid)) foldid <- sample(rep(1:4, length.out = n))
  given <- list(data$x, data$y, family = family, weights = weights, standardize = FALSE,
                thresh = 1e-12, maxit = 1e7,
                lower.limits = if (sign == "nonnegative") 0 else -Inf)
  lambda <- do.call(glmnet::glmnet, c(given, nlambda = 12, lambda.min.ratio = 0.02))$lambda
  # without `lambda` the folds would have sequences of their own and be interpolated
  theirs <- do.call(glmnet::cv.glmnet, c(given, list(lambda = lambda, foldid = foldid,
                                                     type.measure = measure)))
  ours <- cv.n2gfl(data$x, data$y, data$graph, family = family, sign = sign, foldid = foldid,
                   type.measure = measure, weights = weights, lambda1 = lambda, lambda2 = 0,
                   thresh = 1e-11)
  expect_true(all(ours$grid$converged))
  expect_true(all(unlist(lapply(ours$fold.fits, `[[`, "converged"))))
  for (part in c("cvm", "cvsd")) {
    # the empty model's auc is one half in every fold: its standard error is zero
    expect_lte(max(abs(ours[[part]] - theirs[[part]]) - 1e-4 * abs(theirs[[part]])), 1e-14)
  }
  expect_identical(ours$lambda.min[["lambda1"]], theirs$lambda.min)
}

cases <- list(gaussian = c("mse", "mae", "deviance"),
              binomial = c("deviance", "class", "auc", "mse", "mae"))

for (family in names(cases)) for (sign in c("free", "nonnegative")) {
  test_that(paste("scores are cv.glmnet's:", family, sign), {
    skip_if_not_installed("glmnet")
    withr::local_seed(31)
    for (measure in cases[[family]]) expect_cv_glmnet(family, sign, measure)
  })

  test_that(paste("with weights too:", family, sign), {
    skip_if_not_installed("glmnet")
    withr::local_seed(32)
    for (measure in cases[[family]]) {
      expect_cv_glmnet(family, sign, measure, weights = stats::runif(80, 0.2, 3))
    }
  })
}

test_that("folds of one row are scored as glmnet scores them", {
  skip_if_not_installed("glmnet")
  withr::local_seed(33)
  for (family in c("gaussian", "binomial")) {
    # glmnet warns about such folds
    suppressWarnings(expect_cv_glmnet(family, "free", "deviance", foldid = 1:30, n = 30))
  }
})
