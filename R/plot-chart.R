# Figures, panels and axes of all charts; legends and marks are in plot-chart-legend.R.
#
# A chart fills one figure: the whole device, or one cell of par(mfrow = ), layout(), par(fig = ) or
# split.screen(). It calls plot.new() once a figure, and sets the panels inside it by their margins.
# So the user's layout is never changed, and nothing is drawn outside the figure.
#
# A chart is a list:
#   count      number of panels
#   draw       a function that draws the k-th panel into the current plot region; its second
#              argument says whether the panel is the only one of the figure
#   margins    lines around the plot region of each panel: bottom, left, top, right
#   xlab, ylab titles that all panels share
#   title      the title on top; `bold` if the user has given it
#   note       what the upper axes show, and how many of the panels are drawn, on top of several
#              panels or with their legend; a single panel writes the first part beside its title
#   legends    a list of legends, each a list of entries, see legend_entry(): the shorter ones are
#              for figures where the first would leave too little room for the panels
#   remarks    sentences in small letters at the bottom

new_chart <- function(count, draw, margins, xlab, ylab, title = NULL, bold = FALSE, note = NULL,
                      legends = list(), remarks = character()) {
  list(count = count, draw = draw, margins = margins, xlab = xlab, ylab = ylab, title = title,
       bold = bold, note = note, legends = legends, remarks = remarks)
}

# A title that the user gives replaces the default one.
chart_title <- function(main, title) list(text = main %or% title, bold = !is.null(main))

# Draws the chart: several panels a figure, or one in each of the user's cells.
draw_chart <- function(chart) {
  old <- graphics::par(c("cex", "mar", "mgp", "tcl", "las", "pty", "xpd"))
  on.exit(graphics::par(old), add = TRUE)
  per_page <- if (in_users_cell()) 1L else panel_capacity(figure_size())
  pages <- split(seq_len(chart$count), (seq_len(chart$count) - 1) %/% per_page)
  if (length(pages) > prod(graphics::par("mfrow")) && grDevices::dev.interactive()) {
    ask <- grDevices::devAskNewPage(TRUE)
    on.exit(grDevices::devAskNewPage(ask), add = TRUE)
  }
  for (page in pages) draw_page(chart, page)
}

# Has the user set up cells? par("fig") of a single figure is the device, or what the outer margins
# leave of it; par("mfrow") is also set by layout() and par(mfcol = ).
in_users_cell <- function() {
  fig <- graphics::par("fig")
  is_same <- function(region) all(abs(fig - region) < 1e-6)
  prod(graphics::par("mfrow")) > 1 || !(is_same(c(0, 1, 0, 1)) || is_same(graphics::par("omd")))
}

# In inches. Before plot.new() this is the size of the previous figure, so it must be called then
# only for a device with a single figure.
figure_size <- function() graphics::par("fin")

# ---- which panels --------------------------------------------------------------------------------

most_panels <- 12L

# The panels to draw: those that the user names; one panel in a cell of the user's layout; otherwise
# all of them or, if they would be too small, as many as there is room for. `default` are the panels
# that are drawn before others, the most important first.
choose_panels <- function(which, count, default = 1L, names = NULL) {
  if (!is.null(which)) return(check_which(which, count, names))
  if (in_users_cell()) return(as.integer(default[1]))
  size <- figure_size()
  room <- panel_capacity(size)
  if (count <= room) return(seq_len(count))
  shown <- spread_panels(count, room, default)
  numbers <- paste(shown, collapse = ", ")
  message("A figure of ", paste(signif(size, 2), collapse = " by "), " inches has room for ",
          length(shown), " of ", count, " panels that can be read: which = ",
          if (length(shown) == 1) numbers else paste0("c(", numbers, ")"),
          ". Give `which` or enlarge the figure to see the others.")
  shown
}

# Evenly spread, with the defaults and, if there is room, the first and the last among them; only
# defaults if there is no room for three.
spread_panels <- function(count, most, default = 1L) {
  if (count <= most) return(seq_len(count))
  default <- utils::head(unique(as.integer(default)), most)
  if (most < 3) return(sort(default))
  shown <- as.integer(unique(round(seq(1, count, length.out = most))))
  for (panel in setdiff(default, shown)) {
    free <- setdiff(shown, default)
    inner <- setdiff(free, c(1L, count))
    if (length(inner)) free <- inner
    shown[shown == free[which.min(abs(free - panel))]] <- panel
  }
  sort(shown)
}

# "3 of 5 panels", for the note of a chart.
panels_note <- function(shown, count) if (shown < count) paste(shown, "of", count, "panels")

check_which <- function(which, count, names = NULL) {
  if (is.character(which) && length(which) && all(which %in% names)) return(match(which, names))
  whole <- is.numeric(which) && length(which) && all(which %in% seq_len(count))
  if (!whole) {
    stop_bad("`which` must hold numbers of panels, from 1 to ", count,
             if (length(names)) paste0(", or their names (", quoted(names), ")"), ", not ",
             describe(which), ".")
  }
  as.integer(which)
}

# `...` may hold only graphical parameters of lines and points.
check_line_parameters <- function(given, allowed = c("cex", "lwd", "lty", "pch", "lend", "type")) {
  if ("panels" %in% names(given)) stop_bad("`panels` is called `which` now, with the same numbers.")
  unknown <- setdiff(names(given), allowed)
  if (length(given) && (is.null(names(given)) || length(unknown))) {
    stop_bad("`...` must hold graphical parameters of lines and points (", quoted(allowed),
             "), but there is an argument ",
             if (length(unknown) && nzchar(unknown[1])) paste0("`", unknown[1], "`") else {
               "without a name"
             }, ".")
  }
  given
}

# ---- layout --------------------------------------------------------------------------------------

# The smallest plot region that can be read, in inches.
smallest_region <- c(0.85, 0.65)

# How many panels with the usual margins can be read in a figure of this size.
panel_capacity <- function(size) {
  usual <- list(margins = c(1.4, 3, 2.9, 1.6), title = "", note = "", legends = list(1))
  fits <- vapply(2:most_panels, function(count) {
    all(panel_grid(count, size, usual)$region >= smallest_region)
  }, NA)
  max(1L, (2:most_panels)[fits])
}

# Letters get smaller with the figure, but not below 6.5 points.
letter_size <- function(width, height) {
  lines <- min(width, height) / graphics::par("cin")[2]
  smallest <- min(1, 6.5 / graphics::par("ps"))
  min(graphics::par("cex"), max(smallest, sqrt(lines / 22)))
}

# Lines on the left of all panels, at their top, and at their bottom without the legend.
outer_lines <- function(chart, note_on_top) {
  c(bottom = 1.5, left = 1.5,
    top = 0.3 + (if (is.null(chart$title)) 0 else 1.4) + (if (note_on_top) 1.1 else 0))
}

# The rows and columns that make the panels largest: list(rows, columns, cex, line, region), with
# `region` the width and height of a plot region in inches. The legend goes into an empty cell if
# there is one, otherwise below, where it takes about two lines.
panel_grid <- function(count, size, chart) {
  columns <- unique(ceiling(count / seq_len(count)))
  grids <- lapply(columns, function(columns) {
    rows <- ceiling(count / columns)
    cex <- letter_size(size[1] / columns, size[2] / rows)
    line <- graphics::par("cin")[2] * cex
    full <- rows * columns == count
    outer <- outer_lines(chart, full && count > 1 && !is.null(chart$note)) * line
    below <- if (length(chart$legends) && full) 2.5 * line else 0
    region <- c((size[1] - outer[["left"]]) / columns - sum(chart$margins[c(2, 4)]) * line,
                (size[2] - outer[["top"]] - outer[["bottom"]] - below) / rows -
                  sum(chart$margins[c(1, 3)]) * line)
    list(rows = rows, columns = columns, cex = cex, line = line, region = region)
  })
  best <- which.max(vapply(grids, function(grid) min(grid$region / c(1.3, 1)), 0))
  grids[[best]]
}

# Where everything goes, in inches from the lower left corner of the figure: `panels` (the plot
# regions, a data frame with left, right, bottom, top), `legend` (its entries with their positions),
# `remarks` (wrapped), `area` (left, right, bottom, top of all panels), the `note` on top or NULL,
# the height of the remarks, and the floor on which the title of the x axis stands.
chart_layout <- function(count, size, chart, grid) {
  line <- grid$line
  empty <- grid$rows * grid$columns - count
  note <- if (count > 1 && !empty) chart$note
  # In tiny figures the panels are given room before the text.
  outer <- pmin(outer_lines(chart, !is.null(note)) * line, 0.25 * size[c(2, 1, 2)])
  remarks <- wrap_text(chart$remarks, size[1] - line, 0.75)
  foot <- (0.2 + 0.85 * length(remarks)) * line
  cell <- c((size[1] - outer[["left"]]) / grid$columns,
            (size[2] - outer[["top"]] - foot - outer[["bottom"]]) / grid$rows)
  legend <- if (empty) first_legend(chart, chart$note, cell[2], function(entries) {
    list_legend(entries, empty * cell[1] - line, cell[2], line)
  })
  in_cell <- !is.null(legend)
  # A legend below the panels must leave most of the figure to them.
  beside <- if (empty) chart$note else if (count == 1) chart$note[-1]
  if (!in_cell) legend <- first_legend(chart, beside, 0.22 * size[2], function(entries) {
    wrap_legend(entries, size[1] - line, line)
  })
  bottom <- min(foot + outer[["bottom"]] + if (in_cell) 0 else legend$height, 0.6 * size[2])
  cell[2] <- (size[2] - outer[["top"]] - bottom) / grid$rows
  cells <- grid_cells(grid, cell, outer[["left"]], bottom)
  corner <- if (in_cell) {
    c(cells$left[count + 1] + 0.5 * line,
      cells$top[count + 1] - max(0, (cell[2] - legend$height) / 2))
  } else c(0.5 * line, foot + legend$height)
  legend$x <- legend$x + corner[1]
  legend$y <- corner[2] - legend$y
  list(size = size, cex = grid$cex, line = line, legend = legend, remarks = remarks, note = note,
       area = c(outer[["left"]], size[1], bottom, size[2] - outer[["top"]]), foot = foot,
       floor = bottom - outer[["bottom"]],
       panels = inner_regions(cells[seq_len(count), ], chart$margins * line))
}

# Cells of equal size, row by row from the top.
grid_cells <- function(grid, cell, left, bottom) {
  k <- seq_len(grid$rows * grid$columns) - 1
  left <- left + (k %% grid$columns) * cell[1]
  bottom <- bottom + (grid$rows - 1 - k %/% grid$columns) * cell[2]
  data.frame(left = left, right = left + cell[1], bottom = bottom, top = bottom + cell[2])
}

# The first of the legends, each followed by the note, that `arrange` makes at most `height` high,
# otherwise the last one. `arrange` may return NULL for a legend that does not fit.
first_legend <- function(chart, note, height, arrange) {
  for (entries in c(chart$legends, if (!length(chart$legends)) list(list()))) {
    legend <- arrange(c(entries, lapply(note, legend_entry)))
    if (isTRUE(legend$height <= height)) break
  }
  legend
}

# The plot regions inside the cells. Margins give way in cells that are too small for them.
inner_regions <- function(cells, margins) {
  width <- cells$right - cells$left
  height <- cells$top - cells$bottom
  across <- min(1, 0.6 * width[1] / sum(margins[c(2, 4)]))
  up <- min(1, 0.6 * height[1] / sum(margins[c(1, 3)]))
  data.frame(left = cells$left + across * margins[2], right = cells$right - across * margins[4],
             bottom = cells$bottom + up * margins[1], top = cells$top - up * margins[3])
}

# ---- drawing a figure ----------------------------------------------------------------------------

draw_page <- function(chart, shown) {
  graphics::par(mar = c(0, 0, 0, 0), mgp = c(0, 0.4, 0), tcl = -0.25, las = 1, pty = "m",
                xpd = FALSE)
  graphics::plot.new()
  size <- figure_size()
  grid <- panel_grid(length(shown), size, chart)
  old <- graphics::par(cex = grid$cex)
  on.exit(graphics::par(old), add = TRUE)
  layout <- chart_layout(length(shown), size, chart, grid)
  for (k in seq_along(shown)) {
    set_region(layout$panels[k, ], size)
    chart$draw(shown[k], length(shown) == 1)
  }
  page_titles(chart, layout, length(shown))
  draw_legend(layout)
  invisible(layout)
}

set_region <- function(region, size) {
  graphics::par(mai = c(region$bottom, region$left, size[2] - region$top, size[1] - region$right))
}

# Text at a position in inches from the corner of the figure. legend() and mtext() cannot do that on
# axes that run backwards or for a given width.
figure_text <- function(x, y, label, cex = 1, ...) {
  size <- figure_size()
  graphics::text(graphics::grconvertX(x / size[1], "nfc", "user"),
                 graphics::grconvertY(y / size[2], "nfc", "user"), label, cex = cex, xpd = NA, ...)
}

page_titles <- function(chart, layout, count) {
  line <- layout$line
  size <- layout$size
  area <- if (count == 1) unlist(layout$panels[1, ]) else layout$area
  across <- function(y, label, cex, font = 1, ...) {
    at <- fit_title(label, mean(area[1:2]), 0, size[1], cex, line, font)
    figure_text(at$middle, y, label, at$cex, font = font, ...)
  }
  across(layout$floor + 0.85 * line, chart$xlab, 1)
  at <- fit_title(chart$ylab, mean(area[3:4]), layout$floor, size[2], 1, line)
  figure_text(0.8 * line, at$middle, chart$ylab, at$cex, srt = 90)
  if (!is.null(chart$title)) {
    across(size[2] - 0.9 * line, chart$title, 1, font = if (chart$bold) 2 else 1)
  }
  if (!is.null(layout$note)) {
    across(layout$area[4] + 0.4 * line, paste(layout$note, collapse = "; "), 0.85, col = "grey30")
  }
  for (k in seq_along(layout$remarks)) {
    figure_text(0.5 * line, layout$foot - (k - 0.3) * 0.85 * line, layout$remarks[k], 0.75,
                adj = c(0, 0.5), col = "grey25")
  }
}

# Size and middle of a title that should be centred at `middle` and must lie between two limits.
fit_title <- function(label, middle, low, high, cex, line, font = 1) {
  cex <- shrunk_cex(label, high - low - 0.6 * line, cex, font)
  half <- text_inches(label, cex, font) / 2 + 0.3 * line
  list(cex = cex, middle = min(max(middle, low + half), high - half))
}

text_inches <- function(label, cex, font = 1) {
  graphics::strwidth(label, units = "inches", cex = cex, font = font)
}

# The largest size up to `cex` at which none of the labels is wider than `width`. pdf() rounds sizes
# to whole points, so the width is not proportional to the size.
shrunk_cex <- function(labels, width, cex, font = 1) {
  cex <- cex * min(1, width / max(text_inches(labels, cex, font), 1e-9))
  while (cex > 0.05 && any(text_inches(labels, cex, font) > width)) cex <- 0.95 * cex
  cex
}

# Sentences broken into lines of at most `width` inches.
wrap_text <- function(text, width, cex) {
  unlist(lapply(text, function(sentence) {
    share <- width / text_inches(sentence, cex)
    # 0.95, because some lines have wider letters than others.
    if (share >= 1) sentence else strwrap(sentence, max(10, 0.95 * share * nchar(sentence)))
  }))
}

# Writes what a panel shows above its upper axis. If it is the only panel of the figure, the title
# of that axis is written beside it: the longest of `notes` that fits.
strip_title <- function(label, notes, only, line = 1.5) {
  room <- graphics::par("pin")[1]
  width <- text_inches(label, 0.95)
  cex <- shrunk_cex(label, room, 0.95) * graphics::par("cex")
  if (!only || !length(notes)) return(graphics::mtext(label, side = 3, line = line, cex = cex))
  fits <- width + vapply(notes, text_inches, 0, cex = 0.9) + text_inches("M", 1) <= room
  graphics::mtext(label, side = 3, line = line, cex = cex, adj = 0)
  # The same depth as a subscript puts both on one baseline.
  note <- bquote(.(notes[fits][1]) * phantom(lambda[2]))
  if (any(fits)) {
    graphics::mtext(note, side = 3, line = line, cex = 0.9 * cex, adj = 1, col = "grey30")
  }
}

region_notes <- c("number of regions", "regions")

# ---- axes ----------------------------------------------------------------------------------------

padded_range <- function(values, share) {
  range <- range(values, finite = TRUE)
  width <- diff(range)
  if (width == 0) width <- if (range[1] == 0) 1 else abs(range[1])
  range + c(-1, 1) * share * width
}

# `ticks` are list(at, labels), or NULL for ordinary axes.
draw_frame <- function(xlim, ylim, ticks, y_ticks = NULL) {
  graphics::plot.window(xlim, ylim, xaxs = "i", yaxs = "i")
  graphics::box(bty = "l", col = "grey40")
  if (is.null(ticks)) {
    graphics::axis(1, col = NA, col.ticks = "grey40", cex.axis = 0.9)
  } else {
    spaced_axis(1, ticks$at, ticks$labels)
  }
  y_ticks <- y_ticks %or% plain_ticks(ylim)
  graphics::axis(2, y_ticks$at, y_ticks$labels, col = NA, col.ticks = "grey40", cex.axis = 0.9)
}

plain_ticks <- function(limits) {
  at <- pretty(limits, 5)
  at <- at[at >= limits[1] & at <= limits[2]]
  list(at = at, labels = format(at, trim = TRUE))
}

# The lines of margin that horizontal labels of a left axis need; `width` is that of a digit.
label_lines <- function(labels, width = 0.43) 0.9 + width * max(nchar(labels))

# The number of regions along the path, as often as there is room for it.
top_axis <- function(counts) {
  spaced_axis(3, counts$x, counts$df, col.ticks = "grey60")
}

# Ticks with their labels, without those that would touch another one.
spaced_axis <- function(side, at, labels, cex = 0.9, col.ticks = "grey40") {
  keep <- fitting_labels(at, graphics::strwidth(paste0(labels, "00"), cex = cex))
  graphics::axis(side, at[keep], labels[keep], col = NA, col.ticks = col.ticks, cex.axis = cex,
                 gap.axis = 0)
}

# Which labels to keep, from the first on: each that does not touch the last one kept.
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

# Plotmath for a penalty that is held fixed, or the range of those that belong together.
lambda_equals <- function(lambda, fixed) {
  lambda <- unique(lambda_label(range(lambda)))
  text <- paste(lambda, collapse = " to ")
  bquote(lambda[.(fixed)] == .(text))
}

penalty_pair <- function(lambda1, lambda2) {
  bquote(lambda[1] == .(lambda_label(lambda1)) * "," ~ lambda[2] == .(lambda_label(lambda2)))
}

# Three digits; powers of ten only for very small and very large numbers.
lambda_label <- function(lambda) {
  plain <- lambda == 0 | (lambda >= 1e-5 & lambda < 1e6)
  vapply(seq_along(lambda), function(k) {
    format(signif(lambda[[k]], 3), scientific = !plain[[k]], digits = 3, trim = TRUE)
  }, "")
}
