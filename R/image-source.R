# Where images come from. Every kind of input becomes one list: n, subjects (names), labels (for
# messages), paths (if there is a file for each), data, dim, affine, oriented, header, narrow,
# resampled (which images are, see on_one_grid()), read(i) (see read_volume()) and close().

image_source <- function(files, data = NULL, target = NULL, resample = FALSE) {
  if (is.data.frame(files)) {
    if (is.null(data)) data <- files
    files <- file_column(files)
  }
  if (is.factor(files)) files <- as.character(files)
  source <- if (is_image(files)) {
    whole_source(files)
  } else if (is.character(files)) {
    file_source(files)
  } else if (is.list(files)) {
    list_source(files)
  } else {
    stop_bad("`files` must be paths, a data frame with a column `file`, images, a list of images ",
             "or an array with 4 dimensions, not ", describe(files), ".")
  }
  source <- on_one_grid(source, target, resample)
  source$data <- check_subject_data(data, source)
  if (is.null(source$close)) source$close <- function() invisible()
  source
}

file_column <- function(files) {
  column <- intersect(file_columns, names(files))[1]
  if (is.na(column)) {
    stop_bad("`files` must have a column `file` if it is a data frame, but its columns are ",
             quoted(names(files)), ".")
  }
  as.character(files[[column]])
}

# Names of the column with the paths, the usual one first.
file_columns <- c("file", "path", "filename")

# RNifti's internal images are stored as character vectors, so the class is tested first.
is_image <- function(x) {
  inherits(x, "niftiImage") || is_oro(x) || (is.array(x) && is.numeric(x)) ||
    (is.array(x) && is.logical(x))
}

# By the name of the class: loading oro.nifti takes longer than reading many images.
is_oro <- function(x) inherits(x, "nifti")

# ---- files ---------------------------------------------------------------------------------------

file_source <- function(paths) {
  if (!length(paths) || anyNA(paths) || any(!nzchar(paths))) {
    stop_bad("`files` must hold at least one path and no missing ones, but ",
             if (length(paths)) {
               paste("element", which(is.na(paths) | !nzchar(paths))[1], "is missing")
             } else "it is empty", ".")
  }
  names <- names(paths)
  paths <- path.expand(unname(paths))
  folder <- paths[dir.exists(paths)][1]
  if (!is.na(folder)) {
    stop_bad("`files` must hold paths of NIfTI files, but ", quoted(folder), " is a folder: ",
             "list.files(", quoted(folder), ", full.names = TRUE) gives the files in it.")
  }
  check_duplicates(paths)
  opened <- lapply(paths, open_nifti)
  volumes <- vapply(opened, `[[`, 0, "volumes")
  if (length(paths) == 1 && volumes > 1) return(volume_source(opened[[1]]))
  check_single_volumes(paths, volumes)
  subjects <- if (is.null(names)) file_subjects(paths) else unname(names)
  c(list(n = length(paths), subjects = subjects, labels = quoted_each(paths), paths = paths,
         narrow = all(vapply(opened, `[[`, NA, "narrow")), grids = opened,
         header = read_header(opened[[1]]), read = function(i) read_values(opened[[i]])),
    opened[[1]][c("dim", "affine", "oriented")])
}

# One file with a subject per volume. A compressed file is unpacked to disk first, because a
# volume can only be reached by unpacking all volumes before it.
volume_source <- function(file) {
  n <- as.integer(file$volumes)
  subjects <- paste0(file_subjects(file$path), "_", format_index(n))
  labels <- paste0(quoted(file$path), " volume ", seq_len(n))
  unpacked <- NULL
  if (grepl("\\.gz$", file$path, ignore.case = TRUE)) {
    unpacked <- unpack_file(file)
    file$path <- unpacked
    file["packed"] <- list(NULL)
  }
  list(n = n, subjects = subjects, labels = labels, narrow = file$narrow, dim = file$dim,
       affine = file$affine, oriented = file$oriented, header = read_header(file),
       read = function(i) read_values(file, i), close = function() unlink(unpacked))
}

unpack_file <- function(file) {
  if (grepl("\\.(hdr|img)\\.gz$", file$path, ignore.case = TRUE)) {
    stop_bad("`files` must be a .nii or .nii.gz file if it holds many subjects, not the ",
             "compressed pair ", quoted(file$path), ".")
  }
  target <- tempfile(fileext = ".nii")
  whole <- FALSE
  on.exit(if (!whole) unlink(target), add = TRUE)
  from <- gzfile(file$path, "rb")
  on.exit(close(from), add = TRUE)
  to <- file(target, "wb")
  on.exit(close(to), add = TRUE)
  next_piece <- function() {
    # R reports a wrong checksum as a warning.
    tryCatch(readBin(from, "raw", 2^22), error = function(e) stop_damaged(file, "files"),
             warning = function(w) stop_damaged(file, "files"))
  }
  while (length(piece <- next_piece())) writeBin(piece, to)
  whole <- TRUE
  target
}

file_subjects <- function(paths) {
  stem <- function(path) sub("\\.(nii|hdr|img)(\\.gz)?$", "", basename(path), ignore.case = TRUE)
  subjects <- stem(paths)
  # Files may have the same name in a folder per subject.
  if (anyDuplicated(subjects)) subjects <- file.path(basename(dirname(paths)), subjects)
  if (anyDuplicated(subjects)) subjects <- paths
  subjects
}

format_index <- function(n) formatC(seq_len(n), width = nchar(n), flag = "0")

quoted_each <- function(values) paste0("\"", values, "\"")

check_duplicates <- function(paths) {
  real <- sub("\\.hdr(\\.gz)?$", ".img\\1", normalizePath(paths, mustWork = FALSE))
  second <- anyDuplicated(real)
  if (second) {
    stop_bad("`files` must hold each file once, but elements ", match(real[second], real), " and ",
             second, " are the same file ", quoted(paths[second]), ".")
  }
}

check_single_volumes <- function(paths, volumes) {
  many <- which(volumes > 1)[1]
  if (!is.na(many)) {
    stop_bad("`files` must be one file with 4 dimensions or several with 3, but among ",
             length(paths), " files, ", quoted(paths[many]), " has ", volumes[many], " volumes.")
  }
}

# ---- images in memory ----------------------------------------------------------------------------

# One image or array with subjects along the fourth dimension (or a single subject).
whole_source <- function(image) {
  opened <- open_image(image, "files")
  n <- as.integer(opened$volumes)
  voxels <- prod(opened$dim)
  values <- opened$values
  read <- function(i) as.double(values[(i - 1) * voxels + seq_len(voxels)])
  c(list(n = n, subjects = paste0("image_", format_index(n)), labels = paste("volume", seq_len(n)),
         narrow = FALSE, read = read),
    opened[c("dim", "affine", "oriented", "header")])
}

list_source <- function(images) {
  if (!length(images)) stop_bad("`files` must hold at least one image, but it is an empty list.")
  names <- names(images)
  labels <- paste("element", seq_along(images))
  opened <- vector("list", length(images))
  for (i in seq_along(images)) {
    if (!is_image(images[[i]])) {
      stop_bad("`files` must be a list of images or arrays, but ", labels[i], " is ",
               describe(images[[i]]), ".")
    }
    opened[[i]] <- open_image(images[[i]], "files", labels[i], values = FALSE)
    if (opened[[i]]$volumes > 1) {
      stop_bad("`files` must be a list of images with 3 dimensions, but ", labels[i], " has ",
               opened[[i]]$volumes, " volumes.")
    }
  }
  subjects <- if (is.null(names)) paste0("image_", format_index(length(images))) else names
  c(list(n = length(images), subjects = subjects, labels = labels, narrow = FALSE, grids = opened,
         read = function(i) as.double(image_values(images[[i]]))),
    opened[[1]][c("dim", "affine", "oriented", "header")])
}

# list(dim, volumes, affine, oriented, header, values) of an image or array.
open_image <- function(image, name, label = "the image", values = TRUE) {
  check_not_reoriented(image, name, label)
  size <- c(length(dim(image)), dim(image), rep(1, max(0, 7 - length(dim(image)))))
  dim <- check_claimed_dim(size, label, name)
  header <- if (is_oro(image)) {
    oro_header(image)
  } else {
    RNifti::niftiHeader(if (is.array(image) && !inherits(image, "niftiImage")) array(0, c(2, 2, 2))
                        else image)
  }
  header$dim <- as.integer(c(3, dim[1:3], 1, 1, 1, 1))
  list(dim = dim[1:3], volumes = dim[4], header = header,
       affine = check_affine(header_affine(header), label, name), oriented = is_oriented(header),
       values = if (values) image_values(image))
}

image_values <- function(image) as.vector(image_array(image))

# oro.nifti's reader flips voxels by default and does not say so in the header.
check_not_reoriented <- function(image, name, label) {
  if (is_oro(image) && isTRUE(image@reoriented)) {
    stop_bad("`", name, "` must hold images as they are stored, but ", label, " was read by ",
             "oro.nifti with reorient = TRUE, which may swap left and right: give the file's ",
             "path, or read it with reorient = FALSE.")
  }
}

# Header fields of an oro.nifti image, in RNifti's form.
oro_header <- function(image) {
  header <- RNifti::niftiHeader(array(0, c(2, 2, 2)))
  same <- c("sform_code", "qform_code", "quatern_b", "quatern_c", "quatern_d", "srow_x", "srow_y",
            "srow_z", "xyzt_units")
  for (field in same) header[[field]] <- methods::slot(image, field)
  offsets <- c(x = image@qoffset_x, y = image@qoffset_y, z = image@qoffset_z)
  for (axis in names(offsets)) header[[paste0("qoffset_", axis)]] <- offsets[[axis]]
  header$pixdim <- as.double(image@pixdim)
  header
}

# ---- subjects ------------------------------------------------------------------------------------

# The data frame of subjects, a row per image, in the order of the images: by name if it has names.
check_subject_data <- function(data, source) {
  if (is.null(data)) return(NULL)
  if (!is.data.frame(data)) {
    stop_bad("`data` must be a data frame with one row per image, not ", describe(data), ".")
  }
  labels <- unique(Filter(Negate(is.null), list(source$subjects, source$paths)))
  aligned <- align_table(as.data.frame(data), labels, TRUE, per = "image",
                         must_match = !is.null(data[["file"]]) && !is.null(source$paths))
  data <- aligned$data
  # Vectors of the user may still be in the order that the table had: see attached_table().
  if (is.unsorted(aligned$rows)) attr(data, "table_rows") <- rank(aligned$rows)
  if (nrow(data) != source$n) {
    stop_bad("`data` must have one row per image (", source$n, "), not ", nrow(data), ".")
  }
  data
}

# ---- masks and blocks ----------------------------------------------------------------------------

# The mask on the (coarsened) grid, as a logical array.
check_image_mask <- function(mask, source, grid, resample) {
  given <- open_mask(mask)
  inside <- check_mask(given$values)
  dim(inside) <- given$dim
  on_grid <- mask_on_grid(inside, given, source, grid, resample)
  note_mask_values(given$values, inside)
  on_grid
}

mask_on_grid <- function(inside, given, source, grid, resample) {
  if (mask_fits(given, grid)) return(inside)
  if (!mask_fits(given, source)) {
    if (!resample || is.null(given$affine)) stop_other_mask(given, source)
    given$values <- inside
    inside <- resample_mask(given, source)
  }
  if (is.null(grid$block)) return(inside)
  share <- block_means_cpp(as.double(inside), grid$block, prod(grid$dim))
  if (!any(share >= 0.5)) {
    stop_bad("`mask` must fill at least half of one block of `coarsen`, but it fills at most ",
             number_text(100 * max(share)), " percent of one.")
  }
  array(share >= 0.5, grid$dim)
}

# A map of probabilities is small but not zero nearly everywhere.
note_mask_values <- function(values, inside) {
  found <- range(values[inside])
  if (found[1] == found[2]) return(invisible())
  found <- range(values)
  message("`mask` has values from ", number_text(found[1]), " to ", number_text(found[2]),
          ", and everything that is not 0 counts as inside (", sum(inside), " of ", length(inside),
          " voxels): threshold it first if that is not what you mean, e.g. mask > ",
          number_text(signif(found[2] / 2, 2)), ".")
}

stop_other_mask <- function(mask, source) {
  plain <- is.null(mask$affine)
  stop_bad("`mask` must be on the grid of the images, but mask and images have ",
           grid_difference(mask, if (plain) source["dim"] else source),
           if (!plain) ": set resample = TRUE to bring the mask to the grid of the images", ".")
}

# An array without a header is compared by its size alone.
mask_fits <- function(mask, grid) {
  if (is.null(mask$affine)) all(mask$dim == grid$dim) else same_grid(mask, grid)
}

open_mask <- function(mask) {
  if (is.character(mask) && !inherits(mask, "niftiImage") && length(mask) == 1 && !is.na(mask)) {
    opened <- open_nifti(mask, "mask")
    opened$values <- read_values(opened, name = "mask", numbers = TRUE)
  } else if (is_image(mask)) {
    opened <- open_image(mask, "mask")
    if (!inherits(mask, "niftiImage") && !is_oro(mask)) opened$affine <- NULL
  } else {
    stop_bad("`mask` must be the path of a NIfTI file, an image or an array, not ",
             describe(mask), ".")
  }
  if (opened$volumes > 1) {
    stop_bad("`mask` must have 3 dimensions, not 4 with ", opened$volumes, " volumes.")
  }
  opened
}

# The grid of blocks: dim, affine, header, coarsen, and the block of every voxel (NULL without
# coarsening). `narrow`: all values are floats. `once`: there is memory to store more voxels than
# needed, so that every image is read once.
# Blocks are counted from the lower end in mm, whatever the order of storage.
coarse_grid <- function(source, coarsen) {
  coarsen <- check_coarsen(coarsen)
  header <- source$header
  header$dim <- as.integer(c(3, source$dim, 1, 1, 1, 1))
  same <- list(dim = as.integer(source$dim), affine = source$affine, header = header,
               narrow = source$narrow, once = source$narrow)
  if (is.null(coarsen)) return(same)
  axes <- mm_axes(source$affine)
  size <- coarsen[axes$axis]
  count <- ceiling(source$dim / size)
  first <- ifelse(axes$sign > 0, (size - 1) / 2, source$dim - 1 - (size - 1) / 2 -
                    (count - 1) * size)
  list(dim = as.integer(count), affine = source$affine %*% block_affine(size, first),
       header = coarse_header(header, count, size, first), coarsen = coarsen,
       block = block_numbers(source$dim, size, count, axes$sign), narrow = FALSE,
       once = TRUE)
}

check_coarsen <- function(coarsen) {
  if (is.null(coarsen)) return(NULL)
  whole <- is.numeric(coarsen) && length(coarsen) %in% c(1, 3) && !anyNA(coarsen) &&
    all(coarsen >= 1 & coarsen == round(coarsen) & coarsen <= 1e6)
  if (!whole) {
    stop_bad("`coarsen` must be one or three whole numbers of at least 1, not ",
             if (is.numeric(coarsen) && length(coarsen) > 1) {
               paste0("(", paste(coarsen, collapse = ", "), ")")
             } else describe(coarsen), ".")
  }
  coarsen <- rep_len(as.integer(coarsen), 3)
  if (all(coarsen == 1)) NULL else coarsen
}

# From indices of blocks to indices of voxels, both counted from 0.
block_affine <- function(size, first) {
  affine <- diag(c(size, 1))
  affine[1:3, 4] <- first
  affine
}

block_numbers <- function(dim, size, count, sign) {
  along <- function(k) {
    voxel <- seq_len(dim[k]) - 1
    if (sign[k] > 0) return(voxel %/% size[k])
    count[k] - 1 - rev(voxel) %/% size[k]
  }
  rows <- outer(along(1), count[1] * along(2), "+")
  as.integer(outer(rows, count[1] * count[2] * along(3), "+")) + 1L
}

# Both affines of the header become those of the blocks.
coarse_header <- function(header, count, size, first) {
  block <- block_affine(size, first)
  offset <- header_qform(header) %*% c(first, 1)
  sform <- rbind(header$srow_x, header$srow_y, header$srow_z) %*% block
  header$dim[2:4] <- as.integer(count)
  header$pixdim[2:4] <- header$pixdim[2:4] * size
  header$srow_x <- sform[1, ]
  header$srow_y <- sform[2, ]
  header$srow_z <- sform[3, ]
  header$qoffset_x <- offset[1]
  header$qoffset_y <- offset[2]
  header$qoffset_z <- offset[3]
  header
}
