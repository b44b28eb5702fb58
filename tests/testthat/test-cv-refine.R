# A grid that refines itself: what each round adds, that its rows are optimal fits, that it is the
# same under all plans and when a run is resumed, and that no row held out has any influence.

refined <- function(case, ..., nlambda1 = 8, nlambda2 = 9) {
  cv.n2gfl(case$x, case$y, case$graph, family = case$family, nlambda1 = nlambda1,
           nlambda2 = nlambda2, foldid = rep(1:4, length.out = nrow(case$x)), ...)
}

# The lambda2 of its paths, without the one through the centre.
path_lambda2 <- function(cv) setdiff(cv$grid$lambda2, cv$lambda.stable[["lambda2"]])

test_that("the grid holds a coarse sweep and 0, and stays within its budget", {
  withr::local_seed(21)
  data <- cv_problem(n = 60)
  cv <- refined(data)
  lambda2 <- path_lambda2(cv)
  largest <- 0.3 * lambda_max(data$x, data$y, data$graph)
  coarse <- c(largest * 10^-seq(0, 2, 0.5), 0)
  for (value in coarse) expect_true(any(abs(lambda2 - value) <= 1e-12 * value))
  expect_lte(length(lambda2), 9)
  expect_identical(order(-cv$grid$lambda2, -cv$grid$lambda1), seq_len(nrow(cv$grid)))
  expect_false(anyDuplicated(cv$grid[c("lambda1", "lambda2")]) > 0)
  # The first lambda1 of each path is the largest one.
  first <- tapply(cv$grid$lambda1, cv$grid$lambda2, max)[as.character(lambda2)]
  expect_equal(as.vector(first), lambda_max(data$x, data$y, data$graph, lambda2),
               tolerance = 1e-8)
  # Between two lambda2 the new one is their geometric mean.
  added <- lambda2[lambda2 > 0 & !vapply(lambda2, function(value) {
    any(abs(value - coarse) <= 1e-12 * value)
  }, NA)]
  expect_gt(length(added), 0)
  for (value in added) {
    pairs <- outer(lambda2, lambda2)
    expect_lt(min(abs(pairs[upper.tri(pairs)] - value^2)) / value^2, 1e-10)
  }
})

test_that("every row is an optimal fit, of all rows and without each fold", {
  withr::local_seed(22)
  data <- cv_problem("binomial", n = 60)
  cv <- refined(data, thresh = 1e-8)
  expect_lte(max(cv$grid$gap), 1e-8)
  for (fold in cv$fold.fits) expect_lte(max(fold$gap), 1e-8)
  rows <- round(seq(2, nrow(cv$grid), length.out = 12))
  for (row in rows) {
    fit <- n2gfl(data$x, data$y, data$graph, family = "binomial", lambda1 = cv$grid$lambda1[row],
                 lambda2 = cv$grid$lambda2[row], thresh = 1e-8)
    expect_equal(as.vector(cv$n2gfl.fit$beta[, row]), as.vector(fit$beta), tolerance = 1e-3)
    expect_equal(cv$grid$dev.ratio[row], fit$grid$dev.ratio, tolerance = 1e-6)
    train <- cv$foldid != 2
    fold <- n2gfl(data$x[train, ], data$y[train], data$graph, family = "binomial",
                  lambda1 = cv$grid$lambda1[row], lambda2 = cv$grid$lambda2[row], thresh = 1e-8)
    expect_equal(as.vector(cv$fold.fits[[2]]$beta[, row]), as.vector(fold$beta), tolerance = 1e-3)
  }
})

test_that("scores and choices are those of one cross-validation over the final grid", {
  withr::local_seed(23)
  for (family in c("gaussian", "cox")) {
    data <- cv_problem(family, n = 60)
    cv <- refined(data, keep = TRUE, thresh = 1e-10, sign = "free")
    for (value in unique(cv$grid$lambda2)[c(1, 4)]) {
      rows <- which(cv$grid$lambda2 == value)
      fixed <- cv.n2gfl(data$x, data$y, data$graph, family = family, keep = TRUE, thresh = 1e-10,
                        foldid = cv$foldid, lambda1 = cv$grid$lambda1[rows], lambda2 = value,
                        sign = "free")
      expect_equal(cv$cvm[rows], fixed$cvm, tolerance = 1e-5)
      expect_equal(cv$cvsd[rows], fixed$cvsd, tolerance = 1e-4)
      expect_equal(cv$fit.preval[, rows], fixed$fit.preval, tolerance = 1e-3)
      expect_equal(cv$mdc[rows], fixed$mdc)
    }
  }
})

test_that("the grid grows beyond its largest lambda2 while that changes the map", {
  withr::local_seed(24)
  # The mean of all features predicts: the larger the regions, the better.
  x <- matrix(rnorm(60 * 20), 60)
  data <- list(x = x, y = rowSums(x) + rnorm(60), graph = graph_chain(20), family = "gaussian")
  cv <- refined(data, nlambda2 = 12)
  largest <- max(cv$grid$lambda2)
  expect_gt(largest, 0.3 * lambda_max(data$x, data$y, data$graph) * 3)
  # It ends where all maps are whole components.
  top <- which(cv$grid$lambda2 == largest)
  expect_true(all(cv$grid$nonzero[top] %in% c(0, 20)) && all(cv$grid$df[top] <= 1))
})

# The penalties at the centre of some rows of a cross-validation, as the rule gives them.
centre_of_rows <- function(cv, rows, data) {
  full <- c(cv$grid[rows, c("lambda1", "lambda2", "nonzero")],
            list(beta = cv$n2gfl.fit$beta[, rows]))
  score <- list(cvm = cv$cvm[rows], cvsd = cv$cvsd[rows])
  largest <- lambda_max(data$x, data$y, data$graph)
  expect_equal(max(cv$grid$lambda1), largest)
  usual <- usual_penalties(cv$grid$lambda1, list(), cv$rule)
  centre <- choose_stable(full, score, cv$es[rows, "fit"], FALSE, cv$rule, usual)$centre
  penalties_at(centre, full$lambda1)
}

test_that("lambda.stable is fitted at the centre of the rows that count, not at the closest one", {
  for (seed in 30:32) {
    withr::local_seed(seed)
    data <- cv_problem(n = 80)
    cv <- refined(data, thresh = 1e-9)
    row <- cv$index[["stable"]]
    expect_lte(cv$grid$gap[row], 1e-9)
    # The last path, or the last row if there was a path with this lambda2, came to the others.
    path <- which(cv$grid$lambda2 != cv$grid$lambda2[row])
    both <- list(centre_of_rows(cv, path, data), centre_of_rows(cv, -row, data))
    chosen <- cv$lambda.stable
    same <- vapply(both, function(at) abs(at$lambda1 / chosen[["lambda1"]] - 1) < 1e-9, NA)
    expect_true(any(same))
    expect_equal(both[[which(same)]]$lambda2, chosen[["lambda2"]], tolerance = 10^close_enough - 1)
  }
})

test_that("the last path goes through the centre, only as far as needed", {
  withr::local_seed(33)
  data <- cv_problem(n = 60)
  view <- problem_at(check_problem(fit_arguments(c(
    data, nlambda1 = 10, nlambda2 = 9))))
  largest <- lambda_max(data$x, data$y, data$graph)
  grid <- expand.grid(lambda1 = largest * 0.6^(0:9), lambda2 = largest * c(0.2, 0.02, 0))
  cv <- list(full = as.list(grid), near = 15:18)
  search <- list(budget = 9, spent = 8)
  at <- function(lambda1, lambda2, view, search) {
    cv$centre <- c(x = log10(lambda1), y = position_of_lambda2(lambda2, largest))
    centre_path(cv, view, search)
  }
  path <- at(largest * 0.05, largest * 0.06, view, search)
  expect_equal(unique(path$lambda2), largest * 0.06)
  expect_equal(path$lambda1[1], lambda_max(data$x, data$y, data$graph, largest * 0.06))
  expect_true(any(abs(path$lambda1 / (largest * 0.05) - 1) < 1e-12))
  expect_gte(min(path$lambda1), min(grid$lambda1[15:18]))
  # Beside a path that is there one row is enough, and none beside a row.
  one <- at(largest * 0.05, largest * 0.0201, view, search)
  expect_equal(one, list(lambda1 = largest * 0.05, lambda2 = largest * 0.02))
  expect_null(at(largest * 0.6^5 * 1.01, largest * 0.02, view, search))
  # Nor if the map is empty there, or the budget is spent.
  expect_null(at(largest * 2, largest * 0.06, view, search))
  expect_null(at(largest * 0.05, largest * 0.06, view, list(budget = 9, spent = 9)))
  # The user's own lambda1 are kept.
  view$lambda1 <- c(0.3, 0.1)
  path <- at(largest * 0.05, largest * 0.06, view, search)
  expect_identical(path$lambda1, c(0.3, 0.1))
  expect_equal(path$lambda2, rep(largest * 0.06, 2))
  # No fusion is no fusion, however small the number that stands for it.
  expect_identical(penalties_at(c(x = -1, y = log10(without_effect * 1.05)), 1)$lambda2, 0)
})

test_that("a path whose end is chosen gets smaller lambda1, and chosen paths get closer ones", {
  withr::local_seed(25)
  x <- matrix(rnorm(200 * 10), 200)
  data <- list(x = x, y = drop(x %*% (1:10)) + rnorm(200) / 100, graph = graph_chain(10),
               family = "gaussian")
  cv <- refined(data, lambda.min.ratio = 0.5, nlambda2 = 12)
  best <- cv$grid$lambda2[cv$index[["min"]]]
  path <- cv$grid$lambda1[cv$grid$lambda2 == best]
  expect_lt(min(path) / max(path), 0.5)
})

test_that("a lambda1 or lambda2 of the user's own is kept", {
  withr::local_seed(26)
  data <- cv_problem(n = 60)
  cv <- refined(data, lambda1 = c(0.3, 0.1, 0.03))
  expect_true(all(table(cv$grid$lambda2) == 3))  # the centre's as well
  expect_identical(sort(unique(cv$grid$lambda1)), c(0.03, 0.1, 0.3))
  fixed <- refined(data, lambda2 = c(0.1, 0.01))
  expect_identical(unique(fixed$grid$lambda2), c(0.1, 0.01))
  expect_identical(nrow(fixed$grid), 16L)
  one <- refined(data, nlambda2 = 1)
  expect_equal(unique(one$grid$lambda2), 0.3 * lambda_max(data$x, data$y, data$graph))
  expect_length(unique(refined(data, nlambda1 = 1, nlambda2 = 3)$grid$lambda2), 3)
})

test_that("a response that no feature can explain ends the search with an empty map", {
  x <- matrix(c(rep(c(1, 0), 20), rep(c(1, 0, 1, 0.5), 10)), 40)
  expect_warning(cv <- refined(list(x = -x, y = x[, 1] + rep(c(0.1, 0), c(3, 37)),
                                    graph = graph_chain(2), family = "gaussian")), "sign")
  expect_true(all(cv$grid$nonzero == 0))
  expect_identical(cv$stable$reason, "no evidence")
})

test_that("rounds are the same under every plan and when a run is resumed", {
  skip_if_not_installed("future")
  withr::local_seed(27)
  data <- cv_problem("binomial", n = 48)
  folder <- withr::local_tempdir()
  set.seed(1)
  cv <- without_call(refined(data, nested = TRUE, keep = TRUE))
  set.seed(1)
  expect_identical(without_call(refined(data, nested = TRUE, keep = TRUE, checkpoint = folder)), cv)
  pieces <- list.files(folder, "piece$")
  expect_true(any(grepl("round-2", pieces)))
  some <- grepl("(all-rows-round-2|Fold-[23]-round|Outer-fold-1)", pieces)
  unlink(file.path(folder, pieces[some]))
  expect_identical(without_call(refined(data, nested = TRUE, keep = TRUE, checkpoint = folder)), cv)
  # The rule decides what is added, so another rule is other work.
  expect_error(refined(data, nested = TRUE, keep = TRUE, checkpoint = folder,
                       rule = stable_rule(max.share = 0.2)), "other arguments")
  skip_on_os("windows")
  skip_in_check()
  old <- future::plan(future::multicore, workers = 2)
  withr::defer(future::plan(old))
  set.seed(1)
  expect_identical(without_call(refined(data, nested = TRUE, keep = TRUE)), cv)
})

expect_no_leak <- function(case, ...) {
  held <- rep(1:4, length.out = 48) == 1
  other <- case
  other$x[held, ] <- 100 * other$x[held, ] + 7
  nested <- function(case) {
    set.seed(1)
    suppressWarnings(refined(case, nested = TRUE, ..., rule = stable_rule(within = 3)))$nested
  }
  one <- nested(case)
  two <- nested(other)
  expect_identical(one$lambda[one$lambda$fold == 1, ], two$lambda[two$lambda$fold == 1, ])
  for (choice in names(one$maps)) {
    expect_identical(one$maps[[choice]][, 1], two$maps[[choice]][, 1])
  }
  # The other folds do see these rows.
  expect_false(identical(one$maps$min[, 2:4], two$maps$min[, 2:4]))
}

test_that("rows held out by an outer fold have no influence on its grid, its choice or its map", {
  withr::local_seed(28)
  data <- cv_problem("binomial", n = 48)
  expect_no_leak(data)
  # Pure noise, with everything that is estimated on the way.
  noise <- list(x = matrix(rexp(48 * 12), 48), y = sample(data$y), graph = data$graph,
                family = "binomial")
  site <- data.frame(site = rep(c("a", "b"), each = 24))
  expect_no_leak(noise, data = site, harmonize = ~ site, scale = "mean", covariates = ~ global)
})

test_that("the progress of a search ends at its total", {
  withr::local_seed(29)
  data <- cv_problem(n = 40)
  shown <- capture_messages(refined(data, trace.it = 1, nested = TRUE))
  # 9 paths for all rows and 4 folds, and as many in each outer fold.
  total <- 9 * (5 + 4 * 5)
  expect_match(shown, paste("of", total), all = TRUE)
  expect_match(utils::tail(shown, 1), paste0(" ", total, " of ", total))
})
