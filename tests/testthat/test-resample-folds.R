# Folds: equal shares of every class, groups in one piece, and the session's random numbers.

spread <- function(counts) diff(range(counts))

test_that("folds and the classes in them differ by at most one row", {
  withr::local_seed(1)
  for (n in c(2, 7, 20, 61)) for (nfolds in unique(c(2, min(5, n), n))) {
    y <- sample(c("a", "b", "c"), n, replace = TRUE, prob = c(6, 3, 1))
    folds <- make_folds(y, nfolds)
    expect_type(folds, "integer")
    expect_identical(sort(unique(folds)), seq_len(nfolds))
    counts <- table(folds, y)
    expect_lte(spread(rowSums(counts)), 1)
    expect_lte(max(apply(counts, 2, spread)), 1)
  }
})

test_that("three of one class and six of the other: one and two in each of three folds", {
  withr::local_seed(2)
  folds <- make_folds(rep(c("patient", "control"), c(3, 6)), 3)
  expect_identical(sort(folds[1:3]), 1:3)
  expect_identical(sort(folds[4:9]), rep(1:3, each = 2))
})

test_that("two classes are recognised in every form, other numbers are not classes", {
  y <- rep(c(0, 1), c(5, 11))
  forms <- list(y, 2 * y - 1, y == 1, letters[y + 1], factor(y), factor(y, levels = c(0, 7, 1)),
                as.integer(y))
  folds <- lapply(forms, function(form) withr::with_seed(3, make_folds(form, 4)))
  for (f in folds) expect_identical(f, folds[[1]])
  # numbers with more values: the rows are dealt out in one random order
  dealt <- withr::with_seed(3, {
    order <- sample.int(16)
    replace(integer(16), order, rep(sample.int(4), 4))
  })
  expect_identical(withr::with_seed(3, make_folds(sqrt(1:16), 4)), dealt)
})

test_that("groups stay together and every fold gets one", {
  withr::local_seed(4)
  for (run in 1:20) {
    group <- sample(rep(seq_len(12), times = sample(1:6, 12, replace = TRUE)))
    y <- stats::rbinom(length(group), 1, 0.4)
    nfolds <- sample(2:12, 1)
    folds <- make_folds(y, nfolds, group)
    expect_true(all(tapply(folds, group, function(f) all(f == f[1]))))
    expect_identical(sort(unique(folds)), seq_len(nfolds))
  }
})

test_that("groups of one class each fill all folds: as many folds as groups", {
  # with the class counts alone an empty fold and one full of the other class look the same
  withr::local_seed(5)
  y <- rep(c("a", "b"), each = 4)
  group <- rep(1:4, each = 2)
  folds <- make_folds(y, 4, group)
  expect_identical(sort(folds[c(1, 3, 5, 7)]), 1:4)
  two <- make_folds(y, 2, group)
  expect_identical(as.vector(table(two, y)), rep(2L, 4))
})

test_that("equal groups are balanced as well as can be", {
  withr::local_seed(6)
  # 6 subjects with 2 scans each, 3 of each class, 3 folds: one of each class in every fold
  y <- rep(c(0, 1), each = 6)
  group <- rep(1:6, each = 2)
  for (run in 1:10) expect_true(all(table(make_folds(y, 3, group), y) == 2))
})

test_that("groups of sizes 3, 2, 2, 1 share two folds four to four", {
  withr::local_seed(7)
  group <- rep(c("a", "b", "c", "d"), c(3, 2, 2, 1))
  for (run in 1:10) {
    expect_identical(as.vector(table(make_folds(sqrt(1:8), 2, group))), c(4L, 4L))
  }
})

test_that("groups in every form: numbers, text, factors with empty levels", {
  group <- rep(c(3, 1, 2, 5), each = 5)
  y <- rep(0:1, 10)
  forms <- list(group, as.integer(group), as.character(group), factor(group, levels = 0:9))
  folds <- lapply(forms, function(form) withr::with_seed(8, make_folds(y, 3, form)))
  for (f in folds) expect_identical(f, folds[[1]])
})

test_that("set.seed() determines the folds, and nothing else is drawn", {
  y <- rep(0:1, 15)
  withr::local_seed(9)
  first <- make_folds(y, 5)
  expect_false(identical(make_folds(y, 5), first))
  set.seed(9)
  expect_identical(make_folds(y, 5), first)
  after <- .Random.seed
  set.seed(9)
  sample.int(30)
  sample.int(5)
  expect_identical(.Random.seed, after)
})

test_that("cv.n2gfl() draws the folds of make_folds() and nothing else", {
  withr::local_seed(10)
  group <- rep(1:15, each = 4)
  for (family in c("gaussian", "binomial")) {
    data <- cv_problem(family)
    for (g in list(NULL, group)) {
      set.seed(11)
      cv <- quick_cv(data, foldid = NULL, nfolds = 5, group = g, nrepeats = 2)
      after <- .Random.seed
      set.seed(11)
      expect_identical(cv$foldid, cbind(make_folds(data$y, 5, g), make_folds(data$y, 5, g)))
      expect_identical(.Random.seed, after)
    }
  }
})

test_that("a gaussian y with two values is dealt out as make_folds() does it", {
  withr::local_seed(12)
  data <- cv_problem("gaussian")
  data$y <- as.numeric(data$y > 2)
  set.seed(13)
  cv <- quick_cv(data, foldid = NULL, nfolds = 4)
  set.seed(13)
  expect_identical(cv$foldid, make_folds(data$y, 4))
})

test_that("nothing is drawn when foldid is given", {
  withr::local_seed(14)
  data <- cv_problem("binomial")
  expect_seed_kept(quick_cv(data))
  # a session without a seed stays without one
  rm(".Random.seed", envir = globalenv())
  expect_seed_kept(quick_cv(data))
})
