# Pictures of fits and of cross-validations in base graphics. What they show is prepared in paths.R
# and below, and shared with autoplot().

#' Draw the paths or the map of a fit
#'
#' `what = "paths"` draws the coefficients of the regions along the grid; `what = "map"` the
#' coefficients of one fit as an image, for features that lie on a plane.
#'
#' @section Paths:
#' A line is a region: a connected piece of the graph with one nonzero coefficient. Regions change
#' along the path. They grow, split and merge, and are followed from one fit to the next by the
#' features that they share: a region that splits off starts from its parent's line, a region that
#' merges ends in the line of the one it joins. A region keeps its colour and its number along the
#' path and from panel to panel. The regions whose coefficients have the largest sums are coloured
#' and numbered, as many as there are colours; all others are grey. The axis on top shows how many
#' regions there are.
#'
#' Without pieces of one value (`penalty = "laplacian"` or `standardize = TRUE`) a line is a
#' connected part of the support, at its mean coefficient.
#'
#' The axes of penalties are logarithmic, with the largest penalty on the left, so that every path
#' runs from left to right. A penalty of 0 is drawn a step after the smallest.
#'
#' @section Map:
#' The graph must be a grid or a mask in two dimensions; fits to brain images are handed to
#' [plot_map()]. The first index runs to the right, the second upwards, as in [graphics::image()].
#' Zero is light grey, and what is outside the mask is not drawn. Colours are symmetric about zero
#' when there are both signs.
#' @param x A fit from [n2gfl()].
#' @param what `"paths"` or `"map"`.
#' @param xvar What the paths are drawn against: `"lambda1"` (or `"lambda"`, glmnet's name for it),
#'   `"lambda2"`, `"norm"` (the sum of absolute coefficients) or `"dev"` (fraction of deviance
#'   explained). For `"lambda2"` there is a panel for each `lambda1`, otherwise one for each
#'   `lambda2`.
#' @param panels Which panels to draw, counted in the order of the grid. The default is all of them
#'   or, if there are more than 9, 9 that are evenly spread.
#' @param label Write the numbers of the coloured regions at the ends of their lines? Where there
#'   is not room for all, the largest regions have it.
#' @param s,row The fit whose map is drawn, see [coef.n2gfl()].
#' @param col Colours: of the regions in the order of their numbers, 12 by default; or of the map
#'   from the smallest to the largest value.
#' @param xlab,ylab,main Titles of the axes and of the picture.
#' @param ... For paths, graphical parameters of the lines such as `lwd`; for maps, of
#'   [graphics::image()].
#' @return The data that were drawn, invisibly: for paths a data frame with the columns `panel`,
#'   `region`, `row` (of the grid), `x`, `value` and `size` (number of features; 0 where a line
#'   starts from or ends in another); for maps the matrix of coefficients, `NA` outside the mask.
#' @seealso [plot.cv.n2gfl()]; [autoplot()][autoplot.n2gfl] for ggplot2.
#' @examples
#' set.seed(1)
#' cohort <- simulate_cohort(n = 60, dim = c(16, 16))
#' fit <- n2gfl(cohort$x, cohort$y, cohort$graph, family = "binomial",
#'              lambda2 = c(0.01, 0.003))
#' plot(fit)
#' plot(fit, xvar = "dev", panels = 1)
#' plot(fit, what = "map", row = 12)
#' @export
plot.n2gfl <- function(x, what = c("paths", "map"),
                       xvar = c("lambda1", "lambda2", "norm", "dev"), panels = NULL,
                       label = TRUE, s = NULL, row = NULL, col = NULL, xlab = NULL, ylab = NULL,
                       main = NULL, ...) {
  what <- match_choice(what, "what", c("paths", "map"))
  if (what == "map" && is_volume(x)) return(plot_map(x, s = s, row = row, main = main, ...))
  if (what == "map") return(draw_map(map_data(x, s, row), col, xlab, ylab, main, ...))
  xvar <- match_xvar(xvar)
  label <- check_flag(label, "label")
  if (!is.null(s) || !is.null(row)) {
    stop_bad("`s` and `row` must not be given for what = \"paths\".")
  }
  draw_paths(path_data(x, xvar, panels), label, col, xlab %or% xvar_title(xvar),
             ylab %or% "Coefficient", main, ...)
}

match_xvar <- function(xvar) {
  if (identical(xvar, "lambda")) xvar <- "lambda1"
  match_choice(xvar, "xvar", c("lambda1", "lambda2", "norm", "dev"))
}

`%or%` <- function(value, default) if (is.null(value)) default else value

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

draw_paths <- function(data, label, col, xlab, ylab, main, ...) {
  col <- col %or% region_colours
  old <- open_panels(length(data$panels))
  on.exit(graphics::par(old), add = TRUE)
  for (k in seq_along(data$panels)) {
    lines <- data$lines[data$lines$panel == k, ]
    counts <- data$counts[data$counts$panel == k, ]
    xlim <- padded_range(if (data$shared) data$counts$x else counts$x, 0.02)
    if (data$reversed) xlim <- rev(xlim)
    empty <- !any(lines$value != 0)
    draw_frame(xlim, if (empty) c(-0.03, 1) else padded_range(c(0, lines$value), 0.03), data$ticks)
    graphics::abline(h = 0, col = "grey70", lwd = 0.8)
    if (empty) graphics::text(mean(xlim), 0.5, "No regions", col = "grey40")
    draw_lines(lines, col, ...)
    top_axis(counts)
    if (label) end_labels(data$ends[data$ends$panel == k, ], col)
    lambda_title(data$panels[[k]]$lambda, data$fixed)
  }
  panel_titles(xlab, ylab, main, paths_note(data))
  invisible(data$lines)
}

paths_note <- function(data) {
  shown <- length(data$panels)
  paste0(if (shown == 1) "Number of regions" else "Upper axes: number of regions",
         if (shown < data$all) paste0(" (", shown, " of ", data$all, " panels)"))
}

# The largest regions on top, each one line.
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
# the limits: isotonic regression after the gaps are taken out.
spread_apart <- function(y, gap, low, high) {
  n <- length(y)
  if (n < 2) return(pmin(pmax(y, low), high))
  steps <- gap * (seq_len(n) - 1)
  free <- stats::isoreg(seq_len(n), y - steps)$yf
  pmin(pmax(free, low), high - steps[n]) + steps
}

# ---- frames and axes that all pictures share -----------------------------------------------------

padded_range <- function(values, share) {
  range <- range(values, finite = TRUE)
  width <- diff(range)
  if (width == 0) width <- if (range[1] == 0) 1 else abs(range[1])
  range + c(-1, 1) * share * width
}

# Room for `count` panels on the device; gives the parameters to restore. A single picture leaves
# the user's own layout alone. `below`: lines to leave for a legend.
open_panels <- function(count, below = 0) {
  if (count == 1) {
    return(graphics::par(mar = c(4 + below, 4.3, 4.4, 2.6), mgp = c(2.8, 0.6, 0), tcl = -0.3,
                         las = 1))
  }
  size <- graphics::par("din")
  columns <- min(count, ceiling(sqrt(0.8 * count * size[1] / size[2])))
  rows <- ceiling(count / columns)
  old <- graphics::par(c("cex", "mfrow", "mar", "oma", "mgp", "tcl", "las"))
  graphics::par(mfrow = c(rows, ceiling(count / rows)), oma = c(2 + below, 1.4, 2.6, 0.3))
  # mfrow makes the letters of many panels too small to read.
  graphics::par(cex = max(0.75, graphics::par("cex")), mar = c(2, 2.8, 3.4, 1.6),
                mgp = c(2, 0.45, 0), tcl = -0.25, las = 1)
  # The old size of the letters last: mfrow sets its own.
  old[c("mfrow", "oma", "mar", "mgp", "tcl", "las", "cex")]
}

draw_frame <- function(xlim, ylim, ticks) {
  graphics::plot.new()
  graphics::plot.window(xlim, ylim, xaxs = "i", yaxs = "i")
  graphics::box(bty = "l", col = "grey40")
  if (is.null(ticks)) {
    graphics::axis(1, col = NA, col.ticks = "grey40", cex.axis = 0.9)
  } else {
    spaced_axis(1, ticks$at, ticks$labels)
  }
  graphics::axis(2, col = NA, col.ticks = "grey40", cex.axis = 0.9)
}

# How many regions there are along the path, at as many places as there is room for.
top_axis <- function(counts) {
  spaced_axis(3, counts$x, counts$df, col.ticks = "grey60")
}

# Ticks with their labels, of which those that would touch another are left out.
spaced_axis <- function(side, at, labels, cex = 0.9, col.ticks = "grey40") {
  keep <- fitting_labels(at, graphics::strwidth(paste0(labels, "00"), cex = cex))
  graphics::axis(side, at[keep], labels[keep], col = NA, col.ticks = col.ticks, cex.axis = cex,
                 gap.axis = 0)
}

# From the first on, each label that does not touch the last one that was kept.
fitting_labels <- function(at, width) {
  usr <- graphics::par("usr")
  order <- order(at * sign(usr[2] - usr[1]))
  kept <- integer(0)
  for (k in order) {
    last <- kept[length(kept)]
    apart <- if (length(last)) abs(at[k] - at[last]) - (abs(width[k]) + abs(width[last])) / 2 else 0
    if (apart >= 0) kept <- c(kept, k)
  }
  kept
}

# The lambda that a panel holds fixed, or the range of those that belong together.
lambda_title <- function(lambda, fixed) {
  lambda <- lambda_label(range(lambda))
  text <- if (lambda[1] == lambda[2]) bquote(lambda[.(fixed)] == .(lambda[1])) else {
    bquote(lambda[.(fixed)] == .(lambda[1]) ~ "to" ~ .(lambda[2]))
  }
  graphics::mtext(text, side = 3, line = if (is_one_panel()) 2.9 else 1.9,
                  cex = 0.9 * graphics::par("cex"))
}

# Three digits; powers of ten only for very small and very large numbers.
lambda_label <- function(lambda) {
  plain <- lambda == 0 | (lambda >= 1e-5 & lambda < 1e6)
  vapply(seq_along(lambda), function(k) {
    format(signif(lambda[[k]], 3), scientific = !plain[[k]], digits = 3, trim = TRUE)
  }, "")
}

is_one_panel <- function() all(graphics::par("oma") == 0)

# Titles that belong to all panels.
panel_titles <- function(xlab, ylab, main, top) {
  cex <- graphics::par("cex")
  outer <- !is_one_panel()
  if (outer) {
    graphics::mtext(xlab, side = 1, outer = TRUE, line = 0.6, cex = cex)
    graphics::mtext(ylab, side = 2, outer = TRUE, line = 0.2, cex = cex, las = 0)
  } else {
    graphics::title(xlab = xlab, ylab = ylab)
  }
  graphics::mtext(top, side = 3, outer = outer, line = if (outer) 0.2 else 1.7, cex = 0.85 * cex,
                  col = "grey30")
  graphics::mtext(main %or% "", side = 3, outer = outer, line = if (outer) 1.3 else 3.1,
                  cex = 1.1 * cex, font = 2, adj = if (outer) 0.5 else 0)
}

# ---- map -----------------------------------------------------------------------------------------

# A fit to images in three dimensions, which plot_map() knows how to cut.
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

draw_map <- function(map, col, xlab, ylab, main, ...) {
  scale <- map_scale(map, col)
  room <- function(title) if (is.null(title)) 1.2 else 3
  old <- graphics::par(mar = c(room(xlab), room(ylab), 3, 5.5), mgp = c(1, 0.6, 0), tcl = -0.3,
                       las = 1)
  on.exit(graphics::par(old), add = TRUE)
  at <- lapply(dim(map), seq_len)
  graphics::plot.new()
  graphics::plot.window(c(0.5, nrow(map) + 0.5), c(0.5, ncol(map) + 0.5), asp = 1,
                        xaxs = "i", yaxs = "i")
  # Zero first, in its own colour; everything else over it.
  graphics::image(at[[1]], at[[2]], ifelse(is.na(map), NA, 0), col = zero_colour, add = TRUE,
                  useRaster = TRUE)
  graphics::image(at[[1]], at[[2]], ifelse(map == 0, NA, map), col = scale$col,
                  zlim = scale$limits, add = TRUE, useRaster = TRUE, ...)
  if (any(map != 0, na.rm = TRUE)) colour_bar(scale, c(nrow(map) + 0.5, 0.5, ncol(map) + 0.5))
  graphics::title(main = main %or% map_title(map), xlab = xlab %or% "", ylab = ylab %or% "",
                  font.main = if (is.null(main)) 1 else 2)
  invisible(map)
}

map_title <- function(map) {
  lambda <- lambda_label(attr(map, "lambda"))
  bquote(lambda[1] == .(lambda[[1]]) * "," ~ lambda[2] == .(lambda[[2]]))
}

# To the right of a picture that ends at place[1] and reaches from place[2] to place[3].
colour_bar <- function(scale, place) {
  unit <- graphics::xinch(0.1)
  left <- place[1] + 1.2 * unit
  right <- left + 1.6 * unit
  n <- length(scale$col)
  y <- seq(place[2], place[3], length.out = n + 1)
  graphics::rect(left, y[-(n + 1)], right, y[-1], col = scale$col, border = NA, xpd = NA)
  graphics::rect(left, place[2], right, place[3], border = "grey40", xpd = NA)
  ticks <- pretty(scale$limits, 5)
  ticks <- ticks[ticks >= scale$limits[1] & ticks <= scale$limits[2]]
  at <- place[2] + (ticks - scale$limits[1]) / diff(scale$limits) * (place[3] - place[2])
  graphics::segments(right, at, right + 0.5 * unit, at, col = "grey40", xpd = NA)
  graphics::text(right + 0.8 * unit, at, format(ticks, trim = TRUE), adj = c(0, 0.5), cex = 0.85,
                 xpd = NA)
}

# ---- cross-validation ----------------------------------------------------------------------------

#' Draw a cross-validation
#'
#' `type = "curve"` draws the measure along `lambda1` with bars of one standard error up and down,
#' in a panel for each `lambda2`; `type = "heatmap"` the measure over the whole grid. Both mark the
#' best row (`lambda.min`), the sparsest within one standard error of it (`lambda.1se`) and, if
#' there is one, the most stable (`lambda.es`).
#'
#' @param x A cross-validation from [cv.n2gfl()].
#' @param type `"curve"` or `"heatmap"`.
#' @param panels Which panels of the curves to draw, counted in the order of `lambda2` in the grid;
#'   `NULL` for all of them or, if there are more than 9, 9 that are evenly spread.
#' @param col Colour of the curve, or colours of the heat map from the smallest value to the
#'   largest.
#' @param xlab,ylab,main Titles of the axes and of the picture.
#' @param ... For curves, graphical parameters of the points such as `cex`; otherwise nothing.
#' @return The data that were drawn, a data frame with one line per row of the grid, invisibly.
#' @details
#' The dotted line of the curves is the value within one standard error of the best. The axes of
#' penalties are logarithmic, with the largest on the left; on top is the number of regions. In the
#' heat map a cell reaches halfway to its neighbours, and each `lambda2` has a band of the same
#' height.
#' @examples
#' set.seed(1)
#' cohort <- simulate_cohort(n = 60, dim = c(12, 12))
#' cv <- cv.n2gfl(cohort$x, cohort$y, cohort$graph, family = "binomial", nfolds = 5,
#'                lambda2 = c(0.01, 0.003), nlambda1 = 10)
#' plot(cv)
#' plot(cv, type = "heatmap")
#' @export
plot.cv.n2gfl <- function(x, type = c("curve", "heatmap"), panels = NULL, col = NULL, xlab = NULL,
                          ylab = NULL, main = NULL, ...) {
  type <- match_choice(type, "type", c("curve", "heatmap"))
  data <- cv_plot_data(x)
  xlab <- xlab %or% xvar_title("lambda1")
  if (type == "curve") {
    panels <- check_panels(panels, length(data$lambda2), 9)
    draw_curves(data, panels, col %or% "#B2182B", xlab, ylab %or% data$name, main, ...)
  } else {
    check_no_dots(list(...), " for type = \"heatmap\"")
    draw_heatmap(data, col, xlab, ylab %or% xvar_title("lambda2"), main)
  }
  invisible(data$rows)
}

# How the chosen rows are marked and called.
mark_style <- data.frame(
  mark = c("min", "1se", "es"), pch = c(21, 24, 22), label = c("min", "1se", "es"),
  title = c("lambda.min", "lambda.1se", "lambda.es"), col = c("#2166AC", "#1B7837", "#E08214")
)

style_of <- function(marks) mark_style[match(marks$mark, mark_style$mark), ]

draw_curves <- function(data, panels, col, xlab, ylab, main,
                        cex = if (length(panels) == 1) 1 else 0.7, ...) {
  old <- open_panels(length(panels), below = 1)
  on.exit(graphics::par(old), add = TRUE)
  shown <- data$rows[data$rows$panel %in% panels, ]
  xlim <- rev(padded_range(shown$x, 0.03))
  ylim <- padded_range(c(shown$cvlo, shown$cvup), 0.04)
  for (panel in panels) {
    rows <- data$rows[data$rows$panel == panel, ]
    draw_frame(xlim, ylim, data$ticks)
    graphics::abline(h = data$target, lty = 3, col = "grey50")
    draw_marks_lines(data$marks[data$marks$panel == panel, ])
    error_bars(rows)
    graphics::points(rows$x, rows$cvm, pch = 19, col = col, cex = cex, ...)
    draw_marks(data$marks[data$marks$panel == panel, ], data$marks$cvm[data$marks$panel == panel])
    top_axis(rows)
    lambda_title(data$lambda2[panel], 2)
  }
  note <- if (length(panels) == 1) "Number of regions" else "Upper axes: number of regions"
  panel_titles(xlab, ylab, main, note)
  marks_legend(data$marks)
}

error_bars <- function(rows) {
  graphics::segments(rows$x, rows$cvlo, rows$x, rows$cvup, col = "grey60")
  tip <- 0.006 * diff(graphics::par("usr")[1:2])
  for (y in list(rows$cvlo, rows$cvup)) {
    graphics::segments(rows$x - tip, y, rows$x + tip, y, col = "grey60")
  }
}

draw_marks_lines <- function(marks) {
  if (nrow(marks)) graphics::abline(v = marks$x, lty = 2, col = style_of(marks)$col)
}

# Rows that coincide are marked by symbols inside each other, the first one largest.
draw_marks <- function(marks, y) {
  if (!nrow(marks)) return(invisible())
  style <- style_of(marks)
  again <- stats::ave(marks$row, marks$row, FUN = seq_along) - 1
  graphics::points(marks$x, y, pch = style$pch, bg = style$col, col = "white",
                   cex = 1.9 - 0.6 * again, lwd = 1.2)
}

# At the bottom right of the device. legend() fails where the x axis runs backwards.
marks_legend <- function(marks) {
  style <- style_of(marks)
  inches <- graphics::strwidth(paste0("MM", style$title), units = "inches", cex = 0.8)
  width <- graphics::grconvertX(1, "ndc", "inches")
  start <- width - 0.08 - rev(cumsum(rev(inches + 0.12)))
  x <- graphics::grconvertX(start, "inches", "user")
  text_x <- graphics::grconvertX(start + 0.1, "inches", "user")
  y <- graphics::grconvertY(0.12, "inches", "user")
  graphics::points(x, rep(y, length(x)), pch = style$pch, bg = style$col, col = "white", cex = 1.5,
                   xpd = NA)
  graphics::text(text_x, y, style$title, adj = c(0, 0.5), cex = 0.8, xpd = NA)
}

draw_heatmap <- function(data, col, xlab, ylab, main) {
  old <- graphics::par(mar = c(5, 5.2, 2.6, 5.2), mgp = c(2.6, 0.6, 0), tcl = -0.3, las = 1)
  on.exit(graphics::par(old), add = TRUE)
  cells <- heat_cells(data$rows)
  scale <- list(limits = padded_range(data$rows$cvm, 0), col = col %or% grDevices::hcl.colors(100))
  colour <- scale$col[colour_number(data$rows$cvm, scale)]
  bands <- length(data$lambda2)
  graphics::plot.new()
  graphics::plot.window(rev(range(cells$left, cells$right)), c(0.5, bands + 0.5), xaxs = "i",
                        yaxs = "i")
  graphics::rect(cells$left, cells$y - 0.5, cells$right, cells$y + 0.5, col = colour, border = NA)
  spaced_axis(1, data$ticks$at, data$ticks$labels)
  graphics::axis(2, bands + 1 - seq_len(bands), lambda_label(data$lambda2), col = NA,
                 col.ticks = "grey40", cex.axis = 0.9)
  draw_marks(data$marks, bands + 1 - data$marks$panel)
  usr <- graphics::par("usr")
  colour_bar(scale, usr[2:4])
  graphics::title(xlab = xlab)
  graphics::title(ylab = ylab, line = 3.8)
  graphics::mtext(data$name, side = 3, line = 0.6, adj = 1, cex = 0.9 * graphics::par("cex"))
  graphics::mtext(main %or% "", side = 3, line = 0.6, adj = 0, cex = 1.1 * graphics::par("cex"),
                  font = 2)
  marks_legend(data$marks)
}

# The largest lambda2 is the band on top.
heat_cells <- function(rows) {
  cells <- lapply(split(rows, rows$panel), function(part) {
    cbind(row = part$row, cell_edges(part$x), y = max(rows$panel) + 1 - part$panel)
  })
  cells <- do.call(rbind, cells)
  cells[order(cells$row), ]
}

colour_number <- function(value, scale) {
  share <- (value - scale$limits[1]) / diff(scale$limits)
  pmin(length(scale$col), 1 + floor(share * length(scale$col)))
}
