# The anatomy below a map, and the map itself, as layers: volumes in RAS order with the mm of their
# voxels. Layers of one picture may have different grids.

# A volume with its axes put in the order of x, y, z and made to rise with them, and the mm along
# each of them. Along a slanted axis the mm are those in the middle of the volume.
as_layer <- function(volume, affine) {
  axes <- mm_axes(affine)
  from <- order(axes$axis)
  middle <- (dim(volume) - 1) / 2
  mm <- lapply(1:3, function(k) {
    steps <- seq_len(dim(volume)[from[k]]) - 1 - middle[from[k]]
    round(affine[k, 4] + sum(affine[k, 1:3] * middle) + affine[k, from[k]] * steps, 6)
  })
  volume <- aperm(volume, from)
  for (k in which(axes$sign[from] < 0)) {
    volume <- flip_axis(volume, k)
    mm[[k]] <- rev(mm[[k]])
  }
  list(volume = volume, mm = stats::setNames(mm, c("x", "y", "z")))
}

flip_axis <- function(volume, k) {
  index <- lapply(dim(volume), seq_len)
  index[[k]] <- rev(index[[k]])
  do.call(`[`, c(list(volume), index, drop = FALSE))
}

# Half the distance between neighbours; a single slice is taken to be as thick
# as a voxel is wide.
half_step <- function(layer) {
  step <- vapply(layer$mm, function(at) (max(at) - min(at)) / (length(at) - 1), 0)
  ifelse(is.nan(step), min(step, na.rm = TRUE), step) / 2
}

# The anatomy (`under`), the map (`over`) and the mask (`inside`) as layers, and what part of the
# space the picture shows. `own`: the anatomy is the mean of the images, not a template. `whole`: an
# image that is drawn by itself, without a mask.
map_layers <- function(map, template = NULL, space = NULL) {
  fill <- function(values, empty) {
    as_layer(replace(array(empty, map$space$dim), map$space$mask, values), map$space$affine)
  }
  over <- fill(map$values, 0)
  inside <- fill(1, 0)
  under <- anatomy_layer(map, template, space)
  own <- is.null(under)
  if (own) under <- c(fill(map$space$mean, NA_real_), air = -Inf)
  else warn_beside(under, if (identical(map$name, "mean")) inside else over,
                   if (is.null(template)) "the MNI template" else "`template`")
  list(under = under, over = over, inside = inside, own = own, whole = all(is.na(map$space$mean)),
       bounds = shown_bounds(under, over, inside),
       reach = layer_bounds(inside, inside$volume > 0), flat = dim(over$volume)[3] == 1,
       range = contrast_range(under$volume[which(under$volume > under$air)]),
       oriented = is_oriented(map$space$header))
}

# The mm that the picture shows: the head of a template, else the mask; a map that extends
# beyond it is not cut off. An image that is drawn by itself has no mask: its nonzero voxels are
# shown, or all of it if there are none.
shown_bounds <- function(under, over, inside) {
  on <- over$volume != 0
  whole <- all(inside$volume > 0) && any(on)
  if (under$air == -Inf) return(layer_bounds(over, if (whole) on else inside$volume > 0))
  bounds <- layer_bounds(under, has_tissue(under))
  if (!any(on)) return(bounds)
  map <- layer_bounds(over, on)
  rbind(low = pmin(bounds["low", ], map["low", ]), high = pmax(bounds["high", ], map["high", ]))
}

# The mm around the voxels that `shown` marks, with their outer halves and a small margin.
layer_bounds <- function(layer, shown) {
  half <- half_step(layer)
  bounds <- vapply(1:3, function(k) {
    on <- range(which(apply(shown, k, any)))
    range(layer$mm[[k]][on]) + (half[k] + 2) * c(-1, 1)
  }, numeric(2))
  dimnames(bounds) <- list(c("low", "high"), c("x", "y", "z"))
  bounds
}

# From the 2nd to the 98th percentile: single bright voxels must not make all the others dark.
contrast_range <- function(values) {
  if (!length(values)) return(c(0, 1))
  range <- stats::quantile(values, c(0.02, 0.98), names = FALSE)
  if (range[2] > range[1]) range else range + c(-0.5, 0.5) * max(abs(range[1]), 1) * 1e-6
}

# ---- templates -----------------------------------------------------------------------------------

# The template of a picture, or NULL for the mean of the images. `air` is the value below which
# there is no tissue.
anatomy_layer <- function(map, template, space) {
  if (!is.null(template)) return(template_layer(template))
  if (!is.null(space)) return(if (space == "mni") mni_layer())
  # Images that are drawn by themselves are their own anatomy.
  if (identical(map$name, "mean") || !in_mni_space(map$space$header)) return(NULL)
  layer <- mni_layer()
  # Who did not ask for it must know that some of this anatomy is filled in.
  if (!is.null(layer)) {
    message("Drawn over the MNI template of oro.nifti, where letters that are painted into it ",
            "were filled in: give your own `template` for a publication, or space = \"native\" ",
            "for the mean of the images.")
  }
  layer
}

# Code 4 of the NIfTI standard: the coordinates are those of the MNI template.
in_mni_space <- function(header) {
  code <- if (header$sform_code > 0) header$sform_code else header$qform_code
  code == 4
}

template_layer <- function(template) {
  if (is_images(template) && has_voxels(template$space)) {
    space <- template$space
    mean <- replace(array(NA_real_, space$dim), space$mask, space$mean)
    return(c(as_layer(mean, space$affine), air = -Inf))
  }
  if (is.character(template)) {
    if (length(template) != 1 || is.na(template) || !file.exists(template)) {
      stop_bad("`template` must be an image or the path of a NIfTI file, but there is no file ",
               describe(template), ".")
    }
    opened <- read_array(template, "template")
    return(template_volume(opened$values, opened$affine))
  }
  if (!inherits(template, "niftiImage") && !oro.nifti::is.nifti(template)) {
    stop_bad("`template` must be an image or the path of a NIfTI file, not ", describe(template),
             ".")
  }
  opened <- open_image(template, "template", values = FALSE)
  template_volume(image_array(template), opened$affine)
}

template_volume <- function(volume, affine) {
  if (length(dim(volume)) != 3) {
    stop_bad("`template` must have three dimensions, not ", length(dim(volume)), ".")
  }
  with_air(as_layer(array(as.double(volume), dim(volume)), affine))
}

# Air around a head has a little noise: values up to an eighth of bright tissue's count as air.
with_air <- function(layer) {
  values <- layer$volume[is.finite(layer$volume)]
  if (!length(values)) stop_bad("`template` must have finite values, but it has none.")
  low <- min(values, 0)
  c(layer, air = low + 0.12 * (contrast_range(values)[2] - low))
}

# Says if the map lies beside the anatomy: the two are then not in the same space, whatever the
# header says.
warn_beside <- function(under, over, name) {
  on <- over$volume != 0
  if (!any(on)) return(invisible())
  share <- function(head) mean(at_grid(head, under, over)[on])
  head <- has_tissue(under)
  within <- share(head)
  # Dark spots inside the head, such as ventricles, belong to it.
  if (within < 0.5) within <- share(filled_volume(head) > 0)
  if (within >= 0.5) return(invisible())
  warning("`object` must be in the space of ", name, ", but ",
          if (within == 0) "none" else paste0("only ", ceiling(100 * within), "%"),
          " of the voxels of the map lie in that head",
          if (name != "`template`") paste0(": is it in MNI space? With space = \"native\" it is ",
                                           "drawn without the template"), ".", call. = FALSE)
}

has_tissue <- function(layer) !is.na(layer$volume) & layer$volume > layer$air

# What `volume`, on the grid of the layer `from`, holds at the voxels of the layer `to`; FALSE
# outside.
at_grid <- function(volume, from, to) {
  half <- half_step(from)
  index <- lapply(1:3, function(k) {
    at <- round(1 + (to$mm[[k]] - from$mm[[k]][1]) / (2 * half[k]))
    ifelse(at >= 1 & at <= dim(volume)[k], at, NA)
  })
  found <- volume[index[[1]], index[[2]], index[[3]], drop = FALSE]
  replace(found, is.na(found), FALSE)
}

# What lies outside of the head in one slice: air that a straight line from the border reaches.
# Dark voxels inside, such as ventricles, stay. Specks of noise in the air are outside, too.
outside_head <- function(slice, air) {
  head <- !is.na(slice) & slice > air
  between <- function(line) {
    on <- which(line)
    if (length(on)) line[on[1]:on[length(on)]] <- TRUE
    line
  }
  across <- t(apply(head, 1, between))
  up <- apply(head, 2, between)
  !without_specks(matrix(across & up, nrow(slice)))
}

# The components of a slice that are not tiny beside the largest one. Several may be large: the
# poles of the temporal lobes, for example, are separate in low slices.
without_specks <- function(on) {
  if (!any(on)) return(on)
  component <- connected_components(graph_mask(on))
  size <- tabulate(component)
  replace(on, which(on)[size[component] < 0.05 * max(size)], FALSE)
}

# How opaque the anatomy is: not at all outside of the head, half at its edge. Skin is blurred into
# the air, which is black: without its dark rim the head has a clean edge on white paper. The rim is
# what is darker than `dark` within `width` pixels of the air. Where the image ends there is no rim.
head_opacity <- function(slice, air, dark, width) {
  outside <- outside_head(slice, air)
  for (k in seq_len(width)) outside <- outside | (is_beside(outside) & slice < dark)
  outside <- !without_specks(!outside)
  ifelse(outside, 0, ifelse(is_beside(outside), 0.5, 1))
}

# Which pixels have one that is on to their left or right, above or below.
is_beside <- function(on) {
  rows <- nrow(on)
  columns <- ncol(on)
  rbind(on[-1, , drop = FALSE], FALSE) | rbind(FALSE, on[-rows, , drop = FALSE]) |
    cbind(on[, -1, drop = FALSE], FALSE) | cbind(FALSE, on[, -columns, drop = FALSE])
}

# ---- the MNI template ----------------------------------------------------------------------------

# The average of 152 heads that comes with oro.nifti, or NULL if it is not there. Letters L and R
# are painted through all of its slices; they are replaced by the anatomy of the other side.
mni_layer <- function() {
  path <- system.file("nifti", "mniRL.nii.gz", package = "oro.nifti")
  if (!nzchar(path)) return(NULL)
  opened <- tryCatch(read_array(path, "template"), error = function(e) NULL)
  if (is.null(opened) || length(dim(opened$values)) != 3) return(NULL)
  layer <- as_layer(opened$values, opened$affine)
  layer$volume <- without_letters(layer$volume)
  with_air(layer)
}

# Columns that are bright and have one value from the lowest to the highest slice are paint.
painted_columns <- function(volume) {
  bright <- volume[, , 1] > 0.3 * max(volume)
  painted <- bright
  for (k in seq_len(dim(volume)[3])) painted <- painted & volume[, , k] == volume[, , 1]
  painted
}

# The mirror image of the other hemisphere, where that is not painted too; the rest is interpolated.
# Hemispheres differ a little: their difference around the paint, interpolated, is added, so that no
# edge is left.
without_letters <- function(volume) {
  painted <- painted_columns(volume)
  if (!any(painted)) return(volume)
  other <- rev(seq_len(dim(volume)[1]))
  both <- painted & painted[other, ]
  filled <- array(painted & !both, dim(volume))
  mirror <- interpolate_columns(replace(volume, filled, volume[other, , ][filled]), both)[other, , ]
  difference <- interpolate_columns(volume - mirror, painted)
  interpolate_columns(replace(volume, filled, (mirror + difference)[filled]), both)
}

# The smoothest values in each slice (their Laplacian is zero) that fit the values around the hole.
interpolate_columns <- function(volume, hole) {
  if (!any(hole)) return(volume)
  at <- which(hole, arr.ind = TRUE)
  number <- replace(matrix(0L, nrow(hole), ncol(hole)), hole, seq_len(nrow(at)))
  slices <- matrix(volume, length(hole))
  known <- matrix(0, nrow(at), ncol(slices))
  laplacian <- Matrix::Diagonal(nrow(at), 4)
  for (step in list(c(-1, 0), c(1, 0), c(0, -1), c(0, 1))) {
    beside <- sweep(at, 2, step, "+")
    inner <- number[beside]
    out <- inner == 0
    cell <- beside[, 1] + (beside[, 2] - 1) * nrow(hole)
    known[out, ] <- known[out, ] + slices[cell[out], ]
    laplacian <- laplacian - Matrix::sparseMatrix(i = which(!out), j = inner[!out], x = 1,
                                                  dims = dim(laplacian))
  }
  slices[which(hole), ] <- as.matrix(Matrix::solve(laplacian, known))
  array(slices, dim(volume))
}
