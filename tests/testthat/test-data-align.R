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

expect_same_fit <- function(a, b) {
  parts <- c("a0", "gamma", "beta", "grid")
  expect_identical(a[parts], b[parts])
}

test_that("a table in another order than the images is matched by name, and one message says so", {
  p <- small_cohort()
  right <- fit_images(p$images, p$subjects$diagnosis, covariates = ~ age, data = p$subjects)
  by_vector <- heard(fit_images(p$images, p$shuffled$diagnosis, covariates = ~ age,
                                data = p$shuffled))
  expect_same_fit(by_vector$value, right)
  expect_length(grep("^`data`: rows matched .* by column `file`", by_vector$said), 1)
  expect_length(grep("^`y`: put into the order of `x` like `data`", by_vector$said), 1)
  by_name <- heard(fit_images(p$images, "diagnosis", covariates = ~ age, data = p$shuffled))
  expect_same_fit(by_name$value, right)
  expect_length(by_name$said, 1)
  expect_same_fit(suppressMessages(fit_images(p$images, diagnosis ~ age, data = p$shuffled)), right)
})

test_that("the order of the table does not matter for a cross-validation", {
  p <- small_cohort()
  foldid <- stats::setNames(rep(1:3, 8), p$subjects$subject)
  run <- function(data, foldid, group = NULL) {
    suppressMessages(cv.n2gfl(p$images, diagnosis ~ age, data = data, family = "binomial",
                              lambda2 = 0.003, nlambda1 = 4, foldid = foldid, group = group))
  }
  right <- run(p$subjects, foldid)
  expect_same_cv <- function(a, b) {
    parts <- c("cvm", "cvsd", "foldid", "index", "fold.fits")
    expect_identical(a[parts], b[parts])
  }
  expect_same_cv(run(p$shuffled, rev(foldid)), right)
  group <- stats::setNames(rep(1:12, each = 2), names(foldid))
  foldid[] <- rep(1:3, each = 8)
  expect_same_cv(run(p$subjects, foldid, rev(group)), run(p$subjects, foldid, group))
})

test_that("files are matched by path, name, participant and number", {
  labels <- c("/data/sub-02_T1w.nii.gz", "/data/sub-10_T1w.nii.gz")
  expect_matched <- function(given, numbers = FALSE) {
    expect_identical(match_names(list(labels), given, numbers)$rows, 2:1)
  }
  expect_matched(rev(labels))
  expect_matched(c("sub-10_T1w.nii.gz", "sub-02_T1w.nii.gz"))
  expect_matched(c("/pet/sub-10_pet.nii", "/pet/sub-02_pet.nii"))
  expect_matched(c("sub-10", "sub-02"))
  expect_matched(c("10", "02"), numbers = TRUE)
  expect_matched(c("10", "2"), numbers = TRUE)
  expect_identical(match_names(list(labels), c("10", "2"))$found, 0L)
  expect_identical(match_names(list(labels), c("sub-10", "sub-10", "sub-02"))$rows, c(3L, NA))
  expect_identical(match_names(list(c("sub-1_a", "sub-1_b")), c("sub-1", "sub-2"))$found, 0L)
})

test_that("numbers identify rows only in a column that is meant for it", {
  x <- matrix(stats::rnorm(8), 4, dimnames = list(61:64, NULL))
  data <- data.frame(age = 64:61, score = 1:4)
  expect_identical(align_table(data, list(rownames(x)), FALSE)$data, data)
  names(data)[1] <- "participant_id"
  expect_identical(suppressMessages(align_table(data, list(rownames(x)), FALSE))$data$score, 4:1)
})

test_that("a table may have further rows, and must have all that are needed", {
  p <- small_cohort()
  right <- fit_images(p$images, p$subjects$diagnosis)
  more <- rbind(transform(p$shuffled[1:3, ], subject = c("x", "y", "z"), file = "other.nii.gz"),
                p$shuffled)
  fit <- heard(fit_images(p$images, "diagnosis", data = more))
  expect_same_fit(fit$value, right)
  expect_match(fit$said, "24 of its 27 rows are used")
  expect_snapshot(refusal(fit_images(p$images, "diagnosis", data = p$subjects[-5, ])))
  expect_snapshot(refusal(fit_images(p$images, "diagnosis", data = p$subjects[c(1, 1:23), ])))
})

test_that("rows without names are taken in order, and a message says so for images", {
  p <- small_cohort()
  unnamed <- p$subjects[c("diagnosis", "age")]
  fit <- heard(fit_images(p$images, "diagnosis", data = unnamed))
  expect_match(fit$said, "taken in the order of the rows of `x`")
  expect_same_fit(fit$value, fit_images(p$images, p$subjects$diagnosis))
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
  expect_same_fit(suppressMessages(fit_images(p$images, p$subjects$diagnosis, covariates = ~ age,
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
  expect_same_fit(run(40:1), run(1:40))
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
  expect_same_fit(fit("score", data = data), fit(data$score))
  expect_same_fit(fit(score ~ age + sex, data = data),
           fit(data$score, covariates = ~ age + sex, data = data))
  expect_same_fit(fit(score ~ 1, data = data), fit(data$score))
  expect_same_fit(fit(log(score + 100) ~ 1, data = data), fit(log(data$score + 100)))
  score <- data$score
  expect_same_fit(fit(score ~ 1), fit(data$score))
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

# ---- found by those who tried to get rows mixed up -----------------------------------------------

test_that("the most specific name decides, not a running number", {
  p <- small_cohort()
  right <- suppressMessages(fit_images(p$images, p$subjects$diagnosis))
  table <- data.frame(subject = 1:24, participant_id = p$shuffled$subject,
                      diagnosis = p$shuffled$diagnosis)
  expect_same_fit(suppressMessages(fit_images(p$images, "diagnosis", data = table)), right)
  # Numbers alone are used, but never in silence.
  expect_message(fit_images(p$images, "diagnosis", data = data.frame(id = 1:24, p$subjects[2])),
                 "by column `id`, by number")
})

test_that("vectors in the order of a table that read_images() moved are put in order, too", {
  p <- small_cohort()
  table <- p$shuffled[c("subject", "diagnosis", "age", "site")]
  images <- suppressMessages(read_images(p$images$files, data = table))
  right <- suppressMessages(fit_images(images, diagnosis ~ age))
  expect_message(fit <- fit_images(images, table$diagnosis, covariates = ~ age),
                 "`y`: put into the order of `x`")
  expect_same_fit(fit, right)
  expect_same_fit(fit_images(images, images$data$diagnosis, covariates = ~ age), right)
  expect_error(fit_images(images, rev(images$data$diagnosis)), "unknown in which order `y` is")
  # Folds of another fit come in the order of x.
  expect_no_error(cv.n2gfl(images, diagnosis ~ age, family = "binomial", lambda2 = 0.003,
                           nlambda1 = 2, foldid = rep(1:3, 8)))
})

test_that("names given to the files name the rows", {
  p <- small_cohort()
  files <- stats::setNames(p$images$files, paste0("A", 101:124))
  images <- read_images(files)
  table <- data.frame(id = rev(names(files)), diagnosis = rev(p$subjects$diagnosis))
  expect_message(by_name <- fit_images(images, "diagnosis", data = table), "by column `id`")
  expect_same_fit(by_name, suppressMessages(fit_images(images, p$subjects$diagnosis)))
})

test_that("participants are found in folders, inside names and with their sessions", {
  rows <- function(files, data) {
    suppressMessages(align_table(data, list(files), TRUE, per = "image"))$rows
  }
  by_id <- function(files, ids) rows(files, data.frame(id = rev(ids)))
  expect_identical(by_id(paste0("x/", c("S01", "S02", "S10"), "/mri/T1.nii.gz"),
                         c("S01", "S02", "S10")), 3:1)
  expect_identical(by_id(paste0("ADNI_", c("001_S_10", "001_S_11"), "_MR.nii"),
                         c("001_S_10", "001_S_11")), 2:1)
  expect_identical(by_id(paste0("OAS1_000", 1:3, "_MR1_mpr.nii"), paste0("OAS1_000", 1:3, "_MR1")),
                   3:1)
  expect_identical(by_id(c("IXI001-HH-T1.nii", "IXI002-HH-T1.nii"), c("IXI001", "IXI002")), 2:1)
  expect_identical(by_id(c("sub-01_T1w.nii", "sub-02_T1w.nii"), c("SUB-01", "SUB-02 ")), 2:1)
  files <- outer(1:2, 1:2, function(p, s) sprintf("sub-%02d/ses-%d/sub-%02d_T1w.nii", p, s, p))
  table <- expand.grid(session_id = paste0("ses-", 2:1), participant_id = c("sub-02", "sub-01"))
  expect_identical(rows(as.vector(files), table), c(4L, 2L, 3L, 1L))
  table$session_id <- NULL
  expect_snapshot(refusal(rows(as.vector(files), table)))
})

test_that("a missing id is an error, not a reason to take rows in order", {
  p <- small_cohort()
  table <- p$shuffled[c("subject", "diagnosis")]
  gone <- p$images$subjects[p$images$subjects == paste0(table$subject[5], "_gm")]
  table$subject[5] <- NA
  expect_error(fit_images(p$images, "diagnosis", data = table), paste0("does not have \"", gone))
})

test_that("row numbers of a data frame are its rows, whatever an id column says", {
  withr::local_seed(4)
  full <- data.frame(id = sample(40), age = stats::rnorm(40), matrix(stats::rnorm(400), 40))
  full$y <- rowSums(full[paste0("X", 3:5)]) + full$age + stats::rnorm(40)
  full <- full[order(full$age), ]
  x <- as.matrix(full[paste0("X", 1:10)])
  fit <- function(x, data) n2gfl(x, y ~ age, data = data, lambda2 = 0, nlambda1 = 3)
  expect_silent(right <- fit(x, full))
  plain <- unname(x)
  expect_identical(right$grid, suppressMessages(fit(plain, full))$grid)
  moved <- full[sample(40), ]
  expect_message(by_names <- fit(x, moved[-1]), "by row names")
  expect_identical(by_names$grid, right$grid)
  expect_error(fit(x, moved), "its row names and its column `id` put them in different orders")
  # The same rows after a step that dropped their numbers.
  expect_identical(fit(x, data.frame(full[-1], row.names = NULL))$grid, right$grid)
  expect_identical(fit(x, subset(data.frame(full[-1], row.names = NULL), age > -Inf))$grid,
                   right$grid)
  # Without row names x cannot tell.
  expect_message(fit(plain, full[-1]), "its row numbers say that it was sorted")
})

test_that("an id column that is in order is not overruled by row numbers", {
  withr::local_seed(6)
  table <- data.frame(id = sample(40), age = stats::rnorm(40), score = 0)
  x <- matrix(stats::rnorm(40 * 5), 40, dimnames = list(table$id, NULL))
  table$score <- rowSums(x[, 1:2]) + table$age + stats::rnorm(40, sd = 0.3)
  expect_silent(fit <- n2gfl(x, score ~ age, data = table, lambda2 = 0, nlambda1 = 3))
  expect_gt(max(fit$grid$dev.ratio), 0.8)
})

test_that("tables longer than the images leave their order behind, too", {
  p <- small_cohort()
  longer <- rbind(transform(p$shuffled[1:2, ], subject = c("x", "y"), file = c("x.nii", "y.nii")),
                  p$shuffled)
  images <- suppressMessages(read_images(p$images$files, data = longer))
  used <- longer[-(1:2), ]
  right <- suppressMessages(fit_images(images, "diagnosis"))
  expect_same_fit(suppressMessages(fit_images(images, used$diagnosis)), right)
  expect_error(suppressMessages(fit_images(images, "diagnosis", weights = stats::runif(24))),
               "unknown in which order `weights` is")
  some <- images[-1]
  expect_no_error(suppressMessages(fit_images(some, as.integer(some$data$diagnosis == "control"))))
  expect_message(cv.n2gfl(images, "diagnosis", family = "binomial", lambda2 = 0.003, nlambda1 = 2,
                          foldid = rep(1:3, 8)), "`foldid` has no names")
})

test_that("offsets and outcomes of predictions follow a table that is moved", {
  withr::local_seed(7)
  x <- matrix(stats::rnorm(40 * 5), 40, dimnames = list(paste0("p", 1:40), NULL))
  table <- data.frame(id = rownames(x), score = rowSums(x[, 1:2]) + stats::rnorm(40),
                      age = stats::rnorm(40), o = stats::rnorm(40))
  moved <- table[sample(40), ]
  fit <- n2gfl(x, score ~ age, data = table, offset = table$o, lambda2 = 0, lambda1 = 0.1)
  right <- predict(fit, x, newcovariates = table, newoffset = table$o)
  quiet <- suppressMessages
  expect_identical(quiet(predict(fit, x, newcovariates = moved, newoffset = moved$o)), right)
  expect_identical(quiet(fitted(fit, x, covariates = moved, offset = moved$o)), right)
  expect_identical(
    quiet(residuals(fit, x, moved$score, covariates = moved, offset = moved$o)),
    residuals(fit, x, table$score, covariates = table, offset = table$o))
  expect_identical(
    quiet(generics::augment(fit, x, y = moved$score, data = moved, newcovariates = moved,
                            newoffset = moved$o))$.resid,
    generics::augment(fit, x, y = table$score, data = table, newcovariates = table,
                      newoffset = table$o)$.resid)
  # A table of its own on the left side of the formula.
  expect_identical(quiet(n2gfl(x, moved$score ~ age, data = table[-2], lambda2 = 0))$beta,
                   n2gfl(x, score ~ age, data = table, lambda2 = 0)$beta)
})

test_that("variables of a formula that are not in the table are put in order, too", {
  withr::local_seed(5)
  x <- matrix(stats::rnorm(40 * 5), 40, dimnames = list(paste0("p", 1:40), NULL))
  table <- data.frame(id = rownames(x), score = rowSums(x[, 1:2]) + stats::rnorm(40),
                      age = stats::rnorm(40))
  moved <- table[sample(40), ]
  fit <- function(y, data = NULL, ...) {
    suppressMessages(n2gfl(x, y, data = data, lambda2 = 0, nlambda1 = 3, ...))
  }
  right <- fit(score ~ age, table)
  expect_identical(fit(moved$score ~ age, moved)$beta, right$beta)
  expect_identical(fit(score ~ moved$age, moved)$beta, right$beta)
  named <- stats::setNames(moved$score, moved$id)
  expect_identical(fit(named ~ 1)$beta, fit(table$score)$beta)
  expect_snapshot({
    refusal(fit(score ~ offset(age), table))
    refusal(n2gfl(x, table$score, lambda2 = 0, data = 1))
    refusal(n2gfl(x, table$score, lambda2 = 0, data = data.frame(a = 1:3)))
  })
  rownames(x)[2] <- "p1"
  expect_error(n2gfl(x, named, lambda2 = 0), "exactly once")
})

test_that("a plain vector beside images from files is said to be taken in order", {
  p <- small_cohort()
  expect_message(fit_images(p$images, p$subjects$diagnosis), "taken in the order of the images")
  p$images$data <- p$subjects
  expect_no_message(fit_images(p$images, p$subjects$diagnosis))
})
