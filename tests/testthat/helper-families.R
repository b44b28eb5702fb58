# Losses of counts, times and ordered classes from their definitions, row by row and without code of
# the package: half the deviance for weights of sum 1. `y` is coded as the package codes it.

naive_loss <- function(family, y, eta, weights = rep(1, length(eta)), cuts = NULL) {
  w <- weights / sum(weights)
  on <- which(w > 0)
  if (family == "poisson") {
    entropy <- ifelse(y > 0, y * log(y), 0)
    return(sum(w * (exp(eta) - y * eta - y + entropy)))
  }
  if (family == "ordinal") {
    below <- function(k) if (k == 0) 0 else if (k > length(cuts)) 1 else plogis(cuts[k] - eta[i])
    each <- numeric(length(eta))
    for (i in on) each[i] <- -log(below(y[i]) - below(y[i] - 1))
    return(sum(w * each))
  }
  total <- 0
  for (s in unique(y[on, "stratum"])) {
    here <- on[y[on, "stratum"] == s]
    for (t in unique(y[here, "time"][y[here, "status"] == 1])) {
      events <- here[y[here, "time"] == t & y[here, "status"] == 1]
      at_risk <- here[y[here, "time"] >= t]
      weight <- sum(w[events])
      total <- total + weight * log(sum(w[at_risk] * exp(eta[at_risk])) / weight) -
        sum(w[events] * eta[events])
    }
  }
  total
}

# A response of each family that rises with eta (for times: the hazard does).
family_response <- function(family, eta) {
  switch(
    family,
    gaussian = 1 + eta + stats::rnorm(length(eta)),
    binomial = random_classes(eta / 2),
    poisson = stats::rpois(length(eta), exp(eta / 2)),
    cox = tied_times(eta),
    ordinal = three_levels(eta)
  )
}

# Whole numbers of days, so that some are tied, with about a third censored.
tied_times <- function(eta) {
  time <- ceiling(20 * stats::rexp(length(eta), exp(eta)))
  censored <- ceiling(40 * stats::rexp(length(eta)))
  cbind(time = pmin(time, censored), status = as.numeric(time <= censored))
}

# Three levels, each of which occurs several times.
three_levels <- function(eta) {
  latent <- eta + stats::rlogis(length(eta))
  code <- findInterval(latent, stats::quantile(latent, c(0.3, 0.7)))
  factor(c("AD", "MCI", "NC")[code + 1], c("AD", "MCI", "NC"), ordered = TRUE)
}

# A problem with signal in the first features of a chain.
family_problem <- function(family, n = 80, d = 12) {
  data <- cv_problem(family, n, d)
  data$w <- stats::runif(n, 0.3, 2)
  data$o <- stats::rnorm(n) / 3
  data$z <- cbind(age = stats::rnorm(n), size = stats::runif(n))
  data
}

# A fit at given penalties, random effects in both directions included.
fit_family <- function(p, ..., lambda1 = c(0.1, 0.03, 0.01), lambda2 = 0, thresh = 1e-10) {
  any_sign(n2gfl(p$x, p$y, p$graph, family = p$family, lambda1 = lambda1, lambda2 = lambda2,
                 thresh = thresh, ...))
}

# What all fits of a family must keep: they have converged, the deviance is that of the definition,
# the features do not depend on how x is stored, and rows of weight 0 have no influence.
expect_family_fit <- function(p, coded, ...) {
  fit <- fit_family(p, lambda2 = c(0.02, 0), weights = p$w, offset = p$o, covariates = p$z, ...)
  testthat::expect_true(all(fit$grid$converged))
  testthat::expect_lte(max(fit$grid$gap), 1e-10)
  link <- predict(fit, p$x, newcovariates = p$z, newoffset = p$o)
  own <- if (family_of(p$family)$own_terms) fit$own
  by_hand <- vapply(seq_len(ncol(link)), function(k) {
    naive_loss(p$family, coded, link[, k], p$w, own[, k])
  }, 0)
  testthat::expect_equal(deviance(fit), 2 * nrow(p$x) * by_hand, tolerance = 1e-8)
  sparse <- p
  sparse$x <- Matrix::Matrix(p$x, sparse = TRUE)
  again <- fit_family(sparse, lambda2 = c(0.02, 0), weights = p$w, offset = p$o,
                      covariates = p$z, ...)
  testthat::expect_equal(again$beta, fit$beta, tolerance = 1e-5)
  expect_no_influence(p, ...)
}

# Rows of weight 0 are as if they were not there.
expect_no_influence <- function(p, ...) {
  n <- nrow(p$x)
  used <- seq_len(n) > 15
  part <- p
  part$x <- p$x[used, ]
  part$y <- response_rows(p$y, used)
  all <- fit_family(p, weights = used + 0, ...)
  some <- fit_family(part, ...)
  testthat::expect_equal(unname(as.matrix(all$beta)), unname(as.matrix(some$beta)),
                         tolerance = 1e-5)
  testthat::expect_equal(all$grid$dev.ratio, some$grid$dev.ratio, tolerance = 1e-7)
  testthat::expect_equal(all$own, some$own, tolerance = 1e-5)
}

# glmnet's lasso of the same problem at the same penalties.
glmnet_family <- function(p, lambda1, sign, weights = NULL, offset = NULL, y = p$y) {
  glmnet::glmnet(p$x, y, family = p$family, weights = weights, offset = offset, lambda = lambda1,
                 standardize = FALSE, thresh = 1e-14, maxit = 1e6,
                 lower.limits = if (sign == "nonnegative") 0 else -Inf,
                 upper.limits = if (sign == "nonpositive") 0 else Inf)
}

expect_glmnet_family <- function(p, sign, y = p$y, tolerance = 1e-4, ...) {
  lambda1 <- c(0.2, 0.1, 0.03, 0.01)
  ours <- fit_family(p, lambda1 = lambda1, sign = sign, ...)
  theirs <- glmnet_family(p, lambda1, sign, ..., y = y)
  size <- max(abs(theirs$beta))
  case <- paste(p$family, sign, paste(names(list(...)), collapse = " "))
  testthat::expect_lte(max(abs(ours$beta - theirs$beta)), tolerance * size, label = case)
  testthat::expect_lte(max(abs(ours$grid$dev.ratio - theirs$dev.ratio)), tolerance, label = case)
  invisible(ours)
}

# cv.glmnet's scores with the same folds and penalties.
expect_glmnet_scores <- function(p, measure, sign = "free", y = p$y, weights = NULL, foldid) {
  lambda1 <- c(0.15, 0.08, 0.04, 0.02, 0.01)
  theirs <- glmnet::cv.glmnet(p$x, y, family = p$family, weights = weights, lambda = lambda1,
                              foldid = foldid, type.measure = measure, standardize = FALSE,
                              thresh = 1e-14, maxit = 1e6,
                              lower.limits = if (sign == "nonnegative") 0 else -Inf)
  ours <- any_sign(cv.n2gfl(p$x, p$y, family = p$family, sign = sign, weights = weights,
                            foldid = foldid, type.measure = measure, lambda1 = lambda1,
                            lambda2 = 0, thresh = 1e-11))
  # glmnet 4 divides a partial deviance by the weight of the events, not of all rows held out: the
  # mean over the folds differs by one factor, the standard error by one for each fold.
  by_event <- p$family == "cox" && measure == "deviance" && utils::packageVersion("glmnet") < "5.0"
  w <- if (is.null(weights)) rep(1, nrow(p$x)) else weights
  unit <- if (by_event) sum(w * p$y[, "status"]) / sum(w) else 1
  case <- paste(measure, sign)
  testthat::expect_equal(ours$cvm, theirs$cvm * unit, tolerance = 1e-4, label = case)
  if (!by_event) testthat::expect_equal(ours$cvsd, theirs$cvsd, tolerance = 1e-3, label = case)
  testthat::expect_identical(ours$lambda.min[["lambda1"]], theirs$lambda.min)
}
