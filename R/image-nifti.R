# The header of a NIfTI file, read and checked before RNifti sees the file. RNifti reads the data,
# and the header of a file that has passed (read_header()). RNifti::niftiHeader() cannot come first:
# of the first 650 files of `make torture TRIAL=nifti`, 16 made it crash R, 67 that must be refused
# were accepted, and all whole files in big-endian had wrong fields, because it does not swap their
# bytes (RNifti 1.10.0). What is here is what RNifti does not check:
# - the size that the header claims, before memory is allocated for it: it may be terabytes;
# - dimensions of 0 or less (RNifti takes them as 1), more than four, or too large for R;
# - a magic word without its final zero (taken as ANALYZE, so that scale and affine are lost);
# - types without real numbers: complex, colour, long double;
# - an affine with NaN, Inf or no volume (RNifti takes Inf as 0);
# - that the file is as long as its header says (RNifti prints on the terminal that it is not);
# - the checksum of a compressed file.

# list(path, dim, volumes, narrow, start, affine, oriented, packed); dim has three numbers, `packed`
# is the file of the data if that is compressed.
open_nifti <- function(path, name = "files") {
  parts <- nifti_parts(path, name)
  claims <- nifti_claims(parts$header)
  sizes <- check_claims(claims, path, name)
  check_file_size(parts$data, sizes, path, name)
  c(list(path = path), sizes[c("dim", "volumes", "narrow", "start")],
    list(affine = check_affine(header_affine(claims), quoted(path), name),
         oriented = is_oriented(claims),
         packed = if (is_gzip(parts$data)) parts$data))
}

# The values of one volume, or of all, read by RNifti's C++ and not by RNifti::readNifti(), which
# lets numbers that are too large for R's integers overflow; also, R does not know how much memory
# its internal images take. Plain floats come as a pointer, to be freed by free_volume_cpp(), unless
# `numbers` is TRUE. RNifti does not notice that a compressed file is damaged in its middle, so its
# checksum is compared.
read_values <- function(file, volume = 0L, name = "files", numbers = FALSE) {
  loadNamespace("RNifti")  # for its C++ functions
  read <- function(before = raw(0), sum = NA_real_) {
    or_damaged(read_nifti_cpp(file$path, volume, numbers, before, sum), file, name)
  }
  if (is.null(file$packed)) return(read())
  values <- read(first_bytes(file$packed, file$start), gzip_end(file$packed)[["sum"]])
  if (!is.null(values)) return(values)
  # The checksum of a file that was compressed in pieces, has data after the image or is in the
  # other byte order cannot be compared in this way: the whole file is unpacked.
  if (!is_whole_gzip(file$packed)) stop_damaged(file, name)
  read()
}

# Values as an array with its dimensions, for the file of a mask or a template.
read_array <- function(path, name) {
  file <- open_nifti(path, name)
  dim <- as.integer(c(file$dim, if (file$volumes > 1) file$volumes))
  list(values = array(read_values(file, name = name, numbers = TRUE), dim), affine = file$affine)
}

# RNifti's header, taken from the image, where the bytes are swapped if necessary.
read_header <- function(file) {
  volume <- if (file$volumes > 1) 1
  RNifti::niftiHeader(
    or_damaged(RNifti::readNifti(file$path, internal = TRUE, volumes = volume), file, "files"))
}

# RNifti's warnings are dropped if it fails, because the error says the same.
or_damaged <- function(image, file, name) {
  warnings <- list()
  keep <- function(w) {
    warnings <<- c(warnings, list(w))
    invokeRestart("muffleWarning")
  }
  tryCatch(withCallingHandlers(image, warning = keep), error = function(e) stop_damaged(file, name))
  for (w in warnings) warning(w)
  image
}

stop_damaged <- function(file, name) {
  stop_bad("`", name, "` must hold whole files, but ", quoted(file$path), " is truncated or ",
           "damaged: its data cannot be read.")
}

# The file of the header and the file of the data: one for .nii, two for .hdr and .img.
nifti_parts <- function(path, name) {
  if (!file.exists(path) || dir.exists(path)) {
    stop_bad("`", name, "` must hold paths of NIfTI files, but there is no file ",
             quoted(path), ".")
  }
  pair <- regexpr("\\.(hdr|img)(\\.gz)?$", path, ignore.case = TRUE)
  if (pair < 0) return(list(header = path, data = path))
  stem <- substr(path, 1, pair - 1)
  list(header = find_part(stem, "hdr", path, name), data = find_part(stem, "img", path, name))
}

find_part <- function(stem, kind, path, name) {
  endings <- c(kind, toupper(kind))
  candidates <- paste0(stem, ".", c(endings, paste0(endings, ".gz")))
  found <- candidates[file.exists(candidates)]
  if (!length(found)) {
    stop_bad("`", name, "` must name both files of a .hdr and .img pair, but for ", quoted(path),
             " there is no .", kind, " file.")
  }
  found[1]
}

# Bytes per voxel of the real-valued NIfTI types, by their codes.
nifti_bytes <- c("2" = 1, "4" = 2, "8" = 4, "16" = 4, "64" = 8, "256" = 1, "512" = 2, "768" = 4,
                 "1024" = 8, "1280" = 8)

# Sizes and types from the first bytes, in either byte order and version; NULL if it is not a NIfTI
# file.
nifti_claims <- function(path) {
  bytes <- first_bytes(path, 540)
  if (length(bytes) < 348) return(NULL)
  for (endian in c("little", "big")) {
    size <- readBin(bytes[1:4], "integer", endian = endian)
    if (size %in% 348) return(claims_of_version_1(bytes, endian))
    if (size %in% 540 && length(bytes) == 540) return(claims_of_version_2(bytes, endian))
  }
  NULL
}

first_bytes <- function(path, n) {
  connection <- gzfile(path, "rb")
  on.exit(close(connection), add = TRUE)
  tryCatch(suppressWarnings(readBin(connection, "raw", n)), error = function(e) raw(0))
}

# Field names are those of the standard.
claims_of_version_1 <- function(bytes, endian) {
  short <- function(at, n = 1) {
    readBin(bytes[at + seq_len(2 * n)], "integer", n, size = 2, endian = endian)
  }
  float <- function(at, n = 1) {
    readBin(bytes[at + seq_len(4 * n)], "numeric", n, size = 4, endian = endian)
  }
  c(list(version = 1, magic = magic_word(bytes[345:348]), dim = as.double(short(40, 8)),
         datatype = short(70), vox_offset = float(108), scl_slope = float(112),
         scl_inter = float(116)),
    position_fields(float(76, 8), short(252, 2), float(256, 3), float(268, 3), float(280, 12)))
}

claims_of_version_2 <- function(bytes, endian) {
  integers <- function(at, n = 1) {
    values <- readBin(bytes[at + seq_len(4 * n)], "integer", n, endian = endian)
    ifelse(is.na(values), -2^31, values)  # R reads -2^31 as NA
  }
  # Two halves as doubles: exact for every size that a disk holds.
  long <- function(at, n = 1) {
    halves <- matrix(integers(at, 2 * n), 2)[if (endian == "little") 1:2 else 2:1, , drop = FALSE]
    halves[2, ] * 2^32 + halves[1, ] %% 2^32
  }
  double <- function(at, n = 1) readBin(bytes[at + seq_len(8 * n)], "numeric", n, endian = endian)
  c(list(version = 2, magic = magic_word(bytes[5:8]), dim = long(16, 8),
         datatype = readBin(bytes[13:14], "integer", size = 2, endian = endian),
         vox_offset = long(168), scl_slope = double(176), scl_inter = double(184)),
    position_fields(double(104, 8), integers(344, 2), double(352, 3), double(376, 3),
                    double(400, 12)))
}

# The text before the zero byte that must end it. Without that byte niftilib takes the file for an
# ANALYZE file, and ignores scale factors and affine.
magic_word <- function(bytes) rawToChar(bytes[cumsum(bytes == 0) == 0])

position_fields <- function(pixdim, codes, quaternion, offset, rows) {
  list(pixdim = pixdim, qform_code = codes[1], sform_code = codes[2], quatern_b = quaternion[1],
       quatern_c = quaternion[2], quatern_d = quaternion[3], qoffset_x = offset[1],
       qoffset_y = offset[2], qoffset_z = offset[3], srow_x = rows[1:4], srow_y = rows[5:8],
       srow_z = rows[9:12])
}

# The dimensions, number of volumes, bytes of data and their start. A header that cannot be right is
# refused.
check_claims <- function(claims, path, name) {
  if (is.null(claims) || (claims$version == 2 && !claims$magic %in% c("n+2", "ni2"))) {
    stop_not_nifti(path, name)
  }
  if (claims$version == 1 && !claims$magic %in% c("n+1", "ni1")) {
    stop_bad("`", name, "` must hold NIfTI files, but ", quoted(path), " is an ANALYZE file, ",
             "which does not tell left from right: convert it to NIfTI.")
  }
  dim <- check_claimed_dim(claims$dim, quoted(path), name)
  bytes <- unname(nifti_bytes[as.character(claims$datatype)])
  if (is.na(bytes)) {
    stop_bad("`", name, "` must hold images of real numbers, but ", quoted(path),
             " has the NIfTI datatype ", claims$datatype, " (complex, colour or unknown).")
  }
  scaled <- is.finite(claims$scl_slope) && claims$scl_slope != 0 &&
    !(claims$scl_slope == 1 && claims$scl_inter %in% 0)
  start <- if (claims$magic %in% c("n+1", "n+2")) max(claims$vox_offset, 348, na.rm = TRUE) else 0
  list(dim = dim[1:3], volumes = dim[4], bytes = bytes * prod(dim), start = start,
       # Every value is also a float: four bytes are enough to keep it while reading.
       narrow = !scaled && claims$datatype %in% c(2, 4, 16, 256, 512))
}

# Three dimensions and the number of volumes.
check_claimed_dim <- function(size, label, name) {
  rank <- size[1]
  if (!rank %in% 1:7 || any(size[1 + seq_len(rank)] < 1)) {
    stop_bad("`", name, "` must hold NIfTI files, but the header of ", label,
             " is damaged: its dimensions are (", paste(size, collapse = ", "), ").")
  }
  dim <- size[1 + seq_len(rank)]
  while (length(dim) > 1 && dim[length(dim)] == 1) dim <- dim[-length(dim)]
  if (length(dim) > 4) {
    stop_bad("`", name, "` must hold images with 3 or 4 dimensions, but ", label, " has ",
             length(dim), " (", paste(dim, collapse = " x "), ").")
  }
  dim <- c(dim, rep(1, 4 - length(dim)))
  if (prod(dim[1:3]) > .Machine$integer.max) {
    stop_bad("`", name, "` must hold images of at most ", .Machine$integer.max, " voxels, but ",
             label, " claims ", paste(dim[1:3], collapse = " x "), ".")
  }
  dim
}

# Is the file as long as its header says? The last four bytes of a compressed file are its length,
# unless it was compressed in pieces: then the bytes are counted.
check_file_size <- function(data, claims, path, name) {
  needed <- claims$start + claims$bytes
  stored <- file.size(data)
  gzipped <- is_gzip(data)
  held <- if (!gzipped) {
    stored
  } else if (needed > 1040 * stored) {
    1040 * stored  # gzip cannot compress further than that
  } else if (gzip_end(data)[["length"]] == needed %% 2^32) {
    needed
  } else {
    count_bytes(data)
  }
  if (held < needed) {
    stop_bad("`", name, "` must hold whole files, but ", quoted(path), " is truncated or damaged: ",
             "its header says ", number_text(needed), " bytes, but there are ",
             if (gzipped && held > stored) "at most ", number_text(held), ".")
  }
}

is_gzip <- function(path) {
  connection <- file(path, "rb", raw = TRUE)
  on.exit(close(connection), add = TRUE)
  identical(readBin(connection, "raw", 2), as.raw(c(0x1f, 0x8b)))
}

# Checksum and length of what is packed (or of its last piece), from the last eight bytes.
gzip_end <- function(path) {
  connection <- file(path, "rb", raw = TRUE)
  on.exit(close(connection), add = TRUE)
  seek(connection, max(file.size(path) - 8, 0))
  halves <- readBin(connection, "integer", 4, size = 2, signed = FALSE, endian = "little")
  c(sum = sum(halves[1:2] * c(1, 2^16)), length = sum(halves[3:4] * c(1, 2^16)))
}

# R's own reader compares checksums, and warns if they differ.
is_whole_gzip <- function(path) {
  connection <- gzfile(path, "rb")
  on.exit(close(connection), add = TRUE)
  tryCatch({
    while (length(readBin(connection, "raw", 2^22))) NULL
    TRUE
  }, error = function(e) FALSE, warning = function(w) FALSE)
}

# The length of the unpacked file, of which only a piece is in memory at a time.
count_bytes <- function(path) {
  connection <- gzfile(path, "rb")
  on.exit(close(connection), add = TRUE)
  total <- 0
  repeat {
    piece <- tryCatch(suppressWarnings(readBin(connection, "raw", 2^22)), error = function(e) NULL)
    total <- total + length(piece)
    if (length(piece) < 2^22) return(total)
  }
}

stop_not_nifti <- function(path, name) {
  stop_bad("`", name, "` must hold NIfTI files (.nii, .nii.gz or .hdr with .img), but ",
           quoted(path), " is not a NIfTI file.")
}

# ---- affines -------------------------------------------------------------------------------------

# sform, if the header has one, else qform, else the voxel sizes alone.
header_affine <- function(header) {
  if (header$sform_code > 0) {
    affine <- rbind(header$srow_x, header$srow_y, header$srow_z, c(0, 0, 0, 1))
  } else if (header$qform_code > 0) {
    affine <- header_qform(header)
  } else {
    affine <- diag(c(header_pixdim(header), 1))
  }
  unname(affine)
}

# From the quaternion, as in the NIfTI standard.
header_qform <- function(header) {
  q <- c(header$quatern_b, header$quatern_c, header$quatern_d)
  a <- 1 - sum(q^2)
  if (is.finite(a) && a < 1e-7) {
    q <- q / sqrt(sum(q^2))
    a <- 0
  }
  a <- sqrt(a)
  b <- q[1]
  c <- q[2]
  d <- q[3]
  rotation <- matrix(c(
    a * a + b * b - c * c - d * d, 2 * (b * c + a * d), 2 * (b * d - a * c),
    2 * (b * c - a * d), a * a + c * c - b * b - d * d, 2 * (c * d + a * b),
    2 * (b * d + a * c), 2 * (c * d - a * b), a * a + d * d - b * b - c * c
  ), 3)
  size <- header_pixdim(header) * c(1, 1, if (header$pixdim[1] < 0) -1 else 1)
  offset <- c(header$qoffset_x, header$qoffset_y, header$qoffset_z)
  rbind(cbind(sweep(rotation, 2, size, "*"), offset, deparse.level = 0), c(0, 0, 0, 1))
}

header_pixdim <- function(header) {
  size <- abs(header$pixdim[2:4])
  ifelse(is.finite(size) & size > 0, size, 1)
}

is_oriented <- function(header) header$sform_code > 0 || header$qform_code > 0

check_affine <- function(affine, label, name) {
  usable <- all(is.finite(affine)) && all(abs(affine) < 1e9) &&
    abs(det(affine[1:3, 1:3])) > 1e-9
  if (!usable) {
    stop_bad("`", name, "` must hold images whose header places them in millimetres, but the ",
             "affine of ", label, " is (",
             paste(number_text_each(as.vector(t(affine[1:3, ]))), collapse = ", "), ").")
  }
  affine
}

# How far apart, in mm, the corners of the same grid lie under two affines.
affine_distance <- function(a, b, dim) {
  corners <- as.matrix(expand.grid(c(1, dim[1]), c(1, dim[2]), c(1, dim[3])))
  sqrt(max(rowSums((voxel_mm(a, corners) - voxel_mm(b, corners))^2)))
}

affine_tolerance <- 1e-3

same_grid <- function(a, b) {
  if (identical(a[c("dim", "affine")], b[c("dim", "affine")])) return(TRUE)  # the usual case
  all(a$dim == b$dim) && affine_distance(a$affine, b$affine, a$dim) <= affine_tolerance
}

# How two grids differ, for the end of a message.
grid_difference <- function(a, b) {
  if (!is.null(a$affine) && !is.null(b$affine) && same_voxels(a, b)) {
    return(paste0("the same voxels in different orders of storage, ", storage_order(a$affine),
                  " and ", storage_order(b$affine)))
  }
  if (any(a$dim != b$dim)) {
    return(paste0("sizes ", paste(a$dim, collapse = " x "), " and ",
                  paste(b$dim, collapse = " x ")))
  }
  paste0("affines that differ by up to ",
         number_text(signif(affine_distance(a$affine, b$affine, a$dim), 3)), " mm")
}
