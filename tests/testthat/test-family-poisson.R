# Counts: peers are glmnet and glm.

for (sign in c("free", "nonnegative", "nonpositive")) {
  test_that(paste("the lasso of counts is glmnet's:", sign), {
    skip_if_not_installed("glmnet")
    withr::local_seed(1401)
    p <- family_problem("poisson")
    expect_glmnet_family(p, sign)
    expect_glmnet_family(p, sign, weights = p$w)
    expect_glmnet_family(p, sign, offset = p$o)
    expect_glmnet_family(p, sign, weights = p$w, offset = p$o)
  })
}

test_that("fits converge, their deviance is that of the definition, x may be sparse", {
  withr::local_seed(1402)
  p <- family_problem("poisson")
  expect_family_fit(p, p$y)
  # not whole numbers
  p$y <- p$y + stats::runif(80)
  expect_family_fit(p, p$y, sign = "free")
})

test_that("without penalties everything is glm's", {
  withr::local_seed(1403)
  p <- family_problem("poisson", n = 100, d = 4)
  w <- p$w / mean(p$w)
  fit <- fit_family(p, lambda1 = 0, sign = "free", weights = w, offset = p$o, covariates = p$z)
  direct <- suppressWarnings(glm(p$y ~ p$z + p$x, family = poisson(), weights = w, offset = p$o))
  expect_equal(unname(coef(fit)[, 1]), unname(coef(direct)), tolerance = 1e-5)
  expect_equal(deviance(fit), deviance(direct), tolerance = 1e-8)
  null <- glm(p$y ~ 1, family = poisson(), weights = w, offset = p$o)
  expect_equal(fit$nulldev, deviance(null), tolerance = 1e-8)
  for (type in c("deviance", "pearson", "response")) {
    ours <- residuals(fit, p$x, p$y, type = type, covariates = p$z, offset = p$o, weights = w)
    expect_equal(unname(ours[, 1]), unname(residuals(direct, type)), tolerance = 1e-4)
  }
  expect_equal(as.numeric(logLik(fit)), as.numeric(logLik(direct)), tolerance = 1e-8)
  expect_equal(c(AIC(fit), BIC(fit)), c(AIC(direct), BIC(direct)), tolerance = 1e-8)
})

test_that("an offset of log(exposure) makes rates", {
  withr::local_seed(1404)
  p <- family_problem("poisson")
  exposure <- stats::runif(80, 1, 20)
  p$y <- stats::rpois(80, exposure * exp(p$x[, 1] / 2))
  # at the largest lambda1 the model is one rate for all
  most <- lambda_max(p$x, p$y, family = "poisson", offset = log(exposure))
  fit <- fit_family(p, lambda1 = most * c(1.001, 0.1), offset = log(exposure))
  expect_identical(fit$grid$nonzero[1], 0L)
  expect_equal(exp(fit$a0[[1]]), sum(p$y) / sum(exposure), tolerance = 1e-6)
  counts <- predict(fit, p$x[1:5, ], type = "response", newoffset = log(exposure[1:5]))
  rates <- predict(fit, p$x[1:5, ], type = "response", newoffset = numeric(5))
  expect_equal(counts, exposure[1:5] * rates)
  expect_equal(unname(rates), unname(exp(predict(fit, p$x[1:5, ], newoffset = numeric(5)))))
})

for (sign in c("free", "nonnegative")) {
  test_that(paste("scores are cv.glmnet's:", sign), {
    skip_if_not_installed("glmnet")
    withr::local_seed(1405)
    p <- family_problem("poisson")
    foldid <- sample(rep(1:4, 20))
    for (measure in c("deviance", "mse", "mae")) {
      expect_glmnet_scores(p, measure, sign, foldid = foldid)
      expect_glmnet_scores(p, measure, sign, weights = p$w, foldid = foldid)
    }
  })
}

test_that("assess() treats counts as numbers, augment() gives means and residuals", {
  skip_if_not_installed("generics")
  withr::local_seed(1406)
  p <- family_problem("poisson", n = 120)
  cv <- quick_cv(p, keep = TRUE)
  held <- exp(cv$fit.preval[, cv$index[["min"]]])
  measures <- assess(cv)$measures
  estimate <- function(name) measures$estimate[measures$measure == name]
  expect_equal(estimate("mae"), mean(abs(p$y - held)))
  expect_equal(estimate("correlation"), stats::cor(p$y, held))
  expect_equal(estimate("slope"), unname(coef(lm(p$y ~ held))[2]))
  table <- generics::augment(cv, p$x, p$y)
  expect_equal(table$.fitted, unname(fitted(cv, p$x)[, 1]))
  expect_equal(table$.resid, p$y - table$.fitted)
})

test_that("refits, exact fits, nested and perturbed runs work", {
  withr::local_seed(1407)
  p <- family_problem("poisson", n = 60)
  fit <- fit_family(p, lambda1 = c(0.5, 0.2))
  s <- c(lambda1 = 0.3, lambda2 = 0)
  exact <- coef(fit, s = s, exact = TRUE, x = p$x, y = p$y)
  expect_equal(exact[, 1], coef(fit_family(p, lambda1 = 0.3))[, 1], tolerance = 1e-4)
  on <- which(fit$beta[, 2] != 0)
  refitted <- coef(fit, row = 2, refit = TRUE, x = p$x, y = p$y)[1 + on, 1]
  expect_equal(unname(refitted), unname(coef(glm(p$y ~ p$x[, on], family = poisson()))[-1]),
               tolerance = 1e-3)
  expect_true(all(is.finite(quick_cv(p, nested = TRUE)$nested$estimate$cvm)))
  runs <- perturb_fits(p$x, p$y, p$graph, family = "poisson", perturb = "bootstrap", B = 3,
                       lambda2 = 0.05, nlambda1 = 3)
  expect_length(runs$fold.fits, 3)
  selection <- stability_selection(p$x, p$y, p$graph, family = "poisson", cutoff = 0.75, q = 5,
                                   B = 3, lambda2 = 0.02)
  expect_true(all(1:2 %in% which(selection$prob > 0.5)))
})

test_that("bad counts get one sentence", {
  x <- matrix(c(1, 2, 3, 4, 2, 5), 6)
  fit <- function(y, ...) n2gfl(x, y, family = "poisson", lambda2 = 0, ...)
  expect_snapshot({
    refusal(fit(c(1, 2, -1, 0, 2, 1)))
    refusal(fit(c(1, NA, 1, 0, 2, 1)))
    refusal(fit(factor(1:6)))
    refusal(fit(letters[1:6]))
    refusal(fit(rep(0, 6)))
    refusal(fit(c(1, 1, 1, 1, 1, 5), weights = c(1, 1, 1, 1, 1, 0)))
    refusal(fit(matrix(1:12, 6)))
    refusal(cv.n2gfl(x, c(0, 0, 0, 0, 1, 2), family = "poisson", lambda2 = 0,
                     foldid = c(1, 1, 1, 1, 2, 2)))
    refusal(assess(fit(c(1, 2, 3, 0, 2, 1), lambda1 = 0.1), x, c(-1, 1, 1, 2, 3, 4)))
  })
})

test_that("offsets far apart, or too large, are met", {
  withr::local_seed(333)
  x <- matrix(rnorm(240), 40)
  y <- rpois(40, 3)
  for (far in c(10, 120, 300)) {
    offset <- rep(c(-far, far), 20)
    fit <- n2gfl(x, y, graph_chain(6), family = "poisson", offset = offset, lambda1 = 1e6,
                 lambda2 = 0)
    top <- max(offset)
    expect_equal(unname(fit$a0), log(sum(y)) - top - log(sum(exp(offset - top))), tolerance = 1e-10)
  }
  expect_error(n2gfl(x, y, graph_chain(6), family = "poisson", offset = rep(1000, 40),
                     intercept = FALSE), "`offset` must be smaller")
})
