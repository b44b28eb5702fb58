# Times to an event: peers are glmnet, and survival's coxph(ties = "breslow"), survfit() and
# concordance().

# The same problem as the coded matrix, as a Surv object, and with strata of glmnet.
cox_problem <- function(n = 100, d = 12, strata = 1) {
  p <- family_problem("cox", n, d)
  p$stratum <- rep_len(seq_len(strata), n)
  p$coded <- cbind(p$y, stratum = p$stratum)
  if (strata > 1) p$y <- p$coded
  p
}

surv <- function(p) survival::Surv(p$y[, "time"], p$y[, "status"])

stratified <- function(p) glmnet::stratifySurv(surv(p), p$stratum)

skip_without_peers <- function() {
  skip_if_not_installed("survival")
  skip_if_not_installed("glmnet")
}

# ---- the deviance --------------------------------------------------------------------------------

test_that("the partial deviance is that of its definition and glmnet's, with ties and strata", {
  withr::local_seed(1501)
  p <- cox_problem(strata = 3)
  expect_gt(anyDuplicated(p$y[p$y[, "status"] == 1, "time"]), 0)
  link <- matrix(stats::rnorm(200), 100)
  weights <- replace(p$w, 1:10, 0)
  ours <- partial_deviance(p$coded, link, weights)
  by_hand <- apply(link, 2, function(eta) naive_loss("cox", p$coded, eta, weights))
  expect_equal(ours, 2 * sum(weights) * by_hand)
  # a number that is added to all links cancels, also one for which exp() overflows
  expect_equal(partial_deviance(p$coded, link + 3000, weights), ours, tolerance = 1e-9)
  expect_equal(partial_deviance(p$coded, link - 3000, weights), ours, tolerance = 1e-9)
  skip_without_peers()
  theirs <- glmnet::coxnet.deviance(link, stratified(p), weights = p$w, std.weights = FALSE)
  expect_equal(partial_deviance(p$coded, link, p$w), theirs)
})

test_that("fits converge, their deviance is that of the definition, x may be sparse", {
  withr::local_seed(1502)
  p <- cox_problem()
  expect_family_fit(p, p$coded)
  expect_family_fit(p, p$coded, sign = "free")
  p <- cox_problem(strata = 3)
  expect_family_fit(p, p$coded)
})

# ---- peers ---------------------------------------------------------------------------------------

for (sign in c("free", "nonnegative", "nonpositive")) {
  test_that(paste("the lasso of times is glmnet's, with ties:", sign), {
    skip_without_peers()
    withr::local_seed(1503)
    p <- cox_problem()
    expect_glmnet_family(p, sign, y = surv(p))
    expect_glmnet_family(p, sign, y = surv(p), weights = p$w)
    expect_glmnet_family(p, sign, y = surv(p), offset = p$o)
    expect_glmnet_family(p, sign, y = surv(p), weights = p$w, offset = p$o)
  })
}

test_that("with strata too", {
  skip_without_peers()
  withr::local_seed(1504)
  p <- cox_problem(n = 120, strata = 3)
  for (sign in c("free", "nonnegative")) {
    # glmnet's own algorithm for strata stops earlier
    ours <- expect_glmnet_family(p, sign, y = stratified(p), tolerance = 1e-3)
    expect_identical(ours$strata, c("1", "2", "3"))
  }
})

# An unpenalised fit and coxph()'s.
unpenalised_pair <- function(strata, n = 120) {
  p <- cox_problem(n, d = 4, strata = strata)
  p$w <- p$w / mean(p$w)
  fit <- fit_family(p, lambda1 = 0, thresh = 1e-12, sign = "free", covariates = p$z,
                    offset = p$o, weights = p$w)
  data <- data.frame(p$y[, c("time", "status")], stratum = p$stratum, p$z, o = p$o, x = I(p$x))
  formula <- survival::Surv(time, status) ~ age + size + x + offset(o)
  if (strata > 1) formula <- update(formula, . ~ . + strata(stratum))
  strata <- survival::strata
  environment(formula) <- environment()
  direct <- survival::coxph(formula, data, weights = p$w, ties = "breslow",
                            control = survival::coxph.control(1e-12, toler.chol = 1e-14))
  list(p = p, fit = fit, direct = direct, data = data)
}

for (strata in c(1, 3)) {
  test_that(paste("without penalties everything is coxph's, strata:", strata), {
    skip_without_peers()
    withr::local_seed(1505)
    pair <- unpenalised_pair(strata)
    p <- pair$p
    fit <- pair$fit
    expect_equal(unname(coef(fit)[, 1]), unname(coef(pair$direct)), tolerance = 1e-5)
    expect_equal(as.numeric(logLik(fit)), as.numeric(logLik(pair$direct)), tolerance = 1e-8)
    expect_identical(attr(logLik(fit), "df"), as.numeric(attr(logLik(pair$direct), "df")))
    expect_equal(c(AIC(fit), BIC(fit)), c(AIC(pair$direct), BIC(pair$direct)), tolerance = 1e-8)
    for (type in c("martingale", "deviance")) {
      ours <- residuals(fit, p$x, p$y, type = type, covariates = p$z, offset = p$o, weights = p$w)
      expect_equal(unname(ours[, 1]), unname(residuals(pair$direct, type)), tolerance = 1e-4)
    }
  })

  test_that(paste("the baseline hazard and survival curves are survival's, strata:", strata), {
    skip_without_peers()
    withr::local_seed(1506)
    pair <- unpenalised_pair(strata)
    p <- pair$p
    fit <- pair$fit
    new <- 1:6
    newstrata <- if (strata > 1) p$stratum[new]
    times <- c(0, 1, 3, 10, 25)
    curves <- predict(fit, p$x[new, ], newcovariates = p$z[new, ], newoffset = p$o[new],
                      type = "survival", times = times, newstrata = newstrata)
    expect_identical(dim(curves), c(6L, 5L, 1L))
    medians <- predict(fit, p$x[new, ], newcovariates = p$z[new, ], newoffset = p$o[new],
                       type = "time", newstrata = newstrata)
    late <- predict(fit, p$x[new, ], newcovariates = p$z[new, ], newoffset = p$o[new],
                    type = "time", quantile = 0.8, newstrata = newstrata)
    for (i in new) {
      curve <- survival::survfit(pair$direct, newdata = pair$data[i, ])
      theirs <- summary(curve, times = times, extend = TRUE)$surv
      known <- times <= fit$follow_up[if (strata > 1) p$stratum[i] else 1]
      expect_equal(unname(curves[i, known, 1]), theirs[known], tolerance = 1e-4)
      expect_true(all(is.na(curves[i, !known, 1])))
      limits <- as.vector(stats::quantile(curve, c(0.5, 0.8), conf.int = FALSE))
      expect_equal(c(medians[i], late[i]), limits)
    }
    hazard <- survival::basehaz(pair$direct, centered = FALSE)
    labels <- if (strata > 1) paste0("stratum=", fit$baseline$stratum) else rep(1, nrow(fit$own))
    wanted <- vapply(seq_along(labels), function(k) {
      here <- hazard$time == fit$baseline$time[k]
      if (strata > 1) here <- here & hazard$strata == labels[k]
      hazard$hazard[here]
    }, 0)
    # survival's baseline is at the mean of the offset
    ratio <- exp(fit$own[, 1]) / wanted
    expect_equal(ratio, rep(ratio[1], length(ratio)), tolerance = 1e-4)
  })
}

test_that("a baseline without offset is basehaz(centered = FALSE)", {
  skip_without_peers()
  withr::local_seed(1507)
  p <- cox_problem(d = 4)
  fit <- fit_family(p, lambda1 = 0, sign = "free")
  direct <- survival::coxph(surv(p) ~ p$x, ties = "breslow")
  hazard <- survival::basehaz(direct, centered = FALSE)
  events <- hazard$time %in% fit$baseline$time
  expect_equal(exp(fit$own[, 1]), hazard$hazard[events], tolerance = 1e-4)
  expect_identical(fit$baseline$time, hazard$time[events])
  expect_identical(fit$events, sum(p$y[, "status"]))
})

for (sign in c("free", "nonnegative")) {
  test_that(paste("scores are cv.glmnet's:", sign), {
    skip_without_peers()
    withr::local_seed(1508)
    p <- cox_problem()
    foldid <- sample(rep(1:4, 25))
    # glmnet 4 rescales the weights of all rows and of the training rows to mean 1, so that the two
    # deviances which it subtracts have different units, unless the mean weight is the same in all
    # folds
    weights <- p$w / stats::ave(p$w, foldid)
    for (measure in c("deviance", "C")) {
      expect_glmnet_scores(p, measure, sign, y = surv(p), foldid = foldid)
      expect_glmnet_scores(p, measure, sign, y = surv(p), weights = weights, foldid = foldid)
    }
  })
}

test_that("the deviance with strata is cv.glmnet's, the concordance is survival's within strata", {
  skip_without_peers()
  withr::local_seed(1509)
  p <- cox_problem(n = 120, strata = 2)
  foldid <- sample(rep(1:4, 30))
  expect_glmnet_scores(p, "deviance", "free", y = stratified(p), foldid = foldid)
  link <- cbind(stats::rnorm(120), round(stats::rnorm(120)), 0)
  weights <- replace(p$w, 1:5, 0)
  theirs <- apply(link, 2, function(eta) {
    data <- data.frame(eta, stratum = p$stratum)
    strata <- survival::strata
    survival::concordance(surv(p) ~ eta + strata(stratum), data, weights = weights,
                          reverse = TRUE)$concordance
  })
  expect_equal(concordance(p$coded, link, weights), unname(theirs))
})

test_that("the held-out deviance compares all rows with the training rows", {
  withr::local_seed(1510)
  p <- cox_problem(n = 60)
  cv <- any_sign(quick_cv(p, weights = replace(p$w, 1:4, 0)))
  held <- cv$foldid == 2
  fit <- cv$fold.fits[[2]]
  link <- unname(as.matrix(p$x %*% fit$beta))
  score <- held_out_deviance(p$coded, link, cv$weights, NULL, held)
  by_hand <- vapply(seq_len(ncol(link)), function(k) {
    all <- 2 * sum(cv$weights) * naive_loss("cox", p$coded, link[, k], cv$weights)
    train <- 2 * sum(cv$weights[!held]) *
      naive_loss("cox", p$coded[!held, ], link[!held, k], cv$weights[!held])
    (all - train) / sum(cv$weights[held])
  }, 0)
  expect_equal(score$scores, by_hand)
  expect_equal(score$weight, sum(cv$weights[held]))
})

# ---- forms of the response -----------------------------------------------------------------------

test_that("a Surv object, columns in any order and columns without names mean the same", {
  withr::local_seed(1511)
  p <- cox_problem(n = 60, d = 5)
  fit <- function(y) any_sign(n2gfl(p$x, y, family = "cox", lambda1 = 0.05, lambda2 = 0))
  parts <- c("beta", "own", "baseline", "grid")
  expected <- fit(p$y)[parts]
  expect_identical(fit(p$y[, 2:1])[parts], expected)
  expect_identical(fit(unname(p$y))[parts], expected)
  expect_identical(fit(cbind(p$y, stratum = 7))[parts], expected)
  logical <- cbind(time = p$y[, "time"], status = p$y[, "status"] == 1)
  expect_identical(fit(logical)[parts], expected)
  skip_if_not_installed("survival")
  expect_identical(fit(surv(p))[parts], expected)
  table <- data.frame(id = 1:60)
  table$outcome <- surv(p)
  named <- any_sign(n2gfl(p$x, "outcome", family = "cox", data = table, lambda1 = 0.05,
                          lambda2 = 0))
  expect_identical(named[parts], expected)
  table$time <- p$y[, "time"]
  table$status <- p$y[, "status"]
  by_formula <- any_sign(n2gfl(p$x, cbind(time, status) ~ 1, family = "cox", data = table,
                               lambda1 = 0.05, lambda2 = 0))
  expect_identical(by_formula[parts], expected)
})

test_that("strata are a column or an attribute, and follow the rows when these are named", {
  withr::local_seed(1512)
  p <- cox_problem(n = 60, d = 5, strata = 2)
  rownames(p$x) <- paste0("sub-", 1:60)
  fit <- function(y) {
    suppressMessages(any_sign(n2gfl(p$x, y, family = "cox", lambda1 = 0.05, lambda2 = 0)))
  }
  site <- c("north", "south")[p$stratum]
  with_attribute <- structure(p$y[, 1:2], strata = site)
  expected <- fit(with_attribute)
  expect_identical(expected$strata, c("north", "south"))
  expect_equal(fit(p$y)$beta, expected$beta)
  rownames(with_attribute) <- rownames(p$x)
  order <- sample(60)
  shuffled <- structure(with_attribute[order, ], strata = site[order])
  expect_identical(fit(shuffled)$beta, expected$beta)
  skip_without_peers()
  expect_identical(fit(glmnet::stratifySurv(surv(p), site))$beta, expected$beta)
  link <- predict(expected, p$x)
  curves <- predict(expected, p$x, type = "survival", times = 3, newstrata = site)
  for (s in 1:2) {
    hazard <- exp(log_hazard_at(3, s, expected$own, expected))
    expect_equal(curves[site == c("north", "south")[s], 1, 1],
                 exp(-drop(hazard) * exp(link[site == c("north", "south")[s], 1])))
  }
})

test_that("bad times get one sentence", {
  x <- matrix(c(1, 2, 3, 4, 2, 5), 6)
  y <- cbind(time = c(1, 2, 3, 4, 5, 6), status = c(1, 0, 1, 0, 1, 1))
  fit <- function(y, ...) n2gfl(x, y, family = "cox", lambda2 = 0, ...)
  with <- function(row, column, value) {
    y[row, column] <- value
    y
  }
  expect_snapshot({
    refusal(fit(1:6))
    refusal(fit(as.data.frame(y)))
    refusal(fit(cbind(a = 1:6, b = 1)))
    refusal(fit(cbind(y, group = 1)))
    refusal(fit(y[1:5, ]))
    refusal(fit(with(2, "time", 0)))
    refusal(fit(with(3, "time", NA)))
    refusal(fit(with(4, "time", Inf)))
    refusal(fit(with(5, "status", 2)))
    refusal(fit(with(1:6, "status", 0)))
    refusal(fit(with(1:5, "status", 0)))
    refusal(fit(y, weights = c(0, 1, 0, 1, 0, 0)))
    refusal(fit(cbind(y, stratum = 1:6)))
    refusal(fit(structure(y, strata = 1:5)))
    refusal(fit(structure(y, strata = c(1:5, NA))))
    refusal(n2gfl(x, cbind(time, status) ~ strata(site), family = "cox",
                  data = data.frame(y, site = c(1, 2)), lambda2 = 0))
  })
  skip_if_not_installed("survival")
  expect_snapshot(refusal(fit(survival::Surv(0:5, 1:6, rep(1, 6)))))
})

# ---- folds ---------------------------------------------------------------------------------------

test_that("every fold gets its share of the events", {
  withr::local_seed(1513)
  p <- cox_problem(n = 60)
  folds <- make_folds(p$y, 5)
  events <- sum(p$y[, "status"])
  share <- table(folds[p$y[, "status"] == 1])
  expect_true(all(share %in% c(floor(events / 5), ceiling(events / 5))))
  skip_if_not_installed("survival")
  withr::local_seed(1)
  same <- make_folds(surv(p), 5)
  withr::local_seed(1)
  expect_identical(make_folds(p$y, 5), same)
})

test_that("folds without events are refused before the work, and the default avoids them", {
  withr::local_seed(1514)
  p <- cox_problem(n = 40)
  p$y[, "status"] <- rep(c(1, 0), c(6, 34))
  run <- function(...) {
    any_sign(cv.n2gfl(p$x, p$y, family = "cox", lambda2 = 0, nlambda1 = 3, ...))
  }
  expect_snapshot({
    refusal(run(nfolds = 8))
    refusal(run(nfolds = 5, nested = TRUE))
    refusal(run(foldid = rep(1:4, each = 10)))
    refusal(run(foldid = rep(1:2, c(6, 34))))
    refusal(run(group = rep(1:10, each = 4), nfolds = 3))
  })
  expect_message(cv <- run(), "`nfolds` is 6 instead of the default 10, because every fold needs")
  expect_true(all(is.finite(c(cv$cvm, cv$cvsd))))
  p$y <- cbind(time = c(40:35, 1:34), status = rep(c(1, 0), c(6, 34)))
  expect_snapshot(refusal(run(foldid = rep(1:4, 10), type.measure = "C")))
  p$y[, "status"] <- rep(0:1, c(39, 1))
  expect_snapshot(refusal(run()))
  expect_snapshot(refusal(run(nested = TRUE)))
})

test_that("nested runs, repeats, workers and checkpoints give the same scores", {
  withr::local_seed(1515)
  p <- cox_problem(n = 60)
  run <- function(...) withr::with_seed(1, any_sign(quick_cv(p, nested = TRUE, ...)))
  once <- run()
  expect_true(all(is.finite(once$nested$estimate$cvm)))
  folder <- withr::local_tempdir()
  kept <- run(checkpoint = folder)
  unlink(file.path(folder, c("Fold-2.piece", "Outer-fold-3.piece")))
  resumed <- run(checkpoint = folder)
  expect_identical(without_call(resumed), without_call(kept))
  expect_identical(without_call(kept), without_call(once))
  skip_if_not_installed("future")
  withr::defer(future::plan("sequential"))
  future::plan("multisession", workers = 2)
  expect_identical(without_call(run()), without_call(once))
})

test_that("held-out rows have no influence on the fit of their fold", {
  withr::local_seed(1516)
  p <- cox_problem(n = 60)
  first <- any_sign(quick_cv(p, lambda1 = c(0.1, 0.03)))
  p$y[first$foldid == 3, "time"] <- p$y[first$foldid == 3, "time"] * 2
  second <- any_sign(quick_cv(p, lambda1 = c(0.1, 0.03)))
  expect_identical(second$fold.fits[[3]]$beta, first$fold.fits[[3]]$beta)
})

# ---- edge cases ----------------------------------------------------------------------------------

test_that("all rows with the event, and all at one time", {
  withr::local_seed(1517)
  p <- cox_problem(n = 40, d = 4)
  p$y[, "status"] <- 1
  p$coded[, "status"] <- 1
  expect_family_fit(p, p$coded)
  # all events tied: every row is at risk, once
  p$y[, "time"] <- 5
  p$coded[, "time"] <- 5
  fit <- fit_family(p)
  expect_true(all(fit$grid$converged))
  expect_identical(nrow(fit$own), 1L)
})

test_that("perfect order has no optimum without penalties, and penalised fits converge", {
  withr::local_seed(1518)
  p <- cox_problem(n = 40, d = 4)
  p$y <- cbind(time = rank(-p$x[, 1]), status = 1)
  fit <- fit_family(p, lambda1 = c(0.1, 0.01), thresh = 1e-6)
  expect_true(all(fit$grid$converged))
  expect_warning(coef(fit, row = 2, refit = TRUE, x = p$x, y = p$y),
                 "order the events perfectly")
})

test_that("without shrinkage a perfect order has no optimum, which more iterations do not change", {
  withr::local_seed(1518)
  p <- cox_problem(n = 40, d = 4)
  p$y <- cbind(time = rank(-p$x[, 1]), status = 1)
  expect_warning(fit <- fit_family(p, lambda1 = c(0.1, 0), thresh = 1e-6),
                 paste("^Without shrinkage \\(`lambda1` = 0\\) there is no optimum, because the",
                       "features order the events perfectly: row 2 \\(gap .*\\). Raise"))
  expect_identical(fit$grid$converged, c(TRUE, FALSE))
  # A fit that only lacks iterations gets the other warning.
  fits <- list(lambda1 = 0, dev_ratio = 0.5, gap = 0.1, converged = FALSE)
  expect_warning(warn_not_converged(fits, list(family = "cox", thresh = 1e-6, maxit = 7)),
                 "within `maxit` = 7")
})

test_that("the survival of thirds by risk is that of survfit(), and is drawn", {
  skip_if_not_installed("survival")
  withr::local_seed(1524)
  p <- cox_problem(n = 90)
  fit <- fit_family(p, lambda1 = 0.05)
  scores <- assess(fit, p$x, p$y)
  link <- drop(predict(fit, p$x))
  risk <- factor(c("low", "middle", "high")[ceiling(3 * (rank(link) - 0.5) / 90)],
                 c("low", "middle", "high"))
  data <- data.frame(p$y, risk)
  theirs <- summary(survival::survfit(survival::Surv(time, status) ~ risk, data), censored = TRUE)
  expect_identical(as.character(scores$survival$risk), sub("risk=", "", theirs$strata))
  expect_equal(scores$survival$time, theirs$time)
  expect_equal(scores$survival$survival, theirs$surv)
  expect_identical(scores$survival$censored, theirs$n.censor > 0)
  local_device()
  expect_silent(plot(scores, lwd = 3))
  # Equal predictions of all rows are one group.
  empty <- assess(fit_family(p, lambda1 = 1e3), p$x, p$y)
  expect_identical(unique(as.character(empty$survival$risk)), "middle")
  expect_silent(plot(empty))
})

test_that("links so large that exp() overflows give finite curves", {
  withr::local_seed(1519)
  p <- cox_problem(n = 60, d = 4)
  fit <- fit_family(p, lambda1 = 0.02, sign = "free")
  moved <- p
  moved$x <- p$x + 4000
  far <- fit_family(moved, lambda1 = 0.02, sign = "free")
  expect_equal(as.matrix(far$beta), as.matrix(fit$beta), tolerance = 1e-4)
  curves <- function(fit, x) predict(fit, x, type = "survival", times = c(2, 10))
  expect_equal(curves(far, moved$x), curves(fit, p$x), tolerance = 1e-4)
})

test_that("deconfounding, perturbed runs and stability selection work", {
  withr::local_seed(1520)
  p <- cox_problem(n = 80)
  fit <- any_sign(n2gfl(p$x, p$y, p$graph, family = "cox", covariates = p$z,
                        deconfound = "controls", controls = p$y[, "status"] == 0, lambda1 = 0.02,
                        lambda2 = 0.01))
  expect_true(fit$grid$converged)
  # the baseline belongs to the features without the effects of the covariates
  link <- predict(fit, p$x, newcovariates = p$z)
  expect_equal(fit$own, keep_baseline(list(y = p$coded, weights = rep(1, 80)), link)$own,
               tolerance = 1e-8)
  for (kind in c("bootstrap", "jackknife", "subsample", "cv")) {
    runs <- any_sign(perturb_fits(p$x, p$y, p$graph, family = "cox", perturb = kind, B = 3,
                                  lambda1 = c(0.1, 0.03), lambda2 = 0.02, group = rep(1:20, 4)))
    expect_true(all(vapply(runs$fold.fits, function(run) all(run$converged), NA)))
  }
  selection <- any_sign(stability_selection(p$x, p$y, p$graph, family = "cox", cutoff = 0.75,
                                            q = 5, B = 3, lambda2 = 0.02))
  expect_true(any(selection$prob[1:4] > 0.5))
})

# ---- methods -------------------------------------------------------------------------------------

test_that("a fit prints its events, keeps no x, and has no row for an intercept", {
  withr::local_seed(1521)
  p <- cox_problem(n = 60, strata = 2)
  fit <- fit_family(p)
  line <- paste0(sum(p$y[, "status"]), " events in 60 rows, 2 strata")
  expect_output(print(fit), line, fixed = TRUE)
  expect_output(print(summary(fit)), line, fixed = TRUE)
  expect_identical(rownames(coef(fit)), paste0("V", 1:12))
  expect_identical(unname(fit$a0), numeric(3))
  expect_false(fit$control$intercept)
  one <- c("own", "baseline", "follow_up", "strata", "events")
  expect_lt(as.numeric(utils::object.size(fit[one])), 8 * 60 * 8)
})

test_that("exact fits and refits have a baseline of their own", {
  withr::local_seed(1522)
  p <- cox_problem(n = 80)
  fit <- fit_family(p, lambda1 = c(0.2, 0.05))
  s <- c(lambda1 = 0.1, lambda2 = 0)
  curve <- function(fit, ...) predict(fit, p$x[1:4, ], type = "survival", times = 5, ...)[, 1, ]
  exact <- curve(fit, s = s, exact = TRUE, x = p$x, y = p$y)
  expect_equal(exact, curve(fit_family(p, lambda1 = 0.1)), tolerance = 1e-5)
  refitted <- curve(fit, row = 2, refit = TRUE, x = p$x, y = p$y)
  skip_without_peers()
  on <- which(fit$beta[, 2] != 0)
  data <- data.frame(x = I(p$x[, on]), p$y)
  direct <- survival::coxph(survival::Surv(time, status) ~ x, data, ties = "breslow")
  theirs <- summary(survival::survfit(direct, newdata = data[1:4, ]), times = 5)$surv
  expect_equal(refitted, as.vector(theirs), tolerance = 1e-3)
})

test_that("predictions and other methods refuse what they cannot use", {
  withr::local_seed(1523)
  p <- cox_problem(n = 40)
  fit <- fit_family(p, lambda1 = 0.05)
  strata <- cbind(p$y, stratum = rep(1:2, 20))
  by_site <- any_sign(n2gfl(p$x, strata, family = "cox", lambda1 = 0.05, lambda2 = 0))
  expect_snapshot({
    refusal(predict(fit, p$x, type = "class"))
    refusal(predict(fit, p$x, times = 3))
    refusal(predict(fit, p$x, type = "survival", quantile = 0.5))
    refusal(predict(fit, p$x, type = "survival", times = -1))
    refusal(predict(fit, p$x, type = "survival", times = numeric(0)))
    refusal(predict(fit, p$x, type = "time", quantile = 1))
    refusal(predict(fit, p$x, type = "time", newstrata = 1))
    refusal(predict(by_site, p$x, type = "time"))
    refusal(predict(by_site, p$x, type = "time", newstrata = 1:3))
    refusal(predict(by_site, p$x, type = "time", newstrata = rep(2:3, 20)))
    refusal(residuals(fit, p$x, p$y, type = "pearson"))
    refusal(residuals(by_site, p$x, p$y))
    refusal(coef(fit, row = 1, refit = TRUE, x = p$x, y = strata))
    refusal(assess(fit, p$x, cbind(p$y[, "time"], 0)))
    refusal(assess(fit, p$x, p$y, threshold = 0.5))
    refusal(plot(assess(fit, p$x, p$y), type = "calibration"))
  })
})

test_that("assess() has survival's concordance and coxph's slope, within folds", {
  skip_without_peers()
  withr::local_seed(1524)
  p <- cox_problem(n = 100)
  w <- replace(p$w, 1:5, 0)
  cv <- any_sign(quick_cv(p, weights = w, keep = TRUE))
  row <- cv$index[["stable"]]
  strata <- survival::strata
  data <- data.frame(eta = cv$fit.preval[, row], fold = cv$foldid, w = cv$weights, p$y)[w > 0, ]
  found <- assess(cv)
  theirs <- survival::concordance(survival::Surv(time, status) ~ eta + strata(fold), data,
                                  weights = w, reverse = TRUE)
  expect_equal(found$measures$estimate[1], theirs$concordance)
  data$w <- data$w * sum(data$w) / sum(data$w^2)
  direct <- survival::coxph(survival::Surv(time, status) ~ eta + strata(fold), data, weights = w,
                            ties = "breslow")
  expect_equal(found$measures$estimate[2], unname(coef(direct)), tolerance = 1e-6)
  half <- (found$measures$upper - found$measures$lower)[2] / 2
  expect_equal(half / stats::qnorm(0.975), summary(direct)$coefficients[1, "se(coef)"],
               tolerance = 1e-4)
  expect_identical(found$predictions$time, data$time)
  expect_null(found$calibration)
  new <- assess(cv, p$x, p$y, newweights = p$w)
  link <- predict(cv, p$x)[, 1]
  theirs <- survival::concordance(surv(p) ~ link, weights = p$w / mean(p$w), reverse = TRUE)
  expect_equal(new$measures$estimate[1], theirs$concordance)
  half <- (new$measures$upper - new$measures$lower)[1] / 2
  expect_equal(half / stats::qnorm(0.975), sqrt(theirs$var), tolerance = 1e-6)
  expect_output(print(found), "Only observations of the same fold are compared")
  nested <- assess(any_sign(quick_cv(p, nested = TRUE)))
  expect_true(all(is.finite(as.matrix(nested$measures[-1]))))
})

test_that("augment() gives relative risks and martingale residuals", {
  skip_if_not_installed("generics")
  withr::local_seed(1525)
  p <- cox_problem(n = 60)
  fit <- fit_family(p, lambda1 = 0.05)
  table <- generics::augment(fit, p$x, p$y)
  expect_equal(table$.fitted, unname(predict(fit, p$x, type = "risk")[, 1]))
  expect_equal(table$.resid, unname(residuals(fit, p$x, p$y, type = "martingale")[, 1]))
  # martingale residuals sum to 0
  expect_equal(sum(table$.resid), 0, tolerance = 1e-6)
})

test_that("the warning about the sign speaks of the hazard", {
  withr::local_seed(1526)
  p <- cox_problem(n = 100, d = 4)
  p$x <- -abs(p$x[, c(1, 1, 1, 1)]) * sign(p$x[, 1]) + stats::rnorm(400) / 10
  expect_warning(n2gfl(p$x, p$y, family = "cox", lambda2 = 0),
                 "only to rise with the hazard, but .* fall: use sign = \"nonpositive\"")
})

test_that("covariates that the partial likelihood does not see are refused", {
  withr::local_seed(331)
  x <- matrix(rnorm(240), 40)
  site <- rep(1:4, 10)
  y <- cbind(time = rexp(40) + 0.1, status = rep(1, 40), stratum = site)
  fit_with <- function(y, z) {
    n2gfl(x, y, graph_chain(6), family = "cox", sign = "free", covariates = z, lambda1 = 0.1,
          lambda2 = 0.01)
  }
  expect_error(fit_with(y, cbind(site = +(site == 2))), "independent of each other within each")
  # seen without strata
  expect_equal(dim(fit_with(y[, 1:2], cbind(site = +(site == 2)))$gamma), c(1, 1))
  # differs only in rows that are censored before the first event
  early <- order(y[, "time"])[1:5]
  y[early, "status"] <- 0
  z <- cbind(z = replace(numeric(40), early, rnorm(5)))
  expect_error(fit_with(y[, 1:2], z), "1 column has rank 0")
})

test_that("times that differ by rounding are tied", {
  withr::local_seed(332)
  age <- rep(c(20.3, 45.1, 78.7), each = 20)
  time <- rep(1:20 / 10, 3)
  x <- matrix(rnorm(240), 60)
  status <- rbinom(60, 1, 0.7)
  fit <- function(time) {
    n2gfl(x, cbind(time = time, status = status), graph_chain(4), family = "cox", sign = "free",
          lambda1 = 0.01, lambda2 = 0)
  }
  rounded <- (age + time) - age
  expect_gt(length(unique(rounded)), length(unique(time)))
  expect_equal(fit(rounded)$beta, fit(time)$beta, tolerance = 1e-12)
})
