# Assessments against pROC, glm(), lm() and prop.test(), and by hand.

# An assessment of given numbers, without any fit.
assess_numbers <- function(y, prediction, weights = NULL, family = "binomial", threshold = 0.5,
                           level = 0.95, bins = NULL) {
  fit <- list(family = family, classnames = if (family == "binomial") c("a", "b"))
  link <- as.matrix(if (family == "binomial") stats::qlogis(prediction) else prediction)
  sample <- new_assess_sample(link, y, weights, "held out", "row 1", "row 1")
  new_assessment(sample, fit, assess_settings(threshold, level, bins))
}

values_of <- function(assessment, measure) {
  row <- assessment$measures[assessment$measures$measure == measure, ]
  c(row$estimate, row$lower, row$upper)
}

random_pair <- function(n, digits = 8) {
  y <- c(0, 0, 1, 1, stats::rbinom(n - 4, 1, 0.4))
  p <- stats::plogis(y + stats::rnorm(n))
  # with ties if asked for
  list(y = y, p = pmin(0.99, pmax(0.01, round(p, digits))))
}

# ---- against other packages and R's own tests ----------------------------------------------------

test_that("AUC, DeLong's interval and the ROC curve are pROC's, with and without ties", {
  skip_if_not_installed("pROC")
  withr::local_seed(61)
  for (digits in c(8, 1)) for (level in c(0.95, 0.8)) {
    data <- random_pair(60, digits)
    ours <- assess_numbers(data$y, data$p, level = level)
    theirs <- pROC::roc(data$y, data$p, quiet = TRUE, direction = "<", levels = 0:1)
    limits <- as.numeric(pROC::ci.auc(theirs, conf.level = level, method = "delong"))
    expect_equal(values_of(ours, "auc"), limits[c(2, 1, 3)])
    # pROC's curve starts at the smallest threshold
    expect_equal(rev(ours$roc$sensitivity), theirs$sensitivities)
    expect_equal(rev(ours$roc$specificity), theirs$specificities)
  }
})

test_that("shares have Wilson's intervals", {
  wilson <- function(k, n, level) {
    c(k / n, suppressWarnings(stats::prop.test(k, n, correct = FALSE, conf.level = level)$conf.int))
  }
  # 4 of 5 of class b, 2 of 3 of class a
  y <- c(1, 1, 1, 1, 1, 0, 0, 0)
  p <- c(0.9, 0.8, 0.7, 0.6, 0.2, 0.3, 0.1, 0.7)
  a <- assess_numbers(y, p, level = 0.9)
  expect_equal(values_of(a, "accuracy"), wilson(6, 8, 0.9))
  expect_equal(values_of(a, "sensitivity"), wilson(4, 5, 0.9))
  expect_equal(values_of(a, "specificity"), wilson(2, 3, 0.9))
  sens <- wilson(4, 5, 0.9)
  spec <- wilson(2, 3, 0.9)
  apart <- sqrt((sens - sens[1])^2 + (spec - spec[1])^2) / 2
  expect_equal(values_of(a, "balanced"), (sens[1] + spec[1]) / 2 + c(0, -1, 1) * apart)
  expect_equal(a$confusion, data.frame(predicted = factor(c("a", "b", "a", "b")),
                                       observed = factor(c("a", "a", "b", "b")),
                                       n = c(2, 1, 1, 4)))
  expect_equal(a$roc[c("sensitivity.lower", "sensitivity.upper")][4, ],
               data.frame(t(wilson(3, 5, 0.9)[-1])), ignore_attr = TRUE)
  # a probability equal to the threshold is the first class
  expect_equal(values_of(assess_numbers(y, p, threshold = 0.7), "sensitivity")[1], 2 / 5)
  # limits of shares of 0 and 1 stay inside 0 and 1
  expect_identical(wilson_interval(c(0, 1), 10, 0.95)$upper[2], 1)
  expect_identical(wilson_interval(c(0, 1), 10, 0.95)$lower[1], 0)
})

test_that("the Brier score and its interval, by hand", {
  y <- c(1, 0, 1, 0)
  p <- c(0.9, 0.4, 0.6, 0.1)
  loss <- c(0.01, 0.16, 0.16, 0.01)
  expect_equal(values_of(assess_numbers(y, p), "brier"),
               pmax(0, mean(loss) + c(0, -1, 1) * stats::qnorm(0.975) * stats::sd(loss) / 2))
})

test_that("calibration intercept and slope are those of glm()", {
  withr::local_seed(62)
  data <- random_pair(80)
  a <- assess_numbers(data$y, data$p)
  eta <- stats::qlogis(data$p)
  wald <- function(fit) {
    last <- length(stats::coef(fit))
    c(stats::coef(fit)[[last]], stats::confint.default(fit)[last, ])
  }
  expect_equal(values_of(a, "slope"), wald(stats::glm(data$y ~ eta, stats::binomial())),
               ignore_attr = TRUE, tolerance = 1e-6)
  expect_equal(values_of(a, "intercept"),
               wald(stats::glm(data$y ~ offset(eta), family = stats::binomial())),
               ignore_attr = TRUE, tolerance = 1e-6)
})

test_that("numbers: R squared, errors, correlation and calibration", {
  withr::local_seed(63)
  y <- stats::rnorm(50)
  p <- 0.5 * y + stats::rnorm(50, 0.2, 0.5)
  a <- assess_numbers(y, p, family = "gaussian")
  z <- stats::qnorm(0.975)
  mean_limits <- function(v) mean(v) + c(0, -1, 1) * z * stats::sd(v) / sqrt(50)
  expect_equal(values_of(a, "r.squared")[1], 1 - sum((y - p)^2) / sum((y - mean(y))^2))
  expect_equal(values_of(a, "rmse"), sqrt(mean_limits((y - p)^2)))
  expect_equal(values_of(a, "mae"), mean_limits(abs(y - p)))
  expect_equal(values_of(a, "intercept"), mean_limits(y - p))
  test <- stats::cor.test(y, p)
  expect_equal(values_of(a, "correlation"), c(test$estimate, test$conf.int), ignore_attr = TRUE)
  fit <- stats::lm(y ~ p)
  expect_equal(values_of(a, "slope"), c(stats::coef(fit)[[2]], stats::confint(fit)[2, ]),
               ignore_attr = TRUE)
  expect_null(a$roc)
  expect_null(a$confusion)
  expect_false(any(grepl("AUC", a$notes)))
})

test_that("the standard errors of R squared and AUC are those of a bootstrap", {
  withr::local_seed(64)
  n <- 400
  y <- stats::rnorm(n)
  p <- 0.6 * y + stats::rnorm(n, 0, 0.5)
  w <- stats::runif(n, 0.2, 2)
  class <- (y + stats::rnorm(n) > 0) + 0
  draws <- replicate(400, {
    at <- sample.int(n, n, replace = TRUE)
    c(r_squared(y[at], p[at], w[at])[["estimate"]], weighted_auc(class[at], p[at], w[at]))
  })
  expect_equal(r_squared(y, p, w)[["se"]], stats::sd(draws[1, ]), tolerance = 0.15)
  expect_equal(auc_with_se(class, p, w)[["se"]], stats::sd(draws[2, ]), tolerance = 0.15)
})

# ---- bins ----------------------------------------------------------------------------------------

test_that("the calibration table: bins of equal size, by hand", {
  p <- (1:12) / 13
  y <- rep(c(0, 0, 1), 4)
  a <- assess_numbers(y, p, bins = 4)
  expect_equal(a$calibration$n, rep(3, 4))
  expect_equal(a$calibration$predicted, c(2, 5, 8, 11) / 13)
  expect_equal(a$calibration$observed, rep(1 / 3, 4))
  expect_equal(a$calibration$from, c(1, 4, 7, 10) / 13)
  expect_equal(a$calibration$to, c(3, 6, 9, 12) / 13)
  expect_equal(a$calibration[c("lower", "upper")],
               data.frame(wilson_interval(rep(1 / 3, 4), 3, 0.95)))
  # ties stay in one bin; predictions that are all equal make one bin
  expect_equal(assess_numbers(y, rep(c(0.2, 0.8), 6), bins = 4)$calibration$n, c(6, 6))
  same <- assess_numbers(y, rep(0.3, 12))
  expect_identical(nrow(same$calibration), 1L)
  expect_identical(values_of(same, "slope"), rep(NA_real_, 3))
  expect_equal(values_of(same, "auc")[1], 0.5)
  # one for every 20 observations, at least 3 and at most 10
  rows <- function(n) nrow(assess_numbers(rep(0:1, n / 2), stats::ppoints(n))$calibration)
  expect_identical(vapply(c(20, 100, 400), rows, 1L), c(3L, 5L, 10L))
})

# ---- weights and repeats -------------------------------------------------------------------------

test_that("whole weights give the estimates of repeated rows; rows of weight 0 are left out", {
  withr::local_seed(65)
  data <- random_pair(30, 1)
  w <- c(1, 1, 1, 1, sample(0:3, 26, replace = TRUE))
  often <- rep(1:30, w)
  estimates <- function(...) assess_numbers(...)$measures$estimate
  expect_equal(estimates(data$y, data$p, w), estimates(data$y[often], data$p[often]))
  expect_equal(estimates(data$y, data$p, w, "gaussian"),
               estimates(data$y[often], data$p[often], family = "gaussian"))
  a <- assess_numbers(data$y, data$p, w)
  expect_identical(a$nobs, sum(w > 0))
  # but weights are not observations: intervals are wider
  width <- function(a) a$measures$upper - a$measures$lower
  narrow <- assess_numbers(data$y[often], data$p[often])
  expect_true(all(width(a) > width(narrow)))
  expect_match(a$notes, "effective number", all = FALSE)
  # the scale of weights does not matter, and equal weights change nothing
  expect_equal(assess_numbers(data$y, data$p, 7 * w)$measures, a$measures)
  expect_equal(assess_numbers(data$y, data$p, rep(2, 30))$measures,
               assess_numbers(data$y, data$p)$measures)
})

test_that("repeats: means of the estimates, and intervals no narrower than those of one", {
  withr::local_seed(66)
  y <- rep(0:1, 30)
  p <- stats::plogis(matrix(y + stats::rnorm(180), 60))
  for (family in c("binomial", "gaussian")) {
    all <- assess_numbers(y, p, family = family)
    each <- lapply(1:3, function(k) assess_numbers(y, p[, k], family = family))
    estimate <- rowMeans(vapply(each, function(a) a$measures$estimate, all$measures$estimate))
    root <- all$measures$measure == "rmse"
    expect_equal(all$measures$estimate[!root], estimate[!root])
    widths <- vapply(each, function(a) a$measures$upper - a$measures$lower, estimate)
    expect_true(all(all$measures$upper - all$measures$lower > 0.99 * apply(widths, 1, min)))
    expect_identical(all$repeats, 3L)
    # repeating the same predictions adds no information
    twice <- assess_numbers(y, p[, c(1, 1)], family = family)
    expect_equal(twice$measures, each[[1]]$measures)
    expect_equal(twice$calibration, each[[1]]$calibration)
    expect_equal(twice$roc, each[[1]]$roc)
    expect_equal(twice$confusion, each[[1]]$confusion)
  }
})

test_that("complete separation: no interval for the AUC, no slope, and a note", {
  a <- assess_numbers(c(0, 0, 1, 1), c(0.1, 0.2, 0.7, 0.8))
  expect_identical(values_of(a, "auc"), c(1, NA, NA))
  expect_identical(values_of(a, "slope"), rep(NA_real_, 3))
  expect_match(a$notes, "^The AUC has no interval", all = FALSE)
})

# ---- the object of a cross-validation ------------------------------------------------------------

test_that("a cross-validation keeps what its assessment needs, with and without keep", {
  withr::local_seed(67)
  for (family in c("gaussian", "binomial")) {
    data <- cv_problem(family)
    kept <- quick_cv(data, keep = TRUE)
    cv <- quick_cv(data)
    expect_null(cv$fit.preval)
    expect_identical(cv$held.out, kept$held.out)
    expect_identical(colnames(cv$held.out), names(cv$index))
    for (s in c("min", "1se", "es", "stable")) {
      expect_identical(unname(cv$held.out[, s]), kept$fit.preval[, cv$index[[s]]])
      a <- assess(cv, s = paste0("lambda.", s))
      mean <- kept$fit.preval[, cv$index[[s]]]
      if (family == "binomial") mean <- stats::plogis(mean)
      expect_identical(a$predictions$predicted, mean)
      expect_match(a$choice, paste0("lambda.", s), fixed = TRUE)
    }
    expect_identical(cv$y, as.double(data$y))
    expect_null(cv$weights)
    expect_identical(assess(cv)$measures, assess(cv, s = "lambda.stable")$measures)
    expect_identical(assess(cv, row = cv$index[["stable"]])$measures, assess(cv)$measures)
    other <- setdiff(seq_len(nrow(cv$grid)), cv$index)[1]
    expect_identical(assess(kept, row = other)$predictions$predicted[1:2],
                     if (family == "binomial") stats::plogis(kept$fit.preval[1:2, other]) else
                       kept$fit.preval[1:2, other])
    expect_match(assess(cv)$notes, "optimistically biased", all = FALSE)
  }
})

test_that("measures of held-out predictions agree with the cross-validation's own", {
  withr::local_seed(68)
  data <- cv_problem("binomial")
  data$y <- factor(c("ill", "well")[1 + data$y], c("ill", "well"))
  weights <- stats::runif(60, 0.2, 2)
  # folds count by their weight, so the weighted mean over folds is that over observations
  cv <- quick_cv(data, type.measure = "brier", weights = weights)
  expect_equal(values_of(assess(cv), "brier")[1], cv$cvm[cv$index[["stable"]]])
  expect_equal(values_of(assess(cv, s = "lambda.min"), "brier")[1], cv$cvm[cv$index[["min"]]])
  expect_equal(mean(cv$weights), 1)
  cv <- quick_cv(data, type.measure = "class", foldid = NULL, nfolds = 4, nrepeats = 2)
  expect_equal(values_of(assess(cv), "accuracy")[1], 1 - cv$cvm[cv$index[["stable"]]])
  expect_equal(values_of(assess(cv, s = "lambda.min"), "accuracy")[1],
               1 - cv$cvm[cv$index[["min"]]])
  expect_identical(dim(cv$held.out), c(60L, 4L, 2L))
  expect_identical(assess(cv)$repeats, 2L)
  expect_identical(assess(cv)$classnames, c("ill", "well"))
  expect_identical(cv$y, (data$y == "well") + 0)
})

test_that("nested predictions are preferred: they are not biased by the choice of the row", {
  withr::local_seed(69)
  cv <- quick_cv(cv_problem("binomial"), nested = TRUE)
  a <- assess(cv)
  expect_identical(a$source, "nested")
  expect_identical(a$predictions$predicted, stats::plogis(unname(cv$nested$link[, "stable"])))
  expect_identical(assess(cv, s = "lambda.min")$predictions$predicted,
                   stats::plogis(unname(cv$nested$link[, "min"])))
  expect_identical(assess(cv, s = "lambda.es")$predictions$predicted,
                   stats::plogis(unname(cv$nested$link[, "es"])))
  expect_false(any(grepl("biased", a$notes)))
  plain <- assess(cv, nested = FALSE)
  expect_identical(plain$source, "held out")
  expect_identical(plain$predictions$predicted, stats::plogis(unname(cv$held.out[, "stable"])))
  expect_false(identical(plain$predictions$predicted, a$predictions$predicted))
  # a row given by its number cannot be nested: the outer folds chose their own rows
  expect_identical(assess(cv, row = cv$index[["stable"]])$source, "held out")
})

test_that("assessments of new data use the predictions of predict()", {
  withr::local_seed(70)
  data <- cv_problem("binomial", n = 100)
  data$y <- factor(c("well", "ill")[1 + data$y], c("well", "ill"))
  new <- 61:100
  train <- list(x = data$x[-new, ], y = data$y[-new], graph = data$graph, family = "binomial")
  cv <- quick_cv(train)
  a <- assess(cv, data$x[new, ], data$y[new], s = "lambda.1se")
  expect_identical(a$predictions$predicted,
                   as.vector(predict(cv, data$x[new, ], s = "lambda.1se", type = "response")))
  expect_identical(a$predictions$observed, (data$y[new] == "ill") + 0)
  expect_identical(a$source, "new data")
  expect_null(a$notes)
  fit <- cv$n2gfl.fit
  expect_identical(assess(fit, data$x[new, ], as.character(data$y[new]),
                          row = cv$index[["1se"]])$measures, a$measures)
  weighted <- assess(cv, data$x[new, ], data$y[new], newweights = rep(0:1, 20))
  half <- new[c(FALSE, TRUE)]
  expect_identical(weighted$measures, assess(cv, data$x[half, ], data$y[half])$measures)
  # covariates and offset are used
  z <- stats::rnorm(100)
  cv <- quick_cv(train, covariates = cbind(z = z[-new]), offset = rep(0.3, 60))
  a <- assess(cv, data$x[new, ], data$y[new], newcovariates = cbind(z = z[new]),
              newoffset = rep(0.3, 40))
  expect_identical(a$nobs, 40L)
})

test_that("the outcome of new images can be a column's name or a formula", {
  withr::local_seed(76)
  folder <- withr::local_tempdir()
  cohort <- simulate_cohort(n = 24, dim = c(12, 14), dir = folder)
  subjects <- utils::read.csv(cohort$files[["subjects"]])
  files <- file.path(folder, subjects$file)
  images <- read_images(files, mask = cohort$files[["mask"]], data = subjects)
  fit <- suppressMessages(n2gfl(images, diagnosis ~ age, family = "binomial", nlambda1 = 4,
                                lambda2 = 0.003))
  right <- assess(fit, images, subjects$diagnosis, row = 4)
  expect_identical(assess(fit, images, "diagnosis", row = 4), right)
  expect_identical(assess(fit, images, diagnosis ~ age, row = 4), right)
  bare <- read_images(files, mask = cohort$files[["mask"]])
  expect_snapshot({
    refusal(assess(fit, images$x, diagnosis ~ age, row = 4))
    refusal(assess(fit, images$x, "diagnosis", row = 4))
    refusal(assess(fit, bare, diagnosis ~ age, row = 4))
    refusal(assess(fit, images, "dx", row = 4))
  })
})

test_that("for a cross-validation saved by an older version, the error says what to do", {
  for (file in dir(test_path("fixtures"), "^saved-.*[.]rds$", full.names = TRUE)) {
    cv <- readRDS(file)$cv
    if (is.null(cv$held.out)) expect_error(assess(cv), "older version.*run cv.n2gfl\\(\\) again")
  }
})

test_that("a note says that a map is empty", {
  withr::local_seed(71)
  data <- cv_problem("gaussian")
  data$y <- stats::rnorm(60)
  cv <- quick_cv(data, keep = TRUE)
  expect_identical(cv$grid$nonzero[1], 0L)
  expect_match(assess(cv, row = 1)$notes, "^The map is empty", all = FALSE)
})

# ---- weak models ---------------------------------------------------------------------------------

held_out_numbers <- function(y, link, fold, family = "binomial", weights = NULL) {
  fit <- list(family = family, classnames = if (family == "binomial") c("a", "b"))
  sample <- new_assess_sample(as.matrix(link), y, weights, "held out", "row 1", "row 1",
                              fold = fold)
  new_assessment(sample, fit, assess_settings(0.5, 0.95, NULL))
}

test_that("ranks of fits that select nothing are not scored: only the intercepts differ", {
  local_device()
  withr::local_seed(73)
  y <- rep(0:1, c(14, 16))
  outside <- function(y, fold) {
    vapply(fold, function(k) mean(y[fold != k]), 0)
  }
  for (fold in list(1:30, sample(rep(1:5, 6)))) {
    link <- stats::qlogis(outside(y, fold))
    expect_lt(weighted_auc(y, link, rep(1, 30)), 0.5)
    a <- held_out_numbers(y, link, fold)
    expect_identical(c(values_of(a, "auc"), values_of(a, "slope")), rep(NA_real_, 6))
    expect_identical(nrow(a$roc), 0L)
    expect_match(a$notes, paste0("selects nothing or almost nothing.*",
                                 if (anyDuplicated(fold)) "within folds the AUC is 0.500" else
                                   "folds of one observation give no score"), all = FALSE)
    expect_false(any(grepl("DeLong", a$notes)))
    expect_false(anyNA(values_of(a, "brier")))
    expect_silent(plot(a))
    z <- stats::rnorm(30)
    b <- held_out_numbers(z, outside(z, fold), fold, "gaussian")
    expect_identical(values_of(b, "correlation"), rep(NA_real_, 3))
    expect_match(b$notes, "so correlation and calibration slope are not", all = FALSE)
  }
})

test_that("a weak model has a note with the score within folds, a good one has none", {
  withr::local_seed(74)
  fold <- rep(1:4, 15)
  y <- rep(0:1, each = 30)
  noise <- stats::rnorm(60) - c(0, 3, 0, 3)[fold]
  a <- held_out_numbers(y, noise, fold)
  by_fold <- vapply(1:4, function(k) weighted_auc(y[fold == k], noise[fold == k], rep(1, 15)), 0)
  pairs <- vapply(1:4, function(k) prod(table(y[fold == k])), 0)
  within <- sprintf("within folds the AUC is %.3f", stats::weighted.mean(by_fold, pairs))
  expect_match(a$notes, within, fixed = TRUE, all = FALSE)
  expect_null(held_out_numbers(y, 2 * y + 0.7 * stats::rnorm(60), fold)$notes)
  # gaussian: the correlation of residuals of folds
  z <- stats::rnorm(60)
  b <- held_out_numbers(z, noise, fold, "gaussian")
  rest <- function(v) stats::resid(stats::lm(v ~ factor(fold)))
  expect_match(b$notes, sprintf("correlation is %.3f", stats::cor(rest(z), rest(noise))),
               fixed = TRUE, all = FALSE)
})

test_that("noise: no interval below chance without a note, for real cross-validations", {
  withr::local_seed(75)
  for (family in c("binomial", "gaussian")) for (k in 1:6) {
    data <- cv_problem(family)
    data$y <- if (family == "binomial") sample(rep(0:1, 30)) else stats::rnorm(60)
    cv <- suppressWarnings(quick_cv(data, foldid = if (k > 4) 1:60 else sample(rep(1:5, 12))))
    a <- assess(cv)
    score <- values_of(a, if (family == "binomial") "auc" else "correlation")
    chance <- if (family == "binomial") 0.5 else 0
    if (!isTRUE(score[2] > chance)) {
      expect_match(a$notes, "folds' intercepts", all = FALSE)
    }
  }
})

# ---- print, plot, refusals -----------------------------------------------------------------------

test_that("print", {
  y <- rep(c(1, 0, 1, 0, 1), 4)
  p <- (1:20 + 3 * y) / 30
  expect_snapshot(print(assess_numbers(y, p)))
  expect_snapshot(print(assess_numbers(y, p, rep(1:2, 10), family = "gaussian"), digits = 2))
  expect_snapshot(print(assess_numbers(c(0, 0, 1, 1), c(0.1, 0.2, 0.7, 0.8))))
  a <- assess_numbers(y, cbind(p, p^2))
  a$source <- "nested"
  a$choice <- "lambda.es"
  expect_snapshot(print(a))
  capture.output(value <- withVisible(print(a)))
  expect_identical(value, list(value = a, visible = FALSE))
})

test_that("pictures restore graphics parameters, respect mfrow and refuse what does not exist", {
  local_device()
  a <- assess_numbers(rep(0:1, 20), stats::ppoints(40))
  b <- assess_numbers(1:40, (40:1)^1.5, family = "gaussian")
  graphics::par(mfrow = c(1, 3))
  before <- graphics::par("mar", "mgp", "pty", "mfrow", "cex", "las")
  expect_invisible(plot(a))
  plot(a, type = "calibration", main = "")
  expect_identical(graphics::par("mfg")[1:2], c(1L, 2L))
  plot(b, main = "Numbers", col = "black")
  expect_identical(graphics::par("mar", "mgp", "pty", "mfrow", "cex", "las"), before)
  separated <- assess_numbers(c(0, 0, 1, 1), c(0.1, 0.2, 0.7, 0.8))
  expect_silent(plot(separated))
  expect_silent(plot(separated, type = "calibration"))
  expect_snapshot(refusal(plot(b, type = "roc")))
  expect_snapshot(refusal(plot(a, type = "pr")))
})

test_that("axis titles with a long name of a class stay inside the figure", {
  withr::with_pdf(NULL, width = 3.3, height = 3.3, {
    graphics::plot.new()
    text <- strrep("impairment ", 9)
    for (side in 1:2) {
      title <- side_title(text, side, 1.8, c(0.4, 3), 3.3, 0.2)
      half <- text_inches(text, title$cex) / 2
      expect_true(title$middle - half >= 0.4 && title$middle + half <= 3)
    }
    expect_equal(side_title("short", 1, 1.8, c(0.4, 3), 3.3, 0.2), list(cex = 1, middle = 1.8))
  })
})

test_that("graphical parameters replace the defaults, and unknown ones are refused", {
  local_device()
  a <- assess_numbers(rep(0:1, 20), stats::ppoints(40))
  b <- assess_numbers(1:40, (40:1)^1.5, family = "gaussian")
  expect_silent(plot(a, lwd = 3, lty = 2))
  for (x in list(a, b)) {
    expect_silent(plot(x, "calibration", cex = 2, lwd = 3))
    expect_silent(plot(x, "calibration", pch = 2))
    expect_silent(plot(x, "calibration", pch = "x"))
  }
  expect_snapshot({
    refusal(plot(a, cex = 2))
    refusal(plot(a, "calibration", colour = "red"))
  })
})

test_that("pictures are unchanged", {
  skip_if_not_installed("vdiffr")
  skip_in_check()
  p <- stats::ppoints(60)
  a <- assess_numbers(rep(c(0, 0, 1, 0, 1, 1), each = 10), p, bins = 5)
  vdiffr::expect_doppelganger("ROC curve", function() plot(a))
  vdiffr::expect_doppelganger("calibration of classes", function() plot(a, type = "calibration"))
  b <- assess_numbers(p + 0.2 * sin(40 * p), p, family = "gaussian")
  vdiffr::expect_doppelganger("observed and predicted", function() plot(b))
})

test_that("bad input gets a sentence", {
  withr::local_seed(72)
  data <- cv_problem("binomial")
  data$y <- factor(c("well", "ill")[1 + data$y], c("well", "ill"))
  cv <- quick_cv(data)
  x <- data$x
  y <- data$y
  old <- cv
  old$y <- old$held.out <- NULL
  other <- setdiff(seq_len(nrow(cv$grid)), cv$index)[1]
  expect_snapshot({
    refusal(assess(old))
    refusal(assess(cv, row = other))
    refusal(assess(cv, row = 1:2))
    refusal(assess(cv, s = "lambda.best"))
    refusal(assess(cv, nested = TRUE))
    refusal(assess(quick_cv(data, nested = TRUE), row = 1, nested = TRUE))
    refusal(assess(cv, treshold = 0.4))
    refusal(assess(cv, threshold = 1))
    refusal(assess(cv, level = 95))
    refusal(assess(cv, bins = 1))
    refusal(assess(cv, newweights = rep(1, 60)))
    refusal(assess(cv, x))
    refusal(assess(cv, newy = y))
    refusal(assess(cv, x, y, nested = TRUE))
    refusal(assess(cv, x[1:5, ], y))
    refusal(assess(cv, x, rep("ill", 60)))
    refusal(assess(cv, x, rep(0:1, 30)))
    refusal(assess(cv, x, replace(y, 3, NA)))
    refusal(assess(cv, x, y, newweights = rep(-1, 60)))
    refusal(assess(1:3))
    refusal(assess(cv, x, y, newweights = numeric(60)))
    refusal(assess(cv$n2gfl.fit))
    refusal(assess(cv$n2gfl.fit, x, y))
  })
  number <- quick_cv(cv_problem("gaussian"))
  expect_snapshot(refusal(assess(number, x, rep(1, 60))))
  expect_snapshot(refusal(assess(number, x, y)))
  expect_snapshot(refusal(assess(number, threshold = 0.4)))
  expect_snapshot(refusal(assess(number$n2gfl.fit, x, 1:60, row = 1, threshold = 0.4)))
})

test_that("a plain outcome beside a table in another order is put in order with it", {
  withr::local_seed(11)
  x <- matrix(stats::rnorm(60 * 6), 60, dimnames = list(paste0("p", 1:60), NULL))
  table <- data.frame(id = rownames(x), score = rowSums(x[, 1:3]) + stats::rnorm(60),
                      age = stats::rnorm(60))
  fit <- n2gfl(x, score ~ age, data = table, lambda2 = 0, lambda1 = 0.1)
  moved <- table[sample(60), ]
  right <- assess(fit, x, table$score, newcovariates = table)
  expect_identical(suppressMessages(assess(fit, x, moved$score, newcovariates = moved))$measures,
                   right$measures)
  expect_identical(
    suppressMessages(residuals(fit, x, moved$score, covariates = moved)),
    residuals(fit, x, table$score, covariates = table))
})
