# Corners of counts, times and levels, and identities that only they have. Each fit is proved
# optimal by expect_kkt().

# Three of six features matter, on a chain.
chain_problem <- function(family, y = NULL, n = 40, sign = "nonnegative", scale = 1, ...) {
  x <- scale * matrix(rnorm(n * 6), n, 6)
  if (is.null(y)) y <- random_response(family, drop(x %*% c(0, 1, 1, 1, 0, 0)) / scale)
  if (is.function(y)) y <- y(drop(x %*% c(0, 1, 1, 1, 0, 0)) / scale)
  reference_problem(x, y, graph_chain(6), family = family, sign = sign, ...)
}

remade <- function(p, ...) do.call(reference_problem, modifyList(p$args, list(...)))

# A row with weak and one with strong penalties.
expect_proved <- function(p, shares = c(0.3, 0.03), thresh = 1e-9, ...) {
  unit <- lambda_unit(p)
  fit <- fit_problem(p, unit * shares, 0.1 * unit, thresh = thresh, ...)
  expect_kkt(fit, p, thresh = thresh)
  fit
}

same_beta <- function(fit, other, tolerance = 1e-4) {
  expect_equal(unname(as.matrix(other$beta)), unname(as.matrix(fit$beta)), tolerance = tolerance)
}

times <- function(time, status = 1, strata = NULL) {
  structure(cbind(time = time, status = rep_len(status, length(time))), strata = strata)
}

penalties <- c("fused", "laplacian")

# ---- counts --------------------------------------------------------------------------------------

test_that("counts: hardly any, huge ones, a wild one", {
  withr::local_seed(701)
  one <- replace(rep(0, 40), 7, 1)
  for (penalty in penalties) for (sign in c("nonnegative", "free")) {
    expect_proved(chain_problem("poisson", one, sign = sign, penalty = penalty))
    expect_proved(chain_problem("poisson", 1e6 * one, sign = sign, penalty = penalty))
    expect_proved(chain_problem("poisson", function(eta) rpois(40, exp(12 + eta)), sign = sign,
                                penalty = penalty))
    wild <- replace(rpois(40, 2), 7, 1e5)
    expect_proved(chain_problem("poisson", wild, sign = sign, penalty = penalty))
    expect_proved(chain_problem("poisson", 1e-6 * rpois(40, 2), sign = sign, penalty = penalty))
  }
})

test_that("counts: exposures over many orders of magnitude are offsets", {
  withr::local_seed(702)
  exposure <- 10^runif(40, -3, 6)
  p <- chain_problem("poisson", function(eta) rpois(40, exposure * exp(-1 + eta / 2)),
                     offset = log(exposure))
  fit <- expect_proved(p)
  # the same in other units of exposure
  other <- expect_proved(remade(p, offset = log(1000 * exposure)))
  same_beta(fit, other)
  expect_equal(other$a0, fit$a0 - log(1000), tolerance = 1e-5)
})

test_that("counts in other units: lambda and the intercept follow", {
  withr::local_seed(703)
  p <- chain_problem("poisson", sign = "free", covariates = matrix(rnorm(40)))
  q <- remade(p, y = 1000 * p$args$y)
  expect_equal(lambda_unit(q), 1000 * lambda_unit(p))
  fit <- expect_proved(p)
  other <- expect_proved(q)
  same_beta(fit, other)
  expect_equal(other$a0, fit$a0 + log(1000), tolerance = 1e-5)
  expect_equal(other$gamma, fit$gamma, tolerance = 1e-4)
})

test_that("counts without lambda1: zeros that a feature explains perfectly", {
  withr::local_seed(704)
  p <- chain_problem("poisson", sign = "free", n = 40)
  x <- p$args$x
  # without a penalty its coefficient would go to -Inf
  x[, 2] <- as.numeric(p$args$y == 0)
  p <- remade(p, x = x)
  unit <- lambda_unit(p)
  fit <- fit_problem(p, 1e-3 * unit, 0, thresh = 1e-9)
  expect_kkt(fit, p, thresh = 1e-9)
  expect_lt(fit$beta[2, 1], -3)
  none <- suppressWarnings(fit_problem(p, 0, 0, maxit = 200))
  expect_true(is.finite(none$grid$gap) && all(is.finite(none$beta@x)))
  expect_identical(none$grid$converged, none$grid$gap <= 1e-6)
})

# ---- times ---------------------------------------------------------------------------------------

test_that("times: everybody has the event, only one has it, all at one time", {
  withr::local_seed(711)
  for (penalty in penalties) for (sign in c("nonnegative", "free")) {
    made <- function(y) chain_problem("cox", y, sign = sign, penalty = penalty)
    expect_proved(made(function(eta) times(rexp(40) * exp(-eta))))
    expect_proved(made(function(eta) times(rexp(40) + 1, c(0, 1, rep(0, 38)))))
    expect_proved(made(function(eta) times(rep(3, 40), rbinom(40, 1, 0.5))))
    expect_proved(made(function(eta) times(ceiling(3 * rexp(40) * exp(-eta)))))
  }
})

test_that("times: events that nobody else could have had explain nothing", {
  withr::local_seed(716)
  p <- chain_problem("cox", times(rep(3, 40)))
  fit <- fit_problem(p, c(0.1, 0), 0.1)
  expect_identical(fit$nulldev, 0)
  expect_identical(sum(fit$beta != 0), 0L)
  expect_identical(fit$grid$gap, c(0, 0))
  # a stratum for each row leaves nothing to compare
  alone <- times(1:40, strata = 1:40)
  expect_error(n2gfl(p$args$x, alone, family = "cox", lambda2 = 0), "another row of its stratum")
})

test_that("times: only their order within a stratum matters", {
  withr::local_seed(712)
  p <- chain_problem("cox", sign = "free")
  y <- p$args$y
  fit <- expect_proved(p)
  rank <- rank(y[, "time"], ties.method = "min")
  ranks <- expect_proved(remade(p, y = times(rank, y[, "status"])))
  same_beta(fit, ranks, 1e-10)
  stretched <- expect_proved(remade(p, y = times(exp(3 * y[, "time"]), y[, "status"])))
  same_beta(fit, stretched, 1e-10)
  # one stratum is none, and strata of which one has no event are those of the other one
  one <- expect_proved(remade(p, y = times(y[, "time"], y[, "status"], rep("a", 40))))
  same_beta(fit, one, 1e-10)
  half <- times(y[, "time"], replace(y[, "status"], 21:40, 0), rep(1:2, each = 20))
  split <- remade(p, y = half)
  alone <- remade(p, y = half, weights = rep(1:0, each = 20))
  expect_equal(lambda_unit(alone), 2 * lambda_unit(split))
  same_beta(expect_proved(split), expect_proved(alone))
})

test_that("times: a row that is never at risk at an event has no influence on the coefficients", {
  withr::local_seed(713)
  p <- chain_problem("cox", sign = "free")
  y <- p$args$y
  y[1, ] <- c(min(y[, "time"]) / 2, 0)
  p <- remade(p, y = y)
  x <- p$args$x
  x[1, ] <- 50
  same_beta(expect_proved(p), expect_proved(remade(p, x = x)))
})

test_that("times: strata, weights of zero and a constant offset", {
  withr::local_seed(714)
  p <- chain_problem("cox", function(eta) {
    times(ceiling(3 * rexp(40) * exp(-eta)), rbinom(40, 1, 0.7), rep(1:4, 10))
  }, weights = c(rep(0, 5), runif(35, 0.5, 2)), covariates = matrix(rnorm(40)))
  fit <- expect_proved(p)
  shifted <- expect_proved(remade(p, offset = rep(100, 40)))
  same_beta(fit, shifted)
  expect_equal(shifted$gamma, fit$gamma, tolerance = 1e-4)
  expect_proved(remade(p, offset = rnorm(40, sd = 5)))
  # a stratum for each row explains everything
  expect_proved(remade(p, y = times(p$args$y[, "time"], p$args$y[, "status"], rep(1:20, 2))))
})

test_that("times: a feature that orders them perfectly", {
  withr::local_seed(715)
  x <- matrix(rnorm(240), 40)
  p <- reference_problem(x, times(exp(-x[, 2])), graph_chain(6), family = "cox", sign = "free")
  unit <- lambda_unit(p)
  fit <- fit_problem(p, 1e-3 * unit, 0, thresh = 1e-9)
  expect_kkt(fit, p, thresh = 1e-9)
  expect_gt(fit$beta[2, 1], 3)
  none <- suppressWarnings(fit_problem(p, 0, 0, maxit = 200))
  expect_true(all(is.finite(none$beta@x)))
  expect_identical(none$grid$converged, none$grid$gap <= 1e-6)
})

# ---- levels --------------------------------------------------------------------------------------

levelled <- function(y, labels = letters[seq_len(max(y))]) factor(labels[y], labels, ordered = TRUE)

test_that("levels: two of them are two classes", {
  withr::local_seed(721)
  for (penalty in penalties) {
    p <- chain_problem("binomial", sign = "free", penalty = penalty,
                       weights = c(0, runif(39, 0.5, 2)), offset = rnorm(40) / 3)
    q <- remade(p, y = levelled(1 + p$args$y), family = "ordinal")
    expect_equal(null_objective(q), null_objective(p))
    classes <- expect_proved(p)
    levels <- expect_proved(q)
    same_beta(classes, levels)
    expect_equal(-unname(levels$own[1, ]), unname(classes$a0), tolerance = 1e-4)
    expect_equal(levels$nulldev, classes$nulldev, tolerance = 1e-9)
    expect_equal(levels$grid$dev.ratio, classes$grid$dev.ratio, tolerance = 1e-5)
  }
})

test_that("levels: one that never occurs, or only with weight 0, does not count", {
  withr::local_seed(722)
  y <- rep(c(1, 2, 4), length.out = 40)
  p <- chain_problem("ordinal", levelled(y), sign = "free")
  q <- remade(p, y = levelled(match(y, c(1, 2, 4)), c("a", "b", "d")))
  fit <- expect_proved(p)
  other <- expect_proved(q)
  same_beta(fit, other, 1e-10)
  expect_identical(nrow(fit$own), 2L)
  expect_identical(fit$own, other$own)
  y[5] <- 3
  expect_identical(nrow(expect_proved(remade(p, y = levelled(y)))$own), 3L)
  weighted <- remade(p, y = levelled(y), weights = replace(rep(1, 40), 5, 0))
  expect_identical(nrow(expect_proved(weighted)$own), 2L)
})

test_that("levels in the reverse order give the mirrored fit", {
  withr::local_seed(723)
  p <- chain_problem("ordinal", covariates = matrix(rnorm(40)))
  y <- as.integer(p$args$y)
  q <- remade(p, y = levelled(max(y) + 1 - y), sign = "nonpositive")
  fit <- expect_proved(p)
  other <- expect_proved(q)
  expect_equal(-as.matrix(other$beta), as.matrix(fit$beta), tolerance = 1e-4)
  expect_equal(unname(-other$own[rev(seq_len(nrow(other$own))), ]), unname(fit$own),
               tolerance = 1e-4)
})

test_that("levels: many, and with one row each", {
  withr::local_seed(724)
  for (penalty in penalties) for (sign in c("nonnegative", "free")) {
    made <- function(y) chain_problem("ordinal", y, sign = sign, penalty = penalty)
    expect_proved(made(function(eta) levelled(rank(eta + rlogis(40)), sprintf("%02d", 1:40))))
    expect_proved(made(levelled(c(2, 3, rep(1, 38)))))
    expect_proved(made(levelled(c(1, 3, rep(2, 38)))))
  }
})

test_that("levels that a feature orders perfectly", {
  withr::local_seed(725)
  x <- matrix(rnorm(240), 40)
  y <- levelled(1 + (x[, 2] > -0.5) + (x[, 2] > 0.5))
  p <- reference_problem(x, y, graph_chain(6), family = "ordinal", sign = "free")
  unit <- lambda_unit(p)
  fit <- fit_problem(p, 1e-3 * unit, 0, thresh = 1e-9)
  expect_kkt(fit, p, thresh = 1e-9)
  expect_gt(fit$beta[2, 1], 3)
  expect_true(all(diff(fit$own[, 1]) > 0))
  none <- suppressWarnings(fit_problem(p, 0, 0, maxit = 200))
  expect_true(is.finite(none$grid$gap) && all(is.finite(none$beta@x)) && all(is.finite(none$own)))
  expect_identical(none$grid$converged, none$grid$gap <= 1e-6)
})

# ---- all three -----------------------------------------------------------------------------------

test_that("features in tiny and in huge units", {
  withr::local_seed(731)
  for (family in c("poisson", "cox", "ordinal")) for (scale in c(1e-6, 1e6)) {
    for (penalty in penalties) {
      expect_proved(chain_problem(family, scale = scale, penalty = penalty))
      expect_proved(chain_problem(family, scale = scale, penalty = penalty, standardize = TRUE))
    }
  }
})

test_that("weights over many orders of magnitude, large offsets", {
  withr::local_seed(732)
  for (family in c("poisson", "cox", "ordinal")) for (penalty in penalties) {
    expect_proved(chain_problem(family, weights = 10^runif(40, -6, 0), penalty = penalty))
    expect_proved(chain_problem(family, offset = rnorm(40, sd = 6), penalty = penalty))
    expect_proved(chain_problem(family, offset = rnorm(40) + 100, penalty = penalty))
  }
})

test_that("features without a penalty of their own", {
  withr::local_seed(733)
  for (family in c("poisson", "cox", "ordinal")) for (penalty in penalties) {
    p <- chain_problem(family, sign = "free", penalty = penalty,
                       penalty.factor = c(0, 1, 0, 1, Inf, 1))
    expect_proved(p)
    expect_proved(p, shares = c(0.1, 0), thresh = 1e-11)
  }
})
