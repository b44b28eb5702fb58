methods_problem <- function() {
  withr::local_seed(21)
  x <- matrix(rnorm(50 * 8), 50, dimnames = list(paste0("r", 1:50), letters[1:8]))
  z <- cbind(age = rnorm(50))
  eta <- x[, 2] + x[, 3] + 0.5 * z[, 1]
  list(x = x, z = z, y = eta + rnorm(50), class = factor(ifelse(eta + rlogis(50) > 0, "b", "a")),
       w = runif(50, 0.5, 2), o = rnorm(50) / 3, graph = graph_chain(8))
}

test_that("fitted values are predictions of the mean for the data given again", {
  p <- methods_problem()
  fit <- n2gfl(p$x, p$class, p$graph, "binomial", covariates = p$z, offset = p$o,
               lambda1 = c(0.1, 0.02), lambda2 = 0.02)
  direct <- predict(fit, p$x, type = "response", newcovariates = p$z, newoffset = p$o)
  expect_identical(fitted(fit, p$x, covariates = p$z, offset = p$o), direct)
  expect_identical(fitted(fit, p$x, row = 2, covariates = p$z, offset = p$o),
                   direct[, 2, drop = FALSE])
  refitted <- predict(fit, p$x, row = 2, type = "response", newcovariates = p$z, newoffset = p$o,
                      refit = TRUE, x = p$x, y = p$class, covariates = p$z, offset = p$o)
  expect_identical(fitted(fit, p$x, row = 2, covariates = p$z, offset = p$o, refit = TRUE,
                          y = p$class), refitted)
})

test_that("squared deviance residuals sum to the deviance, in both families, with weights", {
  p <- methods_problem()
  for (family in c("gaussian", "binomial")) {
    y <- if (family == "gaussian") p$y else p$class
    fit <- n2gfl(p$x, y, p$graph, family, weights = p$w, offset = p$o, covariates = p$z,
                 lambda1 = c(10, 0.1, 0.01), lambda2 = 0.05)
    r <- residuals(fit, p$x, y, weights = p$w, offset = p$o, covariates = p$z)
    expect_identical(dimnames(r), list(rownames(p$x), paste0("s", 1:3)))
    expect_equal(unname(colSums(r^2)), deviance(fit), tolerance = 1e-8)
  }
})

test_that("pearson and response residuals are glm's", {
  p <- methods_problem()
  fit <- n2gfl(p$x[, 1:3], p$class, graph_chain(3), "binomial", sign = "free", lambda1 = 0,
               lambda2 = 0, thresh = 1e-12)
  direct <- glm(p$class ~ p$x[, 1:3], family = binomial())
  for (type in c("deviance", "pearson", "response")) {
    expect_equal(unname(residuals(fit, p$x[, 1:3], p$class, type = type)[, 1]),
                 unname(residuals(direct, type)), tolerance = 1e-4)
  }
})

test_that("without penalties log-likelihood, AIC and BIC are those of lm and glm", {
  p <- methods_problem()
  x <- p$x[, 1:4]
  fit <- n2gfl(x, p$y, graph_chain(4), sign = "free", covariates = p$z, lambda1 = 0, lambda2 = 0,
               thresh = 1e-12)
  direct <- lm(p$y ~ p$z + x)
  expect_equal(as.numeric(logLik(fit)), as.numeric(logLik(direct)), tolerance = 1e-8)
  expect_identical(attr(logLik(fit), "df"), as.numeric(attr(logLik(direct), "df")))
  expect_equal(c(AIC(fit), BIC(fit)), c(AIC(direct), BIC(direct)), tolerance = 1e-8)
  expect_equal(deviance(fit), deviance(direct), tolerance = 1e-8)
  expect_identical(nobs(fit), nobs(direct))
  fit <- n2gfl(x, p$class, graph_chain(4), "binomial", sign = "free", lambda1 = 0, lambda2 = 0,
               thresh = 1e-12)
  direct <- glm(p$class ~ x, family = binomial())
  expect_equal(as.numeric(logLik(fit)), as.numeric(logLik(direct)), tolerance = 1e-6)
  expect_equal(c(AIC(fit), BIC(fit)), c(AIC(direct), BIC(direct)), tolerance = 1e-6)
})

test_that("rows of weight 0 count as left out, as for glm()", {
  p <- methods_problem()
  n <- nrow(p$x)
  weights <- replace(rep(1:2, length.out = n), c(3, 8, 20), 0)
  used <- weights > 0
  times <- cbind(time = seq_len(n), status = rep(c(1, 1, 0), length.out = n))
  levels <- factor(rep(1:3, length.out = n), ordered = TRUE)
  outcomes <- list(gaussian = p$y, binomial = p$class, poisson = rep(c(0, 2, 5), length.out = n),
                   cox = times, ordinal = levels)
  for (family in names(outcomes)) {
    y <- outcomes[[family]]
    kept <- if (is.matrix(y)) y[used, ] else y[used]
    fit <- n2gfl(p$x, y, p$graph, family, sign = "free", weights = weights, lambda1 = 0.05,
                 lambda2 = 0.01, thresh = 1e-10)
    direct <- n2gfl(p$x[used, ], kept, p$graph, family, sign = "free", weights = weights[used],
                    lambda1 = 0.05, lambda2 = 0.01, thresh = 1e-10)
    expect_true(fit$grid$gap <= 1e-10 && direct$grid$gap <= 1e-10)
    expect_identical(nobs(fit), sum(used))
    expect_identical(fit$rows, n)
    expect_identical(attributes(logLik(fit)), attributes(logLik(direct)))
    expect_equal(c(logLik(fit), AIC(fit), BIC(fit), deviance(fit), fit$nulldev),
                 c(logLik(direct), AIC(direct), BIC(direct), deviance(direct), direct$nulldev),
                 tolerance = 1e-7)
  }
  fit <- n2gfl(p$x[, 1:4], p$class, graph_chain(4), "binomial", sign = "free", weights = used,
               lambda1 = 0, lambda2 = 0, thresh = 1e-12)
  direct <- glm(p$class ~ p$x[, 1:4], family = binomial(), weights = as.numeric(used))
  expect_identical(nobs(fit), nobs(direct))
  # BIC() of a glm counts all rows, unlike its nobs().
  expect_equal(c(logLik(fit), AIC(fit), deviance(fit)),
               c(logLik(direct), AIC(direct), deviance(direct)), tolerance = 1e-7)
  again <- n2gfl(p$x[, 1:4], p$y, graph_chain(4), sign = "free", weights = used, lambda1 = 0,
                 lambda2 = 0, thresh = 1e-12)
  direct <- lm(p$y ~ p$x[, 1:4], weights = as.numeric(used))
  expect_equal(c(logLik(again), AIC(again), BIC(again), deviance(again)),
               c(logLik(direct), AIC(direct), BIC(direct), deviance(direct)), tolerance = 1e-7)
  # Data that are given again still have all rows.
  expect_silent(coef(fit, refit = TRUE, x = p$x[, 1:4], y = p$class, weights = used))
  expect_error(coef(fit, refit = TRUE, x = p$x[used, 1:4], y = p$class[used],
                    weights = used[used]), "must have the 50 rows")
})

test_that("degrees of freedom are the regions and what is not penalised", {
  p <- methods_problem()
  fit <- n2gfl(p$x, p$y, p$graph, covariates = p$z, nlambda1 = 6, lambda2 = c(0.3, 0.1))
  ll <- logLik(fit)
  expect_identical(attr(ll, "df"), fit$grid$df + 3)
  expect_length(AIC(fit), 12)
  expect_equal(BIC(fit), -2 * as.numeric(ll) + log(50) * attr(ll, "df"))
  expect_identical(as.numeric(logLik(fit, row = 4:5)), as.numeric(ll)[4:5])
  expect_identical(deviance(fit, s = fit$grid[4, ]), deviance(fit)[4])
  none <- n2gfl(p$x, p$class, p$graph, "binomial", intercept = FALSE, lambda1 = 0.1, lambda2 = 0.1)
  expect_identical(attr(logLik(none), "df"), as.numeric(none$grid$df))
})

test_that("update changes the call and fits where it was called", {
  p <- methods_problem()
  fit <- n2gfl(p$x, p$y, p$graph, lambda1 = 0.1, lambda2 = 0.1)
  again <- update(fit, sign = "free", lambda2 = 0.05)
  direct <- n2gfl(p$x, p$y, p$graph, sign = "free", lambda1 = 0.1, lambda2 = 0.05)
  expect_identical(as.matrix(again$beta), as.matrix(direct$beta))
  expect_identical(update(fit, lambda1 = NULL, evaluate = FALSE),
                   quote(n2gfl(x = p$x, y = p$y, graph = p$graph, lambda2 = 0.1)))
  coded <- n2gfl(p$x, p$y, p$graph, covariates = ~ age, data = data.frame(p$z), lambda1 = 0.1,
                 lambda2 = 0.1)
  expect_identical(update(coded, lambda1 = 0.2)$grid$lambda1, 0.2)
  # Data are looked up where update() is called; data that are given have precedence.
  elsewhere <- function(p) update(fit)
  expect_identical(elsewhere(utils::modifyList(p, list(y = -p$y)))$call, fit$call)
  expect_identical(as.matrix(update(fit, y = 2 * p$y, lambda1 = 0.2, lambda2 = 0.2)$beta),
                   as.matrix(n2gfl(p$x, 2 * p$y, p$graph, lambda1 = 0.2, lambda2 = 0.2)$beta))
})

test_that("update of a fit from do.call needs the data by name", {
  p <- methods_problem()
  fit <- do.call(n2gfl, list(x = p$x, y = p$y, graph = p$graph, lambda1 = 0.1, lambda2 = 0.1))
  again <- update(fit, x = p$x, y = p$y, graph = p$graph, lambda1 = 0.2)
  expect_identical(again$grid$lambda1, 0.2)
  expect_snapshot(refusal(update(fit, lambda1 = 0.2)))
  expect_snapshot(refusal(update(fit, x = p$x, graph = p$graph)))
  expect_snapshot(refusal(update(fit, 3)))
  expect_snapshot(refusal(update(fit, evaluate = NA)))
  # A function of that name is not the data.
  fit$call <- quote(n2gfl(x = t, y = y, graph = graph))
  expect_snapshot(refusal(update(fit)))
})

test_that("methods that need data ask for them", {
  p <- methods_problem()
  fit <- n2gfl(p$x, p$y, p$graph, lambda1 = 0.1, lambda2 = 0.1)
  expect_snapshot(refusal(fitted(fit)))
  expect_snapshot(refusal(residuals(fit)))
  expect_snapshot(refusal(residuals(fit, p$x)))
  expect_snapshot(refusal(residuals(fit, p$x, p$y[-1])))
  expect_snapshot(refusal(residuals(fit, p$x, p$y, weights = p$w)))
  expect_snapshot(refusal(residuals(fit, p$x, p$y, type = "partial")))
  expect_snapshot(refusal(fitted(fit, p$x[, -1])))
  expect_snapshot(refusal(fitted(fit, p$x, lambda = 1)))
  expect_snapshot(refusal(fitted(fit, p$x, refit = TRUE)))
  expect_snapshot(refusal(deviance(fit, lambda = 1)))
  expect_snapshot(refusal(logLik(fit, row = 2)))
  weighted <- update(fit, weights = p$w)
  expect_snapshot(refusal(residuals(weighted, p$x, p$y)))
  classes <- n2gfl(p$x, p$class, p$graph, "binomial", lambda1 = 0.1, lambda2 = 0.1)
  expect_snapshot(refusal(residuals(classes, p$x, p$class == "b")))
})

test_that("misspelt arguments of summaries, nobs() and the picture of a graph do not vanish", {
  p <- methods_problem()
  cv <- cv.n2gfl(p$x, p$y, p$graph, lambda1 = c(0.2, 0.1), lambda2 = 0.1, nfolds = 3)
  images <- read_images(array(stats::runif(27 * 4), c(3, 3, 3, 4)), threshold = 0)
  for (object in list(cv, cv$n2gfl.fit, images)) {
    expect_error(summary(object, digit = 3), "^`...` must be empty, but .* `digit`")
  }
  for (object in list(cv, cv$n2gfl.fit)) {
    expect_error(nobs(object, rows = 3), "^`...` must be empty, but .* `rows`")
    expect_identical(nobs(object), 50L)
  }
  local_pdf <- withr::local_tempfile(fileext = ".pdf")
  grDevices::pdf(local_pdf)
  withr::defer(grDevices::dev.off())
  expect_snapshot(refusal(plot(p$graph, zzz = 1)))
  expect_no_warning(plot(p$graph, cex = 2, lwd = 2))
})

test_that("fits that did not converge are counted in the words of the call", {
  failed <- stats::setNames(rep(list(list(converged = FALSE)), 8), paste("Run", 1:8))
  expect_match(not_converged_text(failed, "runs"), "Run 5 row 1 and 3 more runs$")
  expect_warning(warn_folds_not_converged(failed, "halves", kept = FALSE), "3 more halves\\.$")
  expect_warning(warn_folds_not_converged(failed), "3 more folds; their gaps are in `fold.fits`")
})
