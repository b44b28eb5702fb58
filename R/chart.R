# Frames, axes, legends and marks of all charts. A chart fills one figure: the whole device, or one
# cell of par(mfrow = ), layout(), par(fig = ) or split.screen(). It calls plot.new() once a figure,
# and sets the panels inside it by their margins. So the user's layout is never changed, and
# nothing is drawn outside the figure.
#
# A chart is a list:
#   count      number of panels
#   draw       a function that draws the k-th panel into the current plot region; its second
#              argument says whether the panel is the only one of the figure
#   margins    lines around the plot region of each panel: bottom, left, top, right
#   xlab, ylab titles that all panels share
#   title      what stands on top; `bold` if the user has given it
#   note       what the upper axes show
#   legend     list of entries, see legend_entry()
#   remarks    sentences in small letters at the bottom

new_chart <- function(count, draw, margins, xlab, ylab, title = NULL, bold = FALSE, note = NULL,
                      legend = list(), remarks = character()) {
  list(count = count, draw = draw, margins = margins, xlab = xlab, ylab = ylab, title = title,
       bold = bold, note = note, legend = legend, remarks = remarks)
}

# The title that the user gives replaces ours.
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

# Inches. Before plot.new() that is the figure before, so only for a device with a single one.
figure_size <- function() graphics::par("fin")

# ---- which panels --------------------------------------------------------------------------------

most_panels <- 12L

# The panels to draw: those that the user names; in a cell of the user's one; otherwise all of them
# or, where they would be too small, as many as there is room for.
choose_panels <- function(which, count, default = 1L, names = NULL) {
  if (!is.null(which)) return(check_which(which, count, names))
  if (in_users_cell()) return(default)
  size <- figure_size()
  room <- panel_capacity(size)
  if (count <= room) return(seq_len(count))
  shown <- spread_panels(count, room, default)
  room <- length(shown)
  message("The figure of ", paste(format(size, digits = 2, trim = TRUE), collapse = " by "),
          " inches has room for ", room, " of ", count, " panels: which = ",
          if (room == 1) shown else paste0("c(", paste(shown, collapse = ", "), ")"),
          ". Give `which` or enlarge the figure to see the others.")
  shown
}

# Evenly spread, with the first, the last and the default among them; the default alone if there is
# no room for three.
spread_panels <- function(count, most, default = 1L) {
  if (count <= most) return(seq_len(count))
  if (most < 3) return(as.integer(default))
  shown <- as.integer(unique(round(seq(1, count, length.out = most))))
  if (!default %in% shown) {
    inner <- shown[-c(1, length(shown))]
    shown[1 + which.min(abs(inner - default))] <- as.integer(default)
  }
  shown
}

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

# Graphical parameters of lines and points are all that `...` may hold.
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

# ---- places --------------------------------------------------------------------------------------

# The smallest plot region that can be read, in inches.
smallest_region <- c(0.85, 0.65)

# How many panels with the usual margins can be read in a figure of this size.
panel_capacity <- function(size) {
  usual <- list(margins = c(1.4, 3, 2.9, 1.6), title = "", note = "", legend = list(1, 2, 3))
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

# Lines at the top, at the bottom without the legend, and on the left of all panels.
outer_lines <- function(chart, count) {
  c(bottom = 1.5, left = 1.5,
    top = 0.3 + (if (is.null(chart$title)) 0 else 1.4) +
      (if (count > 1 && !is.null(chart$note)) 1.1 else 0))
}

# The rows and columns that let the panels be largest: list(rows, columns, cex, line, region), with
# `region` the width and height of a plot region in inches. The legend goes into an empty cell if
# there is one, otherwise below, where it takes about two lines.
panel_grid <- function(count, size, chart) {
  columns <- unique(ceiling(count / seq_len(count)))
  grids <- lapply(columns, function(columns) {
    rows <- ceiling(count / columns)
    cex <- letter_size(size[1] / columns, size[2] / rows)
    line <- graphics::par("cin")[2] * cex
    outer <- outer_lines(chart, count) * line
    below <- if (length(chart$legend) && rows * columns == count) 2.5 * line else 0
    region <- c((size[1] - outer[["left"]]) / columns - sum(chart$margins[c(2, 4)]) * line,
                (size[2] - outer[["top"]] - outer[["bottom"]] - below) / rows -
                  sum(chart$margins[c(1, 3)]) * line)
    list(rows = rows, columns = columns, cex = cex, line = line, region = region)
  })
  best <- which.max(vapply(grids, function(grid) min(grid$region / c(1.3, 1)), 0))
  grids[[best]]
}

# Where everything goes, in inches from the lower left corner of the figure: `panels` (the plot
# regions, a data frame with left, right, bottom, top), `legend` (with its entries' places),
# `remarks` (wrapped) and the rows of text.
chart_places <- function(count, size, chart, grid) {
  line <- grid$line
  outer <- outer_lines(chart, count) * line
  remarks <- wrap_text(chart$remarks, size[1] - line, 0.75)
  foot <- (0.2 + 0.85 * length(remarks)) * line
  cell <- c((size[1] - outer[["left"]]) / grid$columns, NA)
  empty <- grid$rows * grid$columns - count
  legend <- if (empty) {
    list_legend(chart$legend, empty * cell[1] - line,
                (size[2] - outer[["top"]] - foot - outer[["bottom"]]) / grid$rows, line)
  }
  below <- is.null(legend) && length(chart$legend)
  if (below) legend <- wrap_legend(chart$legend, size[1] - line, line)
  bottom <- foot + outer[["bottom"]] + if (below) legend$height else 0
  cell[2] <- max(size[2] - outer[["top"]] - bottom, 0) / grid$rows
  row <- (seq_len(grid$rows * grid$columns) - 1) %/% grid$columns
  column <- (seq_len(grid$rows * grid$columns) - 1) %% grid$columns
  cells <- data.frame(left = outer[["left"]] + column * cell[1],
                      right = outer[["left"]] + (column + 1) * cell[1],
                      bottom = bottom + (grid$rows - row - 1) * cell[2],
                      top = bottom + (grid$rows - row) * cell[2])
  if (!is.null(legend)) {
    corner <- if (below) c(0.5 * line, foot + legend$height) else {
      free <- cells[count + 1, ]
      c(free$left + 0.5 * line, free$top - max(0, (cell[2] - legend$height) / 2))
    }
    legend$x <- legend$x + corner[1]
    legend$y <- corner[2] - legend$y
  }
  list(size = size, cex = grid$cex, line = line, legend = legend, remarks = remarks,
       area = c(outer[["left"]], size[1], bottom, size[2] - outer[["top"]]), foot = foot,
       xlab = foot + 0.85 * line + if (below) legend$height else 0,
       panels = inner_regions(cells[seq_len(count), ], chart$margins * line))
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
  place <- chart_places(length(shown), size, chart, grid)
  for (k in seq_along(shown)) {
    set_region(place$panels[k, ], size)
    chart$draw(shown[k], length(shown) == 1)
  }
  page_titles(chart, place, length(shown))
  draw_legend(chart$legend, place)
  invisible(place)
}

set_region <- function(region, size) {
  graphics::par(mai = c(region$bottom, region$left, size[2] - region$top, size[1] - region$right))
}

# Text at a place in inches from the corner of the figure. legend() and mtext() cannot do that on
# axes that run backwards or for a given width.
figure_text <- function(x, y, label, cex = 1, ...) {
  size <- figure_size()
  graphics::text(graphics::grconvertX(x / size[1], "nfc", "user"),
                 graphics::grconvertY(y / size[2], "nfc", "user"), label, cex = cex, xpd = NA, ...)
}

page_titles <- function(chart, place, count) {
  area <- place$area
  line <- place$line
  size <- place$size
  middle <- if (count == 1) mean(unlist(place$panels[1, c("left", "right")])) else mean(area[1:2])
  upright <- if (count == 1) unlist(place$panels[1, c("bottom", "top")]) else area[3:4]
  centred <- function(y, label, cex, ...) {
    room <- size[1] - 0.6 * line
    cex <- fitted_cex(label, room, cex)
    half <- graphics::strwidth(label, units = "inches", cex = cex, font = list(...)$font) / 2
    at <- min(max(middle, half + 0.3 * line), size[1] - half - 0.3 * line)
    figure_text(at, y, label, cex, ...)
  }
  centred(place$xlab, chart$xlab, 1)
  figure_text(0.8 * line, mean(upright), chart$ylab, srt = 90,
              fitted_cex(chart$ylab, size[2] - place$foot - 0.6 * line, 1))
  if (!is.null(chart$title)) {
    centred(size[2] - 0.9 * line, chart$title, 1, font = if (chart$bold) 2 else 1)
  }
  if (count > 1 && !is.null(chart$note)) {
    centred(area[4] + 0.4 * line, chart$note, 0.85, col = "grey30")
  }
  for (k in seq_along(place$remarks)) {
    figure_text(0.5 * line, place$foot - (k - 0.3) * 0.85 * line, place$remarks[k], 0.75,
                adj = c(0, 0.5), col = "grey25")
  }
}

# Sentences broken into lines of at most `width` inches.
wrap_text <- function(text, width, cex) {
  unlist(lapply(text, function(sentence) {
    share <- width / graphics::strwidth(sentence, units = "inches", cex = cex)
    # Lines differ in their letters: 0.95.
    if (share >= 1) sentence else strwrap(sentence, max(10, 0.95 * share * nchar(sentence)))
  }))
}

# What a panel shows, above its upper axis. The only panel of a figure has the axis' title beside.
strip_title <- function(label, note, only, line = 1.5) {
  cex <- graphics::par("cex")
  inches <- function(text) graphics::strwidth(text, units = "inches")
  pair <- only && !is.null(note)
  width <- inches(label) + if (pair) inches(note) + inches("MM") else 0
  # Half of the margins is free for it.
  room <- graphics::par("pin")[1] + sum(graphics::par("mai")[c(2, 4)]) * if (only) 0.3 else 0
  cex <- cex * min(0.95, room / width)
  graphics::mtext(label, side = 3, line = line, cex = cex, adj = if (pair) 0 else 0.5)
  # The same depth as a subscript puts both on one baseline.
  note <- bquote(.(note) * phantom(lambda[2]))
  if (pair) graphics::mtext(note, side = 3, line = line, cex = 0.9 * cex, adj = 1, col = "grey30")
}

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

# Lines that horizontal labels take on the left of an axis. A digit is about half a line wide.
label_lines <- function(labels) 0.9 + 0.43 * max(nchar(labels))

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

# Plotmath for a penalty that is held fixed, or the range of those that belong together.
lambda_equals <- function(lambda, fixed) {
  lambda <- unique(lambda_label(range(lambda)))
  text <- paste(lambda, collapse = " to ")
  bquote(lambda[.(fixed)] == .(text))
}

# Three digits; powers of ten only for very small and very large numbers.
lambda_label <- function(lambda) {
  plain <- lambda == 0 | (lambda >= 1e-5 & lambda < 1e6)
  vapply(seq_along(lambda), function(k) {
    format(signif(lambda[[k]], 3), scientific = !plain[[k]], digits = 3, trim = TRUE)
  }, "")
}

# ---- legends -------------------------------------------------------------------------------------

# A symbol, a piece of a line or nothing, and words or plotmath.
legend_entry <- function(label, pch = NA, bg = NA, col = "black", lty = NA, lwd = 1.4) {
  list(label = label, pch = pch, bg = bg, col = col, lty = lty, lwd = lwd)
}

legend_cex <- 0.85

symbol_lines <- function(entry) if (!is.na(entry$lty)) 1.9 else if (!is.na(entry$pch)) 1.1 else 0

entry_widths <- function(entries, line) {
  vapply(entries, function(entry) {
    graphics::strwidth(entry$label, units = "inches", cex = legend_cex) +
      symbol_lines(entry) * line
  }, 0)
}

# Entries side by side, in as many rows as the width needs. Places are relative to the upper left
# corner, y downwards. An entry that is wider than all there is gets smaller letters.
wrap_legend <- function(entries, width, line) {
  widths <- entry_widths(entries, line)
  cex <- legend_cex * min(1, width / max(widths))
  widths <- pmin(widths, width)
  x <- row <- numeric(length(entries))
  at <- 0
  for (k in seq_along(entries)) {
    new_row <- k > 1 && at + widths[k] > width + 1e-6
    row[k] <- if (k == 1) 0 else row[k - 1] + new_row
    if (new_row) at <- 0
    x[k] <- at
    at <- at + widths[k] + 1.1 * line
  }
  # In the middle of the width.
  ends <- tapply(x + widths, row, max)
  x <- x + (width - max(ends)) / 2
  list(x = x, y = (row + 0.5) * 1.15 * line, width = widths, cex = cex,
       height = (max(row) + 1) * 1.15 * line + 0.3 * line)
}

# Entries below each other; NULL if they do not fit.
list_legend <- function(entries, width, height, line) {
  if (!length(entries)) return(NULL)
  widths <- entry_widths(entries, line)
  rows <- seq_along(entries)
  shrink <- min(1, width / max(widths))
  if (shrink < 0.75 || length(rows) * 1.3 * line > height) return(NULL)
  list(x = rep(max(0, (width - max(widths)) / 2), length(rows)), y = (rows - 0.5) * 1.3 * line,
       width = pmin(widths, width), cex = legend_cex * shrink, height = length(rows) * 1.3 * line)
}

draw_legend <- function(entries, place) {
  legend <- place$legend
  size <- place$size
  across <- function(x) graphics::grconvertX(x / size[1], "nfc", "user")
  up <- function(y) graphics::grconvertY(y / size[2], "nfc", "user")
  for (k in seq_along(entries)) {
    entry <- entries[[k]]
    room <- symbol_lines(entry) * place$line
    left <- legend$x[k]
    y <- up(legend$y[k])
    if (!is.na(entry$lty)) {
      graphics::segments(across(left), y, across(left + 0.8 * room), y, lty = entry$lty,
                         col = entry$col, lwd = entry$lwd, xpd = NA)
    }
    graphics::points(across(left + 0.4 * room), y, pch = entry$pch, bg = entry$bg,
                     col = if (is.na(entry$bg)) entry$col else "white",
                     cex = if (is.na(entry$bg)) 0.8 else 1.5, xpd = NA)
    figure_text(left + room, legend$y[k], entry$label, legend$cex, adj = c(0, 0.5),
                col = if (room) "black" else "grey30")
  }
}

# ---- chosen rows ---------------------------------------------------------------------------------

# How the chosen rows are marked, in every chart of base graphics and of ggplot2. The colours differ
# for colour-blind readers too, from each other and from viridis; the shapes differ as well.
mark_style <- data.frame(
  mark = c("min", "1se", "es"), pch = c(21, 24, 22),
  title = c("lambda.min", "lambda.1se", "lambda.es"), col = c("#000000", "#D55E00", "#56B4E9")
)

style_of <- function(mark) mark_style[match(mark, mark_style$mark), ]

# Rows that coincide are marked by symbols inside each other, the first one largest. `at`: which
# row of the grid a mark belongs to.
draw_marks <- function(mark, x, y, at) {
  if (!length(mark)) return(invisible())
  style <- style_of(mark)
  again <- stats::ave(seq_along(at), at, FUN = seq_along) - 1
  graphics::points(x, y, pch = style$pch, bg = style$col, col = "white", lwd = 1.2,
                   cex = c(1.9, 1.05, 0.6)[again + 1])
}

mark_entries <- function(mark) {
  style <- style_of(unique(mark))
  Map(function(title, pch, col) legend_entry(title, pch, bg = col), style$title, style$pch,
      style$col, USE.NAMES = FALSE)
}

# ---- colours -------------------------------------------------------------------------------------

lambda2_colours <- function(lambda2) {
  values <- sort(unique(lambda2))
  # The last colours of the palette are too pale for lines.
  palette <- grDevices::hcl.colors(length(values) + 2, "viridis")
  palette[match(lambda2, values)]
}

# One line per lambda2; of many, six that are evenly spread.
lambda2_entries <- function(lambda2) {
  values <- sort(unique(lambda2), decreasing = TRUE)
  colours <- lambda2_colours(values)
  lapply(spread_panels(length(values), 6), function(k) {
    legend_entry(lambda_equals(values[k], 2), pch = 16, col = colours[k], lty = 1)
  })
}

# Rectangles that meet leave hairlines where a viewer smooths edges. These overlap: each reaches to
# the end of the bar, and the next one is drawn over it.
# To the right of a picture that ends at place[1] and reaches from place[2] to place[3].
colour_bar <- function(scale, place) {
  unit <- graphics::par("cin")[2] * graphics::par("cex") * graphics::xinch(1)
  left <- place[1] + 0.6 * unit
  right <- left + 0.8 * unit
  n <- length(scale$col)
  y <- seq(place[2], place[3], length.out = n + 1)
  graphics::rect(left, y[-(n + 1)], right, place[3], col = scale$col, border = NA, xpd = NA)
  graphics::rect(left, place[2], right, place[3], border = "grey40", xpd = NA)
  ticks <- plain_ticks(scale$limits)
  at <- place[2] + (ticks$at - scale$limits[1]) / diff(scale$limits) * (place[3] - place[2])
  graphics::segments(right, at, right + 0.3 * unit, at, col = "grey40", xpd = NA)
  graphics::text(right + 0.45 * unit, at, ticks$labels, adj = c(0, 0.5), cex = 0.85, xpd = NA)
}

# Lines to leave on the right for such a bar.
bar_lines <- function(limits) 1.6 + label_lines(plain_ticks(limits)$labels)

colour_number <- function(value, scale) {
  share <- (value - scale$limits[1]) / diff(scale$limits)
  pmin(length(scale$col), 1 + floor(share * length(scale$col)))
}
