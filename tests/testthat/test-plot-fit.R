# The data behind the pictures are tested as numbers; a few pictures of made-up fits are compared
# as a whole.

draw <- function(code) {
  withr::with_pdf(NULL, {
    before <- graphics::par(no.readonly = TRUE)
    value <- force(code)
    after <- graphics::par(no.readonly = TRUE)
  })
  # A plot may change the coordinates and nothing else.
  moved <- c("usr", "xaxp", "yaxp")
  expect_identical(after[setdiff(names(after), moved)], before[setdiff(names(before), moved)])
  value
}

test_that("regions are followed by overlap: they grow, split and merge", {
  fit <- path_fit()
  followed <- follow_regions(row_regions(fit, 1:6))$lines
  track <- function(region) {
    part <- followed[followed$region == region, ]
    stats::setNames(part$value, part$step)
  }
  # 1: from zero to the end; 2: the negative one; 3: splits off region 1 and merges with it again
  expect_equal(track(1), c(`1` = 0, `2` = 0.5, `3` = 1, `4` = 1.4, `5` = 1.6, `6` = 1.5))
  expect_equal(track(2), c(`2` = 0, `3` = -0.4, `4` = -0.8, `5` = -1, `6` = -1.2))
  expect_equal(track(3), c(`3` = 1, `4` = 1.1, `5` = 1, `6` = 1.5))
  expect_equal(track(4), c(`4` = 0, `5` = 0.3, `6` = 0.6))
  expect_identical(max(followed$region), 4L)
})

test_that("a region that vanishes ends at zero, one that changes its sign counts as a new one", {
  beta <- cbind(c(0, 1, 1, 0), c(0, 0, 0, 2), c(0, 0, 0, -1))
  lines <- follow_regions(row_regions(make_fit(beta, graph_chain(4), 3:1, 1), 1:3))$lines
  expect_equal(lines$value[lines$region == 1], c(1, 0))
  expect_equal(lines$value[lines$region == 2], c(0, 2, 0))
  expect_equal(lines$value[lines$region == 3], c(0, -1))
})

test_that("overlapping sets are matched one to one, the largest overlap first", {
  pairs <- overlaps(1:6, c(1, 1, 1, 2, 2, 2), c(1:4, 7), c(1, 1, 2, 2, 3))
  expect_identical(pairs, list(old = c(1L, 1L, 2L), new = c(1L, 2L, 2L)))
  expect_identical(match_sets(pairs), list(old = c(1L, 2L), new = c(1L, 2L)))
  expect_identical(overlaps(1:2, 1:2, 3:4, 1:2), list(old = integer(0), new = integer(0)))
  expect_identical(overlaps(c(2, 1, 2), c(1, 1, 2), 2, 5), list(old = 1:2, new = c(5L, 5L)))
})

test_that("path data: as many lines as regions at every fit, the same numbers in all panels", {
  fit <- path_fit(c(0.2, 0.1))
  data <- path_data(fit, "lambda1")
  alive <- data$lines[data$lines$size > 0, ]
  expect_identical(as.vector(table(factor(alive$row, 1:12))), fit$grid$df)
  expect_identical(as.vector(tapply(alive$size, factor(alive$row, 1:12), sum, default = 0L)),
                   fit$grid$nonzero)
  expect_identical(data$lines$region[data$lines$panel == 1],
                   data$lines$region[data$lines$panel == 2])
  # 4 features of 1.5 come before 3 of -1.2, then the single one; what is gone at the end is last
  end <- data$ends[data$ends$panel == 1, ]
  expect_equal(end$value[order(end$region)], c(1.5, -1.2, 0.6))
  expect_identical(data$counts$df, fit$grid$df)
  expect_equal(data$counts$x, log10(fit$grid$lambda1))
})

test_that("paths against lambda2, the norm and the deviance", {
  fit <- path_fit(c(0.2, 0.1))
  against2 <- path_data(fit, "lambda2")
  expect_length(against2$panels, 6)
  expect_identical(against2$panels[[2]], list(rows = c(2L, 8L), lambda = 0.5))
  expect_equal(path_data(fit, "norm")$counts$x, unname(colSums(abs(as.matrix(fit$beta)))))
  expect_identical(path_data(fit, "dev")$counts$x, fit$grid$dev.ratio)
  expect_length(path_data(fit, "lambda2", which = c(1, 6))$panels, 2)
  expect_length(path_data(fit, "lambda2", most = 3)$panels, 3)
})

test_that("without a common sequence of lambda1 the k-th values share a panel", {
  fit <- path_fit(c(0.2, 0.1))
  fit$grid$lambda1[7:12] <- fit$grid$lambda1[7:12] / 2
  panels <- grid_panels(fit$grid, "lambda2")
  expect_identical(panels[[3]], list(rows = c(3L, 9L), lambda = c(0.25, 0.125)))
})

test_that("components are drawn if coefficients are not constant over regions", {
  fit <- path_fit()
  fit$penalty <- "laplacian"
  fit$grid$regions <- c(0L, 1L, 2L, 2L, 3L, 3L)
  data <- path_data(fit, "lambda1")
  expect_identical(data$counts$df, fit$grid$regions)
  at4 <- data$lines[data$lines$row == 4 & data$lines$size > 0, ]
  expect_equal(sort(at4$value), c(-0.8, (1.4 + 1.4 + 1.1) / 3))
})

test_that("labels move apart as little as possible, and stay inside", {
  expect_equal(spread_apart(c(1, 5, 9), 1, 0, 10), c(1, 5, 9))
  expect_equal(spread_apart(c(5, 5), 1, 0, 10), c(4.5, 5.5))
  expect_equal(spread_apart(c(9.8, 9.9, 10), 1, 0, 10), c(8, 9, 10))
  expect_equal(spread_apart(c(0, 0, 0.1), 1, 0, 10), c(0, 1, 2))
  expect_equal(spread_apart(12, 1, 0, 10), 10)
})

test_that("penalties lie on a logarithmic axis, zero one step beyond the smallest", {
  expect_equal(log_position(c(1, 0.1, 0.01, 0)), c(0, -1, -2, -3))
  expect_identical(log_position(0), 0)
  ticks <- log_ticks(c(1, 0.1, 0))
  expect_identical(ticks$labels[1], "0")
  expect_equal(ticks$at[1], -2)
  expect_identical(lambda_label(c(0, 0.5, 100, 6.4e-05, 1e-7, 123456)),
                   c("0", "0.5", "100", "0.000064", "1e-07", "123000"))
})

test_that("every picture can be drawn, leaves par() alone and returns its data", {
  fit <- path_fit(c(0.2, 0.1))
  for (xvar in c("lambda1", "lambda2", "norm", "dev")) {
    lines <- draw(plot(fit, xvar = xvar))
    expect_identical(lines, path_data(fit, xvar)$lines)
  }
  expect_identical(draw(plot(fit, xvar = "lambda")), draw(plot(fit)))
  draw(plot(fit, which = 2, label = FALSE, col = c("red", "blue"), lwd = 3, main = "A fit"))
  draw(plot(make_fit(matrix(0, 3, 2), graph_chain(3), 2:1, 1)))
  draw(plot(make_fit(matrix(1:3, 3, 1), graph_chain(3), 0, 0)))
  cv <- make_cv(fit)
  expect_identical(draw(plot(cv)), cv_plot_data(cv)$rows)
  draw(plot(cv, which = 1))
  draw(plot(cv, type = "heatmap", col = grey(0:9 / 9)))
  draw(plot(make_cv(path_fit(), c(min = 5L, `1se` = 5L)), "heatmap"))
  draw(plot(make_cv(path_fit(), c(min = 5L, `1se` = 5L, es = 5L, stable = 5L)), "heatmap"))
})

test_that("the map has the coefficients in place, and NA outside the mask", {
  mask <- matrix(TRUE, 4, 3)
  mask[1, 1] <- FALSE
  beta <- cbind(seq(-2, 3, length.out = 11))
  fit <- make_fit(beta, graph_mask(mask), 1, 1)
  map <- draw(plot(fit, what = "map"))
  expect_identical(map[mask], beta[, 1])
  expect_true(is.na(map[1, 1]))
  expect_identical(map_scale(map)$limits, c(-3, 3))
  expect_identical(map_scale(abs(map))$limits, c(0, 3))
  expect_identical(map_scale(-abs(map))$limits, c(-3, 0))
  draw(plot(make_fit(beta * 0, graph_mask(mask), 1, 1), what = "map"))
})

test_that("marks and the line of one standard error follow the measure's direction", {
  fit <- path_fit()
  cv <- make_cv(fit)
  expect_identical(cv_plot_data(cv)$target, cv$cvup[5])
  expect_identical(cv_plot_data(cv)$marks$mark, c("min", "1se", "es", "stable"))
  expect_identical(cv_plot_data(cv)$marks$row, c(5L, 3L, 4L, 2L))
  fit$family <- "binomial"
  auc <- make_cv(fit, type.measure = "auc", cvm = c(5, 6, 7, 8, 9, 7) / 10)
  expect_identical(cv_plot_data(auc)$target, auc$cvlo[5])
})

test_that("cells of the heat map meet halfway, whatever the order", {
  expect_equal(cell_edges(c(3, 1, 2)),
               data.frame(left = c(2.5, 0.5, 1.5), right = c(3.5, 1.5, 2.5)), ignore_attr = TRUE)
  expect_equal(unname(unlist(cell_edges(5))), c(4.9, 5.1))
})

test_that("bad arguments of pictures are refused in a sentence", {
  fit <- path_fit()
  expect_snapshot(refusal(plot(fit, what = "tree")))
  expect_snapshot(refusal(plot(fit, xvar = "alpha")))
  expect_snapshot(refusal(plot(fit, which = 2)))
  expect_snapshot(refusal(plot(fit, label = "yes")))
  expect_snapshot(refusal(plot(fit, row = 1)))
  expect_snapshot(refusal(plot(fit, what = "map")))
  expect_snapshot(refusal(plot(fit, what = "map", row = 1)))
  volume <- make_fit(matrix(0, 8, 1), graph_grid(c(2, 2, 2)), 1, 1)
  expect_snapshot(refusal(plot(volume, what = "map")))
  expect_snapshot(refusal(plot(make_cv(fit), type = "map")))
  expect_snapshot(refusal(plot(make_cv(fit), which = 3)))
  expect_snapshot(refusal(plot(make_cv(fit), type = "heatmap", cex = 2)))
})

test_that("pictures are unchanged", {
  vdiffr::expect_doppelganger("paths", function() plot(path_fit()))
  vdiffr::expect_doppelganger("paths in panels", function() {
    plot(path_fit(c(0.2, 0.1)), xvar = "dev")
  })
  vdiffr::expect_doppelganger("curves", function() plot(make_cv(path_fit(c(0.2, 0.1)))))
  vdiffr::expect_doppelganger("heatmap", function() {
    plot(make_cv(path_fit(c(0.2, 0.1))), type = "heatmap")
  })
  vdiffr::expect_doppelganger("map", function() {
    beta <- outer(1:6, 1:5, function(i, j) (i > 3 & j > 2) - 0.5 * (i < 3 & j < 3))
    plot(make_fit(cbind(c(beta)), graph_grid(c(6, 5)), 0.1, 0.01), what = "map")
  })
})
