# Charts of fits and of cross-validations in base graphics. What they show is prepared in
# plot-paths.R and shared with autoplot(); figures, axes, legends and marks are those of
# plot-chart.R.

#' Draw the paths or the map of a fit
#'
#' `what = "paths"` draws the coefficients of the regions along the grid; `what = "map"` the
#' coefficients of one fit as an image, for features that lie on a plane.
#'
#' @section Paths:
#' Each line is a region: connected features with one nonzero coefficient. Regions
#' change along the path. They grow, split and merge, and are followed from one fit to the next by
#' the features that they share: a region that splits off starts from its parent's line, a region
#' that merges ends in the line of the one it joins. A region keeps its colour and its number along
#' the path and from panel to panel. The regions whose coefficients have the largest sums are
#' coloured and numbered, as many as there are colours; all others are grey. The axis on top shows
#' how many regions there are.
#'
#' If coefficients are not constant over regions (`penalty = "laplacian"` or `standardize = TRUE`),
#' each line is a component of the support, at its mean coefficient.
#'
#' The axes of penalties are logarithmic, with the largest penalty on the left, so that every path
#' runs from left to right. A penalty of 0 is drawn a step after the smallest.
#'
#' @section Several panels:
#' On a device with one figure, all panels are drawn into it. Where they would be too small to be
#' read (a figure of 3.3 by 2.8 inches has room for 3, one of 7 by 5 for 12, which is the most),
#' some of them are drawn, evenly spread; the picture says how many, and a message says which. More
#' panels than that, if `which` names them, take several pages.
#'
#' When you have set up several figures with `par(mfrow = )`, `layout()`, `par(fig = )` or
#' `split.screen()`, a call draws one panel into the next of them; if `which` names several, each
#' goes into its own. Legends stay inside their figure, and the layout is left as it is. Letters
#' get smaller with the figure, down to 6.5 points.
#'
#' @section Map:
#' The graph must be a grid or a mask in two dimensions; fits to brain images are drawn by
#' [plot_map()]. The first index runs to the right, the second upwards, as in [graphics::image()].
#' Zero is light grey, and what is outside the mask is not drawn. Colours are symmetric about zero
#' when there are both signs.
#' @param x A fit from [n2gfl()].
#' @param what `"paths"` or `"map"`.
#' @param xvar What the paths are drawn against: `"lambda1"` (or `"lambda"`, glmnet's name for it),
#'   `"lambda2"`, `"norm"` (the sum of absolute coefficients) or `"dev"` (fraction of deviance
#'   explained). For `"lambda2"` there is a panel for each `lambda1`, otherwise one for each
#'   `lambda2`.
#' @param which Which panels to draw, counted in the order of the grid. By default all of them, as
#'   far as there is room; or the first, if you have set up several figures. See *Several panels*.
#' @param label Write the numbers of the coloured regions at the ends of their lines? If there
#'   is not room for all, only the largest regions get a number.
#' @param s,row The fit whose map is drawn, see [coef.n2gfl()].
#' @param col Colours: of the regions in the order of their numbers, 12 by default; or of the map
#'   from the smallest to the largest value.
#' @param xlab,ylab,main Titles of the axes and of the picture.
#' @param ... For paths, graphical parameters of the lines such as `lwd`; for maps, arguments of
#'   [graphics::image()].
#' @return The data that were drawn, invisibly: for paths a data frame with the columns `panel`,
#'   `region`, `row` (of the grid), `x`, `value` and `size` (number of features; 0 where a line
#'   starts from or ends in another); for maps the matrix of coefficients, `NA` outside the mask.
#' @seealso [plot.n2gfl_cv()]; [autoplot()][autoplot.n2gfl] for ggplot2.
#' @examples
#' set.seed(1)
#' cohort <- simulate_cohort(n = 60, dim = c(16, 16))
#' fit <- n2gfl(cohort$x, cohort$y, cohort$graph, family = "binomial",
#'              lambda2 = c(0.01, 0.003))
#' plot(fit)
#' plot(fit, xvar = "dev", which = 1)
#' plot(fit, what = "map", row = 12)
#' @export
plot.n2gfl <- function(x, what = c("paths", "map"),
                       xvar = c("lambda1", "lambda2", "norm", "dev"), which = NULL,
                       label = TRUE, s = NULL, row = NULL, col = NULL, xlab = NULL, ylab = NULL,
                       main = NULL, ...) {
  what <- match_choice(what, "what", c("paths", "map"))
  if (what == "map") check_not_given(which, "which", "what = \"map\"")
  if (what == "map" && is_volume(x)) return(plot_map(x, s = s, row = row, main = main, ...))
  if (what == "map") return(draw_map(map_data(x, s, row), col, xlab, ylab, main, ...))
  xvar <- match_xvar(xvar)
  label <- check_flag(label, "label")
  if (!is.null(s) || !is.null(row)) {
    stop_bad("`s` and `row` must not be given for what = \"paths\".")
  }
  dots <- check_line_parameters(list(...))
  which <- choose_panels(which, length(grid_panels(x$grid, xvar)))
  draw_paths(path_data(x, xvar, which), label, col %or% region_colours,
             xlab %or% xvar_title(xvar), ylab %or% "Coefficient", main, dots)
}

check_not_given <- function(value, name, where) {
  if (!is.null(value)) stop_bad("`", name, "` must not be given for ", where, ".")
}

match_xvar <- function(xvar) {
  if (identical(xvar, "lambda")) xvar <- "lambda1"
  match_choice(xvar, "xvar", c("lambda1", "lambda2", "norm", "dev"))
}

xvar_title <- function(xvar) {
  switch(xvar,
    lambda1 = expression(lambda[1]), lambda2 = expression(lambda[2]),
    norm = "Sum of absolute coefficients", dev = "Fraction of deviance explained"
  )
}

# ---- paths ---------------------------------------------------------------------------------------

region_colours <- c("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7B3294",
                    "#A6611A", "#E7298A", "#66A61E", "#1F3B73", "#8C1D18")
other_colour <- "grey72"

draw_paths <- function(data, label, col, xlab, ylab, main, dots) {
  limits <- lapply(seq_along(data$panels), path_limits, data = data)
  draw <- function(k, only) {
    draw_frame(limits[[k]]$x, limits[[k]]$y, data$ticks)
    draw_path_panel(data, k, label, col, dots)
    strip_title(lambda_equals(data$panels[[k]]$lambda, data$fixed), region_notes, only)
  }
  labels <- unlist(lapply(limits, function(limits) plain_ticks(limits$y)$labels))
  draw_chart(new_chart(length(data$panels), draw, c(1.4, label_lines(labels), 2.9, 1.6), xlab,
                       ylab, main, TRUE, paths_note(data)))
  invisible(data$lines)
}

path_limits <- function(k, data) {
  value <- data$lines$value[data$lines$panel == k]
  x <- padded_range(data$counts$x[data$shared | data$counts$panel == k], 0.02)
  list(x = if (data$reversed) rev(x) else x,
       y = if (any(value != 0)) padded_range(c(0, value), 0.03) else c(-0.03, 1))
}

draw_path_panel <- function(data, k, label, col, dots) {
  lines <- data$lines[data$lines$panel == k, ]
  graphics::abline(h = 0, col = "grey70", lwd = 0.8)
  if (!any(lines$value != 0)) {
    graphics::text(mean(graphics::par("usr")[1:2]), 0.5, "No regions", col = "grey40")
  }
  do.call(draw_lines, c(list(lines, col), dots))
  top_axis(data$counts[data$counts$panel == k, ])
  if (label) end_labels(data$ends[data$ends$panel == k, ], col)
}

paths_note <- function(data) {
  c("upper axes: number of regions", panels_note(length(data$panels), data$all))
}

# One line per region, the largest on top.
draw_lines <- function(lines, col, lwd = 1.6, ...) {
  parts <- split(lines, -lines$region)
  for (part in parts) {
    region <- part$region[1]
    large <- region <= length(col)
    colour <- if (large) col[region] else other_colour
    graphics::lines(part$x, part$value, col = colour, lwd = if (large) lwd else lwd / 2, ...)
    # A path of a single fit has no lines.
    if (nrow(part) == 1) graphics::points(part$x, part$value, col = colour, pch = 19, cex = 0.8)
  }
}

# Numbers to the right of the lines' ends, moved apart where they would overlap.
end_labels <- function(ends, col) {
  ends <- ends[ends$region <= length(col), ]
  if (!nrow(ends)) return(invisible())
  cex <- 0.75
  usr <- graphics::par("usr")
  height <- 1.5 * graphics::strheight("0", cex = cex)
  room <- max(1, floor((usr[4] - usr[3]) / height))
  ends <- utils::head(ends[order(ends$region), ], room)
  ends <- ends[order(ends$value), ]
  at <- spread_apart(ends$value, height, usr[3] + height / 2, usr[4] - height / 2)
  width <- sign(usr[2] - usr[1]) * abs(graphics::strwidth("0", cex = cex))
  graphics::segments(ends$x + 0.4 * width, ends$value, ends$x + 1.7 * width, at,
                     col = col[ends$region], xpd = NA, lwd = 0.7)
  graphics::text(ends$x + 2 * width, at, ends$region, col = col[ends$region], cex = cex,
                 adj = c(0, 0.5), xpd = NA)
}

# The positions nearest to sorted `y`, by least squares, that are at least `gap` apart and within
# the limits: isotonic regression after the gaps are subtracted.
spread_apart <- function(y, gap, low, high) {
  n <- length(y)
  if (n < 2) return(pmin(pmax(y, low), high))
  steps <- gap * (seq_len(n) - 1)
  free <- stats::isoreg(seq_len(n), y - steps)$yf
  pmin(pmax(free, low), high - steps[n]) + steps
}

# ---- map -----------------------------------------------------------------------------------------

# Is it a fit to images in three dimensions? plot_map() draws those.
is_volume <- function(fit) !is.null(fit$space) && length(fit$graph$dim) == 3

# The coefficients of one fit as a matrix: NA outside the mask.
map_data <- function(fit, s, row) {
  row <- choose_rows(fit, s, row)
  if (length(row) != 1) {
    stop_bad("`row` or `s` must choose one fit for what = \"map\", not ", length(row), ".")
  }
  graph <- fit$graph
  if (length(graph$dim) != 2) {
    stop_bad("`x` must be a fit on a grid or a mask in two dimensions for what = \"map\", not on ",
             if (is.null(graph$dim)) paste0("a graph of kind \"", graph$kind, "\"") else
               count_of(length(graph$dim), "dimension"), ".")
  }
  map <- matrix(NA_real_, graph$dim[1], graph$dim[2])
  map[graph$coords] <- fit$beta[, row]
  structure(map, lambda = unlist(fit$grid[row, c("lambda1", "lambda2")]))
}

# Colours and limits of a map: one hue for one sign, two for both.
map_scale <- function(map, col = NULL) {
  range <- range(0, map, na.rm = TRUE)
  if (all(range == 0)) range <- c(0, 1)
  sequential <- function(palette) rev(grDevices::hcl.colors(100, palette))[15:100]
  if (range[1] < 0 && range[2] > 0) {
    limit <- max(abs(range))
    colours <- grDevices::hcl.colors(101, "Blue-Red 3")
    return(list(limits = c(-limit, limit), col = col %or% colours))
  }
  negative <- range[1] < 0
  colours <- if (negative) rev(sequential("Blues 3")) else sequential("YlOrRd")
  list(limits = range, col = col %or% colours)
}

zero_colour <- "grey90"
empty_map <- "All coefficients are zero: the map is empty."

draw_map <- function(map, col, xlab, ylab, main, ...) {
  check_not_given(list(...)$panels, "panels", "what = \"map\"")
  scale <- map_scale(map, col)
  empty <- !any(map != 0, na.rm = TRUE)
  at <- lapply(dim(map), seq_len)
  draw <- function(k, only) {
    graphics::plot.window(c(0.5, nrow(map) + 0.5), c(0.5, ncol(map) + 0.5), asp = 1,
                          xaxs = "i", yaxs = "i")
    # Zero first, in its own colour; everything else over it.
    graphics::image(at[[1]], at[[2]], ifelse(is.na(map), NA, 0), col = zero_colour, add = TRUE,
                    useRaster = TRUE)
    graphics::image(at[[1]], at[[2]], ifelse(map == 0, NA, map), col = scale$col,
                    zlim = scale$limits, add = TRUE, useRaster = TRUE, ...)
    if (!empty) colour_bar(scale, c(nrow(map) + 0.5, 0.5, ncol(map) + 0.5))
  }
  title <- chart_title(main, map_title(map))
  draw_chart(new_chart(1, draw, c(0, 0, 0.4, bar_lines(scale$limits)), xlab %or% "", ylab %or% "",
                       title$text, title$bold,
                       remarks = if (empty) empty_map))
  invisible(map)
}

map_title <- function(map) {
  lambda <- attr(map, "lambda")
  penalty_pair(lambda[["lambda1"]], lambda[["lambda2"]])
}

# ---- cross-validation ----------------------------------------------------------------------------

#' Draw a cross-validation
#'
#' `type = "curve"` draws the measure along `lambda1` with bars of one standard error up and down,
#' in a panel for each `lambda2`; `type = "heatmap"` the measure over the whole grid;
#' `type = "tradeoff"` accuracy against stability, see *Trade-off*. The first two mark the
#' best row (`lambda.min`), the sparsest within one standard error of it (`lambda.1se`), the one of
#' Lim and Yu (`lambda.es`) and the one that is reported by default (`lambda.stable`).
#'
#' @section Trade-off:
#' After `cv.n2gfl(nested = TRUE)` the picture has a point for each way to choose penalties: how
#' well the whole procedure predicts (bars: one standard error), against how much the maps of the
#' outer
#' folds agree (Nogueira's measure, with its confidence interval), with the number of features, from
#' the smallest map to the largest. Without nesting it is the picture of
#' `plot(stability(x), type = "tradeoff")`: every row of the grid, at fixed penalties, which is too
#' kind.
#' @param x A cross-validation from [cv.n2gfl()].
#' @param type `"curve"`, `"heatmap"` or `"tradeoff"`.
#' @param which Which panels of the curves to draw, counted in the order of `lambda2` in the grid.
#'   By default all of them, as far as there is room, first those with a marked row; or the one with
#'   the default row, if you have set up several figures. See *Several panels*.
#' @param col Colour of the curve, or colours of the heat map from the smallest value to the
#'   largest.
#' @param xlab,ylab,main Titles of the axes and of the picture.
#' @param ... For curves, graphical parameters of the points such as `cex`; otherwise nothing.
#' @return The data that were drawn, a data frame with one line per row of the grid, invisibly; for
#'   the trade-off after nesting one line for each way to choose.
#' @details
#' The dotted line of the curves is one standard error from the best score. The axes of penalties
#' are logarithmic, with the largest on the left; on top is the number of regions. In the heat map a
#' cell reaches halfway to its neighbours, and each `lambda2` has a band of the same height.
#'
#' The title names the row that [coef()][coef.n2gfl_cv], [plot_map()] and others use by default,
#' with its penalties. It is left out if the panel of that row is not drawn. Remarks at the bottom
#' say which chosen rows are in panels that are not drawn, when a chosen row selects nothing, and
#' when `lambda.1se` has more features than `lambda.min`.
#' @inheritSection plot.n2gfl Several panels
#' @examples
#' set.seed(1)
#' cohort <- simulate_cohort(n = 60, dim = c(12, 12))
#' cv <- cv.n2gfl(cohort$x, cohort$y, cohort$graph, family = "binomial", nfolds = 5,
#'                lambda2 = c(0.01, 0.003), nlambda1 = 10)
#' plot(cv)
#' plot(cv, type = "heatmap")
#' @export
plot.n2gfl_cv <- function(x, type = c("curve", "heatmap", "tradeoff"), which = NULL, col = NULL,
                          xlab = NULL, ylab = NULL, main = NULL, ...) {
  type <- match_choice(type, "type", c("curve", "heatmap", "tradeoff"))
  if (type == "tradeoff") return(plot_cv_tradeoff(x, which, xlab, ylab, main, ...))
  data <- cv_plot_data(x)
  xlab <- xlab %or% xvar_title("lambda1")
  if (type == "curve") {
    dots <- check_line_parameters(list(...))
    which <- choose_panels(which, length(data$lambda2), data$default)
    data <- choices_among(data, which)
    draw_curves(data, which, col %or% curve_colour, xlab, ylab %or% data$name,
                chart_title(main, data$title), dots)
  } else {
    check_not_given(which, "which", "type = \"heatmap\"")
    check_no_dots(list(...), " for type = \"heatmap\"")
    draw_heatmap(data, col, xlab, ylab %or% xvar_title("lambda2"), chart_title(main, data$title))
  }
  invisible(data$rows)
}

curve_colour <- "grey40"

draw_curves <- function(data, which, col, xlab, ylab, title, dots) {
  shown <- data$rows[data$rows$panel %in% which, ]
  xlim <- rev(padded_range(shown$x, 0.03))
  ylim <- padded_range(c(shown$cvlo, shown$cvup), 0.04)
  style <- utils::modifyList(list(pch = 19, col = col, cex = 0.8), dots)
  draw <- function(k, only) {
    draw_frame(xlim, ylim, data$ticks)
    draw_curve(data, which[k], style)
    strip_title(lambda_equals(data$lambda2[which[k]], 2), region_notes, only)
  }
  draw_chart(new_chart(
    length(which), draw, c(1.4, label_lines(plain_ticks(ylim)$labels), 2.9, 0.9), xlab, ylab,
    title$text, title$bold,
    c("upper axes: number of regions", panels_note(length(which), length(data$lambda2))),
    curve_legends(data, ylim), data$notes
  ))
}

draw_curve <- function(data, panel, style) {
  rows <- data$rows[data$rows$panel == panel, ]
  marks <- data$marks[data$marks$panel == panel, ]
  graphics::abline(h = data$target, lty = 3, col = "grey30")
  if (nrow(marks)) graphics::abline(v = marks$x, lty = 2, col = style_of(marks$mark)$col)
  error_bars(rows)
  do.call(graphics::points, c(list(rows$x, rows$cvm), style))
  draw_marks(marks$mark, marks$x, marks$cvm, marks$row)
  top_axis(rows)
}

# Some panels may not reach the line of one standard error.
curve_legends <- function(data, ylim) {
  target <- if (data$target >= ylim[1] && data$target <= ylim[2]) {
    list(legend_entry(data$target_title, lty = 3, col = "grey30"))
  }
  lapply(c(FALSE, TRUE), function(short) c(mark_entries(data$marks$mark, short), target))
}

error_bars <- function(rows) {
  graphics::segments(rows$x, rows$cvlo, rows$x, rows$cvup, col = "grey60")
  tip <- 0.006 * diff(graphics::par("usr")[1:2])
  for (y in list(rows$cvlo, rows$cvup)) {
    graphics::segments(rows$x - tip, y, rows$x + tip, y, col = "grey60")
  }
}

draw_heatmap <- function(data, col, xlab, ylab, title) {
  cells <- heat_cells(data$rows)
  scale <- list(limits = padded_range(data$rows$cvm, 0), col = col %or% grDevices::hcl.colors(100))
  bands <- length(data$lambda2)
  labels <- lambda_label(data$lambda2)
  draw <- function(k, only) {
    graphics::plot.window(rev(range(cells$left, cells$right)), c(0.5, bands + 0.5), xaxs = "i",
                          yaxs = "i")
    graphics::rect(cells$left, cells$bottom, cells$right, cells$top, border = NA,
                   col = scale$col[colour_number(cells$value, scale)])
    spaced_axis(1, data$ticks$at, data$ticks$labels)
    graphics::axis(2, bands + 1 - seq_len(bands), labels, col = NA, col.ticks = "grey40",
                   cex.axis = 0.9)
    draw_marks(data$marks$mark, data$marks$x, bands + 1 - data$marks$panel, data$marks$row)
    bar_title(data$name, colour_bar(scale, graphics::par("usr")[2:4]))
  }
  draw_chart(new_chart(1, draw, c(1.4, label_lines(labels), 1.7, bar_lines(scale$limits)), xlab,
                       ylab, title$text, title$bold,
                       legends = lapply(c(FALSE, TRUE), mark_entries, mark = data$marks$mark),
                       remarks = data$notes))
}

# Above the colour bar whose middle is `at`, moved to the left where it would leave the figure.
bar_title <- function(name, at) {
  size <- figure_size()
  line <- graphics::par("cin")[2] * graphics::par("cex")
  middle <- graphics::grconvertX(at, "user", "nfc") * size[1]
  title <- fit_title(name, middle, 0, size[1], 0.9, line)
  figure_text(title$middle, size[2] - graphics::par("mai")[3] + 0.85 * line, name, title$cex)
  invisible(title)
}
