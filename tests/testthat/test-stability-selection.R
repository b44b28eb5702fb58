stable_data <- function(n = 80, d = 40) {
  withr::local_seed(21)
  x <- matrix(rnorm(n * d), n)
  eta <- rowSums(x[, 5:9]) + rowSums(x[, 21:24])
  list(x = x, y = eta + rnorm(n), classes = ifelse(eta + rlogis(n) > 0, "b", "a"),
       graph = graph_chain(d))
}

data <- stable_data()
select <- function(...) {
  withr::local_seed(22)
  stability_selection(data$x, data$y, data$graph, cutoff = 0.75, q = 12, B = 6, lambda2 = 0.05, ...)
}

test_that("each half selects by its own path, and the shares are the probabilities", {
  selection <- select()
  withr::local_seed(22)
  halves <- draw_halves(data$y, NULL, 6, "SS")
  expect_identical(unique(as.vector(halves[, c(1, 3)] + halves[, c(2, 4)])), 1L)
  expect_identical(colSums(halves), rep(40, 12))
  for (k in c(1, 8)) {
    half <- halves[, k] == 1
    fit <- n2gfl(data$x[half, ], data$y[half], data$graph, lambda2 = 0.05, nlambda1 = 100,
                 lambda.min.ratio = 0.01)
    nonzero <- predict(fit, type = "nonzero")
    entered <- vapply(seq_along(nonzero), function(row) length(unique(unlist(nonzero[1:row]))), 1L)
    expected <- nonzero[[max(which(entered <= 12))]]
    expect_identical(which(selection$runs[, k] != 0), expected)
  }
  expect_true(all(selection$sizes <= 12))
  expect_equal(selection$prob, Matrix::rowMeans(selection$runs))
  expect_identical(unname(selection$selected), which(selection$prob >= 0.75))
  expect_true(all(c(5:9, 21:24) %in% selection$selected))
  expect_equal(selection$PFER, stability_bound(p = 40, cutoff = 0.75, q = 12, B = 6)$PFER)
  expect_identical(sum(selection$regions$size), length(selection$selected))
  expect_equal(stability(selection)$mdc, mDC(selection))
})

test_that("classes and groups are respected by the halves", {
  withr::local_seed(23)
  y <- rep(c(-1, 1), c(30, 10))
  halves <- draw_halves(y, NULL, 10, "SS")
  expect_true(all(colSums(halves[y == 1, ]) == 5))
  group <- factor(rep(1:20, each = 2))
  halves <- draw_halves(y, group, 10, "MB")
  expect_identical(ncol(halves), 10L)
  expect_identical(halves[seq(1, 39, 2), ], halves[seq(2, 40, 2), ])
})

test_that("binomial responses and the default lambda2 work", {
  withr::local_seed(24)
  selection <- stability_selection(data$x, data$classes, data$graph, q = 10, PFER = 4, B = 5,
                                   family = "binomial")
  expect_equal(selection$lambda2,
               0.03 * lambda_max(data$x, data$classes, data$graph, family = "binomial",
                                 lambda2 = 0), tolerance = 1e-8)
  expect_lte(selection$PFER, 4)
})

test_that("a warning says when q is below the size of the first region", {
  withr::local_seed(25)
  signal <- rnorm(30)
  x <- outer(signal, rep(1, 6)) + 0.01 * matrix(rnorm(180), 30)
  expect_warning(
    selection <- stability_selection(x, signal, graph_chain(6), q = 2, cutoff = 0.9, B = 3,
                                     lambda2 = 5),
    "6 of 6 halves selected nothing, because the first region"
  )
  expect_identical(selection$selected, integer(0))
  expect_identical(nrow(selection$regions), 0L)
  expect_output(print(selection), "0 features selected, in 0 regions")
})

test_that("plans and checkpoints give the same selection", {
  plain <- select()
  folder <- withr::local_tempfile()
  first <- select(checkpoint = folder)
  expect_identical(first[names(first) != "call"], plain[names(plain) != "call"])
  pieces <- dir(folder, pattern = "Half", full.names = TRUE)
  expect_length(pieces, 12)
  # Half of the work is lost, and the random generator is in another state.
  unlink(pieces[1:6])
  withr::local_seed(99)
  again <- stability_selection(data$x, data$y, data$graph, cutoff = 0.75, q = 12, B = 6,
                               lambda2 = 0.05, checkpoint = folder)
  expect_identical(again$prob, plain$prob)
  expect_error(select(checkpoint = folder, sign = "free"), "other data or with other arguments")

  skip_if_not_installed("future")
  old <- future::plan(future::multicore, workers = 2)
  withr::defer(future::plan(old))
  expect_identical(select()$runs, plain$runs)
})

test_that("only the draws advance the user's random generator", {
  withr::local_seed(26)
  select_once <- function() {
    stability_selection(data$x, data$y, data$graph, cutoff = 0.75, q = 5, B = 3, lambda2 = 0.05)
  }
  set.seed(1)
  select_once()
  after <- .Random.seed
  set.seed(1)
  draw_halves(data$y, NULL, 3, "SS")
  expect_identical(.Random.seed, after)
})

test_that("selections print and draw", {
  selection <- select()
  expect_output(print(selection), "Stability selection, 6 complementary pairs, 40 features")
  file <- withr::local_tempfile(fileext = ".pdf")
  grDevices::pdf(file)
  withr::defer(grDevices::dev.off())
  before <- graphics::par("mar")
  expect_identical(plot(selection), selection)
  selection$graph <- graph_grid(c(8, 5))
  plot(selection)
  expect_identical(graphics::par("mar"), before)
})

test_that("a path that stops early equals the beginning of the whole path", {
  problem <- check_problem(fit_arguments(list(x = data$x, y = data$y, graph = data$graph,
                                              lambda2 = 0.05)))
  view <- problem_at(problem)
  whole <- solve_view(view)
  part <- solve_view(view, pmax = 5)
  rows <- seq_along(part$lambda1)
  expect_lt(length(rows), length(whole$lambda1))
  for (name in c("a0", "lambda1", "df", "gap", "converged")) {
    expect_identical(part[[name]], whole[[name]][rows])
  }
  expect_identical(part$beta, whole$beta[, rows])
})
