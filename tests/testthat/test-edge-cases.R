# Corners of the model. Each fit is proved optimal by expect_kkt().

families <- reference_families
signs <- c("nonnegative", "nonpositive", "free")

block_problem <- function(family = "gaussian", sign = "nonnegative", n = 40, rows = 4, cols = 3,
                          graph = graph_grid(c(rows, cols)), ...) {
  d <- rows * cols
  x <- matrix(rnorm(n * d), n, d)
  side <- switch(sign, nonnegative = 1, nonpositive = -1, free = 1)
  eta <- side * drop(x %*% rep(c(1, 0, if (sign == "free") -0.5 else 0.5), each = d / 3))
  reference_problem(x, random_response(family, eta), graph, family = family, sign = sign, ...)
}

remake <- function(p, ...) do.call(reference_problem, modifyList(p$args, list(...)))

expect_optimal_fit <- function(p, lambda1, lambda2, thresh = 1e-9, ...) {
  fit <- fit_problem(p, lambda1, lambda2, thresh = thresh, ...)
  expect_kkt(fit, p, thresh = thresh)
  fit
}

# A gap of 1e-9 allows two solutions a distance of order 3e-5.
expect_same_fit <- function(fit, other, tolerance = 1e-4) {
  expect_equal(unname(as.matrix(other$beta)), unname(as.matrix(fit$beta)), tolerance = tolerance)
  expect_equal(other$a0, fit$a0, tolerance = tolerance)
  expect_equal(other$own, fit$own, tolerance = tolerance)
}

test_that("lambda1 = 0, lambda2 = 0 and both", {
  withr::local_seed(301)
  for (family in families) for (sign in signs) {
    p <- block_problem(family, sign, n = 80)
    unit <- 0.1 * lambda_unit(p)
    expect_optimal_fit(p, 0, unit)
    expect_optimal_fit(p, unit, 0)
    fit <- expect_optimal_fit(p, 0, 0)
    if (sign == "free" && family == "gaussian") {
      expect_equal(unname(c(fit$a0, as.numeric(fit$beta))), unname(coef(lm(p$y ~ p$args$x))),
                   tolerance = 1e-4)
    }
    if (sign == "free" && family == "binomial") {
      truth <- glm((p$y > 0) ~ p$args$x, family = binomial(), epsilon = 1e-12)
      expect_equal(unname(c(fit$a0, as.numeric(fit$beta))), unname(coef(truth)), tolerance = 1e-3)
    }
  }
})

test_that("lambda1 = 0 on a disconnected graph leaves each component's mean free", {
  withr::local_seed(302)
  edges <- edge_list(12, c(1:3, 5:7, 9:11), c(2:4, 6:8, 10:12))
  for (family in families) for (sign in signs) {
    p <- block_problem(family, sign, graph = package_graph(edges))
    huge <- 100 * lambda_unit(p)
    fit <- expect_optimal_fit(p, 0, huge)
    part <- component_labels(edges)
    spread <- tapply(as.numeric(fit$beta), part, function(b) max(b) - min(b))
    expect_lt(max(spread), 1e-10)
    expect_gt(max(abs(fit$beta)), 0.01)
  }
})

test_that("a whole path that ends at lambda1 = 0", {
  withr::local_seed(303)
  p <- block_problem("binomial", "nonnegative")
  unit <- lambda_unit(p)
  expect_optimal_fit(p, unit * c(0.5, 0.1, 0.01, 0), unit * c(0.1, 0.01, 0))
})

test_that("penalty.factor 0 frees a node and Inf excludes it", {
  withr::local_seed(304)
  for (family in families) for (sign in signs) {
    factor <- rep(1, 12)
    factor[c(2, 5)] <- 0
    factor[c(3, 9)] <- Inf
    p <- block_problem(family, sign, penalty.factor = factor)
    unit <- lambda_unit(p)
    fit <- expect_optimal_fit(p, unit * c(10, 0.3, 0.05), unit * c(0.1, 0))
    expect_identical(sum(fit$beta[c(3, 9), ] != 0), 0L)
    expect_gt(sum(fit$beta != 0), 0)
  }
})

test_that("an excluded node stays in the graph with value zero", {
  withr::local_seed(305)
  factor <- c(1, Inf, 1)
  p <- block_problem(rows = 1, graph = graph_chain(3), penalty.factor = factor)
  lambda2 <- 0.2 * lambda_unit(p)
  fit <- expect_optimal_fit(p, 0.01, lambda2)
  # nodes 1 and 3 are joined to a zero: each adds lambda2 |b|
  q <- reference_problem(p$args$x[, c(1, 3)], p$y, graph_edges(integer(0), integer(0), n = 2))
  other <- expect_optimal_fit(q, 0.01 + lambda2, 0)
  expect_equal(as.numeric(fit$beta)[c(1, 3)], as.numeric(other$beta), tolerance = 1e-4)
})

test_that("excluded nodes with lambda1 = 0, for each algorithm and penalty", {
  withr::local_seed(327)
  factor <- replace(rep(1, 12), c(1, 6), Inf)
  for (family in families) for (sign in signs) for (penalty in c("fused", "laplacian")) {
    p <- block_problem(family, sign, n = 80, penalty.factor = factor, penalty = penalty)
    lambda2 <- 0.1 * lambda_unit(p)
    exact <- fit_problem(p, 0, lambda2, thresh = 1e-13)
    expect_kkt(exact, p, thresh = 1e-7)
    # The gap of a fit is a bound: its objective is no more than that above the optimum.
    for (algorithm in c("pursuit", "fista", "ista")) for (thresh in c(1e-4, 1e-7)) {
      fit <- fit_problem(p, 0, lambda2, thresh = thresh, algorithm = algorithm)
      above <- (fit_objective(p, fit) - fit_objective(p, exact)) / null_objective(p)
      expect_lte(fit$grid$gap, thresh)
      expect_lte(above, fit$grid$gap + 1e-13)
      expect_identical(sum(fit$beta[c(1, 6), ] != 0), 0L)
      expect_gt(sum(fit$beta != 0), 0)
    }
  }
})

test_that("all penalty factors zero is lambda1 = 0", {
  withr::local_seed(306)
  for (sign in signs) {
    p <- block_problem(sign = sign, penalty.factor = rep(0, 12))
    fit <- expect_optimal_fit(p, 0.3, 0.05)
    other <- expect_optimal_fit(remake(p, penalty.factor = rep(1, 12)), 0, 0.05)
    expect_same_fit(fit, other)
  }
})

test_that("a disconnected and an empty graph", {
  withr::local_seed(307)
  apart <- graph_edges(c(1, 2, 7), c(2, 3, 9), c(1, 2, 0.5), n = 12)
  empty <- graph_edges(integer(0), integer(0), n = 12)
  for (family in families) for (sign in signs) {
    p <- block_problem(family, sign, graph = apart)
    unit <- lambda_unit(p)
    expect_optimal_fit(p, unit * c(0.3, 0.05), unit * c(0.5, 0.05))
    q <- remake(p, graph = empty)
    lone <- expect_optimal_fit(q, unit * c(0.3, 0.05), 0.1 * unit)
    lasso <- expect_optimal_fit(q, unit * c(0.3, 0.05), 0)
    expect_same_fit(lone, lasso)
  }
})

test_that("duplicated columns, fused and not", {
  withr::local_seed(308)
  for (family in families) for (sign in signs) {
    p <- block_problem(family, sign)
    x <- p$args$x
    x[, 7:12] <- x[, 1:6]
    p <- remake(p, x = x)
    unit <- lambda_unit(p)
    expect_optimal_fit(p, unit * c(0.3, 0.05), unit * c(0.1, 0))
  }
})

test_that("a constant column, with and without intercept", {
  withr::local_seed(309)
  for (family in families) for (sign in signs) {
    p <- block_problem(family, sign)
    x <- p$args$x
    x[, 5] <- 2
    p <- remake(p, x = x)
    unit <- lambda_unit(p)
    expect_optimal_fit(p, unit * c(0.3, 0.05), unit * c(0.1, 0.02))
    expect_optimal_fit(remake(p, intercept = FALSE), unit * c(0.3, 0.05), unit * c(0.1, 0.02))
  }
})

test_that("only its neighbours determine the coefficient of a column of zeros", {
  withr::local_seed(310)
  p <- block_problem()
  x <- p$args$x
  x[, 2] <- 0
  p <- remake(p, x = x)
  unit <- lambda_unit(p)
  lasso <- expect_optimal_fit(p, 0.1 * unit, 0)
  expect_identical(unname(lasso$beta[2, 1]), 0)
  fused <- expect_optimal_fit(p, 0.02 * unit, 0.5 * unit)
  expect_gt(fused$beta[2, 1], 0)
})

test_that("fewer observations than features", {
  withr::local_seed(311)
  for (family in families) for (sign in signs) {
    p <- block_problem(family, sign, n = 20, rows = 9, cols = 9)
    unit <- lambda_unit(p)
    expect_optimal_fit(p, unit * c(0.5, 0.1, 0.02), unit * c(0.1, 0.01))
  }
})

test_that("a single feature", {
  withr::local_seed(312)
  x <- matrix(rnorm(30))
  y <- 1 + 0.5 * x[, 1] + rnorm(30)
  p <- reference_problem(x, y, graph_chain(1))
  fit <- expect_optimal_fit(p, 0.1, 0.1)
  slope <- max(mean((x - mean(x)) * y) - 0.1, 0) / mean((x - mean(x))^2)
  expect_equal(as.numeric(fit$beta), slope, tolerance = 1e-4)
  expect_identical(dim(fit$beta), c(1L, 1L))
  q <- remake(p, y = random_classes(x[, 1]), family = "binomial", sign = "free")
  expect_optimal_fit(q, lambda_unit(q) * c(0.5, 0.1), 0.1)
})

test_that("two observations", {
  withr::local_seed(313)
  x <- matrix(rnorm(12), 2)
  p <- reference_problem(x, c(0, 1), graph_chain(6))
  expect_optimal_fit(p, 0.1 * lambda_unit(p), 0.1 * lambda_unit(p))
  q <- reference_problem(x, c(0, 1), graph_chain(6), family = "binomial")
  expect_optimal_fit(q, 0.1 * lambda_unit(q), 0.1 * lambda_unit(q))
})

test_that("perfect separation with a small lambda stops, and reports its gap", {
  withr::local_seed(314)
  x <- matrix(rnorm(40 * 12), 40)
  y <- as.numeric(x[, 1] + x[, 2] > 0)
  for (sign in c("nonnegative", "free")) {
    p <- reference_problem(x, y, graph_grid(c(4, 3)), family = "binomial", sign = sign)
    lambda <- 1e-4 * lambda_unit(p)
    fit <- suppressWarnings(fit_problem(p, lambda, lambda))
    expect_true(is.finite(fit$grid$gap))
    expect_identical(fit$grid$converged, fit$grid$gap <= 1e-6)
    report <- kkt_report(p, fit_row(fit, 1))
    expect_lte(report[["gap"]], max(1e-6, 2 * fit$grid$gap))
    none <- suppressWarnings(fit_problem(p, 0, 0, maxit = 200))
    expect_true(is.finite(none$grid$gap) && all(is.finite(none$beta@x)))
    expect_identical(none$grid$converged, none$grid$gap <= 1e-6)
  }
})

test_that("a sparse x gives the same as a dense one", {
  withr::local_seed(315)
  for (family in families) for (sign in signs) {
    p <- block_problem(family, sign, n = 50)
    x <- p$args$x * (runif(length(p$args$x)) < 0.3)
    p <- remake(p, x = x)
    q <- remake(p, x = methods::as(Matrix::Matrix(x, sparse = TRUE), "generalMatrix"))
    expect_s4_class(q$args$x, "dgCMatrix")
    lambda <- lambda_unit(p) * c(0.3, 0.05, 0.1, 0)
    for (standardize in c(FALSE, TRUE)) {
      dense <- expect_optimal_fit(remake(p, standardize = standardize), lambda[1:2], lambda[3:4])
      sparse <- expect_optimal_fit(remake(q, standardize = standardize), lambda[1:2], lambda[3:4])
      expect_same_fit(dense, sparse)
    }
  }
})

test_that("integer and logical x are numbers", {
  withr::local_seed(316)
  p <- block_problem()
  x <- matrix(rpois(40 * 12, 2), 40)
  storage.mode(x) <- "integer"
  unit <- lambda_unit(remake(p, x = x))
  whole <- expect_optimal_fit(remake(p, x = x), 0.1 * unit, 0.05 * unit)
  real <- expect_optimal_fit(remake(p, x = x + 0), 0.1 * unit, 0.05 * unit)
  expect_identical(as.matrix(whole$beta), as.matrix(real$beta))
  yes <- expect_optimal_fit(remake(p, x = x > 1), 0.1 * unit, 0.05 * unit)
  one <- expect_optimal_fit(remake(p, x = (x > 1) + 0), 0.1 * unit, 0.05 * unit)
  expect_identical(as.matrix(yes$beta), as.matrix(one$beta))
})

test_that("whole weights are repeated rows, and weight 0 drops a row", {
  withr::local_seed(317)
  for (family in families) for (sign in signs) for (standardize in c(FALSE, TRUE)) {
    p <- block_problem(family, sign, covariates = matrix(rnorm(40)), offset = rnorm(40) / 3,
                       standardize = standardize)
    w <- sample(0:3, 40, TRUE)
    rows <- rep(1:40, w)
    weighted <- remake(p, weights = w)
    repeated <- remake(p, x = p$args$x[rows, ], y = rows_of(p$args$y, rows),
                       offset = p$args$offset[rows],
                       covariates = p$args$covariates[rows, , drop = FALSE])
    unit <- lambda_unit(repeated)
    one <- expect_optimal_fit(weighted, unit * c(0.3, 0.05), 0.05 * unit)
    two <- expect_optimal_fit(repeated, unit * c(0.3, 0.05), 0.05 * unit)
    expect_same_fit(one, two)
    expect_equal(as.numeric(one$gamma), as.numeric(two$gamma), tolerance = 1e-4)
    expect_equal(fit_objective(weighted, one), fit_objective(repeated, two), tolerance = 1e-8)
    expect_equal(one$grid$dev.ratio, two$grid$dev.ratio, tolerance = 1e-4)
  }
})

test_that("an offset is a part of the model that is known", {
  withr::local_seed(318)
  p <- block_problem("gaussian")
  o <- rnorm(40)
  unit <- lambda_unit(remake(p, offset = o))
  one <- expect_optimal_fit(remake(p, offset = o), 0.1 * unit, 0.05 * unit)
  two <- expect_optimal_fit(remake(p, y = p$y - o), 0.1 * unit, 0.05 * unit)
  expect_same_fit(one, two)
  q <- block_problem("binomial")
  shift <- expect_optimal_fit(remake(q, offset = rep(2, 40)), 0.1 * unit, 0.05 * unit)
  none <- expect_optimal_fit(q, 0.1 * unit, 0.05 * unit)
  expect_equal(shift$a0, none$a0 - 2, tolerance = 1e-4)
  expect_equal(as.numeric(shift$beta), as.numeric(none$beta), tolerance = 1e-4)
})

test_that("without intercept a0 is zero", {
  withr::local_seed(319)
  for (family in families) for (sign in signs) {
    p <- block_problem(family, sign, intercept = FALSE, covariates = matrix(rnorm(80), 40))
    unit <- lambda_unit(p)
    fit <- expect_optimal_fit(p, unit * c(0.3, 0.05), 0.05 * unit)
    expect_identical(unname(fit$a0), c(0, 0))
  }
})

test_that("x far from zero: the intercept is still found", {
  withr::local_seed(320)
  for (family in families) for (sign in signs) {
    p <- block_problem(family, sign)
    q <- remake(p, x = p$args$x + 1000)
    unit <- lambda_unit(p)
    near <- expect_optimal_fit(p, unit * c(0.3, 0.05), 0.05 * unit)
    far <- expect_optimal_fit(q, unit * c(0.3, 0.05), 0.05 * unit)
    expect_equal(as.numeric(far$beta), as.numeric(near$beta), tolerance = 1e-4)
  }
})

test_that("standardize = TRUE is a fit of scaled columns, given back in the old units", {
  withr::local_seed(321)
  for (family in families) for (sign in signs) {
    w <- runif(40, 0.3, 2)
    p <- block_problem(family, sign, weights = w)
    x <- sweep(p$args$x, 2, 10^runif(12, -1, 1), "*")
    scaled <- remake(p, x = x, standardize = TRUE)
    by_hand <- remake(p, x = sweep(x, 2, scaled$scale, "/"))
    unit <- lambda_unit(by_hand)
    one <- expect_optimal_fit(scaled, unit * c(0.3, 0.05), 0.05 * unit)
    two <- expect_optimal_fit(by_hand, unit * c(0.3, 0.05), 0.05 * unit)
    expect_equal(as.matrix(one$beta) * scaled$scale, as.matrix(two$beta), tolerance = 1e-4)
  }
})

test_that("y as 0/1, -1/1, logical and factor mean the same", {
  withr::local_seed(322)
  p <- block_problem("binomial", "free")
  unit <- lambda_unit(p)
  base <- expect_optimal_fit(p, 0.1 * unit, 0.05 * unit)
  y <- p$args$y
  for (other in list(2 * y - 1, y == 1, factor(y, 0:1, c("a", "b")), as.integer(y))) {
    fit <- expect_optimal_fit(remake(p, y = other), 0.1 * unit, 0.05 * unit)
    expect_identical(as.matrix(fit$beta), as.matrix(base$beta))
    expect_identical(fit$a0, base$a0)
  }
})

test_that("mirrored data give the mirrored fit", {
  withr::local_seed(323)
  for (family in families) {
    p <- block_problem(family, "nonnegative")
    unit <- lambda_unit(p)
    plus <- expect_optimal_fit(p, unit * c(0.3, 0.05), 0.05 * unit)
    q <- remake(p, x = -p$args$x, sign = "nonpositive")
    minus <- expect_optimal_fit(q, unit * c(0.3, 0.05), 0.05 * unit)
    expect_equal(-as.matrix(minus$beta), as.matrix(plus$beta), tolerance = 1e-4)
  }
})

test_that("the order of features does not matter", {
  withr::local_seed(324)
  edges <- random_edges(12, 0.3)
  for (family in families) for (sign in signs) {
    p <- block_problem(family, sign, graph = package_graph(edges))
    new <- sample(12)
    moved <- edge_list(12, new[edges$from], new[edges$to], edges$weight)
    q <- remake(p, x = p$args$x[, order(new)], graph = package_graph(moved))
    unit <- lambda_unit(p)
    one <- expect_optimal_fit(p, unit * c(0.3, 0.05), 0.05 * unit)
    two <- expect_optimal_fit(q, unit * c(0.3, 0.05), 0.05 * unit)
    expect_equal(as.matrix(two$beta)[new, ], as.matrix(one$beta), tolerance = 1e-4)
  }
})

test_that("df, regions and nonzero count what is in beta", {
  withr::local_seed(325)
  p <- block_problem("gaussian", "free", rows = 9, cols = 9)
  unit <- lambda_unit(p)
  fit <- expect_optimal_fit(p, unit * c(0.5, 0.2, 0.05), unit * c(0.2, 0.05))
  for (row in seq_len(nrow(fit$grid))) {
    b <- as.numeric(fit$beta[, row])
    same <- b[p$graph$from] == b[p$graph$to]
    pieces <- component_labels(p$graph, same)
    expect_equal(fit$grid$df[row], length(unique(pieces[b != 0])))
    expect_equal(fit$grid$nonzero[row], sum(b != 0))
  }
})

test_that("deviance ratios follow from the coefficients", {
  withr::local_seed(326)
  for (family in families) {
    p <- block_problem(family, weights = runif(40, 0.5, 2))
    unit <- lambda_unit(p)
    fit <- expect_optimal_fit(p, unit * c(0.3, 0.05), 0.05 * unit)
    loss <- vapply(1:2, function(k) {
      row <- fit_row(fit, k)
      loss_value(p, linear_predictor(p, fit_free(p, row), row$beta))
    }, numeric(1))
    expect_equal(fit$grid$dev.ratio, 1 - loss / null_objective(p), tolerance = 1e-8)
    expect_equal(fit$nulldev, 2 * 40 * null_objective(p), tolerance = 1e-8)
  }
})
