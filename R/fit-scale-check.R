# Do the subjects' images have one scale? Weights of one sign cannot subtract what all features of a
# subject share, such as the gain of a scanner or the uptake of a tracer. It shows in the subjects'
# means. Grey matter has such a common part too, from the size of the head and from global atrophy,
# but a smaller one, and some of it is signal.

# Beyond this share of the features' variance that the means explain there is advice: the common
# part varies more than all the rest. Few features or subjects have a large share by chance.
large_share <- 0.5
least_for_share <- 20L

# Says so once for a call; `problem` may be a view with the same weights.
warn_common_scale <- function(problem) {
  data <- problem$data
  if (problem$control$sign == "free" || !is.null(data$scaling) || names_global(data) ||
        ncol(data$x) < least_for_share || sum(data$weights > 0) < least_for_share) {
    return(invisible())
  }
  if (is.null(data$unpenalised)) data <- problem_at(problem)$data
  found <- share_of_row_means_cpp(data$x, data$map, data$weights, data$unpenalised,
                                  problem$control$threads)
  if (found[["share"]] <= large_share) return(invisible())
  text <- scale_warning(found[["share"]], found[["smallest"]] > 0)
  # A class of its own, so that those who know can silence it alone.
  warning(structure(class = c("n2gfl_scale_warning", "warning", "condition"),
                    list(message = text, call = NULL)))
}

# Is the mean among the covariates, made by the package or by the user?
names_global <- function(data) "global" %in% c(names(data$coder$frame), colnames(data$covariates))

# `positive`: are all means positive, so that one can divide by them?
scale_warning <- function(share, positive) {
  paste0(
    "The subjects' means explain ", floor(100 * share), " % of the variance of the features, and ",
    "weights of one sign cannot subtract what all features of a subject share, such as the gain ",
    "of a scanner or the uptake of a tracer: add the mean to the covariates, ",
    "`covariates = ~ global`",
    if (positive) {
      paste0(", or divide by it, scale = \"mean\". Dividing also removes real effects on the ",
             "whole brain, such as the atrophy of grey matter; the covariate is milder")
    }, "."
  )
}
