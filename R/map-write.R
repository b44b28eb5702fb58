#' Write a map as a NIfTI or GIFTI file
#'
#' Writes the coefficients of a fit, or its selection, regions or probabilities, to a file on the
#' grid of the images, which any viewer can show.
#'
#' @details
#' The file has the grid of the images that were fitted (after coarsening, if they were coarsened),
#' with the sform and qform and their codes as in the input. Coefficients, shares and probabilities
#' are stored as 32-bit floats, region numbers as 32-bit integers, whatever the input's type was.
#' The intent, a description and the display range (`cal_min`, `cal_max`) are set. Voxels outside
#' the mask are 0.
#'
#' For a fit on a surface ([read_surface()]) the file is GIFTI (`.gii`) with one value per vertex,
#' written by the gifti package.
#' @param object A fit from [n2gfl()], a cross-validation from [cv.n2gfl()] or stability selection
#'   from [stability_selection()], made from images.
#' @param file Name of the file: `.nii` or `.nii.gz` (`.gii` for surfaces).
#' @param s,row Which fit: `"lambda.stable"` (what `NULL` means), `"lambda.min"`, `"lambda.1se"` or
#'   `"lambda.es"` for a cross-validation, `c(lambda1 = , lambda2 = )` or the row of the grid for
#'   any fit. One with a single row needs neither; stability selection has no rows.
#' @param what What to map:
#'   * `"coef"`: the coefficients;
#'   * `"selection"`: the share of the folds that selected a voxel; for a single fit 1 where a
#'     coefficient is not zero;
#'   * `"region"`: the number of the connected region, as in [region_table()];
#'   * `"probability"`: selection probabilities, for stability selection.
#' @param ... Must be empty.
#' @return The name of the file, invisibly.
#' @seealso [as_nifti()] for the image as an object, [region_table()].
#' @examples
#' set.seed(1)
#' images <- read_images(array(rnorm(6 * 6 * 6 * 20, 1), c(6, 6, 6, 20)), threshold = -Inf)
#' y <- rowSums(images$x[, 20:22]) + rnorm(20)
#' fit <- n2gfl(images, y, lambda1 = 0.2, lambda2 = 0.05)
#' file <- tempfile(fileext = ".nii.gz")
#' write_map(fit, file)
#' range(RNifti::readNifti(file))
#' unlink(file)
#' @export
write_map <- function(object, file, s = NULL, row = NULL,
                      what = c("coef", "selection", "region", "probability"), ...) {
  check_empty_dots(...)
  what <- match_map(what, object, missing(what))
  map <- map_values(object, what, s, row)
  space <- image_space(object)
  check_map_file(file, place_of(space)$endings)
  place_of(space)$write(map, space, file)
  invisible(file)
}

#' The map of a fit as an oro.nifti image
#'
#' The image that [write_map()] writes, as an object of class `nifti` of the oro.nifti package; its
#' `orthographic()` and other functions work on it.
#'
#' @inheritParams write_map
#' @return An object of class `nifti`.
#' @seealso [write_map()]
#' @examples
#' set.seed(1)
#' images <- read_images(array(rnorm(6 * 6 * 6 * 20, 1), c(6, 6, 6, 20)), threshold = -Inf)
#' y <- rowSums(images$x[, 20:22]) + rnorm(20)
#' fit <- n2gfl(images, y, lambda1 = 0.2, lambda2 = 0.05)
#' map <- as_nifti(fit)
#' map
#' @export
as_nifti <- function(object, s = NULL, row = NULL,
                     what = c("coef", "selection", "region", "probability"), ...) {
  check_empty_dots(...)
  what <- match_map(what, object, missing(what))
  map <- map_values(object, what, s, row)
  image <- oro.nifti::nii2oro(map_nifti(map, voxel_space(object)))
  # RNifti returns doubles; set the type in which they are written.
  image@datatype <- if (map$integer) 8 else 16
  image@bitpix <- 32
  image
}

# ---- what is mapped ------------------------------------------------------------------------------

match_map <- function(what, object, is_missing) {
  choices <- c("coef", "selection", "region", "probability")
  if (is_missing) return(if (is_selection(object)) "probability" else "coef")
  what <- match_choice(what, "what", choices)
  if ((what == "probability") != is_selection(object)) {
    stop_bad("`what` must be ", if (is_selection(object)) "\"probability\" for"
             else "\"coef\", \"selection\" or \"region\" without", " stability selection, not \"",
             what, "\".")
  }
  what
}

check_no_row <- function(s, row) {
  if (!is.null(s) || !is.null(row)) {
    stop_bad("`s` and `row` must not be given for stability selection: it has no grid.")
  }
}

# list(values = one per feature, integer, what, description).
map_values <- function(object, what, s, row) {
  if (is_selection(object)) {
    check_no_row(s, row)
    return(list(values = as.double(object$prob), integer = FALSE, what = what,
                description = "n2gfl selection probability"))
  }
  row <- map_row(object, s, row)
  beta <- full_fit(object)$beta[, row]
  values <- switch(what, coef = beta, selection = selection_share(object, row),
                   region = numbered_regions(beta, kept_in(object, "graph")))
  grid <- full_fit(object)$grid[row, ]
  text <- sprintf("n2gfl %s lambda1=%.4g lambda2=%.4g", what, grid$lambda1, grid$lambda2)
  list(values = as.double(values), integer = what == "region", what = what, description = text)
}

# The share of the folds that selected each feature; for a single fit, 1 if it did and else 0.
selection_share <- function(object, row) {
  folds <- object$fold.fits
  if (is.null(folds)) return(as.double(full_fit(object)$beta[, row] != 0))
  count <- numeric(nrow(folds[[1]]$beta))
  for (fold in folds) {
    at <- seq_len(diff(fold$beta@p[row + 0:1])) + fold$beta@p[row]
    selected <- fold$beta@i[at][fold$beta@x[at] != 0] + 1L
    count[selected] <- count[selected] + 1
  }
  count / length(folds)
}

# ---- files ---------------------------------------------------------------------------------------

check_map_file <- function(file, endings) {
  good <- is.character(file) && length(file) == 1 && !is.na(file) &&
    any(endsWith(tolower(file), endings))
  if (!good) {
    stop_bad("`file` must be the name of a file that ends in ", paste(endings, collapse = " or "),
             ", not ", describe(file), ".")
  }
  if (!dir.exists(dirname(path.expand(file)))) {
    stop_bad("`file` must be in a folder that exists, but there is no ", quoted(dirname(file)), ".")
  }
}
