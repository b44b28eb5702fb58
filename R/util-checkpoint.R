# Finished pieces of long work, kept in a folder so that a stopped run can be resumed.
#
# Each piece is one file that holds plain data in the package's own format: types, lengths and
# bytes, and a checksum at the end. Nothing that is read is ever evaluated, so a file can hold wrong
# values but cannot run code. Files are written under a temporary name and then renamed: a file with
# the right name is complete, or its checksum shows that it is damaged, and it is computed again.

checkpoint_version <- "n2gfl checkpoint 1"

# The folder, with the key of the work in it. A folder with another key is refused.
open_checkpoint <- function(folder, key) {
  if (is.null(folder)) return(NULL)
  if (!is.character(folder) || length(folder) != 1 || is.na(folder) || folder == "") {
    stop_bad("`checkpoint` must be the name of a folder, not ", describe(folder), ".")
  }
  if (!dir.exists(folder)) dir.create(folder, recursive = TRUE, showWarnings = FALSE)
  if (!dir.exists(folder) || file.access(folder, 2) != 0) {
    stop_bad("`checkpoint` must be a folder that can be written to, but ", quoted(folder),
             " is not.")
  }
  checkpoint <- list(folder = normalizePath(folder), key = key)
  remove_unfinished(checkpoint$folder)
  known <- read_piece(checkpoint, "key", expect = NULL)
  if (is.null(known)) {
    # Pieces without a readable key belong to something unknown.
    if (length(dir(folder, pattern = "\\.piece$")) && !length(dir(folder, pattern = "^key"))) {
      stop_bad("`checkpoint` must be an empty folder or one made with the same data and ",
               "arguments, but the key of ", quoted(folder), " is missing.")
    }
    write_piece(checkpoint, "key", list(key = key))
  } else if (!identical(known$key, key)) {
    stop_bad("`checkpoint` must be an empty folder or one made with the same data and arguments, ",
             "but ", quoted(folder), " holds work on other data or with other arguments.")
  }
  checkpoint
}

# Removes the temporary files of killed runs. Newer files may belong to a run that is writing now.
remove_unfinished <- function(folder) {
  files <- dir(folder, "[.]piece-.*[.]tmp$", full.names = TRUE)
  unlink(files[which(Sys.time() - file.mtime(files) > as.difftime(1, units = "hours"))])
}

piece_file <- function(checkpoint, name) {
  file.path(checkpoint$folder, paste0(gsub("[^A-Za-z0-9]+", "-", name), ".piece"))
}

# Returns the value after writing it; an error if it cannot be written.
write_piece <- function(checkpoint, name, value) {
  bytes <- encode_data(list(version = checkpoint_version, key = checkpoint$key, name = name,
                            value = value))
  bytes <- c(bytes, charToRaw(hash_cpp(bytes)))
  file <- piece_file(checkpoint, name)
  temporary <- tempfile(paste0(basename(file), "-", Sys.getpid(), "-"), checkpoint$folder, ".tmp")
  on.exit(unlink(temporary), add = TRUE)
  written <- tryCatch({
    writeBin(bytes, temporary)
    identical(file.size(temporary), as.double(length(bytes))) && file.rename(temporary, file)
  }, error = function(e) FALSE, warning = function(w) FALSE)
  if (!written) {
    stop_bad("`checkpoint` must be a folder with room for ", length(bytes), " more bytes, but ",
             quoted(file), " could not be written.")
  }
  value
}

# The value, or NULL if there is none or the file is damaged.
read_piece <- function(checkpoint, name, expect = checkpoint$key) {
  file <- piece_file(checkpoint, name)
  if (is.null(checkpoint) || !file.exists(file)) return(NULL)
  piece <- tryCatch(suppressWarnings(decode_file(file)), error = function(e) NULL)
  whole <- is.list(piece) && identical(piece$version, checkpoint_version) &&
    identical(piece$name, name) && (is.null(expect) || identical(piece$key, expect))
  if (whole) piece$value
}

decode_file <- function(file) {
  bytes <- readBin(file, "raw", file.size(file))
  body <- utils::head(bytes, -hash_length)
  if (!identical(rawToChar(utils::tail(bytes, hash_length)), hash_cpp(body))) return(NULL)
  source <- rawConnection(body)
  on.exit(close(source))
  decode_data(source, length(body))
}

# ---- plain data as bytes -------------------------------------------------------------------------

hash_length <- 16L  # characters of hash_cpp()

# One letter for each type that may be in a file.
type_letters <- c(`NULL` = "0", logical = "l", integer = "i", double = "d", character = "c",
                  list = "v")

# Type, length and values, then names, dim and dimnames encoded in the same way; lists recursively.
encode_data <- function(value) {
  if (is(value, "dgCMatrix")) {
    value <- list(dgCMatrix = TRUE, i = value@i, p = value@p, x = value@x, Dim = value@Dim,
                  Dimnames = value@Dimnames)
  }
  type <- typeof(value)
  body <- switch(
    type,
    "NULL" = raw(0),
    logical = writeBin(as.integer(value), raw(), endian = "little"),
    integer = , double = writeBin(as.vector(value), raw(), endian = "little"),
    character = encode_text(value),
    list = do.call(c, c(list(raw(0)), lapply(unname(value), encode_data))),
    stop("cannot store values of type ", type)
  )
  extra <- if (type != "NULL") {
    c(encode_attribute(names(value)), encode_attribute(dim(value)),
      encode_attribute(dimnames(value)))
  }
  c(charToRaw(type_letters[[type]]), writeBin(as.double(length(value)), raw(), endian = "little"),
    body, extra)
}

# The names of dimnames are kept; other attributes of attributes are not.
encode_attribute <- function(value) {
  encode_data(if (is.list(value)) value else if (!is.null(value)) as.vector(value))
}

encode_text <- function(value) {
  text <- enc2utf8(replace(as.vector(value), is.na(value), ""))
  sizes <- ifelse(is.na(value), -1L, nchar(text, "bytes"))
  c(writeBin(as.integer(sizes), raw(), endian = "little"), charToRaw(paste(text, collapse = "")))
}

# `most`: the number of bytes. Every value takes at least one byte, so a larger length is wrong, and
# no memory is allocated for it.
decode_data <- function(source, most) {
  type <- names(type_letters)[match(readChar(source, 1, useBytes = TRUE), type_letters)]
  n <- readBin(source, "double", 1, endian = "little")
  if (is.na(type) || !isTRUE(n >= 0 && n <= most)) stop("damaged")
  if (type == "NULL") return(NULL)
  value <- switch(
    type,
    logical = as.logical(readBin(source, "integer", n, endian = "little")),
    integer = , double = readBin(source, type, n, endian = "little"),
    character = decode_text(source, n),
    list = lapply(seq_len(n), function(k) decode_data(source, most))
  )
  value <- decode_attributes(value, source, most)
  if (is.list(value) && isTRUE(value[["dgCMatrix"]])) decode_sparse(value) else value
}

decode_attributes <- function(value, source, most) {
  names <- decode_data(source, most)
  dim <- decode_data(source, most)
  dimnames <- decode_data(source, most)
  if (!is.null(dim)) dim(value) <- dim
  if (!is.null(dimnames)) dimnames(value) <- dimnames
  if (!is.null(names)) names(value) <- names
  value
}

decode_text <- function(source, n) {
  sizes <- readBin(source, "integer", n, endian = "little")
  text <- vapply(pmax(sizes, 0L), function(size) readChar(source, size, useBytes = TRUE), "")
  Encoding(text) <- "UTF-8"
  replace(text, sizes < 0, NA)
}

decode_sparse <- function(value) {
  new("dgCMatrix", i = value$i, p = value$p, x = value$x, Dim = value$Dim,
      Dimnames = value$Dimnames)
}

# ---- what the work is about ----------------------------------------------------------------------

# A digest of data and arguments: the same work has the same key, in every session.
work_key <- function(...) {
  hash_cpp(encode_data(lapply(list(...), digest_part)))
}

# Large vectors are hashed in place; the rest is small enough to be encoded.
digest_part <- function(part) {
  if (is_dgc(part)) {
    return(c(lapply(list(part@i, part@p, part@x, part@Dim), hash_cpp), part@Dimnames))
  }
  if (is_disk(part)) return(digest_disk(part))
  if (is.numeric(part) && length(part) > 100) {
    return(list(hash_cpp(part), dim(part), dimnames(part), names(part)))
  }
  if (is.object(part)) part <- unclass(part)
  if (is.list(part)) return(lapply(part, digest_part))
  if (is.atomic(part) || is.null(part)) return(part)
  hash_cpp(charToRaw(paste(deparse(part), collapse = "")))
}
