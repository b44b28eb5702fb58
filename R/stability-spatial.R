# Measures that use the positions of the features: a support that has moved by one voxel is nearly
# the same map, although the two may have no feature in common.

# ---- dilation ------------------------------------------------------------------------------------

# Each node with its neighbours, as a sparse matrix of ones.
neighbourhood_matrix <- function(graph) {
  self <- seq_len(graph$n)
  Matrix::sparseMatrix(i = c(self, graph$from, graph$to), j = c(self, graph$to, graph$from), x = 1,
                       dims = c(graph$n, graph$n))
}

# Dice of the dilated sets, and the share of the sets' features in or next to the other set.
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

# With more regions than this most are tiny, and their centres add nothing to what Dice measures.
most_regions <- 500L

# Mean distance from a region's centre to the nearest centre in the other run, both ways.
centre_distance <- function(runs, graph, coords) {
  if (ncol(runs) < 2) return(measured(NA_real_, one_run))
  if (is.null(graph)) return(measured(NA_real_, "there is no graph"))
  if (is.null(coords)) return(measured(NA_real_, "the graph has no coordinates"))
  if (any(diff(runs@p) == 0)) return(measured(NA_real_, "a set is empty"))
  centres <- region_centres(runs, graph, coords)
  if (max(tabulate(centres$run)) > most_regions) {
    return(measured(NA_real_, paste("a run has more than", most_regions, "regions")))
  }
  measured(mean_nearest_distance(centres$at, centres$run), "")
}

# list(at = one row per region, run = the run that it belongs to).
region_centres <- function(runs, graph, coords) {
  region <- support_regions(runs, graph)
  # Regions are numbered within a run: together with the run they are a group.
  most <- max(region)
  group <- (entry_runs(runs) - 1) * most + region
  size <- tabulate(group, most * ncol(runs))
  sums <- rowsum(coords[runs@i + 1L, , drop = FALSE], group)
  list(at = sums / size[size > 0], run = (which(size > 0) - 1) %/% most + 1)
}

# Over all ordered pairs of runs: the mean distance from a centre in one to the nearest in the
# other.
mean_nearest_distance <- function(at, run) {
  regions <- tabulate(run)
  towards <- vapply(split(seq_along(run), run), function(rows) {
    nearest <- rep(Inf, length(run))
    for (row in rows) nearest <- pmin(nearest, squared_distance(at, at[row, ]))
    as.vector(rowsum(sqrt(nearest), run)) / regions
  }, numeric(length(regions)))
  mean(towards[row(towards) != col(towards)])
}

squared_distance <- function(at, centre) {
  squared <- 0
  for (axis in seq_along(centre)) squared <- squared + (at[, axis] - centre[axis])^2
  squared
}

# The number of the region, within its run, that each entry of the runs belongs to: regions are the
# components of a support, whatever its values.
support_regions <- function(runs, graph) label_parts(runs, graph, runs@x, Inf)

# Where the nodes are: in mm if the image space is known, otherwise the graph's own coordinates,
# which are mm for a mesh.
node_coords <- function(graph, space) {
  if (identical(graph$kind, "chain")) return(cbind(seq_len(graph$n)))
  if (is.null(space) || !identical(ncol(graph$coords), 3L) || is_mesh(graph)) return(graph$coords)
  place_of(space)$graph_mm(space, graph$coords)
}
