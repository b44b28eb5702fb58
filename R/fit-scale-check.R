# Do the subjects' images have one scale? Weights of one sign cannot subtract what all features of a
# subject share, such as the gain of a scanner or the uptake of a tracer. It shows in the subjects'
# means. Grey matter has such a common part too, from the size of the head and from global atrophy,
# but a smaller one, and some of it is signal.

# Beyond this share of the features' variance that the means explain there is advice. It lies
# between grey matter, even of few subjects with global atrophy (up to one half), and uptake with a
# gain (three quarters and more). Few features or subjects have a large share by chance.
large_share <- 0.6
least_for_share <- 20L

# Says so once for a call; `problem` may be a view with the same weights. A cross-validation that
# refines its grid measures instead, see cv-scale-check.R.
warn_common_scale <- function(problem) {
  if (!may_need_scale(problem)) return(invisible())
  found <- shared_by_features(problem)
  if (found[["share"]] <= large_share) return(invisible())
  give_scale_advice(paste0("The subjects' means explain ", floor(100 * found[["share"]]),
                           " % of the variance of the features"), found)
}

# Neither without a sign constraint, nor if a remedy is used, nor by chance.
may_need_scale <- function(problem) {
  data <- problem$data
  beyond <- sum(data$weights > 0) - ncol(data$covariates)
  problem$control$sign != "free" && is.null(data$scaling) && !names_global(data) &&
    ncol(data$x) >= least_for_share && beyond >= least_for_share
}

# c(share, smallest), see core/data/row_means.hpp.
shared_by_features <- function(problem) {
  data <- problem$data
  if (is.null(data$unpenalised)) data <- problem_at(problem)$data
  share_of_row_means_cpp(data$x, data$map, data$weights, data$unpenalised,
                         problem$control$threads)
}

# `text` says what was found. A class of its own, so that those who know can silence it alone.
give_scale_advice <- function(text, found) {
  text <- scale_warning(text, found[["smallest"]] > 0)
  warning(structure(class = c("n2gfl_scale_warning", "warning", "condition"),
                    list(message = text, call = NULL)))
}

# Is the mean among the covariates, made by the package or by the user?
names_global <- function(data) "global" %in% c(names(data$coder$frame), colnames(data$covariates))

# `positive`: are all means positive, so that one can divide by them?
scale_warning <- function(text, positive) {
  paste0(
    text, ": weights of one sign cannot subtract what all features of a subject share, such as ",
    "the gain of a scanner, the uptake of a tracer or the size of a head. Add the mean to the ",
    "covariates, `covariates = ~ global`",
    if (positive) {
      paste0(", or divide by it, scale = \"mean\". Dividing also removes real effects on the ",
             "whole brain, such as the atrophy of grey matter; the covariate is milder")
    }, "."
  )
}
