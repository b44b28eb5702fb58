# Does the sign constraint fit the data? The nonnegative model assumes that features rise with the
# response. Univariate t statistics, one column at a time in C++, cost one pass over x.

strong_effect <- 3

# Warns once when most of the strong univariate effects have the sign that the model excludes.
warn_wrong_sign <- function(data, control) {
  if (control$sign == "free") return(invisible())
  effect <- count_effects_cpp(data$x, data$y, data$weights, strong_effect)
  wrong <- effect[if (control$sign == "nonnegative") 1 else 2]
  if (wrong <= sum(effect) / 2) return(invisible())
  warning(sign_warning(wrong, sum(effect), control$sign, data$classnames), call. = FALSE)
}

sign_warning <- function(wrong, strong, sign, classes) {
  falls <- sign == "nonnegative"
  paste0(
    "`sign` = \"", sign, "\" lets features only ", if (falls) "rise" else "fall", " with `y`, but ",
    wrong, " of the ", strong, " features with a strong effect of their own (|t| > ",
    strong_effect, ") ", if (falls) "fall" else "rise",
    if (length(classes)) paste0(" with class \"", classes[2], "\""), ": ",
    if (length(classes)) "swap the levels of `y`, or " else "change the sign of `y`, or ",
    "use sign = \"", if (falls) "nonpositive" else "nonnegative",
    "\", if that is what you mean."
  )
}
