# Legends, marks of the chosen rows, colours and colour bars of all charts, see plot-chart.R.

# ---- legends -------------------------------------------------------------------------------------

# A symbol, a piece of a line or nothing, and words or plotmath.
legend_entry <- function(label, pch = NA, bg = NA, col = "black", lty = NA, lwd = 1.4) {
  list(label = label, pch = pch, bg = bg, col = col, lty = lty, lwd = lwd)
}

legend_cex <- 0.85

symbol_lines <- function(entry) if (!is.na(entry$lty)) 1.9 else if (!is.na(entry$pch)) 1.1 else 0

entry_widths <- function(entries, line) {
  vapply(entries, function(entry) {
    text_inches(entry$label, legend_cex) + symbol_lines(entry) * line
  }, 0)
}

# A size of letters at which every entry fits into the width.
legend_letters <- function(entries, width, line) {
  min(vapply(entries, function(entry) {
    shrunk_cex(entry$label, max(width - symbol_lines(entry) * line, 0), legend_cex)
  }, 0))
}

# Entries side by side, in as many rows as the width needs. Places are relative to the upper left
# corner, y downwards. An entry that is wider than `width` gets smaller letters.
wrap_legend <- function(entries, width, line) {
  if (!length(entries)) return(list(height = 0))
  widths <- entry_widths(entries, line)
  cex <- legend_letters(entries, width, line)
  widths <- pmin(widths, width)
  x <- row <- numeric(length(entries))
  at <- 0
  for (k in seq_along(entries)) {
    new_row <- k > 1 && at + widths[k] > width + 1e-6
    row[k] <- if (k == 1) 0 else row[k - 1] + new_row
    if (new_row) at <- 0
    x[k] <- at
    at <- at + widths[k] + 0.9 * line
  }
  # In the middle of the width.
  ends <- tapply(x + widths, row, max)
  x <- x + (width - max(ends)) / 2
  list(entries = entries, x = x, y = (row + 0.5) * 1.15 * line, width = widths, cex = cex,
       height = (max(row) + 1) * 1.15 * line + 0.3 * line)
}

# Entries below each other; NULL if they do not fit.
list_legend <- function(entries, width, height, line) {
  if (!length(entries)) return(NULL)
  widths <- entry_widths(entries, line)
  rows <- seq_along(entries)
  cex <- legend_letters(entries, width, line)
  if (cex < 0.75 * legend_cex || length(rows) * 1.3 * line > height) return(NULL)
  list(entries = entries, x = rep(max(0, (width - max(widths)) / 2), length(rows)),
       y = (rows - 0.5) * 1.3 * line,
       width = pmin(widths, width), cex = cex, height = length(rows) * 1.3 * line)
}

draw_legend <- function(layout) {
  legend <- layout$legend
  size <- layout$size
  across <- function(x) graphics::grconvertX(x / size[1], "nfc", "user")
  up <- function(y) graphics::grconvertY(y / size[2], "nfc", "user")
  for (k in seq_along(legend$entries)) {
    entry <- legend$entries[[k]]
    room <- symbol_lines(entry) * layout$line
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

# How the chosen rows are marked, in every chart of base graphics and of ggplot2. Colour-blind
# readers can tell the colours from each other and from viridis; the shapes differ as well.
mark_style <- data.frame(
  mark = c("min", "1se", "es", "stable"), pch = c(21, 24, 22, 23),
  title = c("lambda.min", "lambda.1se", "lambda.es", "lambda.stable"),
  col = c("#000000", "#D55E00", "#56B4E9", "#A500E1")
)

style_of <- function(mark) mark_style[match(mark, mark_style$mark), ]

# `at`: which row of the grid a mark belongs to.
draw_marks <- function(mark, x, y, at) {
  if (!length(mark)) return(invisible())
  style <- style_of(mark)
  graphics::points(x, y, pch = style$pch, bg = style$col, col = "white", cex = mark_sizes(at),
                   lwd = 1.2, xpd = TRUE)
}

# Rows that coincide are marked by symbols inside each other, the first one largest.
mark_sizes <- function(at) {
  number <- stats::ave(seq_along(at), at, FUN = seq_along)
  count <- stats::ave(seq_along(at), at, FUN = length)
  # Four leave less room between them.
  size <- ifelse(count < 4, c(2.6, 1, 0.5)[number], c(2.8, 1.7, 1, 0.5)[number])
  ifelse(count == 1, 1.9, size)
}

mark_entries <- function(mark, short = FALSE) {
  style <- style_of(unique(mark))
  Map(function(title, pch, col) legend_entry(title, pch, bg = col),
      if (short) style$mark else style$title, style$pch, style$col, USE.NAMES = FALSE)
}

# ---- colours -------------------------------------------------------------------------------------

lambda2_colours <- function(lambda2) {
  values <- sort(unique(lambda2))
  # The last colours of the palette are too pale for lines.
  palette <- grDevices::hcl.colors(length(values) + 2, "viridis")
  palette[match(lambda2, values)]
}

# One line per lambda2; of many, `most` that are evenly spread, and dots for the others.
lambda2_entries <- function(lambda2, most = 6) {
  values <- sort(unique(lambda2), decreasing = TRUE)
  colours <- lambda2_colours(values)
  count <- length(values)
  entries <- lapply(unique(round(seq(1, count, length.out = min(most, count)))), function(k) {
    legend_entry(lambda_equals(values[k], 2), pch = 16, col = colours[k], lty = 1)
  })
  if (count <= most) entries else append(entries, list(legend_entry("...")), 1)
}

# To the right of a picture that ends at edges[1] and reaches from edges[2] to edges[3]. Rectangles
# that only meet leave hairlines where a viewer smooths edges. These overlap: each reaches to the
# end of the bar, and the next one is drawn over it. Gives the middle of the bar.
colour_bar <- function(scale, edges) {
  unit <- graphics::par("cin")[2] * graphics::par("cex") * graphics::xinch(1)
  left <- edges[1] + 0.6 * unit
  right <- left + 0.8 * unit
  n <- length(scale$col)
  y <- seq(edges[2], edges[3], length.out = n + 1)
  graphics::rect(left, y[-(n + 1)], right, edges[3], col = scale$col, border = NA, xpd = NA)
  graphics::rect(left, edges[2], right, edges[3], border = "grey40", xpd = NA)
  ticks <- plain_ticks(scale$limits)
  at <- edges[2] + (ticks$at - scale$limits[1]) / diff(scale$limits) * (edges[3] - edges[2])
  graphics::segments(right, at, right + 0.3 * unit, at, col = "grey40", xpd = NA)
  graphics::text(right + 0.45 * unit, at, ticks$labels, adj = c(0, 0.5), cex = 0.85, xpd = NA)
  invisible((left + right) / 2)
}

# Lines to leave on the right for such a bar.
bar_lines <- function(limits) 1.6 + label_lines(plain_ticks(limits)$labels)

colour_number <- function(value, scale) {
  share <- (value - scale$limits[1]) / diff(scale$limits)
  pmin(length(scale$col), 1 + floor(share * length(scale$col)))
}
