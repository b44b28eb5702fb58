# The generics' own functions are called, so that the registration is tested as well.

test_that("tidy gives a line per nonzero coefficient, or per coefficient", {
  fit <- path_fit()
  rownames(fit$beta) <- letters[1:12]
  fit$a0 <- seq_len(6) / 10
  table <- generics::tidy(fit)
  expect_named(table, c("row", "term", "estimate", "lambda1", "lambda2", "dev.ratio"))
  expect_identical(nrow(table), sum(fit$grid$nonzero) + 6L)
  all <- generics::tidy(fit, return_zeros = TRUE)
  expect_identical(nrow(all), 13L * 6L)
  expect_identical(all[all$estimate != 0, ], table, ignore_attr = "row.names")
  expect_identical(table$estimate[table$row == 2], c(0.2, 0.5, 0.5, 0.5))
  expect_identical(table$term[table$row == 2], c("(Intercept)", "b", "c", "d"))
  expect_identical(unique(table$lambda1[table$row == 2]), 0.5)
})

test_that("tidy of a cross-validation is the curve, glance the choices", {
  cv <- make_cv(path_fit(), c(min = 5L, `1se` = 3L, es = 3L, stable = 2L))
  table <- generics::tidy(cv)
  expect_identical(table$estimate, cv$cvm)
  expect_identical(table$std.error, cv$cvsd)
  expect_identical(table$choice, c("", "stable", "1se, es", "", "min", ""))
  one <- generics::glance(cv)
  expect_identical(dim(one), c(1L, 14L))
  expect_identical(one$lambda1.stable, 2^-1)
  expect_identical(one$lambda1.min, 2^-4)
  expect_identical(one$cvm.1se, cv$cvm[3])
  fit <- generics::glance(path_fit())
  expect_identical(c(fit$nobs, fit$features, fit$fits), c(40L, 12L, 6L))
  expect_true(fit$converged)
})

test_that("augment adds fitted values, classes and residuals to data", {
  withr::local_seed(5)
  x <- matrix(rnorm(30 * 6), 30)
  age <- cbind(age = rnorm(30))
  y <- factor(ifelse(x[, 2] + rlogis(30) / 2 > 0, "well", "ill"))
  fit <- n2gfl(x, y, graph_chain(6), "binomial", covariates = age, lambda1 = c(0.1, 0.02),
               lambda2 = 0.02)
  data <- data.frame(id = 1:30, y = y)
  more <- generics::augment(fit, x, y, data = data, row = 2, newcovariates = age)
  expect_named(more, c("id", "y", ".fitted", ".class", ".resid"))
  expect_equal(more$.fitted, unname(fitted(fit, x, row = 2, covariates = age)[, 1]))
  expect_identical(as.character(more$.class),
                   predict(fit, x, row = 2, type = "class", newcovariates = age)[, 1])
  expect_equal(more$.resid, (y == "well") - more$.fitted)
  # New observations may all be of one class.
  expect_equal(generics::augment(fit, x[1:2, ], c("ill", "ill"), row = 1,
                                 newcovariates = age[1:2, , drop = FALSE])$.resid,
               -unname(predict(fit, x[1:2, ], row = 1, type = "response",
                               newcovariates = age[1:2, , drop = FALSE])[, 1]))
})

test_that("augment brings the outcome, the table and covariates into the order of the rows", {
  withr::local_seed(7)
  x <- matrix(rnorm(20 * 6), 20, dimnames = list(paste0("sub-", 11:30), NULL))
  y <- stats::setNames(x[, 2] + rnorm(20), rownames(x))
  table <- data.frame(subject = rownames(x), age = rnorm(20))
  fit <- n2gfl(x, y, graph_chain(6), lambda1 = 0.1, lambda2 = 0.02, covariates = ~ age,
               data = table)
  right <- generics::augment(fit, x, y, table, newcovariates = table)
  mixed <- sample(20)
  expect_false(identical(mixed, 1:20))
  moved <- suppressMessages(generics::augment(fit, x, y[mixed], table[mixed, ],
                                              newcovariates = table[mixed, ]))
  expect_identical(moved$subject, rownames(x))
  expect_equal(moved, right, ignore_attr = TRUE)
})

test_that("augment of a cross-validation takes the chosen row", {
  withr::local_seed(6)
  x <- matrix(rnorm(40 * 6), 40)
  y <- x[, 2] + rnorm(40)
  cv <- cv.n2gfl(x, y, graph_chain(6), nlambda1 = 5, lambda2 = 0.1, nfolds = 4)
  expect_equal(generics::augment(cv, x, y)$.resid, unname(residuals(cv, x, y)[, 1]))
  expect_equal(generics::augment(cv, x, s = "lambda.min")$.fitted,
               unname(predict(cv, x, s = "lambda.min")[, 1]))
})

test_that("tidiers refuse what they cannot use", {
  fit <- path_fit()
  x <- matrix(0, 3, 12)
  expect_snapshot(refusal(generics::tidy(fit, return_zeros = "no")))
  cv <- make_cv(fit)
  expect_snapshot({
    refusal(generics::tidy(fit, return_zeroes = TRUE))
    refusal(generics::tidy(cv, conf.level = 0.9))
    refusal(generics::glance(fit, row = 1))
    refusal(generics::glance(cv, row = 1))
  })
  expect_snapshot(refusal(generics::augment(fit)))
  expect_snapshot(refusal(generics::augment(fit, x)))
  expect_snapshot(refusal(generics::augment(fit, x, row = 2, data = list())))
  expect_snapshot(refusal(generics::augment(fit, x, row = 2, data = data.frame(a = 1:2))))
  expect_snapshot(refusal(generics::augment(fit, x, y = 1:2, row = 2)))
  fit$family <- "binomial"
  fit$classnames <- c("a", "b")
  expect_snapshot(refusal(generics::augment(fit, x, y = c("a", "b", "c"), row = 2)))
})

test_that("autoplot draws the data of plot()", {
  fit <- path_fit(c(0.2, 0.1))
  cv <- make_cv(fit)
  build <- function(picture) {
    expect_s3_class(picture, "ggplot")
    ggplot2::ggplot_build(picture)
  }
  for (xvar in c("lambda2", "norm")) build(ggplot2::autoplot(fit, xvar = xvar))
  paths <- ggplot2::autoplot(fit, xvar = "lambda")
  build(paths)
  lines <- path_data(fit, "lambda1")$lines
  expect_identical(paths$data[c("region", "row", "x", "value")],
                   lines[c("region", "row", "x", "value")])
  build(ggplot2::autoplot(fit, label = FALSE, which = 2, col = "red"))
  build(ggplot2::autoplot(make_fit(matrix(0, 3, 2), graph_chain(3), 2:1, 1)))
  build(ggplot2::autoplot(make_fit(matrix(1:3, 3, 1), graph_chain(3), 0, 0)))
  curves <- ggplot2::autoplot(cv)
  build(curves)
  expect_identical(curves$data$cvm, cv$cvm)
  build(ggplot2::autoplot(cv, type = "heatmap"))
  map <- build(ggplot2::autoplot(make_fit(cbind(c(0, 1, -1, 2)), graph_grid(c(2, 2)), 1, 1),
                                 what = "map"))
  expect_identical(map$data[[1]]$fill[1], zero_colour)
  expect_snapshot(refusal(ggplot2::autoplot(fit, what = "map")))
  expect_snapshot(refusal(ggplot2::autoplot(cv, type = "map")))
})

test_that("ggplots: labels are not cut at a panel's edge, captions fit a column of 3.3 inches", {
  skip_if_not_installed("ggplot2")
  fit <- path_fit(c(0.2, 0.1))
  expect_identical(ggplot2::autoplot(fit)$coordinates$clip, "off")
  data <- cv_plot_data(make_cv(fit))
  data$notes <- paste("lambda.1se has at most as many regions as lambda.min, but more features",
                      "(1234 against 567).")
  lines <- strsplit(choice_labels(data)$caption, "\n")[[1]]
  withr::with_pdf(NULL, {
    graphics::plot.new()
    expect_true(all(text_inches(lines, 7.5 / 12) < 3.3 - 10 / 72))
  })
})
