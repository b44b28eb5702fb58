# How predictions are scored. Each measure, its label and its direction are defined only here.
#
# `loss` gives one number per observation from the response (0/1 for classes) and the prediction
# (mean or probability); a score is then the weighted mean. `auc` is not a mean over observations:
# it has `score`, which gives one number for a whole fold, instead.

cv_measures <- list(
  deviance = list(
    label = c(gaussian = "Mean squared error", binomial = "Binomial deviance"),
    loss = function(y, mean, family) {
      if (family == "gaussian") (y - mean)^2 else -2 * log_likelihood(y, mean)
    }
  ),
  mse = list(
    label = c(gaussian = "Mean squared error", binomial = "Mean squared error"),
    # Both classes' squares are added, as glmnet does: twice the Brier score.
    loss = function(y, mean, family) (y - mean)^2 * if (family == "binomial") 2 else 1
  ),
  mae = list(
    label = c(gaussian = "Mean absolute error", binomial = "Mean absolute error"),
    loss = function(y, mean, family) abs(y - mean) * if (family == "binomial") 2 else 1
  ),
  class = list(
    label = c(binomial = "Misclassification error"),
    loss = function(y, mean, family) (y != (mean > 0.5)) + 0
  ),
  brier = list(
    label = c(binomial = "Brier score"),
    loss = function(y, mean, family) (y - mean)^2
  ),
  auc = list(
    label = c(binomial = "Area under the ROC curve"),
    larger_is_better = TRUE,
    score = function(y, mean, weights) weighted_auc(y, mean, weights)
  )
)

larger_is_better <- function(measure) isTRUE(cv_measures[[measure]]$larger_is_better)

measure_label <- function(measure, family) cv_measures[[measure]]$label[[family]]

match_measure <- function(measure, family) {
  fits_family <- vapply(cv_measures, function(m) family %in% names(m$label), NA)
  choices <- names(cv_measures)[fits_family]
  if (is.null(measure) || identical(measure, "default")) return("deviance")
  found <- if (is.character(measure) && length(measure) == 1) pmatch(measure, choices) else NA
  if (is.na(found)) {
    stop_bad("`type.measure` must be one of ", quoted(choices), " for family \"", family,
             "\", not ", describe(measure), ".")
  }
  choices[found]
}

# Probabilities are bounded, as in glmnet, so that one certain but wrong prediction does not make
# the deviance infinite.
log_likelihood <- function(y, probability) {
  probability <- pmin(pmax(probability, 1e-5), 1 - 1e-5)
  y * log(probability) + (1 - y) * log(1 - probability)
}

# The share of pairs, one of each class, that the prediction ranks correctly; ties count half.
weighted_auc <- function(y, mean, weights) {
  ties <- tied_blocks(y, mean, weights)
  negative <- ties$negative
  positive <- ties$positive
  below <- cumsum(negative) - negative
  sum(positive * (below + negative / 2)) / (sum(positive) * sum(negative))
}

# Weights of both classes at each distinct value of the prediction, in increasing order, and for
# each observation the index of its value.
tied_blocks <- function(y, mean, weights) {
  at <- order(mean)
  ties <- rle(mean[at])$lengths
  block <- rep(seq_along(ties), ties)
  list(negative = as.vector(rowsum(weights[at] * (1 - y[at]), block)),
       positive = as.vector(rowsum(weights[at] * y[at], block)),
       value = mean[at][cumsum(ties)], block = replace(block, at, block))
}

# ---- scores of held-out rows ---------------------------------------------------------------------

# The scores of one repeat: a matrix with one row per fold (or per observation, when folds are tiny)
# and one column per fit, and the weight of each of its rows. `link` is N x L.
fold_scores <- function(measure, link, y, weights, foldid, family) {
  mean <- if (family == "binomial") stats::plogis(link) else link
  if (family == "binomial") y <- as.double(y > 0)
  score <- cv_measures[[measure]]$score
  used <- weights > 0
  if (!is.null(score)) {
    each <- lapply(split(seq_along(y), foldid), function(rows) {
      apply(mean[rows, , drop = FALSE], 2, function(p) score(y[rows], p, weights[rows]))
    })
    return(list(scores = do.call(rbind, each), weights = fold_sums(weights, foldid)))
  }
  loss <- cv_measures[[measure]]$loss(y, mean, family)
  # With fewer than 3 observations per fold each observation has its own score, as in glmnet.
  if (sum(used) / max(foldid) < 3) {
    return(list(scores = loss[used, , drop = FALSE], weights = weights[used]))
  }
  totals <- fold_sums(weights, foldid)
  list(scores = rowsum(weights * loss, foldid) / totals, weights = totals)
}

fold_sums <- function(weights, foldid) as.vector(rowsum(weights, foldid))

# Mean over folds and its standard error, as in cv.glmnet. With repeats, the mean of the means, and
# the root mean square of the standard errors: repeats share the data, so more of them do not make
# the mean more certain.
summarise_scores <- function(repeats) {
  one <- lapply(repeats, function(fold) {
    w <- fold$weights / sum(fold$weights)
    mean <- colSums(w * fold$scores)
    square <- colSums(w * sweep(fold$scores, 2, mean)^2)
    list(mean = mean, variance = square / (nrow(fold$scores) - 1))
  })
  average <- function(what) Reduce(`+`, lapply(one, `[[`, what)) / length(one)
  list(cvm = unname(average("mean")), cvsd = unname(sqrt(average("variance"))))
}
