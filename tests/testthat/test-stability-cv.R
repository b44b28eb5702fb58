# Stability of cross-validations and other perturbations: the objects, and the choice by stability.

small_data <- function(n = 60, d = 30) {
  withr::local_seed(11)
  x <- matrix(rnorm(n * d), n) + 2
  list(x = x, y = rowSums(x[, 5:9]) + rnorm(n), graph = graph_chain(d))
}

data <- small_data()
small_cv <- function(...) {
  cv.n2gfl(data$x, data$y, data$graph, foldid = rep_len(1:5, 60), nlambda1 = 6,
           lambda2 = c(0.2, 0.02), ...)
}
cv <- small_cv()

test_that("a cross-validation holds the ES and mDC of its folds", {
  expect_identical(colnames(cv$es), c("coef", "fit"))
  rows <- seq_len(nrow(cv$grid))
  by_hand <- t(vapply(rows, function(row) {
    beta <- sapply(cv$fold.fits, function(fit) as.vector(fit$beta[, row]))
    raw <- data$x %*% beta
    centred <- scale(data$x, scale = FALSE) %*% beta
    c(sum((raw - rowMeans(raw))^2) / (5 * sum(rowMeans(beta)^2)),
      sum((centred - rowMeans(centred))^2) / (5 * sum(rowMeans(centred)^2)),
      5 * sum(rowSums(beta != 0) == 5) / sum(beta != 0))
  }, numeric(3)))
  by_hand[is.nan(by_hand)] <- NA
  expect_equal(unname(cbind(cv$es, cv$mdc)), by_hand, tolerance = 1e-10)
})

test_that("ES, mDC and stability read a cross-validation", {
  expect_equal(as.vector(ES(cv)), unname(cv$es[, "coef"]))
  expect_equal(as.vector(ES(cv, data$x)), unname(cv$es[, "coef"]))
  expect_equal(as.vector(ES(cv, data$x, normalize = "fit", center = TRUE)),
               unname(cv$es[, "fit"]))
  expect_equal(as.vector(mDC(cv)), cv$mdc)
  expect_equal(mDC(cv, s = "lambda.es"), cv$mdc[cv$index[["es"]]])
  expect_equal(mDC(cv, s = cv$lambda.min), cv$mdc[cv$index[["min"]]])

  panel <- stability(cv)
  expect_s3_class(panel, c("n2gfl_stability", "data.frame"), exact = TRUE)
  expect_identical(panel$row, seq_len(nrow(cv$grid)))
  expect_equal(panel$mdc, cv$mdc)
  expect_equal(cbind(coef = panel$es.coef, fit = panel$es.fit), cv$es)
  expect_equal(panel$cvm, cv$cvm)
  beta <- sapply(cv$fold.fits, function(fit) as.vector(fit$beta[, 8]))
  alone <- stability(beta, graph = data$graph)
  shared <- setdiff(names(alone), c("es.coef", "es.fit", "reason"))
  expect_equal(unlist(stability(cv, row = 8)[shared]), unlist(alone[shared]))
  expect_named(stability(cv, measures = c("mdc", "dice"), row = 2),
               c("row", "lambda1", "lambda2", "df", "cvm", "cvsd", "mdc", "dice", "reason"))
})

test_that("lambda.es is the most stable row within one standard error and no richer in regions", {
  best <- cv$index[["min"]]
  near <- which(cv$cvm <= cv$cvm[best] + cv$cvsd[best] & cv$grid$df <= cv$grid$df[best] &
                  !is.na(cv$es[, "fit"]))
  expect_identical(cv$index[["es"]], near[which.min(cv$es[near, "fit"])])
  expect_equal(cv$lambda.es, unlist(cv$grid[cv$index[["es"]], c("lambda1", "lambda2")]))
  expect_equal(coef(cv, s = "lambda.es"), coef(cv, row = cv$index[["es"]]))
})

test_that("the choice by stability follows its rules in small cases", {
  grid <- data.frame(lambda1 = c(3, 2, 1, 3, 2, 1), lambda2 = c(2, 2, 2, 1, 1, 1),
                     df = c(1, 2, 4, 2, 4, 6))
  choose <- function(cvm = c(3, 2.5, 2, 2.4, 1.9, 2), cvsd = rep(0.7, 6),
                     es = c(.1, .3, .4, .2, .5, .6), best = 5, larger = FALSE) {
    choose_es(cvm, cvsd, grid, best, es, larger)
  }
  # Rows 2, 3, 4 and 5 are within 0.7 of 1.9 and have at most 4 regions.
  expect_identical(choose(), 4L)
  # The error is that of the best row, not of the candidate.
  expect_identical(choose(cvsd = c(9, 9, 9, 9, 0.2, 9)), 3L)
  expect_identical(choose(es = c(.1, .3, NA, NA, .5, .01)), 2L)
  expect_identical(choose(es = rep(NA_real_, 6)), 5)
  # Ties: the larger lambda2, then the larger lambda1.
  expect_identical(choose(es = c(.1, .2, .4, .2, .5, .6)), 2L)
  expect_identical(choose(es = c(.1, .2, .2, .3, .5, .6)), 2L)
  # A score that is better when larger.
  expect_identical(choose(cvm = -c(3, 2.5, 2, 2.4, 1.9, 2), larger = TRUE), 4L)
})

test_that("stability prints and draws, and restores par", {
  panel <- stability(cv)
  expect_output(print(panel), "Stability of 5 runs over 30 features")
  expect_output(print(panel), "es$|es |min")
  expect_output(print(stability(cv, s = "lambda.es")), "nogueira .* to ")
  file <- withr::local_tempfile(fileext = ".pdf")
  grDevices::pdf(file)
  withr::defer(grDevices::dev.off())
  before <- graphics::par(no.readonly = TRUE)
  for (type in c("grid", "tradeoff")) expect_identical(plot(panel, type = type), panel)
  plot(panel, measures = "all")
  plot(stability(cv, row = 4))
  expect_identical(graphics::par(no.readonly = TRUE)[c("mar", "mfrow", "oma", "mgp")],
                   before[c("mar", "mfrow", "oma", "mgp")])
})

test_that("models are compared on the same folds", {
  free <- small_cv(sign = "free")
  test <- compare_stability(cv, free, s1 = "lambda.min")
  expect_match(test$method, " paired")
  expect_equal(unname(test$estimate), c(stability(cv, s = "lambda.min")$nogueira,
                                        stability(free, s = "lambda.min")$nogueira))
  other <- cv.n2gfl(data$x, data$y, data$graph, foldid = rep(1:5, each = 12), nlambda1 = 6,
                    lambda2 = c(0.2, 0.02))
  expect_match(compare_stability(cv, other, s1 = "lambda.min")$method, "unpaired")
})

test_that("perturbations draw as documented, class by class and group by group", {
  withr::local_seed(12)
  y <- rep(c(-1, 1), c(20, 10))
  in_class <- function(drawn, class) colSums(drawn[y == class, ])
  bootstrap <- draw_runs("bootstrap", y, NULL, 20, 0.5)
  expect_true(all(in_class(bootstrap, -1) == 20) && all(in_class(bootstrap, 1) == 10))
  expect_gt(max(bootstrap), 1)
  half <- draw_runs("subsample", y, NULL, 20, 0.5)
  expect_true(all(in_class(half, -1) == 10) && all(in_class(half, 1) == 5))
  expect_setequal(half, 0:1)
  expect_equal(draw_runs("jackknife", y, NULL, 3, 0.5), 1L - diag(1L, 30))
  expect_equal(rowSums(draw_runs("cv", y, NULL, 5, 0.5)), rep(4, 30))
  group <- factor(rep(1:15, each = 2))
  for (perturb in c("cv", "bootstrap", "jackknife", "subsample")) {
    drawn <- draw_runs(perturb, y, group, 5, 0.5)
    expect_identical(drawn[seq(1, 29, 2), ], drawn[seq(2, 30, 2), ])
  }
})

test_that("perturbed runs are the fits with the drawn weights", {
  withr::local_seed(13)
  runs <- perturb_fits(data$x, data$y, data$graph, perturb = "bootstrap", B = 4, nlambda1 = 5,
                       lambda2 = 0.1)
  expect_identical(dim(runs$runs), c(60L, 4L))
  again <- n2gfl(data$x, data$y, data$graph, weights = runs$runs[, 3],
                 lambda1 = runs$grid$lambda1, lambda2 = 0.1)
  expect_equal(runs$fold.fits[[3]]$beta, again$beta, tolerance = 1e-8)
  copied <- rep(1:60, runs$runs[, 3])
  copy <- n2gfl(data$x[copied, ], data$y[copied], data$graph, lambda1 = runs$grid$lambda1,
                lambda2 = 0.1, thresh = 1e-10)
  expect_equal(as.matrix(again$beta), as.matrix(copy$beta), tolerance = 1e-4)
  expect_lte(max(unlist(lapply(runs$fold.fits, `[[`, "gap"))), 1e-6)
  expect_equal(stability(runs)$mdc, runs$mdc)
  expect_output(print(runs), "4 runs \\(bootstrap\\)")
  jackknife <- perturb_fits(data$x, data$y, data$graph, perturb = "jackknife", nlambda1 = 3,
                            lambda2 = 0.1)
  expect_length(jackknife$fold.fits, 60)
})

test_that("regions and the share of runs in which they survive", {
  runs <- sets_matrix(list(c(2:4, 8), 2:5, c(2:3, 8:9), 7:8), 10)
  table <- stable_regions(runs, graph = graph_chain(10))
  # Features in at least half of the runs: 2, 3, 4 and 8.
  expect_identical(attr(table, "feature"), list(2:4, 8L))
  expect_equal(table$size, c(3, 1))
  expect_equal(table$survives, c(0.75, 0.75))
  expect_equal(table$touched, c(0.75, 0.75))
  expect_equal(table$whole, c(0.5, 0.75))
  expect_equal(table$prob.min, c(0.5, 0.75))
  expect_equal(stable_regions(runs, graph = graph_chain(10), overlap = 1)$survives, c(0.75, 0.5))

  table <- stable_regions(cv, s = "lambda.min")
  expect_equal(sum(table$size), cv$grid$nonzero[cv$index[["min"]]])
  expect_equal(nrow(table), cv$grid$regions[cv$index[["min"]]])
  expect_identical(nrow(stable_regions(matrix(0, 4, 3), graph = graph_chain(4))), 0L)
})

test_that("resampled paths go on from a checkpoint with the same runs", {
  folder <- withr::local_tempfile()
  resample <- function(seed, ...) {
    withr::local_seed(seed)
    perturb_fits(data$x, data$y, data$graph, perturb = "subsample", B = 4, nlambda1 = 4,
                 lambda2 = 0.1, ...)
  }
  plain <- resample(14)
  first <- resample(14, checkpoint = folder)
  unlink(dir(folder, pattern = "Run-[12]", full.names = TRUE))
  again <- resample(15, checkpoint = folder)
  kept <- setdiff(names(plain), c("call", "n2gfl.fit"))
  expect_identical(first[kept], plain[kept])
  expect_identical(again[kept], plain[kept])
})

test_that("centres are in mm where the space of the images is known", {
  graph <- graph_grid(c(4, 4, 4))
  affine <- rbind(c(-2, 0, 0, 10), c(0, 3, 0, -5), c(0, 0, 4, 1), c(0, 0, 0, 1))
  space <- new_space(array(TRUE, c(4, 4, 4)), affine, numeric(64))
  at <- node_coords(graph, space)
  expect_equal(at[1, ], c(10, -5, 1))
  expect_equal(at[64, ], c(10 - 6, -5 + 9, 1 + 12))
  expect_identical(node_coords(graph, NULL), graph$coords)
})
