# Problems and shorthands for the tests of cross-validation.

# A chain of features, the first few of which matter; `family` decides what y is.
cv_problem <- function(family = "gaussian", n = 60, d = 12) {
  x <- matrix(stats::rnorm(n * d), n, d)
  eta <- rowSums(x[, 1:4]) - rowSums(x[, d - 0:1])
  y <- family_response(family, eta)
  list(x = x, y = y, graph = graph_chain(d), family = family)
}

# A short grid, so that a test takes milliseconds.
quick_cv <- function(data, ...) {
  given <- utils::modifyList(
    list(x = data$x, y = data$y, graph = data$graph, family = data$family, nlambda1 = 4,
         lambda2 = c(0.1, 0.01), foldid = rep(1:4, length.out = nrow(data$x))),
    list(...), keep.null = TRUE)
  do.call(cv.n2gfl, given)
}

# cv objects without the call, for comparing objects that were made by different calls.
without_call <- function(cv) {
  cv$call <- cv$n2gfl.fit$call <- NULL
  cv
}

# Checks that an expression does not change the random numbers of the session.
expect_seed_kept <- function(code) {
  before <- get0(".Random.seed", globalenv())
  force(code)
  testthat::expect_identical(get0(".Random.seed", globalenv()), before)
}
