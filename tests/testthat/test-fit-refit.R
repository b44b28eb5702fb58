# Refitted coefficients against lm(), glm() and quadratic programs on the sums of the regions'
# columns, which are found here without the package.

refit_problem <- function() {
  withr::local_seed(11)
  x <- matrix(rnorm(60 * 20), 60)
  z <- cbind(age = rnorm(60))
  eta <- rowSums(x[, 4:7]) - rowSums(x[, 13:14]) + z[, 1]
  list(x = x, z = z, y = eta + rnorm(60), class = eta + 3 * rlogis(60) > 0, o = rnorm(60) / 3,
       w = runif(60, 0.5, 2), graph = graph_chain(20))
}

# Sums of x over the runs of one nonzero value of a chain, and which run each feature is in.
chain_regions <- function(x, beta) {
  run <- cumsum(c(TRUE, diff(beta) != 0))
  nonzero <- unique(run[beta != 0])
  sums <- vapply(nonzero, function(k) rowSums(x[, run == k, drop = FALSE]), numeric(nrow(x)))
  list(sums = sums, of = match(run, nonzero))
}

test_that("gaussian: least squares on the regions, with weights, offset and covariates", {
  p <- refit_problem()
  fit <- n2gfl(p$x, p$y, p$graph, sign = "free", lambda1 = c(0.3, 0.1), lambda2 = c(0.2, 0.05),
               covariates = p$z, weights = p$w, offset = p$o)
  expect_true(all(fit$grid$gap <= 1e-6))
  refitted <- as.matrix(coef(fit, refit = TRUE, x = p$x, y = p$y, covariates = p$z,
                             weights = p$w, offset = p$o))
  for (k in 1:4) {
    r <- chain_regions(p$x, as.matrix(fit$beta)[, k])
    expect_identical(ncol(r$sums), fit$grid$df[k])
    direct <- coef(lm(p$y ~ p$z + r$sums, weights = p$w, offset = p$o))
    beta <- ifelse(is.na(r$of), 0, direct[-(1:2)][r$of])
    expect_equal(unname(refitted[, k]), unname(c(direct[1:2], beta)), tolerance = 1e-3)
  }
})

test_that("binomial: logistic regression on the regions", {
  p <- refit_problem()
  fit <- n2gfl(p$x, p$class, p$graph, "binomial", sign = "free", lambda1 = c(0.1, 0.05),
               lambda2 = 0.02)
  refitted <- as.matrix(coef(fit, refit = TRUE, x = p$x, y = p$class, thresh = 1e-10))
  for (k in 1:2) {
    r <- chain_regions(p$x, as.matrix(fit$beta)[, k])
    direct <- coef(glm(p$class ~ r$sums, family = binomial()))
    expect_equal(unname(refitted[1, k]), unname(direct[1]), tolerance = 1e-3)
    expect_equal(unname(refitted[-1, k]), unname(ifelse(is.na(r$of), 0, direct[-1][r$of])),
                 tolerance = 1e-3)
  }
})

test_that("the sign is kept: a region that turns negative without shrinkage is dropped", {
  # x2 helps only while x1 is shrunken; without shrinkage it would be negative
  withr::local_seed(1)
  x1 <- rnorm(50)
  x <- cbind(x1, x1 + 0.5 * rnorm(50))
  y <- drop(2 * x[, 1] - 0.3 * x[, 2])
  fit <- n2gfl(x, y + rnorm(50) / 10, graph_edges(integer(0), integer(0), n = 2),
               lambda1 = 0.01, lambda2 = 0)
  fit$beta[] <- c(1, 0.2)
  refitted <- coef(fit, refit = TRUE, x = x, y = y)
  expect_lt(coef(lm(y ~ x))[3], 0)
  program <- quadprog::solve.QP(crossprod(scale(x, scale = FALSE)),
                                crossprod(scale(x, scale = FALSE), y), diag(2))
  expect_equal(unname(refitted[-1, 1]), pmax(program$solution, 0), tolerance = 1e-4)
  expect_identical(refitted[3, 1], 0)
  expect_length(refitted@x, 2)
})

test_that("refitting never raises the deviance, and predictions follow the formula", {
  p <- refit_problem()
  for (sign in c("nonnegative", "nonpositive", "free")) {
    fit <- n2gfl(p$x, p$y, p$graph, sign = sign, nlambda1 = 5, lambda2 = 0.1)
    link <- predict(fit, p$x, refit = TRUE, x = p$x, y = p$y)
    expect_true(all(colSums((p$y - link)^2) <= deviance(fit) * (1 + 1e-6)))
    b <- as.matrix(coef(fit, refit = TRUE, x = p$x, y = p$y))
    expect_equal(unname(link), unname(cbind(1, p$x) %*% b), tolerance = 1e-10)
    if (sign == "nonnegative") expect_true(all(b[-1, ] >= 0))
    if (sign == "nonpositive") expect_true(all(b[-1, ] <= 0))
  }
})

test_that("a fit without regions stays as it is, and so do supports", {
  p <- refit_problem()
  fit <- n2gfl(p$x, p$y, p$graph, lambda1 = c(100, 0.2), lambda2 = 0.1, covariates = p$z)
  refitted <- coef(fit, refit = TRUE, x = p$x, y = p$y, covariates = p$z)
  expect_identical(refitted[, 1], coef(fit)[, 1])
  expect_true(all(fit$beta[, 2][refitted[-(1:2), 2] != 0] != 0))
})

test_that("with standardize = TRUE the regions are those of the standardised coefficients", {
  p <- refit_problem()
  x <- p$x %*% diag(exp(seq(-1, 1, length.out = 20)))
  s <- sqrt(colMeans(scale(x, scale = FALSE)^2))
  fit <- n2gfl(x, p$y, p$graph, sign = "free", lambda1 = 0.1, lambda2 = 0.1, standardize = TRUE)
  same <- n2gfl(x %*% diag(1 / s), p$y, p$graph, sign = "free", lambda1 = 0.1, lambda2 = 0.1)
  expect_identical(fit$grid$df, same$grid$df)
  refitted <- coef(fit, refit = TRUE, x = x, y = p$y)
  direct <- coef(same, refit = TRUE, x = x %*% diag(1 / s), y = p$y)
  expect_equal(unname(refitted[-1, 1] * s), unname(direct[-1, 1]), tolerance = 1e-6)
})

test_that("exact and refit together: the fit off the grid, then without shrinkage", {
  p <- refit_problem()
  fit <- n2gfl(p$x, p$y, p$graph, lambda1 = c(0.3, 0.1), lambda2 = 0.1)
  s <- c(lambda1 = 0.2, lambda2 = 0.1)
  both <- coef(fit, s = s, exact = TRUE, refit = TRUE, x = p$x, y = p$y)
  direct <- n2gfl(p$x, p$y, p$graph, lambda1 = 0.2, lambda2 = 0.1)
  expect_equal(unname(both[, 1]),
               unname(coef(direct, refit = TRUE, x = p$x, y = p$y)[, 1]), tolerance = 1e-5)
})

test_that("a refit treats covariates by formula and deconfounding as the fit did", {
  p <- refit_problem()
  data <- data.frame(age = p$z[, 1], sex = rep(c("f", "m"), 30))
  z <- model.matrix(~ age + sex, data)[, -1]
  fit <- n2gfl(p$x, p$y, p$graph, covariates = ~ age + sex, data = data, lambda1 = 0.2,
               lambda2 = 0.1)
  coded <- coef(fit, refit = TRUE, x = p$x, y = p$y, covariates = z)
  expect_equal(coef(fit, refit = TRUE, x = p$x, y = p$y, covariates = ~ age + sex, data = data),
               coded, ignore_attr = TRUE)
  expect_equal(fitted(fit, p$x, covariates = data, refit = TRUE, y = p$y),
               predict(fit, p$x, newcovariates = data, refit = TRUE, x = p$x, y = p$y,
                       covariates = z))
  controls <- rep(c(TRUE, FALSE), 30)
  fit <- n2gfl(p$x, p$y, p$graph, covariates = p$z, deconfound = "controls", controls = controls,
               lambda1 = 0.2, lambda2 = 0.1)
  refitted <- coef(fit, refit = TRUE, x = p$x, y = p$y, covariates = p$z, controls = controls)
  # By hand: each feature minus the controls' line in age, then least squares on the regions
  centred <- p$z[, 1] - mean(p$z[controls, 1])
  slopes <- coef(lm(p$x[controls, ] ~ centred[controls]))[2, ]
  r <- chain_regions(p$x - outer(centred, slopes), fit$beta[, 1])
  direct <- coef(lm(p$y ~ r$sums))
  expect_equal(unname(refitted[-(1:2), 1]), unname(ifelse(is.na(r$of), 0, direct[-1][r$of])),
               tolerance = 1e-3)
  expect_identical(attr(logLik(fit), "df"), fit$grid$df + 2)
})

test_that("an error says what cannot be refitted", {
  p <- refit_problem()
  fit <- n2gfl(p$x[1:12, ], p$y[1:12], p$graph, sign = "free", lambda1 = c(0.5, 1e-4),
               lambda2 = 1e-4)
  expect_snapshot(refusal(coef(fit, refit = TRUE, x = p$x[1:12, ], y = p$y[1:12])))
  expect_snapshot(refusal(coef(fit, refit = TRUE)))
  expect_snapshot(refusal(coef(fit, refit = TRUE, x = p$x[1:12, ])))
  expect_snapshot(refusal(coef(fit, refit = TRUE, x = p$x, y = p$y)))
  expect_snapshot(refusal(coef(fit, refit = 1)))
  expect_snapshot(refusal(coef(fit, row = 1, x = p$x)))
  removed <- n2gfl(p$x, p$y, p$graph, covariates = p$z, deconfound = "controls",
                   controls = p$z[, 1] > 0, standardize = TRUE, lambda1 = 0.2, lambda2 = 0.1)
  expect_snapshot(refusal(coef(removed, refit = TRUE, x = p$x, y = p$y, covariates = p$z,
                               controls = p$z[, 1] > 0)))
  classes <- n2gfl(p$x, p$class, p$graph, "binomial", lambda1 = 0.05, lambda2 = 0.1)
  expect_snapshot(refusal(coef(classes, refit = TRUE, x = p$x, y = ifelse(p$class, "a", "b"))))
})

test_that("a region that separates some observations from all others is reported", {
  alone <- graph_edges(integer(0), integer(0), n = 1)
  refit <- function(family, y, rows) {
    x <- cbind(replace(numeric(40), rows, 1))
    fit <- n2gfl(x, y, alone, family, sign = "free", lambda1 = 0.01, lambda2 = 0)
    expect_lte(fit$grid$gap, 1e-6)
    coef(fit, refit = TRUE, x = x, y = y)
  }
  counts <- rep(c(0, 2, 5, 1), 10)
  levels <- factor(rep(1:3, length.out = 40), ordered = TRUE)
  times <- cbind(time = 1:40, status = 1)
  says <- "^A region of fit s1 separates some observations from all others"
  expect_warning(refit("poisson", counts, which(counts == 0)), says)
  expect_warning(refit("binomial", rep(0:1, 20), 2 * (1:5)), says)
  expect_warning(refit("ordinal", levels, which(levels == 3)[1:5]), says)
  expect_warning(refit("cox", times, 1:3), says)
  # One observation that contradicts is enough for a finite value, if it is large.
  expect_silent(refit("poisson", replace(counts, 1, 1e-4), which(counts == 0)))
  expect_silent(refit("binomial", rep(0:1, 20), c(1, 2 * (1:5))))
  expect_silent(refit("ordinal", levels, c(1, which(levels == 3)[1:5])))
  expect_silent(refit("cox", times, c(1:3, 30)))
})

test_that("classes that the regions separate are reported", {
  p <- refit_problem()
  y <- p$x[, 5] > 0
  fit <- n2gfl(p$x, y, p$graph, "binomial", lambda1 = 0.2, lambda2 = 0)
  expect_identical(fit$grid$nonzero, 1L)
  expect_warning(refitted <- coef(fit, refit = TRUE, x = p$x, y = y),
                 "The regions of fit s1 separate the classes perfectly")
  expect_true(all(is.finite(refitted@x)))
})
