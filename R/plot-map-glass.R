# Pictures in three dimensions with base graphics: triangles and squares are turned, sorted by their
# distance and drawn from back to front. A shape is a list: `points`, a matrix with three columns in
# mm; `size`, how many rows of it make one polygon; `colour` and `border`, one per polygon.

# Rows: to the right, up, and towards the viewer.
view_matrix <- function(view) {
  switch(view,
    left = rbind(c(0, -1, 0), c(0, 0, 1), c(-1, 0, 0)),
    right = rbind(c(0, 1, 0), c(0, 0, 1), c(1, 0, 0)),
    top = rbind(c(1, 0, 0), c(0, 1, 0), c(0, 0, 1)),
    bottom = rbind(c(-1, 0, 0), c(0, 1, 0), c(0, 0, -1)),
    back = rbind(c(1, 0, 0), c(0, 0, 1), c(0, -1, 0)),
    front = rbind(c(-1, 0, 0), c(0, 0, 1), c(0, 1, 0)),
    oblique = turned_view(c(-0.55, -0.75, 0.45)),
    "oblique front" = turned_view(c(-0.55, 0.75, 0.45))
  )
}

turned_view <- function(towards) {
  towards <- towards / sqrt(sum(towards^2))
  right <- c(-towards[2], towards[1], 0) / sqrt(sum(towards[1:2]^2))
  rbind(right, cross_product(rbind(towards), rbind(right)), towards)
}

# Row by row.
cross_product <- function(a, b) {
  cbind(a[, 2] * b[, 3] - a[, 3] * b[, 2], a[, 3] * b[, 1] - a[, 1] * b[, 3],
        a[, 1] * b[, 2] - a[, 2] * b[, 1])
}

view_names <- c("left", "right", "top", "bottom", "front", "back", "oblique")

# In radiological convention heads are seen from below and from the front.
check_views <- function(views, radiological) {
  if (is.null(views)) {
    views <- if (radiological) c("oblique", "bottom", "front") else c("oblique", "top", "back")
  } else if (!is.character(views) || !length(views) || !all(views %in% view_names)) {
    bad <- if (is.character(views) && length(views)) setdiff(views, view_names)[1] else views
    stop_bad("`views` must be some of ", quoted(view_names), ", not ", describe(bad), ".")
  }
  if (radiological) views[views == "oblique"] <- "oblique front"
  views
}

# The letters at the left and right side of the picture.
view_corners <- function(view) {
  right <- view_matrix(view)[1, ]
  if (abs(right[1]) >= abs(right[2])) {
    if (right[1] > 0) c("L", "R") else c("R", "L")
  } else {
    if (right[2] > 0) c("P", "A") else c("A", "P")
  }
}

# ---- a panel -------------------------------------------------------------------------------------

# Layers are drawn one over the other, each sorted by itself.
# `outline`: points that the picture must hold. Below them is room for the ruler.
view_panel <- function(view, outline, layers) {
  turn <- view_matrix(view)
  at <- outline %*% t(turn[1:2, ])
  low <- apply(at, 2, min) - c(2, 10)
  high <- apply(at, 2, max) + 2
  list(
    view = view, width = high[1] - low[1], height = high[2] - low[2], origin = low,
    caption = if (grepl("oblique", view)) view else paste("from", the_side(view)), short = view,
    corners = view_corners(view), ruler = TRUE,
    draw = function(h, v) for (layer in layers) draw_shape(layer(turn), turn, h, v)
  )
}

the_side <- function(view) switch(view, top = "above", bottom = "below", paste("the", view))

# Painter's algorithm: the farthest polygon first.
draw_shape <- function(shape, turn, h, v) {
  if (!length(shape$colour)) return(invisible())
  at <- shape$points %*% t(turn)
  sorted <- order(colMeans(matrix(at[, 3], shape$size)))
  across <- rbind(matrix(h(at[, 1]), shape$size)[, sorted, drop = FALSE], NA)
  up <- rbind(matrix(v(at[, 2]), shape$size)[, sorted, drop = FALSE], NA)
  border <- if (is.null(shape$border)) NA else shape$border[sorted]
  graphics::polygon(across, up, col = shape$colour[sorted], border = border, lwd = 0.5)
}

# ---- light ---------------------------------------------------------------------------------------

polygon_normals <- function(points, size) {
  first <- points[seq(1, nrow(points), size), , drop = FALSE]
  a <- points[seq(2, nrow(points), size), , drop = FALSE] - first
  b <- points[seq(3, nrow(points), size), , drop = FALSE] - first
  normal <- cross_product(a, b)
  normal / pmax(sqrt(rowSums(normal^2)), 1e-12)
}

# Light from the upper left behind the viewer, the same on both sides of a polygon. The shade is
# faint, because the darkness of a colour shows how large a value is.
shaded <- function(colours, normals, turn) {
  light <- drop(c(-0.35, 0.45, 0.82) %*% turn)
  bright <- 0.72 + 0.28 * abs(drop(normals %*% light))
  rgb <- grDevices::col2rgb(rep_len(colours, nrow(normals))) / 255
  rgb <- sweep(rgb, 2, bright, "*")
  grDevices::rgb(rgb[1, ], rgb[2, ], rgb[3, ])
}

# ---- the glass brain -----------------------------------------------------------------------------

# Panels with the brain's hull and what is not zero in the map.
glass_panels <- function(layers, views, look, hull = glass_hull(layers)) {
  parts <- lapply(c(1, -1), signed_surface, layer = layers$over, style = look$style)
  glass <- function(front) function(turn) glass_shape(hull, turn, front, look$theme$glass)
  solid <- function(turn) join_shapes(lapply(parts, solid_shape, paint = look$paint, turn = turn))
  panels <- lapply(views, view_panel, outline = rbind(hull, map_corners(layers)),
                   layers = list(glass(FALSE), solid, glass(TRUE)))
  if (!layers$oriented) panels <- lapply(panels, utils::modifyList, list(corners = c("", "")))
  panels
}

# The hull of the mask. An image that is drawn by itself has no mask: the head of the template is
# drawn for it and, without a template, nothing, because the box of the image is not a brain.
glass_hull <- function(layers) {
  if (!layers$whole) return(hull_triangles(layers$inside))
  if (layers$own) return(matrix(0, 0, 3))
  hull_triangles(list(volume = has_tissue(layers$under) + 0, mm = layers$under$mm))
}

# The corners of the map, which a picture must hold if it has no hull or lies beside it, with room
# for the letters.
map_corners <- function(layers) {
  if (!layers$whole) return(NULL)
  on <- layers$over$volume != 0
  bounds <- if (any(on)) layer_bounds(layers$over, on) else layers$bounds
  room <- if (layers$own) 0.12 * max(bounds[2, ] - bounds[1, ]) * c(-1, 1) else c(0, 0)
  as.matrix(expand.grid(as.data.frame(bounds + room)))
}

# Triangles around the mask. A fine mask is thinned first: a hull needs no detail.
hull_triangles <- function(inside) {
  by <- pmax(1, floor(dim(inside$volume) / 30))
  pick <- lapply(1:3, function(k) seq(1, dim(inside$volume)[k], by = by[k]))
  volume <- inside$volume[pick[[1]], pick[[2]], pick[[3]], drop = FALSE]
  mm <- Map(function(at, k) at[k], inside$mm, pick)
  contour_triangles(filled_volume(volume), mm, smooth = 1, level = 0.4)
}

# Closes holes: fills voxels that lie between two voxels of the mask along all three axes.
filled_volume <- function(volume) {
  between <- function(line) {
    on <- which(line > 0)
    if (length(on)) line[on[1]:on[length(on)]] <- 1
    line
  }
  along <- lapply(1:3, function(k) {
    rest <- setdiff(1:3, k)
    filled <- apply(volume, rest, between)
    aperm(filled, order(c(k, rest)))
  })
  along[[1]] * along[[2]] * along[[3]]
}

# The surface where a smoothed volume crosses `level`, three rows a triangle.
contour_triangles <- function(volume, mm, smooth, level) {
  pad <- ceiling(2 * smooth) + 1
  padded <- array(0, dim(volume) + 2 * pad)
  inner <- lapply(dim(volume), function(n) pad + seq_len(n))
  padded[inner[[1]], inner[[2]], inner[[3]]] <- volume
  padded <- smooth_volume(padded, smooth)
  mm <- lapply(mm, function(at) {
    step <- if (length(at) > 1) at[2] - at[1] else 1
    c(at[1] - rev(seq_len(pad)) * step, at, at[length(at)] + seq_len(pad) * step)
  })
  if (max(padded) <= level) return(matrix(0, 0, 3))
  # misc3d loads the toolkit Tk, which warns if there is no display.
  suppressWarnings(need_package("misc3d", "to draw a glass brain"))
  misc3d::computeContour3d(padded, maxvol = max(padded), level = level,
                           x = mm[[1]], y = mm[[2]], z = mm[[3]])
}

# Gaussian smoothing along each axis in turn.
smooth_volume <- function(volume, smooth) {
  for (k in 1:3) {
    size <- dim(volume)[1]
    kernel <- exp(-outer(seq_len(size), seq_len(size), "-")^2 / (2 * smooth^2))
    kernel <- kernel / rowSums(kernel)
    turned <- aperm(array(kernel %*% matrix(volume, size), dim(volume)), c(2, 3, 1))
    volume <- turned
  }
  volume
}

# Nearly transparent where the surface faces the viewer, denser at its rim.
glass_shape <- function(triangles, turn, front, grey) {
  if (!nrow(triangles)) return(NULL)
  normal <- polygon_normals(triangles, 3)
  centre <- (triangles[seq(1, nrow(triangles), 3), ] + triangles[seq(2, nrow(triangles), 3), ] +
               triangles[seq(3, nrow(triangles), 3), ]) / 3
  outward <- sign(rowSums(normal * sweep(centre, 2, colMeans(centre))))
  facing <- drop(normal %*% turn[3, ]) * outward
  rim <- (1 - abs(facing))^2
  alpha <- if (front) 0.02 + 0.22 * rim else 0.05 + 0.25 * rim
  keep <- (facing > 0) == front
  list(points = triangles[rep(keep, each = 3), , drop = FALSE], size = 3,
       colour = grDevices::rgb(grey, grey, grey, alpha[keep]))
}

# The outside of the voxels with that sign: squares, or smooth triangles, each with its value.
signed_surface <- function(sign, layer, style) {
  on <- sign * layer$volume > 0
  if (!any(on)) return(NULL)
  if (style == "voxels") return(c(voxel_faces(on, layer), size = 4))
  points <- smooth_surface(on, layer$mm)
  list(points = points, value = values_nearby(points, on, layer), size = 3)
}

# For each triangle the value of the voxel of the map that is nearest to its centre.
values_nearby <- function(points, on, layer) {
  corner <- seq(1, nrow(points), 3)
  centre <- (points[corner, ] + points[corner + 1, ] + points[corner + 2, ]) / 3
  index <- vapply(1:3, function(k) {
    at <- layer$mm[[k]]
    step <- if (length(at) > 1) at[2] - at[1] else 1
    1 + (centre[, k] - at[1]) / step
  }, numeric(nrow(centre)))
  index <- matrix(index, ncol = 3)
  value <- numeric(nrow(centre))
  away <- rep(Inf, nrow(centre))
  for (step in asplit(as.matrix(expand.grid(-1:1, -1:1, -1:1)), 1)) {
    voxel <- sweep(round(index), 2, step, "+")
    voxel <- vapply(1:3, function(k) pmin(pmax(voxel[, k], 1), dim(on)[k]), index[, 1])
    distance <- ifelse(on[voxel], rowSums((voxel - index)^2), Inf)
    nearer <- distance < away
    value[nearer] <- layer$volume[voxel][nearer]
    away <- pmin(away, distance)
  }
  value
}

# The contour of finer voxels, so that it is round. Only their bounding box is used.
smooth_surface <- function(on, mm) {
  at <- apply(which(on, arr.ind = TRUE), 2, range)
  fine <- max(1, min(3, floor(90 / max(at[2, ] - at[1, ] + 1))))
  inner <- (seq_len(fine) - (fine + 1) / 2) / fine
  index <- lapply(1:3, function(k) rep(at[1, k]:at[2, k], each = fine))
  finer <- Map(function(at, k) {
    step <- if (length(at) > 1) at[2] - at[1] else 1
    at[k] + rep_len(inner, length(k)) * step
  }, mm, index)
  volume <- on[index[[1]], index[[2]], index[[3]], drop = FALSE] + 0
  contour_triangles(volume, finer, smooth = 0.4 * fine, level = 0.3)
}

# Four corners of each face between a voxel that is on and one that is not, and the voxel's value.
voxel_faces <- function(on, layer) {
  half <- half_step(layer)
  at <- which(on, arr.ind = TRUE)
  faces <- lapply(1:3, function(k) lapply(c(-1, 1), function(side) {
    next_to <- at
    next_to[, k] <- next_to[, k] + side
    within <- next_to[, k] >= 1 & next_to[, k] <= dim(on)[k]
    open <- !within
    open[within] <- !on[next_to[within, , drop = FALSE]]
    list(points = square_corners(at[open, , drop = FALSE], layer$mm, half, k, side),
         value = layer$volume[at[open, , drop = FALSE]])
  }))
  faces <- unlist(faces, recursive = FALSE)
  list(points = do.call(rbind, lapply(faces, `[[`, "points")),
       value = unlist(lapply(faces, `[[`, "value")))
}

square_corners <- function(at, mm, half, k, side) {
  middle <- vapply(1:3, function(j) mm[[j]][at[, j]], numeric(nrow(at)))
  middle <- matrix(middle, ncol = 3)
  others <- setdiff(1:3, k)
  corner <- matrix(0, 4, 3)
  corner[, k] <- side
  corner[, others[1]] <- c(-1, 1, 1, -1)
  corner[, others[2]] <- c(-1, -1, 1, 1)
  shift <- sweep(corner, 2, half, "*")
  middle[rep(seq_len(nrow(middle)), each = 4), , drop = FALSE] +
    shift[rep(1:4, nrow(middle)), , drop = FALSE]
}

solid_shape <- function(part, paint, turn) {
  if (is.null(part)) return(NULL)
  colours <- paint(part$value)
  # Values of a sign that the colour bar does not show are not drawn.
  drawn <- !is.na(colours)
  part$points <- part$points[rep(drawn, each = part$size), , drop = FALSE]
  if (!any(drawn)) return(NULL)
  colours <- shaded(colours[drawn], polygon_normals(part$points, part$size), turn)
  # A border of the same colour closes the seams between neighbours.
  list(points = part$points, size = part$size, colour = colours,
       border = if (part$size == 4) grDevices::adjustcolor(colours, 1, 0.8, 0.8, 0.8) else colours)
}

# Joins shapes of one kind, so that their polygons are sorted together.
join_shapes <- function(shapes) {
  shapes <- Filter(Negate(is.null), shapes)
  if (!length(shapes)) return(NULL)
  list(points = do.call(rbind, lapply(shapes, `[[`, "points")), size = shapes[[1]]$size,
       colour = unlist(lapply(shapes, `[[`, "colour")),
       border = unlist(lapply(shapes, `[[`, "border")))
}
