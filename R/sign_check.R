# Does the sign constraint fit the data? The nonnegative model assumes that features rise with the
# response. The core counts, from the gradient and the norms that every fit needs anyway, how many
# features have a strong univariate effect (|t| > 3, given the covariates) in either direction.

# Warns when more than two thirds of the strong effects have the sign that the model excludes, and
# more of them than noise would give: among many features some are strong by chance, in both
# directions. `effects`: the numbers of strong effects against the constraint and in agreement with
# it.
warn_wrong_sign <- function(effects, problem) {
  if (problem$control$sign == "free" || !length(effects)) return(invisible())
  x <- problem$data$x
  by_chance <- ncol(x) * stats::pt(-3, max(1, nrow(x) - 2))
  if (effects[1] <= 2 * effects[2] || effects[1] <= 3 * by_chance) return(invisible())
  text <- sign_warning(effects[1], sum(effects), problem$control$sign, problem$data$classnames)
  # The warning has its own class, so that users can suppress it alone.
  warning(structure(class = c("n2gfl_sign_warning", "warning", "condition"),
                    list(message = text, call = NULL)))
}

sign_warning <- function(wrong, strong, sign, classes) {
  falls <- sign == "nonnegative"
  paste0(
    "`sign` = \"", sign, "\" allows features only to ", if (falls) "rise" else "fall",
    " with `y`, but ",
    if (wrong < strong) paste(wrong, "of the", strong) else if (strong > 1) paste("all", strong)
    else "the only", if (strong > 1) " features" else " feature",
    " with a strong effect of ", if (strong > 1) "their" else "its", " own (|t| > 3) ",
    if (falls) "fall" else "rise", if (strong == 1) "s",
    if (length(classes)) paste0(" with class \"", classes[2], "\""), ": ",
    if (length(classes)) "swap the levels of `y`, or " else "change the sign of `y`, or ",
    "use sign = \"", if (falls) "nonpositive" else "nonnegative",
    "\", if that is what you mean."
  )
}
