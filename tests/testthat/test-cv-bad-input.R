# Each message is one sentence: the argument, what was expected, what was given.

x <- matrix(sin(1:100), 20, 5)
y <- cos(1:20)
classes <- factor(rep(c("a", "b"), 10))
g <- graph_chain(5)

cv_with <- function(...) {
  given <- utils::modifyList(
    list(x = x, y = y, graph = g, lambda1 = 0.1, lambda2 = 0.1, foldid = rep(1:4, 5)),
    list(...), keep.null = TRUE)
  do.call(cv.n2gfl, given)
}

class_with <- function(...) cv_with(y = classes, family = "binomial", ...)

test_that("foldid names a fold for every row, from 1 without a gap", {
  expect_snapshot(refusal(cv_with(foldid = rep(1:4, 4))))
  expect_snapshot(refusal(cv_with(foldid = rep(c(1, 2, 4, 5), 5))))
  expect_snapshot(refusal(cv_with(foldid = rep(0:3, 5))))
  expect_snapshot(refusal(cv_with(foldid = rep(c(1, 2.5), 10))))
  expect_snapshot(refusal(cv_with(foldid = rep(c(1, -2), 10))))
  expect_snapshot(refusal(cv_with(foldid = replace(rep(1:4, 5), 3, NA))))
  expect_snapshot(refusal(cv_with(foldid = replace(rep(1:4, 5), 3, Inf))))
  expect_snapshot(refusal(cv_with(foldid = replace(rep(1:4, 5), 3, 1e15))))
  expect_snapshot(refusal(cv_with(foldid = rep(1, 20))))
  expect_snapshot(refusal(cv_with(foldid = factor(rep(1:4, 5)))))
  expect_snapshot(refusal(cv_with(foldid = as.character(rep(1:4, 5)))))
  expect_snapshot(refusal(cv_with(foldid = list(1))))
  expect_snapshot(refusal(cv_with(foldid = data.frame(rep(1:4, 5)))))
  expect_snapshot(refusal(cv_with(foldid = integer(0))))
  expect_snapshot(refusal(cv_with(foldid = cbind(rep(1:4, 5), rep(c(1, 3), 10)))))
  expect_snapshot(refusal(cv_with(foldid = matrix(1:4, 4, 5))))
  expect_snapshot(refusal(cv_with(foldid = matrix("1", 20, 2))))
})

test_that("foldid as whole numbers of any type is taken", {
  double <- cv_with(foldid = as.double(rep(1:4, 5)))
  expect_identical(without_call(double), without_call(cv_with()))
  expect_identical(without_call(cv_with(foldid = matrix(rep(1:4, 5)))), without_call(double))
})

test_that("nfolds is a whole number from 2 to the number of rows", {
  for (bad in list(1, 21, 0, -3, 2.5, NA, Inf, "4", c(3, 4), NULL)) {
    expect_snapshot(refusal(cv_with(foldid = NULL, nfolds = bad)))
  }
})

test_that("nrepeats is a whole number that agrees with foldid", {
  for (bad in list(0, 1.5, NA, "a", 1:2)) {
    expect_snapshot(refusal(cv_with(foldid = NULL, nfolds = 3, nrepeats = bad)))
  }
  expect_snapshot(refusal(cv_with(nrepeats = 3)))
  expect_snapshot(refusal(cv_with(foldid = cbind(rep(1:4, 5), rep(1:2, 10)), nrepeats = 3)))
})

test_that("group has a value for every row and is not split", {
  withr::local_seed(1)  # folds inside of folds are drawn
  expect_snapshot(refusal(cv_with(group = rep(1:10, each = 2))))
  expect_snapshot(refusal(cv_with(group = 1:3)))
  expect_snapshot(refusal(cv_with(group = replace(rep(1:4, 5), 7, NA))))
  expect_snapshot(refusal(cv_with(group = as.list(1:20))))
  expect_snapshot(refusal(cv_with(group = matrix(1, 20, 2))))
  expect_snapshot(refusal(cv_with(foldid = NULL, nfolds = 5, group = rep(1:4, 5))))
  expect_snapshot(refusal(cv_with(foldid = NULL, nfolds = 2, group = rep(c("A", "B"), 10),
                                  nested = TRUE)))
})

test_that("the measure fits the family", {
  expect_snapshot(refusal(cv_with(type.measure = "auc")))
  expect_snapshot(refusal(cv_with(type.measure = "class")))
  expect_snapshot(refusal(class_with(type.measure = "C")))
  expect_snapshot(refusal(class_with(type.measure = 3)))
  expect_snapshot(refusal(class_with(type.measure = c("auc", "class"))))
  expect_snapshot(refusal(class_with(type.measure = NA)))
})

test_that("no fold may lose a class, or all weight, or y's variation", {
  withr::local_seed(1)  # folds inside of folds are drawn
  expect_snapshot(refusal(class_with(foldid = rep(1:2, 10))))
  expect_snapshot(refusal(class_with(foldid = c(1, rep(2:3, c(9, 10))), type.measure = "auc")))
  few <- factor(rep(c("a", "b"), c(18, 2)))
  expect_snapshot(refusal(cv_with(y = few, family = "binomial", foldid = rep(1:2, c(17, 3)))))
  # each of the two is held out once in the outer folds, and the other one then in the inner folds
  expect_snapshot(refusal(cv_with(y = few, family = "binomial", nested = TRUE,
                                  foldid = c(rep(1:3, 6), 1, 2))))
  expect_snapshot(refusal(cv_with(y = c(1, rep(0, 19)), foldid = c(1, rep(2, 9), rep(3, 10)))))
  expect_snapshot(refusal(cv_with(weights = rep(c(0, 1, 1, 1), 5))))
  expect_snapshot(refusal(class_with(weights = rep(c(1, 1, 0, 0), c(5, 5, 5, 5)),
                                     foldid = rep(1:4, each = 5))))
})

test_that("covariates that lose their rank without a fold are refused before the fits", {
  site <- cbind(age = y, site = rep(c(1, 0), c(2, 18)))
  expect_snapshot(refusal(cv_with(covariates = site, foldid = c(1, 1, rep(2:4, 6)))))
})

test_that("flags", {
  expect_snapshot(refusal(cv_with(nested = NA)))
  expect_snapshot(refusal(cv_with(keep = "yes")))
  expect_snapshot(refusal(cv_with(trace.it = 2)))
})

test_that("the dots are arguments of n2gfl()", {
  expect_snapshot(refusal(cv_with(lambda = 1)))
  expect_snapshot(refusal(cv.n2gfl(x, y, g, "gaussian")))
  expect_snapshot(refusal(cv.n2gfl(x, y, g, lambda1 = 1, lambda1 = 2)))
  expect_snapshot(refusal(cv_with(family = "tweedie")))
  expect_snapshot(refusal(cv_with(weights = 1:3)))
})

test_that("checkpoint is a folder that can be written", {
  withr::local_dir(withr::local_tempdir())
  file.create("file")
  expect_snapshot(refusal(cv_with(checkpoint = "file")))
  expect_snapshot(refusal(cv_with(checkpoint = file.path("file", "folder"))))
  expect_snapshot(refusal(cv_with(checkpoint = "")))
  expect_snapshot(refusal(cv_with(checkpoint = NA)))
  expect_snapshot(refusal(cv_with(checkpoint = c("a", "b"))))
  expect_snapshot(refusal(cv_with(checkpoint = TRUE)))
})

test_that("make_folds() checks its arguments", {
  expect_snapshot(refusal(make_folds(NULL)))
  expect_snapshot(refusal(make_folds(list(1, 2))))
  expect_snapshot(refusal(make_folds(1)))
  expect_snapshot(refusal(make_folds(c(1, NA, 2), 2)))
  expect_snapshot(refusal(make_folds(1:5)))
  expect_snapshot(refusal(make_folds(1:5, 1)))
  expect_snapshot(refusal(make_folds(1:5, 2, group = 1:4)))
  expect_snapshot(refusal(make_folds(1:5, 3, group = c(1, 1, 2, 2, 2))))
})
