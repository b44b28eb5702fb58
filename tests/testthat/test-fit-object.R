# The fitted object: its parts, their names and shapes, and what the input may look like.

example_data <- function(n = 30, d = 8) {
  withr::local_seed(1)
  x <- matrix(rnorm(n * d), n, d)
  list(x = x, y = rowSums(x[, 3:5]) + rnorm(n), class = sign(rowSums(x[, 3:5]) + rnorm(n)),
       graph = graph_chain(d))
}

without_call <- function(fit) fit[setdiff(names(fit), c("call", "classnames"))]

test_that("a fit has the parts that its help page lists", {
  p <- example_data()
  fit <- n2gfl(p$x, p$y, p$graph, lambda1 = c(0.5, 0.1, 0.02), lambda2 = c(0.2, 0.05))
  expect_s3_class(fit, "n2gfl")
  expect_named(fit, c("a0", "gamma", "beta", "grid", "nulldev", "npasses", "nobs", "rows",
                      "dim", "classnames", "family", "sign", "penalty", "penalty.factor", "control",
                      "offset", "weighted", "call", "graph", "space", "coding", "deconfound",
                      "scale", "harmonize"))
  expect_gte(fit$npasses, 1)  # the null fit's gradient
  expect_s4_class(fit$beta, "dgCMatrix")
  expect_identical(dim(fit$beta), c(8L, 6L))
  expect_identical(fit$dim, c(8L, 6L))
  expect_identical(colnames(fit$beta), paste0("s", 1:6))
  expect_null(rownames(fit$beta))
  expect_named(fit$a0, paste0("s", 1:6))
  expect_null(fit$gamma)
  expect_named(fit$grid, c("lambda1", "lambda2", "df", "regions", "nonzero", "dev.ratio", "gap",
                           "iter", "converged"))
  expect_identical(fit$grid$lambda1, rep(c(0.5, 0.1, 0.02), 2))
  expect_identical(fit$grid$lambda2, rep(c(0.2, 0.05), each = 3))
  expect_identical(as.integer(fit$grid$nonzero), diff(fit$beta@p))
  expect_true(all(fit$grid$converged))
  expect_true(all(fit$grid$gap <= 1e-6))
  expect_identical(fit$nobs, 30L)
  expect_identical(fit$penalty.factor, rep(1, 8))
  expect_identical(fit$graph, p$graph)
  expect_false(fit$offset)
  expect_false(fit$weighted)
})

test_that("sequences are made when none are given", {
  p <- example_data()
  fit <- n2gfl(p$x, p$y, p$graph, nlambda1 = 4, nlambda2 = 3, lambda.min.ratio = 0.1)
  expect_identical(nrow(fit$grid), 12L)
  expect_false(is.unsorted(-fit$grid$lambda2))
  for (lambda2 in unique(fit$grid$lambda2)) {
    lambda1 <- fit$grid$lambda1[fit$grid$lambda2 == lambda2]
    expect_equal(lambda1[1], lambda_max(p$x, p$y, p$graph, lambda2), tolerance = 1e-9)
    expect_equal(lambda1[4] / lambda1[1], 0.1, tolerance = 1e-9)
    expect_true(all(diff(lambda1) < 0))
  }
})

test_that("names come from x and covariates", {
  p <- example_data()
  x <- `colnames<-`(p$x, letters[1:8])
  z <- cbind(age = p$x[, 1]^2, size = seq_len(30))
  fit <- n2gfl(x, p$y, p$graph, lambda1 = 0.1, lambda2 = 0.1, covariates = z)
  expect_identical(rownames(fit$beta), letters[1:8])
  expect_identical(dimnames(fit$gamma), list(c("age", "size"), "s1"))
  unnamed <- n2gfl(x, p$y, p$graph, lambda1 = 0.1, lambda2 = 0.1, covariates = unname(z))
  expect_identical(rownames(unnamed$gamma), c("Z1", "Z2"))
  expect_identical(unname(unnamed$gamma), unname(fit$gamma))
})

test_that("all ways to write two classes give the same fit", {
  p <- example_data()
  fit <- function(y) n2gfl(p$x, y, p$graph, "binomial", lambda1 = 0.05, lambda2 = 0.02)
  reference <- fit(p$class)
  expect_identical(reference$classnames, c("-1", "1"))
  ways <- list(
    (p$class + 1) / 2, as.integer((p$class + 1) / 2), p$class > 0, cbind(p$class),
    factor(p$class), factor(ifelse(p$class > 0, "a", "b"), levels = c("b", "a")),
    factor(p$class, levels = c(-5, -1, 0, 1, 5)), ifelse(p$class > 0, "yes", "no"), p$class + 7
  )
  for (y in ways) expect_identical(without_call(fit(y)), without_call(reference))
  expect_identical(fit(ways[[6]])$classnames, c("b", "a"))
  expect_identical(fit(ways[[3]])$classnames, c("FALSE", "TRUE"))
  expect_identical(fit(ways[[7]])$classnames, c("-1", "1"))
})

test_that("modelling the first class instead of the second mirrors the fit", {
  p <- example_data()
  one <- n2gfl(p$x, p$class, p$graph, "binomial", lambda1 = 0.05, lambda2 = 0.02, thresh = 1e-8)
  two <- n2gfl(p$x, -p$class, p$graph, "binomial", "nonpositive", lambda1 = 0.05, lambda2 = 0.02,
               thresh = 1e-8)
  expect_equal(as.matrix(one$beta), -as.matrix(two$beta), tolerance = 1e-4)
})

test_that("every class of matrix gives the same fit", {
  p <- example_data()
  x <- round(p$x)
  fit <- function(x) n2gfl(x, p$y, p$graph, lambda1 = 0.05, lambda2 = 0.02, thresh = 1e-10)
  reference <- fit(x)
  whole <- matrix(as.integer(x), nrow(x))
  expect_identical(without_call(fit(whole)), without_call(reference))
  sparse <- Matrix::Matrix(x, sparse = TRUE)
  same <- list(sparse, as(sparse, "TsparseMatrix"), as(sparse, "RsparseMatrix"),
               Matrix::Matrix(x, sparse = FALSE))
  for (other in same) {
    expect_equal(as.matrix(fit(other)$beta), as.matrix(reference$beta), tolerance = 1e-5)
  }
  yes <- fit(x > 0)
  expect_equal(as.matrix(yes$beta), as.matrix(fit((x > 0) + 0)$beta), tolerance = 1e-12)
  expect_equal(as.matrix(fit(Matrix::Matrix(x > 0, sparse = TRUE))$beta), as.matrix(yes$beta),
               tolerance = 1e-5)
})

test_that("a double matrix is not copied", {
  skip_if_not(capabilities("profmem"))
  p <- example_data()
  x <- p$x
  tracemem(x)
  withr::defer(untracemem(x))
  copies <- capture.output(
    fit <- n2gfl(x, p$y, p$graph, lambda1 = 0.1, lambda2 = 0.1)
  )
  expect_identical(copies, character(0))
  expect_identical(fit$dim, c(8L, 1L))
})

test_that("check_matrix returns the object that it was given", {
  p <- example_data()
  address <- function(object) sub(" .*", "", capture.output(.Internal(inspect(object)))[1])
  expect_identical(address(check_matrix(p$x, "x")), address(p$x))
  sparse <- as(Matrix::Matrix(round(p$x), sparse = TRUE), "generalMatrix")
  expect_identical(address(check_matrix(sparse, "x")@x), address(sparse@x))
})

test_that("graphs of other classes are converted", {
  p <- example_data()
  dense <- as.matrix(abs(outer(1:8, 1:8, "-")) == 1) + 0
  fit <- function(graph) n2gfl(p$x, p$y, graph, lambda1 = 0.05, lambda2 = 0.02)$beta
  expect_identical(fit(dense), fit(p$graph))
  expect_identical(fit(Matrix::Matrix(dense, sparse = TRUE)), fit(p$graph))
  expect_equal(lambda_max(p$x, p$y, dense, 0.1), lambda_max(p$x, p$y, p$graph, 0.1))
  skip_if_not_installed("igraph")
  expect_identical(fit(igraph::make_lattice(8)), fit(p$graph))
})

test_that("weights count relative to their mean, whole weights as repeated rows", {
  p <- example_data()
  w <- rep(c(1, 2, 0), 10)
  fit <- function(x, y, w = NULL) {
    n2gfl(x, y, p$graph, weights = w, lambda1 = 0.05, lambda2 = 0.02, thresh = 1e-10)
  }
  one <- fit(p$x, p$y, w)
  expect_equal(fit(p$x, p$y, 1000 * w)$beta, one$beta, tolerance = 1e-10)
  rows <- rep(seq_len(30), w)
  expect_equal(as.matrix(fit(p$x[rows, ], p$y[rows])$beta), as.matrix(one$beta), tolerance = 1e-4)
  expect_true(one$weighted)
})

test_that("small problems are fine: one feature, two rows, a constant column", {
  one <- n2gfl(cbind(c(1, 2, 4)), c(1, 2, 5), graph_chain(1), lambda1 = 0.1, lambda2 = 0.1)
  expect_identical(dim(one$beta), c(1L, 1L))
  expect_gt(one$beta[1, 1], 0)
  two <- n2gfl(rbind(c(0, 1), c(1, 2)), c(0, 1), graph_chain(2), lambda1 = 0.01, lambda2 = 0.01)
  expect_identical(dim(two$beta), c(2L, 1L))
  p <- example_data()
  x <- replace(p$x, 1:30, 3)
  plain <- n2gfl(x, p$y, p$graph, lambda1 = 0.05, lambda2 = 0)
  expect_true(all(is.finite(plain$beta@x)))
  expect_identical(plain$beta[1, 1][[1]], 0)
})

test_that("a constant column has coefficient 0 with standardize = TRUE", {
  p <- example_data()
  for (value in c(0, 3)) {
    fit <- n2gfl(replace(p$x, 61:90, value), p$y, p$graph, lambda1 = 0.05, lambda2 = 0.02,
                 standardize = TRUE)
    expect_identical(fit$beta[3, 1][[1]], 0)
    expect_true(all(is.finite(fit$beta@x)))
    expect_true(any(fit$beta@x != 0))
  }
})

test_that("penalty.factor Inf fixes a coefficient at zero", {
  p <- example_data()
  fit <- n2gfl(p$x, p$y, p$graph, lambda1 = 0.01, lambda2 = 0.01,
               penalty.factor = c(1, 1, 1, Inf, 1, 1, 1, 1))
  expect_identical(fit$beta[4, 1][[1]], 0)
  expect_gt(fit$grid$nonzero, 0)
})

test_that("the call holds names, not data", {
  p <- example_data()
  fit <- n2gfl(p$x, p$y, p$graph, lambda1 = 0.1, lambda2 = 0.1)
  expect_identical(fit$call, quote(n2gfl(x = p$x, y = p$y, graph = p$graph, lambda1 = 0.1,
                                         lambda2 = 0.1)))
  fit <- do.call(n2gfl, list(p$x, p$y, p$graph, lambda1 = 0.1, lambda2 = 0.1))
  expect_identical(fit$call, quote(n2gfl(x = x, y = y, graph = graph, lambda1 = 0.1,
                                         lambda2 = 0.1)))
})

test_that("a warning names the rows that did not converge, and their gaps", {
  p <- example_data()
  expect_warning(
    fit <- n2gfl(p$x, p$y, p$graph, lambda1 = c(0.1, 0.01), lambda2 = 0.1, algorithm = "ista",
                 maxit = 1, thresh = 1e-12),
    paste("did not converge to `thresh` = [0-9.e-]+ within `maxit` = 1 iterations:",
          "row 1 \\(gap [0-9.e-]+\\)")
  )
  expect_false(all(fit$grid$converged))
  expect_output(print(fit), "did not converge, largest gap")
  control <- function(maxit) list(family = "gaussian", thresh = 1e-6, maxit = maxit)
  fits <- list(lambda1 = rep(0, 12), converged = rep(FALSE, 12), gap = rep(0.25, 12))
  expect_warning(warn_not_converged(fits, control(7)),
                 "row 10 (gap 0.25) and 2 more, see `grid`.", fixed = TRUE)
  fits <- list(lambda1 = 3:1, converged = c(TRUE, FALSE, TRUE), gap = c(0, 0.012345, 0))
  expect_warning(
    warn_not_converged(fits, control(10000)),
    paste("1 of 3 fits did not converge to `thresh` = 1e-06 within `maxit` = 10000 iterations:",
          "row 2 (gap 0.012)."),
    fixed = TRUE
  )
  expect_silent(warn_not_converged(list(converged = c(TRUE, TRUE), gap = c(0, 0)), list()))
})

test_that("perfect separation with a small penalty stops, and reports its gap", {
  x <- cbind(c(-2, -1, 1, 2), c(1, 0, 0, 1))
  warned <- FALSE
  fit <- withCallingHandlers(
    n2gfl(x, c(0, 0, 1, 1), graph_chain(2), "binomial", lambda1 = 1e-6, lambda2 = 1e-6),
    warning = function(w) {
      warned <<- TRUE
      invokeRestart("muffleWarning")
    }
  )
  expect_true(is.finite(fit$grid$gap))
  expect_identical(warned, !fit$grid$converged)
  expect_true(all(is.finite(fit$beta@x)))
})

test_that("the progress bar names the running row, and is silent by default", {
  p <- example_data()
  shown <- character()
  withCallingHandlers(
    n2gfl(p$x, p$y, p$graph, lambda1 = c(0.2, 0.1), lambda2 = c(0.1, 0.05), trace.it = 1),
    message = function(m) {
      shown <<- c(shown, conditionMessage(m))
      invokeRestart("muffleMessage")
    }
  )
  expect_length(shown, 4)
  expect_match(shown[3], "| row 3 of 4  lambda1 0.2 lambda2 0.05", fixed = TRUE)
  expect_silent(n2gfl(p$x, p$y, p$graph, lambda1 = 0.2, lambda2 = 0.1))
})

test_that("print shows the model and the table, shortened if it is long", {
  fit <- structure(
    list(grid = data.frame(lambda1 = 0.5^(1:50), lambda2 = 0.1, df = 1:50, regions = 1:50,
                           nonzero = 2 * (1:50), dev.ratio = (1:50) / 50, gap = 1e-7, iter = 3L,
                           converged = rep(c(TRUE, FALSE), c(49, 1))),
         nobs = 20L, dim = c(100L, 50L), classnames = c("ill", "well"), family = "binomial",
         sign = "nonnegative", penalty = "fused", gamma = matrix(0, 1, 50),
         call = quote(n2gfl(x = x, y = y, graph = g, family = "binomial"))),
    class = "n2gfl"
  )
  expect_snapshot(print(fit, rows = 6))
  expect_identical(sum(grepl("^[0-9]+ ", capture.output(print(fit)))), 40L + 1L)
  expect_identical(sum(grepl("^[0-9]+ ", capture.output(print(fit, rows = Inf)))), 50L + 1L)
  shown <- capture.output(value <- withVisible(print(fit)))
  expect_identical(value, list(value = fit, visible = FALSE))
})
