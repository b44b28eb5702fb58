# scale = and `global`: the same as dividing x by hand, and as giving the row means as a covariate.

gained <- function(n = 40, d = 24) {
  y <- rep(c(0, 1), length.out = n)
  x <- matrix(stats::rnorm(n * d, sd = 0.3), n) + rep(stats::runif(d, 1, 3), each = n)
  x[, 3:6] <- x[, 3:6] + 0.4 * y
  data <- data.frame(tiv = stats::runif(n, 1200, 1700), age = stats::rnorm(n, 60, 5))
  list(x = x * exp(stats::rnorm(n, sd = 0.3)), y = y, graph = graph_chain(d), data = data)
}

fit_gained <- function(p, x = p$x, ..., fun = n2gfl) {
  fun(x, p$y, p$graph, family = "binomial", data = p$data, lambda1 = c(0.05, 0.005), lambda2 = 0.01,
      thresh = 1e-10, ...)
}

expect_same_fit <- function(fit, other) {
  expect_true(all(fit$grid$converged, other$grid$converged))
  expect_equal(as.matrix(fit$beta), as.matrix(other$beta), tolerance = 1e-5)
  expect_equal(fit$gamma, other$gamma, tolerance = 1e-5)
  expect_equal(fit$grid$dev.ratio, other$grid$dev.ratio, tolerance = 1e-8)
}

test_that("scale is dividing by hand, for every storage, algorithm and penalty", {
  withr::local_seed(1)
  p <- gained()
  by_mean <- p$x / rowMeans(p$x)
  by_tiv <- p$x * mean(p$data$tiv) / p$data$tiv
  sparse <- methods::as(p$x, "CsparseMatrix")
  for (x in list(p$x, sparse)) {
    for (how in list(list(), list(algorithm = "fista"), list(penalty = "laplacian"),
                     list(standardize = TRUE), list(sign = "free"))) {
      fit <- function(...) suppressWarnings(do.call(fit_gained, c(list(p, ...), how)))
      ours <- fit(x, scale = "mean")
      plain <- fit(by_mean)
      expect_same_fit(ours, plain)
      expect_equal(predict(ours, x), predict(plain, by_mean), tolerance = 1e-5)
      ours <- fit(x, scale = "tiv")
      plain <- fit(by_tiv)
      expect_same_fit(ours, plain)
      expect_equal(predict(ours, x, newdata = p$data), predict(plain, by_tiv), tolerance = 1e-5)
    }
  }
  expect_same_fit(fit_gained(p, scale = p$data$tiv), fit_gained(p, by_tiv))
  expect_same_fit(fit_gained(p, scale = "none", sign = "free"), fit_gained(p, sign = "free"))
})

test_that("global is the row mean, before scaling, as a covariate", {
  withr::local_seed(2)
  p <- gained()
  z <- cbind(age = p$data$age, global = rowMeans(p$x))
  plain <- fit_gained(p, covariates = z)
  expect_same_fit(fit_gained(p, covariates = ~ age + global), plain)
  formula <- n2gfl(methods::as(p$x, "CsparseMatrix"), y ~ age + global, p$graph,
                   family = "binomial", data = cbind(p$data, y = p$y), lambda1 = c(0.05, 0.005),
                   lambda2 = 0.01, thresh = 1e-10)
  expect_same_fit(formula, plain)
  # In new rows it is computed again, with a table for the others or without one.
  expect_equal(predict(formula, p$x[1:3, ], newcovariates = p$data[1:3, ]),
               predict(plain, p$x[1:3, ], newcovariates = z[1:3, ]))
  expect_equal(predict(formula, p$x[1:3, ], newdata = p$data[1:3, ]),
               predict(plain, p$x[1:3, ], newcovariates = z[1:3, ]))
  alone <- fit_gained(p, covariates = ~ log(global), scale = "mean")
  expect_same_fit(alone, fit_gained(p, p$x / rowMeans(p$x), covariates = cbind(
    `log(global)` = log(rowMeans(p$x)))))
  expect_equal(fitted(alone, p$x), predict(alone, p$x, type = "response"))
  # A column of the data comes first.
  p$data$global <- p$data$tiv
  expect_same_fit(fit_gained(p, covariates = ~ global),
                  fit_gained(p, covariates = cbind(global = p$data$tiv)))
})

test_that("a fold refers to the mean of its own rows, and each subject is divided by its own", {
  withr::local_seed(3)
  p <- gained()
  foldid <- rep(1:4, 10)
  for (scale in c("mean", "tiv")) {
    cv <- fit_gained(p, scale = scale, foldid = foldid, keep = TRUE, fun = cv.n2gfl)
    held <- foldid == 2
    by <- if (scale == "mean") rowMeans(p$x) else p$data$tiv / mean(p$data$tiv[!held])
    train <- list(x = p$x[!held, ], y = p$y[!held], graph = p$graph, data = p$data[!held, ])
    fit <- suppressWarnings(fit_gained(train, (p$x / by)[!held, ]))
    expect_equal(as.matrix(cv$fold.fits[[2]]$beta), as.matrix(fit$beta), tolerance = 1e-5)
    expect_equal(unname(cv$fit.preval[held, ]), unname(predict(fit, (p$x / by)[held, ])),
                 tolerance = 1e-4)
    # Held-out rows have no influence on the fit without them.
    strange <- p
    strange$x[held, ] <- exp(stats::rnorm(sum(held) * 24, 4))
    strange$data$tiv[held] <- stats::runif(sum(held), 1, 9)
    other <- suppressWarnings(fit_gained(strange, scale = scale, foldid = foldid, fun = cv.n2gfl,
                                         covariates = NULL))
    expect_identical(other$fold.fits[[2]], cv$fold.fits[[2]])
  }
})

test_that("stability is that of the scaled features", {
  withr::local_seed(4)
  p <- gained()
  foldid <- rep(1:4, 10)
  by_hand <- suppressWarnings(fit_gained(p, p$x / rowMeans(p$x), foldid = foldid, fun = cv.n2gfl))
  ours <- fit_gained(p, scale = "mean", foldid = foldid, fun = cv.n2gfl)
  expect_equal(ours$es, by_hand$es, tolerance = 1e-5)
  runs <- fit_gained(p, scale = "mean", perturb = "jackknife", fun = perturb_fits)
  by_hand <- suppressWarnings(fit_gained(p, p$x / rowMeans(p$x), perturb = "jackknife",
                                         fun = perturb_fits))
  expect_equal(runs$es, by_hand$es, tolerance = 1e-5)
  expect_error(ES(ours, p$x), "`x` must not be given for fits with `scale`")
  expect_equal(ES(ours, row = 2, normalize = "fit", center = TRUE), ours$es[2, "fit"])
})

test_that("new rows are scaled like those of the fit", {
  withr::local_seed(5)
  p <- gained()
  new <- 1:3
  numbers <- fit_gained(p, scale = p$data$tiv)
  column <- fit_gained(p, scale = "tiv")
  expect_equal(predict(numbers, p$x[new, ], newscale = p$data$tiv[new]),
               predict(column, p$x[new, ], newdata = p$data[new, ]))
  expect_equal(fitted(numbers, p$x, scale = p$data$tiv), fitted(column, p$x, data = p$data))
  expect_equal(residuals(numbers, p$x, p$y, scale = p$data$tiv),
               residuals(column, p$x, p$y, data = p$data))
  expect_equal(assess(numbers, p$x, p$y, row = 2, newscale = p$data$tiv)$measures,
               assess(column, p$x, p$y, row = 2, newdata = p$data)$measures)
  augmented <- augment.n2gfl(column, p$x, data = p$data, row = 2)
  expect_equal(augmented$.fitted, unname(fitted(column, p$x, data = p$data, row = 2)[, 1]))
  # ... also off the grid and without shrinkage
  plain <- fit_gained(p, p$x * mean(p$data$tiv) / p$data$tiv)
  by_hand <- p$x * mean(p$data$tiv) / p$data$tiv
  s <- c(lambda1 = 0.02, lambda2 = 0.01)
  expect_equal(coef(column, s = s, exact = TRUE, x = p$x, y = p$y, data = p$data),
               coef(plain, s = s, exact = TRUE, x = by_hand, y = p$y), tolerance = 1e-4)
  expect_equal(coef(column, row = 1, refit = TRUE, x = p$x, y = p$y, data = p$data),
               coef(plain, row = 1, refit = TRUE, x = by_hand, y = p$y), tolerance = 1e-5)
})

test_that("a refit takes `global` from the features, not from the sums of its regions", {
  withr::local_seed(6)
  p <- gained()
  z <- cbind(global = rowMeans(p$x))
  expect_equal(
    coef(fit_gained(p, covariates = ~ global), row = 1, refit = TRUE, x = p$x, y = p$y,
         covariates = ~ global),
    coef(fit_gained(p, covariates = z), row = 1, refit = TRUE, x = p$x, y = p$y, covariates = z))
})

test_that("images keep their scale, which is the default of fits to them", {
  withr::local_seed(7)
  p <- gained(20, 60)
  array <- aperm(array(p$x, c(20, 4, 5, 3)), c(2, 3, 4, 1))
  table <- data.frame(diagnosis = p$y, tiv = p$data$tiv)
  read <- function(...) suppressMessages(read_images(array, threshold = 0, data = table, ...))
  images <- read(scale = "mean")
  fit <- function(images, ...) {
    suppressWarnings(n2gfl(images, diagnosis ~ 1, lambda1 = 0.01, lambda2 = 0.01, ...))
  }
  expect_equal(fit(images)$beta, fit(read(), scale = "mean")$beta)
  expect_equal(fit(images, scale = "none")$beta, fit(read())$beta)
  expect_equal(fit(images[1:15])$beta, fit(read()[1:15], scale = "mean")$beta)
  expect_output(print(images), "each subject divided by its mean")
  # New images: by their own means and their own table, whatever they keep.
  by_tiv <- fit(read(scale = "tiv"))
  expect_equal(predict(by_tiv, images[3:4]),
               predict(by_tiv, images$x[3:4, ], newdata = table[3:4, ]), ignore_attr = TRUE)
  again <- suppressMessages(read_images(array[, , , 1:2], like = by_tiv, data = table[1:2, ]))
  expect_identical(again$scale, "tiv")
  withr::local_options(width = 200)
  expect_snapshot({
    refusal(read(scale = 3))
    refusal(read(scale = "tib"))
    table$tiv[2] <- NA
    refusal(read(scale = "tiv"))
    array[, , , 5] <- -array[, , , 5]
    refusal(suppressWarnings(read(scale = "mean")))
  })
})

test_that("a scale that cannot be used is refused, with the subject's name", {
  p <- withr::with_seed(8, gained(12))
  rownames(p$x) <- sprintf("sub-%02d", 1:12)
  p$data$site <- rep(c("a", "b"), 6)
  fit <- function(scale, x = p$x) refusal(fit_gained(p, x, scale = scale))
  predicted <- function(fit, ...) refusal(predict(fit, p$x, ...))
  expect_snapshot({
    fit("TIV")
    fit("site")
    fit(c("mean", "tiv"))
    fit(~ tiv)
    fit(1:3)
    fit(replace(p$data$tiv, 3, 0))
    fit("mean", replace(p$x, row(p$x) == 5, 0))
    fit("mean", unname(replace(p$x, row(p$x) %in% 5:6, -1)))
    fit("mean", replace(p$x, 30, NaN))
    p$data$tiv[4] <- NA
    fit("tiv")
  })
  p$data$tiv[4] <- 1500
  column <- suppressWarnings(fit_gained(p, scale = "tiv"))
  numbers <- suppressWarnings(fit_gained(p, scale = p$data$tiv))
  expect_snapshot({
    predicted(column)
    predicted(column, newdata = p$data["age"])
    predicted(column, newdata = list(1))
    predicted(column, newdata = p$data[1:3, ])
    predicted(column, newdata = replace(p$data, "tiv", -1))
    predicted(column, newscale = p$data$tiv)
    predicted(numbers)
    predicted(numbers, newscale = 1:3)
    predicted(column, newdata = p$data, new.site = "pooled")
    refusal(coef(column, row = 1, refit = TRUE, x = p$x, y = p$y))
    refusal(coef(numbers, row = 1, refit = TRUE, x = p$x, y = p$y))
  })
})
