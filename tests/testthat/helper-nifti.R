# NIfTI files that are made byte by byte, so that readers are tested against the standard and not
# against themselves.

nifti_types <- list(
  uint8 = list(code = 2, size = 1, what = "integer"),
  int16 = list(code = 4, size = 2, what = "integer"),
  int32 = list(code = 8, size = 4, what = "integer"),
  float32 = list(code = 16, size = 4, what = "numeric"),
  float64 = list(code = 64, size = 8, what = "numeric"),
  int8 = list(code = 256, size = 1, what = "integer"),
  uint16 = list(code = 512, size = 2, what = "integer"),
  uint32 = list(code = 768, size = 4, what = "integer"),
  int64 = list(code = 1024, size = 8, what = "integer"),
  uint64 = list(code = 1280, size = 8, what = "integer")
)

# Quaternion of a right- or left-handed affine without shear: b, c, d, and the factor of the third
# axis. Enough for axes along mm axes, in any order and direction.
affine_quaternion <- function(affine) {
  rotation <- sweep(affine[1:3, 1:3], 2, sqrt(colSums(affine[1:3, 1:3]^2)), "/")
  factor <- if (det(rotation) < 0) -1 else 1
  rotation[, 3] <- rotation[, 3] * factor
  best <- NULL
  for (a in c(0, 0.5, sqrt(0.5), 1)) for (b in c(-1, -sqrt(0.5), -0.5, 0, 0.5, sqrt(0.5), 1)) {
    for (c in c(-1, -sqrt(0.5), -0.5, 0, 0.5, sqrt(0.5), 1)) {
      rest <- 1 - a^2 - b^2 - c^2
      if (rest < -1e-12) next
      for (d in c(-1, 1) * sqrt(max(0, rest))) {
        away <- max(abs(quaternion_rotation(a, b, c, d) - rotation))
        if (is.null(best) || away < best$away) best <- list(away = away, bcd = c(b, c, d))
      }
    }
  }
  stopifnot(best$away < 1e-9)
  list(bcd = best$bcd, factor = factor)
}

quaternion_rotation <- function(a, b, c, d) {
  matrix(c(a^2 + b^2 - c^2 - d^2, 2 * (b * c + a * d), 2 * (b * d - a * c),
           2 * (b * c - a * d), a^2 + c^2 - b^2 - d^2, 2 * (c * d + a * b),
           2 * (b * d + a * c), 2 * (c * d - a * b), a^2 + d^2 - b^2 - c^2), 3)
}

nifti_header_bytes <- function(dim, affine, type, endian = "little", sform = 2, qform = 0,
                               slope = 1, intercept = 0, start = 352, magic = "n+1",
                               rank = length(dim)) {
  header <- raw(348)
  put <- function(at, values, size, what = "integer") {
    bytes <- writeBin(if (what == "integer") as.integer(values) else as.double(values), raw(),
                      size = size, endian = endian)
    header[at + seq_along(bytes)] <<- bytes
  }
  put(0, 348, 4)
  put(40, c(rank, dim, rep(1, 7 - length(dim))), 2)
  put(70, c(nifti_types[[type]]$code, 8 * nifti_types[[type]]$size), 2)
  size <- sqrt(colSums(affine[1:3, 1:3]^2))
  quaternion <- list(bcd = c(0, 0, 0), factor = 1)
  if (qform > 0) quaternion <- affine_quaternion(affine)
  put(76, c(quaternion$factor, size, 0, 0, 0, 0), 4, "numeric")
  put(108, c(start, slope, intercept), 4, "numeric")
  header[124] <- as.raw(2)  # mm
  put(252, c(qform, sform), 2)
  if (qform > 0) put(256, c(quaternion$bcd, affine[1:3, 4]), 4, "numeric")
  if (sform > 0) put(280, t(affine[1:3, ]), 4, "numeric")
  header[344 + seq_len(3)] <- charToRaw(magic)
  header
}

# The same in the second version of the standard, with an sform only.
nifti2_header_bytes <- function(dim, affine, type, endian = "little", slope = 1, intercept = 0,
                                start = 544, magic = "n+2") {
  header <- raw(540)
  put <- function(at, bytes) header[at + seq_along(bytes)] <<- bytes
  integers <- function(values, size = 4) writeBin(as.integer(values), raw(), size, endian)
  doubles <- function(values) writeBin(as.double(values), raw(), 8, endian)
  put(0, integers(540))
  put(4, c(charToRaw(magic), as.raw(c(0, 0x0d, 0x0a, 0x1a, 0x0a))))
  put(12, integers(c(nifti_types[[type]]$code, 8 * nifti_types[[type]]$size), 2))
  put(16, long_bytes(c(length(dim), dim, rep(1, 7 - length(dim))), endian))
  put(104, doubles(c(1, sqrt(colSums(affine[1:3, 1:3]^2)), 0, 0, 0, 0)))
  put(168, long_bytes(start, endian))
  put(176, doubles(c(slope, intercept)))
  put(344, integers(c(0, 2)))
  put(400, doubles(t(affine[1:3, ])))
  put(500, integers(2))  # mm
  header
}

# Integers of eight bytes, which R does not have.
long_bytes <- function(values, endian = "little") {
  halves <- rbind(values %% 2^32, floor(values / 2^32) %% 2^32)
  if (endian == "big") halves <- halves[2:1, ]
  writeBin(as.integer(ifelse(halves >= 2^31, halves - 2^32, halves)), raw(), 4, endian)
}

nifti_data_bytes <- function(values, type, endian = "little") {
  spec <- nifti_types[[type]]
  if (spec$what == "numeric") return(writeBin(as.double(values), raw(), spec$size, endian))
  if (spec$size == 8) return(long_bytes(values, endian))
  limit <- 2^(8 * spec$size)
  signed <- ifelse(values >= limit / 2, values - limit, values)
  writeBin(as.integer(signed), raw(), spec$size, endian)
}

# `file` may end in .nii, .nii.gz or .img (then the header goes beside it).
make_nifti <- function(values, file, affine = diag(4), type = "float32", endian = "little", ...) {
  pair <- grepl("\\.img$", file)
  header <- nifti_header_bytes(dim(values), affine, type, endian, start = if (pair) 0 else 352,
                               magic = if (pair) "ni1" else "n+1", ...)
  data <- nifti_data_bytes(values, type, endian)
  if (pair) {
    writeBin(c(header, raw(4)), sub("img$", "hdr", file))
    writeBin(data, file)
    return(invisible(file))
  }
  write_bytes(c(header, raw(4), data), file)
}

make_nifti2 <- function(values, file, affine = diag(4), type = "float32", endian = "little", ...) {
  header <- nifti2_header_bytes(dim(values), affine, type, endian, ...)
  write_bytes(c(header, raw(4), nifti_data_bytes(values, type, endian)), file)
}

write_bytes <- function(bytes, file) {
  connection <- if (grepl("gz$", file)) gzfile(file, "wb") else file(file, "wb")
  on.exit(close(connection))
  writeBin(bytes, connection)
  invisible(file)
}

# An affine with axes in the given order of storage, such as "RAS" or "PIR", that puts the grid
# around the origin.
stored_affine <- function(order, dim, size = c(2, 2, 2)) {
  letters <- strsplit(order, "")[[1]]
  axis <- c(R = 1, L = 1, A = 2, P = 2, S = 3, I = 3)[letters]
  sign <- ifelse(letters %in% c("R", "A", "S"), 1, -1)
  affine <- diag(4)
  affine[1:3, 1:3] <- 0
  for (k in 1:3) affine[axis[k], k] <- sign[k] * size[axis[k]]
  affine[1:3, 4] <- -affine[1:3, 1:3] %*% ((dim - 1) / 2) + c(3, -5, 7)
  affine
}

# An image that is given in RAS, as it would be stored in another order.
store_as <- function(image, order) {
  letters <- strsplit(order, "")[[1]]
  axis <- unname(c(R = 1, L = 1, A = 2, P = 2, S = 3, I = 3)[letters])
  image <- aperm(image, axis)
  flip <- function(k) {
    if (letters[k] %in% c("R", "A", "S")) seq_len(dim(image)[k]) else rev(seq_len(dim(image)[k]))
  }
  image[flip(1), flip(2), flip(3), drop = FALSE]
}

# An error whose message names files: their folder differs from run to run.
file_refusal <- function(code, folder) {
  text <- utils::capture.output(refusal(code))
  cat(gsub(paste0(folder, "/"), "", text, fixed = TRUE), sep = "\n")
}

# Small egg-shaped images in RAS, zero outside, one per subject.
egg_images <- function(n, dim = c(7, 9, 6)) {
  grid <- expand.grid(lapply(dim, seq_len))
  egg <- array(rowSums(sweep(sweep(grid, 2, (dim + 1) / 2), 2, dim / 2, "/")^2) < 0.9, dim)
  lapply(seq_len(n), function(i) egg * array(round(stats::runif(prod(dim), 0.3, 1), 2), dim))
}
