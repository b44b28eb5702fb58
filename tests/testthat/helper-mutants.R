# NIfTI files that are damaged on purpose, each determined by its number, and what a reader may
# answer.

# A small undamaged file as bytes, of any type, byte order and version.
whole_nifti <- function() {
  # Some are longer than the buffer with which zlib reads a file.
  dim <- if (stats::runif(1) < 0.25) c(30, 30, 30) else sample(3:5, 3, replace = TRUE)
  if (stats::runif(1) < 0.2) dim <- c(dim, 3)
  type <- sample(names(nifti_types), 1)
  endian <- sample(c("little", "big"), 1)
  values <- array(sample(0:100, prod(dim), replace = TRUE), dim)
  slope <- sample(c(0, 1, 0.5), 1)
  affine <- diag(c(2, 2, 2, 1))
  header <- if (stats::runif(1) < 0.75) {
    nifti_header_bytes(dim, affine, type, endian, slope = slope)
  } else {
    nifti2_header_bytes(dim, affine, type, endian, slope = slope)
  }
  list(bytes = c(header, raw(4), nifti_data_bytes(values, type, endian)), endian = endian,
       header = length(header))
}

# Fields that control what a reader allocates, seeks and computes, by version: offset, size,
# number.
nifti_fields <- list(
  `348` = list(sizeof = c(0, 4, 1), dim = c(40, 2, 8), datatype = c(70, 2, 1), bits = c(72, 2, 1),
               pixdim = c(76, 4, 8), start = c(108, 4, 1), scale = c(112, 4, 2),
               codes = c(252, 2, 2), quaternion = c(256, 4, 6), rows = c(280, 4, 12),
               magic = c(344, 1, 4)),
  `540` = list(sizeof = c(0, 4, 1), magic = c(4, 1, 8), datatype = c(12, 2, 1), bits = c(14, 2, 1),
               dim = c(16, 8, 8), pixdim = c(104, 8, 8), start = c(168, 8, 1),
               scale = c(176, 8, 2), codes = c(344, 4, 2), quaternion = c(352, 8, 6),
               rows = c(400, 8, 12)))

# Bytes that are an extreme value in one type or another.
nasty_bytes <- function(size) {
  patterns <- list(
    raw(size), rep(as.raw(255), size), c(raw(size - 1), as.raw(128)),
    c(rep(as.raw(255), size - 1), as.raw(127)),
    utils::tail(as.raw(c(0, 0, 0, 0, 0, 0, 0xf8, 0x7f)), size),
    utils::tail(as.raw(c(0, 0, 0, 0, 0, 0, 0xf0, 0x7f)), size),
    utils::tail(as.raw(c(0, 0, 0, 0, 0, 0, 0xc0, 0x7f)), size),
    utils::tail(as.raw(c(0, 0, 0, 0, 0, 0, 0x80, 0x3f)), size),
    c(as.raw(sample(255, 1)), raw(size - 1)), as.raw(sample(0:255, size, replace = TRUE)))
  patterns[[sample.int(length(patterns), 1)]]
}

set_field <- function(whole) {
  fields <- nifti_fields[[as.character(whole$header)]]
  field <- fields[[sample.int(length(fields), 1)]]
  at <- field[1] + field[2] * (sample.int(field[3], 1) - 1)
  new <- nasty_bytes(field[2])
  if (whole$endian == "big") new <- rev(new)
  replace(whole$bytes, at + seq_along(new), new)
}

flip_bits <- function(bytes, where) {
  at <- where[sample.int(length(where), min(length(where), sample(1:4, 1)))]
  replace(bytes, at, xor(bytes[at], as.raw(2^sample(0:7, length(at), replace = TRUE))))
}

cut_short <- function(bytes) utils::head(bytes, sample.int(length(bytes), 1) - 1)

# The stored bytes, and the bytes that they unpack to (NULL if they cannot be unpacked).
damage_kinds <- list(
  none = function(whole) whole$bytes,
  field = set_field,
  fields = function(whole) {
    for (k in 1:3) whole$bytes <- set_field(whole)
    whole$bytes
  },
  `header bits` = function(whole) flip_bits(whole$bytes, seq_len(whole$header)),
  `body bits` = function(whole) flip_bits(whole$bytes, whole$header:length(whole$bytes)),
  cut = function(whole) cut_short(whole$bytes),
  noise = function(whole) as.raw(sample(0:255, sample(2000, 1), replace = TRUE)))

packed_damage <- list(
  `gz cut` = cut_short,
  `gz middle` = function(packed) flip_bits(packed, 11:(length(packed) - 8)),
  `gz checksum` = function(packed) flip_bits(packed, length(packed) - 7:4),
  `gz length` = function(packed) flip_bits(packed, length(packed) - 3:0),
  `gz header` = function(packed) flip_bits(packed, 1:10),
  `gz noise after` = function(packed) c(packed, as.raw(sample(0:255, 20, replace = TRUE))))

pack_bytes <- function(bytes) {
  file <- tempfile(fileext = ".gz")
  on.exit(unlink(file))
  readBin(write_bytes(bytes, file), "raw", 1e6)
}

# The content of a packed file, if R itself can read it to the end without a complaint; otherwise
# NULL.
unpack_bytes <- function(file) {
  connection <- gzfile(file, "rb")
  on.exit(close(connection))
  tryCatch(readBin(connection, "raw", 1e6), error = function(e) NULL, warning = function(w) NULL)
}

# File number `seed`: list(path, kind, bytes).
make_mutant <- function(seed, folder) {
  withr::local_seed(seed)
  whole <- whole_nifti()
  kinds <- c(names(damage_kinds), names(packed_damage))
  kind <- kinds[(seed - 1) %% length(kinds) + 1]
  packed <- kind %in% names(packed_damage) || stats::runif(1) < 0.3
  path <- file.path(folder, paste0("mutant-", seed, if (packed) ".nii.gz" else ".nii"))
  if (!kind %in% names(packed_damage)) {
    bytes <- damage_kinds[[kind]](whole)
    write_bytes(bytes, path)
  } else {
    writeBin(packed_damage[[kind]](pack_bytes(whole$bytes)), path)
    bytes <- unpack_bytes(path)
  }
  list(path = path, kind = kind, bytes = bytes)
}

# ---- an independent reader
# -----------------------------------------------------------------------

# The values of all volumes, one per column, directly by the standard; NULL if the file is not
# valid.
plain_nifti <- function(bytes) {
  for (endian in c("little", "big")) {
    size <- if (length(bytes) >= 348) readBin(bytes[1:4], "integer", endian = endian) else 0L
    if (size %in% c(348L, 540L) && length(bytes) >= size) {
      return(tryCatch(plain_values(bytes, endian, size), error = function(e) NULL))
    }
  }
  NULL
}

plain_values <- function(bytes, endian, size) {
  field <- function(name, what) {
    at <- nifti_fields[[as.character(size)]][[name]]
    if (what == "integer" && at[2] == 8) return(plain_long(bytes, at[1], at[3], endian))
    readBin(bytes[at[1] + seq_len(at[2] * at[3])], what, at[3], at[2], endian = endian)
  }
  dim <- field("dim", "integer")
  voxels <- prod(dim[1 + seq_len(min(3, dim[1]))])
  total <- prod(dim[1 + seq_len(dim[1])])
  type <- Filter(function(type) type$code == field("datatype", "integer"), nifti_types)[[1]]
  start <- max(trunc(field("start", if (size == 348) "numeric" else "integer")), size, na.rm = TRUE)
  body <- bytes[start + seq_len(type$size * total)]
  scale <- field("scale", "numeric")
  scale[!is.finite(scale)] <- 0
  values <- plain_numbers(body, type, total, endian)
  if (scale[1] != 0) values <- values * scale[1] + scale[2]
  matrix(values, voxels)
}

plain_long <- function(bytes, at, n, endian) {
  unsigned <- matrix(as.integer(bytes[at + seq_len(8 * n)]), 8)
  if (endian == "big") unsigned <- unsigned[8:1, , drop = FALSE]
  value <- colSums(unsigned * 256^(0:7))
  ifelse(value >= 2^63, value - 2^64, value)
}

plain_numbers <- function(body, type, n, endian) {
  if (type$what == "numeric") return(readBin(body, "numeric", n, type$size, endian = endian))
  each <- matrix(as.integer(body), type$size)
  if (endian == "big") each <- each[type$size:1, , drop = FALSE]
  value <- colSums(each * 256^(seq_len(type$size) - 1))
  signed <- type$code %in% c(4, 8, 256, 1024)
  limit <- 256^type$size
  if (signed) ifelse(value >= limit / 2, value - limit, value) else value
}

# ---- the verdict ---------------------------------------------------------------------------------

# "read" (every value is right), "refused" (with one sentence of this package), or what is wrong.
judge_mutant <- function(mutant) {
  answer <- tryCatch(
    withCallingHandlers(read_images(mutant$path, threshold = -1e308, na = "zero"),
                        warning = function(w) {
                          # A damaged value may have a different scale.
                          if (grepl("different scale", conditionMessage(w))) {
                            invokeRestart("muffleWarning")
                          }
                          stop("a warning: ", conditionMessage(w))
                        }),
    error = conditionMessage)
  if (is.character(answer)) {
    own <- grepl("^`(files|threshold)` must [^\n]*[.]$", answer)
    if (!own) return(paste("strange error:", answer))
    return(if (mutant$kind == "none") paste("refused although whole:", answer) else "refused")
  }
  expected <- if (!is.null(mutant$bytes)) plain_nifti(mutant$bytes)
  if (is.null(expected)) return("read although damaged")
  expected[!is.finite(expected)] <- 0
  same <- nrow(answer$x) == ncol(expected) && length(answer$space$mask) == nrow(expected) &&
    isTRUE(all.equal(unname(answer$x), t(expected[answer$space$mask, , drop = FALSE])))
  if (same) "read" else "read, but other values"
}
