# Identities, definitions written out, and the edges of the measures.

measure_names <- function(panel) setdiff(names(panel), "reason")

test_that("identical runs are perfectly stable and disjoint ones not at all", {
  x <- matrix(sin(1:60), 10)
  beta <- c(0, 1.5, 0, 2, -1, 0)
  same <- cbind(beta, beta, beta, beta)
  panel <- stability(same, x = x, graph = graph_grid(c(3, 2)))
  expect_identical(panel$es.coef, 0)
  expect_identical(panel$es.fit, 0)
  ones <- c("mdc", "dice", "jaccard", "ochiai", "kuncheva", "kappa", "phi", "nogueira",
            "correlation", "dice.dilated", "dice.near")
  expect_equal(unlist(panel[ones], use.names = FALSE), rep(1, length(ones)))
  expect_equal(panel$centre.distance, 0)
  expect_equal(panel$nogueira.se, 0)
  expect_identical(panel$reason, "")

  apart <- sets_matrix(list(1:3, 4:6, 7:9), 12)
  panel <- stability(apart)
  expect_identical(unlist(panel[c("mdc", "dice", "jaccard", "ochiai")], use.names = FALSE),
                   numeric(4))
  expect_lt(panel$nogueira, 0)
})

test_that("the order of features and of runs does not matter", {
  withr::local_seed(1)
  x <- matrix(rnorm(20 * 30), 20)
  runs <- matrix(rnorm(30 * 6) * (runif(180) < 0.4), 30)
  edges <- graph_grid(c(6, 5))
  panel <- stability(runs, x = x, graph = edges)
  order <- sample(30)
  place <- order(order)
  shuffled <- graph_edges(place[edges$from], place[edges$to], n = 30)
  shuffled$coords <- edges$coords[order, ]
  expect_equal(stability(runs[order, ], x = x[, order], graph = shuffled), panel)
  expect_equal(stability(runs[, c(4, 2, 6, 1, 3, 5)], x = x, graph = edges), panel)
  expect_equal(mDC(runs[order, ], top = 3), mDC(runs, top = 3))
})

test_that("lists, dense and sparse matrices give the same result", {
  withr::local_seed(2)
  runs <- matrix(rnorm(40 * 5) * (runif(200) < 0.3), 40)
  x <- matrix(rnorm(400), 10)
  panel <- stability(runs, x = x)
  columns <- lapply(1:5, function(k) runs[, k])
  expect_equal(stability(columns, x = x), panel)
  expect_equal(stability(Matrix::Matrix(runs, sparse = TRUE), x = x), panel)
  expect_equal(stability(runs, x = Matrix::Matrix(x, sparse = TRUE)), panel)
  one_column <- lapply(1:5, function(k) Matrix::Matrix(runs[, k, drop = FALSE], sparse = TRUE))
  expect_equal(stability(one_column, x = x), panel)
  # Stored zeros count as zeros.
  stored <- Matrix::sparseMatrix(i = row(runs), j = col(runs), x = as.vector(runs))
  expect_equal(stability(stored, x = x), panel)
  expect_identical(stability(runs != 0)$dice, panel$dice)
})

test_that("mDC counts signs and top coefficients as documented", {
  runs <- cbind(c(1, 2, 0, -1), c(2, 1, 0, 1), c(1, 1, 3, -1))
  expect_equal(mDC(runs), 3 * 3 / 10)
  expect_equal(mDC(runs, sign = TRUE), 3 * 2 / 10)
  # Tops of 1: {2}, {1}, {3}; of 2: {1, 2} and, with ties, {1, 2, 4} and {1, 2, 3}.
  expect_equal(mDC(runs, top = 1), 0)
  expect_equal(mDC(runs, top = 2), 3 * 2 / 8)
  expect_true(is.na(mDC(-abs(runs), top = 2)))
})

test_that("correlation, dilation and centres follow their definitions", {
  withr::local_seed(3)
  runs <- matrix(rnorm(48 * 4) * (runif(192) < 0.25), 48)
  graph <- graph_grid(c(8, 6))
  panel <- stability(runs, graph = graph)
  pairs <- utils::combn(4, 2)
  mean_over <- function(f) mean(apply(pairs, 2, function(ij) f(ij[1], ij[2])))
  expect_equal(panel$correlation, mean_over(function(i, j) cor(runs[, i], runs[, j])))

  set <- function(i) which(runs[, i] != 0)
  beside <- function(nodes) {
    touching <- c(graph$to[graph$from %in% nodes], graph$from[graph$to %in% nodes])
    sort(unique(c(nodes, touching)))
  }
  dice <- function(a, b) 2 * length(intersect(a, b)) / (length(a) + length(b))
  expect_equal(panel$dice.dilated, mean_over(function(i, j) dice(beside(set(i)), beside(set(j)))))
  near <- function(i, j) {
    found <- sum(set(i) %in% beside(set(j))) + sum(set(j) %in% beside(set(i)))
    found / (length(set(i)) + length(set(j)))
  }
  expect_equal(panel$dice.near, mean_over(near))

  centres <- function(i) {
    inside <- runs[graph$from, i] != 0 & runs[graph$to, i] != 0
    label <- component_labels(graph, inside)[set(i)]
    apply(graph$coords[set(i), ], 2, function(at) tapply(at, label, mean))
  }
  nearest <- function(a, b) mean(apply(a, 1, function(at) min(sqrt(colSums((t(b) - at)^2)))))
  expect_equal(panel$centre.distance, mean_over(function(i, j) {
    (nearest(centres(i), centres(j)) + nearest(centres(j), centres(i))) / 2
  }))
})

test_that("a shift of one voxel is forgiven by the spatial measures", {
  image <- matrix(0, 10, 10)
  here <- there <- image
  here[3:5, 4:6] <- 1
  there[4:6, 4:6] <- 1
  panel <- stability(cbind(c(here), c(there)), graph = graph_grid(c(10, 10)))
  expect_equal(panel$dice, 2 / 3)
  expect_equal(panel$dice.near, 1)
  expect_gt(panel$dice.dilated, panel$dice)
  expect_equal(panel$centre.distance, 1)
})

test_that("what is not defined is NA with a reason, never NaN", {
  graph <- graph_chain(5)
  x <- matrix(sin(1:20), 4)
  cases <- list(
    empty = matrix(0, 5, 3), full = matrix(1, 5, 3), one_run = matrix(c(1, 0, 0, 1, 0)),
    mixed = cbind(0, 1, c(1, 0, 0, 0, 0)), some_empty = cbind(0, 0, c(1, 0, 0, 0, 0)),
    cancelling = cbind(c(1, 0, 0, 0, 0), c(-1, 0, 0, 0, 0))
  )
  for (runs in cases) {
    panel <- stability(runs, x = x, graph = graph)
    values <- unlist(panel[measure_names(panel)])
    expect_false(any(is.nan(values)))
    expect_identical(anyNA(values), panel$reason != "")
  }
  one_feature <- stability(matrix(1, 1, 3), x = matrix(1:3), graph = graph_chain(1))
  expect_false(any(is.nan(unlist(one_feature[measure_names(one_feature)]))))
  expect_match(one_feature$reason, "nogueira: all sets are empty or all are full")
  expect_match(stability(cases$one_run)$reason, "mdc: there is only one run")
  expect_match(stability(cases$empty, x = x)$reason, "es: 0/0")
  expect_match(stability(cases$mixed)$reason, "kuncheva: the sets differ in size")
  expect_match(stability(cases$mixed)$reason, "dilated: there is no graph")
  expect_identical(stability(cases$full)$dice, 1)
  # Runs that cancel: a spread and no mean.
  expect_identical(ES(cases$cancelling, x), Inf)

  for (value in list(mDC(cases$empty), mDC(cases$one_run), ES(cases$empty, x),
                     ES(cases$one_run, x))) {
    expect_true(is.na(value) && !is.nan(value))
    expect_true(nzchar(attr(value, "reason")))
  }
})

test_that("runs with very many regions have no distance of centres", {
  dust <- matrix(rep(c(1, 0), 1100), 2200, 2)
  panel <- stability(dust, graph = graph_chain(2200), measures = "distance")
  expect_match(panel$reason, "more than 500 regions")
})

test_that("Nogueira's standard error is the spread that a simulation shows", {
  withr::local_seed(4)
  share <- rep(c(0.9, 0.5, 0.1), c(5, 10, 35))
  one <- function(k) {
    panel <- stability((matrix(runif(50 * 40), 50) < share) * 1, measures = "nogueira")
    c(panel$nogueira, panel$nogueira.se^2, panel$nogueira.lower, panel$nogueira.upper)
  }
  runs <- vapply(1:600, one, numeric(4))
  # The population value, with all expectations written out.
  size <- mean(share)
  truth <- 1 - mean(share * (1 - share)) / (size * (1 - size))
  expect_equal(mean(runs[1, ]), truth, tolerance = 0.01)
  # 600 replicates give a variance to about 6 percent.
  expect_equal(mean(runs[2, ]), var(runs[1, ]), tolerance = 0.15)
  covered <- mean(runs[3, ] < truth & truth < runs[4, ])
  expect_gt(covered, 0.91)
  expect_lt(covered, 0.98)
})

test_that("two models are compared on the same runs", {
  withr::local_seed(5)
  steady <- replicate(30, as.numeric(1:50 %in% c(1:8, sample(9:50, 2))))
  loose <- replicate(30, as.numeric(1:50 %in% c(1:4, sample(5:50, 6))))
  test <- compare_stability(steady, loose)
  first <- stability(steady, measures = "nogueira")
  second <- stability(loose, measures = "nogueira")
  expect_equal(test$difference, first$nogueira - second$nogueira)
  expect_lt(test$p.value, 0.001)
  expect_gt(test$conf.int[1], 0)
  unpaired <- compare_stability(steady, loose, paired = FALSE)
  expect_equal(unpaired$stderr, sqrt(first$nogueira.se^2 + second$nogueira.se^2))
  expect_equal(unname(unpaired$statistic), test$difference / unpaired$stderr)
  expect_output(print(test), "paired")
  # Compared with itself a model has no difference, so there is no test.
  self <- compare_stability(steady, steady)
  expect_identical(c(self$difference, self$stderr), c(0, 0))
  expect_true(is.na(self$p.value))
})

test_that("the paired error is the spread of differences that a simulation shows", {
  withr::local_seed(6)
  one <- function(k) {
    shared <- runif(40 * 25)
    first <- matrix(shared < 0.3, 40) * 1
    second <- matrix(ifelse(runif(1000) < 0.7, shared, runif(1000)) < rep(c(0.7, 0.1), each = 20),
                     40) * 1
    test <- compare_stability(first, second)
    c(test$difference, test$stderr^2)
  }
  runs <- vapply(1:400, one, numeric(2))
  expect_equal(mean(runs[2, ]), var(runs[1, ]), tolerance = 0.2)
})
