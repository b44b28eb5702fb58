# The space of an image: grid, mask, and the affine from voxel indices (counted from 0) to mm.
# `source` is the grid of the files, which differs from `dim` and `affine` after coarsening, `usual`
# the scale of the images' values, see usual_scale().
new_space <- function(mask, affine, mean, header = space_header(dim(mask), affine),
                      coarsen = NULL, source = list(dim = dim(mask), affine = affine),
                      usual = NULL) {
  structure(
    list(dim = dim(mask), mask = mask, affine = affine, header = header, mean = mean,
         coarsen = coarsen, source = source, usual = usual),
    class = "n2gfl_space"
  )
}

# A NIfTI header with this grid; sform and qform say the same. `code` 4 means MNI space, 2 another
# space that images share. Made on a small cube, because
# RNifti drops a third dimension of size 1.
space_header <- function(dim, affine, code = 2L) {
  image <- RNifti::asNifti(array(0, c(2, 2, 2)))
  RNifti::pixdim(image) <- sqrt(colSums(affine[1:3, 1:3]^2))
  RNifti::sform(image) <- structure(affine, code = code)
  RNifti::qform(image) <- structure(affine, code = code)
  RNifti::pixunits(image) <- "mm"
  header <- RNifti::niftiHeader(image)
  header$dim <- c(3L, dim, 1L, 1L, 1L, 1L)
  header
}

# Millimetres of voxels given by their indices in R (a matrix with three columns, counted from 1).
voxel_mm <- function(affine, index) {
  index <- matrix(index, ncol = 3)
  sweep((index - 1) %*% t(affine[1:3, 1:3, drop = FALSE]), 2, affine[1:3, 4], "+")
}

# Millimetres of the voxels inside the mask, one row per feature.
space_mm <- function(space) voxel_mm(space$affine, arrayInd(which(space$mask), space$dim))

# Which mm axis (x, y, z) each array axis follows, and its sign (+1: array index and mm grow
# together). Results in millimetres depend on these alone, never on the order of storage.
mm_axes <- function(affine) {
  directions <- affine[1:3, 1:3]
  directions <- sweep(directions, 2, sqrt(colSums(directions^2)), "/")
  orders <- rbind(c(1, 2, 3), c(1, 3, 2), c(2, 1, 3), c(2, 3, 1), c(3, 1, 2), c(3, 2, 1))
  fit <- apply(orders, 1, function(o) sum(abs(directions[cbind(o, 1:3)])))
  axis <- orders[which.max(fit > max(fit) - 1e-9), ]
  list(axis = axis, sign = sign(directions[cbind(axis, 1:3)]))
}
