# Resampling: the values of images, masks and atlases at the voxels of another grid. Positions are
# compared in millimetres, so that results do not depend on the order of storage.

# A source whose images are all on the grid of the first or, if it is given, of `target`: a list
# with dim, affine and oriented. If `resample` is TRUE, images on another grid are
# interpolated when they are read; otherwise they are refused.
on_one_grid <- function(source, target, resample) {
  # Volumes of one file have one grid.
  grids <- if (is.null(source$grids)) list(source) else source$grids
  source$grids <- NULL
  first <- if (is.null(target)) grids[[1]] else target
  other <- which(!vapply(grids, same_grid, NA, first))
  if (!length(other)) return(source)
  name <- if (is.null(target)) source$labels[1] else "`like`"
  if (!resample) stop_other_grid(first, grids[[other[1]]], name, source$labels[other[1]])
  check_oriented(c(list(first), grids[other]), c(name, source$labels[other]))
  resampled_source(source, grids, first, other)
}

stop_other_grid <- function(a, b, label_a, label_b) {
  stop_bad("`files` must be on one grid, but ", label_a, " and ", label_b, " have ",
           grid_difference(a, b), if (isTRUE(a$oriented) && isTRUE(b$oriented)) {
             paste0(": set resample = TRUE to interpolate all images to the grid of ", label_a)
           }, ".")
}

check_oriented <- function(grids, labels) {
  lost <- which(!vapply(grids, function(grid) isTRUE(grid$oriented), NA))[1]
  if (!is.na(lost)) {
    stop_bad("`resample` must be FALSE for images that are not placed in millimetres, but ",
             labels[lost], " has neither sform nor qform.")
  }
}

# One volume at a time is in memory twice, on its own grid and on the new one.
resampled_source <- function(source, grids, target, other) {
  read <- source$read
  one <- length(grids) == 1
  source$resampled <- one | seq_len(source$n) %in% other
  source$read <- function(i) {
    volume <- read(i)
    if (!source$resampled[i]) return(volume)
    on.exit(free_volume_cpp(volume), add = TRUE)
    grid <- grids[[if (one) 1 else i]]
    resample_cpp(volume, as.integer(grid$dim), solve(grid$affine) %*% target$affine,
                 as.integer(target$dim))
  }
  source$dim <- target$dim
  source$affine <- target$affine
  source$narrow <- FALSE
  source
}

# The mask at the points of its grid that are nearest to the voxels of the images; FALSE outside.
resample_mask <- function(mask, grid) {
  check_oriented(list(mask, grid), c("the mask", grid$labels[1]))
  mm <- voxel_mm(grid$affine, arrayInd(seq_len(prod(grid$dim)), grid$dim))
  inside <- array(nearest_values(mask, mm), grid$dim) != 0
  if (!any(inside)) {
    stop_bad("`mask` must have a voxel on the grid of the images, but all its nonzero voxels are ",
             "outside of it.")
  }
  inside
}

# The value at the grid point nearest to each position; 0 outside of the image.
nearest_values <- function(image, mm) {
  # Shift positions slightly to the right, front and top: for a position midway between two points
  # of the grid, the order of storage must not decide.
  mm <- sweep(mm, 2, c(1, 2, 3) * 1e-5, "+")
  back <- solve(image$affine)
  index <- round(sweep(mm %*% t(back[1:3, 1:3]), 2, back[1:3, 4], "+")) + 1
  within <- index >= 1 & sweep(index, 2, image$dim, "<=")
  within <- within[, 1] & within[, 2] & within[, 3]
  values <- integer(nrow(mm))
  values[within] <- image$values[index[within, , drop = FALSE]]
  values
}

# Are these the same voxels, stored in another order?
same_voxels <- function(a, b) {
  map <- solve(a$affine) %*% b$affine
  whole <- round(map)
  if (any(abs(map - whole) > affine_tolerance)) return(FALSE)
  turn <- abs(whole[1:3, 1:3])
  if (any(rowSums(turn) != 1 | colSums(turn) != 1)) return(FALSE)
  corners <- rbind(c(0, 0, 0), b$dim - 1)
  ends <- sweep(corners %*% t(whole[1:3, 1:3]), 2, whole[1:3, 4], "+")
  all(apply(ends, 2, min) == 0) && all(apply(ends, 2, max) == a$dim - 1)
}
