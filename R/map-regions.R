#' Table of the regions that a fit found
#'
#' One row for each connected region of voxels (or vertices) with a coefficient that is not zero:
#' its size, position and weight, and its name in an atlas. For stability selection, the regions of
#' the features whose probability reaches the cutoff.
#'
#' @details
#' Positions are millimetres of the images' space and do not depend on how the images are stored.
#' Where a region has one coefficient, as fused regions do, its peak is the voxel nearest to its
#' centre of mass.
#'
#' The atlas may have any grid: each voxel gets the atlas's label at the nearest point of that grid.
#'
#' A label file has number and name in each line (`17 Left-Hippocampus`), or name and number.
#' Colours after the name, as in FreeSurfer's tables, and comments are left out. If there are two
#' columns of numbers, as in AAL's `37 Hippocampus_L 4101`, the one with more of the atlas's numbers
#' is used. XML files of FSL and SPM are read as well. In those of FSL's probabilistic atlases the
#' first label has the index 0, and the value 1 in the images of the most probable label
#' (`maxprob`), which are the ones to use here: 1 is added to the index. In FSL's label atlases
#' index and value are the same.
#'
#' Sizes are in the units of what was fitted: a table of images has the columns `voxels` and `mm3`,
#' a table of a surface has `vertices` and `mm2` instead. A vertex has a third of the area of each
#' triangle around it.
#'
#' Printing shows which row of the grid the table describes, its lambdas, and the first regions. The
#' attribute `choice` holds that line, and `coords` the unit of the positions.
#' @inheritParams write_map
#' @param atlas `NULL`, or an image with a whole number for each structure, 0 for none: a path or an
#'   image of class `nifti` or `niftiImage` in the same space.
#' @param labels Names of the atlas's numbers: a data frame with a column of numbers and one of
#'   names; a character vector whose names are the numbers, or for the numbers 1, 2, ...; or the
#'   path of a label file, see the details. `NULL` gives the numbers themselves.
#' @return A data frame of class `n2gfl_regions`, sorted by the absolute value of `weight`; for
#'   stability selection by the sum of the probabilities. Without any region it has no rows.
#'   \item{region}{Number of the region, as in `write_map(what = "region")`.}
#'   \item{voxels, mm3}{Its size; for surfaces `vertices, mm2`.}
#'   \item{weight, coefficient}{Sum and mean of its coefficients. Stability selection has
#'     `probability` instead, the mean of its selection probabilities.}
#'   \item{peak, peak.x, peak.y, peak.z}{Largest coefficient in absolute value (for stability
#'     selection, the largest probability), and where it is.}
#'   \item{x, y, z}{Centre of mass, weighted by the absolute coefficients.}
#'   \item{selected}{Share of the folds that selected its voxels, on average; cross-validations
#'     only.}
#'   \item{name, share, names}{With an atlas: the structure that has the most of the region's
#'     voxels, its share, and all structures with theirs.}
#' @seealso [write_map()]
#' @examples
#' set.seed(1)
#' images <- read_images(array(rnorm(6 * 6 * 6 * 20, 1), c(6, 6, 6, 20)), threshold = -Inf)
#' y <- rowSums(images$x[, 20:22]) + rnorm(20)
#' fit <- n2gfl(images, y, lambda1 = 0.2, lambda2 = 0.05)
#' region_table(fit)
#' atlas <- RNifti::asNifti(array(rep(1:2, each = 108), c(6, 6, 6)))
#' region_table(fit, atlas = atlas, labels = c("lower half", "upper half"))
#' @export
region_table <- function(object, atlas = NULL, labels = NULL, s = NULL, row = NULL, ...) {
  check_empty_dots(...)
  if (is.null(atlas) && !is.null(labels)) {
    stop_bad("`labels` must be given together with `atlas`, whose numbers it names, but `atlas` ",
             "is NULL.")
  }
  map <- table_map(object, s, row)
  graph <- kept_in(object, "graph")
  place <- table_place(image_space(object))
  region <- numbered_regions(map$values, graph)
  rows <- lapply(seq_len(max(0, region)), function(k) region_row(which(region == k), k, map, place))
  table <- if (length(rows)) do.call(rbind, rows) else empty_table(map, place)
  if (!is.null(atlas)) table <- cbind(table, atlas_columns(region, place, atlas, labels))
  structure(table, class = c("n2gfl_regions", "data.frame"), coords = place$coords,
            choice = map$choice)
}

# What the table is made of: one value per feature, zero outside of all regions; the share of the
# folds that select each feature; and a line that says which row of the grid it is.
table_map <- function(object, s, row) {
  if (is_selection(object)) {
    check_no_row(s, row)
    passed <- object$prob >= object$cutoff - 1e-9
    return(list(values = ifelse(passed, as.double(object$prob), 0), probability = TRUE,
                choice = paste0("stability selection: cutoff ", number_text(object$cutoff),
                                ", lambda2 = ", lambda_label(object$lambda2))))
  }
  row <- map_row(object, s, row)
  list(values = full_fit(object)$beta[, row], probability = FALSE,
       share = if (!is.null(object$fold.fits)) selection_share(object, row),
       choice = choice_text(object, row))
}

# Regions of the support, numbered from the largest absolute weight on; 0 outside. Ties go to the
# larger region, then to the order of the features.
numbered_regions <- function(beta, graph) {
  support <- which(beta != 0)
  region <- integer(length(beta))
  if (!length(support)) return(region)
  component <- connected_components(graph, support)
  weight <- abs(as.vector(rowsum(beta[support], component)))
  order <- order(-signif(weight, 10), -tabulate(component))
  region[support] <- match(component, order)
  region
}

# Where the features are: mm of each and what these are, the size of each in mm^3 or mm^2, the names
# of number and size, and why there can be no atlas.
table_place <- function(space) {
  place <- place_of(space)
  list(mm = place$coords(space), coords = place$frame(space), size = place$size(space),
       units = place$units, atlas_flaw = place$atlas_flaw(space))
}

region_row <- function(nodes, k, map, place) {
  values <- map$values[nodes]
  mm <- place$mm[nodes, , drop = FALSE]
  centre <- colSums(abs(values) * mm) / sum(abs(values))
  peak <- peak_node(values, mm)
  size <- stats::setNames(list(length(nodes), sum(place$size[nodes])), place$units)
  value <- if (map$probability) list(probability = mean(values)) else {
    list(weight = sum(values), coefficient = mean(values))
  }
  row <- data.frame(
    region = k, size, value, peak = values[peak], peak.x = mm[peak, 1], peak.y = mm[peak, 2],
    peak.z = mm[peak, 3], x = centre[1], y = centre[2], z = centre[3]
  )
  if (!is.null(map$share)) row$selected <- mean(map$share[nodes])
  row
}

# The largest value. If several are largest, the one nearest to their centre; if this does not
# decide, the leftmost, rearmost and lowest. The order of storage does not matter.
peak_node <- function(values, mm) {
  top <- which(abs(values) >= max(abs(values)) * (1 - 1e-8))
  away <- rowSums(sweep(mm[top, , drop = FALSE], 2, colMeans(mm[top, , drop = FALSE]))^2)
  rounded <- round(mm[top, , drop = FALSE], 3)
  top[order(signif(away, 8), rounded[, 1], rounded[, 2], rounded[, 3])[1]]
}

empty_table <- function(map, place) {
  map$values <- 1
  region_row(1L, 0L, map, list(mm = matrix(0, 1, 3), size = 1, units = place$units))[0, ]
}

# ---- atlas ---------------------------------------------------------------------------------------

# name, share and names of each region.
atlas_columns <- function(region, place, atlas, labels) {
  if (!is.null(place$atlas_flaw)) stop_bad("`atlas` must be NULL for ", place$atlas_flaw, ".")
  atlas <- open_atlas(atlas)
  if (!is.null(labels)) {
    numbers <- setdiff(atlas$values, 0)
    labels <- check_labels(labels, numbers)
    warn_other_labels(labels, numbers)
  }
  inside <- region > 0
  code <- nearest_values(atlas, place$mm[inside, , drop = FALSE])
  name <- atlas_names(code, labels)
  each <- lapply(split(name, factor(region[inside], seq_len(max(0, region)))), name_shares)
  pick <- function(field, type) unname(vapply(each, `[[`, type, field))
  data.frame(name = pick("name", ""), share = pick("share", 0), names = pick("names", ""))
}

name_shares <- function(name) {
  share <- table(name) / length(name)
  # By share, then by name: the order must not depend on storage.
  share <- share[order(-round(as.vector(share), 10), names(share))]
  list(name = names(share)[1], share = share[[1]],
       names = paste0(names(share), " (", round(100 * share), "%)", collapse = ", "))
}

#' @method print n2gfl_regions
#' @export
print.n2gfl_regions <- function(x, rows = 20, digits = 3, ...) {
  if (!is.null(attr(x, "choice"))) cat(attr(x, "choice"), "\n", sep = "")
  if (!nrow(x)) {
    cat("No regions: the map is empty, no feature is selected.\n")
    return(invisible(x))
  }
  units <- place_units()
  unit <- c(intersect(units[1, ], names(x)), units[1])[1]
  cat(count_of(nrow(x), "region"), ", ", sum(x[[unit]]), " ", unit, "; positions in ",
      attr(x, "coords") %or% "mm", "\n", sep = "")
  print(shown_regions(utils::head(as.data.frame(unclass(x)), rows), digits), row.names = FALSE,
        right = TRUE)
  if (nrow(x) > rows) cat("... ", nrow(x) - rows, " more rows\n", sep = "")
  invisible(x)
}

# What tables call the number of features of a region and its size, one column for each kind.
place_units <- function() vapply(places(), `[[`, character(2), "units")

# The columns that fit on a screen, rounded. Columns that the user has removed are left out.
shown_regions <- function(table, digits) {
  where <- function(names) {
    if (all(names %in% names(table))) do.call(paste, lapply(table[names], round))
  }
  units <- place_units()
  shown <- table[intersect(c("region", units[1, ]), names(table))]
  for (size in intersect(units[2, ], names(table))) shown[[size]] <- round(table[[size]])
  for (value in intersect(c("weight", "coefficient", "probability"), names(table))) {
    shown[[sub("coefficient", "coef", value)]] <- signif(table[[value]], digits)
  }
  shown$peak <- where(c("peak.x", "peak.y", "peak.z"))
  shown$centre <- where(c("x", "y", "z"))
  if (!is.null(table$selected)) shown$selected <- paste0(round(100 * table$selected), "%")
  shown$names <- table$names
  shown
}
