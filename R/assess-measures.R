# The numbers of an assessment: measures, tables and curves, with confidence intervals. A `sample`
# has `y` (0 and 1 for classes), predictions `mean` and `link` (N x repeats), `weights`, and for
# held-out predictions `fold` (N x repeats).
#
# Repeats share the observations. Means and variances are averaged over them, and a variance is not
# divided by their number.

# ---- intervals -----------------------------------------------------------------------------------

# list(lower, upper) of a share `p` of `n` observations: Wilson's.
wilson_interval <- function(p, n, level) {
  z <- normal_quantile(level)
  middle <- (p + z^2 / (2 * n)) / (1 + z^2 / n)
  half <- z / (1 + z^2 / n) * sqrt(pmax(0, p * (1 - p)) / n + z^2 / (4 * n^2))
  # rounding must not leave p outside
  list(lower = pmax(0, pmin(p, middle - half)), upper = pmin(1, pmax(p, middle + half)))
}

normal_interval <- function(estimate, se, level, range = c(-Inf, Inf)) {
  half <- normal_quantile(level) * se
  list(lower = max(range[1], estimate - half), upper = min(range[2], estimate + half))
}

normal_quantile <- function(level) stats::qnorm((1 + level) / 2)

# The number of observations of equal weight whose mean has the same variance (Kish).
effective_number <- function(weights) sum(weights)^2 / sum(weights^2)

# Mean of `z` and its standard error. With the values of several repeats in one `z`, the standard
# error is that of one repeat.
weighted_mean_se <- function(z, weights, repeats = 1) {
  mean <- sum(weights * z) / sum(weights)
  n <- length(z) / repeats
  variance <- n / (n - 1) * repeats * sum(weights^2 * (z - mean)^2) / sum(weights)^2
  c(estimate = mean, se = if (n > 1) sqrt(variance) else NA_real_)
}

# Combines c(estimate, se) of all repeats; `score(prediction)` gives that of one.
over_repeats <- function(predictions, score) {
  each <- apply(predictions, 2, score)
  c(estimate = mean(each["estimate", ]), se = sqrt(mean(each["se", ]^2)))
}

estimate_row <- function(measure, estimate, interval) {
  data.frame(measure = measure, estimate = estimate[[1]], lower = interval$lower,
             upper = interval$upper)
}

normal_row <- function(measure, score, level, range = c(-Inf, Inf)) {
  estimate_row(measure, score, normal_interval(score[["estimate"]], score[["se"]], level, range))
}

# ---- measures of classes -------------------------------------------------------------------------

class_measures <- function(sample, settings) {
  y <- sample$y
  w <- sample$weights
  level <- settings$level
  right <- rowMeans((sample$mean > settings$threshold) == y)
  share_row <- function(measure, rows) {
    share <- sum(w[rows] * right[rows]) / sum(w[rows])
    estimate_row(measure, share, wilson_interval(share, effective_number(w[rows]), level))
  }
  sensitivity <- share_row("sensitivity", y == 1)
  specificity <- share_row("specificity", y == 0)
  auc <- over_repeats(sample$mean, function(p) auc_with_se(y, p, w))
  # DeLong's variance is 0 if all pairs are in order, so it cannot give an interval
  if (isTRUE(auc[["se"]] == 0)) auc[["se"]] <- NA
  rbind(
    share_row("accuracy", seq_along(y)), balanced_row(sensitivity, specificity), sensitivity,
    specificity, normal_row("auc", auc, level, c(0, 1)),
    normal_row("brier", over_repeats(sample$mean, function(p) weighted_mean_se((y - p)^2, w)),
               level, c(0, 1)),
    normal_row("intercept", over_repeats(sample$link, function(eta) {
      logistic_term(matrix(1, length(y)), y, w, offset = eta)
    }), level),
    normal_row("slope", over_repeats(sample$link, function(eta) {
      logistic_term(cbind(1, eta), y, w)
    }), level)
  )
}

# The mean of two shares: the squared distances from their limits are added (Newcombe).
balanced_row <- function(a, b) {
  estimate <- (a$estimate + b$estimate) / 2
  apart <- function(limit) {
    sqrt((a$estimate - a[[limit]])^2 + (b$estimate - b[[limit]])^2) / 2
  }
  estimate_row("balanced", estimate, list(lower = max(0, estimate - apart("lower")),
                                         upper = min(1, estimate + apart("upper"))))
}

# The AUC with DeLong's standard error, from the share of the other class that is in the right order
# with each observation. Weights generalise it; with equal weights it is that of the paper.
auc_with_se <- function(y, mean, weights) {
  ties <- tied_values(y, mean, weights)
  below <- function(weight) cumsum(weight) - weight / 2
  right <- ifelse(y == 1, (below(ties$negative) / sum(ties$negative))[ties$index],
                  1 - (below(ties$positive) / sum(ties$positive))[ties$index])
  of_class <- function(rows) weighted_mean_se(right[rows], weights[rows])
  c(estimate = weighted_auc(y, mean, weights),
    se = sqrt(of_class(y == 1)[["se"]]^2 + of_class(y == 0)[["se"]]^2))
}

# The last coefficient of a logistic regression, NA where it does not exist.
logistic_term <- function(x, y, weights, offset = NULL) {
  none <- c(estimate = NA_real_, se = NA_real_)
  last <- ncol(x)
  separable <- last > 1 && abs(weighted_auc(y, x[, last], weights) - 0.5) == 0.5
  if (separable || (last > 1 && all(x[, last] == x[1, last]))) return(none)
  weights <- weights * effective_number(weights) / sum(weights)
  fit <- suppressWarnings(stats::glm.fit(x, y, weights, offset = offset,
                                         family = stats::quasibinomial()))
  if (!fit$converged || fit$rank < last) return(none)
  c(estimate = fit$coefficients[[last]],
    se = sqrt(chol2inv(fit$qr$qr[seq_len(last), seq_len(last), drop = FALSE])[last, last]))
}

# ---- measures of numbers -------------------------------------------------------------------------

number_measures <- function(sample, settings) {
  y <- sample$y
  w <- sample$weights
  n <- effective_number(w)
  level <- settings$level
  score <- function(f) over_repeats(sample$mean, f)
  mse <- score(function(p) weighted_mean_se((y - p)^2, w))
  limits <- normal_interval(mse[["estimate"]], mse[["se"]], level, c(0, Inf))
  correlation <- mean(apply(sample$mean, 2, weighted_correlation, y, w))
  z <- normal_interval(atanh(correlation), if (n > 3) 1 / sqrt(n - 3) else NA, level)
  # Student's quantile instead of the normal one
  wider <- if (n > 2) stats::qt((1 + level) / 2, n - 2) / normal_quantile(level) else NA
  rbind(
    normal_row("r.squared", score(function(p) r_squared(y, p, w)), level, c(-Inf, 1)),
    estimate_row("rmse", sqrt(mse), lapply(limits, sqrt)),
    normal_row("mae", score(function(p) weighted_mean_se(abs(y - p), w)), level, c(0, Inf)),
    estimate_row("correlation", correlation, lapply(z, tanh)),
    normal_row("intercept", score(function(p) weighted_mean_se(y - p, w)), level),
    normal_row("slope", score(function(p) linear_slope(y, p, w)) * c(1, wider), level)
  )
}

# 1 minus a ratio of two means; the standard error is the delta method's.
r_squared <- function(y, mean, weights) {
  error <- (y - mean)^2
  spread <- (y - stats::weighted.mean(y, weights))^2
  ratio <- sum(weights * error) / sum(weights * spread)
  se <- weighted_mean_se(error - ratio * spread, weights)[["se"]]
  c(estimate = 1 - ratio, se = se / stats::weighted.mean(spread, weights))
}

# NA if one of them is constant.
weighted_correlation <- function(a, b, weights) {
  moment <- function(u, v) {
    sum(weights * (u - stats::weighted.mean(u, weights)) * (v - stats::weighted.mean(v, weights)))
  }
  if (all(a == a[1])) return(NA_real_)
  moment(a, b) / sqrt(moment(a, a) * moment(b, b))
}

linear_slope <- function(y, mean, weights) {
  n <- effective_number(weights)
  centred <- mean - stats::weighted.mean(mean, weights)
  square <- sum(weights * centred^2) / sum(weights)
  if (square == 0) return(c(estimate = NA_real_, se = NA_real_))
  slope <- sum(weights * centred * y) / sum(weights) / square
  error <- y - stats::weighted.mean(y, weights) - slope * centred
  rest <- if (n > 2) sum(weights * error^2) / sum(weights) / (n - 2) else NA
  c(estimate = slope, se = sqrt(rest / square))
}

# ---- measures of classes in an order -------------------------------------------------------------

# The number of the most probable level: N x repeats, of probabilities N x K x repeats.
likeliest_of <- function(probability) {
  matrix(apply(probability, c(1, 3), which.max), dim(probability)[1])
}

level_measures <- function(sample, settings) {
  y <- sample$y
  w <- sample$weights
  level <- settings$level
  cuts <- dim(sample$mean)[2] - 1
  predicted <- likeliest_of(sample$mean)
  share <- sum(w * rowMeans(predicted == y)) / sum(w)
  mean_row <- function(measure, losses, most) {
    score <- over_repeats(losses, function(loss) weighted_mean_se(loss, w))
    normal_row(measure, score, level, c(0, most))
  }
  # The Brier score of "at most level k", averaged over the cut points.
  ranked <- apply(sample$mean, 3, function(probability) {
    below <- apply(probability, 1, cumsum)[seq_len(cuts), , drop = FALSE]
    colMeans((below - outer(seq_len(cuts), y, ">="))^2)
  })
  rbind(
    estimate_row("accuracy", share, wilson_interval(share, effective_number(w), level)),
    mean_row("mae", abs(predicted - y), cuts), mean_row("rps", ranked, 1)
  )
}

level_confusion <- function(sample, classnames) {
  predicted <- likeliest_of(sample$mean)
  levels <- seq_along(classnames)
  cells <- expand.grid(predicted = levels, observed = levels)
  n <- mapply(function(p, o) sum(sample$weights * rowMeans(predicted == p) * (sample$y == o)),
              cells$predicted, cells$observed)
  data.frame(lapply(cells, function(level) factor(classnames[level], classnames)), n = n)
}

# ---- measures of times ---------------------------------------------------------------------------

# What of each repeat is comparable: the same fold and stratum.
comparable_rows <- function(sample, k) {
  fold <- if (is.null(sample$fold)) 1 else sample$fold[, k]
  as.integer(factor(paste(fold, sample$y[, "stratum"])))
}

# Kaplan-Meier curves of three groups of equal size by their predicted risk, see assess(). Where all
# predictions are equal, all rows are in the middle group.
survival_by_risk <- function(sample) {
  used <- which(sample$weights > 0)
  risk <- vapply(seq_len(ncol(sample$link)), function(k) {
    stats::ave(sample$link[used, k], comparable_rows(sample, k)[used],
               FUN = function(link) ceiling(3 * (rank(link) - 0.5) / length(link)))
  }, numeric(length(used)))
  again <- rep(used, ncol(sample$link))
  groups <- c("low", "middle", "high")
  curves <- lapply(split(again, factor(groups[risk], groups)), function(rows) {
    kaplan_meier(sample$y[rows, , drop = FALSE], sample$weights[rows])
  })
  risk <- factor(rep(groups, vapply(curves, nrow, 0L)), groups)
  data.frame(risk = risk, do.call(rbind, unname(curves)))
}

kaplan_meier <- function(y, weights) {
  time <- sort(unique(y[, "time"]))
  at <- factor(y[, "time"], time)
  sum_at <- function(values) as.vector(tapply(values, at, sum, default = 0))
  at_risk <- rev(cumsum(rev(sum_at(weights))))
  survival <- cumprod(1 - sum_at(weights * y[, "status"]) / at_risk)
  data.frame(time = time, survival = survival, censored = sum_at(y[, "status"] == 0) > 0)
}

# Only rows of the same fold and stratum are compared: the link of each fold has its own zero.
time_measures <- function(sample, settings) {
  each <- lapply(seq_len(ncol(sample$link)), function(k) {
    y <- sample$y
    y[, "stratum"] <- comparable_rows(sample, k)
    list(concordance = concordance_with_se(y, sample$link[, k], sample$weights),
         slope = hazard_slope(y, sample$link[, k], sample$weights))
  })
  # As in over_repeats().
  pooled <- function(what) {
    of <- function(part) vapply(each, function(one) one[[what]][[part]], 0)
    c(estimate = mean(of("estimate")), se = sqrt(mean(of("se")^2)))
  }
  rbind(normal_row("concordance", pooled("concordance"), settings$level, c(0, 1)),
        normal_row("slope", pooled("slope"), settings$level))
}

# The share of pairs in the right order, as concordance() has it, and its standard error from the
# influence of each row (the infinitesimal jackknife).
concordance_with_se <- function(y, link, weights) {
  right <- total <- numeric(length(link))
  for (i in which(y[, "status"] == 1)) {
    later <- outlived_by(y, weights, i)
    score <- (link[i] > link[later]) + (link[i] == link[later]) / 2
    right[later] <- right[later] + weights[i] * score
    total[later] <- total[later] + weights[i]
    right[i] <- right[i] + sum(weights[later] * score)
    total[i] <- total[i] + sum(weights[later])
  }
  # Each pair is counted at both of its rows.
  pairs <- sum(weights * total) / 2
  if (pairs == 0) return(c(estimate = NA_real_, se = NA_real_))
  estimate <- sum(weights * right) / 2 / pairs
  se <- sqrt(sum((weights * (right - estimate * total) / pairs)^2))
  # With all pairs in order the standard error is 0, which cannot give an interval.
  c(estimate = estimate, se = if (se > 0) se else NA_real_)
}

# The coefficient of a Cox regression on the link alone, by Newton's method; NA where it does not
# exist.
hazard_slope <- function(y, link, weights) {
  none <- c(estimate = NA_real_, se = NA_real_)
  weights <- weights * effective_number(weights) / sum(weights)
  order <- concordance_with_se(y, link, weights)[["estimate"]]
  if (is.na(order) || order %in% 0:1 || all(link == link[1])) return(none)
  # Without the mean, which makes no difference, the curvature has smaller rounding errors.
  link <- link - mean(link)
  sets <- risk_sets(y, weights)
  loss <- function(slope) partial_deviance(y, as.matrix(slope * link), weights)
  slope <- 0
  for (step in 1:100) {
    at <- hazard_derivatives(sets, y, link, slope, weights)
    if (at$curvature <= 0) return(none)
    move <- at$score / at$curvature
    if (abs(move) <= 1e-8 * max(1, abs(slope))) {
      return(c(estimate = slope + move, se = 1 / sqrt(at$curvature)))
    }
    while (loss(slope + move) > loss(slope) && abs(move) > 1e-8) move <- move / 2
    slope <- slope + move
  }
  none
}

# The first derivative of the partial log-likelihood by the slope, and minus the second.
hazard_derivatives <- function(sets, y, link, slope, weights) {
  risk <- weights * exp(slope * link - max(slope * link))
  at_risk <- function(values) stats::ave(values[sets$rows], sets$first, FUN = cumsum)[sets$last]
  total <- at_risk(risk)
  mean <- at_risk(risk * link) / total
  list(score = sum(weights * y[, "status"] * link) - sum(sets$weight * mean),
       curvature = sum(sets$weight * (at_risk(risk * link^2) / total - mean^2)))
}

# ---- predictions of several folds ----------------------------------------------------------------

# A fold's intercept is the mean outcome of the other folds, so it is small where the outcomes of
# the fold are large. If the fits select nothing, predictions differ by these intercepts only, and
# their ranks are the reverse of the outcome's: an AUC near 0.

# The intercept of a fit that selects nothing, for each prediction (N x repeats): the mean outcome
# of the other folds, on the scale of the link.
fold_intercepts <- function(sample, family) {
  w <- sample$weights
  apply(sample$fold, 2, function(fold) {
    outside <- function(values) sum(values) - stats::ave(values, fold, FUN = sum)
    family_of(family)$link(outside(w * sample$y) / outside(w))
  })
}

# Do features (and covariates) change the typical prediction by less than the intercepts differ? The
# median, because one fold that selects something does not make the others comparable.
mostly_intercepts <- function(sample, family) {
  if (is.null(sample$fold)) return(FALSE)
  intercepts <- fold_intercepts(sample, family)
  nearly <- 1e-6 * family_of(family)$unit(sample$y)
  stats::median(abs(sample$link - intercepts)) <= stats::sd(intercepts) + nearly
}

# The AUC of the pairs in the same fold, or the correlation of differences from the fold's means:
# the mean over repeats. NA if there are none. (Predictions minus intercepts are no substitute where
# each fold has one observation: what a fit selects depends on the outcome held out as well.)
within_folds <- function(sample, kind) {
  mean(vapply(seq_len(ncol(sample$link)), function(k) {
    kind$within(sample, k)
  }, 0))
}

within_auc <- function(y, mean, weights, fold) {
  each <- vapply(split(seq_along(y), fold), function(at) {
    pairs <- sum(weights[at] * y[at]) * sum(weights[at] * (1 - y[at]))
    c(pairs, if (pairs > 0) weighted_auc(y[at], mean[at], weights[at]) else 0)
  }, c(0, 0))
  if (any(each[1, ] > 0)) stats::weighted.mean(each[2, ], each[1, ]) else NA_real_
}

within_correlation <- function(y, mean, weights, fold) {
  sums <- function(values) stats::ave(values, fold, FUN = sum)
  centred <- function(values) values - sums(weights * values) / sums(weights)
  apart <- centred(mean)
  # Rounding is no difference.
  apart[abs(apart) <= 1e-6 * stats::sd(y)] <- 0
  weighted_correlation(apart, centred(y), weights)
}

# ---- tables and curves, with all repeats in one --------------------------------------------------

confusion_counts <- function(sample, threshold, classnames) {
  labelled <- function(is_second) factor(classnames[1 + is_second], classnames)
  cells <- expand.grid(predicted = c(FALSE, TRUE), observed = c(FALSE, TRUE))
  share <- rowMeans(sample$mean > threshold)
  n <- mapply(function(predicted, observed) {
    sum(sample$weights * (if (predicted) share else 1 - share) * (sample$y == observed))
  }, cells$predicted, cells$observed)
  data.frame(predicted = labelled(cells$predicted), observed = labelled(cells$observed), n = n)
}

# From the threshold that no prediction exceeds to the one that all exceed.
roc_points <- function(sample, level) {
  repeats <- ncol(sample$mean)
  y <- rep(sample$y, repeats)
  ties <- tied_values(y, as.vector(sample$mean), rep(sample$weights, repeats))
  above <- function(weight) c(0, cumsum(rev(weight))) / sum(weight)
  with_limits <- function(name, share, rows) {
    limits <- wilson_interval(share, effective_number(sample$weights[rows]), level)
    stats::setNames(data.frame(share, limits), paste0(name, c("", ".lower", ".upper")))
  }
  data.frame(threshold = c(rev(ties$value), -Inf),
             with_limits("sensitivity", above(ties$positive), sample$y == 1),
             with_limits("specificity", 1 - above(ties$negative), sample$y == 0))
}

# Bins between quantiles of the predictions.
calibration_bins <- function(sample, kind, settings) {
  repeats <- ncol(sample$mean)
  mean <- as.vector(sample$mean)
  y <- rep(sample$y, repeats)
  w <- rep(sample$weights, repeats)
  bins <- settings$bins %or% max(3, min(10, length(sample$y) %/% 20))
  breaks <- unique(stats::quantile(mean, seq(0, 1, length.out = bins + 1), names = FALSE))
  bin <- if (length(breaks) < 2) rep(1, length(mean)) else {
    findInterval(mean, breaks, left.open = TRUE, rightmost.closed = TRUE, all.inside = TRUE)
  }
  rows <- lapply(split(seq_along(bin), bin), function(at) {
    observed <- weighted_mean_se(y[at], w[at], repeats)
    limits <- kind$interval(observed, effective_number(w[at]) / repeats, settings$level)
    data.frame(from = min(mean[at]), to = max(mean[at]), n = length(at) / repeats,
               predicted = stats::weighted.mean(mean[at], w[at]), observed = observed[["estimate"]],
               limits)
  })
  do.call(rbind, unname(rows))
}
