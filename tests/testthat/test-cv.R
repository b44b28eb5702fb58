# A fold is a set of weights: the same as a fit without its rows, scored on them.

# All results of each fold, against n2gfl() on the rows that are left.
expect_folds_deleted <- function(data, foldid, ...) {
  given <- list(...)
  cv <- do.call(quick_cv, c(list(data, foldid = foldid, thresh = 1e-13, keep = TRUE), given))
  expect_true(all(cv$grid$converged))
  per_row <- c("weights", "offset", "covariates")
  grid <- cv$grid[c("lambda1", "lambda2")]
  for (k in seq_len(max(foldid))) {
    rows <- which(foldid != k)
    some <- given[setdiff(names(given), c("group", "type.measure"))]
    some[intersect(per_row, names(some))] <- lapply(
      some[intersect(per_row, names(some))], function(v) if (is.matrix(v)) v[rows, ] else v[rows])
    for (lambda2 in unique(grid$lambda2)) {
      here <- which(grid$lambda2 == lambda2)
      fit <- do.call(n2gfl, c(some, list(
        data$x[rows, ], data$y[rows], data$graph, family = data$family, lambda2 = lambda2,
        lambda1 = grid$lambda1[here], thresh = 1e-13)))
      fold <- cv$fold.fits[[k]]
      size <- max(abs(fit$beta), abs(fit$a0), 1)
      expect_lte(max(abs(fold$beta[, here] - fit$beta)), 1e-8 * size)
      expect_lte(max(abs(fold$a0[here] - fit$a0)), 1e-8 * size)
      expect_identical(unname(fold$converged[here]), rep(TRUE, length(here)))
      held <- predict(fit, data$x[-rows, , drop = FALSE],
                      newcovariates = given$covariates[-rows, , drop = FALSE],
                      newoffset = given$offset[-rows])
      expect_lte(max(abs(cv$fit.preval[-rows, here] - held)), 1e-8 * max(abs(held), 1))
    }
  }
  cv
}

for (family in c("gaussian", "binomial")) {
  test_that(paste("a fold by weights equals a fold by deleted rows:", family), {
    withr::local_seed(41)
    data <- cv_problem(family)
    foldid <- sample(rep(1:4, 15))
    expect_folds_deleted(data, foldid)
    expect_folds_deleted(data, foldid, standardize = TRUE)
    expect_folds_deleted(data, foldid, covariates = matrix(rnorm(120), 60), sign = "free")
    expect_folds_deleted(data, foldid, weights = runif(60, 0.2, 2), offset = rnorm(60) / 3)
    expect_folds_deleted(data, foldid, penalty = "laplacian", intercept = FALSE)
    expect_folds_deleted(data, rep(1:4, each = 15), group = rep(1:20, each = 3))
  })

  test_that(paste("with everything at once, on a sparse x:", family), {
    withr::local_seed(42)
    data <- cv_problem(family)
    data$x <- data$x + 2
    data$x[abs(data$x) < 1.5] <- 0
    data$x <- as(data$x, "CsparseMatrix")
    expect_folds_deleted(data, sample(rep(1:3, 20)), covariates = matrix(rnorm(120), 60),
                         weights = runif(60, 0.2, 2), offset = rnorm(60) / 3, standardize = TRUE,
                         penalty.factor = rep(c(0.5, 1, 2), 4))
  })

  test_that(paste("rows without weight take no part in fits and scores:", family), {
    withr::local_seed(43)
    data <- cv_problem(family)
    foldid <- sample(rep(1:4, 15))
    weights <- rep(c(1, 0, 2), 20)
    used <- weights > 0
    cv <- quick_cv(data, foldid = foldid, weights = weights, thresh = 1e-13, keep = TRUE)
    some <- list(x = data$x[used, ], y = data$y[used], graph = data$graph, family = family)
    same <- quick_cv(some, foldid = foldid[used], weights = weights[used], thresh = 1e-13,
                     keep = TRUE)
    expect_equal(cv$grid$lambda1, same$grid$lambda1, tolerance = 1e-10)
    expect_equal(cv$cvm, same$cvm, tolerance = 1e-8)
    expect_equal(cv$cvsd, same$cvsd, tolerance = 1e-8)
    expect_equal(cv$fit.preval[used, ], same$fit.preval, tolerance = 1e-7)
    expect_false(anyNA(cv$fit.preval))
    # nested folds too
    nested <- quick_cv(data, foldid = foldid, weights = weights, nested = TRUE)
    expect_false(anyNA(nested$nested$estimate))
  })
}

test_that("dense, sparse and integer x give the same", {
  withr::local_seed(44)
  data <- cv_problem("binomial")
  data$x <- round(data$x)
  dense <- quick_cv(data, keep = TRUE)
  data$x <- as(data$x, "CsparseMatrix")
  sparse <- quick_cv(data, keep = TRUE)
  expect_equal(sparse$cvm, dense$cvm, tolerance = 1e-6)
  expect_equal(sparse$fit.preval, dense$fit.preval, tolerance = 1e-4)
  data$x <- as.matrix(data$x)
  storage.mode(data$x) <- "integer"
  expect_identical(without_call(quick_cv(data, keep = TRUE)), without_call(dense))
})

test_that("the grid and the full fit are n2gfl()'s", {
  withr::local_seed(45)
  data <- cv_problem("binomial")
  fit <- n2gfl(data$x, data$y, data$graph, family = "binomial", nlambda1 = 5, nlambda2 = 3)
  cv <- cv.n2gfl(data$x, data$y, data$graph, family = "binomial", nlambda1 = 5,
                 lambda2 = unique(fit$grid$lambda2), foldid = rep(1:4, 15))
  both <- setdiff(names(fit), "call")
  expect_identical(unclass(cv$n2gfl.fit)[both], unclass(fit)[both])
  expect_s3_class(cv$n2gfl.fit, "n2gfl")
  expect_s3_class(cv, "n2gfl_cv")
  for (part in c("cvm", "cvsd", "cvup", "cvlo", "nzero", "mdc")) expect_length(cv[[part]], 15)
  expect_identical(dim(cv$es), c(15L, 2L))
  expect_identical(names(cv$index), c("min", "1se", "es", "stable"))
  expect_identical(lapply(cv$fold.fits, function(f) dim(f$beta))[[4]], c(12L, 15L))
  expect_null(cv$fit.preval)
  expect_null(cv$nested)
})

test_that("with a grid that refines itself the full fit is an object like any other", {
  withr::local_seed(45)
  data <- cv_problem("binomial")
  fit <- n2gfl(data$x, data$y, data$graph, family = "binomial", nlambda1 = 5, nlambda2 = 3)
  cv <- cv.n2gfl(data$x, data$y, data$graph, family = "binomial", nlambda1 = 5, nlambda2 = 6,
                 foldid = rep(1:4, 15))
  inside <- cv$n2gfl.fit
  expect_identical(lapply(inside, class), lapply(fit, class))
  expect_identical(lapply(inside$grid, class), lapply(fit$grid, class))
  expect_identical(cv$grid, inside$grid)
  rows <- nrow(cv$grid)
  expect_identical(inside$dim, c(12L, rows))
  names <- paste0("s", seq_len(rows))
  expect_identical(list(names(inside$a0), colnames(inside$beta)), list(names, names))
  parts <- c("cvm", "cvsd", "cvup", "cvlo", "nzero", "mdc")
  expect_identical(unname(lengths(cv[parts])), rep(rows, 6))
  expect_identical(dim(cv$es), c(rows, 2L))
  for (fold in cv$fold.fits) expect_identical(dim(fold$beta), c(12L, rows))
})

test_that("classes in every form give the same object", {
  withr::local_seed(46)
  data <- cv_problem("binomial")
  y <- data$y
  plain <- function(y) {
    cv <- without_call(quick_cv(replace(data, "y", list(y))))
    cv$n2gfl.fit$classnames <- NULL
    cv
  }
  for (form in list(y == 1, 2 * y - 1, c("no", "yes")[y + 1], factor(y, levels = c(0, 5, 1)))) {
    expect_identical(plain(form), plain(y))
  }
})

test_that("one row in the grid, one feature, one class of folds", {
  withr::local_seed(47)
  data <- cv_problem("gaussian")
  cv <- quick_cv(data, lambda1 = 0.1, lambda2 = 0.1, keep = TRUE, nested = TRUE)
  expect_identical(cv$index, c(min = 1L, `1se` = 1L, es = 1L, stable = 1L))
  expect_identical(cv$lambda.es, c(lambda1 = 0.1, lambda2 = 0.1))
  expect_identical(dim(cv$fit.preval), c(60L, 1L))
  expect_equal(unname(as.matrix(cv$nested$estimate)),
               matrix(c(cv$cvm, cv$cvsd), 4, 2, byrow = TRUE))
  expect_null(cv$edge)
  one <- list(x = data$x[, 1, drop = FALSE], y = data$y, graph = graph_chain(1),
              family = "gaussian")
  cv <- quick_cv(one, nlambda2 = 1, lambda2 = NULL)
  expect_false(anyNA(cv$cvm))
  class <- quick_cv(cv_problem("binomial"), lambda1 = 0.1, lambda2 = 0.1, type.measure = "class")
  expect_length(class$cvm, 1)
})

test_that("leave-one-out", {
  withr::local_seed(48)
  for (family in c("gaussian", "binomial")) {
    data <- cv_problem(family, n = 20)
    cv <- quick_cv(data, foldid = NULL, nfolds = 20)
    expect_identical(sort(cv$foldid), 1:20)
    expect_length(cv$fold.fits, 20)
    expect_false(anyNA(cv$cvm))
  }
})

test_that("a column that is constant, or x that is zero, without a fold causes no error", {
  withr::local_seed(49)
  data <- cv_problem("gaussian")
  data$x[-(1:3), 1] <- 0
  foldid <- c(1, 1, 1, rep(2:4, 19))
  expect_folds_deleted(data, foldid, standardize = TRUE)
  data$x[] <- 0
  data$x[1:3, 2] <- 1
  cv <- quick_cv(data, foldid = foldid, nested = TRUE, standardize = TRUE)
  expect_false(anyNA(cv$cvm))
  expect_false(anyNA(cv$nested$estimate))
})

test_that("non-convergence is reported with fold and row, nested ones too", {
  withr::local_seed(50)
  data <- cv_problem("gaussian")
  warnings <- capture_warnings(cv <- quick_cv(data, maxit = 1, thresh = 1e-13, nested = TRUE))
  expect_length(warnings, 3)
  failed <- lapply(cv$fold.fits, function(f) which(!f$converged))
  expect_gt(length(unlist(failed)), 0)
  for (name in names(failed)[lengths(failed) > 0]) {
    rows <- if (length(failed[[name]]) == 1) "row" else "rows"
    expect_match(warnings[2], paste(name, rows, some_numbers(failed[[name]])), fixed = TRUE)
  }
  expect_match(warnings[3], "Fits inside outer folds did not converge: Outer fold [1-4] \\(.*row")
})

test_that("a misspelt or repeated argument does not vanish in the dots", {
  data <- withr::with_seed(51, cv_problem("gaussian"))
  expect_error(cv.n2gfl(data$x, data$y, data$graph, lamda1 = 1), "`lamda1`", fixed = TRUE)
  expect_error(cv.n2gfl(data$x, data$y, data$graph, lambda1 = 1, lambda1 = 2), "more than once")
})

test_that("the call holds no data", {
  data <- withr::with_seed(52, cv_problem("gaussian"))
  cv <- quick_cv(data)
  expect_identical(as.character(cv$call)[1], "cv.n2gfl")
  expect_lt(as.numeric(utils::object.size(cv$call)), 10000)
})

test_that("x is not copied: the peak beyond it stays below half of its size", {
  skip_on_os(c("windows", "mac", "solaris"))
  withr::local_seed(53)
  x <- matrix(rnorm(400 * 27000), 400)
  y <- rowSums(x[, 1:20]) + rnorm(400)
  graph <- graph_grid(c(30, 30, 30))
  gc()
  peak <- peak_memory(cv.n2gfl(x, y, graph, lambda1 = c(0.8, 0.5), lambda2 = 0.1,
                               foldid = rep(1:3, length.out = 400)))
  skip_if(is.na(peak), "the peak of memory cannot be read here")
  expect_lt(peak, 0.5 * as.numeric(object.size(x)))
})
