# Volumes: features are the voxels inside a mask. Their space is from new_space() in image-space.R.

volume_place <- function() {
  list(
    called = "Images", units = c("voxels", "mm3"), endings = c(".nii", ".nii.gz"),
    # Anatomy is read in greys, and a map of nothing else lies over it.
    mean_as = "anatomy",

    count = function(space) sum(space$mask),
    coords = space_mm,
    graph_mm = function(space, coords) voxel_mm(space$affine, coords),
    frame = function(space) if (is_oriented(space$header)) "mm" else "mm without orientation",
    size = function(space) rep(abs(det(space$affine[1:3, 1:3])), sum(space$mask)),
    check_new = check_same_voxels,

    count_text = function(count) paste(count_of(count, "voxel"), "inside the mask"),
    shape_text = function(space) paste("Grid:", grid_text(space)),
    atlas_flaw = function(space) NULL,

    write = write_volume_map,

    cuts = function(space) colMeans(space_mm(space)),
    stage = volume_stage,
    panels = volume_panels,
    shown_numbers = volume_numbers,
    fold_drawer = volume_fold_drawer
  )
}

has_voxels <- function(space) inherits(space, "n2gfl_space")

# The space of an object, for functions that need a grid.
voxel_space <- function(object, name = "object") {
  space <- image_space(object, name)
  if (!has_voxels(space)) {
    stop_bad("`", name, "` must be made from images, with voxels, not from ",
             tolower(place_of(space)$called), ".")
  }
  space
}

# On the same grid, with the same mask.
check_same_voxels <- function(new, object, name) {
  space <- voxel_space(object)
  if (!same_grid(space, new)) {
    stop_bad("`", name, "` must be on the grid of the fit, but the grids have ",
             grid_difference(space, new), ".")
  }
  differ <- sum(space$mask != new$mask)
  if (differ) {
    stop_bad("`", name, "` must have the mask of the fit, but the masks differ in ",
             count_of(differ, "voxel"), ": read the new images with `like`.")
  }
}

# Size, voxels in mm, order of storage, coarsening.
grid_text <- function(space) {
  size <- sqrt(colSums(space$affine[1:3, 1:3]^2))
  paste0(
    paste(space$dim, collapse = " x "), " voxels of ",
    paste(number_text_each(signif(size, 4)), collapse = " x "), " mm",
    if (is_oriented(space$header)) paste(", stored as", storage_order(space$affine))
    else ", without orientation in the header: left and right are not known",
    if (!is.null(space$coarsen)) {
      paste0(", blocks of ", paste(space$coarsen, collapse = " x "), " of ",
             paste(space$source$dim, collapse = " x "))
    }
  )
}

# Letters of the directions in which the array's axes run, such as "LAS".
storage_order <- function(affine) {
  axes <- mm_axes(affine)
  up <- axes$sign > 0
  paste0(ifelse(up, c("R", "A", "S")[axes$axis], c("L", "P", "I")[axes$axis]), collapse = "")
}

# ---- files ---------------------------------------------------------------------------------------

write_volume_map <- function(map, space, file) {
  image <- map_nifti(map, space)
  RNifti::writeNifti(image, file, datatype = if (map$integer) "int32" else "float")
}

# Intents of the NIfTI standard: an estimate, or labels.
map_nifti <- function(map, space) {
  header <- space$header
  header$datatype <- if (map$integer) 8L else 16L
  header$bitpix <- 32L
  header$scl_slope <- 1
  header$scl_inter <- 0
  header$intent_code <- switch(map$what, coef = 1001L, region = 1002L, 0L)
  header$intent_name <- map$what
  header$descrip <- substr(map$description, 1, 79)
  header$aux_file <- ""
  values <- array(if (map$integer) 0L else 0, space$dim)
  values[space$mask] <- if (map$integer) as.integer(map$values) else map$values
  header$cal_min <- min(values)
  header$cal_max <- max(values)
  RNifti::asNifti(values, reference = header)
}

# ---- pictures ------------------------------------------------------------------------------------

# The layers, the type, the mm of the cuts and the views.
volume_stage <- function(map, type, template, where) {
  layers <- map_layers(map, template, where$space)
  stage <- list(layers = layers, type = type, views = where$views, own = layers$own)
  # A volume of one slice has one cut.
  if (layers$flat) {
    return(utils::modifyList(stage, list(type = "slice", cuts = layers$over$mm$z)))
  }
  cuts <- where$cuts
  if (is.null(cuts) && type != "3d") {
    # The number of a label is not a weight: the labelled voxels alone decide where to cut.
    seen <- if (is.null(map$codes)) layers else {
      replace(layers, "over", list(as_marks(layers$over)))
    }
    cuts <- choose_cuts(seen, type, where$ncuts)
  }
  c(stage, list(cuts = cuts))
}

volume_panels <- function(map, stage, look) {
  if (stage$type == "3d") {
    return(glass_panels(stage$layers, check_views(stage$views, look$radiological), look))
  }
  cut_panels(stage$layers, stage$type, stage$cuts, look)
}

as_marks <- function(layer) replace(layer, "volume", list(layer$volume != 0))

# What a picture of labels shows of its volume.
volume_numbers <- function(map, stage) {
  over <- stage$layers$over
  # Slices along two of the axes hold the neighbours along all three.
  planes <- if (stage$type == "3d") c(asplit(over$volume, 3), asplit(over$volume, 2)) else {
    where <- cut_positions(stage$type, stage$cuts)
    Filter(Negate(is.null), Map(function(plane, at) {
      cut_layer(over, plane_axes[[plane]], at, 1)$values
    }, where$plane, where$at))
  }
  list(values = if (stage$type == "3d") over$volume else unlist(planes),
       pairs = do.call(rbind, lapply(planes, side_by_side)))
}

side_by_side <- function(plane) {
  pair <- function(a, b) cbind(as.vector(a), as.vector(b))
  rows <- nrow(plane)
  columns <- ncol(plane)
  pairs <- rbind(pair(plane[-1, ], plane[-rows, ]), pair(plane[, -1], plane[, -columns]))
  unique(pairs[pairs[, 1] != pairs[, 2], , drop = FALSE])
}

# The same view or cut for all panels; one cut goes where most folds select.
volume_fold_drawer <- function(space, often, how, look) {
  layers <- map_layers(list(values = often, space = space, name = "coefficient"), how$template,
                       how$space)
  with_values <- function(values) {
    layers$over <- as_layer(replace(array(0, space$dim), space$mask, values), space$affine)
    layers
  }
  if (layers$flat) how$type <- "axial"
  if (how$type == "3d") {
    view <- check_views(how$view %or% "oblique", look$radiological)[1]
    hull <- glass_hull(layers)
    return(function(values, look) {
      panel <- glass_panels(with_values(values), view, look, hull)[[1]]
      panel$caption <- ""
      panel
    })
  }
  at <- if (is.null(how$cut)) choose_cuts(layers, how$type, 1L) else {
    check_cuts(how$cut, how$type)[1]
  }
  function(values, look) cut_panel(with_values(values), how$type, at, look)
}
