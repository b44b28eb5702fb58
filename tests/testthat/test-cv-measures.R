# Scores, their means over folds, and the rows that they choose, computed by hand.

score_of <- function(measure, link, y, weights = rep(1, length(y)), foldid = rep(1, length(y)),
                     family = "binomial") {
  fold_scores(measure, as.matrix(link), y, weights, foldid, family)
}

# One fold of three or more rows, so that a score is the weighted mean over them.
one_score <- function(...) drop(score_of(...)$scores)

test_that("each measure by hand", {
  p <- c(0.9, 0.4, 0.2, 0.5)
  y <- c(1, 1, -1, -1)
  w <- c(1, 2, 3, 4)
  link <- stats::qlogis(p)
  one <- function(measure) unname(one_score(measure, link, y, w))
  mean_of <- function(loss) sum(w * loss) / 10
  expect_equal(one("deviance"), mean_of(-2 * log(c(0.9, 0.4, 0.8, 0.5))))
  expect_equal(one("class"), mean_of(c(0, 1, 0, 0)))  # a probability of one half: the first class
  expect_equal(one("brier"), mean_of(c(0.01, 0.36, 0.04, 0.25)))
  expect_equal(one("mse"), 2 * one("brier"))
  expect_equal(one("mae"), 2 * mean_of(c(0.1, 0.6, 0.2, 0.5)))
  # pairs: (0.9 > 0.2), (0.9 > 0.5), (0.4 > 0.2), (0.4 < 0.5), weighted by products
  expect_equal(one("auc"), (1 * 3 + 1 * 4 + 2 * 3) / (3 * 7))
  gaussian <- function(measure) {
    unname(one_score(measure, c(1, 2, 3, 4), c(1, 0, 4, 4), w, family = "gaussian"))
  }
  expect_equal(gaussian("mse"), mean_of(c(0, 4, 1, 0)))
  expect_equal(gaussian("deviance"), gaussian("mse"))
  expect_equal(gaussian("mae"), mean_of(c(0, 2, 1, 0)))
})

test_that("the loss of a confident and wrong prediction is bounded as in glmnet", {
  expect_equal(unname(one_score("deviance", c(800, -800, 0), c(-1, 1, 1))),
               (-4 * log(1e-5) - 2 * log(0.5)) / 3)
})

test_that("auc counts pairs, ties half, with weights", {
  withr::local_seed(21)
  pairs <- function(y, p, w) {
    at <- expand.grid(a = which(y == 1), b = which(y == 0))
    right <- (p[at$a] > p[at$b]) + (p[at$a] == p[at$b]) / 2
    sum(w[at$a] * w[at$b] * right) / sum(w[at$a] * w[at$b])
  }
  expect_identical(weighted_auc(c(0, 1), c(0.3, 0.3), c(1, 1)), 0.5)
  expect_identical(weighted_auc(c(0, 1, 1), c(0.3, 0.3, 0.9), c(1, 1, 3)), 0.875)
  for (run in 1:30) {
    n <- sample(3:15, 1)
    y <- sample(c(0, 1, sample(0:1, n - 2, replace = TRUE)))
    p <- sample(1:5, n, replace = TRUE) / 6
    w <- sample(0:3, n, replace = TRUE) + (1:n == match(0, y)) + (1:n == match(1, y))
    expect_equal(weighted_auc(y, p, w), pairs(y, p, w))
  }
})

test_that("auc is glmnet's", {
  skip_if_not_installed("glmnet")
  withr::local_seed(22)
  y <- stats::rbinom(50, 1, 0.5)
  p <- round(stats::runif(50), 2)
  p[duplicated(p)] <- p[duplicated(p)] + stats::runif(sum(duplicated(p))) / 1000
  w <- stats::runif(50)
  theirs <- glmnet::assess.glmnet(matrix(stats::qlogis(p)), newy = y, family = "binomial")$auc
  expect_equal(weighted_auc(y, p, rep(1, 50)), as.numeric(theirs))
})

test_that("mean over folds and its standard error, by hand", {
  # fold 1: weights 1, 1, 2 and losses 1, 4, 0; fold 2: weights 1, 1, 0 and losses 9, 1, 100
  y <- c(1, 2, 0, 3, 1, 10)
  two_folds <- function(weights) {
    fold_scores("mse", matrix(0, 6, 1), y, weights, c(1, 1, 1, 2, 2, 2), "gaussian")
  }
  scores <- two_folds(c(1, 1, 2, 1, 1, 0))
  # 5 rows with weight in 2 folds: fewer than 3 each, so the mean is over rows
  expect_identical(drop(scores$scores), c(1, 4, 0, 9, 1))
  expect_identical(scores$weights, c(1, 1, 2, 1, 1))
  scores <- two_folds(c(1, 1, 2, 1, 1, 2))
  expect_equal(as.vector(scores$scores), c(5 / 4, 210 / 4))
  total <- summarise_scores(list(scores))
  expect_equal(total$cvm, (5 / 4 + 210 / 4) / 2)
  expect_equal(total$cvsd, sqrt(((5 / 4 - total$cvm)^2 + (210 / 4 - total$cvm)^2) / 2 / (2 - 1)))
})

test_that("folds count by their weights", {
  scores <- list(scores = cbind(c(1, 3), c(0, 4)), weights = c(3, 1))
  total <- summarise_scores(list(scores))
  expect_equal(total$cvm, c(1.5, 1))
  expect_equal(total$cvsd, sqrt(c(0.75 * 0.25 + 0.25 * 2.25, 0.75 * 1 + 0.25 * 9)))
})

test_that("repeats: mean of the means, root mean square of the standard errors", {
  withr::local_seed(23)
  data <- cv_problem("binomial")
  foldid <- cbind(rep(1:4, 15), rep(1:3, each = 20))
  both <- quick_cv(data, foldid = foldid, keep = TRUE)
  each <- lapply(1:2, function(k) quick_cv(data, foldid = foldid[, k], keep = TRUE))
  expect_equal(both$cvm, (each[[1]]$cvm + each[[2]]$cvm) / 2, tolerance = 1e-14)
  expect_equal(both$cvsd, sqrt((each[[1]]$cvsd^2 + each[[2]]$cvsd^2) / 2), tolerance = 1e-14)
  for (k in 1:2) expect_identical(both$fit.preval[, , k], each[[k]]$fit.preval)
  expect_identical(names(both$fold.fits),
                   c(paste("Repeat 1, fold", 1:4), paste("Repeat 2, fold", 1:3)))
  expect_identical(unname(both$fold.fits), unname(c(each[[1]]$fold.fits, each[[2]]$fold.fits)))
  # ties of the folds' order do not matter: one column is no repeat
  expect_identical(without_call(quick_cv(data, foldid = foldid[, 1, drop = FALSE], keep = TRUE)),
                   without_call(each[[1]]))
})

test_that("cvm and cvsd are the scores of the kept predictions", {
  withr::local_seed(24)
  data <- cv_problem("binomial")
  weights <- stats::runif(60, 0.2, 2)
  foldid <- rep(1:5, length.out = 60)
  cv <- quick_cv(data, foldid = foldid, type.measure = "brier", weights = weights, keep = TRUE)
  loss <- (data$y - stats::plogis(cv$fit.preval))^2
  folds <- t(vapply(1:5, function(k) {
    apply(loss[foldid == k, ], 2, stats::weighted.mean, w = weights[foldid == k])
  }, numeric(8)))
  share <- tapply(weights, foldid, sum)
  mean <- apply(folds, 2, stats::weighted.mean, w = share)
  expect_equal(cv$cvm, mean)
  spread <- apply(sweep(folds, 2, mean)^2, 2, stats::weighted.mean, w = share)
  expect_equal(cv$cvsd, sqrt(spread / 4))
  expect_identical(list(cv$cvup, cv$cvlo), list(cv$cvm + cv$cvsd, cv$cvm - cv$cvsd))
})

test_that("small folds: means over observations, and cvsd to match", {
  withr::local_seed(25)
  data <- cv_problem("gaussian", n = 20)
  cv <- quick_cv(data, foldid = 1:20, keep = TRUE)
  loss <- (data$y - cv$fit.preval)^2
  expect_equal(cv$cvm, colMeans(loss))
  expect_equal(cv$cvsd, apply(loss, 2, stats::sd) * sqrt(19 / 20) / sqrt(19))
})

# ---- the choice ---------------------------------------------------------------------------------

grid <- data.frame(lambda1 = c(3, 2, 1, 3, 2, 1), lambda2 = rep(c(0.2, 0.1), each = 3),
                   df = c(0, 2, 3, 0, 2, 4), nonzero = c(0, 9, 12, 0, 6, 7))

test_that("lambda.min: the best score in the measure's direction, ties to the larger penalties", {
  expect_identical(best_row(c(6, 5, 1, 4, 3, 2), grid, FALSE), 3L)
  expect_identical(best_row(c(6, 5, 1, 4, 3, 2), grid, TRUE), 1L)
  expect_identical(best_row(c(2, 1, 1, 2, 1, 1), grid, FALSE), 2L)
  expect_identical(best_row(c(2, 2, 2, 2, 1, 1), grid, FALSE), 5L)
  # the order of the rows does not matter
  expect_identical(best_row(c(1, 1, 1), grid[c(5, 2, 3), ], FALSE), 2L)
})

test_that("lambda.1se: fewest regions, then fewest features, then the larger lambda2", {
  pick <- function(cvm, cvsd = 1, larger = FALSE) {
    score <- list(cvm = cvm, cvsd = rep(cvsd, 6))
    sparsest_row(within_one_se(score, best_row(cvm, grid, larger), larger), grid)
  }
  expect_identical(pick(c(9, 2, 1, 9, 2.5, 2)), 2L)     # exactly one standard error is within
  expect_identical(pick(c(9, 2, 1, 9, 2, 2)), 5L)       # as many regions, fewer features
  expect_identical(pick(c(9, 2.1, 1, 9, 2.1, 2)), 3L)
  expect_identical(pick(c(2, 2, 1, 2, 2, 2)), 1L)       # equally empty: the larger lambda2
  expect_identical(pick(-c(9, 2, 1, 9, 2, 2), larger = TRUE), 5L)
  expect_identical(pick(c(9, 5, 5, 9, 5, 4), cvsd = 0), 6L)
})

test_that("every measure has one direction", {
  better <- vapply(names(cv_measures), larger_is_better, NA)
  expect_identical(names(better)[better], c("auc", "C"))
  withr::local_seed(26)
  for (family in names(families())) {
    data <- cv_problem(family)
    for (measure in names(family_of(family)$measures)) {
      cv <- quick_cv(data, type.measure = measure)
      best <- if (measure %in% c("auc", "C")) max(cv$cvm) else min(cv$cvm)
      expect_identical(cv$cvm[cv$index[["min"]]], best)
      expect_identical(cv$type.measure, measure)
      # signal is found: better than the empty model in the first row
      expect_gt(abs(best - cv$cvm[1]), 0, label = paste(family, measure))
    }
  }
})

test_that("every measure belongs to a family", {
  used <- unlist(lapply(families(), function(family) names(family$measures)))
  expect_setequal(used, names(cv_measures))
})

test_that("the object's lambdas are rows of its grid, 1se is the sparsest, es no larger than min", {
  withr::local_seed(27)
  for (family in c("gaussian", "binomial")) {
    cv <- quick_cv(cv_problem(family), nlambda1 = 8)
    for (which in c("min", "1se", "es")) {
      row <- cv$index[[which]]
      expect_identical(cv[[paste0("lambda.", which)]],
                       c(lambda1 = cv$grid$lambda1[row], lambda2 = cv$grid$lambda2[row]))
    }
    near <- which(cv$cvm <= cv$cvup[cv$index[["min"]]])
    expect_identical(cv$grid$df[cv$index[["1se"]]], min(cv$grid$df[near]))
    small <- near[cv$grid$df[near] <= cv$grid$df[cv$index[["min"]]]]
    expect_identical(cv$es[[cv$index[["es"]], "fit"]], min(cv$es[small, "fit"], na.rm = TRUE))
    expect_identical(cv$nzero, cv$n2gfl.fit$grid$nonzero)
    expect_identical(cv$grid, cv$n2gfl.fit$grid)
  }
})

# ---- edges --------------------------------------------------------------------------------------

test_that("the note about a best row on an edge names the edge and the value to pass", {
  edges <- function(best, rows = 1:6) {
    table <- transform(grid, nonzero = nonzero + 1)[rows, ]
    names(n2gfl:::grid_edges(table, match(best, rows)))
  }
  expect_identical(edges(1), c("largest lambda1", "largest lambda2"))
  expect_identical(edges(3), c("smallest lambda1", "largest lambda2"))
  expect_identical(edges(6), c("smallest lambda1", "smallest lambda2"))
  expect_identical(edges(5), "smallest lambda2")
  # one value of a penalty has no edge
  expect_null(edges(2, 1:3))
  expect_null(edges(2, 2))
  expect_identical(edges(2, c(2, 5)), "largest lambda2")
  expect_snapshot(print(n2gfl:::grid_edges(grid, 3)))
  expect_snapshot(print(n2gfl:::grid_edges(grid, 6)))
})

test_that("no edge where there is nothing beyond it", {
  # the empty model is best: larger penalties give it again
  expect_null(n2gfl:::grid_edges(grid, 1))
  # a penalty of zero cannot be smaller
  zero <- transform(grid, lambda1 = lambda1 - 1, lambda2 = lambda2 - 0.1)
  expect_null(names(n2gfl:::grid_edges(zero, 6)))
})

test_that("the edge is in the object", {
  withr::local_seed(28)
  data <- cv_problem("gaussian")
  cv <- quick_cv(data, lambda1 = c(2, 1.5), lambda2 = c(0.2, 0.1, 0.01))
  expect_true("smallest lambda1" %in% names(cv$edge))
  expect_match(cv$edge[["smallest lambda1"]], "try lambda1 down to 0.3", fixed = TRUE)
})
