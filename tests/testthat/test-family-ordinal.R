# Ordered classes: peers are MASS::polr(), logistic regression for two levels, and R's optimiser.

ordinal_problem <- function(n = 120, d = 12) {
  p <- family_problem("ordinal", n, d)
  p$coded <- as.integer(p$y)
  p
}

# ---- probabilities -------------------------------------------------------------------------------

test_that("probabilities sum to one, also far from the cut points", {
  own <- cbind(c(-1, 0, 2), c(-0.1, 0, 0.1))
  link <- cbind(c(-800, -3, 0, 1.5, 40, 800), c(-30, -3, 0, 1.5, 30, 40))
  mean <- level_probabilities(link, own)
  expect_identical(dim(mean), c(6L, 4L, 2L))
  expect_equal(apply(mean, c(1, 3), sum), matrix(1, 6, 2))
  expect_true(all(mean >= 0))
  # differences of probabilities near 1 keep their digits
  expect_equal(mean[6, 2, 2], plogis(0 - 40) - plogis(-0.1 - 40), tolerance = 1e-12)
  expect_equal(mean[1, 3, 1], 0)
  expect_equal(level_probability(link, own, 2)[3, 2], plogis(0) - plogis(-0.1))
  cumulative <- cumulative_probabilities(link, own, list(classnames = letters[1:4]))
  expect_equal(unname(cumulative[, 3, ]), unname(1 - mean[, 4, ]))
})

# ---- fits ----------------------------------------------------------------------------------------

test_that("fits converge, their deviance is that of the definition, x may be sparse", {
  withr::local_seed(1601)
  p <- ordinal_problem()
  expect_family_fit(p, p$coded)
  expect_family_fit(p, p$coded, sign = "free")
})

test_that("without penalties everything is polr's", {
  skip_if_not_installed("MASS")
  withr::local_seed(1602)
  p <- ordinal_problem(d = 4)
  w <- p$w / mean(p$w)
  fit <- fit_family(p, lambda1 = 0, thresh = 1e-12, sign = "free", covariates = p$z, offset = p$o,
                    weights = w)
  o <- p$o
  # polr() starts with a binomial model, which warns about weights that are not whole
  direct <- suppressWarnings(MASS::polr(p$y ~ p$z + p$x + offset(o), weights = w,
                                        control = list(reltol = 1e-15, maxit = 500)))
  expect_equal(unname(coef(fit)[, 1]), unname(c(direct$zeta, coef(direct))), tolerance = 1e-4)
  expect_identical(rownames(coef(fit))[1:4], c("AD|MCI", "MCI|NC", "age", "size"))
  expect_identical(dimnames(fit$own), list(c("AD|MCI", "MCI|NC"), "s1"))
  expect_equal(as.numeric(logLik(fit)), as.numeric(logLik(direct)), tolerance = 1e-8)
  expect_identical(attr(logLik(fit), "df"), as.numeric(attr(logLik(direct), "df")))
  expect_equal(deviance(fit), direct$deviance, tolerance = 1e-8)
  mean <- fitted(fit, p$x, covariates = p$z, offset = p$o)
  expect_equal(unname(mean[, , 1]), unname(direct$fitted.values), tolerance = 1e-4)
  expect_identical(dimnames(mean)[[2]], levels(p$y))
  null <- suppressWarnings(MASS::polr(p$y ~ 1 + offset(o), weights = w,
                                      control = list(reltol = 1e-15)))
  expect_equal(fit$nulldev, null$deviance, tolerance = 1e-7)
})

# The penalised fit by R's own optimiser: cut points as a first one and logarithms of differences.
optimised <- function(p, lambda1, sign) {
  objective <- function(theta) {
    cuts <- cumsum(c(theta[1], exp(theta[2])))
    beta <- theta[-(1:2)]
    naive_loss("ordinal", p$coded, drop(p$x %*% beta), cuts = cuts) + lambda1 * sum(abs(beta))
  }
  d <- ncol(p$x)
  side <- if (sign == "nonnegative") c(0, Inf) else c(-Inf, 0)
  best <- stats::optim(c(-1, 0, rep(mean(pmin(pmax(side, -0.1), 0.1)), d)), objective,
                       method = "L-BFGS-B", lower = c(-Inf, -Inf, rep(side[1], d)),
                       upper = c(Inf, Inf, rep(side[2], d)),
                       control = list(factr = 10, maxit = 500))
  list(objective = best$value, cuts = cumsum(c(best$par[1], exp(best$par[2]))),
       beta = best$par[-(1:2)])
}

test_that("the lasso with one sign is the optimum of its objective", {
  withr::local_seed(1603)
  p <- ordinal_problem(n = 60, d = 6)
  for (sign in c("nonnegative", "nonpositive")) {
    fit <- fit_family(p, lambda1 = c(0.05, 0.01), sign = sign)
    for (k in 1:2) {
      ours <- naive_loss("ordinal", p$coded, predict(fit, p$x)[, k], cuts = fit$own[, k]) +
        fit$grid$lambda1[k] * sum(abs(fit$beta[, k]))
      theirs <- optimised(p, fit$grid$lambda1[k], sign)
      expect_lte(ours, theirs$objective + 1e-9)
      expect_equal(unname(fit$beta[, k]), theirs$beta, tolerance = 1e-2)
      expect_equal(unname(fit$own[, k]), theirs$cuts, tolerance = 1e-2)
    }
  }
})

test_that("two levels are the logistic regression", {
  withr::local_seed(1604)
  p <- ordinal_problem()
  p$y <- factor(ifelse(p$coded == 1, "AD", "other"), c("AD", "other"), ordered = TRUE)
  fit <- fit_family(p, lambda2 = 0.02, covariates = p$z, weights = p$w, offset = p$o)
  p$family <- "binomial"
  logistic <- fit_family(p, lambda2 = 0.02, covariates = p$z, weights = p$w, offset = p$o)
  expect_equal(as.matrix(fit$beta), as.matrix(logistic$beta), tolerance = 1e-4)
  expect_equal(unname(fit$own[1, ]), -unname(logistic$a0), tolerance = 1e-4)
  expect_equal(fit$grid$dev.ratio, logistic$grid$dev.ratio, tolerance = 1e-8)
})

test_that("reversed levels reverse the signs", {
  withr::local_seed(1605)
  p <- ordinal_problem()
  fit <- fit_family(p, lambda2 = 0.02, sign = "nonnegative")
  p$y <- factor(p$y, rev(levels(p$y)), ordered = TRUE)
  reversed <- fit_family(p, lambda2 = 0.02, sign = "nonpositive")
  expect_equal(as.matrix(reversed$beta), -as.matrix(fit$beta), tolerance = 1e-5)
  expect_equal(unname(reversed$own), -unname(fit$own[2:1, ]), tolerance = 1e-5)
})

test_that("many levels, some with one row", {
  withr::local_seed(1606)
  p <- ordinal_problem(n = 80)
  latent <- rowSums(p$x[, 1:4]) + stats::rlogis(80)
  p$coded <- findInterval(latent, sort(latent)[c(2, 10, 20, 30, 40, 60, 79, 80)]) + 1
  p$y <- factor(p$coded, ordered = TRUE)
  fit <- fit_family(p, lambda2 = 0.01)
  expect_true(all(fit$grid$converged))
  expect_identical(nrow(fit$own), nlevels(p$y) - 1L)
  expect_true(all(apply(fit$own, 2, diff) > 0))
})

# ---- the response --------------------------------------------------------------------------------

test_that("levels that do not occur in rows with weight are not in the model", {
  withr::local_seed(1607)
  p <- ordinal_problem()
  levels <- c("demented", "AD", "MCI", "between", "NC", "super")
  more <- p
  more$y <- factor(as.character(p$y), levels, ordered = TRUE)
  expect_identical(fit_family(more)$beta, fit_family(p)$beta)
  expect_identical(fit_family(more)$classnames, c("AD", "MCI", "NC"))
  more$y[1:4] <- c("demented", "between", "super", "AD")
  weights <- rep(c(0, 1), c(4, 116))
  fit <- fit_family(more, weights = weights)
  expect_identical(fit$classnames, c("AD", "MCI", "NC"))
  expect_equal(fit$beta, fit_family(p, weights = weights)$beta, tolerance = 1e-8)
})

test_that("bad levels get one sentence", {
  x <- matrix(c(1, 2, 3, 4, 2, 5), 6)
  y <- factor(c("a", "b", "c", "a", "b", "c"), ordered = TRUE)
  fit <- function(y, ...) n2gfl(x, y, family = "ordinal", lambda2 = 0, ...)
  expect_snapshot({
    refusal(fit(1:6))
    refusal(fit(as.character(y)))
    refusal(fit(factor(y, ordered = FALSE)))
    refusal(fit(y[c(1, 4, 1, 4, 1, 4)]))
    refusal(fit(y, weights = c(1, 0, 0, 1, 0, 0)))
    refusal(fit(replace(y, 3, NA)))
    refusal(fit(y[1:5]))
    refusal(n2gfl(x, y, family = "multinomial", lambda2 = 0))
    refusal(cv.n2gfl(x, y, family = "multinomial", lambda2 = 0))
  })
})

# ---- folds ---------------------------------------------------------------------------------------

test_that("every fold gets its share of each level, and every training set has all levels", {
  withr::local_seed(1608)
  p <- ordinal_problem()
  table <- table(make_folds(p$y, 4), p$y)
  expect_true(all(apply(table, 2, function(n) max(n) - min(n)) <= 1))
  rare <- p$y
  rare[rare == "AD"] <- "MCI"
  rare[1] <- "AD"
  rare[2] <- if (rare[2] == "NC") "NC" else "MCI"
  run <- function(y, ...) {
    cv.n2gfl(p$x, y, family = "ordinal", lambda2 = 0, nlambda1 = 3, ...)
  }
  expect_snapshot({
    refusal(run(rare, nfolds = 5))
    refusal(run(rare, foldid = rep(1:4, 30)))
    refusal(run(replace(rare, 5, "AD"), foldid = rep(1:4, 30)))
    refusal(perturb_fits(p$x, rare, p$graph, family = "ordinal", perturb = "jackknife",
                         lambda2 = 0.1))
  })
  expect_warning(run(replace(rare, 6, "AD"), nfolds = 5), "3 folds hold out none of them")
})

test_that("scores are those of the definitions, with the cut points of each fold", {
  withr::local_seed(1609)
  p <- ordinal_problem()
  for (measure in names(ordinal_measures())) {
    cv <- quick_cv(p, type.measure = measure, weights = p$w, keep = TRUE)
    own <- lapply(cv$fold.fits, `[[`, "own")
    by_fold <- t(vapply(1:4, function(k) {
      held <- which(cv$foldid == k)
      vapply(seq_len(nrow(cv$grid)), function(j) {
        below <- rbind(0, plogis(outer(own[[k]][, j], cv$fit.preval[held, j], "-")), 1)
        each <- apply(below, 2, diff)
        y <- p$coded[held]
        best <- apply(each, 2, which.max)
        seen <- outer(1:2, y, ">=")
        loss <- switch(measure, deviance = -2 * log(pmax(each[cbind(y, seq_along(y))], 1e-5)),
                       class = best != y, mae = abs(best - y),
                       rps = colMeans((below[2:3, ] - seen)^2))
        stats::weighted.mean(loss, p$w[held])
      }, 0)
    }, numeric(nrow(cv$grid))))
    weights <- c(tapply(p$w, cv$foldid, sum))
    expect_equal(cv$cvm, apply(by_fold, 2, stats::weighted.mean, w = weights), label = measure)
  }
})

test_that("nested, repeated, perturbed and deconfounded runs work", {
  withr::local_seed(1610)
  p <- ordinal_problem()
  cv <- quick_cv(p, nested = TRUE)
  expect_true(all(is.finite(cv$nested$estimate$cvm)))
  nested <- assess(cv)
  mean <- nested$predictions
  expect_identical(mean$observed, p$coded + 0)
  held <- cv$foldid == 2
  own <- cv$nested$own[[2]][, "stable", drop = FALSE]
  expect_identical(mean$predicted[held],
                   likeliest_level(cv$nested$link[held, "stable", drop = FALSE], own)[, 1])
  twice <- assess(quick_cv(p, foldid = cbind(rep(1:4, 30), rep(1:3, each = 40))))
  expect_equal(sum(twice$confusion$n), 120)
  for (kind in c("bootstrap", "subsample", "cv")) {
    runs <- perturb_fits(p$x, p$y, p$graph, family = "ordinal", perturb = kind, B = 3,
                         lambda1 = c(0.1, 0.03), lambda2 = 0.02)
    expect_identical(dim(runs$fold.fits[[1]]$own), c(2L, 2L))
  }
  selection <- stability_selection(p$x, p$y, p$graph, family = "ordinal", cutoff = 0.75, q = 5,
                                   B = 3, lambda2 = 0.02)
  expect_true(any(selection$prob[1:4] > 0.5))
  expect_message(fit <- n2gfl(p$x, p$y, p$graph, family = "ordinal", covariates = p$z,
                              deconfound = "controls", lambda1 = 0.02, lambda2 = 0.01),
                 "the controls are the subjects of class \"NC\"", fixed = TRUE)
  expect_true(fit$grid$converged)
})

# ---- edge cases and methods ----------------------------------------------------------------------

test_that("levels in perfect order have no optimum without penalties; penalised fits converge", {
  withr::local_seed(1611)
  p <- ordinal_problem(n = 60, d = 4)
  p$y <- cut(p$x[, 1], c(-Inf, -0.5, 0.5, Inf), c("AD", "MCI", "NC"), ordered_result = TRUE)
  fit <- fit_family(p, lambda1 = c(0.05, 0.001), thresh = 1e-6)
  expect_true(all(fit$grid$converged))
  expect_warning(coef(fit, row = 1, refit = TRUE, x = p$x, y = p$y), "order the levels perfectly")
})

test_that("every type of prediction follows its formula", {
  withr::local_seed(1612)
  p <- ordinal_problem()
  rownames(p$x) <- paste0("r", 1:120)
  fit <- fit_family(p)
  link <- predict(fit, p$x)
  mean <- predict(fit, p$x, type = "response")
  expect_identical(dimnames(mean), list(rownames(p$x), levels(p$y), paste0("s", 1:3)))
  cumulative <- predict(fit, p$x, type = "cumulative")
  expect_identical(dimnames(cumulative)[[2]], c("AD", "MCI"))
  for (k in 1:3) {
    below <- plogis(outer(-link[, k], fit$own[, k], "+"))
    expect_equal(unname(cumulative[, , k]), unname(below))
    expect_equal(unname(mean[, , k]), unname(cbind(below[, 1], below[, 2] - below[, 1],
                                                   1 - below[, 2])))
  }
  class <- predict(fit, p$x, type = "class")
  expect_identical(dim(class), c(120L, 3L))
  likeliest <- apply(mean[, , 2], 1, which.max)
  expect_identical(class[, 2], stats::setNames(levels(p$y)[likeliest], names(likeliest)))
  expect_output(print(fit), "Levels: AD < MCI < NC")
  expect_snapshot({
    refusal(predict(fit, p$x, type = "survival"))
    refusal(residuals(fit, p$x, p$y))
    refusal(coef(fit, row = 1, refit = TRUE, x = p$x, y = factor(p$coded, ordered = TRUE)))
    refusal(assess(fit, p$x, p$coded, row = 1))
    refusal(plot(assess(fit, p$x, p$y, row = 1), type = "roc"))
  })
})

test_that("the table of levels is drawn, levels that nobody has or predicts too", {
  withr::local_seed(1614)
  p <- ordinal_problem()
  fit <- fit_family(p, lambda1 = 0.05)
  local_device()
  scores <- assess(fit, p$x, p$y)
  expect_silent(plot(scores, cex = 0.8))
  few <- p$y == "AD"
  expect_silent(plot(assess(fit, p$x[few, ], p$y[few])))
  expect_error(plot(scores, lwd = 2), "there is an argument `lwd`")
})

test_that("exact fits and refits have cut points of their own", {
  skip_if_not_installed("MASS")
  withr::local_seed(1613)
  p <- ordinal_problem()
  fit <- fit_family(p, lambda1 = c(0.2, 0.05))
  s <- c(lambda1 = 0.1, lambda2 = 0)
  exact <- coef(fit, s = s, exact = TRUE, x = p$x, y = p$y)[, 1]
  expect_equal(exact, coef(fit_family(p, lambda1 = 0.1))[, 1], tolerance = 1e-4)
  on <- which(fit$beta[, 2] != 0)
  refitted <- coef(fit, row = 2, refit = TRUE, x = p$x, y = p$y)[c(1:2, 2 + on), 1]
  direct <- MASS::polr(p$y ~ p$x[, on])
  expect_equal(unname(refitted), unname(c(direct$zeta, coef(direct))), tolerance = 1e-3)
})

test_that("assess() has the measures by hand, for new data and held-out rows", {
  withr::local_seed(1614)
  p <- ordinal_problem()
  fit <- fit_family(p, lambda1 = 0.03)
  found <- assess(fit, p$x, p$y, newweights = p$w)
  class <- match(predict(fit, p$x, type = "class")[, 1], levels(p$y))
  below <- predict(fit, p$x, type = "cumulative")[, , 1]
  rps <- rowMeans((below - outer(p$coded, 1:2, "<="))^2)
  by_hand <- c(stats::weighted.mean(class == p$coded, p$w),
               stats::weighted.mean(abs(class - p$coded), p$w), stats::weighted.mean(rps, p$w))
  expect_identical(found$measures$measure, c("accuracy", "mae", "rps"))
  expect_equal(found$measures$estimate, by_hand)
  expect_true(all(found$measures$lower < by_hand & by_hand < found$measures$upper))
  expect_equal(sum(found$confusion$n), 120)
  expect_null(found$calibration)
  cv <- quick_cv(p, type.measure = "rps")
  held <- assess(cv)$measures
  # folds of equal size and weight: the mean over folds is that over rows
  expect_equal(held$estimate[held$measure == "rps"], cv$cvm[cv$index[["stable"]]])
  expect_output(print(assess(cv)), "120 observations: .*most frequent level.*Most probable level")
})

test_that("augment() and tidy() know levels and cut points", {
  skip_if_not_installed("generics")
  withr::local_seed(1615)
  p <- ordinal_problem()
  fit <- fit_family(p, lambda1 = 0.03)
  table <- generics::augment(fit, p$x)
  expect_identical(names(table), c(".class", ".prob.AD", ".prob.MCI", ".prob.NC"))
  expect_identical(as.character(table$.class), unname(predict(fit, p$x, type = "class")[, 1]))
  expect_true(is.ordered(table$.class))
  expect_equal(unname(as.matrix(table[-1])), unname(fitted(fit, p$x)[, , 1]))
  expect_identical(generics::tidy(fit)$term[1:2], c("AD|MCI", "MCI|NC"))
})
