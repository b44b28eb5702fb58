# x is used without a copy. It has 86 MB, so that a copy would show.

make_wide <- function(n = 400) {
  x <- matrix(rnorm(n * 27000), n)
  list(x = x, y = rowSums(x[, 1:20]) + rnorm(n), graph = graph_grid(c(30, 30, 30)))
}

test_that("R makes no copy of x", {
  skip_if_not(capabilities("profmem"), "R without memory profiling")
  withr::local_seed(331)
  wide <- make_wide()
  log <- withr::local_tempfile()
  utils::Rprofmem(log, threshold = as.numeric(object.size(wide$x)) / 2)
  fit <- n2gfl(wide$x, wide$y, wide$graph, lambda1 = 0.5, lambda2 = 0.1)
  utils::Rprofmem(NULL)
  lines <- readLines(log)
  expect_identical(grep("^[0-9]+ ?:", lines, value = TRUE), character(0))
  expect_true(fit$grid$converged)
})

test_that("the core makes no copy of x: the peak beyond it stays below half of its size", {
  skip_on_os(c("windows", "mac", "solaris"))
  withr::local_seed(332)
  wide <- make_wide()
  gc()
  for (algorithm in c("pursuit", "fista")) {
    peak <- peak_memory(n2gfl(wide$x, wide$y, wide$graph, lambda1 = c(0.8, 0.5), lambda2 = 0.1,
                              algorithm = algorithm))
    skip_if(is.na(peak), "the peak of memory cannot be read here")
    expect_lt(peak, 0.5 * as.numeric(object.size(wide$x)))
  }
})

test_that("x and y are not changed", {
  withr::local_seed(333)
  x <- matrix(rnorm(200), 20)
  y <- rnorm(20)
  keep <- list(x = x + 0, y = y + 0)
  for (standardize in c(FALSE, TRUE)) n2gfl(x, y, graph_chain(10), standardize = standardize)
  expect_identical(list(x = x, y = y), keep)
})

test_that("a fit does not change the state of the random numbers", {
  withr::local_seed(334)
  x <- matrix(rnorm(200), 20)
  y <- rnorm(20)
  state <- .Random.seed
  n2gfl(x, y, graph_chain(10))
  fused_prox(y, graph_chain(20), 0.1, 0.1)
  expect_identical(.Random.seed, state)
})
