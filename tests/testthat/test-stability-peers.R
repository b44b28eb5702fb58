# The measures of stabm and the bounds and selections of stabs.

# Rows: this package and stabm.
both_panels <- function(sets, p) {
  panel <- stability(sets_matrix(sets, p))
  theirs <- c(
    dice = stabm::stabilityDice(sets, p), jaccard = stabm::stabilityJaccard(sets, p),
    ochiai = stabm::stabilityOchiai(sets, p), kappa = stabm::stabilityKappa(sets, p),
    lustgarten = stabm::stabilityLustgarten(sets, p), phi = stabm::stabilityPhi(sets, p),
    nogueira = stabm::stabilityNogueira(sets, p),
    # For sets of one size stabm's generalisation is Kuncheva's index.
    kuncheva = if (length(unique(lengths(sets))) == 1) stabm::stabilityUnadjusted(sets, p) else NA
  )
  rbind(unlist(panel[names(theirs)]), theirs)
}

test_that("the panel agrees with stabm on 100 random selections", {
  skip_if_not_installed("stabm")
  withr::local_seed(51)
  panels <- lapply(1:100, function(k) {
    p <- sample(6:60, 1)
    size <- sample(p - 1, 1)
    both_panels(random_sets(sample(2:8, 1), p, if (k %% 3) 1:(p - 1) else size), p)
  })
  panels <- do.call(rbind, panels)
  expect_identical(nrow(panels), 200L)
  rownames(panels) <- NULL
  expect_equal(panels[c(TRUE, FALSE), ], panels[c(FALSE, TRUE), ], tolerance = 1e-12)
})

# Cutoff, q and bound of both packages.
both_bounds <- function(...) {
  theirs <- stabs::stabsel_parameters(...)
  ours <- stability_bound(...)
  rbind(unlist(ours[c("cutoff", "q", "PFER")]), unlist(theirs[c("cutoff", "q", "PFER")]))
}

expect_same_bounds <- function(bounds) {
  bounds <- do.call(rbind, bounds)
  ours <- bounds[c(TRUE, FALSE), ]
  theirs <- bounds[c(FALSE, TRUE), ]
  expect_equal(ours[, c("cutoff", "q")], theirs[, c("cutoff", "q")], tolerance = 1e-7)
  # stabs rounds its bound to three digits.
  expect_lt(max(abs(ours[, "PFER"] / theirs[, "PFER"] - 1)), 5.1e-3)
}

test_that("the error bounds agree with stabs on 100 random choices", {
  skip_if_not_installed("stabs")
  withr::local_seed(52)
  for (assumption in c("none", "unimodal")) {
    expect_same_bounds(lapply(1:100, function(k) {
      p <- sample(50:3000, 1)
      q <- sample(2:round(p / 12), 1)
      cutoff <- sample(60:95, 1) / 100
      B <- sample(c(20, 50), 1)
      # A rate that some cutoff reaches: where none does, stabs goes on, and here it is an error.
      PFER <- 2.1 * q^2 / p
      rbind(both_bounds(p = p, q = q, cutoff = cutoff, B = B, assumption = assumption),
            both_bounds(p = p, q = q, PFER = PFER, B = B, assumption = assumption),
            both_bounds(p = p, PFER = PFER, cutoff = cutoff, B = B, assumption = assumption),
            both_bounds(p = p, q = q, cutoff = cutoff, B = B, sampling.type = "MB"))
    }))
  }
})

test_that("the r-concave bounds agree with stabs", {
  skip_if_not_installed("stabs")
  bound <- function(...) both_bounds(..., B = 10, assumption = "r-concave")
  expect_same_bounds(list(
    bound(p = 60, q = 3, cutoff = 0.6), bound(p = 300, q = 25, cutoff = 0.85),
    bound(p = 2000, q = 40, cutoff = 0.55), bound(p = 1000, q = 2, cutoff = 0.95),
    bound(p = 100, q = 6, PFER = 0.5), bound(p = 60, PFER = 0.5, cutoff = 0.7)
  ))
})

# stabs::glmnet.lasso() without the `pmax` of glmnet, which also counts features that its iterations
# visited and left again.
first_features <- function(x, y, q) {
  fit <- glmnet::glmnet(x, y, standardize = FALSE, lambda.min.ratio = 0.01, thresh = 1e-13)
  entered <- apply(as.matrix(fit$beta) != 0, 1, cumsum) > 0
  list(selected = unname(fit$beta[, max(which(rowSums(entered) <= q))] != 0))
}

test_that("without fusion and signs the selections are those of stabs with glmnet", {
  skip_if_not_installed("stabs")
  skip_if_not_installed("glmnet")
  withr::local_seed(53)
  n <- 60
  x <- matrix(rnorm(n * 25), n)
  y <- drop(x[, 1:4] %*% c(1, -1, 0.6, 0.4)) + rnorm(n)
  for (sampling.type in c("SS", "MB")) {
    withr::local_seed(54)
    ours <- stability_selection(x, y, graph_chain(25), cutoff = 0.8, q = 6, B = 10, lambda2 = 0,
                                sign = "free", sampling.type = sampling.type, thresh = 1e-10)
    withr::local_seed(54)
    folds <- replicate(10, make_folds(rep(1, n), 2) == 1) + 0
    theirs <- stabs::stabsel(x, y, fitfun = first_features, cutoff = 0.8, q = 6, B = 10,
                             folds = folds, sampling.type = sampling.type, papply = lapply)
    expect_equal(ours$prob, unname(theirs$max), tolerance = 1e-12)
    expect_equal(ours$selected, unname(theirs$selected))
    expect_equal(ours$PFER, theirs$PFER, tolerance = 5e-3)
  }
})
