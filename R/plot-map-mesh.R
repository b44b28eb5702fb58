# Surfaces: a mesh with its map, and the sides from which it is seen.

# Four views of a mesh: first the side that shows most of the largest region, then those that show
# most of the map. For a map that is empty or covers the mesh, the usual four.
mesh_views <- function(views, radiological, map) {
  if (!is.null(views)) return(check_views(views, radiological))
  usual <- c("left", "right", "top", "bottom")
  on <- map$values != 0
  if (!any(on) || mean(on) > 0.8) return(usual)
  sides <- c(usual, "front", "back")
  mesh <- map$space
  best <- sides[which.max(visible_area(sides, mesh, largest_part(map$values, mesh)))]
  all <- visible_area(sides, mesh, replace(logical(nrow(mesh$coords)), mesh$mask, on))
  # Ties go to the usual views: `order` keeps the order of `sides`.
  c(best, utils::head(setdiff(sides[order(-signif(all, 3))], best), 3))
}

# Which vertices of the whole mesh belong to the connected region with the largest sum of absolute
# values.
largest_part <- function(values, mesh) {
  all <- replace(numeric(nrow(mesh$coords)), mesh$mask, values)
  on <- which(all != 0)
  component <- connected_components(graph_mesh(mesh$faces, nrow(mesh$coords)), on)
  weight <- rowsum(abs(all[on]), component)
  largest <- as.integer(rownames(weight))[which.max(round(weight, 12))]
  replace(logical(length(all)), on[component == largest], TRUE)
}

# Square mm, as projected, of the marked part of a mesh that can be seen from each side. A face is
# hidden if another one is in front of it: the picture is cut into squares of a few faces each, and
# the nearest face of each square is compared with the others in it.
visible_area <- function(sides, mesh, marked) {
  faces <- mesh$faces
  face <- rowSums(matrix(marked[faces], ncol = 3)) >= 2
  a <- mesh$coords[faces[, 1], , drop = FALSE]
  edge <- function(k) mesh$coords[faces[, k], , drop = FALSE] - a
  double <- cross_product(edge(2), edge(3))
  centre <- a + (edge(2) + edge(3)) / 3
  cell <- sqrt(8 * mean(sqrt(rowSums(double^2)) / 2))
  vapply(sides, function(side) {
    turn <- view_matrix(side)
    at <- centre %*% t(turn)
    square <- paste(floor(at[, 1] / cell), floor(at[, 2] / cell))
    depth <- at[, 3]
    nearest <- tapply(depth, square, max)[square]
    # A steep face may be deeper than others in its square by a little more than the square's width.
    seen <- depth >= nearest - 2 * cell
    sum(abs(double %*% turn[3, ])[face & seen]) / 2
  }, 0)
}

# A mesh with its map, plain grey where the map is zero.
mesh_panels <- function(values, mesh, views, look) {
  points <- mesh$coords[t(mesh$faces), , drop = FALSE]
  values <- replace(rep(NA_real_, nrow(mesh$coords)), mesh$mask, values)
  # The middle one of three values: a face belongs to the region that has two of its corners.
  corner <- matrix(values[t(mesh$faces)], 3)
  colour <- look$paint(middle_value(corner))
  colour[is.na(colour)] <- look$theme$plain
  normal <- polygon_normals(points, 3)
  solid <- function(turn) {
    shade <- shaded(colour, normal, turn)
    list(points = points, size = 3, colour = shade, border = shade)
  }
  lapply(views, view_panel, outline = mesh$coords, layers = list(solid))
}

# Of each column with three values; NA when one of them is.
middle_value <- function(corner) {
  pmax(pmin(corner[1, ], corner[2, ]), pmin(pmax(corner[1, ], corner[2, ]), corner[3, ]))
}
