# Every message is one sentence that names the argument, what was given and what was expected.

x <- matrix(sin(1:50), 10, 5)
y <- cos(1:10)
g <- graph_chain(5)
classes <- rep(c(-1, 1), 5)

fit_with <- function(...) {
  given <- utils::modifyList(list(x = x, y = y, graph = g, lambda1 = 0.1, lambda2 = 0.1),
                             list(...), keep.null = TRUE)
  do.call(n2gfl, given)
}

with_value <- function(object, value, at = 3) replace(object, at, value)

test_that("x must be a finite numeric matrix with rows and columns", {
  expect_snapshot(refusal(fit_with(x = as.data.frame(x))))
  expect_snapshot(refusal(fit_with(x = matrix("a", 10, 5))))
  expect_snapshot(refusal(fit_with(x = 1:10)))
  expect_snapshot(refusal(fit_with(x = list(1))))
  expect_snapshot(refusal(fit_with(x = NULL)))
  expect_snapshot(refusal(fit_with(x = array(1, c(10, 5, 1)))))
  expect_snapshot(refusal(fit_with(x = with_value(x, NA, 13))))
  expect_snapshot(refusal(fit_with(x = with_value(x, NaN, 20))))
  expect_snapshot(refusal(fit_with(x = with_value(x, -Inf, 50))))
  expect_snapshot(refusal(fit_with(x = Matrix::Matrix(with_value(x, NaN, 14), sparse = TRUE))))
  expect_snapshot(refusal(fit_with(x = matrix(c(1L, NA), 10, 5))))
  expect_snapshot(refusal(fit_with(x = x[, 0])))
  expect_snapshot(refusal(fit_with(x = x[1, , drop = FALSE], y = 1)))
  expect_snapshot(refusal(fit_with(x = x[0, ], y = numeric(0))))
  expect_snapshot(refusal(fit_with(x = x * 0)))
  expect_snapshot(refusal(fit_with(x = Matrix::Matrix(x * 0, sparse = TRUE))))
})

test_that("x must be finite in rows without weight and in columns that are scaled, too", {
  bad <- with_value(x, NaN, 20)
  sparse <- Matrix::Matrix(bad * 0, sparse = TRUE)
  for (given in list(bad, bad * 0, sparse, with_value(x * 0, NA, 11:20))) {
    for (standardize in c(TRUE, FALSE)) for (weight in 0:1) {
      expect_error(fit_with(x = given, weights = rep(c(1, weight), c(6, 4)),
                            standardize = standardize),
                   "^`x` must hold finite numbers, but x\\[[0-9]+, 2\\] is (NaN|NA).$")
    }
  }
})

test_that("y must fit the rows of x and the family", {
  expect_snapshot(refusal(fit_with(y = y[-1])))
  expect_snapshot(refusal(fit_with(y = with_value(y, NA))))
  expect_snapshot(refusal(fit_with(y = with_value(y, NaN))))
  expect_snapshot(refusal(fit_with(y = with_value(y, Inf))))
  expect_snapshot(refusal(fit_with(y = rep(2, 10))))
  expect_snapshot(refusal(fit_with(y = letters[1:10])))
  expect_snapshot(refusal(fit_with(y = factor(classes))))
  expect_snapshot({
    refusal(fit_with(y = rep(c("case", "control"), 5)))
    refusal(fit_with(y = as.Date("2020-01-01") + 1:10))
    refusal(fit_with(y = as.POSIXct("2020-01-01") + 1:10))
  })
  expect_snapshot(refusal(fit_with(y = cbind(y, y))))
  expect_snapshot(refusal(fit_with(y = list(1))))
  expect_snapshot(refusal(fit_with(y = NULL)))
})

test_that("a binomial y has two classes", {
  expect_snapshot(refusal(fit_with(y = rep(1, 10), family = "binomial")))
  expect_snapshot(refusal(fit_with(y = rep(0:2, length.out = 10), family = "binomial")))
  expect_snapshot(refusal(fit_with(y = factor(letters[1:10]), family = "binomial")))
  empty_level <- factor(rep("a", 10), levels = c("a", "b"))
  expect_snapshot(refusal(fit_with(y = empty_level, family = "binomial")))
  expect_snapshot(refusal(fit_with(y = with_value(classes, NA), family = "binomial")))
  expect_snapshot(refusal(fit_with(y = with_value(factor(classes), NA), family = "binomial")))
  expect_snapshot(refusal(fit_with(y = with_value(classes, Inf), family = "binomial")))
  expect_snapshot(refusal(fit_with(y = classes[-1], family = "binomial")))
  # A class whose weights are all zero counts as missing.
  expect_snapshot(refusal(fit_with(y = classes, weights = rep(0:1, 5), family = "binomial")))
})

test_that("the graph has one node per column of x", {
  expect_snapshot(refusal(fit_with(graph = graph_chain(4))))
  expect_snapshot(refusal(fit_with(graph = NULL)))
  expect_snapshot(refusal(fit_with(graph = diag(3)[, 1:2])))
  expect_snapshot(refusal(fit_with(graph = matrix(NaN, 5, 5))))
  expect_snapshot(refusal(fit_with(graph = graph_edges(1, 9, n = 5))))
})

test_that("weights and offset have one finite number per row", {
  expect_snapshot(refusal(fit_with(weights = rep(1, 9))))
  expect_snapshot(refusal(fit_with(weights = with_value(rep(1, 10), -2))))
  expect_snapshot(refusal(fit_with(weights = with_value(rep(1, 10), NA))))
  expect_snapshot(refusal(fit_with(weights = with_value(rep(1, 10), Inf))))
  expect_snapshot(refusal(fit_with(weights = rep(0, 10))))
  expect_snapshot(refusal(fit_with(weights = letters[1:10])))
  expect_snapshot(refusal(fit_with(offset = rep(1, 11))))
  expect_snapshot(refusal(fit_with(offset = with_value(y, NaN))))
  expect_snapshot(refusal(fit_with(offset = with_value(y, -Inf))))
  expect_snapshot(refusal(fit_with(offset = "a")))
})

test_that("covariates are a finite matrix of full rank with the rows of x", {
  expect_snapshot(refusal(fit_with(covariates = cbind(1:9))))
  expect_snapshot(refusal(fit_with(covariates = cbind(1:10, with_value(y, NA)))))
  expect_snapshot(refusal(fit_with(covariates = cbind(with_value(y, Inf)))))
  expect_snapshot(refusal(fit_with(covariates = cbind(with_value(y, NaN)))))
  expect_snapshot(refusal(fit_with(covariates = data.frame(age = 1:10))))
  expect_snapshot(refusal(fit_with(covariates = letters[1:10])))
  expect_snapshot(refusal(fit_with(covariates = cbind(1:10, 2))))
  expect_snapshot(refusal(fit_with(covariates = cbind(1:10, 2 * (1:10)), intercept = FALSE)))
  expect_snapshot(refusal(fit_with(covariates = diag(10))))
  expect_snapshot(refusal(fit_with(covariates = cbind(2 * y))))
})

test_that("the penalties are nonnegative and decreasing", {
  expect_snapshot(refusal(fit_with(lambda1 = -1)))
  expect_snapshot(refusal(fit_with(lambda1 = c(0.1, 0.2))))
  expect_snapshot(refusal(fit_with(lambda1 = c(0.2, 0.1, 0.1))))
  expect_snapshot(refusal(fit_with(lambda1 = numeric(0))))
  expect_snapshot(refusal(fit_with(lambda1 = c(1, NA))))
  expect_snapshot(refusal(fit_with(lambda1 = Inf)))
  expect_snapshot(refusal(fit_with(lambda1 = "a")))
  expect_snapshot(refusal(fit_with(lambda2 = c(0.1, -0.1))))
  expect_snapshot(refusal(fit_with(lambda2 = 1:3)))
  expect_snapshot(refusal(fit_with(lambda2 = numeric(0))))
  expect_snapshot(refusal(fit_with(lambda2 = NaN)))
  expect_snapshot(refusal(lambda_max(x, y, g, lambda2 = -1)))
  expect_snapshot(refusal(lambda_max(x, y, g, lambda2 = numeric(0))))
  expect_snapshot(refusal(lambda_max(x, y[-1], g)))
})

test_that("penalty.factor is nonnegative and not Inf everywhere", {
  expect_snapshot(refusal(fit_with(penalty.factor = 1:4)))
  expect_snapshot(refusal(fit_with(penalty.factor = c(1, 1, -1, 1, 1))))
  expect_snapshot(refusal(fit_with(penalty.factor = c(1, NA, 1, 1, 1))))
  expect_snapshot(refusal(fit_with(penalty.factor = c(1, NaN, 1, 1, 1))))
  expect_snapshot(refusal(fit_with(penalty.factor = rep(Inf, 5))))
})

test_that("choices and single values are checked", {
  expect_snapshot(refusal(fit_with(family = "tweedie")))
  expect_snapshot(refusal(fit_with(family = binomial())))
  expect_snapshot(refusal(fit_with(sign = "positive")))
  expect_snapshot(refusal(fit_with(penalty = 2)))
  expect_snapshot(refusal(fit_with(algorithm = "newton")))
  expect_snapshot(refusal(fit_with(nlambda1 = 0)))
  expect_snapshot(refusal(fit_with(nlambda2 = 2.5)))
  expect_snapshot(refusal(fit_with(lambda.min.ratio = 1)))
  expect_snapshot(refusal(fit_with(standardize = NA)))
  expect_snapshot(refusal(fit_with(intercept = "yes")))
  expect_snapshot(refusal(fit_with(thresh = 0)))
  expect_snapshot(refusal(fit_with(maxit = -1)))
  expect_snapshot(refusal(fit_with(maxit = Inf)))
  expect_snapshot(refusal(fit_with(threads = c(1, 2))))
  expect_snapshot(refusal(fit_with(trace.it = 2)))
})

test_that("an unknown argument is an error", {
  expect_snapshot(refusal(n2gfl(x, y, g, lamda1 = 0.1)))
  expect_snapshot(refusal(lambda_max(x, y, g, lamda2 = 0.1)))
  fit <- fit_with()
  expect_snapshot(refusal(predict(fit, x, lambda = 0.1)))
  expect_snapshot(refusal(coef(fit, NULL, 1, FALSE, FALSE, 0.1)))
})

test_that("newx has the columns of x", {
  fit <- fit_with()
  expect_snapshot(refusal(predict(fit)))
  expect_snapshot(refusal(predict(fit, x[, -1])))
  expect_snapshot(refusal(predict(fit, x[1, ])))
  expect_snapshot(refusal(predict(fit, as.data.frame(x))))
  expect_snapshot(refusal(predict(fit, with_value(x, NA, 11))))
  named <- `colnames<-`(x, letters[1:5])
  fit <- fit_with(x = named)
  expect_snapshot(refusal(predict(fit, named[, c(1, 3, 2, 4, 5)])))
  expect_snapshot(refusal(predict(fit, `colnames<-`(x, c(letters[1:4], "z")))))
})

test_that("new covariates and offsets are asked for, and refused where there were none", {
  plain <- fit_with()
  full <- fit_with(covariates = cbind(age = 1:10, size = y^2), offset = y / 2)
  age <- cbind(age = 1:10, size = y^2)
  expect_snapshot(refusal(predict(plain, x, newcovariates = age)))
  expect_snapshot(refusal(predict(plain, x, newoffset = y)))
  expect_snapshot(refusal(predict(full, x, newoffset = y)))
  expect_snapshot(refusal(predict(full, x, newcovariates = age)))
  expect_snapshot(refusal(predict(full, x, newcovariates = age[, 1], newoffset = y)))
  expect_snapshot(refusal(predict(full, x, newcovariates = age[, 2:1], newoffset = y)))
  expect_snapshot(refusal(predict(full, x, newcovariates = age[-1, ], newoffset = y)))
  expect_snapshot(refusal(predict(full, x, newcovariates = age, newoffset = y[-1])))
})

test_that("a fit is chosen by what is in its grid", {
  fit <- fit_with(lambda1 = c(0.2, 0.1), lambda2 = c(0.1, 0.01))
  expect_snapshot(refusal(coef(fit, s = c(lambda1 = 0.15, lambda2 = 0.1))))
  expect_snapshot(refusal(coef(fit, s = 0.1)))
  expect_snapshot(refusal(coef(fit, s = c(0.1, 0.1))))
  expect_snapshot(refusal(coef(fit, s = "lambda.min")))
  expect_snapshot(refusal(coef(fit, s = c(lambda1 = NA, lambda2 = 0.1))))
  expect_snapshot(refusal(coef(fit, s = c(lambda1 = -1, lambda2 = 0.1))))
  expect_snapshot(refusal(coef(fit, row = 5)))
  expect_snapshot(refusal(coef(fit, row = 0)))
  expect_snapshot(refusal(coef(fit, row = 1.5)))
  expect_snapshot(refusal(coef(fit, row = "a")))
  expect_snapshot(refusal(coef(fit, s = fit$grid[1, ], row = 1)))
  expect_snapshot(refusal(predict(fit, x, type = "class")))
  expect_snapshot(refusal(predict(fit, x, type = "terms")))
  expect_snapshot(refusal(print(fit, rows = 1)))
})

test_that("an exact refit asks for the data", {
  fit <- fit_with(weights = 1:10)
  s <- c(lambda1 = 0.05, lambda2 = 0.1)
  expect_snapshot(refusal(coef(fit, s = s, exact = TRUE)))
  expect_snapshot(refusal(coef(fit, s = s, exact = TRUE, x = x, y = y)))
  expect_snapshot(refusal(coef(fit, s = s, exact = TRUE, x = x[, -1], y = y, weights = 1:10)))
  expect_snapshot(refusal(coef(fit, s = s, exact = TRUE, x = x, y = y, weights = 1:10, lamda = 1)))
  expect_snapshot(refusal(coef(fit, s = s, exact = NA)))
})

test_that("smoothing without a graph is refused", {
  expect_snapshot({
    refusal(tv_denoise(1:3, lambda = 1))
    refusal(fused_prox(1:3, lambda1 = 1, lambda2 = 1))
  })
})
