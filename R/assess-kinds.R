# What assess() does with each kind of outcome that a family can predict, its slot `outcome`. For a
# new kind, add an entry; a new family of a known kind needs nothing here.

# In each entry:
# measures    (sample, settings): the table of measures.
# tables      (sample, classnames, settings, nothing): further tables, as a named list. `nothing`:
#             the fits select almost nothing, so ranks over all folds mean nothing.
# rank, score, lost, chance, within   The measure in the note on folds that depends on ranks: its
#             name in the table and in text, what is not defined with it, its value by chance, and
#             a function for its value within folds.
# interval    (observed, n, level): limits of the mean `observed` (estimate, se) in a bin of the
#             calibration, from n observations.
# threshold   TRUE if there is a threshold for the predicted class.
# needs, value   For the message if new outcomes are all the same: what they must do, and how a
#             value is shown.
# counts, print   What print() adds to the number of observations, and below the measures.
# pictures    What plot() can draw; the first is the default.
assess_kinds <- function() list(numbers = assess_numbers(), classes = assess_classes())

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
    tables = function(sample, classnames, settings, nothing) NULL,
    rank = "correlation", score = "correlation", lost = "correlation", chance = 0,
    within = within_correlation,
    interval = function(observed, n, level) {
      normal_interval(observed[["estimate"]], observed[["se"]], level)
    },
    threshold = FALSE,
    needs = function(classnames) "vary",
    value = function(value, classnames) number_text(value),
    counts = function(x, digits) NULL,
    print = function(x) invisible(),
    pictures = list(calibration = draw_observed)
  )
}

assess_classes <- function() {
  list(
    measures = class_measures,
    tables = function(sample, classnames, settings, nothing) {
      roc <- roc_points(sample, settings$level)
      list(confusion = confusion_counts(sample, settings$threshold, classnames),
           roc = if (nothing) roc[0, ] else roc)
    },
    rank = "auc", score = "AUC", lost = "AUC, ROC curve", chance = 0.5, within = within_auc,
    interval = function(observed, n, level) wilson_interval(observed[["estimate"]], n, level),
    threshold = TRUE,
    needs = function(classnames) paste0("have both classes, ", quoted(classnames)),
    value = function(value, classnames) quoted(classnames[1 + value]),
    counts = class_counts,
    print = print_confusion,
    pictures = list(roc = draw_roc, calibration = draw_calibration)
  )
}

# ---- print, for classes --------------------------------------------------------------------------

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
