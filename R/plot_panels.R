# Panels of a picture, laid out in one plot region: such a picture fills one cell of par(mfrow = )
# or layout() like any other plot. A panel is a list: `width` and `height` in mm, `origin`, the mm
# at its lower left corner, the `caption` below it, the letters in its upper `corners`, and `draw`,
# a function of two functions that turn mm into the units of the plot. These are inches.

# Draws panels and, to their right, a colour bar. `rows` fixes the number of rows; `columns` and
# `sides` are headings of columns and rows. Gives the place of each panel in inches.
draw_panels <- function(panels, bar = NULL, main = NULL, rows = NULL, columns = NULL,
                        sides = NULL, cex = 1) {
  old <- graphics::par(mar = c(0, 0, 0, 0), xpd = NA)
  on.exit(graphics::par(old), add = TRUE)
  graphics::plot.new()
  size <- graphics::par("pin")
  graphics::plot.window(c(0, size[1]), c(0, size[2]), xaxs = "i", yaxs = "i")
  line <- line_height(cex)
  lines <- c(main = if (is.null(main)) 0 else 1.6, columns = if (is.null(columns)) 0 else 1.2,
             sides = if (is.null(sides)) 0 else 1.4)
  box <- list(left = line * (0.5 + lines[["sides"]]), bottom = 0.3 * line,
              right = size[1] - 0.5 * line - bar_width(bar, cex),
              top = size[2] - line * (0.4 + lines[["main"]] + lines[["columns"]]))
  place <- place_panels(panels, box, line * caption_lines(panels), rows)
  for (k in seq_along(panels)) draw_panel(panels[[k]], place[k, ], line, cex)
  draw_bar(bar, place, cex)
  if (!is.null(main)) {
    middle <- (min(place$left) + max(place$right)) / 2
    top <- max(place$top) + line * (1 + lines[["columns"]])
    draw_text(middle, top, main, 2 * min(middle, size[1] - middle), 1.15 * cex, font = 2)
  }
  draw_headings(place, columns, sides, line, cex)
  invisible(place)
}

line_height <- function(cex) graphics::strheight("M", units = "inches", cex = cex) * 1.7

caption_lines <- function(panels) {
  if (any(vapply(panels, function(p) nzchar(p$caption), NA))) 1.3 else 0.2
}

# Text that shrinks when it would be wider than `width` inches.
draw_text <- function(x, y, labels, width, cex, ...) {
  graphics::text(x, y, labels, cex = fitted_cex(labels, width, cex), ...)
}

fitted_cex <- function(labels, width, cex) {
  cex * min(1, width / max(graphics::strwidth(labels, units = "inches", cex = cex), 1e-9))
}

# ---- layout --------------------------------------------------------------------------------------

# Into how many rows the panels go: the number that lets them be largest. A data frame with the
# left, right, bottom, top of each panel in inches; all have the same scale.
place_panels <- function(panels, box, caption, rows = NULL) {
  choices <- if (is.null(rows)) seq_along(panels) else rows
  layouts <- lapply(choices, panel_rows, panels = panels, box = box, caption = caption)
  best <- layouts[[which.max(vapply(layouts, `[[`, 0, "scale"))]]
  spread_rows(panels, best, box, caption)
}

panel_gap <- 8 # mm between panels

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

draw_panel <- function(panel, place, line, cex) {
  scale <- (place$right - place$left) / panel$width
  panel$draw(function(h) place$left + (h - panel$origin[1]) * scale,
             function(v) place$bottom + (v - panel$origin[2]) * scale)
  width <- place$right - place$left
  small <- min(cex, fitted_cex("MMMMMMMMM", width, cex))
  inset <- 0.55 * line * small / cex
  top <- place$top - inset
  graphics::text(place$left + inset, top, panel$corners[1], cex = small, col = "grey25")
  graphics::text(place$right - inset, top, panel$corners[2], cex = small, col = "grey25")
  if (nzchar(panel$caption)) {
    draw_text((place$left + place$right) / 2, place$bottom - 0.9 * line, panel$caption, width,
              0.95 * cex, adj = c(0.5, 0))
  }
}

draw_headings <- function(place, columns, sides, line, cex) {
  first <- place$row == place$row[1]
  if (!is.null(columns)) {
    middle <- (place$left + place$right)[first] / 2
    width <- (place$right - place$left)[1]
    draw_text(middle, max(place$top) + 0.3 * line, columns, width, cex, adj = c(0.5, 0))
  }
  if (!is.null(sides)) {
    middle <- tapply((place$bottom + place$top) / 2, place$row, mean)
    height <- min(place$top - place$bottom) + line
    draw_text(min(place$left) - 0.8 * line, middle, sides, height, cex, srt = 90, font = 2)
  }
}

# ---- colours -------------------------------------------------------------------------------------

# Warm above zero, cold below, darker away from zero: readable on light grey and in print.
warm_colours <- c("#FED976", "#FD8D3C", "#E31A1C", "#800026")
cold_colours <- c("#9ECAE1", "#4292C6", "#08519C", "#08306B")

# Colours of values for limits -limit to limit; zero and NA are transparent.
map_colours <- function(values, limit) {
  ramp <- c(rev(grDevices::colorRampPalette(cold_colours)(50)),
            grDevices::colorRampPalette(warm_colours)(50))
  step <- 1 + floor((values / limit + 1) / 2 * 100)
  colours <- ramp[pmin(pmax(step, 1), 100)]
  colours[is.na(values) | values == 0] <- NA
  colours
}

# Light greys for the anatomy, white where there is none.
grey_colours <- function(values, range) {
  share <- pmin(pmax((values - range[1]) / max(range[2] - range[1], 1e-12), 0), 1)
  colours <- rep(NA_character_, length(values))
  colours[!is.na(values)] <- grDevices::grey(1 - 0.55 * share[!is.na(values)])
  colours
}

# ---- the colour bar ------------------------------------------------------------------------------

# A bar from limits[1] to limits[2]; `colours` is a function of the values.
new_bar <- function(limits, colours, title) {
  ticks <- pretty(limits, 4)
  slack <- 1e-9 * diff(limits)
  ticks <- ticks[ticks >= limits[1] - slack & ticks <= limits[2] + slack]
  list(limits = limits, colours = colours, title = title, ticks = ticks,
       labels = format(ticks, trim = TRUE, digits = 3))
}

bar_width <- function(bar, cex) {
  if (is.null(bar)) return(0)
  if (!is.null(bar$key)) {
    return(max(graphics::strwidth(names(bar$key), units = "inches", cex = 0.85 * cex)) +
             1.8 * line_height(cex))
  }
  label <- max(graphics::strwidth(bar$labels, units = "inches", cex = 0.85 * cex))
  title <- graphics::strwidth(bar$title, units = "inches", cex = 0.85 * cex)
  line <- line_height(cex)
  max(1.1 * line + label + 0.3 * line, title) + 0.6 * line
}

# To the right of the panels, as high as they are but for the title.
draw_bar <- function(bar, place, cex) {
  if (is.null(bar)) return(invisible())
  if (!is.null(bar$key)) return(draw_key(bar$key, place, cex))
  line <- line_height(cex)
  left <- max(place$right) + 0.6 * line
  bottom <- min(place$bottom)
  top <- max(place$top) - 1.2 * line
  middle <- (bottom + top) / 2
  half <- min(top - bottom, 14 * line) / 2
  height <- middle + half * c(-1, 1)
  values <- seq(bar$limits[1], bar$limits[2], length.out = 102)
  values <- (values[-1] + values[-102]) / 2
  graphics::rasterImage(grDevices::as.raster(matrix(rev(bar$colours(values)))), left, height[1],
                        left + 0.6 * line, height[2], interpolate = FALSE)
  graphics::rect(left, height[1], left + 0.6 * line, height[2], border = "grey40", lwd = 0.6)
  at <- height[1] + (bar$ticks - bar$limits[1]) / diff(bar$limits) * diff(height)
  graphics::segments(left + 0.6 * line, at, left + 0.8 * line, at, col = "grey40", lwd = 0.6)
  keep <- every_tick(diff(height), length(at), line)
  graphics::text(left + 0.95 * line, at[keep], bar$labels[keep], adj = c(0, 0.5), cex = 0.85 * cex)
  graphics::text(left, height[2] + 0.7 * line, bar$title, adj = c(0, 0.5), cex = 0.85 * cex)
}

# Squares with names, one below the other.
draw_key <- function(key, place, cex) {
  line <- line_height(cex)
  left <- max(place$right) + 0.6 * line
  middle <- (min(place$bottom) + max(place$top)) / 2
  at <- middle + 1.3 * line * (rev(seq_along(key)) - (length(key) + 1) / 2)
  graphics::rect(left, at - 0.3 * line, left + 0.6 * line, at + 0.3 * line, col = key, border = NA)
  graphics::text(left + 0.9 * line, at, names(key), adj = c(0, 0.5), cex = 0.85 * cex)
}

# All labels when they have room, else the first, the middle and the last, else none but the ends.
every_tick <- function(height, count, line) {
  if (height >= count * line * 0.9 || count < 3) return(seq_len(count))
  if (count %% 2 == 1 && height >= 2.7 * line) return(c(1, (count + 1) / 2, count))
  c(1, count)
}
