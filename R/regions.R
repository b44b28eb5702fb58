#' Table of the regions that a fit found
#'
#' One row for each connected region of voxels (or vertices) with a coefficient that is not zero:
#' how large it is, where it is, how much it weighs, and what an atlas calls it.
#'
#' @details
#' Positions are millimetres of the images' space and do not depend on how the images are stored.
#' Where a region has one coefficient, as fused regions do, its peak is the voxel nearest to its
#' centre of mass.
#'
#' The atlas may have any grid: each voxel gets the atlas's label at the nearest point of that grid.
#'
#' A label file has number and name in each line (`17 Left-Hippocampus`), or name and number.
#' Colours after the name, as in FreeSurfer's tables, and comments are left out. Of two numbers, as
#' in AAL's `37 Hippocampus_L 4101`, the column is used that has more of the atlas's numbers. XML
#' files of FSL and SPM are read as well. In those of FSL's probabilistic atlases the first label
#' has the index 0, and the value 1 in the images of the most probable label (`maxprob`), which are
#' the ones to use here: 1 is added to the index. In FSL's label atlases index and value are the
#' same.
#' @inheritParams write_map
#' @param atlas `NULL`, or an image with a whole number for each structure, 0 for none: a path or an
#'   image of class `nifti` or `niftiImage` in the same space.
#' @param labels Names of the atlas's numbers: a data frame with a column of numbers and one of
#'   names; a character vector whose names are the numbers, or for the numbers 1, 2, ...; or the
#'   path of a label file, see the details. `NULL` gives the numbers themselves.
#' @return A data frame of class `n2gfl_regions`, sorted by the absolute value of `weight`:
#'   \item{region}{Number of the region, as in `write_map(what = "region")`.}
#'   \item{voxels, mm3}{Its size.}
#'   \item{weight, coefficient}{Sum and mean of its coefficients.}
#'   \item{peak, peak.x, peak.y, peak.z}{Largest coefficient in absolute value, and where it is.}
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
  row <- map_row(object, s, row)
  graph <- image_graph(object)
  place <- map_place(object, graph)
  beta <- full_fit(object)$beta[, row]
  region <- numbered_regions(beta, graph)
  share <- if (!is.null(object$fold.fits)) selection_share(object, row)
  rows <- lapply(seq_len(max(0, region)), function(k) {
    region_row(which(region == k), k, beta, place, share)
  })
  table <- if (length(rows)) do.call(rbind, rows) else empty_table(place, share)
  if (!is.null(atlas)) table <- cbind(table, atlas_columns(region, place, atlas, labels))
  structure(table, class = c("n2gfl_regions", "data.frame"), coords = place$coords)
}

# Regions of the support, numbered from the largest absolute weight on; 0 outside. Ties go to the
# larger region, then to the order of the features.
numbered_regions <- function(beta, graph) {
  support <- which(beta != 0)
  region <- integer(length(beta))
  if (!length(support)) return(region)
  part <- connected_parts(graph, support)
  weight <- abs(as.vector(rowsum(beta[support], part)))
  order <- order(-signif(weight, 10), -tabulate(part))
  region[support] <- match(part, order)
  region
}

# Where the features are: mm of each, mm^3 of one, and the names of the coordinates.
map_place <- function(object, graph) {
  if (!is.null(map_surface(object))) return(list(mm = graph$coords, volume = NA, coords = "mm"))
  space <- image_space(object)
  list(mm = space_mm(space), volume = abs(det(space$affine[1:3, 1:3])), space = space,
       coords = if (is_oriented(space$header)) "mm" else "mm without orientation")
}

region_row <- function(nodes, k, beta, place, share) {
  values <- beta[nodes]
  mm <- place$mm[nodes, , drop = FALSE]
  centre <- colSums(abs(values) * mm) / sum(abs(values))
  peak <- peak_node(values, mm)
  row <- data.frame(
    region = k, voxels = length(nodes), mm3 = length(nodes) * place$volume, weight = sum(values),
    coefficient = mean(values), peak = values[peak], peak.x = mm[peak, 1], peak.y = mm[peak, 2],
    peak.z = mm[peak, 3], x = centre[1], y = centre[2], z = centre[3]
  )
  if (!is.null(share)) row$selected <- mean(share[nodes])
  row
}

# Of the largest values the one nearest to their centre; of several, the first from left, back and
# below. Never the first in storage.
peak_node <- function(values, mm) {
  top <- which(abs(values) >= max(abs(values)) * (1 - 1e-8))
  away <- rowSums(sweep(mm[top, , drop = FALSE], 2, colMeans(mm[top, , drop = FALSE]))^2)
  rounded <- round(mm[top, , drop = FALSE], 3)
  top[order(signif(away, 8), rounded[, 1], rounded[, 2], rounded[, 3])[1]]
}

empty_table <- function(place, share) {
  row <- region_row(1L, 0L, 1, list(mm = matrix(0, 1, 3), volume = place$volume), share)
  row[0, ]
}

# ---- atlas ---------------------------------------------------------------------------------------

# name, share and names of each region.
atlas_columns <- function(region, place, atlas, labels) {
  if (is.null(place$space)) {
    stop_bad("`atlas` must be NULL for a surface: its labels belong to voxels.")
  }
  inside <- region > 0
  code <- atlas_codes(atlas, place$mm[inside, , drop = FALSE])
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
  cat(count_of(nrow(x), "region"),
      if (nrow(x)) paste0(", ", sum(x$voxels), " voxels; positions in ", attr(x, "coords")),
      "\n", sep = "")
  if (!nrow(x)) return(invisible(x))
  table <- as.data.frame(unclass(x))[seq_len(min(rows, nrow(x))), , drop = FALSE]
  where <- function(a, b, c) paste(round(a), round(b), round(c))
  shown <- data.frame(region = table$region, voxels = table$voxels, mm3 = round(table$mm3),
                      weight = signif(table$weight, digits),
                      coef = signif(table$coefficient, digits),
                      peak = where(table$peak.x, table$peak.y, table$peak.z),
                      centre = where(table$x, table$y, table$z))
  if (all(is.na(table$mm3))) shown$mm3 <- NULL
  if (!is.null(table$selected)) shown$selected <- paste0(round(100 * table$selected), "%")
  if (!is.null(table$names)) shown$names <- table$names
  print(shown, row.names = FALSE, right = TRUE)
  if (nrow(x) > rows) cat("... ", nrow(x) - rows, " more rows\n", sep = "")
  invisible(x)
}
