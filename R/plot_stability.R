#' Plot stability along the grid, or against accuracy
#'
#' @param x A table from [stability()].
#' @param type `"grid"` draws one panel per measure, against lambda1, with one line per lambda2, and
#'   the cross-validated score as the first panel; `"tradeoff"` draws the score against one measure:
#'   what a more stable row costs in accuracy. Without a grid the measures of the one row are drawn
#'   as dots.
#' @param measures Columns of `x` to draw, or `"all"`. By default `es.fit`, `mdc`, `dice`,
#'   `nogueira` and `dice.near`, as far as they are there; for `type = "tradeoff"` one, `nogueira`.
#' @param ... Further graphical parameters for the lines and points, such as `lwd` or `cex`.
#' @details
#' The bars at the score are one standard error, the band around Nogueira's measure is its interval.
#' Signs mark the rows that the cross-validation chose: `min`, `1se` and `es`.
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
#' @method plot n2gfl_stability
#' @export
plot.n2gfl_stability <- function(x, type = c("grid", "tradeoff"), measures = NULL, ...) {
  type <- match_choice(type, "type", c("grid", "tradeoff"))
  if (is.null(x$lambda1) || nrow(x) == 1) {
    plot_measure_dots(x, plotted_measures(x, measures, panel_names(x)), ...)
  } else if (type == "grid") {
    usual <- c("es.fit", "mdc", "dice", "nogueira", "dice.near")
    plot_measure_panels(x, plotted_measures(x, measures, usual), ...)
  } else {
    plot_tradeoff(x, plotted_measures(x, measures, "nogueira"), ...)
  }
  invisible(x)
}

# The columns to draw: those asked for, or the usual ones that have a value.
plotted_measures <- function(x, measures, usual) {
  extra <- c("nogueira.se", "nogueira.lower", "nogueira.upper")
  there <- setdiff(panel_names(x), extra)
  there <- there[vapply(there, function(name) any(is.finite(x[[name]])), NA)]
  if (identical(measures, "all")) return(there)
  if (is.null(measures)) measures <- intersect(usual, there)
  if (!length(measures) || !is.character(measures) || !all(measures %in% there)) {
    stop_bad("`measures` must be \"all\" or some of the columns with a value (", quoted(there),
             "), not ", describe(setdiff(measures, there)[1]), ".")
  }
  measures
}

measure_titles <- c(
  cvm = "Score", es.coef = "ES (coefficients)", es.fit = "ES (fit, centred)", mdc = "mDC",
  dice = "Dice", jaccard = "Jaccard", ochiai = "Ochiai", kuncheva = "Kuncheva",
  lustgarten = "Lustgarten", kappa = "Cohen's kappa", phi = "Phi", nogueira = "Nogueira",
  correlation = "Correlation", dice.dilated = "Dice, dilated",
  dice.near = "Dice, one step forgiven", centre.distance = "Distance of centres"
)

chosen_signs <- c(min = 21, `1se` = 22, es = 24)

score_title <- function(x) if (is.null(attr(x, "name"))) "Score" else attr(x, "name")

# ---- along the grid ------------------------------------------------------------------------------

plot_measure_panels <- function(x, measures, ...) {
  panels <- c(if (!is.null(x$cvm)) "cvm", measures)
  columns <- if (length(panels) <= 4) min(2, length(panels)) else ceiling(sqrt(length(panels)))
  rows <- ceiling(length(panels) / columns)
  old <- graphics::par(mfrow = c(rows, columns), mar = c(3, 4, 2, 0.6), mgp = c(1.9, 0.6, 0),
                       oma = c(2.2, 0, 0, 0), tcl = -0.3)
  on.exit(graphics::par(old), add = TRUE)
  for (name in panels) plot_measure_panel(x, name, ...)
  grid_legend(x)
}

plot_measure_panel <- function(x, name, ...) {
  bounds <- measure_bounds(x, name)
  at <- log_lambda(x$lambda1)
  finite <- is.finite(x[[name]])
  limits <- range(x[[name]][finite], bounds$lower[finite], bounds$upper[finite])
  # ES spans orders of magnitude along a path.
  log <- if (name %in% c("es.coef", "es.fit") && limits[1] > 0) "y" else ""
  graphics::plot.default(range(at), limits, type = "n", xlab = "log(lambda1)", ylab = "",
                         las = 1, bty = "l", log = log)
  graphics::title(measure_title(x, name), line = 0.6, font.main = 1, cex.main = 1.05)
  colours <- lambda2_colours(x$lambda2)
  for (lambda2 in unique(x$lambda2)) {
    line <- which(x$lambda2 == lambda2 & finite)
    line <- line[order(at[line])]
    draw_bounds(at[line], bounds$lower[line], bounds$upper[line], name, colours[line[1]])
    graphics::lines(at[line], x[[name]][line], col = colours[line[1]], ...)
    graphics::points(at[line], x[[name]][line], col = colours[line[1]], pch = 16, cex = 0.45)
  }
  mark_chosen(x, at, x[[name]])
}

measure_bounds <- function(x, name) {
  if (name == "cvm") return(list(lower = x$cvm - x$cvsd, upper = x$cvm + x$cvsd))
  if (name == "nogueira") return(list(lower = x$nogueira.lower, upper = x$nogueira.upper))
  list()
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

measure_title <- function(x, name) {
  smaller <- name %in% smaller_is_better || (name == "cvm" && !isTRUE(attr(x, "larger")))
  paste0(if (name == "cvm") score_title(x) else measure_titles[[name]],
         if (smaller) ", smaller is better" else ", larger is better")
}

# lambda1 = 0 has no logarithm: it goes a step below the smallest.
log_lambda <- function(lambda) {
  positive <- lambda[lambda > 0]
  if (!length(positive)) return(lambda)
  log(pmax(lambda, min(positive) / 2))
}

lambda2_colours <- function(lambda2) {
  values <- sort(unique(lambda2))
  # The last colours of the palette are too pale for lines.
  palette <- grDevices::hcl.colors(length(values) + 2, "viridis")
  palette[match(lambda2, values)]
}

chosen_rows <- function(x) {
  index <- attr(x, "index")
  at <- match(index, x$row)
  stats::setNames(at, names(index))[!is.na(at)]
}

mark_chosen <- function(x, across, up) {
  chosen <- chosen_rows(x)
  graphics::points(across[chosen], up[chosen], pch = chosen_signs[names(chosen)], cex = 1.5,
                   lwd = 1.6, bg = grDevices::adjustcolor("white", 0.6))
}

# One legend for all panels, in the outer margin at the bottom.
grid_legend <- function(x) {
  lambda2 <- sort(unique(x$lambda2))
  if (length(lambda2) > 6) lambda2 <- lambda2[round(seq(1, length(lambda2), length.out = 6))]
  chosen <- names(chosen_rows(x))
  old <- graphics::par(fig = c(0, 1, 0, 1), oma = c(0, 0, 0, 0), mar = c(0.2, 0, 0, 0), new = TRUE)
  on.exit(graphics::par(old), add = TRUE)
  graphics::plot.new()
  colours <- lambda2_colours(x$lambda2)[match(lambda2, x$lambda2)]
  graphics::legend(
    "bottom", horiz = TRUE, bty = "n", cex = 0.9, xpd = NA,
    legend = paste0(c(paste("lambda2", signif(lambda2, 2)), chosen), "   "),
    col = c(colours, rep("black", length(chosen))),
    lty = c(rep(1, length(lambda2)), rep(NA, length(chosen))),
    pch = c(rep(NA, length(lambda2)), chosen_signs[chosen])
  )
}

# ---- accuracy against stability ------------------------------------------------------------------

plot_tradeoff <- function(x, measure, ...) {
  if (is.null(x$cvm)) {
    stop_bad("`x` must come from a cross-validation for type \"tradeoff\": these runs have no ",
             "score.")
  }
  measure <- measure[1]
  across <- x[[measure]]
  finite <- is.finite(across) & is.finite(x$cvm)
  old <- graphics::par(mar = c(4, 4.2, 0.8, 1), mgp = c(2.6, 0.6, 0), tcl = -0.3)
  on.exit(graphics::par(old), add = TRUE)
  limits <- range((x$cvm - x$cvsd)[finite], (x$cvm + x$cvsd)[finite])
  graphics::plot.default(range(across[finite]), limits, type = "n", las = 1, bty = "l",
                         xlab = measure_title(x, measure), ylab = measure_title(x, "cvm"))
  colours <- lambda2_colours(x$lambda2)
  for (lambda2 in unique(x$lambda2)) {
    line <- which(x$lambda2 == lambda2 & finite)
    graphics::lines(across[line], x$cvm[line], col = grDevices::adjustcolor(colours[line[1]], 0.5))
    graphics::points(across[line], x$cvm[line], col = colours[line[1]], pch = 16, ...)
  }
  chosen <- chosen_rows(x)
  graphics::segments(across[chosen], (x$cvm - x$cvsd)[chosen], across[chosen],
                     (x$cvm + x$cvsd)[chosen], col = "grey40")
  mark_chosen(x, across, x$cvm)
  tradeoff_legend(x, chosen)
}

tradeoff_legend <- function(x, chosen) {
  lambda2 <- sort(unique(x$lambda2))
  graphics::legend(
    "topright", bty = "n", cex = 0.85, inset = 0.01,
    legend = c(paste("lambda2", signif(lambda2, 2)), names(chosen)),
    col = c(lambda2_colours(lambda2), rep("black", length(chosen))),
    pch = c(rep(16, length(lambda2)), chosen_signs[names(chosen)])
  )
}

# ---- one row -------------------------------------------------------------------------------------

plot_measure_dots <- function(x, measures, ...) {
  # ES and distances have scales of their own.
  measures <- setdiff(measures, smaller_is_better)
  if (!length(measures)) {
    stop_bad("`measures` must have one on the scale from -1 to 1 to be drawn for a single row.")
  }
  values <- vapply(measures, function(name) x[[name]][1], 1)
  at <- rev(seq_along(values))
  old <- graphics::par(mar = c(3.5, 10, 1, 1), mgp = c(2.1, 0.6, 0), tcl = -0.3)
  on.exit(graphics::par(old), add = TRUE)
  lower <- if ("nogueira" %in% measures) x$nogueira.lower[1]
  upper <- if ("nogueira" %in% measures) x$nogueira.upper[1]
  graphics::plot.default(range(0, 1, values, lower, upper), range(at) + c(-0.5, 0.5), type = "n",
                         yaxt = "n", ylab = "", xlab = "Stability (larger is better)", bty = "l")
  graphics::abline(h = at, col = "grey90")
  graphics::abline(v = c(0, 1), col = "grey70", lty = 3)
  graphics::axis(2, at, measure_titles[measures], las = 1, tick = FALSE)
  row <- at[match("nogueira", measures)]
  if (!is.null(lower)) graphics::segments(lower, row, upper, row, lwd = 2, col = "steelblue")
  graphics::points(values, at, pch = 19, col = "steelblue", ...)
}
