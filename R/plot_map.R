#' Draw a map
#'
#' Draws the coefficients of a fit, or any map, over the anatomy: in cuts or in a glass brain. Base
#' graphics in one plot region, so `par(mfrow = )` and [graphics::layout()] work as usual.
#'
#' @details
#' **Left and right.** By default pictures are in neurological convention: the subject's left is on
#' the left. `radiological = TRUE` turns that round; a glass brain is then seen from the front and
#' from below. Letters on every panel say which side is which (L, R, P for posterior, A for
#' anterior), and the millimetres of each cut stand below it. All of it follows the image's affine;
#' in which order the voxels are stored does not matter.
#'
#' **Cuts** go through the largest regions: the three cuts of `"ortho"` through the largest, those
#' of `"axial"`, `"coronal"` and `"sagittal"` through one region after the other, then where most
#' voxels are. `"mosaic"` shows axial cuts at even distances. A region's size is the sum of its
#' absolute values.
#'
#' **Colours** are warm for positive and cold for negative values, darker away from zero, with a bar
#' that is symmetric about zero. Zero is transparent. In the glass brain positive values are brown
#' and negative ones blue, as in Figure 2 of Xin and others (2015).
#'
#' A surface, that is a fit on a [graph_mesh()] that knows where its vertices are, is drawn from
#' four sides instead.
#' @param object A fit from [n2gfl()] or [cv.n2gfl()] that was made from images, or stability
#'   selection, whose probabilities are drawn; the images themselves, whose mean is drawn; an image
#'   of class `nifti` (package oro.nifti) or `niftiImage` (package RNifti); or a numeric vector with
#'   one value per feature, and `like`.
#' @param s Which fit: `"lambda.min"` (what `NULL` means), `"lambda.1se"`, `"lambda.es"` for a
#'   cross-validation, or `c(lambda1 = , lambda2 = )` from the grid.
#' @param type `"ortho"` (three cuts at right angles), `"axial"`, `"coronal"`, `"sagittal"`,
#'   `"mosaic"`, or `"3d"`, a glass brain, which needs the package misc3d.
#' @param row Which fit, by its row in the grid; not with `s`.
#' @param like Images, a fit to images, or a mesh, whose features the numbers in `object` are. Also
#'   for a fit to a plain matrix.
#' @param template The anatomy to draw below: an image or the path of a NIfTI file, in the same mm
#'   space but on any grid. `NULL` is the mean of the images.
#' @param cuts Where to cut, in mm: three numbers x, y, z for `"ortho"`, any for the others. `NULL`
#'   chooses.
#' @param ncuts How many cuts to choose, by default 5, for `"mosaic"` 20.
#' @param radiological Draw the subject's left on the right?
#' @param limit Value at the ends of the colour bar, by default the largest absolute value.
#' @param style For `"3d"`: `"voxels"` as they are, or smooth `"surface"`s around them.
#' @param views For `"3d"` and meshes: from where, some of `"left"`, `"right"`, `"top"`, `"bottom"`,
#'   `"front"`, `"back"`, `"oblique"`.
#' @param main Title.
#' @param legend Draw the colour bar?
#' @param cex Size of the letters.
#' @return A list with the drawn panels, invisibly: for cuts the plane, the mm and the two layers
#'   (anatomy, map) with their mm.
#' @seealso [plot_folds()] for the folds of a cross-validation, [write_map()] for files.
#' @examples
#' set.seed(1)
#' cohort <- simulate_cohort(n = 60, voxel_size = 10)
#' fit <- n2gfl(cohort$images, cohort$y, family = "binomial", lambda2 = 0.003, nlambda1 = 10)
#' plot_map(fit, row = 8)
#' plot_map(fit, row = 8, type = "axial", ncuts = 3, main = "Atrophy")
#'
#' # The truth, and the same in a glass brain
#' plot_map(cohort$truth, like = cohort$images, type = "coronal", radiological = TRUE)
#' if (requireNamespace("misc3d", quietly = TRUE)) {
#'   plot_map(cohort$truth, like = cohort$images, type = "3d")
#' }
#' @export
plot_map <- function(object, s = NULL,
                     type = c("ortho", "axial", "coronal", "sagittal", "mosaic", "3d"),
                     row = NULL, like = NULL, template = NULL, cuts = NULL, ncuts = NULL,
                     radiological = FALSE, limit = NULL, style = c("voxels", "surface"),
                     views = NULL, main = NULL, legend = TRUE, cex = 1) {
  type <- match_choice(type, "type", c("ortho", "axial", "coronal", "sagittal", "mosaic", "3d"))
  style <- match_choice(style, "style", c("voxels", "surface"))
  map <- map_of(object, s, row, like)
  radiological <- check_flag(radiological, "radiological")
  legend <- check_flag(legend, "legend")
  cex <- check_positive(cex, "cex")
  limit <- check_limit(limit, map$values)
  cuts <- check_cuts(cuts, type)
  ncuts <- check_ncuts(ncuts, type)
  main <- check_title(main)
  views <- check_views(views, radiological, !is.null(map$mesh))

  paint <- function(values) map_colours(values, limit)
  panels <- if (!is.null(map$mesh)) mesh_panels(map$values, map$mesh, views, paint) else {
    layers <- map_layers(map, template)
    if (layers$flat) type <- "slice"
    if (type == "3d") glass_panels(layers, views, style) else {
      cut_panels(layers, type, cuts, ncuts, radiological, paint)
    }
  }
  draw_panels(panels, if (legend) map_bar(map, limit, type), main = main, cex = cex)
  invisible(panels)
}

# ---- what to draw --------------------------------------------------------------------------------

# list(values, space or mesh, name): one value per feature; images alone have their mean as anatomy
# and no values.
map_of <- function(object, s = NULL, row = NULL, like = NULL) {
  if (inherits(object, "niftiImage") || oro.nifti::is.nifti(object)) return(map_of_image(object))
  if (is_images(object) && !is_surface(object$space)) {
    return(list(values = numeric(ncol(object$x)), space = object$space, name = "mean"))
  }
  map <- numbers_of(object, s, row)
  if (is.null(like) && is.numeric(object)) {
    stop_bad("`like` must be given for a numeric `object`: images, a fit, or a mesh.")
  }
  place <- if (is.null(like)) feature_place(object, "object") else feature_place(like, "like")
  check_features(length(map$values), place)
  c(map, place)
}

# The numbers to draw and what they are.
numbers_of <- function(object, s, row) {
  if (inherits(object, c("n2gfl", "cv.n2gfl"))) {
    # Not inside `[`: Matrix would put its own words before a message.
    row <- map_row(object, s, row)
    return(list(values = as.numeric(full_fit(object)$beta[, row]), name = "coefficient"))
  }
  if (is_stabsel(object)) return(list(values = as.numeric(object$prob), name = "probability"))
  if (is_images(object)) return(list(values = object$space$mean, name = "value"))
  values <- check_vector(object, "object")
  check_finite(values, "object")
  list(values = values, name = "value")
}

check_features <- function(count, place) {
  features <- if (is.null(place$mesh)) sum(place$space$mask) else place$mesh$n
  if (count != features) {
    stop_bad("`object` must have one value per feature of `like` (", features, "), not ", count,
             ".")
  }
}

# Where the features are: list(space = ) or list(mesh = ). A mesh of a surface may have vertices
# without a feature; `mask` says which have one.
feature_place <- function(object, name) {
  if (inherits(object, "n2gfl_cohort")) object <- object$images
  if (!is.list(object)) {
    stop_bad("`", name, "` must be images, a fit to images, or a mesh, not ", describe(object), ".")
  }
  surface <- map_surface(object)
  if (!is.null(surface)) {
    return(list(mesh = c(list(n = sum(surface$mask)), surface[c("coords", "faces", "mask")])))
  }
  mesh <- if (inherits(object, "n2gfl_graph")) object else {
    if (inherits(object, "cv.n2gfl")) object$n2gfl.fit$graph else object[["graph"]]
  }
  if (!is.null(mesh$coords) && !is.null(mesh$faces)) {
    return(list(mesh = list(n = mesh$n, coords = mesh$coords, faces = mesh$faces,
                            mask = rep(TRUE, mesh$n))))
  }
  list(space = image_space(object, name))
}

# Everything that is not zero in an image; it is its own mask.
map_of_image <- function(image) {
  values <- image_array(image)
  if (length(dim(values)) > 3 && all(dim(values)[-(1:3)] == 1)) dim(values) <- dim(values)[1:3]
  if (length(dim(values)) == 2) dim(values) <- c(dim(values), 1L)
  if (length(dim(values)) != 3) {
    stop_bad("`object` must be an image with three dimensions, not ", length(dim(values)), ".")
  }
  values[!is.finite(values)] <- 0
  mask <- array(TRUE, dim(values))
  space <- new_space(mask, image_affine(image), rep(NA_real_, length(mask)))
  list(values = as.vector(values), space = space, name = "value")
}

# sform before qform; without its attributes.
image_affine <- function(image) matrix(as.numeric(RNifti::xform(image)), 4)

# ---- layers: volumes in RAS order with the mm of their voxels ------------------------------------

# A volume with its axes put in the order and direction of x, y, z, and the mm along each of them.
# Along a slanted axis the mm are those in the middle of the volume.
as_layer <- function(volume, affine) {
  axes <- mm_axes(affine)
  from <- order(axes$axis)
  middle <- (dim(volume) - 1) / 2
  mm <- lapply(1:3, function(k) {
    steps <- seq_len(dim(volume)[from[k]]) - 1 - middle[from[k]]
    round(affine[k, 4] + sum(affine[k, 1:3] * middle) + affine[k, from[k]] * steps, 6)
  })
  volume <- aperm(volume, from)
  for (k in which(axes$direction[from] < 0)) {
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

# Half the distance between neighbours; a single slice counts as thick as the others are wide.
half_step <- function(layer) {
  step <- vapply(layer$mm, function(at) (max(at) - min(at)) / (length(at) - 1), 0)
  ifelse(is.nan(step), min(step, na.rm = TRUE), step) / 2
}

# The anatomy and the map as layers, cut to the box of the mask.
map_layers <- function(map, template) {
  space <- map$space
  fill <- function(values, empty) replace(array(empty, space$dim), space$mask, values)
  over <- as_layer(fill(map$values, 0), space$affine)
  inside <- as_layer(array(as.numeric(space$mask), space$dim), space$affine)
  under <- if (!is.null(template)) template_layer(template) else {
    as_layer(fill(space$mean, NA_real_), space$affine)
  }
  # An image drawn for itself has no mask: what is not zero bounds it, or else all of it.
  shown <- if (all(space$mask) && any(over$volume != 0)) over$volume != 0 else inside$volume > 0
  bounds <- layer_bounds(over, shown)
  if (!is.null(template)) bounds <- layer_bounds(under, is_tissue(under))
  list(under = under, over = over, inside = inside, bounds = bounds,
       reach = layer_bounds(inside, inside$volume > 0), flat = dim(over$volume)[3] == 1,
       range = range(c(0, under$volume), na.rm = TRUE))
}

is_tissue <- function(layer) {
  !is.na(layer$volume) & layer$volume > 0.05 * max(layer$volume, na.rm = TRUE)
}

template_layer <- function(template) {
  if (is.character(template)) {
    if (length(template) != 1 || is.na(template) || !file.exists(template)) {
      stop_bad("`template` must be an image or the path of a NIfTI file, but there is no file ",
               describe(template), ".")
    }
    opened <- read_array(template, "template")
    return(template_volume(opened$values, opened$affine))
  }
  if (is_images(template)) {
    space <- template$space
    return(as_layer(replace(array(NA_real_, space$dim), space$mask, space$mean), space$affine))
  }
  if (!inherits(template, "niftiImage") && !oro.nifti::is.nifti(template)) {
    stop_bad("`template` must be an image or the path of a NIfTI file, not ", describe(template),
             ".")
  }
  template_volume(image_array(template), image_affine(template))
}

template_volume <- function(volume, affine) {
  if (length(dim(volume)) != 3) {
    stop_bad("`template` must have three dimensions, not ", length(dim(volume)), ".")
  }
  as_layer(array(as.double(volume), dim(volume)), affine)
}

# The mm around the voxels that `shown` marks, with their outer halves and a small margin.
layer_bounds <- function(layer, shown) {
  at <- which(shown, arr.ind = TRUE)
  half <- half_step(layer)
  bounds <- vapply(1:3, function(k) {
    range(layer$mm[[k]][range(at[, k])]) + (half[k] + 2) * c(-1, 1)
  }, numeric(2))
  dimnames(bounds) <- list(c("low", "high"), c("x", "y", "z"))
  bounds
}

# ---- cuts ----------------------------------------------------------------------------------------

plane_axes <- list(
  axial = c(across = 1, up = 2, through = 3), coronal = c(across = 1, up = 3, through = 2),
  sagittal = c(across = 2, up = 3, through = 1)
)

# The panels of a picture of cuts.
cut_panels <- function(layers, type, cuts, ncuts, radiological, paint) {
  # A volume of one slice has one cut.
  if (type == "slice") cuts <- layers$over$mm$z
  planes <- switch(type, ortho = c("coronal", "sagittal", "axial"), mosaic = "axial",
                   slice = "axial", type)
  if (is.null(cuts)) cuts <- choose_cuts(layers, type, ncuts)
  at <- if (type == "ortho") cuts[c(2, 1, 3)] else cuts
  cross <- if (type == "ortho") cuts
  Map(function(plane, at) cut_panel(layers, plane, at, radiological, paint, cross),
      rep_len(planes, length(at)), at, USE.NAMES = FALSE)
}

# One cut: what is drawn, where, and how.
cut_panel <- function(layers, plane, at, radiological, paint, cross = NULL) {
  axes <- plane_axes[[plane]]
  mirror <- if (radiological && plane != "sagittal") -1 else 1
  across <- sort(mirror * layers$bounds[, axes["across"]])
  up <- layers$bounds[, axes["up"]]
  under <- cut_layer(layers$under, axes, at, mirror)
  over <- cut_layer(layers$over, axes, at, mirror)
  if (!is.null(cross)) cross <- c(mirror * cross[axes["across"]], cross[axes["up"]])
  list(
    plane = plane, at = at, width = diff(across), height = diff(unname(up)),
    origin = unname(c(across[1], up[1])), caption = cut_caption(plane, at),
    corners = cut_corners(plane, mirror), under = under, over = over,
    draw = function(h, v) {
      clip_panel(h(across), v(up))
      draw_layer(under, h, v, grey_colours(under$values, layers$range))
      draw_layer(over, h, v, paint(over$values))
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

# Thin lines where the other two cuts go, open around the point itself.
draw_cross <- function(cross, h, v, across, up) {
  open <- 9 * c(-1, 1)
  graphics::segments(h(cross[1] + open), v(cross[2]), h(across), v(cross[2]), col = "grey55",
                     lwd = 0.6)
  graphics::segments(h(cross[1]), v(cross[2] + open), h(cross[1]), v(up), col = "grey55", lwd = 0.6)
}

cut_caption <- function(plane, at) {
  axis <- c(axial = "z", coronal = "y", sagittal = "x")[[plane]]
  side <- if (plane != "sagittal" || at == 0) "" else if (at < 0) "L, " else "R, "
  paste0(side, axis, " = ", mm_text(at), " mm")
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
  through <- plane_axes[[if (type == "mosaic") "axial" else type]][["through"]]
  mm <- layers$over$mm[[through]]
  inside <- which(mm > layers$reach[1, through] & mm < layers$reach[2, through])
  if (length(inside) <= ncuts) return(mm[inside])
  if (type == "mosaic" || !nrow(centres)) {
    return(mm[inside[round(seq(1, length(inside), length.out = ncuts))]])
  }
  # One region after the other, then the slices with most in them.
  weight <- apply(abs(layers$over$volume), through, sum)
  wanted <- unique(c(match(centres[, through], mm), order(weight, decreasing = TRUE)))
  wanted <- wanted[weight[wanted] > 0]
  sort(mm[utils::head(wanted, ncuts)])
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
  label <- connected_parts(graph)
  # Ties are broken by place, never by the order in which a region was found.
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

# ---- arguments -----------------------------------------------------------------------------------

check_limit <- function(limit, values) {
  if (!is.null(limit)) return(check_positive(limit, "limit"))
  largest <- max(abs(values))
  if (largest > 0) largest else 1
}

check_title <- function(main) {
  if (is.null(main)) return(NULL)
  if (!is.character(main) || length(main) != 1 || is.na(main)) {
    stop_bad("`main` must be one piece of text or NULL, not ", describe(main), ".")
  }
  main
}

check_cuts <- function(cuts, type) {
  if (is.null(cuts)) return(NULL)
  cuts <- check_vector(cuts, "cuts")
  check_finite(cuts, "cuts")
  if (!length(cuts)) stop_bad("`cuts` must have at least one number, not 0.")
  if (type == "ortho" && length(cuts) != 3) {
    stop_bad("`cuts` must be three numbers (x, y, z in mm) for type \"ortho\", not ",
             length(cuts), ".")
  }
  cuts
}

check_ncuts <- function(ncuts, type) {
  if (is.null(ncuts)) return(if (type == "mosaic") 20L else 5L)
  check_count(ncuts, "ncuts")
}

# Bar of the map, or of the anatomy when there is nothing else to show, or a key of two colours.
map_bar <- function(map, limit, type) {
  if (map$name == "mean") {
    range <- range(c(0, map$space$mean))
    return(new_bar(range, function(v) grey_colours(v, range), map$name))
  }
  if (all(map$values == 0)) return(NULL)
  if (type == "3d" && is.null(map$mesh)) {
    return(list(key = glass_colours[c(any(map$values > 0), any(map$values < 0), FALSE)]))
  }
  new_bar(c(-limit, limit), function(v) map_colours(v, limit), map$name)
}
