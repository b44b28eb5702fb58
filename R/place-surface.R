# Surfaces: features are vertices of a mesh. Their space has the whole mesh (`coords` in mm,
# `faces`), the `mask` of the vertices that are features, and their `mean`.

new_surface <- function(mesh, mask = rep(TRUE, mesh$n), mean = NULL) {
  structure(list(coords = mesh$coords, faces = mesh$faces, mask = mask, mean = mean),
            class = "n2gfl_surface")
}

surface_place <- function() {
  list(
    called = "Surfaces", units = c("vertices", "mm2"), endings = ".gii", mean_as = "map",

    count = function(space) sum(space$mask),
    coords = function(space) space$coords[space$mask, , drop = FALSE],
    # Vertices have no other coordinates than mm.
    graph_mm = function(space, coords) coords,
    frame = function(space) "mm",
    size = function(space) vertex_area(space)[space$mask],
    check_new = function(new, object, name) invisible(),

    count_text = function(count) paste(count, "vertices"),
    shape_text = function(space) {
      paste0("Mesh: ", nrow(space$coords), " vertices, ", nrow(space$faces), " triangles")
    },
    atlas_flaw = function(space) "a surface: its labels belong to voxels",

    write = write_surface_map,

    cuts = function(space) NULL,
    stage = function(map, type, template, where) list(views = where$views, own = TRUE),
    panels = function(map, stage, look) {
      mesh_panels(map$values, map$space, mesh_views(stage$views, look$radiological, map), look)
    },
    shown_numbers = surface_numbers,
    fold_drawer = surface_fold_drawer
  )
}

# A graph that is a mesh with positions can be drawn without images.
is_mesh <- function(graph) {
  inherits(graph, "n2gfl_graph") && !is.null(graph$coords) && !is.null(graph$faces)
}

# A third of the area of the triangles around each vertex.
vertex_area <- function(surface) {
  corner <- function(k) surface$coords[surface$faces[, k], , drop = FALSE]
  area <- sqrt(rowSums(cross_product(corner(2) - corner(1), corner(3) - corner(1))^2)) / 2
  each <- rowsum(rep(area / 3, 3), as.vector(surface$faces))
  replace(numeric(nrow(surface$coords)), as.integer(rownames(each)), each)
}

# Numbers on a mesh lie side by side if they share a triangle.
surface_numbers <- function(map, stage) {
  mesh <- map$space
  at <- replace(numeric(nrow(mesh$coords)), mesh$mask, map$values)
  faces <- matrix(at[mesh$faces], ncol = 3)
  list(values = map$values, pairs = rbind(faces[, 1:2], faces[, 2:3], faces[, c(1, 3)]))
}

# Seen from the side that shows most of what the folds select, unless the user chose one.
surface_fold_drawer <- function(space, often, how, look) {
  view <- mesh_views(how$view, look$radiological, list(values = often, space = space))[1]
  function(values, look) {
    mesh_panels(rep_len(sign(values), sum(space$mask)), space, view, look)[[1]]
  }
}
