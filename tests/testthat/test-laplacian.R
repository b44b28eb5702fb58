# The quadratic graph penalty against dense programs.

test_that("squared error agrees with quadprog, for the three signs", {
  skip_if_not_installed("quadprog")
  withr::local_seed(261)
  for (sign in c("nonnegative", "nonpositive", "free")) for (k in 1:8) {
    p <- random_problem("gaussian", sign, n = 30, d = if (sign == "free") 5 else 10,
                        penalty = "laplacian")
    if (any(p$u == Inf)) {
      p$args$penalty.factor[p$u == Inf] <- 1
      p <- do.call(reference_problem, p$args)
    }
    lambda <- lambda_unit(p) * c(10^runif(1, -2, -0.3), 10^runif(1, -2, 1))
    truth <- laplacian_program(p, lambda[1], lambda[2])
    fit <- fit_problem(p, lambda[1], lambda[2], thresh = 1e-10)
    expect_kkt(fit, p, thresh = 1e-10)
    difference <- abs(fit_objective(p, fit) - truth$objective) / null_objective(p)
    expect_lte(difference, 1e-9)
  }
})

test_that("a stiff penalty is solved as well as a soft one", {
  withr::local_seed(266)
  for (family in reference_families) for (sign in c("nonnegative", "nonpositive", "free")) {
    for (k in 1:5) {
      p <- random_problem(family, sign, n = 40, d = 10, penalty = "laplacian")
      unit <- lambda_unit(p)
      fit <- fit_problem(p, unit * c(0.3, 0.03), unit * c(100, 10, 1), thresh = 1e-9)
      expect_kkt(fit, p, thresh = 1e-9)
    }
  }
})

test_that("without lambda1 and signs it is a linear system", {
  withr::local_seed(262)
  x <- matrix(rnorm(40 * 12), 40)
  y <- rnorm(40)
  edges <- grid_edges(4, 3)
  p <- reference_problem(x, y, graph_grid(c(4, 3)), sign = "free", penalty = "laplacian")
  fit <- fit_problem(p, 0, 0.3, thresh = 1e-11)
  expect_kkt(fit, p, thresh = 1e-11)
  centred <- scale(x, scale = FALSE)
  system <- crossprod(centred) / 40 + 2 * 0.3 * crossprod(incidence(edges))
  expect_equal(as.numeric(fit$beta), solve(system, drop(crossprod(centred, y)) / 40),
               tolerance = 1e-5)
})

test_that("random problems agree with a conic solver", {
  skip_if_not_installed("ECOSolveR")
  withr::local_seed(263)
  for (family in reference_families) for (sign in c("nonnegative", "nonpositive", "free")) {
    for (k in 1:6) {
      p <- random_problem(family, sign, penalty = "laplacian")
      lambda <- lambda_unit(p) * c(10^runif(1, -2, 0), 10^runif(1, -2.5, 0))
      truth <- ecos_fit(p, lambda[1], lambda[2])
      fit <- fit_problem(p, lambda[1], lambda[2], thresh = 1e-9)
      expect_kkt(fit, p, thresh = 1e-9)
      difference <- (fit_objective(p, fit) - truth$objective) / null_objective(p)
      expect_lte(difference, 2e-9)
      expect_gte(difference, -1e-5)
    }
  }
})

test_that("lambda2 = 0 is the lasso for both penalties", {
  withr::local_seed(264)
  p <- random_problem("binomial", "nonnegative", extras = FALSE)
  lambda1 <- lambda_unit(p) * c(0.5, 0.1)
  fused <- fit_problem(p, lambda1, 0, thresh = 1e-10)
  q <- do.call(reference_problem, modifyList(p$args, list(penalty = "laplacian")))
  smooth <- fit_problem(q, lambda1, 0, thresh = 1e-10)
  expect_kkt(fused, p, thresh = 1e-10)
  expect_kkt(smooth, q, thresh = 1e-10)
  expect_equal(fit_objective(q, smooth), fit_objective(p, fused), tolerance = 1e-9)
})

test_that("df counts nonzero coefficients", {
  withr::local_seed(265)
  p <- random_problem("gaussian", "nonnegative", penalty = "laplacian", extras = FALSE)
  fit <- fit_problem(p, lambda_unit(p) * c(0.5, 0.1), 0.1)
  expect_kkt(fit, p)
  expect_equal(fit$grid$df, Matrix::colSums(fit$beta != 0), ignore_attr = TRUE)
})
