# Which colour a value has, and the bar or key that says so. A scale is a list: `paint`, a function
# from values to colours (NA where nothing is drawn), and `bar`, what stands beside the panels.

# Warm above zero, cold below, darker away from zero: readable on grey anatomy, on white and in
# print.
warm_colours <- c("#FED976", "#FD8D3C", "#E31A1C", "#800026")
cold_colours <- c("#9ECAE1", "#4292C6", "#08519C", "#08306B")

# For pictures that show signs only. These three are distinct for all common kinds of colour vision,
# from each other and from the greys of the anatomy: see test-plot-map-colours.R.
sign_colours <- c(positive = "#DBA300", negative = "#008BCF", common = "#9C2800")

# Paper and ink of a picture.
themes <- list(
  white = list(paper = "white", text = "grey10", soft = "grey40", note = "#B2182B",
               glass = 0.45, plain = "#D9D9D9"),
  black = list(paper = "black", text = "grey95", soft = "grey70", note = "#FF9E80",
               glass = 0.8, plain = "#BFBFBF")
)

# ---- scales --------------------------------------------------------------------------------------

picture_scale <- function(map, zlim = NULL, palette = NULL, labels = NULL, label = NULL) {
  if (!is.null(map$codes)) return(label_scale(map, palette, labels))
  limits <- if (is.null(zlim)) map_limits(map) else check_zlim(zlim)
  mean <- map$name == "mean" && !mean_is_anatomy(map)
  ramp <- if (!is.null(palette)) palette_ramp(palette) else map_ramp(limits, mean)
  paint <- function(values) value_colours(values, limits, ramp, hide = if (!mean) 0)
  list(paint = paint, limits = limits, bar = value_bar(map, limits, paint, label %or% map$name))
}

# From zero for values of one sign, two-sided for both, 0 to 1 for probabilities.
map_limits <- function(map) {
  if (map$name == "probability") return(c(0, 1))
  if (map$name == "mean") return(contrast_range(map$values))
  largest <- max(abs(map$values))
  if (largest == 0) return(c(0, 1))
  largest * c(if (any(map$values < 0)) -1 else 0, if (any(map$values > 0)) 1 else 0)
}

map_ramp <- function(limits, mean) {
  if (mean) return(palette_ramp(grDevices::hcl.colors(64, "viridis")))
  cold <- palette_ramp(cold_colours, 50)
  warm <- palette_ramp(warm_colours, 50)
  if (limits[1] >= 0) warm else if (limits[2] <= 0) rev(cold) else c(rev(cold), warm)
}

palette_ramp <- function(colours, n = 100) grDevices::colorRampPalette(colours)(n)

# The ramp reaches from limit to limit, and is symmetric about zero when zero lies between them.
# Values beyond a limit have its colour; the sign that the limits leave out is not drawn.
value_colours <- function(values, limits, ramp, hide = 0) {
  two_sided <- limits[1] < 0 && limits[2] > 0
  ends <- if (two_sided) max(abs(limits)) * c(-1, 1) else limits
  inside <- pmin(pmax(values, limits[1]), limits[2])
  step <- 1 + floor((inside - ends[1]) / (ends[2] - ends[1]) * length(ramp))
  colours <- ramp[pmin(pmax(step, 1), length(ramp))]
  if (!is.null(hide)) {
    left_out <- (limits[1] >= 0 & values < 0) | (limits[2] <= 0 & values > 0)
    colours[which(values == hide | left_out)] <- NA
  }
  replace(colours, is.na(values), NA)
}

# Greys as a viewer shows them: bright where values are high. Neither quite black nor quite white,
# so that tissue is distinct from the paper.
grey_colours <- function(values, range) {
  share <- pmin(pmax((values - range[1]) / (range[2] - range[1]), 0), 1)
  colours <- rep(NA_character_, length(values))
  colours[!is.na(values)] <- grDevices::grey(0.06 + 0.87 * share[!is.na(values)])
  colours
}

# How opaque the map is: anatomy must show through a map that covers much of the brain.
map_alpha <- function(alpha, map) {
  if (!is.null(alpha)) return(check_alpha(alpha))
  if (!is.null(map$codes)) return(0.7)
  if (mean(map$values != 0) > 0.25) 0.55 else 0.85
}

# ---- labels --------------------------------------------------------------------------------------

# One colour per number.
label_scale <- function(map, palette, labels) {
  codes <- map$codes
  names <- if (isTRUE(labels)) as.character(codes) else atlas_names(codes, labels)
  if (!is.null(labels) && !isTRUE(labels)) {
    warn_other_labels(check_labels(labels, codes), codes, "the image")
  }
  colours <- rep_len(if (is.null(palette)) label_colours(length(codes)) else palette, length(codes))
  key_scale(codes, stats::setNames(colours, names), own = !is.null(palette))
}

key_scale <- function(codes, key, own) {
  colours <- unname(key)
  list(paint = function(values) colours[match(values, codes)],
       bar = list(key = key, codes = codes, own = own))
}

# Without black, grey and near-white, which look like anatomy.
label_colours <- function(n) {
  if (n <= 7) return(unname(grDevices::palette.colors(8, "Okabe-Ito"))[c(2, 3, 4, 7, 6, 8, 5)])
  unname(grDevices::palette.colors(36, "Polychrome 36"))[-(1:2)]
}

# The scale with a key of the labels that the picture shows, most voxels first. If there are more
# labels than colours, the colours go to those that are shown. Colours that the user gave stay.
shown_labels <- function(scale, map, stage = NULL) {
  shown <- place_of(map$space)$shown_numbers(map, stage)
  codes <- scale$bar$codes
  count <- tabulate(match(shown$values, codes), length(codes))
  first <- order(-count)[seq_len(sum(count > 0))]
  if (!length(first)) return(list(paint = scale$paint))
  key <- scale$bar$key[first]
  colours <- label_colours(length(first))
  if (!scale$bar$own && length(codes) > length(label_colours(length(codes)))) {
    key[] <- spread_colours(codes[first], colours, shown$pairs)
    if (length(first) > length(colours)) {
      message("The picture shows ", length(first), " labels in ", length(colours), " colours: ",
              "several labels share a colour, but no two that touch do.")
    }
  }
  key_scale(codes[first], key, scale$bar$own)
}

# A colour for each code: the one that fewest others have among those that no neighbour has. Without
# a neighbour's colour to avoid, the colours are taken in turn.
spread_colours <- function(codes, colours, pairs) {
  pairs <- unique(rbind(pairs, pairs[, 2:1]))
  colour <- rep(NA_integer_, length(codes))
  for (k in seq_along(codes)) {
    beside <- colour[match(pairs[pairs[, 1] == codes[k], 2], codes)]
    used <- tabulate(colour, length(colours))
    colour[k] <- which.min(used + length(codes) * (seq_along(colours) %in% beside))
  }
  colours[colour]
}

# The numbers of a label image; with `labels`, any image of whole numbers is one.
label_codes <- function(map, labels) {
  if (is.null(labels) && !isTRUE(map$is_label)) return(NULL)
  bad <- which(map$values < 0 | map$values != round(map$values))
  if (length(bad)) {
    stop_bad("`object` must hold nonnegative whole numbers to be drawn with `labels`, but it has ",
             number_text(map$values[bad[1]]), ".")
  }
  setdiff(sort(unique(map$values)), 0)
}

# ---- the colour bar ------------------------------------------------------------------------------

# An empty map has no bar. The part below the threshold is grey, as it is not drawn.
value_bar <- function(map, limits, paint, title) {
  if (map$name != "mean" && all(map$values == 0)) return(NULL)
  hidden <- function(values) abs(values) < map$threshold
  new_bar(limits, function(values) ifelse(hidden(values), "grey85", paint(values)), title,
          if (map$threshold > 0) map$threshold * c(-1, 1))
}

# A bar from limits[1] to limits[2]; `colours` is a function of the values. `marks` get ticks
# too, if there is room for them beside zero.
new_bar <- function(limits, colours, title, marks = NULL) {
  slack <- 1e-9 * diff(limits)
  inside <- function(at) at[at >= limits[1] - slack & at <= limits[2] + slack]
  ticks <- inside(pretty(limits, 4))
  near <- function(at, other) abs(at - other) < 0.12 * diff(limits)
  marks <- Filter(function(mark) !near(mark, 0), inside(marks))
  # A tick beside a mark would cover its label.
  for (mark in marks) ticks <- sort(c(ticks[!near(ticks, mark)], mark))
  list(limits = limits, colours = colours, title = title, ticks = ticks,
       labels = vapply(ticks, format, "", trim = TRUE, digits = 3))
}

bar_width <- function(bar, cex) {
  if (is.null(bar)) return(0)
  line <- line_height(cex)
  inches <- function(text) max(graphics::strwidth(text, units = "inches", cex = 0.85 * cex))
  if (!is.null(bar$key)) return(inches(names(fitting_key(bar$key, cex))) + 1.8 * line)
  max(1.4 * line + inches(bar$labels), inches(bar$title)) + 0.6 * line
}

# To the right of the panels, as high as they are, less the height of the title.
draw_bar <- function(bar, layout, cex, theme) {
  if (is.null(bar)) return(invisible())
  if (!is.null(bar$key)) return(draw_key(bar$key, layout, cex, theme))
  line <- line_height(cex)
  left <- max(layout$right) + 0.6 * line
  right <- left + 0.6 * line
  middle <- (min(layout$bottom) + max(layout$top) - 1.2 * line) / 2
  half <- min(max(layout$top) - 1.2 * line - min(layout$bottom), 14 * line) / 2
  height <- middle + half * c(-1, 1)
  values <- seq(bar$limits[1], bar$limits[2], length.out = 202)
  values <- (values[-1] + values[-202]) / 2
  graphics::rasterImage(grDevices::as.raster(matrix(rev(bar$colours(values)))), left, height[1],
                        right, height[2], interpolate = FALSE)
  graphics::rect(left, height[1], right, height[2], border = theme$soft, lwd = 0.6)
  at <- height[1] + (bar$ticks - bar$limits[1]) / diff(bar$limits) * diff(height)
  graphics::segments(right, at, right + 0.2 * line, at, col = theme$soft, lwd = 0.6)
  keep <- every_tick(diff(height), length(at), line)
  graphics::text(right + 0.35 * line, at[keep], bar$labels[keep], adj = c(0, 0.5),
                 cex = 0.85 * cex, col = theme$text)
  graphics::text(left, height[2] + 0.7 * line, bar$title, adj = c(0, 0.5), cex = 0.85 * cex,
                 col = theme$text)
}

# As many names as the page has room for; then how many are left out, and whether colours repeat.
fitting_key <- function(key, cex) {
  room <- max(2, floor(graphics::par("pin")[2] / (1.15 * line_height(cex))))
  note <- if (anyDuplicated(key)) "colours repeat"
  kept <- length(key)
  if (kept + length(note) > room) {
    kept <- max(1, room - 1 - length(note))
    note <- c(paste("and", length(key) - kept, "more"), note)
  }
  c(key[seq_len(kept)], stats::setNames(rep(NA, length(note)), note))
}

# Squares with names, one below the other.
draw_key <- function(key, layout, cex, theme) {
  line <- line_height(cex)
  height <- graphics::par("pin")[2]
  key <- fitting_key(key, cex)
  left <- max(layout$right) + 0.6 * line
  step <- line * if (length(key) * 1.3 * line < height) 1.3 else 1.15
  # In the middle of the panels, unless a long key would leave the page.
  half <- step * length(key) / 2
  middle <- min(max((min(layout$bottom) + max(layout$top)) / 2, half), height - half)
  at <- middle + step * (rev(seq_along(key)) - (length(key) + 1) / 2)
  graphics::rect(left, at - 0.3 * line, left + 0.6 * line, at + 0.3 * line, col = key, border = NA)
  graphics::text(left + 0.9 * line, at, names(key), adj = c(0, 0.5), cex = 0.85 * cex,
                 col = theme$text)
}

# All labels if there is room, else the first, the middle and the last, else only both ends.
every_tick <- function(height, count, line) {
  if (height >= count * line * 0.9 || count < 3) return(seq_len(count))
  if (count %% 2 == 1 && height >= 2.7 * line) return(c(1, (count + 1) / 2, count))
  c(1, count)
}

# ---- arguments -----------------------------------------------------------------------------------

check_zlim <- function(zlim) {
  zlim <- check_numbers(zlim, "zlim", 2, "end of the colour bar")
  if (zlim[1] >= zlim[2]) {
    stop_bad("`zlim` must be two increasing numbers, not ", number_text(zlim[1]), " and ",
             number_text(zlim[2]), ".")
  }
  zlim
}

check_alpha <- function(alpha) {
  if (!is_number(alpha) || alpha <= 0 || alpha > 1) {
    stop_bad("`alpha` must be a number above 0 and at most 1, not ", describe(alpha), ".")
  }
  alpha
}

# Colours, a function that makes them, or the name of a palette of grDevices::hcl.colors().
check_palette <- function(palette) {
  if (is.null(palette)) return(NULL)
  known <- function(name) tolower(name) %in% tolower(grDevices::hcl.pals())
  if (is.function(palette)) palette <- palette(100)
  else if (is.character(palette) && length(palette) == 1 && known(palette)) {
    palette <- grDevices::hcl.colors(100, palette)
  }
  valid <- is.character(palette) && length(palette) > 1 &&
    !inherits(try(grDevices::col2rgb(palette), silent = TRUE), "try-error")
  if (!valid) {
    stop_bad("`palette` must be at least two colours, a function that makes them, or a name from ",
             "hcl.pals(), not ", describe(palette), ".")
  }
  palette
}
