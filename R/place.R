# Where features are: in the voxels of a volume, on the vertices of a surface. And what a kind of
# place is.
#
# The place itself is data, the `space` that images and fits hold and that is saved with them. Its
# class says which kind it is. A kind is a list of values and small functions: what depends on it
# stands in its file, such as place-surface.R, and no other file asks for the kind. A new kind is
# such a file, a function that reads it, and a line in places().
#
# Neighbours are not part of the contract: who reads images makes their graph with their space,
# because the user has a say in it, and new_images() keeps both. Distances, for example between the
# centres of regions, are straight lines in mm.
#
# `space` is the place of `count` features, in their order. A `map` is one value per feature with
# what is known of it: list(values, space, name, ...) in pictures, see map_of(); list(values,
# integer, what, description) in files, see map_values().
place_contract <- list(
  # Values -----------------------------------------------------------------------------------------
  # What images of this kind are called, such as "Surfaces".
  called = "character",
  # What one has several of, and the unit of their size: columns of region_table().
  units = "character",
  # The endings of the files that write() makes.
  endings = "character",
  # How pictures show the mean of images, space$mean: "anatomy" under an empty map, or "map".
  mean_as = "character",

  # Positions --------------------------------------------------------------------------------------
  count = "space",
  # The mm of the features, one row each.
  coords = "space",
  # The mm of the coordinates of a graph on this place: a matrix with three columns.
  graph_mm = c("space", "coords"),
  # What these mm are: "mm", or "mm without orientation".
  frame = "space",
  # The size of each feature, in the second of `units`.
  size = "space",
  # Stops if new images, on `new`, are not where the features of `object` are, a fit; `name` is the
  # argument's. The fit may have a space of another kind, or none.
  check_new = c("new", "object", "name"),

  # Words ------------------------------------------------------------------------------------------
  # "12 voxels inside the mask", for print().
  count_text = "count",
  # "Grid: 5 x 5 x 5 voxels of ...", for print().
  shape_text = "space",
  # Why regions cannot be named by an atlas, as in "`atlas` must be NULL for a surface: ...", or
  # NULL if they can.
  atlas_flaw = "space",

  # Files ------------------------------------------------------------------------------------------
  write = c("map", "space", "file"),

  # Pictures ---------------------------------------------------------------------------------------
  # Where plot() cuts images unless the user says where; NULL leaves it to plot_map().
  cuts = "space",
  # What plot_map() shows and from where, as a list; `where` is list(cuts, ncuts, views, space), as
  # the user gave them. Its element `own` says that no template hides the images' mean; the others
  # are for the next two functions alone.
  stage = c("map", "type", "template", "where"),
  # The panels for draw_panels().
  panels = c("map", "stage", "look"),
  # Which numbers a picture of labels shows: list(values, pairs of them that lie side by side).
  shown_numbers = c("map", "stage"),
  # A function (values, look) that makes one panel of plot_folds(). `often` says how often each
  # feature is selected, `how` is list(type, view, cut, template, space).
  fold_drawer = c("space", "often", "how", "look")
)

# The registry: each kind by the class of its spaces. A function, because the kinds use functions of
# files that are read later.
places <- function() list(n2gfl_space = volume_place(), n2gfl_surface = surface_place())

# The kind of a space. An unknown one can come from a file of a later version.
place_of <- function(space) {
  all <- places()
  known <- intersect(class(space), names(all))
  if (!length(known)) {
    stop_bad("The package has no place of class ", quoted(class(space)[1]), " for features, only ",
             quoted(names(all)), ".")
  }
  all[[known[1]]]
}

# ---- the space of an object ----------------------------------------------------------------------

# Of images, a fit to them, a cross-validation or stability selection; NULL if it has none.
object_space <- function(object) {
  if (is.object(object) && inherits(object, names(places()))) return(object)
  if (!is.list(object)) return(NULL)
  kept_in(object, "space")
}

# The same, for functions that cannot do without.
image_space <- function(object, name = "object") {
  space <- object_space(object)
  if (!is.object(space)) {
    stop_bad("`", name, "` must hold the positions of its features in the brain, but it was not ",
             "made from images: see read_images().")
  }
  place_of(space)
  space
}

# Where to draw the features: of images, a fit, or a mesh. A graph that is a mesh decides over
# voxels, because values of vertices can come in NIfTI files.
feature_space <- function(object, name) {
  if (inherits(object, "n2gfl_cohort")) object <- object$images
  if (!is.list(object)) {
    stop_bad("`", name, "` must be images, a fit to images, or a mesh, not ", describe(object), ".")
  }
  graph <- if (inherits(object, "n2gfl_graph")) object else kept_in(object, "graph")
  space <- object_space(object)
  if (is_mesh(graph) && (is.null(space) || has_voxels(space))) return(new_surface(graph))
  image_space(object, name)
}
