# What assess() does with each kind of outcome that a family can predict, its slot `outcome`. For a
# new kind, add an entry; a new family of a known kind needs nothing here.

# In each entry:
# measures    (sample, settings): the table of measures.
# check_new   (y, weights, classnames): stops if new outcomes cannot be scored.
# predictions (sample): the columns of the table of predictions that say what was observed and
#             predicted, all repeats in one.
# tables      (sample, classnames, settings, nothing): further tables, as a named list. `nothing`:
#             the fits select almost nothing, so ranks over all folds mean nothing.
# rank, score, lost, chance, within   The measure in the note on folds that depends on ranks: its
#             name in the table and in text, what is not defined with it, its value by chance, and
#             a function (sample, repeat) for its value within folds. No `rank`: there is no such
#             measure.
# interval    (observed, n, level): limits of the mean `observed` (estimate, se) in a bin of the
#             calibration, from n observations. NULL: there is no table of calibration.
# notes       (sample): what to bear in mind with outcomes of this kind.
# threshold   TRUE if there is a threshold for the predicted class.
# counts, print   What print() adds to the number of observations, and below the measures.
# pictures    What plot() can draw; the first is the default.
assess_kinds <- function() {
  list(numbers = assess_numbers(), classes = assess_classes(), levels = assess_levels(),
       times = assess_times())
}

assess_kind <- function(family) {
  outcome <- family_of(family)$outcome
  kind <- assess_kinds()[[outcome]]
  if (is.null(kind)) {
    stop_bad("assess() has no measures for family ", quoted(family), ", which predicts ", outcome,
             ".")
  }
  kind
}

assess_numbers <- function() {
  list(
    measures = number_measures,
    check_new = function(y, weights, classnames) {
      used <- y[weights > 0]
      if (any(used != used[1])) return(invisible())
      stop_bad("`newy` must vary, but all its values are ", number_text(used[1]), ".")
    },
    predictions = single_predictions,
    tables = function(sample, classnames, settings, nothing) NULL,
    rank = "correlation", score = "correlation", lost = "correlation", chance = 0,
    within = function(sample, k) {
      within_correlation(sample$y, sample$mean[, k], sample$weights, sample$fold[, k])
    },
    interval = function(observed, n, level) {
      normal_interval(observed[["estimate"]], observed[["se"]], level)
    },
    notes = function(sample) NULL,
    threshold = FALSE,
    counts = function(x, digits) NULL,
    print = function(x) invisible(),
    pictures = list(calibration = draw_observed)
  )
}

assess_classes <- function() {
  list(
    measures = class_measures,
    check_new = function(y, weights, classnames) {
      used <- y[weights > 0]
      if (any(used != used[1])) return(invisible())
      stop_bad("`newy` must have both classes, ", quoted(classnames), ", but all its values are ",
               quoted(classnames[1 + used[1]]), ".")
    },
    predictions = single_predictions,
    tables = function(sample, classnames, settings, nothing) {
      roc <- roc_points(sample, settings$level)
      list(confusion = confusion_counts(sample, settings$threshold, classnames),
           roc = if (nothing) roc[0, ] else roc)
    },
    rank = "auc", score = "AUC", lost = "AUC, ROC curve", chance = 0.5,
    within = function(sample, k) {
      within_auc(sample$y, sample$link[, k], sample$weights, sample$fold[, k])
    },
    interval = function(observed, n, level) wilson_interval(observed[["estimate"]], n, level),
    notes = function(sample) NULL,
    threshold = TRUE,
    counts = class_counts,
    print = print_confusion,
    pictures = list(roc = draw_roc, calibration = draw_calibration)
  )
}

# Classes in an order: `y` is the number of the level, sample$mean has the probability of each.
assess_levels <- function() {
  list(
    measures = level_measures,
    check_new = function(y, weights, classnames) invisible(),
    predictions = function(sample) {
      list(observed = rep(sample$y, ncol(sample$link)),
           predicted = as.vector(likeliest_of(sample$mean)))
    },
    tables = function(sample, classnames, settings, nothing) {
      list(confusion = level_confusion(sample, classnames))
    },
    rank = NULL, interval = NULL,
    notes = function(sample) NULL,
    threshold = FALSE,
    counts = level_counts,
    print = function(x) {
      cat("\nMost probable level:\n")
      print(stats::xtabs(round(n, 1) ~ predicted + observed, x$confusion))
    },
    pictures = list(confusion = draw_confusion)
  )
}

# Right-censored times: `y` is a matrix (time, status, stratum), and predictions are compared only
# where they come from the same fit.
assess_times <- function() {
  list(
    measures = time_measures,
    check_new = check_new_events,
    predictions = function(sample) {
      again <- rep(seq_len(nrow(sample$y)), ncol(sample$link))
      list(time = sample$y[again, "time"], status = sample$y[again, "status"],
           predicted = as.vector(sample$link))
    },
    tables = function(sample, classnames, settings, nothing) {
      list(survival = survival_by_risk(sample))
    },
    rank = NULL, interval = NULL,
    notes = function(sample) {
      if (!is.null(sample$fold)) {
        paste("Only observations of the same fold are compared, because each fold has a model of",
              "its own.")
      }
    },
    threshold = FALSE,
    counts = function(x, digits) {
      paste0(": ", count_of(sum(x$predictions$status[x$predictions$repetition == 1]), "event"))
    },
    print = function(x) invisible(),
    pictures = list(survival = draw_survival)
  )
}

check_new_events <- function(y, weights, classnames) {
  events <- which(y[, "status"] == 1 & weights > 0)
  if (any(vapply(events, function(i) length(outlived_by(y, weights, i)), 1L) > 0)) {
    return(invisible())
  }
  stop_bad("`newy` must have an event and a row with a longer time",
           if (any(y[, "stratum"] != y[1, "stratum"])) " in the same stratum", ", but there is no ",
           "such pair.")
}

# ---- print, for classes --------------------------------------------------------------------------

# ---- what several kinds share, and longer entries ------------------------------------------------

# For outcomes with one number per row, such as a mean or a probability.
single_predictions <- function(sample) {
  list(observed = rep(sample$y, ncol(sample$link)), predicted = as.vector(sample$mean))
}

level_counts <- function(x, digits) {
  first <- x$predictions[x$predictions$repetition == 1, ]
  observed <- factor(first$observed, seq_along(x$classnames))
  share <- max(tapply(first$weight, observed, sum), na.rm = TRUE) / sum(first$weight)
  paste0(": ", paste(table(observed), x$classnames, collapse = ", "),
         "\nAlways predicting the most frequent level would give an accuracy of ",
         decimal_text(share, digits))
}

class_counts <- function(x, digits) {
  first <- x$predictions[x$predictions$repetition == 1, ]
  counts <- c(sum(first$observed == 0), sum(first$observed == 1))
  share <- max(tapply(first$weight, first$observed, sum)) / sum(first$weight)
  paste0(": ", counts[1], " ", x$classnames[1], ", ", counts[2], " ", x$classnames[2],
         " (the modelled class)\nAlways predicting the larger class would give an accuracy of ",
         decimal_text(share, digits))
}

print_confusion <- function(x) {
  cat("\nThreshold ", number_text(x$threshold), ":\n", sep = "")
  print(stats::xtabs(round(n, 1) ~ predicted + observed, x$confusion))
}
