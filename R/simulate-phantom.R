# A head made by formula: where grey matter is, in millimetres (x to the right, y to the front, z
# up), roughly as in the space of the Montreal Neurological Institute. Left and right are mirror
# images: every formula uses |x| only.

# Ellipsoids: centre and half axes. The first two lose grey matter with the disease.
phantom_structures <- rbind(
  Hippocampus = c(28, -18, -16, 7, 16, 7),
  ParaHippocampal = c(20, -36, -15, 7, 14, 7),
  Amygdala = c(23, 1, -18, 7, 7, 7),
  Thalamus = c(11, -18, 9, 9, 14, 8),
  Caudate = c(13, 12, 10, 6, 13, 8),
  Putamen = c(26, 4, 2, 7, 16, 10)
)
phantom_names <- c(rownames(phantom_structures), head_lobes)
# Share of grey matter that a patient of severity 1 loses.
phantom_losses <- c(0.26, 0.20)

# The box that holds the head, and the height of the slice that a 2-D cohort shows.
phantom_box <- rbind(low = c(-72, -108, -62), high = c(72, 76, 82))
phantom_slice <- -16

# ---- the grid ------------------------------------------------------------------------------------

# Dimensions and affine of a grid with the middle of the box in its middle.
phantom_grid <- function(dim, voxel_size) {
  size <- phantom_box["high", ] - phantom_box["low", ]
  middle <- colMeans(phantom_box)
  flat <- length(dim) == 2
  if (flat) middle[3] <- phantom_slice
  if (is.null(dim)) {
    voxel_size <- rep_len(voxel_size, 3)
    dim <- pmax(ceiling(size / voxel_size - 1e-9), 1)
  } else {
    voxel_size <- size[seq_along(dim)] / dim
    if (flat) voxel_size[3] <- min(voxel_size)
    dim <- c(dim, 1)[1:3]
  }
  affine <- diag(c(voxel_size, 1))
  affine[1:3, 4] <- middle - voxel_size * (dim - 1) / 2
  list(dim = as.integer(dim), affine = affine, voxel_size = voxel_size, flat = flat)
}

# The points of a finer grid, `fine` of them along each axis of a voxel, with |x| for x.
phantom_points <- function(grid, fine) {
  axis <- function(k) {
    inner <- (seq_len(fine[k]) - (fine[k] + 1) / 2) / fine[k]
    at <- rep(seq_len(grid$dim[k]) - 1, each = fine[k]) + inner
    grid$affine[k, 4] + grid$voxel_size[k] * at
  }
  points <- as.matrix(expand.grid(axis(1), axis(2), axis(3)))
  cbind(abs(points[, 1]), points[, 2:3])
}

# Means over the finer points of each voxel.
voxel_means <- function(values, dim, fine) {
  shape <- as.vector(rbind(fine, dim))
  rowSums(aperm(array(values, shape), c(2, 4, 6, 1, 3, 5)), dims = 3) / prod(fine)
}

# ---- the anatomy ---------------------------------------------------------------------------------

# Millimetres to the surface of an ellipsoid, negative inside (exact to first order).
ellipsoid_distance <- function(points, shape) {
  away <- sweep(points, 2, shape[1:3])
  scaled <- sweep(away, 2, shape[4:6], "/")
  radius <- sqrt(rowSums(scaled^2))
  slope <- sqrt(rowSums(sweep(scaled, 2, shape[4:6], "/")^2))
  radius * (radius - 1) / pmax(slope, 1e-9)
}

soft_inside <- function(distance, width = 1.2) stats::plogis(-distance / width)

# Millimetres to the surface of the hemispheres, which the fissure splits above the core, of the
# plane below which only the temporal lobes reach, and of the cerebellum.
brain_distances <- function(points) {
  cerebrum <- ellipsoid_distance(points, c(0, -17, 14, 66, 86, 61))
  temporal <- ellipsoid_distance(points, c(44, -14, -22, 24, 46, 22))
  core <- ellipsoid_distance(points, c(0, -14, -4, 34, 44, 30))
  fissure <- ifelse(core < 0, -50, 2 - points[, 1])
  list(cortex = pmax(pmin(cerebrum, temporal), fissure),
       base = pmin(-23 - points[, 3], temporal),
       cerebellum = ellipsoid_distance(points, c(24, -64, -38, 28, 27, 19)))
}

# Grey matter between 0 and 1 at points: a folded ribbon under the surface, deep nuclei, the
# cerebellum; a little of it in white matter, none in the ventricles.
grey_matter <- function(points, brain, structures) {
  x <- points[, 1]
  y <- points[, 2]
  z <- points[, 3]
  fold <- sin((y + 6 * sin(z / 11)) / 3.4) * cos((z + 7 * sin(x / 12)) / 3.7) +
    0.6 * sin((x + 5 * sin(y / 13)) / 3.1)
  depth <- -brain$cortex
  sulcus <- pmax(-fold, 0) * 3
  ribbon <- soft_inside(sulcus - depth) * soft_inside(depth - (13 + 6 * fold), 2)
  grey <- (0.12 * soft_inside(brain$cortex) + 0.62 * ribbon) * soft_inside(brain$base)
  folia <- 0.55 + 0.12 * sin(z / 1.8 + y / 9)
  grey <- pmax(grey, folia * soft_inside(brain$cerebellum))
  for (structure in structures) grey <- pmax(grey, 0.75 * soft_inside(structure))
  ventricle <- pmin(ellipsoid_distance(points, c(9, -8, 20, 6, 34, 7)),
                    ellipsoid_distance(points, c(24, -38, 6, 6, 14, 8)))
  grey * (1 - soft_inside(ventricle))
}

# Everything that does not depend on the subjects, voxel by voxel.
phantom_anatomy <- function(grid) {
  fine <- pmin(pmax(ceiling(grid$voxel_size / 4.5), 1), 4)
  points <- phantom_points(grid, fine)
  brain <- brain_distances(points)
  structures <- apply(phantom_structures, 1, ellipsoid_distance, points = points, simplify = FALSE)
  average <- function(values) voxel_means(values, grid$dim, fine)
  template <- average(grey_matter(points, brain, structures))
  mask <- template > 0.2
  share <- vapply(structures, function(d) as.vector(average(d < 0)), numeric(prod(grid$dim)))
  structure <- phantom_parts(share, mask, grid)
  atlas <- head_atlas(structure, average(brain$cerebellum) < 0, mask, grid, phantom_names)
  labels <- head_labels(phantom_names)
  diseased <- labels$index[labels$index <= 2 * length(phantom_losses)]
  share <- outer(as.vector(atlas), diseased, "==") *
    rep(rep(phantom_losses, each = 2), each = length(atlas))
  list(template = template, mask = mask, atlas = atlas, labels = labels,
       artefact = phantom_artefact(points, average) & mask & structure == 0, grid = grid,
       share = share, losses = rep(phantom_losses, each = 2), code = 2L,
       region = factor(atlas[mask], diseased, labels$name[diseased]))
}

# The structure that each voxel belongs to: the one that fills most of it, if that is more than a
# third of the voxel; otherwise 0. A structure that is too small for that gets the voxel that holds
# most of it on each side.
phantom_parts <- function(share, mask, grid) {
  share[!mask, ] <- 0
  best <- max.col(share, ties.method = "first")
  part <- ifelse(share[cbind(seq_along(best), best)] > 0.34, best, 0L)
  side <- head_side(grid)
  for (k in rev(seq_len(ncol(share)))) for (s in c(-1, 1)) {
    here <- share[, k] * (side == s)
    if (max(here) > 0 && !any(part == k & side == s)) part[which.max(here)] <- k
  }
  array(part, grid$dim)
}

# Where segmentation is wrong: beside the front horns of the ventricles, which widen with the
# disease, and at one sulcus near the vertex. Patients seem to have more grey matter there.
phantom_artefact <- function(points, average) {
  horns <- ellipsoid_distance(points, c(13, 24, 10, 8, 9, 9))
  sulcus <- ellipsoid_distance(points, c(34, -28, 58, 10, 9, 9))
  front <- ellipsoid_distance(points, c(34, 30, -16, 9, 8, 8))
  average(pmin(horns, sulcus, front) < 0) > 0.34
}
