# Methods for images: print, dim, selection of subjects, summary and plot.

#' @method print n2gfl_images
#' @export
print.n2gfl_images <- function(x, ...) {
  print_size(x$space, dim(x), x$graph)
  if (x$dropped) cat("Dropped: ", x$dropped, " without variance\n", sep = "")
  if (!is.null(x$data)) {
    cat("Subject data: ", paste(names(x$data), collapse = ", "), "\n", sep = "")
  }
  invisible(x)
}

print_size <- function(space, dim, graph) {
  surface <- is_surface(space)
  features <- if (surface) paste(dim[2], "vertices") else
    paste(count_of(dim[2], "voxel"), "inside the mask")
  cat(if (surface) "Surfaces: " else "Images: ", count_of(dim[1], "subject"), ", ", features, "\n",
      sep = "")
  if (surface) {
    cat("Mesh: ", nrow(space$coords), " vertices, ", nrow(space$faces), " triangles\n", sep = "")
  } else {
    cat("Grid: ", grid_text(space), "\n", sep = "")
  }
  cat("Mask: ", parts_text(graph), "\n", sep = "")
}

# Size, voxels in mm, order of storage, coarsening.
grid_text <- function(space) {
  size <- sqrt(colSums(space$affine[1:3, 1:3]^2))
  paste0(
    paste(space$dim, collapse = " x "), " voxels of ",
    paste(number_text_each(signif(size, 4)), collapse = " x "), " mm",
    if (is_oriented(space$header)) paste(", stored as", storage_order(space$affine))
    else ", without orientation in the header: left and right are not known",
    if (!is.null(space$coarsen)) {
      paste0(", blocks of ", paste(space$coarsen, collapse = " x "), " of ",
             paste(space$source$dim, collapse = " x "))
    }
  )
}

# Letters of the directions in which the array's axes run, such as "LAS".
storage_order <- function(affine) {
  axes <- mm_axes(affine)
  up <- axes$direction > 0
  paste0(ifelse(up, c("R", "A", "S")[axes$axis], c("L", "P", "I")[axes$axis]), collapse = "")
}

parts_text <- function(graph) {
  sizes <- sort(tabulate(connected_parts(graph)), decreasing = TRUE)
  if (length(sizes) == 1) return("connected")
  shown <- utils::head(sizes, 5)
  paste0(length(sizes), " separate parts (", paste(shown, collapse = ", "),
         if (length(sizes) > 5) ", ...", ")")
}

#' @export
dim.n2gfl_images <- function(x) dim(x$x)

#' @export
`[.n2gfl_images` <- function(x, i, j, ...) {
  if (!missing(j) || length(list(...))) {
    stop_bad("`images[i]` takes subjects only: the voxels are chosen by read_images(mask = ).")
  }
  if (missing(i)) return(x)
  if (is.character(i)) i <- match_subjects(i, x$subjects)
  rows <- tryCatch(stats::setNames(seq_along(x$subjects), x$subjects)[i],
                   error = function(e) NA)
  if (!length(rows) || anyNA(rows)) {
    stop_bad("`i` must choose some of the ", length(x$subjects), " subjects by number, name or ",
             "logical values, not ", describe(i), ".")
  }
  x$x <- x$x[rows, , drop = FALSE]
  x$subjects <- x$subjects[rows]
  if (!is.null(x$files)) x$files <- x$files[rows]
  if (!is.null(x$data)) {
    x$data <- x$data[rows, , drop = FALSE]
    attr(x$data, "table_rows") <- NULL  # of all the subjects
  }
  x
}

match_subjects <- function(names, subjects) {
  found <- match(names, subjects)
  if (anyNA(found)) {
    stop_bad("`i` must hold names of subjects, but there is no subject ",
             quoted(names[is.na(found)][1]), ".")
  }
  found
}

#' @method summary n2gfl_images
#' @export
summary.n2gfl_images <- function(object, ...) {
  check_empty_dots(...)
  stats <- image_stats(object$x)[c("mean", "sd", "min", "max")]
  subjects <- cbind(data.frame(subject = object$subjects), stats)
  structure(list(subjects = subjects, graph = object$graph, space = object$space,
                 dim = dim(object)),
            class = "summary.n2gfl_images")
}

#' @method print summary.n2gfl_images
#' @export
print.summary.n2gfl_images <- function(x, digits = 3, rows = 10, ...) {
  print_size(x$space, x$dim, x$graph)
  # The subjects whose mean is farthest from the median come first.
  away <- abs(x$subjects$mean - stats::median(x$subjects$mean))
  shown <- utils::head(order(-away), rows)
  cat("\nValues inside the mask", if (nrow(x$subjects) > rows) ", most unusual means first", ":\n",
      sep = "")
  print(x$subjects[if (nrow(x$subjects) > rows) shown else seq_len(nrow(x$subjects)), ],
        digits = digits, row.names = FALSE)
  invisible(x)
}

#' Show the mean image and the mask
#'
#' Three cuts through the mean image and the outline of the mask, drawn by [plot_map()]: bright
#' where values are high, in millimetres and in neurological convention (left is left). The mean of
#' surfaces is drawn from four sides. With `space = "mni"` or a `template` the outline of the mask
#' is drawn over that anatomy instead, to see whether the images lie where they should.
#'
#' @param x Images from [read_images()] or [read_surface()].
#' @param at Millimetres of the three cuts, `c(x, y, z)`; `NULL` for the middle of the mask.
#' @param outline Draw the outline of the mask?
#' @param ... Further arguments of [plot_map()], such as `type`, `background` or `main`.
#' @return `x`, invisibly.
#' @examples
#' images <- read_images(array(runif(12 * 14 * 10 * 3), c(12, 14, 10, 3)), threshold = 0.5)
#' plot(images)
#' @export
plot.n2gfl_images <- function(x, at = NULL, outline = TRUE, ...) {
  if (!is.null(at)) at <- check_numbers(at, "at", 3, "axis")
  else if (!is_surface(x$space) && is.null(list(...)[["type"]])) at <- colMeans(space_mm(x$space))
  plot_map(x, cuts = at, outline = outline, ...)
  invisible(x)
}
