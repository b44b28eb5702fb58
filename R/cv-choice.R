# Which rows of its grid a cross-validation chooses.

# Adds scores, stability over the folds, and the rows of the grid that these choose.
choose_penalties <- function(cv, view, measure) {
  score <- summarise_scores(cv$scores)
  stable <- stability_columns(cv$folds, view$data$x, view$data$weights)
  larger <- larger_is_better(measure)
  best <- best_row(score$cvm, cv$full, larger)
  index <- c(
    min = best, `1se` = sparsest_row(within_one_se(score, best, larger), cv$full),
    es = choose_es(score$cvm, score$cvsd, as.data.frame(cv$full[c("lambda1", "lambda2", "df")]),
                   best, unname(stable$es[, "fit"]), larger)
  )
  c(cv, score, stable, list(index = index))
}

# Ties go to the larger lambda2, then to the larger lambda1.
best_row <- function(cvm, grid, larger) {
  best <- which(cvm == if (larger) max(cvm) else min(cvm))
  best[order(-grid$lambda2[best], -grid$lambda1[best])[1]]
}

within_one_se <- function(score, best, larger) {
  worse <- if (larger) score$cvm[best] - score$cvm else score$cvm - score$cvm[best]
  which(worse <= score$cvsd[best])
}

# Fewer regions, then fewer features, then the larger lambda2, then the larger lambda1.
sparsest_row <- function(rows, grid) {
  rows[order(grid$df[rows], grid$nonzero[rows], -grid$lambda2[rows], -grid$lambda1[rows])[1]]
}

# The row of lambda.es: the smallest ES among the rows within one standard error of the best score
# that have no more regions than the best row.
choose_es <- function(cvm, cvsd, grid, index_min, es_fit, bigger_is_better) {
  loss <- if (bigger_is_better) cvm[index_min] - cvm else cvm - cvm[index_min]
  near <- loss <= cvsd[index_min] & grid$df <= grid$df[index_min]
  rows <- which(near & !is.na(es_fit))
  if (!length(rows)) return(index_min)
  rows[order(es_fit[rows], -grid$lambda2[rows], -grid$lambda1[rows])[1]]
}

# The edges of the grid on which the best row lies, named, with a value to try beyond each of them.
# `made`: was the sequence of lambda1 made? Only then lambda.min.ratio has an effect.
grid_edges <- function(grid, best, made = TRUE) {
  # If the best model is empty, larger penalties give the same model.
  filled <- grid$nonzero[best] > 0
  lambda2 <- grid$lambda2[best]
  first <- sort(grid$lambda1[grid$lambda2 == lambda2])
  second <- sort(unique(grid$lambda2))
  here <- grid$lambda1[best]
  several <- length(first) > 1
  c(
    `largest lambda1` = if (several && here == max(first) && filled)
      paste("try lambda1 up to", number_text(beyond(rev(first)))),
    `smallest lambda1` = if (several && here == min(first) && here > 0)
      paste0("try lambda1 down to ", number_text(beyond(first, 5)), if (made) {
        paste0(" (lambda.min.ratio = ", number_text(signif(beyond(first, 5) / max(first), 2)), ")")
      }),
    `largest lambda2` = if (any(second < lambda2) && lambda2 == max(second) && filled)
      paste("try lambda2 up to", number_text(beyond(rev(second)))),
    `smallest lambda2` = if (any(second > lambda2) && lambda2 == min(second) && lambda2 > 0)
      paste("try lambda2 down to", number_text(beyond(second)))
  )
}

# Extends a sequence beyond its first value, by the ratio of its first two values or by `least`,
# whichever goes further; two significant digits.
beyond <- function(values, least = 2) {
  ratio <- values[1] / values[2]
  if (!is.finite(ratio)) ratio <- least
  ratio <- if (ratio > 1) max(ratio, least) else min(ratio, 1 / least)
  signif(values[1] * ratio, 2)
}
