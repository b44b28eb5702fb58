# Panels of a picture, laid out in one plot region: such a picture fills one cell of par(mfrow = )
# or layout() like any other plot. A panel is a list: `width` and `height` in mm, `origin`, the mm
# at its lower left corner, the `caption` below it (and a `short` form of it), the letters in its
# upper `corners`, and `draw`, a function of two functions that turn mm into the units of the plot,
# which are inches. A `note` is written across a panel; `ruler` asks for a scale bar.

# Draws panels and, to their right, a colour bar. `rows` fixes the number of rows; `columns` and
# `sides` are headings of columns and rows, `note` is a line below the title. Gives the layout of
# each panel in inches.
draw_panels <- function(panels, bar = NULL, main = NULL, rows = NULL, columns = NULL,
                        sides = NULL, note = NULL, cex = 1, theme = themes$white) {
  old <- graphics::par(mar = c(0, 0, 0, 0), xpd = NA)
  on.exit(graphics::par(old), add = TRUE)
  graphics::plot.new()
  size <- graphics::par("pin")
  graphics::plot.window(c(0, size[1]), c(0, size[2]), xaxs = "i", yaxs = "i")
  if (theme$paper != "white") graphics::rect(0, 0, size[1], size[2], col = theme$paper, border = NA)
  cex <- cex * page_cex(size[1])
  line <- line_height(cex)
  main <- wrapped_title(main, 0.92 * size[1], 1.15 * cex)
  lines <- c(main = 1.5 * length(main), note = if (is.null(note)) 0 else 1.4,
             columns = if (is.null(columns)) 0 else 1.2, sides = if (is.null(sides)) 0 else 1.4)
  box <- list(left = line * (0.5 + lines[["sides"]]), bottom = 0.3 * line,
              right = size[1] - 0.5 * line - bar_width(bar, cex),
              top = size[2] - line * (0.4 + sum(lines[1:3])))
  layout <- layout_panels(panels, box, line * caption_lines(panels), rows)
  captions <- panel_captions(panels, layout, cex)
  for (k in seq_along(panels)) {
    draw_panel(panels[[k]], layout[k, ], captions$text[k], captions$cex, line, cex, theme)
  }
  draw_ruler(panels, layout, line, cex, theme)
  draw_bar(bar, layout, cex, theme)
  draw_titles(main, note, layout, size, lines, line, cex, theme)
  draw_headings(layout, columns, sides, line, cex, theme)
  invisible(layout)
}

# Letters of 12 points are too large for a picture as wide as a journal's column: 7 points there.
page_cex <- function(width) {
  points <- graphics::par("ps") * graphics::par("cex")
  min(1, max(7, 2 * width) / points)
}

line_height <- function(cex) graphics::strheight("M", units = "inches", cex = cex) * 1.7

caption_lines <- function(panels) {
  if (any(vapply(panels, function(p) nzchar(p$caption), NA))) 1.3 else 0.2
}

# Text that shrinks when it would be wider than `width` inches.
draw_text <- function(x, y, labels, width, cex, font = 1, ...) {
  graphics::text(x, y, labels, cex = shrunk_cex(labels, width, cex, font), font = font, ...)
}

# ---- titles --------------------------------------------------------------------------------------

# A list of lines; text that is too wide is broken between words. Formulas stay in one line.
wrapped_title <- function(main, width, cex) {
  if (is.null(main) || identical(main, "")) return(NULL)
  if (!is.character(main)) return(list(as.expression(main)))
  wide <- text_inches(main, cex, font = 2) / width
  if (wide <= 1) return(list(main))
  as.list(strwrap(main, max(8, floor(nchar(main) / wide))))
}

# Above the middle of the panels, moved when a long title would leave the page.
draw_titles <- function(main, note, layout, size, lines, line, cex, theme) {
  middle <- (min(layout$left) + max(layout$right)) / 2
  at <- max(layout$top) + line * (0.5 + lines[["columns"]])
  centred <- function(text, cex, font = 1, ...) {
    title <- fit_title(text, middle, 0, size[1], cex, line, font)
    graphics::text(title$middle, at, text, cex = title$cex, font = font, ...)
  }
  if (!is.null(note)) {
    at <- at + 0.3 * line
    centred(note, 0.95 * cex, col = theme$note)
    at <- at + 1.1 * line
  }
  for (text in rev(main)) {
    at <- at + 0.3 * line
    centred(text, 1.15 * cex, font = 2, col = theme$text)
    at <- at + 1.2 * line
  }
}

draw_headings <- function(layout, columns, sides, line, cex, theme) {
  first <- layout$row == layout$row[1]
  if (!is.null(columns)) {
    middle <- (layout$left + layout$right)[first] / 2
    width <- (layout$right - layout$left)[1]
    draw_text(middle, max(layout$top) + 0.3 * line, columns, width, cex, adj = c(0.5, 0),
              col = theme$text)
  }
  if (!is.null(sides)) {
    middle <- tapply((layout$bottom + layout$top) / 2, layout$row, mean)
    height <- min(layout$top - layout$bottom) + line
    draw_text(min(layout$left) - 0.8 * line, middle, sides, height, cex, srt = 90, font = 2,
              col = theme$text)
  }
}

# ---- layout --------------------------------------------------------------------------------------

# Puts the panels into the number of rows that makes them largest. Gives a data frame with the left,
# right, bottom, top of each panel in inches; all have the same scale.
layout_panels <- function(panels, box, caption, rows = NULL) {
  choices <- if (is.null(rows)) seq_along(panels) else rows
  layouts <- lapply(choices, panel_rows, panels = panels, box = box, caption = caption)
  best <- layouts[[which.max(vapply(layouts, `[[`, 0, "scale"))]]
  spread_rows(panels, best, box, caption)
}

panel_gap <- 8 # mm between panels
least_panel <- 0.4 # inches: a narrower panel cannot be read

panel_rows <- function(rows, panels, box, caption) {
  per_row <- ceiling(length(panels) / rows)
  row <- (seq_along(panels) - 1) %/% per_row + 1
  width <- vapply(panels, `[[`, 0, "width")
  height <- tapply(vapply(panels, `[[`, 0, "height"), row, max)
  across <- tapply(width, row, sum) + panel_gap * (table(row) - 1)
  room <- max(box$top - box$bottom - length(height) * caption, 0.05)
  scale <- min(max(box$right - box$left, 0.05) / max(across), room / sum(height))
  list(row = row, height = height, across = across, scale = scale)
}

spread_rows <- function(panels, rows, box, caption) {
  scale <- rows$scale
  spare <- box$top - box$bottom - sum(rows$height * scale + caption)
  below <- box$top - spare / 2 - cumsum(rows$height * scale + caption) + caption
  spare_across <- box$right - box$left - max(rows$across) * scale
  do.call(rbind, lapply(seq_along(panels), function(k) {
    row <- rows$row[k]
    before <- which(rows$row[seq_len(k - 1)] == row)
    shift <- sum(vapply(panels[before], `[[`, 0, "width") + panel_gap)
    left <- box$left + spare_across / 2 + shift * scale
    data.frame(row = row, left = left, right = left + panels[[k]]$width * scale,
               bottom = below[[row]], top = below[[row]] + panels[[k]]$height * scale)
  }))
}

# ---- one panel -----------------------------------------------------------------------------------

# Captions in one size, with room between neighbours; short ones where long ones would be tiny.
panel_captions <- function(panels, layout, cex) {
  widths <- 0.9 * (layout$right - layout$left)
  full <- vapply(panels, `[[`, "", "caption")
  short <- vapply(panels, function(panel) panel$short %or% panel$caption, "")
  fit <- function(text) min(mapply(shrunk_cex, text, widths, 0.95 * cex))
  if (fit(full) >= 0.75 * cex) return(list(text = full, cex = fit(full)))
  list(text = short, cex = fit(short))
}

draw_panel <- function(panel, layout, caption, caption_cex, line, cex, theme) {
  scale <- (layout$right - layout$left) / panel$width
  panel$draw(function(h) layout$left + (h - panel$origin[1]) * scale,
             function(v) layout$bottom + (v - panel$origin[2]) * scale)
  width <- layout$right - layout$left
  small <- shrunk_cex("MMMMMMMMM", width, cex)
  inset <- 0.55 * line * small / cex
  draw_haloed(c(layout$left + inset, layout$right - inset), layout$top - inset, panel$corners,
              small, theme)
  if (!is.null(panel$note)) {
    draw_text((layout$left + layout$right) / 2, (layout$bottom + layout$top) / 2,
              sub(" ", "\n", panel$note), 0.9 * width, 0.9 * cex, col = theme$note)
  }
  if (nzchar(caption)) {
    graphics::text((layout$left + layout$right) / 2, layout$bottom - 0.9 * line, caption,
                   cex = caption_cex, adj = c(0.5, 0), col = theme$text)
  }
}

# Letters that stay readable on tissue: with a rim of the paper's colour.
draw_haloed <- function(x, y, labels, cex, theme) {
  if (!any(nzchar(labels))) return(invisible())
  rim <- 0.06 * line_height(cex)
  for (turn in seq(0, 2 * pi, length.out = 9)[-1]) {
    graphics::text(x + rim * cos(turn), y + rim * sin(turn), labels, cex = cex, col = theme$paper)
  }
  graphics::text(x, y, labels, cex = cex, col = theme$text)
}

# A scale bar at the lower left of the first panel that asks for one: all panels have one scale. Its
# length is a round number of mm that fits.
draw_ruler <- function(panels, layout, line, cex, theme) {
  first <- which(vapply(panels, function(panel) isTRUE(panel$ruler), NA))[1]
  if (is.na(first)) return(invisible())
  at <- layout[first, ]
  scale <- (at$right - at$left) / panels[[first]]$width
  lengths <- c(1, 2, 5, 10, 20, 50, 100, 200)
  length <- lengths[max(1, which(lengths <= 0.4 * panels[[first]]$width))]
  end <- at$left + length * scale
  graphics::segments(at$left, at$bottom + 0.1 * line, end, at$bottom + 0.1 * line,
                     col = theme$text, lwd = 1.5, lend = 1)
  draw_haloed(end + 0.3 * line + graphics::strwidth(paste(length, "mm"), cex = 0.8 * cex) / 2,
              at$bottom + 0.15 * line, paste(length, "mm"), 0.8 * cex, theme)
}
