# A script for glmnet, with the names changed (glmnet -> n2gfl, cv.glmnet -> cv.n2gfl, lambda ->
# lambda1) and the graph added. It must run, and with lambda2 = 0 and glmnet's sign say the same.

test_that("a glmnet user's script runs with only the graph added", {
  withr::local_seed(7)
  x <- matrix(rnorm(100 * 20), 100, 20)
  y <- rbinom(100, 1, plogis(x[, 1] + x[, 2]))
  newx <- matrix(rnorm(5 * 20), 5, 20)
  lambda <- c(0.1, 0.05, 0.02, 0.01)
  foldid <- rep_len(1:5, 100)
  graph <- graph_chain(20)

  fit <- glmnet::glmnet(x, y, family = "binomial", lambda = lambda, standardize = FALSE,
                        thresh = 1e-12)
  ours <- n2gfl(x, y, graph, family = "binomial", lambda1 = lambda, sign = "free", lambda2 = 0,
                thresh = 1e-9)
  expect_output(print(ours), "%dev")
  withr::with_pdf(NULL, plot(ours, xvar = "lambda", label = TRUE))
  withr::with_pdf(NULL, plot(ours, xvar = "dev"))
  close <- function(a, b) expect_equal(unname(as.matrix(a)), unname(as.matrix(b)), tolerance = 1e-3)
  close(coef(ours, s = 0.05), coef(fit, s = 0.05))
  close(coef(ours), coef(fit))
  for (type in c("link", "response", "class")) {
    expect_equal(unname(predict(ours, newx = newx, s = c(0.05, 0.01), type = type)),
                 unname(predict(fit, newx = newx, s = c(0.05, 0.01), type = type)),
                 tolerance = 1e-3)
  }
  expect_identical(unname(predict(ours, type = "nonzero", s = 0.05)[[1]]),
                   predict(fit, type = "nonzero", s = 0.05)[[1]])
  expect_equal(deviance(ours), deviance(fit), tolerance = 1e-4)
  expect_identical(nobs(ours), nobs(fit))

  cvfit <- glmnet::cv.glmnet(x, y, family = "binomial", type.measure = "class", foldid = foldid,
                             lambda = lambda, standardize = FALSE, thresh = 1e-12)
  cvours <- cv.n2gfl(x, y, graph, family = "binomial", type.measure = "class", foldid = foldid,
                     lambda1 = lambda, sign = "free", lambda2 = 0, thresh = 1e-9)
  expect_output(print(cvours), "Misclassification")
  withr::with_pdf(NULL, plot(cvours))
  expect_equal(cvours$cvm, unname(cvfit$cvm), tolerance = 1e-6)
  expect_identical(cvours$lambda.min[["lambda1"]], cvfit$lambda.min)
  close(coef(cvours, s = "lambda.min"), coef(cvfit, s = "lambda.min"))
  close(coef(cvours, s = cvours$lambda.min), coef(cvfit, s = cvfit$lambda.min))
  expect_equal(unname(predict(cvours, newx = newx, s = "lambda.min", type = "response")),
               unname(predict(cvfit, newx = newx, s = "lambda.min", type = "response")),
               tolerance = 1e-3)
  expect_identical(unname(predict(cvours, newx, s = "lambda.min", type = "class")),
                   unname(predict(cvfit, newx, s = "lambda.min", type = "class")))
})

test_that("plain numbers are taken as glmnet's lambda only if that is unambiguous", {
  withr::local_seed(8)
  x <- matrix(rnorm(30 * 5), 30)
  y <- x[, 1] + rnorm(30)
  fit <- n2gfl(x, y, graph_chain(5), lambda1 = c(0.3, 0.1), lambda2 = 0.1)
  expect_identical(coef(fit, s = c(0.1, 0.3)), coef(fit, row = 2:1))
  expect_snapshot(refusal(coef(fit, s = 0.2)))
  exact <- coef(fit, s = 0.2, exact = TRUE, x = x, y = y)
  expect_equal(exact, coef(fit, s = c(lambda1 = 0.2, lambda2 = 0.1), exact = TRUE, x = x, y = y))
})
