# Does the sign constraint fit the data? The nonnegative model assumes that features rise with the
# response. The core counts, from the gradient and the norms that every fit needs anyway, how many
# features have a strong univariate effect (given the covariates) in either direction.

# t statistics beyond which an effect is strong: one that noise exceeds in any of the features with
# a probability of 1 % (Bonferroni), and 3 for effects that are weaker but many.
strong_limits <- function(x) {
  c(stats::qt(1 - 0.005 / ncol(x), max(1, nrow(x) - 2)), 3)
}

# Warns if more than two thirds of the strong effects have the sign that the model excludes. Of
# those beyond 3 there must be ten times as many as noise would give: neighbours are strong by
# chance together. `effects`: rows are against the constraint and along with it, columns the limits.
warn_wrong_sign <- function(effects, problem) {
  if (problem$control$sign == "free" || !length(effects)) return(invisible())
  x <- problem$data$x
  by_chance <- ncol(x) * stats::pt(-3, max(1, nrow(x) - 2))
  wrong <- effects[1, ] > 2 * effects[2, ] & effects[1, ] > c(0, max(5, 10 * by_chance))
  if (!any(wrong)) return(invisible())
  # Where both say so, the many weaker ones say more.
  limit <- max(which(wrong))
  text <- sign_warning(effects[, limit], problem$control$strong[limit], problem$control$sign,
                       family_of(problem$control$family)$sign_words(problem$data$classnames))
  # A class of its own, so that those who know can silence it alone.
  warning(structure(class = c("n2gfl_sign_warning", "warning", "condition"),
                    list(message = text, call = NULL)))
}

# `words`: those of the family, see `sign_words` in family.R.
sign_warning <- function(effects, limit, sign, words) {
  if (is.null(words)) {
    words <- list(response = "`y`", with = "", turn = "change the sign of `y`, or ")
  }
  falls <- sign == "nonnegative"
  wrong <- effects[1]
  strong <- sum(effects)
  which <- if (wrong < strong) paste(wrong, "of the", strong, "features") else {
    switch(min(strong, 3), "the only feature", "both features", paste("all", strong, "features"))
  }
  paste0(
    "`sign` = \"", sign, "\" allows features only to ", if (falls) "rise" else "fall",
    " with ", words$response, ", but ", which, " with a strong univariate effect (|t| > ",
    round(limit, 1), ") ", if (falls) "fall" else "rise", if (strong == 1) "s",
    words$with, ": ", words$turn, "use sign = \"", if (falls) "nonpositive" else "nonnegative",
    "\", if that is what you mean."
  )
}
