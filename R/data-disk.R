# Matrices on disk. A matrix on disk is a list that says where its file is and how it is laid out;
# the core maps the file into memory, and nothing reads it whole. So a worker gets a few bytes, and
# all workers of a machine share the file's pages.
#
# What write_disk_matrix() wrote has a sidecar: a second small file, of plain data in the format of
# checkpoints (util-checkpoint.R). Nothing that is read is ever evaluated.

disk_version <- "n2gfl disk matrix 1"

# The types of stored numbers: bytes each, and the range of the integers.
disk_types <- data.frame(
  row.names = c("double", "float", "integer", "short", "ushort", "raw"),
  bytes = c(8, 4, 4, 2, 2, 1),
  least = c(NA, NA, -2^31 + 1, -2^15, 0, 0), most = c(NA, NA, 2^31 - 1, 2^15 - 1, 2^16 - 1, 2^8 - 1)
)

is_disk <- function(x) inherits(x, "disk_matrix")

# ---- describing a file ---------------------------------------------------------------------------

#' Matrices on disk
#'
#' `x` may be larger than memory: every function that takes it also takes a matrix on disk. Its file
#' is mapped into memory, so that the system reads what is needed, when it is needed, and drops it
#' again when memory is short. Workers of other processes get the file's name instead of a copy.
#'
#' @details
#' `disk_matrix(file)` opens what `write_disk_matrix()` wrote. With `nrow` and `ncol`,
#' `disk_matrix()` describes any file that holds the columns of a matrix one after the other, in
#' this machine's order of bytes: those of NumPy in Fortran order, for instance, or of Julia. The
#' file must have exactly the bytes that this needs. It is only read, and it must stay as it is
#' while it is used: its size is checked before each use, but a file that is cut off during a fit
#' can end the session.
#'
#' **Types.** A value is `slope` times the stored number plus `intercept`. The integer types lose
#' nothing of images that have such types: `write_disk_matrix()` refuses values that the type cannot
#' hold. `"float"` keeps seven digits. Results are those of the same values in memory, to the last
#' bit, and all sums have double precision.
#'
#' **Other packages.** `x` may also be an `FBM` of package bigstatsr, or a file-backed `big.matrix`
#' of package bigmemory; both are read by their files. Their codes for missing values count as `NA`.
#'
#' **What is read.** A fit reads every column a few times for each row of the grid, `[` and
#' `as.matrix()` make matrices in memory of what is asked for, and nothing else copies. The key of
#' a `checkpoint` does not read the file: it has the checksum of the sidecar, or else the size and
#' the time of the last change.
#'
#' **Files.** `write_disk_matrix()` writes block by block, under another name until all is written.
#' Beside `file` it writes a small sidecar, `file` with the ending `.n2gfl`: version, order of
#' bytes, type, size, names and a checksum. `disk_matrix(file)` compares the size, and with
#' `verify = TRUE`, or if the file is younger than its sidecar, also the checksum, which reads all
#' of it. Both files may be moved together.
#'
#' @param file The name of the file.
#' @param nrow,ncol The size of the matrix; not given for a file with a sidecar.
#' @param type The type of the stored numbers: double and single precision, or integers of 32, 16,
#'   16 (without sign) and 8 bits (without sign).
#' @param slope,intercept What a stored number means: `slope` times the number plus `intercept`.
#' @param offset Bytes before the first value, a multiple of the type's bytes.
#' @param na A stored number that stands for a missing value; `NULL` if none does. Fits refuse
#'   missing values.
#' @param dimnames The names of rows and columns, a list of two; `NULL` for none.
#' @param verify Compare the checksum with that of the sidecar?
#' @param x For `write_disk_matrix()` what is to be written, a numeric matrix, dense, sparse or on
#'   disk; otherwise a matrix on disk.
#' @param overwrite Replace an existing file?
#' @param ... Must be empty.
#' @return A matrix on disk of class `disk_matrix`, which has `dim()`, `dimnames()`, `x[i, j]`,
#'   `as.matrix()` and `print()`; `write_disk_matrix()` returns it invisibly.
#' @examples
#' cohort <- simulate_cohort(n = 60, dim = c(12, 12))
#' file <- tempfile("cohort", fileext = ".bin")
#' x <- write_disk_matrix(cohort$x, file, type = "float")
#' x
#' x[1:3, 1:4]
#' fit <- n2gfl(x, cohort$y, cohort$graph, family = "binomial", lambda1 = 0.01, lambda2 = 0.002)
#' predict(fit, x[1:3, ])
#'
#' # The same file without its sidecar
#' x <- disk_matrix(file, nrow(x), ncol(x), type = "float")
#' unlink(paste0(file, c("", ".n2gfl")))
#' @export
disk_matrix <- function(file, nrow = NULL, ncol = NULL,
                        type = c("double", "float", "integer", "short", "ushort", "raw"),
                        slope = 1, intercept = 0, offset = 0, na = NULL, dimnames = NULL,
                        verify = FALSE, ...) {
  check_empty_dots(...)
  file <- check_disk_file(file)
  verify <- check_flag(verify, "verify")
  if (is.null(nrow) && is.null(ncol)) {
    given <- setdiff(names(match.call())[-1], c("file", "verify"))
    return(open_disk_matrix(file, verify, given))
  }
  if (verify) stop_bad("`verify` must be FALSE if `nrow` and `ncol` are given: only the checksum ",
                       "of a sidecar can be compared.")
  type <- match_choice(type, "type", rownames(disk_types))
  dim <- c(check_count(nrow, "nrow"), check_count(ncol, "ncol"))
  new_disk_matrix(file, dim, type, check_slope(slope), check_number(intercept, "intercept"),
                  check_disk_offset(offset, type), check_code(na),
                  check_disk_names(dimnames, dim))
}

# All fields; as_core_file() in src/disk.cpp reads them, too. `given`: the name for messages.
new_disk_matrix <- function(file, dim, type, slope = 1, intercept = 0, offset = 0, na = NULL,
                            dimnames = NULL, given = "file") {
  x <- structure(
    list(file = file, nrow = dim[1], ncol = dim[2], type = type, slope = slope,
         intercept = intercept, offset = offset, na = na, dimnames = dimnames,
         checksum = NULL, modified = modified_at(file)),
    class = "disk_matrix")
  check_disk_size(x, given)
}

modified_at <- function(file) as.double(file.mtime(file))

disk_size <- function(x) x$offset + as.double(x$nrow) * x$ncol * disk_types[x$type, "bytes"]

check_disk_size <- function(x, given) {
  found <- file.size(x$file)
  if (!identical(found, disk_size(x))) {
    stop_bad("`", given, "` must have ", bytes_text(disk_size(x)), " for ", x$nrow, " x ", x$ncol,
             " values of type ", quoted(x$type),
             if (x$offset) paste(" after", bytes_text(x$offset)),
             ", but ", quoted(x$file), " has ", format(found, scientific = FALSE), ".")
  }
  x
}

bytes_text <- function(bytes) {
  paste(format(bytes, scientific = FALSE, trim = TRUE), if (bytes == 1) "byte" else "bytes")
}

check_disk_file <- function(file) {
  check_file_name(file)
  if (!file.exists(file) || dir.exists(file)) {
    stop_bad("`file` must be an existing file, but ", quoted(file), " is ",
             if (dir.exists(file)) "a folder." else "not there.")
  }
  normalizePath(file, "/")
}

check_file_name <- function(file) {
  if (!is.character(file) || length(file) != 1 || is.na(file) || file == "") {
    stop_bad("`file` must be the name of a file, not ", describe(file), ".")
  }
}

check_number <- function(value, name) {
  if (!is_number(value) || !is.finite(value)) {
    stop_bad("`", name, "` must be a finite number, not ", describe(value), ".")
  }
  as.double(value)
}

check_slope <- function(slope) {
  if (check_number(slope, "slope") == 0) stop_bad("`slope` must not be 0.")
  as.double(slope)
}

check_code <- function(na) if (!is.null(na)) check_number(na, "na")

check_disk_offset <- function(offset, type) {
  bytes <- disk_types[type, "bytes"]
  if (!is_number(offset) || !is.finite(offset) || offset < 0 || offset %% bytes != 0) {
    stop_bad("`offset` must be a multiple of the ", bytes_text(bytes), " of type ", quoted(type),
             ", not ", describe(offset), ".")
  }
  as.double(offset)
}

check_disk_names <- function(dimnames, dim) {
  if (is.null(dimnames) || identical(dimnames, list(NULL, NULL))) return(NULL)
  fits <- is.list(dimnames) && length(dimnames) == 2 &&
    all(lengths(dimnames) == dim | vapply(dimnames, is.null, NA))
  if (!fits) {
    stop_bad("`dimnames` must be a list with the ", count_of(dim[1], "row name"), " and the ",
             count_of(dim[2], "column name"), ", or NULL for either.")
  }
  lapply(dimnames, function(names) if (!is.null(names)) as.character(names))
}

# ---- writing -------------------------------------------------------------------------------------

#' @rdname disk_matrix
#' @export
write_disk_matrix <- function(x, file,
                              type = c("double", "float", "integer", "short", "ushort", "raw"),
                              slope = 1, intercept = 0, overwrite = FALSE, ...) {
  check_empty_dots(...)
  type <- match_choice(type, "type", rownames(disk_types))
  slope <- check_slope(slope)
  intercept <- check_number(intercept, "intercept")
  overwrite <- check_flag(overwrite, "overwrite")
  x <- check_matrix(x, "x")
  if (!nrow(x)) stop_bad("`x` must have at least 1 row, not 0.")
  file <- check_new_file(file, overwrite)
  write_then_rename(file, bytes_to_write = nrow(x) * disk_types[type, "bytes"] * ncol(x),
                    function(connection) {
                      write_columns(x, connection, type, slope, intercept)
                    })
  written <- new_disk_matrix(normalizePath(file, "/"), dim(x), type, slope, intercept,
                             dimnames = dimnames(x))
  written$checksum <- hash_file_cpp(written)
  write_sidecar(written)
  written$modified <- modified_at(written$file)
  invisible(written)
}

check_new_file <- function(file, overwrite) {
  check_file_name(file)
  file <- path.expand(file)
  if (!dir.exists(dirname(file)) || file.access(dirname(file), 2) != 0) {
    stop_bad("`file` must be in a folder that can be written to, but ", quoted(dirname(file)),
             if (dir.exists(dirname(file))) " is not one." else " is not there.")
  }
  if (dir.exists(file)) stop_bad("`file` must be a file, but ", quoted(file), " is a folder.")
  if (!overwrite && file.exists(file)) {
    stop_bad("`file` must be new, or `overwrite` TRUE, but ", quoted(file), " is there already.")
  }
  file
}

# A file with the right name is complete: whatever stops the writing leaves the old one, if any.
write_then_rename <- function(file, bytes_to_write, write) {
  temporary <- tempfile(paste0(basename(file), "-"), dirname(file), ".tmp")
  on.exit(unlink(temporary), add = TRUE)
  failed <- function(e) {
    stop_bad("`file` must be in a folder with room for ", bytes_text(bytes_to_write), ", but ",
             quoted(file), " could not be written.")
  }
  connection <- tryCatch(suppressWarnings(base::file(temporary, "wb")), error = failed)
  closed <- FALSE
  on.exit(if (!closed) close(connection), add = TRUE, after = FALSE)
  suppressWarnings(write(connection))
  close(connection)
  closed <- TRUE
  # A full disk is silent until the file is closed.
  if (!identical(file.size(temporary), as.double(bytes_to_write)) ||
      !suppressWarnings(file.rename(temporary, file))) failed()
}

# So many values at once: 8 MB of doubles.
values_per_block <- 2^20

write_columns <- function(x, connection, type, slope, intercept) {
  per_block <- max(1, values_per_block %/% nrow(x))
  for (first in seq(1, ncol(x), by = per_block)) {
    columns <- seq(first, min(ncol(x), first + per_block - 1))
    block <- as.matrix(x[, columns, drop = FALSE])
    writeBin(stored_numbers(block, first, type, slope, intercept), connection,
             size = disk_types[type, "bytes"])
  }
}

# What is stored for a block of values, whose first column is column `first` of x.
stored_numbers <- function(block, first, type, slope, intercept) {
  stored <- as.vector(block - intercept) / slope
  if (type == "double") return(stored)
  if (type == "float") {
    largest <- 3.4028234e38
    stop_unless(abs(stored) <= largest, block, first, "values of single precision, at most 3.4e+38")
    return(stored)
  }
  # Multiples of a slope such as 0.1 are not exact.
  whole <- round(stored)
  kept <- abs(stored - whole) <= 1e-6 & whole >= disk_types[type, "least"] &
    whole <= disk_types[type, "most"]
  scaled <- slope != 1 || intercept != 0
  stop_unless(kept, block, first,
              paste0("whole numbers from ", format(disk_types[type, "least"]), " to ",
                     format(disk_types[type, "most"]),
                     if (scaled) ", after taking off `intercept` and dividing by `slope`,",
                     " for type ", quoted(type)))
  as.integer(whole)
}

stop_unless <- function(kept, block, first, what) {
  bad <- which(!kept)[1]
  if (is.na(bad)) return(invisible())
  at <- arrayInd(bad, dim(block))
  stop_bad("`x` must hold ", what, ", but x[", at[1], ", ", at[2] + first - 1, "] is ",
           number_text(block[bad]), ".")
}

# ---- sidecars ------------------------------------------------------------------------------------

sidecar_of <- function(file) paste0(file, ".n2gfl")

sidecar_fields <- c("nrow", "ncol", "type", "slope", "intercept", "offset", "na", "dimnames",
                    "checksum")

write_sidecar <- function(x) {
  bytes <- encode_data(c(list(version = disk_version, endian = .Platform$endian,
                              size = disk_size(x)), unclass(x)[sidecar_fields]))
  bytes <- c(bytes, charToRaw(hash_cpp(bytes)))
  write_then_rename(sidecar_of(x$file), length(bytes), function(connection) {
    writeBin(bytes, connection)
  })
}

# `given`: arguments that describe the file, which the sidecar does already.
open_disk_matrix <- function(file, verify, given) {
  sidecar <- sidecar_of(file)
  if (!file.exists(sidecar)) {
    stop_bad("`nrow` and `ncol` must be given, because ", quoted(file), " has no sidecar ",
             quoted(basename(sidecar)), " of write_disk_matrix().")
  }
  if (length(given)) {
    stop_bad("`", given[1], "` must be given together with `nrow` and `ncol`, or not at all: the ",
             "sidecar of ", quoted(file), " describes it.")
  }
  known <- read_sidecar(sidecar)
  x <- do.call(disk_matrix, c(list(file), known[setdiff(sidecar_fields, "checksum")]))
  x$checksum <- known$checksum
  # A file that was changed afterwards can have the same size.
  if (verify || x$modified > modified_at(sidecar) + 2) check_checksum(x)
  x
}

read_sidecar <- function(sidecar) {
  known <- tryCatch(suppressWarnings(decode_file(sidecar)), error = function(e) NULL)
  if (!is.list(known) || is.null(known$version)) {
    stop_bad("`file` must have the sidecar that write_disk_matrix() wrote, but ", quoted(sidecar),
             " is damaged.")
  }
  if (!identical(known$version, disk_version)) {
    stop_bad("`file` must have a sidecar of this version, ", quoted(disk_version), ", but ",
             quoted(sidecar), " is of ", describe(known$version), ".")
  }
  if (!identical(known$endian, .Platform$endian)) {
    stop_bad("`file` must have this machine's order of bytes, ", .Platform$endian, "-endian, but ",
             quoted(sidecar), " says ", known$endian, "-endian.")
  }
  known
}

check_checksum <- function(x) {
  if (!identical(hash_file_cpp(x), x$checksum)) {
    stop_bad("`file` must hold the values that were written, but the checksum of ", quoted(x$file),
             " is not that of its sidecar.")
  }
}

# ---- methods -------------------------------------------------------------------------------------

#' @export
dim.disk_matrix <- function(x) c(x$nrow, x$ncol)

#' @export
dimnames.disk_matrix <- function(x) x$dimnames

#' @rdname disk_matrix
#' @param i,j Rows and columns: numbers, names or logical values.
#' @param drop As for any matrix.
#' @export
`[.disk_matrix` <- function(x, i, j, drop = TRUE) {
  if (nargs() - (if (missing(drop)) 0 else 1) != 3) {
    stop_bad("A matrix on disk needs rows and columns, as in x[i, j], x[i, ] or x[, j].")
  }
  drop <- check_flag(drop, "drop")
  rows <- chosen_of(if (!missing(i)) i, x$nrow, x$dimnames[[1]], "i", "row")
  columns <- chosen_of(if (!missing(j)) j, x$ncol, x$dimnames[[2]], "j", "column")
  part <- part_of_file_cpp(x, rows, columns)
  if (!is.null(x$na)) part[is.nan(part)] <- NA
  if (!is.null(x$dimnames)) {
    dimnames(part) <- list(x$dimnames[[1]][rows], x$dimnames[[2]][columns])
  }
  if (drop) drop(part) else part
}

# Numbers of rows or columns; NULL means all.
chosen_of <- function(chosen, n, names, name, noun) {
  all <- seq_len(n)
  if (is.null(chosen)) return(all)
  found <- tryCatch({
    if (is.character(chosen)) match(chosen, names) else all[chosen]
  }, error = function(e) NA)
  if (anyNA(found)) {
    stop_bad("`", name, "` must choose some of the ", count_of(n, noun), " by number",
             if (!is.null(names)) ", name", " or logical values, not ", describe(chosen), ".")
  }
  found
}

#' @method as.matrix disk_matrix
#' @export
as.matrix.disk_matrix <- function(x, ...) x[, , drop = FALSE]

#' @method print disk_matrix
#' @export
print.disk_matrix <- function(x, ...) {
  scaled <- x$slope != 1 || x$intercept != 0
  cat("Matrix on disk: ", x$nrow, " x ", x$ncol, ", ", x$type,
      if (scaled) paste0(" times ", number_text(x$slope), " plus ", number_text(x$intercept)),
      ", ", format(structure(disk_size(x), class = "object_size"), units = "auto"), "\n",
      "File: ", x$file, "\n", sep = "")
  invisible(x)
}

# ---- x of other packages -------------------------------------------------------------------------

# An FBM of bigstatsr or a big.matrix of bigmemory as a matrix on disk; anything else as it is.
# Neither package is needed: what their objects say about their files is enough.
as_disk_matrix <- function(x, name = "x") {
  if (!isS4(x)) return(x)
  if (inherits(x, c("FBM", "FBM.code256"))) return(disk_of_fbm(x, name))
  if (inherits(x, "big.matrix")) return(disk_of_big_matrix(x, name))
  x
}

disk_of_fbm <- function(x, name) {
  if (inherits(x, "FBM.code256")) {
    stop_bad("`", name, "` must hold numbers, but an FBM.code256 holds codes of values: copy its ",
             "values to an FBM of type \"float\" or \"double\".")
  }
  known <- c(double = "double", float = "float", integer = "integer", `unsigned short` = "ushort",
             `unsigned char` = "raw", raw = "raw")
  type <- known_type(names(x$type), known, name, "an FBM")
  disk_of_object(x$backingfile, c(x$nrow, x$ncol), type, name,
                 na = if (type == "integer") -2^31)
}

disk_of_big_matrix <- function(x, name) {
  if (!isNamespaceLoaded("bigmemory")) {
    stop_bad("`", name, "` must be an open big.matrix: it needs the package \"bigmemory\", and ",
             "bigmemory::attach.big.matrix() opens it.")
  }
  if (!bigmemory::is.filebacked(x)) {
    stop_bad("`", name, "` must be a big.matrix with a file, but this one is in memory: use ",
             "bigmemory::as.big.matrix(backingfile = ), or give an ordinary matrix.")
  }
  about <- bigmemory::describe(x)@description
  if (isTRUE(about$separated)) {
    stop_bad("`", name, "` must be a big.matrix in one file, but this one has a file for each ",
             "column (separated = TRUE).")
  }
  whole <- identical(as.double(c(about$nrow, about$ncol)),
                     as.double(c(about$totalRows, about$totalCols)))
  if (!whole) {
    stop_bad("`", name, "` must be a whole big.matrix, but this one is a part of ",
             about$totalRows, " x ", about$totalCols, ": bigmemory::deepcopy() makes a whole one.")
  }
  known <- c(double = "double", float = "float", integer = "integer", short = "short",
             raw = "raw")
  type <- known_type(about$type, known, name, "a big.matrix")
  # bigmemory's code for single precision is the smallest normal number.
  codes <- c(integer = -2^31, short = -2^15, float = 2^-126)
  disk_of_object(file.path(about$dirname, about$filename), c(about$nrow, about$ncol), type, name,
                 na = if (type %in% names(codes)) codes[[type]],
                 names = list(about$rowNames, about$colNames))
}

known_type <- function(given, known, name, what) {
  type <- known[given[1]]
  if (is.na(type)) {
    stop_bad("`", name, "` must have one of the types ", quoted(names(known)), ", but this is ",
             what, " of type ", quoted(given[1]), ".")
  }
  unname(type)
}

disk_of_object <- function(file, dim, type, name, na, names = list(NULL, NULL)) {
  if (!file.exists(file)) {
    stop_bad("`", name, "` must have its file, but ", quoted(file), " is not there.")
  }
  new_disk_matrix(normalizePath(file, "/"), as.integer(dim), type, na = na,
                  dimnames = check_disk_names(names, dim), given = name)
}

# ---- checkpoints ---------------------------------------------------------------------------------

# What a key knows of the values without reading them. A file may be moved or copied; without a
# checksum its time is all that can tell.
digest_disk <- function(x) {
  modified <- modified_at(x$file)
  changed <- is.null(x$checksum) || !identical(modified, x$modified)
  c(unclass(x)[setdiff(names(x), c("file", "modified"))],
    list(size = file.size(x$file), changed = if (changed) modified))
}
