# Which rows of its grid a cross-validation chooses.

# Adds to the fits of fit_round() or join_rounds() their scores, the rows within one standard error
# of the best (`near`), and the rows that are chosen (`index`). `centre`: see choose_stable().
choose_penalties <- function(cv, view, plan, how, centre = NULL) {
  measure <- how$measure
  links <- held_out_links(cv$folds, plan, length(cv$full$lambda1))
  scores <- repeat_scores(cv$folds, links, plan, view, measure)
  score <- summarise_scores(scores)
  stability <- unname(cv$es[, "fit"])
  larger <- larger_is_better(measure)
  best <- best_row(score$cvm, cv$full, larger)
  near <- within_one_se(score, best, larger)
  usual <- usual_penalties(cv$full$lambda1, view, how$rule)
  choice <- choose_stable(cv$full, score, stability, larger, how$rule, usual, centre)
  index <- c(
    min = best, `1se` = sparsest_row(near, cv$full),
    es = choose_es(score$cvm, score$cvsd, as.data.frame(cv$full[c("lambda1", "lambda2", "df")]),
                   best, stability, larger),
    stable = choice$row
  )
  c(cv[c("full", "folds", "es", "mdc")], list(links = links), score,
    list(near = near, index = index, stable = choice[c("share", "reason")],
         centre = choice$centre))
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

# ---- lambda.stable -------------------------------------------------------------------------------

#' How `lambda.stable` is chosen
#'
#' The knobs of the rule by which [cv.n2gfl()] chooses `lambda.stable`, the row of the grid whose
#' map is reported by default. The defaults need no change for most data.
#'
#' @details
#' The best score and the most stable row are both noisy: when a few subjects are exchanged, they
#' jump to other penalties, and the map jumps with them. The rule therefore looks at all rows that
#' are about as accurate as the best one and takes their centre:
#'
#' 1. The score, its standard error and the logarithm of the estimation stability ([ES()] in its
#'    "fit" form on centred `x`) are smoothed over the logarithms of both penalties, by local
#'    regression ([stats::loess()]) with `span`.
#' 2. A row counts by the product of three weights. \eqn{\exp(-z^2 / 2)}{exp(-z^2 / 2)}, where
#'    \eqn{z} is by how many times `within` standard errors its smooth score is worse than the best.
#'    \eqn{ES^{-1/t}}{ES^(-1 / t)} with \eqn{t} = `tolerance`: a small tolerance prefers the most
#'    stable rows more strictly; with `size.weight` \eqn{q}, \eqn{ES} is multiplied by the
#'    \eqn{q}-th power of the number of features, which prefers small maps. And a normal density of
#'    the distance to the usual penalties, in decades, with the standard deviation `spread`: where
#'    the data cannot tell penalties apart, the same ones are taken each time, and not those that
#'    chance favours. Rows with \eqn{z > 2}, rows without features and rows with more than the share
#'    `max.share` of all features do not count. A hard limit at one standard error would make the
#'    centre jump: rows would enter and leave as a whole.
#' 3. `lambda.stable` is at the weighted mean of their logarithms: a fit with these penalties, or
#'    the closest row of a grid of your own.
#'
#' A map of all features is always stable, and says nothing about where an effect is. `max.share`
#' keeps it out; if the most stable rows are larger than that, [print()] says so: the effect is
#' global. The subjects' mean as a covariate (`covariates = ~ global`) then shows what is local
#' beyond it.
#'
#' If a model without features is within one standard error of the best one, the data are no
#' evidence for any map. `lambda.stable` is then a row with an empty map, and [print()] says so.
#' @param within How fast rows lose weight that are worse than the best one, in standard errors of
#'   the best one. Rows that are worse by more than twice this number do not count.
#' @param tolerance How much less stable rows count, a positive number: see *Details*.
#' @param size.weight How much small maps are preferred, a nonnegative number.
#' @param max.share The largest share of all features that a map may have, at most 1.
#' @param usual The usual penalties: `lambda1` and `lambda2` of this share of the largest `lambda1`
#'   of the grid, which is [lambda_max()] for its smallest `lambda2`. With a `lambda1` of your own
#'   there are none.
#' @param spread How strictly the usual penalties are preferred where the data cannot tell, in
#'   decades; `Inf` for no preference.
#' @param span Share of the rows of the grid that each point of the smooth surfaces is computed
#'   from.
#' @param ... Must be empty.
#' @return A list of class `n2gfl_rule`, for the argument `rule` of [cv.n2gfl()].
#' @seealso [cv.n2gfl()]
#' @examples
#' stable_rule(max.share = 0.25)
#' @export
stable_rule <- function(within = 0.75, tolerance = 0.2, size.weight = 0.05, max.share = 0.5,
                        usual = 0.05, spread = 0.35, span = 0.5, ...) {
  check_empty_dots(...)
  within <- check_positive(within, "within")
  tolerance <- check_positive(tolerance, "tolerance")
  max.share <- check_share(max.share, "max.share")
  usual <- check_share(usual, "usual")
  if (!identical(spread, Inf)) spread <- check_positive(spread, "spread")
  span <- check_share(span, "span")
  if (!is_number(size.weight) || size.weight < 0 || size.weight == Inf) {
    stop_bad("`size.weight` must be a nonnegative number, not ", describe(size.weight), ".")
  }
  structure(list(within = within, tolerance = tolerance, size.weight = size.weight,
                 max.share = max.share, usual = usual, spread = spread, span = span),
            class = "n2gfl_rule")
}

check_rule <- function(rule) {
  if (!inherits(rule, "n2gfl_rule")) {
    stop_bad("`rule` must be made by stable_rule(), not ", describe(rule), ".")
  }
  rule
}

# list(row, share, reason, centre). `share` of the features is in the most stable map of those that
# are accurate enough, whatever its size. `reason` is NULL, or why the row is not the centre of the
# stable ones: "no evidence" if no map is better than none, "size" if `max.share` ruled out all that
# are accurate enough. `centre` is the position in the plane of penalties of which the row is the
# closest, NULL if there is none; the one given is used if a row has been added there. `usual` is
# from usual_penalties(), or NULL.
choose_stable <- function(full, score, es, larger, rule, usual = NULL, centre = NULL) {
  sign <- if (larger) -1 else 1
  d <- nrow(full$beta)
  plane <- grid_plane(full$lambda1, full$lambda2)
  loss <- smooth_over_grid(sign * score$cvm, plane, rule$span)
  error <- smooth_over_grid(score$cvsd, plane, rule$span)
  unstable <- log_unstable(es, full$nonzero, plane, rule)
  best <- which.min(loss)
  errors_behind <- (loss - loss[best]) / max(error[best], .Machine$double.xmin)
  z <- errors_behind / rule$within
  empty <- full$nonzero == 0
  if (any(errors_behind[empty] <= 1)) {
    return(list(row = which(empty)[which.min(loss[empty])], share = 0, reason = "no evidence"))
  }
  near <- which(z <= 2 & !empty & is.finite(unstable))
  if (!length(near)) return(list(row = best, share = full$nonzero[best] / d, reason = NULL))
  share <- full$nonzero[near[which.min(unstable[near])]] / d
  small <- which(!empty & full$nonzero <= rule$max.share * d)
  inside <- intersect(near, small)
  if (!length(inside)) {
    row <- if (length(small)) small[which.min(loss[small])] else best
    return(list(row = row, share = share, reason = "size"))
  }
  if (is.null(centre)) {
    rarity <- if (is.null(usual)) 0 else rarity_of(plane, usual, max(full$lambda1), rule$spread)
    centre <- weighted_centre(inside, z^2 / 2 + unstable / rule$tolerance + rarity, plane)
  }
  list(row = closest_row(inside, centre, plane), share = share, reason = NULL, centre = centre)
}

# The logarithm of ES on its smooth surface; NA where ES is not defined.
log_unstable <- function(es, nonzero, plane, rule) {
  value <- ifelse(nonzero > 0, log(pmax(es, 1e-12)), NA_real_)
  smooth_over_grid(value, plane, rule$span) + rule$size.weight * log(pmax(nonzero, 1))
}

# The weighted mean of the positions of `rows`, c(x, y). `penalty`: minus the logarithm of each
# row's weight.
weighted_centre <- function(rows, penalty, plane) {
  weight <- plane$area[rows] * exp(min(penalty[rows]) - penalty[rows])
  vapply(plane[rows, c("x", "y")], stats::weighted.mean, 1, weight)
}

# The penalties that are preferred where the data cannot tell. The largest lambda1 of a grid is that
# of the path with the least fusion; NULL if it is the user's own, which says nothing.
usual_penalties <- function(lambda1, view, rule) {
  if (!length(view$lambda1) && max(lambda1) > 0) {
    list(lambda1 = rule$usual * max(lambda1), lambda2 = rule$usual * max(lambda1))
  }
}

rarity_of <- function(plane, usual, largest, spread) {
  position <- c(x = log10(usual$lambda1), y = position_of_lambda2(usual$lambda2, largest))
  (distance_to(position, plane) / spread)^2 / 2
}

# Of two rows that are equally close the one with the larger penalty.
closest_row <- function(rows, centre, plane) {
  distance <- distance_to(centre, plane[rows, ])
  rows[which(distance <= min(distance) * (1 + 1e-8))[1]]
}

# In decades.
distance_to <- function(centre, plane) {
  sqrt((plane$x - centre[["x"]])^2 + (plane$y - centre[["y"]])^2)
}
