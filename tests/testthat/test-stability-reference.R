# Values that were computed independently of this package, to six digits.

columns <- c("mdc", "dice", "jaccard", "ochiai", "kappa", "lustgarten", "phi", "nogueira")

expect_panel <- function(sets, p, expected) {
  panel <- stability(sets_matrix(sets, p))
  expect_equal(unlist(panel[columns], use.names = FALSE), expected, tolerance = 1e-6)
  panel
}

test_that("the panel agrees with the reference tables", {
  panel <- expect_panel(list(1:4, 2:4, 2:5), 5,
                        c(.818182, .821429, .7, .827350, .280303, .333333, .324915, .318182))
  expect_equal(c(panel$nogueira.lower, panel$nogueira.upper), c(-.037258, .673621),
               tolerance = 1e-5)
  panel <- expect_panel(list(1:3, 1:4, 1:5), 10,
                        c(.75, .832011, .716667, .845016, .727536, .533333, .757645, .722222))
  expect_equal(c(panel$nogueira.lower, panel$nogueira.upper), c(.645109, .799336),
               tolerance = 1e-6)
  panel <- expect_panel(list(1:2, 3:4, 5:6), 10, c(0, 0, 0, 0, -.25, -.2, -.25, -.25))
  expect_equal(panel$nogueira.se, 0)
  panel <- stability(sets_matrix(list(1:3, 2:4, c(1, 2, 5)), 8))
  expect_equal(panel$kuncheva, .288889, tolerance = 1e-6)
})

test_that("Nogueira's measure and its variance agree with the reference", {
  z <- outer(0:39, 0:9, function(j, i) ((7 * i + 13 * j) %% 11) < 3)
  panel <- stability(z * 1, measures = "nogueira")
  expect_equal(panel$nogueira, -0.10066179, tolerance = 1e-7)
  expect_equal(panel$nogueira.se^2, 0.00050167495, tolerance = 1e-7)
})

test_that("both forms of ES agree with the reference", {
  x <- rbind(c(1, 0, 2, -1), c(2, 1, 1, 0), c(0, -1, 1, 3))
  runs <- list(c(1, 0, 2, 0), c(1, .5, 1, 0), c(0, 0, 2, 1))
  expect_equal(ES(runs, x), 1.52066115702, tolerance = 1e-11)
  expect_equal(ES(runs, x, normalize = "fit"), .171962616822, tolerance = 1e-11)
  # From the definition, with the means taken out of x itself.
  centred <- scale(x, scale = FALSE)
  fits <- sapply(runs, function(beta) centred %*% beta)
  expected <- sum((fits - rowMeans(fits))^2) / (3 * sum(rowMeans(fits)^2))
  expect_equal(ES(runs, x, normalize = "fit", center = TRUE), expected)
})

test_that("the bounds of stability selection agree with the reference", {
  bound <- function(...) stability_bound(p = 1000, q = 30, cutoff = .75, ...)$PFER
  expect_equal(bound(assumption = "none"), 1.8)
  expect_equal(bound(assumption = "unimodal"), .918, tolerance = 1e-3)
  expect_equal(bound(assumption = "r-concave"), .223, tolerance = 2e-3)
  cutoff <- function(...) stability_bound(p = 2527, q = 50, PFER = 1, ...)$cutoff
  expect_equal(cutoff(assumption = "unimodal"), .76)
  expect_equal(cutoff(assumption = "r-concave"), .57)
})
