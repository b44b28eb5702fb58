#' Plot stability along the grid, or against accuracy
#'
#' @param x A table from [stability()], or runs from [perturb_fits()], whose table is drawn.
#' @param type `"grid"` draws one panel per measure, against lambda1, with one line per lambda2, and
#'   the cross-validated score as the first panel; `"tradeoff"` draws the score against one measure:
#'   what a more stable row costs in accuracy. Without a grid the measures of the one row are drawn
#'   as dots.
#' @param measures Columns of `x` to draw, or `"all"`. By default `es.fit`, `mdc`, `dice`,
#'   `nogueira` and `dice.near`, as far as `x` has them; for `type = "tradeoff"` one, `nogueira`.
#' @param which Which panels of the grid to draw: their numbers, or their names, `"cvm"` for the
#'   score and those of `measures`. By default all of them if `measures` is given, otherwise as
#'   many as there is room for; or one, if you have set up several figures: Nogueira's measure if it
#'   is there, else the first measure. See *Several panels*.
#' @param main Title of the picture.
#' @param ... Graphical parameters for the lines and points, such as `lwd` or `cex`.
#' @details
#' The bars at the score are one standard error, the band around Nogueira's measure is its interval.
#' The axis of `lambda1` is logarithmic, with the largest on the left, as in [plot.n2gfl_cv()]. The
#' rows that the cross-validation chose have the same symbols as there.
#' @inheritSection plot.n2gfl Several panels
#' @return `x`, invisibly.
#' @seealso [stability()]
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(60 * 30), 60)
#' y <- rowSums(x[, 5:12]) + 3 * rnorm(60)
#' cv <- cv.n2gfl(x, y, graph_chain(30), nfolds = 5, nlambda1 = 8, lambda2 = c(0.3, 0.03))
#' panel <- stability(cv)
#' plot(panel)
#' plot(panel, type = "tradeoff")
#' old <- par(mfrow = c(1, 2))
#' plot(cv)
#' plot(panel, which = "dice")
#' par(old)
#' @method plot n2gfl_stability
#' @export
plot.n2gfl_stability <- function(x, type = c("grid", "tradeoff"), measures = NULL, which = NULL,
                                 main = NULL, ...) {
  type <- match_choice(type, "type", c("grid", "tradeoff"))
  dots <- check_line_parameters(list(...))
  if (is.null(x$lambda1) || nrow(x) == 1) {
    check_not_given(which, "which", "a single row")
    plot_measure_dots(x, plotted_measures(x, measures, value_columns(x)), main, dots)
  } else if (type == "grid") {
    shown <- plotted_measures(x, measures, usual_columns())
    plot_measure_panels(x, shown, which, main, dots, asked = !is.null(measures))
  } else {
    check_not_given(which, "which", "type = \"tradeoff\"")
    plot_tradeoff(x, plotted_measures(x, measures, main_measure), main, dots)
  }
  invisible(x)
}

# The columns to draw: those asked for, or the usual ones that have a value.
plotted_measures <- function(x, measures, usual) {
  there <- value_columns(x)
  there <- there[vapply(there, function(name) any(is.finite(x[[name]])), NA)]
  if (identical(measures, "all")) return(there)
  if (is.null(measures)) measures <- intersect(usual, there)
  if (!length(measures) || !is.character(measures) || !all(measures %in% there)) {
    stop_bad("`measures` must be \"all\" or some of the columns with a value (", quoted(there),
             "), not ", describe(setdiff(measures, there)[1]), ".")
  }
  measures
}

score_title <- function(x) if (is.null(attr(x, "name"))) "Score" else attr(x, "name")

# ---- along the grid ------------------------------------------------------------------------------

plot_measure_panels <- function(x, measures, which, main, dots, asked) {
  panels <- c(if (!is.null(x$cvm)) "cvm", measures)
  # Measures that the user names are all drawn, on several pages if need be.
  if (is.null(which) && asked && !in_users_cell()) which <- seq_along(panels)
  default <- match(intersect(c(main_measure, measures), measures)[1], panels)
  shown <- panels[choose_panels(which, length(panels), default, panels)]
  at <- log_position(x$lambda1)
  ticks <- log_ticks(x$lambda1)
  scales <- lapply(shown, measure_scale, x = x)
  draw <- function(k, only) {
    draw_frame(rev(padded_range(at, 0.03)), scales[[k]]$limits, ticks, scales[[k]]$ticks)
    draw_measure(x, shown[k], at, scales[[k]], dots)
    strip_title(measure_title(x, shown[k]), NULL, only, 1.15)
    graphics::mtext(measure_direction(x, shown[k]), side = 3, line = 0.2, col = "grey30",
                    cex = 0.8 * graphics::par("cex"))
  }
  labels <- unlist(lapply(scales, function(scale) scale$ticks$labels))
  draw_chart(new_chart(length(shown), draw, c(1.4, label_lines(labels), 2.5, 0.9),
                       xvar_title("lambda1"), "", main, TRUE, legends = measure_legends(x, shown)))
}

# Limits and ticks of a measure's axis, and the function that gives positions on it.
measure_scale <- function(x, name) {
  bounds <- measure_bounds(x, name)
  finite <- is.finite(x[[name]])
  values <- c(x[[name]][finite], bounds$lower[finite], bounds$upper[finite])
  if (identical(measure_of_column(name)$scale, "log") && min(values) > 0) {
    limits <- padded_range(log10(values), 0.04)
    return(list(limits = limits, ticks = log_ticks(values), position = log10))
  }
  limits <- padded_range(values, 0.04)
  list(limits = limits, ticks = plain_ticks(limits), position = identity)
}

draw_measure <- function(x, name, at, scale, dots) {
  bounds <- lapply(measure_bounds(x, name), scale$position)
  value <- scale$position(x[[name]])
  colours <- lambda2_colours(x$lambda2)
  point_size <- 0.45 * if (is.null(dots$cex)) 1 else dots$cex
  dots$cex <- NULL
  for (lambda2 in unique(x$lambda2)) {
    line <- which(x$lambda2 == lambda2 & is.finite(x[[name]]))
    line <- line[order(at[line])]
    draw_bounds(at[line], bounds$lower[line], bounds$upper[line], name, colours[line[1]])
    do.call(graphics::lines, c(list(at[line], value[line], col = colours[line[1]]), dots))
    graphics::points(at[line], value[line], col = colours[line[1]], pch = 16, cex = point_size)
  }
  mark_chosen(x, at, value)
}

measure_bounds <- function(x, name) {
  if (name == "cvm") return(list(lower = x$cvm - x$cvsd, upper = x$cvm + x$cvsd))
  column_interval(x, name)
}

# Bars for the score, a band for an interval.
draw_bounds <- function(at, lower, upper, name, colour) {
  if (!length(lower)) return(invisible())
  faint <- grDevices::adjustcolor(colour, 0.15)
  if (name == "cvm") {
    graphics::segments(at, lower, at, upper, col = grDevices::adjustcolor(colour, 0.4))
  } else {
    graphics::polygon(c(at, rev(at)), c(lower, rev(upper)), col = faint, border = NA)
  }
}

measure_title <- function(x, name) if (name == "cvm") score_title(x) else column_title(name)

measure_direction <- function(x, name) {
  larger <- if (name == "cvm") isTRUE(attr(x, "larger")) else has_larger_better(name)
  if (larger) "larger is better" else "smaller is better"
}

chosen_rows <- function(x) {
  index <- attr(x, "index")
  at <- match(index, x$row)
  stats::setNames(at, names(index))[!is.na(at)]
}

mark_chosen <- function(x, across, up) {
  chosen <- chosen_rows(x)
  draw_marks(names(chosen), across[chosen], up[chosen], chosen)
}

measure_legends <- function(x, shown) {
  chosen <- names(chosen_rows(x))
  bands <- any(lengths(lapply(setdiff(shown, "cvm"), column_interval, x = x)) > 0)
  words <- c(if ("cvm" %in% shown) list(legend_entry("bars: 1 standard error")),
             if (bands) list(legend_entry("band: confidence interval")))
  list(c(lambda2_entries(x$lambda2), mark_entries(chosen), words),
       c(lambda2_entries(x$lambda2), mark_entries(chosen, TRUE), words),
       c(lambda2_entries(x$lambda2, 2), mark_entries(chosen, TRUE), words))
}

# ---- accuracy against stability ------------------------------------------------------------------

plot_tradeoff <- function(x, measure, main, dots) {
  if (is.null(x$cvm)) {
    stop_bad("`x` must come from a cross-validation for type \"tradeoff\": these runs have no ",
             "score.")
  }
  measure <- measure[1]
  finite <- is.finite(x[[measure]]) & is.finite(x$cvm)
  limits <- padded_range(c((x$cvm - x$cvsd)[finite], (x$cvm + x$cvsd)[finite]), 0.04)
  title <- function(name) paste0(measure_title(x, name), " (", measure_direction(x, name), ")")
  draw <- function(k, only) {
    draw_frame(padded_range(x[[measure]][finite], 0.04), limits, NULL)
    draw_tradeoff(x, x[[measure]], finite, dots)
  }
  draw_chart(new_chart(1, draw, c(1.4, label_lines(plain_ticks(limits)$labels), 0.6, 0.9),
                       title(measure), title("cvm"), main, TRUE,
                       legends = measure_legends(x, "cvm")))
}

draw_tradeoff <- function(x, across, finite, dots) {
  colours <- lambda2_colours(x$lambda2)
  style <- utils::modifyList(list(pch = 16), dots)
  for (lambda2 in unique(x$lambda2)) {
    line <- which(x$lambda2 == lambda2 & finite)
    graphics::lines(across[line], x$cvm[line], col = grDevices::adjustcolor(colours[line[1]], 0.5))
    do.call(graphics::points, c(list(across[line], x$cvm[line], col = colours[line[1]]), style))
  }
  chosen <- chosen_rows(x)
  graphics::segments(across[chosen], (x$cvm - x$cvsd)[chosen], across[chosen],
                     (x$cvm + x$cvsd)[chosen], col = "grey40")
  mark_chosen(x, across, x$cvm)
}

# ---- one row -------------------------------------------------------------------------------------

plot_measure_dots <- function(x, measures, main, dots) {
  # Others, such as ES and distances, have scales of their own.
  measures <- Filter(function(name) measure_of_column(name)$scale == "unit", unique(measures))
  if (!length(measures)) {
    stop_bad("`measures` must include one on the scale from -1 to 1 to be drawn for a single row.")
  }
  values <- vapply(measures, function(name) x[[name]][1], 1)
  at <- rev(seq_along(values))
  intervals <- lapply(measures, function(name) unlist(column_interval(x[1, ], name)))
  drawn <- which(lengths(intervals) > 0)
  title <- chart_title(main, if (!is.null(x$lambda1)) penalty_pair(x$lambda1, x$lambda2))
  names <- list(at = at, labels = vapply(measures, column_title, "", USE.NAMES = FALSE))
  draw <- function(k, only) {
    draw_frame(padded_range(c(0, 1, values, unlist(intervals)), 0.03), range(at) + c(-0.5, 0.5),
               NULL, names)
    graphics::abline(h = at, col = "grey90")
    graphics::abline(v = c(0, 1), col = "grey70", lty = 3)
    for (k in drawn) {
      graphics::segments(intervals[[k]][1], at[k], intervals[[k]][2], at[k], lwd = 2,
                         col = dot_colour)
    }
    style <- utils::modifyList(list(pch = 19, col = dot_colour), dots)
    do.call(graphics::points, c(list(values, at), style))
  }
  draw_chart(new_chart(1, draw, c(1.4, label_lines(names$labels, 0.37), 0.6, 0.9),
                       "Stability (larger is better)", "", title$text, title$bold,
                       legends = if (length(drawn)) list(list(
                         legend_entry("confidence interval", lty = 1, col = dot_colour, lwd = 2)))))
}

dot_colour <- "#0072B2"
