# deconfound = "controls": the same as subtracting by hand what lm() finds among the training
# controls, without any influence of the held-out rows.

confounded <- function(n = 40, d = 8) {
  age <- stats::rnorm(n, 70, 8)
  sex <- rep(c(0, 1, 1, 0, 0, 1, 0), length.out = n)
  y <- factor(rep(c("NC", "AD", "AD", "NC"), length.out = n), levels = c("NC", "AD"))
  x <- matrix(stats::rnorm(n * d), n, d) + outer(age, seq_len(d) / 20) + outer(sex, rep(0.5, d))
  x[, 2:4] <- x[, 2:4] + (y == "AD")
  list(x = x, y = y, graph = graph_chain(d), data = data.frame(age, sex))
}

# x minus what the covariates explain among the rows in `rows`, by lm().
by_hand <- function(x, z, rows, weights = rep(1, nrow(x))) {
  z <- as.matrix(z)
  all <- stats::coef(stats::lm(x[rows, ] ~ z[rows, ], weights = weights[rows]))
  slopes <- all[-1, , drop = FALSE]
  x - sweep(z, 2, colSums((weights * z)[rows, , drop = FALSE]) / sum(weights[rows])) %*% slopes
}

fit_confounded <- function(cohort, ..., covariates = ~ age + sex) {
  suppressMessages(n2gfl(cohort$x, cohort$y, cohort$graph, family = "binomial",
                         covariates = covariates, data = cohort$data, deconfound = "controls",
                         lambda1 = c(0.05, 0.01), lambda2 = 0.01, thresh = 1e-9, ...))
}

test_that("it equals doing it by hand, for every sign, algorithm and storage", {
  withr::local_seed(1)
  cohort <- confounded()
  weights <- stats::runif(40, 0.5, 2)
  clean <- by_hand(cohort$x, cohort$data, cohort$y == "NC", weights)
  for (sign in c("nonnegative", "free", "nonpositive")) {
    for (algorithm in c("pursuit", "fista")) {
      for (penalty in c("fused", "laplacian")) {
        ours <- fit_confounded(cohort, sign = sign, algorithm = algorithm, penalty = penalty,
                               weights = weights)
        plain <- n2gfl(clean, cohort$y, cohort$graph, family = "binomial", sign = sign,
                       lambda1 = c(0.05, 0.01), lambda2 = 0.01, thresh = 1e-9, weights = weights,
                       algorithm = algorithm, penalty = penalty)
        expect_true(all(ours$grid$converged))
        expect_equal(as.matrix(ours$beta), as.matrix(plain$beta), tolerance = 1e-4)
        expect_equal(ours$grid$dev.ratio, plain$grid$dev.ratio, tolerance = 1e-7)
        # ... and predictions apply the same map
        expect_equal(predict(ours, cohort$x, newcovariates = cohort$data), predict(plain, clean),
                     tolerance = 1e-4, ignore_attr = TRUE)
      }
    }
  }
  cohort$x <- as(cohort$x, "CsparseMatrix")
  expect_equal(as.matrix(fit_confounded(cohort, weights = weights)$beta),
               as.matrix(n2gfl(clean, cohort$y, cohort$graph, family = "binomial",
                               lambda1 = c(0.05, 0.01), lambda2 = 0.01, thresh = 1e-9,
                               weights = weights)$beta), tolerance = 1e-4)
})

test_that("standardize uses the deconfounded features", {
  withr::local_seed(2)
  cohort <- confounded()
  clean <- by_hand(cohort$x, cohort$data, cohort$y == "NC")
  ours <- fit_confounded(cohort, standardize = TRUE)
  plain <- n2gfl(clean, cohort$y, cohort$graph, family = "binomial", standardize = TRUE,
                 lambda1 = c(0.05, 0.01), lambda2 = 0.01, thresh = 1e-9)
  expect_equal(as.matrix(ours$beta), as.matrix(plain$beta), tolerance = 1e-4)
})

test_that("only the covariates' coefficients are kept", {
  withr::local_seed(3)
  cohort <- confounded()
  fit <- fit_confounded(cohort)
  slopes <- stats::coef(stats::lm(cohort$x ~ age + sex, cohort$data,
                                  subset = cohort$y == "NC"))[-1, ]
  expect_equal(fit$gamma, -slopes %*% as.matrix(fit$beta), tolerance = 1e-8, ignore_attr = TRUE)
  expect_identical(rownames(fit$gamma), c("age", "sex"))
  expect_lt(as.numeric(object.size(fit)), 5e4)
})

test_that("held-out rows have no influence", {
  withr::local_seed(4)
  cohort <- confounded(40, 400)
  foldid <- rep(1:4, 10)
  run <- function(cohort) {
    suppressMessages(cv.n2gfl(cohort$x, cohort$y, cohort$graph, family = "binomial",
                              covariates = ~ scale(age) + sex, data = cohort$data,
                              deconfound = "controls", foldid = foldid, nfolds = 4,
                              lambda1 = c(0.05, 0.01), lambda2 = 0.01, keep = TRUE))
  }
  before <- run(cohort)
  held <- foldid == 3
  strange <- cohort
  strange$x[held, ] <- stats::rnorm(sum(held) * 400, 50, 30)
  strange$data$age[held] <- stats::rnorm(sum(held), 1000, 300)
  after <- run(strange)
  same <- c("a0", "gamma", "beta", "gap")
  expect_identical(after$fold.fits[[3]][same], before$fold.fits[[3]][same])
  expect_false(identical(after$fold.fits[[1]]$beta, before$fold.fits[[1]]$beta))
  # The fold by hand: lm() on the training controls, prediction of the held-out rows.
  train <- !held
  z <- cbind((cohort$data$age - mean(cohort$data$age[train])) / sd(cohort$data$age[train]),
             cohort$data$sex)
  clean <- by_hand(cohort$x, z, cohort$y == "NC" & train)
  fit <- n2gfl(clean[train, ], cohort$y[train], cohort$graph, family = "binomial",
               lambda1 = c(0.05, 0.01), lambda2 = 0.01, thresh = 1e-9)
  expect_equal(unname(before$fit.preval[held, ]), unname(predict(fit, clean[held, ])),
               tolerance = 1e-3)
})

test_that("which rows are controls", {
  y <- factor(c("AD", "NC", "AD"))
  expect_message(found <- find_controls(y), "the controls are the subjects of class \"NC\"")
  expect_identical(found, c(FALSE, TRUE, FALSE))
  for (name in c("CN", "hc", "Control", "healthy_controls", "Healthy Control", "HV")) {
    expect_identical(suppressMessages(find_controls(c("MCI", name))), c(FALSE, TRUE))
  }
  expect_silent(found <- find_controls(y, "AD"))
  expect_identical(found, c(TRUE, FALSE, TRUE))
  expect_identical(find_controls(c(0, 1, 1), 0), c(TRUE, FALSE, FALSE))
  expect_identical(find_controls(c(2.5, 1, 7), c(TRUE, FALSE, TRUE)), c(TRUE, FALSE, TRUE))
})

test_that("deconfounding that cannot be done is refused", {
  cohort <- withr::with_seed(5, confounded(12))
  fit <- function(..., covariates = ~ age, deconfound = "controls", y = cohort$y,
                  family = "binomial") {
    suppressMessages(n2gfl(cohort$x, y, cohort$graph, family = family, covariates = covariates,
                           data = cohort$data, deconfound = deconfound, ...))
  }
  expect_snapshot(refusal(fit(deconfound = "all")))
  expect_snapshot(refusal(fit(covariates = NULL)))
  expect_snapshot(refusal(fit(deconfound = NULL, controls = "NC")))
  expect_snapshot(refusal(fit(controls = "HC")))
  expect_snapshot(refusal(fit(controls = c(TRUE, FALSE))))
  expect_snapshot(refusal(fit(controls = replace(rep(TRUE, 12), 3, NA))))
  expect_snapshot(refusal(fit(y = rep(c("AD", "MCI"), 6))))
  expect_snapshot(refusal(fit(y = cohort$x[, 1], family = "gaussian")))
  expect_snapshot(refusal(fit(y = cohort$x[, 1], family = "gaussian", controls = "NC")))
  expect_snapshot(refusal(fit(covariates = ~ age, controls = seq_len(12) <= 2)))
  expect_snapshot(refusal(fit(covariates = cbind(as.numeric(cohort$y == "AD")))))
})
