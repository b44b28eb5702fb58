#' Read brain images
#'
#' Reads images of many subjects into one matrix, subjects in rows and the voxels of a mask in
#' columns, together with the graph of the voxels and their positions in millimetres. [n2gfl()] and
#' [cv.n2gfl()] take the result as `x` and need no `graph` then.
#'
#' @details
#' RNifti reads the files one after the other, as they are stored: nothing is reoriented. Results in
#' millimetres do not depend on the order of storage. For many images of plain floats, the peak
#' memory is the matrix plus one or two volumes; images of other types, `coarsen`, `resample` and
#' the graph need up to about ten volumes for a while, which matters only for few images. Without a
#' mask, files whose values may not be floats (scaled, 32-bit integers, doubles) are read twice.
#'
#' Scale factors in the headers are applied. The affine is the sform's, or the qform's if there is
#' no sform; both are kept for the maps that are written later.
#'
#' Without a `mask`, a voxel is inside if its mean over the subjects exceeds `threshold` (in this
#' mean, values that are not finite count as 0). Voxels that have the same value in all subjects are
#' dropped from the mask, and counted.
#'
#' `coarsen` averages blocks of voxels. It is given along the left-right, posterior-anterior and
#' inferior-superior axes, and the blocks are counted from the left, posterior and inferior end, so
#' that they are the same however the image is stored; a last block may be cut by the image's
#' border and is then the mean of what it holds. A mask on the grid of the files is coarsened too:
#' a block is inside if at least half of it is. A `threshold` is applied to the blocks.
#'
#' Input that does not fit together is an error: images whose grids differ in size or by more than
#' 0.001 mm in position, a mask on another grid, values that are not finite inside the mask, the
#' same file twice, damaged files.
#'
#' With `resample = TRUE`, images on another grid are brought to that of the first image (or of
#' `like`) through the affines in the headers, by trilinear interpolation; a mask takes the value
#' that is nearest to each voxel. Images whose voxels are the same in another order of storage (LAS
#' and RAS) are then read exactly. Images are not registered to each other, and not smoothed: from a
#' fine to a coarse grid, `coarsen` of the fine images is better. Voxels outside of an image's field
#' of view, which ends half a voxel beyond the centres of its outermost voxels, are not finite:
#' inside the mask they are an error that names the image, unless `na` says otherwise.
#'
#' All images of a study should have the same scale. A warning names an image if both the mean
#' absolute value and the range of its values inside the mask are unusual, or if its mean is
#' outside of the usual range: by more than 10 robust standard deviations of the images (from the
#' median absolute deviation; of the logarithm for a gain, and at least 5 percent, or more for fewer
#' than 20 images), or by a factor of more than 20. New images are compared with those of `like`.
#' @param files The images, all on one grid (but see `resample`): paths of NIfTI files (`.nii`,
#'   `.nii.gz`, or `.hdr` with `.img`); the path of one file with four dimensions, the fourth being
#'   subjects; a list of images of class `nifti` (oro.nifti) or `niftiImage` (RNifti) or of arrays;
#'   one image or array with four dimensions; or a data frame with one row per subject and a column
#'   `file` (or `path`, or `filename`) with the paths. Names become the subjects' names.
#' @param mask The voxels to use: a path, an image or an array on the grid of the images (or on the
#'   coarsened grid, or on any grid with `resample`), not zero or `TRUE` inside; `NULL` to use
#'   `threshold`. A map of probabilities must be thresholded first.
#' @param threshold Without a mask, the mean above which a voxel is inside.
#' @param coarsen Size in voxels of the blocks to average: three whole numbers, or one for all three
#'   axes; `NULL` for none.
#' @param neighbours Neighbours of a voxel in the graph: 6, 18 or 26, see [graph_mask()].
#' @param na What to do with values inside the mask that are not finite: `"error"`, `"zero"` (take
#'   them as 0) or `"drop"` (drop those voxels from the mask).
#' @param data A data frame with one row per image: the subjects, for the outcome and the covariates
#'   of [n2gfl()]. Its rows are matched to the images by name, see *Rows by name* in [n2gfl()]; if
#'   nothing names them, they are taken in the order of the images, and a message says so. By
#'   default `files` itself, if that is a data frame.
#' @param scale How fits divide each subject's features, kept with the images as the default of
#'   their `scale`: `"none"`, `"mean"` (each subject by its mean over the mask) or the name of a
#'   column of `data`, such as the size of the head. The values in `x` stay as they are. `NULL` for
#'   none, or that of `like`. See *Scale* in [n2gfl()].
#' @param like Images, or a fit to images, whose mask, coarsening and graph are to be used again,
#'   for predictions. The new images must be on the same grid unless `resample` is `TRUE`, and no
#'   voxel is dropped.
#' @param resample Interpolate images and mask that are on another grid? See the details.
#' @param verbose Show a progress bar? In an interactive session it appears if reading takes more
#'   than 2 seconds (see *Progress* in [n2gfl()]); in a script it appears at once, but only if
#'   `verbose` is `TRUE`.
#' @param ... Must be empty.
#' @return A list of class `n2gfl_images`:
#'   \item{x}{Matrix with one row per subject and one column per voxel of the mask, in R's order of
#'     the array.}
#'   \item{graph}{Graph of the voxels, from [graph_mask()].}
#'   \item{space}{Where the voxels are: `dim` and `mask` of the grid, its `affine` from voxel
#'     indices (counted from 0) to millimetres, its NIfTI `header`, the `mean` of the images inside
#'     the mask, and how it was coarsened.}
#'   \item{subjects}{Names of the subjects.}
#'   \item{data}{The data frame of subjects, or `NULL`.}
#'   \item{dropped}{Number of voxels that were dropped because they had no variance.}
#'   \item{scale}{As it was given, if it was.}
#'   \item{files}{Path of each subject's file, as it was given; `NULL` if the images were in memory
#'     or in one file with four dimensions.}
#'
#'   `dim()` is that of `x`, `images[i]` or `images[i, ]` selects subjects, `summary()` has a row
#'   for each subject, and `plot()` shows the mean image with the mask's outline.
#' @seealso [n2gfl()], [write_map()], [region_table()]; [read_surface()] for surfaces.
#' @examples
#' # Four small images on disk, the third axis cut short
#' folder <- tempfile()
#' dir.create(folder)
#' set.seed(1)
#' files <- file.path(folder, paste0("sub-", 1:4, ".nii.gz"))
#' for (file in files) {
#'   image <- RNifti::asNifti(array(runif(10 * 12 * 8), c(10, 12, 8)))
#'   RNifti::sform(image) <- structure(diag(c(2, 2, 2, 1)), code = 2L)
#'   RNifti::writeNifti(image, file, datatype = "float")
#' }
#' images <- read_images(files, threshold = 0.4)
#' images
#' read_images(files, threshold = 0.4, coarsen = c(2, 2, 2))
#' summary(images[1:2])
#' plot(images)
#' unlink(folder, recursive = TRUE)
#' @export
read_images <- function(files, mask = NULL, threshold = 0.2, coarsen = NULL, neighbours = 6, ...,
                        na = c("error", "zero", "drop"), data = NULL, scale = NULL, like = NULL,
                        resample = FALSE, verbose = interactive()) {
  check_empty_dots(...)
  na <- match_choice(na, "na", c("error", "zero", "drop"))
  resample <- check_flag(resample, "resample")
  verbose <- check_flag(verbose, "verbose")
  check_image_scale(scale)
  if (!is.null(like)) {
    given <- c(mask = !missing(mask), threshold = !missing(threshold),
               coarsen = !missing(coarsen), neighbours = !missing(neighbours))
    images <- read_like(files, like, given, na, data, resample, verbose)
    return(set_scale(images, scale %or% scale_of(like)))
  }
  threshold <- check_threshold(threshold)
  neighbours <- check_neighbours(neighbours, 3)
  source <- image_source(files, data, resample = resample)
  on.exit(source$close(), add = TRUE)
  grid <- coarse_grid(source, coarsen)
  reading <- list(source = source, grid = grid, na = na, verbose = verbose, neighbours = neighbours)
  kept <- if (is.null(mask)) {
    read_by_mean(reading, threshold)
  } else {
    read_inside(reading, check_image_mask(mask, source, grid, resample))
  }
  stats <- image_stats(kept$x)
  warn_scale(stats, source$labels, end = if (is.null(mask)) {
    " The mask, which comes from the mean of all images, is affected as well."
  })
  space <- new_space(kept$mask, grid$affine, colMeans(kept$x), grid$header, grid$coarsen,
                     source[c("dim", "affine")], usual_scale(stats))
  set_scale(new_images(kept$x, kept$graph, space, source$subjects, source$data, kept$dropped,
                       source$paths), scale)
}

# New images for the mask of `like`: no voxel is chosen or dropped.
read_like <- function(files, like, given, na, data, resample, verbose) {
  space <- voxel_space(like, "like")
  if (any(given)) {
    stop_bad("`", names(given)[given][1], "` must not be given together with `like`, which has ",
             "its own.")
  }
  if (na == "drop") {
    stop_bad("`na` must be \"error\" or \"zero\" together with `like`, because its mask cannot ",
             "change, not \"drop\".")
  }
  target <- c(space$source[c("dim", "affine")], oriented = is_oriented(space$header))
  source <- image_source(files, data, target, resample)
  on.exit(source$close(), add = TRUE)
  grid <- coarse_grid(source, space$coarsen)
  reading <- list(source = source, grid = grid, na = na, verbose = verbose)
  x <- read_inside(reading, space$mask)$x
  warn_scale(image_stats(x), source$labels, space$usual)
  new_images(x, kept_in(like, "graph"), space, source$subjects, source$data, 0L, source$paths)
}

new_images <- function(x, graph, space, subjects, data = NULL, dropped = 0L, files = NULL) {
  structure(
    list(x = x, graph = graph, space = space, subjects = subjects, data = data,
         dropped = dropped, files = files),
    class = "n2gfl_images"
  )
}

is_images <- function(x) inherits(x, "n2gfl_images")

# Arguments of n2gfl() whose `x` may be images: they bring their matrix, graph, space and subjects.
# A plain matrix passes through as it is, without a copy.
unpack_images <- function(arguments) {
  if (!is_images(arguments$x)) return(arguments)
  images <- arguments$x
  arguments$x <- images$x
  if (is.null(arguments$graph)) arguments$graph <- images$graph
  if (is.null(arguments$scale)) arguments["scale"] <- list(images$scale)
  arguments$space <- images$space
  arguments
}

# The matrix of new images for a fit: their features must be where those of the fit are.
new_image_matrix <- function(images, object, name = "newx") {
  if (!is_images(images)) return(images)
  place_of(images$space)$check_new(images$space, object, name)
  images$x
}

# ---- reading -------------------------------------------------------------------------------------

# Reads every image once, at the voxels of a known mask.
read_inside <- function(reading, inside) {
  reading$progress <- start_reading(reading)
  on.exit(end_progress(reading$progress), add = TRUE)
  index <- which(inside)
  store <- store_new_cpp(reading$source$n, length(index), reading$grid$narrow)
  for (i in seq_len(reading$source$n)) {
    bad <- uninterrupted({
      volume <- read_volume(reading, i)
      bad <- store_add_cpp(store, volume, index, reading$na == "zero")
      free_volume_cpp(volume)
      bad
    })
    if (bad && reading$na == "error") stop_not_finite_image(reading$source, i, bad)
  }
  finish_store(store, reading, inside, rep(TRUE, length(index)))
}

# Reads every image once, although the mask is known only at the end: it stores the voxels whose
# mean over the first few images is above the threshold or not far below it. If the mean over all
# images exceeds the threshold in another voxel, the images are read again. Images whose values are
# not floats are always read again: storing more of their voxels than needed would take more memory
# than the matrix.
read_by_mean <- function(reading, threshold) {
  n <- reading$source$n
  reading$progress <- start_reading(reading)
  on.exit(end_progress(reading$progress), add = TRUE)
  early <- lapply(seq_len(early_images(n)), function(i) uninterrupted(read_volume(reading, i)))
  total <- numeric(prod(reading$grid$dim))
  for (volume in early) uninterrupted(add_volume_cpp(total, volume))
  candidate <- total / length(early) > threshold - 0.5 * abs(threshold) & reading$grid$once
  index <- which(candidate)
  store <- store_new_cpp(n, length(index), reading$grid$narrow)
  for (i in seq_len(n)) uninterrupted({
    volume <- if (i <= length(early)) early[[i]] else read_volume(reading, i)
    if (i > length(early)) add_volume_cpp(total, volume)
    store_add_cpp(store, volume, index, reading$na == "zero")
    free_volume_cpp(volume)
  })
  inside <- array(total / n > threshold, reading$grid$dim)
  if (!any(inside)) stop_empty_threshold(threshold, max(total / n))
  if (any(inside[!candidate])) {
    rm(store, early)
    end_progress(reading$progress)
    return(read_inside(reading, inside))
  }
  finish_store(store, reading, array(candidate, reading$grid$dim), inside[index])
}

# A script with `verbose = TRUE` gets the bar of `trace.it = 1`.
start_reading <- function(reading) {
  start_progress("Reading images", reading$source$n, trace = reading$verbose && !is_interactive(),
                 unit = "image", auto = reading$verbose)
}

# The number of images to read before the candidate voxels are chosen: so few that they need no
# more memory than the matrix.
early_images <- function(n) max(min(n, 3), min(5, n %/% 20))

# One image, in blocks if it is coarsened: R's numbers, or a pointer to floats outside of R, which
# free_volume_cpp() frees.
read_volume <- function(reading, i) {
  volume <- reading$source$read(i)
  tick(reading$progress, "")
  if (is.null(reading$grid$block)) return(volume)
  on.exit(free_volume_cpp(volume), add = TRUE)
  block_means_cpp(volume, reading$grid$block, prod(reading$grid$dim))
}

# The voxels of the store that are kept, as a matrix: list(x, mask, graph, dropped). `stored` is the
# array of the stored voxels, `wanted` says which of them are inside the mask. If the reading
# has no `neighbours`, the mask and its graph are given and must not change.
finish_store <- function(store, reading, stored, wanted) {
  scan <- uninterrupted(store_scan_cpp(store))
  bad <- wanted & scan$bad > 0
  if (any(bad) && reading$na == "error") stop_first_bad(store, reading$source, wanted)
  chosen <- !is.null(reading$neighbours)
  constant <- wanted & !bad & !scan$varies & reading$source$n > 1 & chosen
  keep <- wanted & !bad & !constant
  if (!any(keep)) {
    stop_bad("`files` must differ in at least one voxel of the mask, but none of ", length(keep),
             " voxels is left: ", sum(bad), " not finite, ", sum(constant), " without variance.")
  }
  stored[stored] <- keep
  # Make the graph before the matrix takes memory.
  graph <- if (chosen) graph_mask(stored, reading$neighbours)
  list(x = uninterrupted(store_take_cpp(store, keep, reading$source$subjects)), mask = stored,
       graph = graph, dropped = sum(constant))
}

# ---- refusals ------------------------------------------------------------------------------------

check_threshold <- function(threshold) {
  if (!is_number(threshold) || threshold == Inf) {
    stop_bad("`threshold` must be a number, not ", describe(threshold), ".")
  }
  as.double(threshold)
}

stop_not_finite_image <- function(source, i, count) {
  stop_bad("`files` must hold finite numbers inside the mask, but ", source$labels[i], " has ",
           count_of(count, "voxel"), if (isTRUE(source$resampled[i])) {
             " there with NaN or Inf or outside of its field of view"
           } else " with NaN or Inf there", ": fix it, or choose na = \"zero\" or na = \"drop\".")
}

stop_first_bad <- function(store, source, wanted) {
  for (i in seq_len(source$n)) {
    count <- store_count_bad_cpp(store, i, wanted)
    if (count) stop_not_finite_image(source, i, count)
  }
}

stop_empty_threshold <- function(threshold, largest) {
  stop_bad("`threshold` must be below the largest mean of a voxel over the images, ",
           number_text(largest), ", not ", number_text(threshold), ": no voxel is left.")
}
