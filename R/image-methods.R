# Methods for images: print, dim, selection of subjects, summary and plot.

#' @method print n2gfl_images
#' @export
print.n2gfl_images <- function(x, ...) {
  print_size(x$space, dim(x), x$graph)
  if (x$dropped) cat("Dropped: ", x$dropped, " without variance\n", sep = "")
  if (!is.null(x$scale)) {
    cat("Scale: each subject divided by ", if (x$scale == "mean") "its mean" else x$scale, "\n",
        sep = "")
  }
  if (!is.null(x$data)) {
    cat("Subject data: ", paste(names(x$data), collapse = ", "), "\n", sep = "")
  }
  invisible(x)
}

print_size <- function(space, dim, graph) {
  place <- place_of(space)
  cat(place$called, ": ", count_of(dim[1], "subject"), ", ", place$count_text(dim[2]), "\n",
      place$shape_text(space), "\n", "Mask: ", components_text(graph), "\n", sep = "")
}

components_text <- function(graph) {
  sizes <- sort(tabulate(connected_components(graph)), decreasing = TRUE)
  if (length(sizes) == 1) return("connected")
  shown <- utils::head(sizes, 5)
  paste0(length(sizes), " separate components (", paste(shown, collapse = ", "),
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
            class = "n2gfl_images_summary")
}

#' @method print n2gfl_images_summary
#' @export
print.n2gfl_images_summary <- function(x, digits = 3, rows = 10, ...) {
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
  else if (is.null(list(...)[["type"]])) at <- place_of(x$space)$cuts(x$space)
  plot_map(x, cuts = at, outline = outline, ...)
  invisible(x)
}
