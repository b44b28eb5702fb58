# Atlases: the number of a structure at each position, and the names of these numbers.

# The atlas's value at the grid point nearest to each position; 0 outside the atlas.
atlas_codes <- function(atlas, mm) {
  atlas <- open_atlas(atlas)
  # A hair towards right, front and top: a position midway between two points of the grid must not
  # be decided by the order of storage.
  mm <- sweep(mm, 2, c(1, 2, 3) * 1e-5, "+")
  back <- solve(atlas$affine)
  index <- round(sweep(mm %*% t(back[1:3, 1:3]), 2, back[1:3, 4], "+")) + 1
  within <- index >= 1 & sweep(index, 2, atlas$dim, "<=")
  within <- within[, 1] & within[, 2] & within[, 3]
  code <- integer(nrow(mm))
  code[within] <- atlas$values[index[within, , drop = FALSE]]
  code
}

open_atlas <- function(atlas) {
  if (is.character(atlas) && !inherits(atlas, "niftiImage") && length(atlas) == 1 &&
      !is.na(atlas)) {
    opened <- open_nifti(atlas, "atlas")
    opened$values <- read_values(opened, name = "atlas", numbers = TRUE)
  } else if (inherits(atlas, "niftiImage") || is_oro(atlas)) {
    opened <- open_image(atlas, "atlas")
  } else {
    stop_bad("`atlas` must be the path of a NIfTI file or an image of class \"nifti\" or ",
             "\"niftiImage\", not ", describe(atlas), ".")
  }
  if (opened$volumes > 1) {
    stop_bad("`atlas` must have 3 dimensions, not 4 with ", opened$volumes, " volumes.")
  }
  values <- as.vector(opened$values)
  if (!all(is.finite(values)) || any(values != round(values))) {
    stop_bad("`atlas` must hold whole numbers, but it has ",
             number_text(values[which(!is.finite(values) | values != round(values))[1]]), ".")
  }
  opened$values <- array(as.integer(values), opened$dim)
  opened
}

atlas_names <- function(code, labels) {
  if (is.null(labels)) return(ifelse(code == 0, "none", as.character(code)))
  labels <- check_labels(labels)
  name <- labels$name[match(code, labels$code)]
  name[is.na(name) & code == 0] <- "none"
  ifelse(is.na(name), as.character(code), name)
}

# A data frame with columns code and name.
check_labels <- function(labels) {
  if (is.character(labels) && length(labels) == 1 && is.null(names(labels)) &&
      file.exists(labels)) {
    labels <- read_labels(labels)
  }
  if (is.character(labels)) {
    code <- if (is.null(names(labels))) seq_along(labels) else names(labels)
    labels <- data.frame(code = code, name = unname(labels))
  }
  columns <- if (is.data.frame(labels)) label_columns(labels)
  if (length(columns) != 2) {
    stop_bad("`labels` must be a data frame with a column of whole numbers and one of names, a ",
             "character vector or the path of a text file, not ", describe(labels), ".")
  }
  data.frame(code = as.numeric(as.character(labels[[columns[1]]])),
             name = as.character(labels[[columns[2]]]))
}

# The first column of whole numbers and the first of words.
label_columns <- function(labels) {
  is_code <- vapply(labels, function(column) {
    value <- suppressWarnings(as.numeric(as.character(column)))
    length(value) > 0 && !anyNA(value) && all(value == round(value))
  }, NA)
  c(which(is_code)[1], which(!is_code)[1])[c(any(is_code), any(!is_code))]
}

# Lines of number and name, separated by anything; others are comments or headings.
read_labels <- function(path) {
  lines <- readLines(path, warn = FALSE)
  pattern <- "^[[:space:]\"]*([0-9]+)[\"]?[[:space:],;:]+\"?([^\",;\t]*[^\",;\t[:space:]]).*$"
  lines <- grep(pattern, lines, value = TRUE)
  data.frame(code = as.numeric(sub(pattern, "\\1", lines)), name = sub(pattern, "\\2", lines))
}
