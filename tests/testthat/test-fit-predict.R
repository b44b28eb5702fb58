problem <- function() {
  withr::local_seed(2)
  x <- matrix(rnorm(40 * 6), 40, 6, dimnames = list(paste0("r", 1:40), letters[1:6]))
  z <- cbind(age = rnorm(40), size = runif(40))
  eta <- x[, 2] + x[, 3] + 0.5 * z[, 1]
  list(x = x, z = z, y = eta + rnorm(40), class = eta + rnorm(40) > 0, offset = rnorm(40) / 3,
       graph = graph_chain(6))
}

fit_problem_with <- function(p, ...) {
  n2gfl(p$x, p$y, p$graph, lambda1 = c(0.3, 0.1, 0.02), lambda2 = c(0.1, 0.02), ...)
}

by_hand <- function(fit, p, k) {
  eta <- fit$a0[[k]] + drop(p$x %*% as.matrix(fit$beta)[, k])
  if (!is.null(fit$gamma)) eta <- eta + drop(p$z %*% fit$gamma[, k])
  if (fit$offset) eta <- eta + p$offset
  unname(eta)
}

test_that("coef stacks intercept, covariates and features, sparse", {
  p <- problem()
  fit <- fit_problem_with(p, covariates = p$z)
  b <- coef(fit)
  expect_s4_class(b, "dgCMatrix")
  expect_identical(dimnames(b), list(c("(Intercept)", "age", "size", letters[1:6]),
                                     paste0("s", 1:6)))
  expect_identical(unname(as.matrix(b)), unname(rbind(fit$a0, fit$gamma, as.matrix(fit$beta))))
  one <- coef(fit, row = 4)
  expect_identical(dim(one), c(9L, 1L))
  expect_identical(as.matrix(one), as.matrix(b)[, 4, drop = FALSE])
  plain <- n2gfl(unname(p$x), p$y, p$graph, lambda1 = 0.1, lambda2 = 0.1)
  expect_identical(rownames(coef(plain)), c("(Intercept)", paste0("V", 1:6)))
})

test_that("without an intercept its row is zero", {
  p <- problem()
  fit <- fit_problem_with(p, intercept = FALSE)
  expect_identical(unname(coef(fit)["(Intercept)", ]), rep(0, 6))
})

test_that("s finds rows of the grid as a vector, matrix or data frame, in the order asked for", {
  p <- problem()
  fit <- fit_problem_with(p)
  expect_identical(coef(fit, s = c(lambda1 = 0.1, lambda2 = 0.02)), coef(fit, row = 5))
  expect_identical(coef(fit, s = c(lambda2 = 0.02, lambda1 = 0.1)), coef(fit, row = 5))
  expect_identical(coef(fit, s = fit$grid[c(6, 1, 1), ]), coef(fit, row = c(6, 1, 1)))
  expect_identical(coef(fit, s = as.matrix(fit$grid[2:3, 1:2])), coef(fit, row = 2:3))
  # 0.1 + 0.2 - 0.2 is 0.1 up to rounding
  expect_identical(coef(fit, s = c(lambda1 = 0.1 + 0.2 - 0.2, lambda2 = 0.1)), coef(fit, row = 2))
})

test_that("every type of prediction follows its formula", {
  p <- problem()
  fit <- n2gfl(p$x, p$class, p$graph, "binomial", lambda1 = c(0.1, 0.02), lambda2 = c(0.1, 0.02),
               covariates = p$z, offset = p$offset)
  predicted <- function(type, ...) {
    predict(fit, p$x, type = type, newcovariates = p$z, newoffset = p$offset, ...)
  }
  link <- predicted("link")
  expect_identical(dimnames(link), list(rownames(p$x), paste0("s", 1:4)))
  for (k in 1:4) expect_equal(unname(link[, k]), by_hand(fit, p, k), tolerance = 1e-12)
  expect_equal(predicted("response"), 1 / (1 + exp(-link)), tolerance = 1e-12)
  class <- predicted("class")
  expect_identical(dim(class), dim(link))
  expect_identical(class == "TRUE", link > 0)
  expect_identical(unique(sort(class)), c("FALSE", "TRUE"))
  expect_identical(predicted("link", row = 3), link[, 3, drop = FALSE])
  expect_identical(predicted("link", s = fit$grid[3, ]), link[, 3, drop = FALSE])
  expect_identical(predict(fit, type = "coefficients", row = 2), coef(fit, row = 2))
  nonzero <- predict(fit, type = "nonzero")
  expect_named(nonzero, paste0("s", 1:4))
  for (k in 1:4) expect_identical(nonzero[[k]], unname(which(as.matrix(fit$beta)[, k] != 0)))
})

test_that("the fit with no features predicts the mean, one row stays a matrix", {
  p <- problem()
  fit <- n2gfl(p$x, p$y, p$graph, lambda1 = c(100, 0.01), lambda2 = 0.1)
  expect_equal(unname(predict(fit, p$x, row = 1)), cbind(rep(mean(p$y), 40)), tolerance = 1e-10)
  expect_identical(dim(predict(fit, p$x[1, , drop = FALSE])), c(1L, 2L))
  expect_identical(predict(fit, type = "nonzero", row = 1), list(s1 = integer(0)))
  expect_identical(predict(fit, p$x, type = "response"), predict(fit, p$x))
})

test_that("sparse, whole and unnamed newx predict the same", {
  p <- problem()
  fit <- fit_problem_with(p)
  newx <- round(p$x)
  link <- predict(fit, newx)
  expect_equal(predict(fit, Matrix::Matrix(newx, sparse = TRUE)), link, tolerance = 1e-12)
  expect_identical(predict(fit, `storage.mode<-`(newx, "integer")), link)
  expect_identical(unname(predict(fit, unname(newx))), unname(link))
})

test_that("predictions use the model's scale if x was standardised", {
  p <- problem()
  x <- p$x %*% diag(10^(0:5))
  fit <- n2gfl(x, p$y, p$graph, lambda1 = 0.1, lambda2 = 0.02, standardize = TRUE, thresh = 1e-9)
  s <- sqrt(colMeans(scale(x, scale = FALSE)^2))
  direct <- n2gfl(x %*% diag(1 / s), p$y, p$graph, lambda1 = 0.1, lambda2 = 0.02, thresh = 1e-9)
  expect_equal(unname(predict(fit, x)), unname(predict(direct, x %*% diag(1 / s))),
               tolerance = 1e-3)
})

test_that("exact = TRUE refits off the grid and keeps what is on it", {
  p <- problem()
  w <- rep(c(1, 2), 20)
  fit <- fit_problem_with(p, weights = w, covariates = p$z, sign = "free")
  wanted <- rbind(c(lambda1 = 0.05, lambda2 = 0.02), c(0.1, 0.02), c(0.2, 0.02), c(0.05, 0.3),
                  c(0.05, 0.02))
  exact <- coef(fit, s = wanted, exact = TRUE, x = p$x, y = p$y, weights = w, covariates = p$z)
  expect_identical(dim(exact), c(9L, 5L))
  expect_identical(unname(as.matrix(exact)[, 2]), unname(as.matrix(coef(fit, row = 5))[, 1]))
  expect_identical(unname(as.matrix(exact)[, 5]), unname(as.matrix(exact)[, 1]))
  for (k in c(1, 3, 4)) {
    direct <- n2gfl(p$x, p$y, p$graph, sign = "free", weights = w, covariates = p$z,
                    lambda1 = wanted[k, 1], lambda2 = wanted[k, 2])
    expect_equal(unname(as.matrix(exact)[, k]), unname(as.matrix(coef(direct))[, 1]),
                 tolerance = 1e-3)
  }
  link <- predict(fit, p$x, s = wanted[3, ], newcovariates = p$z, exact = TRUE, x = p$x, y = p$y,
                  weights = w, covariates = p$z)
  expect_equal(unname(drop(link)), unname(drop(cbind(1, p$z, p$x) %*% as.matrix(exact)[, 3])),
               tolerance = 1e-12)
})

test_that("an exact refit keeps the choices of the fit", {
  p <- problem()
  fit <- n2gfl(p$x, p$class, p$graph, "binomial", "nonpositive", lambda1 = 0.1, lambda2 = 0.1,
               penalty = "laplacian", intercept = FALSE, algorithm = "fista", thresh = 1e-5,
               penalty.factor = c(1, 2, Inf, 1, 1, 1))
  refit <- add_exact_fits(fit, data.frame(lambda1 = 0.01, lambda2 = 0.1),
                          list(x = p$x, y = p$class))
  expect_identical(nrow(refit$grid), 2L)
  expect_identical(refit$a0[[2]], 0)
  expect_true(all(refit$beta@x <= 0))
  expect_identical(refit$beta[3, 2][[1]], 0)
  given <- refit_arguments(fit, list(x = p$x, y = p$class, maxit = 5), 0.01, 0.1)
  expect_identical(given[c("algorithm", "thresh", "penalty", "maxit")],
                   list(algorithm = "fista", thresh = 1e-5, penalty = "laplacian", maxit = 5))
})

test_that("exact fits do not repeat what the first fit said", {
  withr::local_seed(4)
  x <- matrix(stats::rnorm(600), 60)
  y <- ifelse(rowSums(x[, 1:4]) + stats::rnorm(60) < 0, "b", "a")
  expect_message(expect_warning(
    fit <- n2gfl(x, y, graph_chain(10), family = "binomial", lambda1 = 0.1, lambda2 = 0.1),
    class = "n2gfl_sign_warning"), "Modelling")
  s <- cbind(lambda1 = 0.05, lambda2 = c(0.1, 0.05))
  expect_no_condition(coef(fit, s = s, exact = TRUE, x = x, y = y), class = "n2gfl_sign_warning")
  expect_no_message(suppressWarnings(coef(fit, s = s, exact = TRUE, x = x, y = y)))
  expect_warning(coef(fit, s = s[2, ], exact = TRUE, x = x, y = y, maxit = 1, thresh = 1e-12,
                      sign = "free"), "converge")
})
