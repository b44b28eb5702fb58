# Smooth volumes: Gaussian smoothing, and random fields that are smooth from the start.

# Full width at half maximum of a Gaussian, in standard deviations.
fwhm_of_sd <- 2 * sqrt(2 * log(2))

gaussian_weights <- function(to, from, sd) exp(-outer(to, from, "-")^2 / (2 * sd^2))

# Multiplies along the first axis, then makes it the last one; after all axes, they are in the old
# order.
along_axes <- function(values, kernels) {
  for (kernel in kernels) values <- t(kernel %*% matrix(values, ncol(kernel)))
  values
}

# Smooths with a Gaussian of this full width at half maximum; at the border, over what is there.
# Only the box of voxels that are not 0 is read.
blur_volume <- function(volume, voxel_size, fwhm) {
  at <- which(volume != 0, arr.ind = TRUE)
  if (!nrow(at)) return(volume)
  box <- apply(at, 2, range)
  kernels <- lapply(1:3, function(k) {
    at <- voxel_size * seq_len(dim(volume)[k])
    kernel <- gaussian_weights(at, at, fwhm / fwhm_of_sd)
    (kernel / rowSums(kernel))[, box[1, k]:box[2, k], drop = FALSE]
  })
  read <- volume[box[1, 1]:box[2, 1], box[1, 2]:box[2, 2], box[1, 3]:box[2, 3]]
  array(along_axes(read, kernels), dim(volume))
}

# ---- fields on the grid of the images ------------------------------------------------------------

# One matrix per axis. Rows have norm 1, so that smoothed white noise has variance 1 everywhere, at
# the border too.
field_kernels <- function(grid, millimetres) {
  lapply(which(grid$dim > 1), function(k) {
    at <- grid$voxel_size[k] * seq_len(grid$dim[k])
    kernel <- gaussian_weights(at, at, millimetres)
    kernel / sqrt(rowSums(kernel^2))
  })
}

# Variance 1 at every voxel.
random_field <- function(kernels) {
  noise <- stats::rnorm(prod(vapply(kernels, ncol, 1L)))
  as.vector(along_axes(noise, kernels))
}

# ---- fields that do not depend on the grid -------------------------------------------------------

# White noise lies on a lattice of its own, given by the box in millimetres, and each voxel weights
# what is around it. So voxels of 2 and of 8 mm show the same field, and random_field() draws the
# same numbers for both. With knots 1.25 standard deviations apart the field is as smooth as white
# noise on a fine grid that is smoothed with this width: correlations differ by less than 0.004.
lattice_kernels <- function(grid, box, fwhm) {
  sd <- fwhm / fwhm_of_sd
  step <- 1.25 * sd
  lapply(1:3, function(k) {
    at <- grid$affine[k, 4] + grid$voxel_size[k] * (seq_len(grid$dim[k]) - 1)
    middle <- mean(box[, k])
    reach <- ceiling((diff(box[, k]) / 2 + 3.5 * sd) / step)
    kernel <- gaussian_weights(at, middle + step * seq(-reach, reach), sd)
    kernel / sqrt(rowSums(kernel^2))
  })
}
