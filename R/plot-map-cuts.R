# Cuts through the layers of a map: which ones, and the panel that each becomes.

plane_axes <- list(
  axial = c(across = 1, up = 2, through = 3), coronal = c(across = 1, up = 3, through = 2),
  sagittal = c(across = 2, up = 3, through = 1)
)

# The panels of a picture of cuts. `look` is a list: paint, alpha, radiological, outline, theme.
cut_panels <- function(layers, type, cuts, look) {
  where <- cut_positions(type, cuts)
  cross <- if (type == "ortho") cuts
  panels <- Map(function(plane, at) cut_panel(layers, plane, at, look, cross),
                where$plane, where$at, USE.NAMES = FALSE)
  warn_outside(panels, layers)
  panels
}

# The plane and the mm of each cut; `cuts` are x, y, z for "ortho".
cut_positions <- function(type, cuts) {
  plane <- switch(type, ortho = c("coronal", "sagittal", "axial"), mosaic = "axial",
                  slice = "axial", type)
  at <- if (type == "ortho") cuts[c(2, 1, 3)] else cuts
  list(plane = rep_len(plane, length(at)), at = unname(at))
}

# One cut: what is drawn, where, and how.
cut_panel <- function(layers, plane, at, look, cross = NULL) {
  axes <- plane_axes[[plane]]
  mirror <- if (look$radiological && plane != "sagittal") -1 else 1
  across <- sort(mirror * layers$bounds[, axes["across"]])
  up <- layers$bounds[, axes["up"]]
  slices <- lapply(layers[c("under", "over", "inside")], cut_layer, axes, at, mirror)
  under <- without_air(slices$under, layers$under$air, layers$range)
  over <- slices$over
  if (!is.null(cross)) cross <- c(mirror * cross[axes["across"]], cross[axes["up"]])
  list(
    plane = plane, at = at, width = diff(across), height = diff(unname(up)),
    origin = unname(c(across[1], up[1])), caption = cut_caption(plane, at, layers$oriented),
    short = cut_caption(plane, at, FALSE, ""),
    corners = if (layers$oriented) cut_corners(plane, mirror) else c("", ""),
    under = under, over = over, note = if (is_blank(under, over)) "outside the image",
    draw = function(h, v) {
      clip_panel(h(across), v(up))
      draw_layer(under, h, v, fade_edge(grey_colours(under$values, layers$range), under$opacity))
      draw_layer(over, h, v, see_through(look$paint(over$values), look$alpha))
      if (look$outline) draw_mask_border(slices$inside, h, v)
      if (!is.null(cross)) draw_cross(cross, h, v, across, up)
      unclip_panel()
    }
  )
}

clip_panel <- function(h, v) graphics::clip(h[1], h[2], v[1], v[2])

unclip_panel <- function() do.call(graphics::clip, as.list(graphics::par("usr")))

# The slice of a layer nearest to `at`: values, the mm of rows and columns, and half a voxel. NULL
# when the layer does not reach that far.
cut_layer <- function(layer, axes, at, mirror) {
  through <- layer$mm[[axes["through"]]]
  half <- half_step(layer)
  k <- which.min(abs(through - at))
  values <- if (abs(through[k] - at) > half[axes["through"]] + 1e-6) NULL else {
    index <- list(TRUE, TRUE, TRUE)
    index[[axes["through"]]] <- k
    slice <- do.call(`[`, c(list(layer$volume), index, drop = FALSE))
    matrix(slice, dim(layer$volume)[axes["across"]])
  }
  across <- layer$mm[[axes["across"]]]
  if (mirror < 0) {
    across <- -rev(across)
    if (!is.null(values)) values <- values[rev(seq_len(nrow(values))), , drop = FALSE]
  }
  list(values = values, across = across, up = layer$mm[[axes["up"]]],
       half = unname(half[axes[c("across", "up")]]))
}

# The air around the head in a slice of a template is not drawn, and the last mm before it fade.
without_air <- function(slice, air, range) {
  if (air == -Inf || is.null(slice$values)) return(slice)
  slice$opacity <- head_opacity(slice$values, air, dark = range[1] + 0.3 * diff(range),
                                width = ceiling(2 / min(slice$half)))
  slice$values[slice$opacity == 0] <- NA
  slice
}

is_blank <- function(under, over) all(is.na(under$values)) && all(over$values == 0)

# Says once which cuts show nothing, and where the image is.
warn_outside <- function(panels, layers) {
  blank <- Filter(function(panel) !is.null(panel$note), panels)
  # An image without anatomy may have empty slices inside, too.
  beyond <- function(panel) {
    reach <- layers$reach[, plane_axes[[panel$plane]][["through"]]]
    panel$at < reach[1] || panel$at > reach[2]
  }
  blank <- Filter(beyond, blank)
  if (!length(blank)) return(invisible())
  where <- vapply(blank, function(panel) cut_caption(panel$plane, panel$at, FALSE), "")
  reach <- layers$reach[, plane_axes[[blank[[1]]$plane]][["through"]]]
  warning("`cuts` must go through the image, but ", paste(where, collapse = ", "),
          if (length(blank) > 1) " are" else " is", " outside: the mask reaches from ",
          substr(where[1], 1, 4), mm_text(reach[1] + 2), " to ", mm_text(reach[2] - 2), " mm.",
          call. = FALSE)
}

# ---- drawing -------------------------------------------------------------------------------------

draw_layer <- function(slice, h, v, colours) {
  if (is.null(slice$values) || all(is.na(colours))) return(invisible())
  picture <- layer_picture(slice, colours)
  across <- h(picture$across)
  up <- v(picture$up)
  graphics::rasterImage(picture$raster, across[1], up[1], across[2], up[2], interpolate = FALSE)
}

# The pixels, first row on top, and the mm of the picture's left and right, bottom and top ends.
layer_picture <- function(slice, colours) {
  colours <- matrix(colours, nrow(slice$values))
  list(raster = grDevices::as.raster(t(colours)[rev(seq_len(ncol(colours))), , drop = FALSE]),
       across = range(slice$across) + slice$half[1] * c(-1, 1),
       up = range(slice$up) + slice$half[2] * c(-1, 1))
}

see_through <- function(colours, alpha) {
  drawn <- !is.na(colours)
  if (any(drawn)) colours[drawn] <- grDevices::adjustcolor(colours[drawn], alpha)
  colours
}

fade_edge <- function(colours, opacity) {
  if (is.null(opacity)) return(colours)
  edge <- which(opacity < 1 & opacity > 0)
  replace(colours, edge, see_through(colours[edge], 0.5))
}

draw_mask_border <- function(slice, h, v) {
  if (is.null(slice$values)) return(invisible())
  side <- border_sides(slice)
  graphics::segments(h(side[, 1]), v(side[, 2]), h(side[, 3]), v(side[, 4]), col = "#D6402B",
                     lwd = 0.8)
}

# The sides between voxels inside the mask and voxels outside of it: mm of both ends of each.
border_sides <- function(slice) {
  padded <- matrix(0, nrow(slice$values) + 2, ncol(slice$values) + 2)
  padded[1 + seq_len(nrow(slice$values)), 1 + seq_len(ncol(slice$values))] <- slice$values
  across <- c(slice$across - slice$half[1], max(slice$across) + slice$half[1])
  up <- c(slice$up - slice$half[2], max(slice$up) + slice$half[2])
  upright <- which(padded[-1, ] != padded[-nrow(padded), ], arr.ind = TRUE)
  level <- which(padded[, -1] != padded[, -ncol(padded)], arr.ind = TRUE)
  rbind(cbind(across[upright[, 1]], up[upright[, 2] - 1], across[upright[, 1]], up[upright[, 2]]),
        cbind(across[level[, 1] - 1], up[level[, 2]], across[level[, 1]], up[level[, 2]]))
}

# Thin lines where the other two cuts go, open around the point itself. Green, as in most viewers:
# a grey line would be lost in the anatomy.
draw_cross <- function(cross, h, v, across, up) {
  open <- 9 * c(-1, 1)
  line <- function(...) graphics::segments(..., col = "#33A02CB3", lwd = 0.6)
  line(h(cross[1] + open), v(cross[2]), h(across), v(cross[2]))
  line(h(cross[1]), v(cross[2] + open), h(cross[1]), v(up))
}

cut_caption <- function(plane, at, side = TRUE, unit = " mm") {
  axis <- c(axial = "z", coronal = "y", sagittal = "x")[[plane]]
  side <- if (!side || plane != "sagittal" || at == 0) "" else if (at < 0) "L, " else "R, "
  paste0(side, axis, " = ", mm_text(at), unit)
}

mm_text <- function(at) format(round(at, 1), trim = TRUE)

cut_corners <- function(plane, mirror) {
  if (plane == "sagittal") c("P", "A") else if (mirror < 0) c("R", "L") else c("L", "R")
}

# ---- where to cut --------------------------------------------------------------------------------

# Numbers in mm. Regions come largest first; without any the cut goes through the middle.
choose_cuts <- function(layers, type, ncuts) {
  centres <- region_voxels(layers$over)
  middle <- colMeans(layers$reach)
  if (type == "ortho") return(if (nrow(centres)) centres[1, ] else nearest_mm(layers$over, middle))
  if (type == "mosaic") return(mosaic_cuts(layers, ncuts))
  ncuts <- ncuts %or% 5L
  through <- plane_axes[[type]][["through"]]
  mm <- layers$over$mm[[through]]
  inside <- which(apply(layers$inside$volume > 0, through, any))
  if (length(inside) <= ncuts) return(mm[inside])
  if (!nrow(centres)) return(mm[inside[round(seq(1, length(inside), length.out = ncuts))]])
  # One region after the other, then the slices with most in them.
  weight <- apply(abs(layers$over$volume), through, sum)
  wanted <- unique(c(match(centres[, through], mm), order(weight, decreasing = TRUE)))
  wanted <- wanted[weight[wanted] > 0]
  sort(mm[utils::head(wanted, ncuts)])
}

# Axial cuts a constant number of slices apart, through those that hold a fair part of the mask: the
# first and the last slice of a brain are nearly empty.
mosaic_cuts <- function(layers, ncuts) {
  size <- apply(layers$inside$volume > 0, 3, sum)
  fair <- range(which(size >= 0.1 * max(size)))
  most <- diff(fair) + 1
  if (is.null(ncuts)) ncuts <- mosaic_count(layers$bounds, most)
  if (ncuts >= most) return(layers$over$mm$z[fair[1]:fair[2]])
  weight <- apply(abs(layers$over$volume), 3, sum)
  layers$over$mm$z[even_slices(ncuts, fair, range(which(size > 0)), weight)]
}

# `ncuts` slices a constant step apart. They span `fair` as well as they can and stay in `all`, both
# ranges of slices. Of the possible first slices, the one whose cuts show most of the map; if there
# are ties, the one whose cuts are most central.
even_slices <- function(ncuts, fair, all, weight) {
  step <- mosaic_step(ncuts, fair, all)
  reach <- step * (ncuts - 1)
  first <- all[1]:(all[2] - reach)
  slices <- outer(first, step * (seq_len(ncuts) - 1), "+")
  shown <- round(rowSums(matrix(weight[slices], nrow(slices))) / max(weight, 1e-300), 9)
  slices[order(-shown, abs(first + reach / 2 - mean(fair)))[1], ]
}

mosaic_step <- function(ncuts, fair, all) {
  if (ncuts == 1) return(1)
  step <- round(diff(fair) / (ncuts - 1))
  max(1, min(step, floor(diff(all) / (ncuts - 1))))
}

# How many cuts fill the page best, at most 24, in full rows and with readable panels. Cuts a whole
# number of slices apart must be able to span most of the `most` slices.
mosaic_count <- function(bounds, most) {
  if (most <= 6) return(most)
  size <- graphics::par("fin") - c(0.9, 0.4)
  mm <- bounds["high", 1:2] - bounds["low", 1:2] + panel_gap
  choices <- expand.grid(across = 1:12, down = 1:8)
  count <- choices$across * choices$down
  spanned <- 1 + floor((most - 1) / pmax(1, count - 1)) * (count - 1)
  choices <- choices[count <= min(24, most) & count >= 4 & spanned >= 0.85 * most, ]
  count <- choices$across * choices$down
  scale <- pmin(size[1] / choices$across / mm[1], (size[2] / choices$down - 0.15) / mm[2])
  readable <- scale * mm[1] >= 1.3 * least_panel
  if (!any(readable)) return(count[which.max(scale)])
  # At least 12 cuts where they can be read; of these, the number with the largest panels.
  count[which.max(ifelse(readable & count >= min(12, max(count[readable])), scale, 0))]
}

nearest_mm <- function(layer, at) {
  vapply(1:3, function(k) layer$mm[[k]][which.min(abs(layer$mm[[k]] - at[k]))], 0)
}

# The mm of one voxel in each connected region of the map, the one nearest to the region's middle:
# a cut through it meets the region. Largest sum of absolute values first.
region_voxels <- function(layer) {
  on <- layer$volume != 0
  if (!any(on)) return(matrix(0, 0, 3))
  graph <- graph_mask(on)
  label <- connected_components(graph)
  # Ties are broken by position, never by the order in which a region was found.
  mm <- vapply(1:3, function(k) layer$mm[[k]][arrayInd(which(on), dim(on))[, k]], numeric(graph$n))
  mm <- matrix(mm, ncol = 3)
  weight <- abs(layer$volume[on])
  centres <- t(vapply(split(seq_len(graph$n), label), function(nodes) {
    middle <- colSums(mm[nodes, , drop = FALSE] * weight[nodes]) / sum(weight[nodes])
    away <- colSums((t(mm[nodes, , drop = FALSE]) - middle)^2)
    mm[nodes[which.min(round(away, 6))], ]
  }, numeric(3)))
  size <- round(as.vector(rowsum(weight, label)), 12)
  centres[order(-size, centres[, 1], centres[, 2], centres[, 3]), , drop = FALSE]
}
