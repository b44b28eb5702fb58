# Does the sign constraint suffer from what all features of a subject share? fit-scale-check.R can
# only say how large that part is. A cross-validation measures what it costs: one more path, at the
# lambda2 of the best row and in the same folds, with the subjects' means as a covariate. It is
# advice about the data at hand, so it is not repeated inside of outer folds.

# Below this share of the features' variance that the means explain, nothing is common.
least_share <- 0.05
# The score must be better by so many standard errors of the difference, and by one of the score.
clear_gain <- 2

# Shall it be measured? One path more is little beside a grid that refines itself, but could double
# the work on a small grid of the user's own.
has_scale_check <- function(problem) {
  !length(problem$lambda2) && path_units(problem) > 1 && may_need_scale(problem) &&
    shared_by_features(problem)[["share"]] > least_share
}

# list(share, without, with, gain, se, advised): the scores of the best rows without and with the
# means, by how much the second is better, the standard error of that, and whether it is clearly
# better.
scale_check <- function(cv, problem, plan, how, store = NULL, progress = NULL) {
  view <- problem_at(with_means(problem))
  best <- cv$index[["min"]]
  lambda2 <- cv$full$lambda2[best]
  # If no feature can enter beside the means, the model with them alone is left.
  grid <- whole_path(lambda2, view) %or% list(lambda1 = max(cv$full$lambda1), lambda2 = lambda2)
  work <- list(plan = plan, how = how, store = store, progress = progress, alive = "")
  found <- fit_round(view, work, grid, round = ", with their means")
  with <- scores_of(found$folds, length(grid$lambda1), view, plan, how$measure)
  without <- scores_of(cv$folds, length(cv$full$lambda1), view, plan, how$measure)
  compare_scales(without, with, best, shared_by_features(problem)[["share"]], how$measure)
}

scores_of <- function(folds, rows, view, plan, measure) {
  repeat_scores(folds, held_out_links(folds, plan, rows), plan, view, measure)
}

compare_scales <- function(without, with, best, share, measure) {
  better <- if (larger_is_better(measure)) 1 else -1
  cvm <- summarise_scores(with)$cvm
  row <- which.max(better * cvm)
  difference <- Map(function(old, new) {
    list(scores = better * (new$scores[, row, drop = FALSE] - old$scores[, best, drop = FALSE]),
         weights = new$weights)
  }, without, with)
  gain <- summarise_scores(difference)
  before <- summarise_scores(without)
  list(share = share, without = before$cvm[best], with = cvm[row], gain = gain$cvm, se = gain$cvsd,
       advised = isTRUE(gain$cvm > max(clear_gain * gain$cvsd, before$cvsd[best])))
}

# The problem with the means of the rows of x among its covariates.
with_means <- function(problem) {
  data <- problem$data
  means <- means_of(data$x)()
  coder <- data$coder
  if (is.null(coder$terms)) {
    coder$matrix <- cbind(coder$matrix, global = means)
  } else {
    coder$terms <- stats::terms(stats::update(stats::formula(coder$terms), ~ . + global))
    attr(coder$terms, "intercept") <- 1L
    coder$frame$global <- means
  }
  problem$data$coder <- coder
  problem$data$covariates <- code_covariates(coder, data$weights)
  problem
}

# The advice of a cross-validation: from what it measured, or, if it did not, from the share.
advise_scale <- function(check, problem, how) {
  if (is.null(check)) return(warn_common_scale(problem))
  if (check$advised) {
    label <- measure_label(how$measure, problem$control$family)
    give_scale_advice(measured_scale_text(check, label), shared_by_features(problem))
  }
}

# "Binomial deviance in cross-validation is 0.5 with the subjects' means as a covariate, 0.8
# without".
measured_scale_text <- function(check, label) {
  number <- function(value) format(signif(value, 3))
  paste0(label, " in cross-validation is ", number(check$with), " with the subjects' means as a ",
         "covariate, ", number(check$without), " without (difference ", number(abs(check$gain)),
         ", standard error ", number(check$se), ")")
}
