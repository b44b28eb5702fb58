# How predictions are scored. The label and the direction of each measure are defined only here.
# Which of them a family has and how they are computed, its `measures` say, see family.R.

# The deviance is something else for each family, which has its label. For levels the absolute error
# is that of the predicted level.
cv_measures <- list(
  deviance = list(),
  mse = list(label = "Mean squared error"),
  mae = list(label = "Mean absolute error"),
  class = list(label = "Misclassification error"),
  brier = list(label = "Brier score"),
  rps = list(label = "Ranked probability score"),
  auc = list(label = "Area under the ROC curve", larger_is_better = TRUE),
  C = list(label = "Concordance", larger_is_better = TRUE)
)

larger_is_better <- function(measure) isTRUE(cv_measures[[measure]]$larger_is_better)

measure_label <- function(measure, family) {
  if (measure == "deviance") family_of(family)$deviance_label else cv_measures[[measure]]$label
}

match_measure <- function(measure, family) {
  choices <- names(family_of(family)$measures)
  if (is.null(measure) || identical(measure, "default")) return(choices[1])
  found <- if (is.character(measure) && length(measure) == 1) pmatch(measure, choices) else NA
  if (is.na(found)) {
    stop_bad("`type.measure` must be one of ", quoted(choices), " for family \"", family,
             "\", not ", describe(measure), ".")
  }
  choices[found]
}

# The share of pairs, one of each class, that the prediction ranks correctly; ties count half.
weighted_auc <- function(y, mean, weights) {
  ties <- tied_values(y, mean, weights)
  negative <- ties$negative
  positive <- ties$positive
  below <- cumsum(negative) - negative
  sum(positive * (below + negative / 2)) / (sum(positive) * sum(negative))
}

# Weights of both classes at each distinct value of the prediction, in increasing order, and for
# each observation the index of its value.
tied_values <- function(y, mean, weights) {
  at <- order(mean)
  ties <- rle(mean[at])$lengths
  index <- rep(seq_along(ties), ties)
  list(negative = as.vector(rowsum(weights[at] * (1 - y[at]), index)),
       positive = as.vector(rowsum(weights[at] * y[at], index)),
       value = mean[at][cumsum(ties)], index = replace(index, at, index))
}

# ---- scores of held-out rows ---------------------------------------------------------------------

# The scores of one repeat: a matrix with one row per fold (or per observation, when folds are tiny)
# and one column per fit, and the weight of each of its rows. `link` is N x L; `fits` has for each
# fold the family's `own` parameters, if it has any, and the `score` from score_run(), if the
# measure needs the training rows.
fold_scores <- function(measure, link, y, weights, foldid, family, fits = NULL) {
  score <- family_of(family)$measures[[measure]]
  if (needs_training(score)) {
    of_folds <- function(what) do.call(rbind, lapply(fits, function(fit) fit$score[[what]]))
    return(list(scores = unname(of_folds("scores")), weights = as.vector(of_folds("weight"))))
  }
  rows <- split(seq_along(foldid), foldid)
  each <- lapply(stats::setNames(seq_along(rows), names(rows)), function(k) {
    at <- rows[[k]]
    score(response_rows(y, at), link[at, , drop = FALSE], weights[at], fits[[k]]$own)
  })
  totals <- fold_sums(weights, foldid)
  # One number for the whole fold, not a loss of each observation.
  if (is.null(dim(each[[1]]))) return(list(scores = do.call(rbind, each), weights = totals))
  loss <- link
  for (k in seq_along(rows)) loss[rows[[k]], ] <- each[[k]]
  used <- weights > 0
  # With fewer than 3 observations per fold each observation has its own score, as in glmnet.
  if (sum(used) / max(foldid) < 3) {
    return(list(scores = loss[used, , drop = FALSE], weights = weights[used]))
  }
  list(scores = rowsum(weights * loss, foldid) / totals, weights = totals)
}

# The score of the rows that a run holds out, for a measure that needs the training rows as well:
# list(scores, weight), else NULL. It is computed where the run is fitted, because the predictions
# for all rows would be too many numbers to send and to keep. `weights` are those of the problem
# that the run is a part of; the rows that these leave out have no influence.
score_run <- function(measure, view, run, fits, weights) {
  score <- family_of(view$control$family)$measures[[measure]]
  if (!needs_training(score)) return(NULL)
  rows <- which(weights > 0)
  score(response_rows(view$data$y, rows), view_link(view, fits, rows), weights[rows], fits$own,
        rows %in% run$held)
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
