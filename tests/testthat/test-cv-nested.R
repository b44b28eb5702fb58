# The nested estimate is honest: a loop written out, and no leak on pure noise.

ways <- c("min", "1se", "es", "stable")

# cv.n2gfl() inside the training rows of each outer fold, its choice scored on the rows held out.
nested_by_hand <- function(data, foldid, inner, measure, ...) {
  link <- matrix(NA_real_, nrow(data$x), 4, dimnames = list(NULL, ways))
  chosen <- maps <- list()
  for (k in seq_len(max(foldid))) {
    train <- foldid != k
    rows <- lapply(list(...), function(value) value[train])
    cv <- do.call(cv.n2gfl, c(
      list(data$x[train, ], data$y[train], data$graph, family = data$family, nlambda1 = 5,
           nlambda2 = 2, foldid = inner[[k]], type.measure = measure, thresh = 1e-12), rows))
    newoffset <- if (length(rows$offset)) list(...)$offset[!train]
    link[!train, ] <- predict(cv$n2gfl.fit, data$x[!train, ], row = cv$index, newoffset = newoffset)
    maps[[k]] <- cv$n2gfl.fit$beta[, cv$index]
    chosen[[k]] <- cbind(fold = k, cv$grid[cv$index, c("lambda1", "lambda2", "df", "nonzero")])
  }
  list(link = link, lambda = do.call(rbind, chosen), maps = maps)
}

for (case in list(c("gaussian", "mae"), c("binomial", "auc"), c("binomial", "class"))) {
  test_that(paste("nested is a loop written out by hand:", case[1], case[2]), {
    withr::local_seed(61)
    data <- cv_problem(case[1], n = 72)
    group <- rep(1:24, each = 3)
    foldid <- make_folds(data$y, 3, group)
    more <- list(weights = runif(72, 0.5, 2), offset = rnorm(72) / 4)
    set.seed(62)
    cv <- cv.n2gfl(data$x, data$y, data$graph, family = data$family, nlambda1 = 5, nlambda2 = 2,
                   foldid = foldid, group = group, type.measure = case[2], nested = TRUE,
                   thresh = 1e-12, weights = more$weights, offset = more$offset)
    set.seed(62)
    inner <- lapply(1:3, function(k) make_folds(data$y[foldid != k], 3, group[foldid != k]))
    hand <- nested_by_hand(data, foldid, inner, case[2], weights = more$weights,
                           offset = more$offset)
    expect_equal(cv$nested$link, hand$link, tolerance = 1e-6)
    expect_identical(cv$nested$lambda$choice, rep(ways, 3))
    for (k in 1:3) for (way in 1:4) {
      expect_equal(cv$nested$maps[[way]][, k], unname(hand$maps[[k]][, way]), tolerance = 1e-5)
    }
    for (what in c("fold", "lambda1", "lambda2", "df", "nonzero")) {
      expect_equal(cv$nested$lambda[[what]], hand$lambda[[what]], tolerance = 1e-8)
    }
    scores <- fold_scores(case[2], hand$link, 2 * data$y - (data$family == "binomial"),
                          more$weights, foldid, data$family)
    if (data$family == "gaussian") {
      loss <- abs(data$y - hand$link)
      folds <- rowsum(more$weights * loss, foldid) / as.vector(rowsum(more$weights, foldid))
      expect_equal(unname(as.matrix(cv$nested$estimate)[, "cvm"]),
                   unname(apply(folds, 2, weighted.mean, w = rowsum(more$weights, foldid))),
                   tolerance = 1e-6)
    } else {
      expect_equal(cv$nested$estimate$cvm, summarise_scores(list(scores))$cvm, tolerance = 1e-6)
    }
    expect_identical(rownames(cv$nested$estimate), ways)
    expect_identical(names(cv$nested$maps), ways)
  })
}

test_that("only `nested` changes with nested = TRUE; of repeats the first one is outside", {
  withr::local_seed(63)
  data <- cv_problem("binomial")
  foldid <- cbind(rep(1:4, 15), rep(1:3, each = 20))
  set.seed(64)
  plain <- without_call(quick_cv(data, foldid = foldid))
  set.seed(64)
  nested <- without_call(quick_cv(data, foldid = foldid, nested = TRUE))
  expect_identical(nested[names(nested) != "nested"], plain[names(plain) != "nested"])
  # The outer folds are those of the first column, and the inner ones are repeated as well.
  set.seed(64)
  drawn <- lapply(1:4, function(k) {
    replicate(2, make_folds(data$y[foldid[, 1] != k], 4), simplify = "matrix")
  })
  for (k in 1:4) {
    held <- foldid[, 1] == k
    inner <- quick_cv(list(x = data$x[!held, ], y = data$y[!held], graph = data$graph,
                           family = "binomial"), foldid = drawn[[k]])
    lambda <- nested$nested$lambda[nested$nested$lambda$fold == k, ]
    expect_equal(lambda$lambda1, inner$grid$lambda1[inner$index], tolerance = 1e-8)
    expect_equal(lambda$lambda2, inner$grid$lambda2[inner$index], tolerance = 1e-8)
    link <- predict(inner$n2gfl.fit, data$x[held, ], row = inner$index)
    expect_equal(unname(nested$nested$link[held, ]), unname(link), tolerance = 1e-3)
  }
})

# ---- no leak ------------------------------------------------------------------------------------

# Right classes among 20 cohorts of pure noise, one column per way to choose. Classes and folds are
# balanced, so that the empty model is right in exactly half of the rows.
right_on_noise <- function(d, prepare = function(x, y) x) {
  vapply(1:20, function(seed) {
    withr::local_seed(seed)
    y <- sample(rep(0:1, 30))
    x <- prepare(matrix(rnorm(60 * d), 60), y)
    cv <- cv.n2gfl(x, y, graph_chain(ncol(x)), family = "binomial", nlambda1 = 4,
                   lambda.min.ratio = 0.2, lambda2 = 0.01, thresh = 1e-4, nfolds = 3, nested = TRUE,
                   type.measure = "class")
    colSums((cv$nested$link > 0) == (y == 1))
  }, numeric(4))
}

# All 1,200 predictions, and each cohort by itself at a level that all 20 share.
chance <- function(predictions, level) stats::qbinom(c(level / 2, 1 - level / 2), predictions, 0.5)

test_that("pure noise is classified by chance: no leak", {
  skip_in_check()
  right <- right_on_noise(2000)
  for (choice in rownames(right)) {
    expect_gte(sum(right[choice, ]), chance(1200, 0.01)[1])
    expect_lte(sum(right[choice, ]), chance(1200, 0.01)[2])
    expect_gte(min(right[choice, ]), chance(60, 0.01 / 20)[1])
    expect_lte(max(right[choice, ]), chance(60, 0.01 / 20)[2])
  }
})

test_that("the same test detects a leak: features that were chosen on all rows", {
  best <- function(x, y) x[, order(-abs(crossprod(x, y - 0.5)))[1:20]]
  right <- right_on_noise(200, best)
  expect_gt(sum(right["min", ]), chance(1200, 0.01)[2])
})
