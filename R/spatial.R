# Measures that know where the features are: a support that has moved by one voxel is nearly the
# same map, though not one feature need be in common.

# ---- dilation ------------------------------------------------------------------------------------

# Each node with its neighbours, as a sparse matrix of ones.
neighbourhood_matrix <- function(graph) {
  self <- seq_len(graph$n)
  Matrix::sparseMatrix(i = c(self, graph$from, graph$to), j = c(self, graph$to, graph$from), x = 1,
                       dims = c(graph$n, graph$n))
}

# Dice of the dilated sets, and the share of the sets' features that lie in or beside the other set.
dilated_measures <- function(counts, neighbourhood) {
  if (is.null(neighbourhood)) return(measured(c(NA_real_, NA_real_), "there is no graph"))
  if (length(counts$sizes) < 2) return(measured(c(NA_real_, NA_real_), one_run))
  dilated <- as_sets(neighbourhood %*% counts$sets)
  pairs <- pair_index(ncol(dilated))
  common <- as.matrix(Matrix::crossprod(dilated))[pairs]
  sizes <- diff(dilated@p)
  near <- as.matrix(Matrix::crossprod(counts$sets, dilated))
  near <- (near + t(near))[pairs] / (counts$sizes[pairs[, 1]] + counts$sizes[pairs[, 2]])
  dice <- 2 * common / (sizes[pairs[, 1]] + sizes[pairs[, 2]])
  measured(c(mean(dice), mean(near)), "two sets are both empty")
}

# ---- centres of regions --------------------------------------------------------------------------

# More regions than this are dust, and the centre of a speck says nothing that Dice does not.
most_regions <- 500L

# Mean distance from a region's centre to the nearest centre in the other run, both ways.
centre_distance <- function(runs, graph, coords) {
  if (ncol(runs) < 2) return(measured(NA_real_, one_run))
  if (is.null(graph)) return(measured(NA_real_, "there is no graph"))
  if (is.null(coords)) return(measured(NA_real_, "the graph has no coordinates"))
  if (any(diff(runs@p) == 0)) return(measured(NA_real_, "a set is empty"))
  centres <- region_centres(runs, graph, coords)
  if (max(lengths(centres)) > most_regions * ncol(coords)) {
    return(measured(NA_real_, paste("a run has more than", most_regions, "regions")))
  }
  pairs <- pair_index(ncol(runs))
  between <- function(i, j) nearest_distance(centres[[i]], centres[[j]])
  measured(mean(mapply(between, pairs[, 1], pairs[, 2])), "")
}

# For each run a matrix with one row per region.
region_centres <- function(runs, graph, coords) {
  region <- support_regions(runs, graph)
  run <- entry_runs(runs)
  # Regions are numbered within a run: together with the run they are a group.
  regions <- as.vector(tapply(region, factor(run, seq_len(ncol(runs))), max))
  group <- region + c(0L, cumsum(regions))[run]
  sums <- rowsum(coords[runs@i + 1L, , drop = FALSE], group)
  centres <- sums / tabulate(group)
  owner <- rep.int(seq_len(ncol(runs)), regions)
  lapply(seq_len(ncol(runs)), function(k) centres[owner == k, , drop = FALSE])
}

nearest_distance <- function(a, b) {
  squared <- outer(rowSums(a^2), rowSums(b^2), "+") - 2 * tcrossprod(a, b)
  distance <- sqrt(pmax(squared, 0))
  (mean(apply(distance, 1, min)) + mean(apply(distance, 2, min))) / 2
}

# The number of the region, within its run, that each entry of the runs belongs to: regions are the
# connected parts of a support, whatever its values.
support_regions <- function(runs, graph) label_parts(runs, graph, runs@x, Inf)

# Where the nodes are: in mm when the image space is known, else as the graph has them.
node_coords <- function(graph, space) {
  if (identical(graph$kind, "chain")) return(cbind(seq_len(graph$n)))
  if (is.null(space) || !identical(ncol(graph$coords), 3L)) return(graph$coords)
  cbind(graph$coords - 1, 1) %*% t(space$affine[1:3, ])
}
