# Every message is one sentence that names the argument, what was given and what was expected.

runs <- cbind(c(1, 0, 2, 0), c(1, 1, 0, 0))
x <- matrix(sin(1:80), 20)
y <- cos(1:20)
cv <- cv.n2gfl(x, y, graph_chain(4), foldid = rep(1:4, 5), lambda1 = c(0.1, 0.01), lambda2 = 0.1)

test_that("runs must be over the same features", {
  expect_snapshot(refusal(stability(list(1:3, 1:4))))
  expect_snapshot(refusal(mDC(list())))
  expect_snapshot(refusal(mDC(list(1, "a"))))
  expect_snapshot(refusal(mDC(list(c(1, NA)))))
  expect_snapshot(refusal(mDC(1:5)))
  expect_snapshot(refusal(mDC("runs")))
  expect_snapshot(refusal(mDC(data.frame(1:5))))
  expect_snapshot(refusal(mDC(matrix(c(1, NaN), 2, 2))))
  expect_snapshot(refusal(mDC(runs[0, ])))
  expect_snapshot(refusal(mDC(runs[, 0])))
  expect_snapshot(refusal(stability(cv$n2gfl.fit)))
  without <- cv
  without$fold.fits <- NULL
  expect_snapshot(refusal(stability(without)))
})

test_that("choices of stability are checked", {
  expect_snapshot(refusal(ES(runs)))
  expect_snapshot(refusal(ES(cv, center = TRUE)))
  expect_snapshot(refusal(ES(runs, x[, 1:3])))
  expect_snapshot(refusal(ES(runs, x, normalize = "size")))
  expect_snapshot(refusal(ES(runs, x, center = NA)))
  expect_snapshot(refusal(mDC(runs, sign = 2)))
  expect_snapshot(refusal(mDC(runs, top = -1)))
  expect_snapshot(refusal(mDC(runs, top = 0.5)))
  expect_snapshot(refusal(mDC(runs, s = "lambda.min")))
  expect_snapshot(refusal(mDC(cv, s = "lambda.max")))
  expect_snapshot(refusal(mDC(cv, s = c(lambda1 = 0.05, lambda2 = 0.1))))
  expect_snapshot(refusal(mDC(cv, s = "lambda.es", row = 1)))
  expect_snapshot(refusal(mDC(cv, row = 3)))
  expect_snapshot(refusal(stability(runs, measures = "dices")))
  expect_snapshot(refusal(stability(runs, measures = character())))
  expect_snapshot(refusal(stability(runs, graph = graph_chain(3))))
  expect_snapshot(refusal(stability(runs, level = 95)))
  expect_snapshot(refusal(plot(stability(cv), measures = "kappas")))
  expect_snapshot(refusal(plot(stability(cv), type = "map")))
  resampled <- perturb_fits(x, y, graph_chain(4), perturb = "cv", B = 3, lambda1 = c(0.1, 0.01),
                            lambda2 = 0.1)
  expect_snapshot(refusal(plot(stability(resampled), type = "tradeoff")))
  expect_snapshot(refusal(mDC(resampled, s = "lambda.min")))
})

test_that("comparisons need two comparable things", {
  expect_snapshot(refusal(compare_stability(runs, runs[1:3, ])))
  expect_snapshot(refusal(compare_stability(runs, runs[, c(1, 2, 2)], paired = TRUE)))
  expect_snapshot(refusal(compare_stability(runs, runs * 0)))
  expect_snapshot(refusal(compare_stability(runs, runs[, 1, drop = FALSE])))
  expect_snapshot(refusal(stable_regions(runs)))
  expect_snapshot(refusal(stable_regions(runs, graph = graph_chain(4), cutoff = 2)))
  expect_snapshot(refusal(stable_regions(runs, graph = graph_chain(4), overlap = 0)))
  expect_snapshot(refusal(stable_regions(cv, row = 1:2)))
})

test_that("perturbations are checked", {
  perturb <- function(...) perturb_fits(x, y, graph_chain(4), ..., lambda2 = 0.1)
  expect_snapshot(refusal(perturb(perturb = "shake")))
  expect_snapshot(refusal(perturb(B = -1)))
  expect_snapshot(refusal(perturb(B = 1)))
  expect_snapshot(refusal(perturb(perturb = "subsample", fraction = 1)))
  expect_snapshot(refusal(perturb(lambda = 1)))
  expect_snapshot(refusal(perturb(group = 1:3)))
  rare <- factor(rep(c("case", "control"), c(1, 19)))
  expect_snapshot(refusal(perturb_fits(x, rare, graph_chain(4), family = "binomial",
                                       perturb = "jackknife")))
})

test_that("two of cutoff, q and PFER are needed, and must be possible", {
  expect_snapshot(refusal(stability_bound(100, cutoff = 0.8)))
  expect_snapshot(refusal(stability_bound(100, cutoff = 0.8, q = 5, PFER = 1)))
  expect_snapshot(refusal(stability_bound(100, cutoff = 0.5, q = 5)))
  expect_snapshot(refusal(stability_bound(100, cutoff = 1.2, q = 5)))
  expect_snapshot(refusal(stability_bound(100, cutoff = 0.8, q = 101)))
  expect_snapshot(refusal(stability_bound(100, cutoff = 0.8, q = -3)))
  expect_snapshot(refusal(stability_bound(100, cutoff = 0.8, PFER = 0)))
  expect_snapshot(refusal(stability_bound(100, cutoff = 0.6, q = 80)))
  expect_snapshot(refusal(stability_bound(100, q = 50, PFER = 0.1)))
  expect_snapshot(refusal(stability_bound(100, cutoff = 0.8, PFER = 1e-6)))
  expect_snapshot(refusal(stability_bound(100, cutoff = 0.8, q = 90, assumption = "r-concave")))
  expect_snapshot(refusal(stability_bound(100, cutoff = 0.8, q = 5, assumption = "convex")))
  expect_snapshot(refusal(stability_bound(100, cutoff = 0.8, q = 5, B = 1)))
  select <- function(...) stability_selection(x, y, graph_chain(4), cutoff = 0.8, q = 2, ...)
  expect_snapshot(refusal(select(lambda1 = 1)))
  expect_snapshot(refusal(select(lambda2 = c(2, 1))))
  expect_snapshot(refusal(select(lambda = 1)))
  expect_snapshot(refusal(select(sampling.type = "CV")))
})

test_that("a comparison by `s` asks for `s1` or `s2`", {
  runs <- diag(3)
  expect_snapshot(refusal(compare_stability(runs, runs, s = "lambda.min")))
})

test_that("perturbed runs are drawn by their stability", {
  runs <- perturb_fits(x, y, graph_chain(4), perturb = "cv", B = 3, lambda1 = c(0.1, 0.01),
                       lambda2 = 0.1)
  grDevices::pdf(withr::local_tempfile(fileext = ".pdf"))
  withr::defer(grDevices::dev.off())
  expect_identical(plot(runs, which = "mdc"), runs)
  expect_error(plot(runs, zzz = 1), "`zzz`")
})
