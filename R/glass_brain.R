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
check_views <- function(views, radiological, mesh) {
  if (is.null(views)) {
    views <- if (mesh) c("left", "right", "top", "bottom") else {
      if (radiological) c("oblique", "bottom", "front") else c("oblique", "top", "back")
    }
  } else if (!is.character(views) || !length(views) || !all(views %in% view_names)) {
    bad <- if (is.character(views) && length(views)) setdiff(views, view_names)[1] else views
    stop_bad("`views` must be some of ", quoted(view_names), ", not ", describe(bad), ".")
  }
  if (radiological) views[views == "oblique"] <- "oblique front"
  views
}

# The letters at the left and right end of what runs across the picture.
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
  low <- apply(at, 2, min) - c(2, 12)
  high <- apply(at, 2, max) + 2
  list(
    view = view, width = high[1] - low[1], height = high[2] - low[2], origin = low,
    caption = if (grepl("oblique", view)) view else paste("from", the_side(view)),
    corners = view_corners(view),
    draw = function(h, v) {
      for (layer in layers) draw_shape(layer(turn), turn, h, v)
      draw_ruler(low, high[1] - low[1], h, v)
    }
  )
}

the_side <- function(view) switch(view, top = "above", bottom = "below", paste("the", view))

# A length at the lower left, a round number that fits.
draw_ruler <- function(low, width, h, v) {
  length <- max(c(1, 2, 5, 10, 20, 50)[c(1, 2, 5, 10, 20, 50) <= max(width / 2.5, 1)])
  graphics::segments(h(low[1]), v(low[2] + 2), h(low[1] + length), v(low[2] + 2), lwd = 1.5,
                     col = "grey25")
  size <- v(low[2] + 9) - v(low[2] + 3)
  cex <- max(0.75 * min(1, size / graphics::strheight("0", units = "inches", cex = 0.75)), 0.5)
  graphics::text(h(low[1]), v(low[2] + 4), paste(length, "mm"), adj = c(0, 0), cex = cex,
                 col = "grey25")
}

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

# Light from the upper left behind the viewer, the same on both sides of a polygon.
shaded <- function(colours, normals, turn) {
  light <- drop(c(-0.35, 0.45, 0.82) %*% turn)
  bright <- 0.55 + 0.45 * abs(drop(normals %*% light))
  rgb <- grDevices::col2rgb(rep_len(colours, nrow(normals))) / 255
  # Darker in the shade, a little whiter in the light.
  rgb <- sweep(rgb, 2, bright, "*")
  grDevices::rgb(rgb[1, ], rgb[2, ], rgb[3, ])
}

# ---- the glass brain -----------------------------------------------------------------------------

glass_colours <- c(positive = "#B5651D", negative = "#2C5FA8", common = "#2E8B3D")

# Panels with the brain's hull and what is not zero in the map.
glass_panels <- function(layers, views, style = "voxels", colours = glass_colours,
                         hull = hull_triangles(layers$inside)) {
  signs <- c(positive = 1, negative = -1)
  parts <- lapply(signs, signed_surface, layer = layers$over, style = style)
  draw <- list(
    function(turn) glass_shape(hull, turn, front = FALSE),
    function(turn) {
      join_shapes(lapply(names(parts), function(k) solid_shape(parts[[k]], colours[[k]], turn)))
    },
    function(turn) glass_shape(hull, turn, front = TRUE)
  )
  lapply(views, view_panel, outline = hull, layers = draw)
}

# Triangles around the mask. A fine mask is thinned first: a hull needs no detail.
hull_triangles <- function(inside) {
  by <- pmax(1, floor(dim(inside$volume) / 30))
  pick <- lapply(1:3, function(k) seq(1, dim(inside$volume)[k], by = by[k]))
  volume <- inside$volume[pick[[1]], pick[[2]], pick[[3]], drop = FALSE]
  mm <- Map(function(at, k) at[k], inside$mm, pick)
  contour_triangles(filled_volume(volume), mm, smooth = 1, level = 0.4)
}

# Holes closed: whatever lies between two voxels of the mask along each axis.
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
  # misc3d loads the toolkit Tk, which complains when there is no screen.
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

# Thin where the glass is seen straight, denser at its rim.
glass_shape <- function(triangles, turn, front = FALSE) {
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
       colour = grDevices::rgb(0.45, 0.45, 0.45, alpha[keep]))
}

# The outside of the voxels with that sign: squares, or smooth triangles.
signed_surface <- function(sign, layer, style) {
  on <- sign * layer$volume > 0
  if (!any(on)) return(NULL)
  if (style == "voxels") return(list(points = voxel_faces(on, layer), size = 4))
  list(points = smooth_surface(on, layer$mm), size = 3)
}

# Around finer voxels, so that it is round. Only the box of the voxels is worked on.
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

# Four corners of each face between a voxel that is on and one that is not.
voxel_faces <- function(on, layer) {
  half <- half_step(layer)
  at <- which(on, arr.ind = TRUE)
  faces <- lapply(1:3, function(k) lapply(c(-1, 1), function(side) {
    next_to <- at
    next_to[, k] <- next_to[, k] + side
    within <- next_to[, k] >= 1 & next_to[, k] <= dim(on)[k]
    open <- !within
    open[within] <- !on[next_to[within, , drop = FALSE]]
    square_corners(at[open, , drop = FALSE], layer$mm, half, k, side)
  }))
  do.call(rbind, unlist(faces, recursive = FALSE))
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

solid_shape <- function(part, colour, turn) {
  if (is.null(part)) return(NULL)
  colours <- shaded(colour, polygon_normals(part$points, part$size), turn)
  # A line of its own colour closes the seams between neighbours.
  list(points = part$points, size = part$size, colour = colours,
       border = if (part$size == 4) grDevices::adjustcolor(colours, 1, 0.8, 0.8, 0.8) else colours)
}

# Shapes of one kind as one, so that they are sorted together.
join_shapes <- function(shapes) {
  shapes <- Filter(Negate(is.null), shapes)
  if (!length(shapes)) return(NULL)
  list(points = do.call(rbind, lapply(shapes, `[[`, "points")), size = shapes[[1]]$size,
       colour = unlist(lapply(shapes, `[[`, "colour")),
       border = unlist(lapply(shapes, `[[`, "border")))
}

# ---- surfaces ------------------------------------------------------------------------------------

# A mesh with its map, grey where the map is zero.
mesh_panels <- function(values, mesh, views, paint) {
  points <- mesh$coords[t(mesh$faces), , drop = FALSE]
  values <- replace(numeric(nrow(mesh$coords)), mesh$mask, values)
  # The middle one of three values: a face belongs to the region that has two of its corners.
  corner <- matrix(values[t(mesh$faces)], 3)
  face_value <- colSums(corner) - pmin(corner[1, ], corner[2, ], corner[3, ]) -
    pmax(corner[1, ], corner[2, ], corner[3, ])
  colour <- paint(face_value)
  colour[is.na(colour)] <- "#D9D9D9"
  normal <- polygon_normals(points, 3)
  solid <- function(turn) {
    shade <- shaded(colour, normal, turn)
    list(points = points, size = 3, colour = shade, border = shade)
  }
  lapply(views, view_panel, outline = mesh$coords, layers = list(solid))
}
