# lambda.stable: the rule by hand-made cases, its smooth surfaces, and the stability of the whole
# procedure.

# A grid of 5 x 6 rows: too few to be smoothed, so that the rule can be followed by hand. `size` has
# the number of features of each row, out of 100.
hand_made <- function(loss, es, size, se = 1) {
  grid <- expand.grid(lambda1 = 2^-(0:5), lambda2 = 2^-(0:4))
  list(full = list(lambda1 = grid$lambda1, lambda2 = grid$lambda2, nonzero = size,
                   beta = matrix(0, 100, 1)),
       score = list(cvm = loss, cvsd = rep(se, 30)), es = es)
}

stable_of <- function(case, ..., larger = FALSE, within = 1, size.weight = 0) {
  choose_stable(case$full, case$score, case$es, larger,
                stable_rule(within = within, size.weight = size.weight, ...))
}

column_of <- function(k) rep(1:5, each = 6) == k

test_that("the chosen row is the centre of the accurate rows, stable ones first", {
  # All rows are alike, except those of the last two columns, which are far too bad.
  loss <- ifelse(column_of(4) | column_of(5), 10, 0)
  case <- hand_made(loss, rep(0.1, 30), rep(10, 30))
  plane <- grid_plane(case$full$lambda1, case$full$lambda2)
  inside <- which(loss == 0)
  x <- weighted.mean(plane$x[inside], plane$area[inside])
  y <- weighted.mean(plane$y[inside], plane$area[inside])
  distance <- (plane$x[inside] - x)^2 + (plane$y[inside] - y)^2
  closest <- inside[which(distance < min(distance) + 1e-8)[1]]
  expect_identical(stable_of(case)[c("row", "reason")], list(row = closest, reason = NULL))
  # A row that is much more stable than all others has nearly all the weight.
  case$es[9] <- 0.01
  expect_identical(stable_of(case)$row, 9L)
  # Not if stability hardly counts, and not if it is too bad.
  expect_identical(stable_of(case, tolerance = 1e8)$row, closest)
  case$score$cvm[9] <- 10
  expect_false(stable_of(case)$row == 9L)
  # A measure of which more is better.
  case <- hand_made(-loss, rep(0.1, 30), rep(10, 30))
  expect_identical(stable_of(case, larger = TRUE)$row, closest)
})

test_that("rows count less the worse they are, and not at all beyond two standard errors", {
  loss <- rep(10, 30)
  loss[c(1, 6)] <- c(0, 1.9)
  case <- hand_made(loss, rep(0.1, 30), rep(10, 30))
  expect_identical(stable_of(case)$row, 1L)
  case$es[6] <- 0.01
  expect_identical(stable_of(case)$row, 6L)
  case$score$cvm[6] <- 2.1
  expect_identical(stable_of(case)$row, 1L)
  expect_identical(stable_of(case, within = 2)$row, 6L)
  # The SE that counts is that of the best row.
  case$score$cvsd[1] <- 2
  expect_identical(stable_of(case)$row, 6L)
})

test_that("where the data cannot tell, the usual penalties are taken", {
  case <- hand_made(rep(0, 30), rep(0.1, 30), rep(10, 30))
  at <- function(usual, ...) {
    choose_stable(case$full, case$score, case$es, FALSE, stable_rule(...), usual)$centre
  }
  grid <- as.data.frame(case$full[c("lambda1", "lambda2")])
  corner <- grid[8, ]
  plane <- grid_plane(grid$lambda1, grid$lambda2)
  without <- at(NULL)
  for (spread in c(0.05, 0.5)) expect_lt(distance_to(at(corner, spread = spread), plane[8, ]),
                                         distance_to(without, plane[8, ]))
  expect_equal(at(corner, spread = 0.01), unlist(plane[8, c("x", "y")]), tolerance = 1e-6)
  expect_equal(at(corner, spread = Inf), without, tolerance = 1e-12)
  # Not if the data can tell.
  case$score$cvm[-30] <- 10
  expect_equal(at(corner, spread = 0.1), unlist(plane[30, c("x", "y")]), tolerance = 1e-6)
  expect_identical(usual_penalties(c(1, 2), list(), stable_rule(usual = 0.1)),
                   list(lambda1 = 0.2, lambda2 = 0.2))
  expect_null(usual_penalties(0, list(), stable_rule()))
  expect_null(usual_penalties(1:2, list(lambda1 = 1:2), stable_rule()))
})

test_that("a global effect: the map that is everywhere is not chosen, and a sentence says why", {
  size <- ifelse(column_of(1), 100, 20)
  case <- hand_made(rep(0, 30), ifelse(column_of(1), 0.001, 0.1), size)
  choice <- stable_of(case)
  expect_false(choice$row %in% which(column_of(1)))
  expect_identical(choice$share, 1)
  object <- list(stable = choice[c("share", "reason")], rule = stable_rule())
  expect_identical(stable_notes(object), paste(
    "The most stable fit uses 100 % of the features: the effect is global; `covariates = ~ global`",
    "shows what is local beyond it."))
  object$space <- list()
  expect_match(stable_notes(object), "100 % of the mask", fixed = TRUE)
  # Without a limit it is chosen, and nothing is said.
  free <- stable_of(case, max.share = 1)
  expect_true(free$row %in% which(column_of(1)))
  expect_null(stable_notes(list(stable = free, rule = stable_rule(max.share = 1))))
  # A preference for small maps does without a limit.
  expect_false(stable_of(case, max.share = 1, size.weight = 5)$row %in% which(column_of(1)))
})

test_that("if all accurate maps are too large, the most accurate of the smaller ones is chosen", {
  loss <- ifelse(column_of(1), 0, 5)
  loss[20] <- 4
  case <- hand_made(loss, rep(0.1, 30), ifelse(column_of(1), 80, 20))
  choice <- stable_of(case)
  expect_identical(choice[c("row", "reason")], list(row = 20L, reason = "size"))
  expect_match(stable_notes(list(stable = choice, rule = stable_rule())),
               "use more than 50 % of the features; lambda.stable is the most accurate",
               all = FALSE)
})

test_that("one small region is found where it is, whatever ES is for other rows", {
  loss <- rep(10, 30)
  loss[14:16] <- 0
  case <- hand_made(loss, rep(NA_real_, 30), rep(3, 30))
  case$es[14:16] <- 0.1
  expect_identical(stable_of(case)$row, 15L)
  # Without any ES the best row is left.
  case$es[] <- NA
  case$score$cvm[16] <- -1
  expect_identical(stable_of(case)$row, 16L)
})

test_that("no better than nothing: an empty map and a sentence", {
  loss <- rep(0.5, 30)
  loss[12] <- 0
  size <- rep(4, 30)
  size[c(1, 7)] <- 0
  case <- hand_made(loss, rep(0.1, 30), size)
  choice <- stable_of(case)
  expect_identical(choice, list(row = 1L, share = 0, reason = "no evidence"))
  expect_match(stable_notes(list(stable = choice, rule = stable_rule())),
               "no fit is better than the model without features by more than 1 standard error: ",
               fixed = TRUE)
  case$score$cvm[c(1, 7)] <- 1.5
  expect_null(stable_of(case)$reason)
  # Evidence does not depend on how fast rows lose weight.
  expect_null(stable_of(case, within = 2)$reason)
})

test_that("on pure noise the map is empty, print() says so, and everything else works", {
  withr::local_seed(3)
  x <- matrix(rnorm(80 * 40), 80)
  cv <- cv.n2gfl(x, rep(0:1, 40), graph_chain(40), family = "binomial", nlambda1 = 8)
  expect_identical(cv$stable$reason, "no evidence")
  expect_identical(cv$grid$nonzero[cv$index[["stable"]]], 0L)
  expect_output(print(cv), "no evidence for a map")
  expect_output(print(summary(cv)), "no evidence for a map")
  expect_true(all(coef(cv)[-1, ] == 0))
})

test_that("bad knobs are refused", {
  expect_error(stable_rule(max.share = 1.5), "`max.share` must be a number above 0 and at most 1")
  expect_error(stable_rule(span = 0), "`span` must be a number above 0 and at most 1, not 0")
  expect_error(stable_rule(within = -1), "`within`")
  expect_error(stable_rule(tolerance = 0), "`tolerance`")
  expect_error(stable_rule(usual = 0), "`usual` must be a number above 0 and at most 1, not 0")
  expect_error(stable_rule(spread = -Inf), "`spread` must be a positive number, not -Inf")
  expect_error(stable_rule(size.weight = -1), "`size.weight` must be a nonnegative number, not -1")
  x <- matrix(rnorm(200), 20)
  expect_error(cv.n2gfl(x, x[, 1], graph_chain(10), rule = list(within = 2)),
               "`rule` must be made by stable_rule(), not", fixed = TRUE)
})

# ---- surfaces ------------------------------------------------------------------------------------

surface_grid <- function() expand.grid(lambda1 = 0.8^(0:19), lambda2 = 0.5^(0:7))

test_that("a parabola over the logarithms is its own smooth surface, with missing cells too", {
  grid <- surface_grid()
  plane <- grid_plane(grid$lambda1, grid$lambda2)
  parabola <- with(plane, 3 + x - 2 * y + x^2 + x * y + 2 * y^2)
  expect_equal(smooth_over_grid(parabola, plane, 0.5), parabola, tolerance = 1e-8)
  missing <- c(3, 77, 150:160)
  holes <- replace(parabola, missing, c(NA, Inf, rep(NaN, 11)))
  smooth <- smooth_over_grid(holes, plane, 0.5)
  expect_equal(smooth[-missing], parabola[-missing], tolerance = 1e-8)
  expect_identical(smooth[missing], rep(NA_real_, 13))
})

test_that("noise gets smaller, and the order of the rows does not matter", {
  withr::local_seed(4)
  grid <- surface_grid()
  plane <- grid_plane(grid$lambda1, grid$lambda2)
  value <- rnorm(160)
  smooth <- smooth_over_grid(value, plane, 0.5)
  expect_lt(sd(smooth), sd(value) / 3)
  mixed <- sample(160)
  expect_equal(smooth_over_grid(value[mixed], plane[mixed, ], 0.5), smooth[mixed],
               tolerance = 1e-10)
})

test_that("one column is smoothed along lambda1, and a few rows stay as they are", {
  withr::local_seed(5)
  lambda1 <- 0.8^(0:39)
  plane <- grid_plane(lambda1, rep(0.1, 40))
  value <- rnorm(40)
  byhand <- fitted(loess(value ~ x, data.frame(value, x = log10(lambda1)), span = 0.5,
                         control = loess.control(surface = "direct")))
  expect_equal(smooth_over_grid(value, plane, 0.5), unname(byhand), tolerance = 1e-10)
  expect_identical(smooth_over_grid(value[1:5], plane[1:5, ], 0.5), value[1:5])
})

test_that("few columns are smoothed one by one: the same lambda1 is not the same model", {
  withr::local_seed(10)
  grid <- expand.grid(lambda1 = 0.8^(0:29), lambda2 = c(1, 0.1, 0))
  plane <- grid_plane(grid$lambda1, grid$lambda2)
  value <- rnorm(90) + rep(c(5, 0, -5), each = 30)
  byhand <- tapply(value, rep(1:3, each = 30), function(column) {
    fitted(loess(column ~ x, data.frame(column, x = log10(0.8^(0:29))), span = 0.5,
                 control = loess.control(surface = "direct")))
  })
  expect_equal(smooth_over_grid(value, plane, 0.5), unname(unlist(byhand)), tolerance = 1e-10)
  mixed <- sample(90)
  expect_equal(smooth_over_grid(value[mixed], plane[mixed, ], 0.5),
               smooth_over_grid(value, plane, 0.5)[mixed], tolerance = 1e-10)
})

test_that("each row stands for its part of the plane, also where lambda2 is 0", {
  lambda2 <- rep(c(1, 0.1, 0), c(3, 5, 2))
  lambda1 <- c(1, 0.1, 0.01, 10^-c(0, 0.5, 1, 1.5, 2), 1, 0.01)
  plane <- grid_plane(lambda1, lambda2)
  y <- log10(c(1, 0.1, 0) + without_effect)
  expect_equal(unique(plane$y), y)
  # Columns are bounded in the middle between them, and as far beyond the outermost ones.
  height <- c(y[1] - y[2], (y[1] - y[3]) / 2, y[2] - y[3])
  expect_equal(plane$area[1:3], rep(height[1], 3))
  expect_equal(plane$area[4:8], 0.5 * rep(height[2], 5))
  expect_equal(plane$area[9:10], 2 * rep(height[3], 2))
})

# ---- the whole procedure -------------------------------------------------------------------------

test_that("nested runs measure the stability of maps, each with its own penalties", {
  withr::local_seed(6)
  data <- cv_problem("binomial", n = 80)
  cv <- cv.n2gfl(data$x, data$y, data$graph, family = "binomial", nlambda1 = 6, nlambda2 = 3,
                 nfolds = 4, nested = TRUE)
  table <- cv$nested$stability
  expect_identical(rownames(table), c("min", "1se", "es", "stable"))
  for (choice in rownames(table)) {
    maps <- cv$nested$maps[[choice]]
    expect_identical(dim(maps), c(12L, 4L))
    # Each map is the fit to the training rows at the penalties that the outer fold chose.
    for (k in 1:4) {
      chosen <- cv$nested$lambda
      penalties <- chosen[chosen$fold == k & chosen$choice == choice, ]
      train <- cv$foldid != k
      fit <- n2gfl(data$x[train, ], data$y[train], data$graph, family = "binomial",
                   lambda1 = penalties$lambda1, lambda2 = penalties$lambda2, thresh = 1e-10)
      expect_lt(fit$grid$gap, 1e-10)
      expect_equal(as.vector(maps[, k]), as.vector(fit$beta), tolerance = 1e-2)
      expect_identical(penalties$nonzero, sum(maps[, k] != 0))
    }
    expect_identical(table[choice, "mdc"], mDC(maps))
    alone <- stability(maps, x = data$x, graph = data$graph)
    for (measure in c("dice", "nogueira", "nogueira.lower", "dice.dilated", "es.fit")) {
      expect_equal(table[choice, measure], alone[[measure]], tolerance = 1e-12)
    }
    expect_identical(table[choice, "least"], min(diff(maps@p)))
    through <- stability(cv, s = paste0("lambda.", choice), nested = TRUE)
    expect_equal(through$nogueira, alone$nogueira, tolerance = 1e-12)
    expect_equal(through$es.fit, alone$es.fit, tolerance = 1e-12)
  }
  expect_output(print(cv), "Stability of the whole procedure")
  expect_output(print(summary(cv)), "Stability of the whole procedure")
  expect_output(print(stability(cv, nested = TRUE)), "outer folds, each with its own lambda.stable")
  glance <- generics::glance(cv)
  expect_identical(glance$nogueira.stable, table["stable", "nogueira"])
  expect_identical(glance$nested.min, cv$nested$estimate["min", "cvm"])
  local_device()
  drawn <- plot(cv, type = "tradeoff")
  expect_identical(drawn$stability, table$nogueira)
  expect_identical(drawn$score, cv$nested$estimate$cvm)
})

test_that("without nesting the trade-off is that of the grid, and errors say what is missing", {
  local_device()
  withr::local_seed(7)
  cv <- quick_cv(cv_problem())
  expect_s3_class(plot(cv, type = "tradeoff"), "n2gfl_stability")
  expect_error(stability(cv, nested = TRUE), "`nested` must be FALSE, because `object` has no")
  expect_error(stability(cv, nested = NA), "`nested`")
  expect_error(plot(cv, type = "tradeoff", which = 1), "`which` must not be given")
})

test_that("halves share no rows, and stability() says what was done to the data", {
  withr::local_seed(8)
  data <- cv_problem("binomial", n = 60)
  run <- function(...) perturb_fits(data$x, data$y, data$graph, family = "binomial", lambda2 = 0.01,
                                    nlambda1 = 4, ...)
  halves <- run(perturb = "halves", B = 6)
  expect_identical(unname(rowSums(halves$runs)), rep(3, 60))
  for (k in c(1, 3, 5)) expect_identical(sum(halves$runs[, k] * halves$runs[, k + 1]), 0L)
  expect_output(print(stability(halves)), "6 runs over 12 features: halves, at the same penalties")
  expect_output(print(stability(run(perturb = "bootstrap", B = 3))), "bootstrap samples")
  expect_output(print(stability(quick_cv(data))), "folds of a cross-validation, at the same")
  expect_error(run(perturb = "halves", B = 5), "`B` must be even for perturb = \"halves\", not 5")
})

test_that("an object of an older version still has its choices", {
  withr::local_seed(9)
  cv <- quick_cv(cv_problem())
  old <- cv
  old$index <- old$index[c("min", "1se", "es")]
  old$stable <- old$rule <- old$lambda.stable <- NULL
  expect_identical(coef(old), coef(old, s = "lambda.min"))
  expect_output(print(old), "default of `s` is \"lambda.min\"", fixed = TRUE)
  expect_error(coef(old, s = "lambda.stable"), "because the cross-validation has no such row")
})
