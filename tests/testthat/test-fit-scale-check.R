# The advice about images on different scales: it must come for a gain that varies between subjects,
# and neither for the ordinary differences of grey matter nor for noise.

# Smooth fields over a grid, in rows: moving averages of noise along each axis, with variance 1.
smooth_fields <- function(n, dim = c(10, 12, 10), width = 3) {
  average <- function(field, axis) {
    apply(field, setdiff(seq_along(dim), axis), function(v) {
      stats::filter(c(v, v), rep(1 / width, width), circular = TRUE)[seq_along(v)]
    })
  }
  t(replicate(n, {
    field <- array(stats::rnorm(prod(dim)), dim)
    for (axis in 1:3) field <- array(average(field, 1), dim[c(2, 3, 1)][c(1, 2, 3)])
    as.vector(field) / stats::sd(field)
  }))
}

cohorts <- function(n = 100) {
  y <- rep(c(0, 1), n / 2)
  mean <- pmax(0.15, 0.45 + 0.12 * smooth_fields(1)[1, ])
  local <- smooth_fields(n)
  loading <- pmax(0.2, 1 + 0.4 * smooth_fields(1)[1, ])
  means <- matrix(mean, n, length(mean), byrow = TRUE)
  size <- exp(stats::rnorm(n, sd = 0.1))  # of the head: a coefficient of variation of 10 %
  list(y = y,
       # local differences of 18 %, as in smoothed maps, and in patients 8 % of global atrophy
       `grey matter` = means * (size - outer(0.08 * y, loading) + 0.18 * local),
       # uptake with a gain of 25 %
       pet = means * exp(stats::rnorm(n, sd = 0.25)) * (1 + 0.12 * local),
       offset = means + stats::rnorm(n) + 0.2 * local,
       noise = scale(local))
}

advice <- function(x, y, ..., fun = n2gfl) {
  classes <- character(0)
  text <- NULL
  withCallingHandlers(
    fun(x, y, graph_grid(c(10, 12, 10)), lambda1 = 0.5, lambda2 = 0.1, ...),
    warning = function(w) {
      classes <<- c(classes, class(w)[1])
      if (inherits(w, "n2gfl_scale_warning")) text <<- conditionMessage(w)
      invokeRestart("muffleWarning")
    })
  stopifnot(sum(classes == "n2gfl_scale_warning") == length(text))  # once at most
  text
}

test_that("a gain is advised about, grey matter and noise are not", {
  withr::local_seed(11)
  p <- cohorts()
  expect_match(advice(p$pet, p$y), "`covariates = ~ global`.*scale = \"mean\".*grey matter")
  expect_match(advice(p$offset, p$y), "Add the mean to the covariates")
  expect_null(advice(p$`grey matter`, p$y))
  expect_null(advice(p$noise, p$y))
  expect_null(advice(matrix(stats::rnorm(100 * 1200), 100), p$y))
  expect_snapshot({
    cat(scale_warning("The means explain 87 %", TRUE), "\n")
    cat(scale_warning("The means explain 87 %", FALSE), "\n")
  })
})

test_that("it comes once from every function, and not if a remedy is used", {
  withr::local_seed(12)
  p <- cohorts(60)
  for (fun in list(cv.n2gfl, perturb_fits)) expect_match(advice(p$pet, p$y, fun = fun), "explain")
  expect_warning(stability_selection(p$pet, p$y, graph_grid(c(10, 12, 10)), cutoff = 0.8, q = 10,
                                     B = 2, lambda2 = 0.1), class = "n2gfl_scale_warning")
  expect_null(advice(p$pet, p$y, sign = "free"))
  expect_null(advice(p$pet, p$y, scale = "mean"))
  expect_null(advice(p$pet, p$y, covariates = ~ global))
  expect_null(advice(p$pet, p$y, covariates = cbind(dose = rowMeans(p$pet))))
  # A gain of the scanners alone is gone with their effects.
  site <- rep(c("a", "b"), c(25, 35))
  scanned <- p$noise / 10 + 2
  scanned <- scanned * ifelse(site == "a", 1, 1.5)
  expect_match(advice(scanned, p$y), "explain")
  expect_null(advice(scanned, p$y, harmonize = ~ site, data = data.frame(site)))
  expect_null(advice(scanned, p$y, covariates = ~ site, data = data.frame(site)))
})

test_that("the share is that of regressions on the row means, given the covariates", {
  withr::local_seed(13)
  n <- 40
  x <- matrix(stats::rnorm(n * 30), n) + stats::rnorm(n)
  z <- cbind(stats::rnorm(n))
  weights <- rep(c(1, 0, 2, 1), 10)
  used <- weights > 0
  share <- function(z) {
    left <- function(v) stats::resid(stats::lm(v ~ z, subset = used))
    m <- left(rowMeans(x))
    sum((t(left(x)) %*% m)^2) / sum(m^2) / sum(left(x)^2)
  }
  found <- function(x, z) share_of_row_means_cpp(x, NULL, weights, z, 1)
  expect_equal(found(x, z), c(share = share(z), smallest = min(rowMeans(x)[used])))
  expect_equal(found(methods::as(x, "CsparseMatrix"), z[, 0])[["share"]], share(rep(1, n)))
  expect_identical(found(x, cbind(rowMeans(x)))[["share"]], 0)
})

test_that("of many features and subjects an even selection tells the share of all", {
  withr::local_seed(15)
  # 64 x 64 pixels: equal steps through them would see the first columns of the image alone, and
  # every fourth subject only.
  n <- 400
  shared <- stats::rnorm(n) * rep(c(0, 1, 1, 1), n / 4)
  loading <- rep(c(0, 1.5), c(4, 60))
  x <- 9 + outer(shared, rep(loading, 64)) + matrix(stats::rnorm(n * 4096), n)
  centred <- scale(x, scale = FALSE)
  m <- rowMeans(centred)
  share <- sum(crossprod(centred, m)^2) / sum(m^2) / sum(centred^2)
  found <- share_of_row_means_cpp(x, NULL, rep(1, n), matrix(0, n, 0), 1)
  expect_equal(found[["share"]], share, tolerance = 0.1)
  expect_gt(found[["smallest"]], 0)
})

test_that("few features or subjects get no advice", {
  withr::local_seed(14)
  x <- exp(matrix(stats::rnorm(30 * 25, sd = 0.1), 30) + stats::rnorm(30))
  y <- stats::rnorm(30)
  fit <- function(rows, columns) {
    n2gfl(x[rows, columns], y[rows], graph_chain(length(columns)), lambda1 = 9, lambda2 = 0.1)
  }
  expect_warning(fit(1:30, 1:25), class = "n2gfl_scale_warning")
  expect_no_warning(fit(1:30, 1:19))
  expect_no_warning(fit(1:19, 1:25))
})
