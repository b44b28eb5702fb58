# Rows by name: a table or a named vector in another order than x must give the same fit.

# Files of a small cohort, and its table as a user reads it from disk.
small_cohort <- function(n = 24) {
  withr::local_seed(4)
  folder <- withr::local_tempdir(.local_envir = parent.frame())
  cohort <- simulate_cohort(n = n, dim = c(12, 14), dir = folder)
  subjects <- utils::read.csv(cohort$files[["subjects"]])
  subjects$diagnosis <- factor(subjects$diagnosis, c("patient", "control"))
  files <- file.path(folder, subjects$file)
  list(images = read_images(files, mask = cohort$files[["mask"]]), subjects = subjects,
       shuffled = subjects[withr::with_seed(1, sample(n)), ])
}

fit_images <- function(images, y, ...) {
  n2gfl(images, y, family = "binomial", lambda2 = 0.003, nlambda1 = 4, ...)
}

# Messages of an expression, and its value.
heard <- function(code) {
  said <- character(0)
  value <- withCallingHandlers(code, message = function(m) {
    said <<- c(said, conditionMessage(m))
    invokeRestart("muffleMessage")
  })
  list(value = value, said = said)
}

same_fit <- function(a, b) expect_identical(a[c("a0", "gamma", "beta", "grid")],
                                            b[c("a0", "gamma", "beta", "grid")])

test_that("a table in another order than the images is matched by name, and one message says so", {
  p <- small_cohort()
  right <- fit_images(p$images, p$subjects$diagnosis, covariates = ~ age, data = p$subjects)
  by_vector <- heard(fit_images(p$images, p$shuffled$diagnosis, covariates = ~ age,
                                data = p$shuffled))
  same_fit(by_vector$value, right)
  expect_length(grep("^`data`: rows matched .* by column `subject`", by_vector$said), 1)
  expect_length(grep("^`y`: put into the order of `x` like `data`", by_vector$said), 1)
  by_name <- heard(fit_images(p$images, "diagnosis", covariates = ~ age, data = p$shuffled))
  same_fit(by_name$value, right)
  expect_length(by_name$said, 1)
  same_fit(suppressMessages(fit_images(p$images, diagnosis ~ age, data = p$shuffled)), right)
})

test_that("the order of the table does not matter for a cross-validation", {
  p <- small_cohort()
  foldid <- stats::setNames(rep(1:3, 8), p$subjects$subject)
  run <- function(data, foldid, group = NULL) {
    suppressMessages(cv.n2gfl(p$images, diagnosis ~ age, data = data, family = "binomial",
                              lambda2 = 0.003, nlambda1 = 4, foldid = foldid, group = group))
  }
  right <- run(p$subjects, foldid)
  same_cv <- function(a, b) {
    parts <- c("cvm", "cvsd", "foldid", "index", "fold.fits")
    expect_identical(a[parts], b[parts])
  }
  same_cv(run(p$shuffled, rev(foldid)), right)
  group <- stats::setNames(rep(1:12, each = 2), names(foldid))
  foldid[] <- rep(1:3, each = 8)
  same_cv(run(p$subjects, foldid, rev(group)), run(p$subjects, foldid, group))
})

test_that("files are matched by path, name, participant and number", {
  labels <- c("/data/sub-02_T1w.nii.gz", "/data/sub-10_T1w.nii.gz")
  expect_matched <- function(given, numbers = FALSE) {
    expect_identical(match_names(labels, given, numbers)$rows, 2:1)
  }
  expect_matched(rev(labels))
  expect_matched(c("sub-10_T1w.nii.gz", "sub-02_T1w.nii.gz"))
  expect_matched(c("/pet/sub-10_pet.nii", "/pet/sub-02_pet.nii"))
  expect_matched(c("sub-10", "sub-02"))
  expect_matched(c("10", "02"), numbers = TRUE)
  expect_matched(c("10", "2"), numbers = TRUE)
  expect_identical(match_names(labels, c("10", "2"))$found, 0L)
  expect_identical(match_names(labels, c("sub-10", "sub-10", "sub-02"))$rows, c(3L, NA))
  expect_identical(match_names(c("sub-1_a", "sub-1_b"), c("sub-1", "sub-2"))$found, 0L)
})

test_that("numbers identify rows only in a column that is meant for it", {
  x <- matrix(stats::rnorm(8), 4, dimnames = list(61:64, NULL))
  data <- data.frame(age = 64:61, score = 1:4)
  expect_identical(align_table(data, rownames(x), FALSE)$data, data)
  names(data)[1] <- "participant_id"
  expect_identical(suppressMessages(align_table(data, rownames(x), FALSE))$data$score, 4:1)
})

test_that("a table may have further rows, and must have all that are needed", {
  p <- small_cohort()
  right <- fit_images(p$images, p$subjects$diagnosis)
  more <- rbind(transform(p$shuffled[1:3, ], subject = c("x", "y", "z"), file = "other.nii.gz"),
                p$shuffled)
  fit <- heard(fit_images(p$images, "diagnosis", data = more))
  same_fit(fit$value, right)
  expect_match(fit$said, "24 of its 27 rows are used")
  expect_snapshot(refusal(fit_images(p$images, "diagnosis", data = p$subjects[-5, ])))
  expect_snapshot(refusal(fit_images(p$images, "diagnosis", data = p$subjects[c(1, 1:23), ])))
})

test_that("rows without names are taken in order, and a message says so for images", {
  p <- small_cohort()
  unnamed <- p$subjects[c("diagnosis", "age")]
  fit <- heard(fit_images(p$images, "diagnosis", data = unnamed))
  expect_match(fit$said, "taken in the order of the rows of `x`")
  same_fit(fit$value, fit_images(p$images, p$subjects$diagnosis))
  x <- p$images$x
  rownames(x) <- NULL
  expect_silent(n2gfl(x, p$subjects$age, p$images$graph, covariates = ~ tiv, data = p$subjects,
                      lambda2 = 0.1, nlambda1 = 2, sign = "free"))
})

test_that("a vector without names beside a reordered table must be one of its columns", {
  p <- small_cohort()
  expect_snapshot(refusal(suppressMessages(
    fit_images(p$images, rev(p$subjects$diagnosis), covariates = ~ age, data = p$shuffled))))
  # Already in the order of the images: it equals a column of the table after matching.
  right <- fit_images(p$images, p$subjects$diagnosis, covariates = ~ age, data = p$subjects)
  same_fit(suppressMessages(fit_images(p$images, p$subjects$diagnosis, covariates = ~ age,
                                       data = p$shuffled)), right)
})

test_that("named vectors are put in the order of the rows of a matrix", {
  withr::local_seed(2)
  x <- matrix(stats::rnorm(40 * 6), 40, dimnames = list(paste0("s", 1:40), NULL))
  y <- stats::setNames(rowSums(x[, 1:3]) + stats::rnorm(40), rownames(x))
  weights <- stats::setNames(stats::runif(40), rownames(x))
  offset <- stats::setNames(stats::rnorm(40), rownames(x))
  age <- cbind(age = stats::rnorm(40))
  rownames(age) <- rownames(x)
  graph <- graph_chain(6)
  run <- function(order) {
    suppressMessages(n2gfl(x, y[order], graph, weights = weights[order], offset = offset[order],
                           covariates = age[order, , drop = FALSE], lambda2 = 0.1, nlambda1 = 3))
  }
  same_fit(run(40:1), run(1:40))
  expect_silent(n2gfl(x, y, graph, lambda2 = 0.1, nlambda1 = 3))
  expect_message(n2gfl(x, stats::setNames(y, letters[1]), graph, lambda2 = 0.1, nlambda1 = 3),
                 "its names are not those of the rows")
  expect_snapshot(refusal(n2gfl(x, y[-3], graph)))
})

test_that("y may be a column's name or a formula, for a matrix with data too", {
  withr::local_seed(3)
  x <- matrix(stats::rnorm(50 * 5), 50)
  data <- data.frame(score = rowSums(x[, 1:2]) + stats::rnorm(50), age = stats::rnorm(50),
                     sex = rep(c("F", "M"), 25))
  fit <- function(...) n2gfl(x, ..., graph = graph_chain(5), lambda2 = 0.1, nlambda1 = 3)
  same_fit(fit("score", data = data), fit(data$score))
  same_fit(fit(score ~ age + sex, data = data),
           fit(data$score, covariates = ~ age + sex, data = data))
  same_fit(fit(score ~ 1, data = data), fit(data$score))
  same_fit(fit(log(score + 100) ~ 1, data = data), fit(log(data$score + 100)))
  score <- data$score
  same_fit(fit(score ~ 1), fit(data$score))
  expect_snapshot({
    refusal(fit("scor", data = data))
    refusal(fit("score"))
    refusal(fit(~ age, data = data))
    refusal(fit(score ~ ., data = data))
    refusal(fit(scor ~ age, data = data))
    refusal(fit(score ~ age, data = data, covariates = ~ sex))
  })
})

test_that("new covariates are matched to new images, which bring their own table", {
  p <- small_cohort()
  fit <- suppressMessages(fit_images(p$images, diagnosis ~ age, data = p$subjects))
  right <- predict(fit, p$images, newcovariates = p$subjects)
  expect_identical(suppressMessages(predict(fit, p$images, newcovariates = p$shuffled)), right)
  own <- p$images
  own$data <- p$subjects
  expect_identical(predict(fit, own), right)
  expect_identical(suppressMessages(fitted(fit, p$images, covariates = p$shuffled)),
                   stats::plogis(right))
  y <- stats::setNames(p$shuffled$diagnosis, p$shuffled$subject)
  expect_identical(
    suppressMessages(residuals(fit, p$images, y, covariates = p$shuffled)),
    residuals(fit, p$images, p$subjects$diagnosis, covariates = p$subjects))
})

test_that("exact fits and refits take the outcome in the same ways", {
  p <- small_cohort()
  fit <- suppressMessages(fit_images(p$images, diagnosis ~ age, data = p$subjects))
  s <- c(lambda1 = mean(fit$grid$lambda1[2:3]), lambda2 = 0.003)
  right <- coef(fit, s = s, exact = TRUE, x = p$images, y = p$subjects$diagnosis,
                covariates = ~ age, data = p$subjects)
  expect_identical(suppressMessages(
    coef(fit, s = s, exact = TRUE, x = p$images, y = diagnosis ~ age, data = p$shuffled)), right)
})

test_that("a table given to read_images() is matched by participant", {
  p <- small_cohort()
  table <- data.frame(participant_id = p$shuffled$subject, age = p$shuffled$age)
  files <- p$images$files
  expect_message(images <- read_images(files, data = table), "by column `participant_id`")
  expect_identical(images$data$age, p$subjects$age)
  expect_message(read_images(files, data = table["age"]), "taken in the order of the images")
  expect_snapshot(refusal(read_images(files, data = table[-2, ])))
})
