# ---- measures of all sets at once ----------------------------------------------------------------

mdc_of_runs <- function(runs) {
  held <- tabulate(runs@i + 1L, nrow(runs))
  ncol(runs) * sum(held == ncol(runs)) / length(runs@i)
}
