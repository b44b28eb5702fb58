#' Read surfaces
#'
#' Reads values on a surface mesh, such as cortical thickness, for many subjects: GIFTI files
#' through the gifti package. The result is used like images from [read_images()], and a warning
#' names surfaces whose scale differs from that of the others, as there.
#'
#' @param files The values, one per vertex: paths of GIFTI files (`.func.gii`, `.shape.gii`, ...),
#'   one per subject; or a matrix with one row per subject and one column per vertex; or a data
#'   frame with a column `file`. `NULL` reads the mesh alone.
#' @param mesh The surface: path of a GIFTI file (`.surf.gii`) with vertices and triangles, or a
#'   graph from [graph_mesh()] with `coords`.
#' @param mask `NULL`; a vector that is `TRUE` for each vertex to use; or the path of a GIFTI file
#'   that is not 0 there.
#' @param data A data frame with one row per subject, see [read_images()].
#' @param scale How fits divide each subject's features, see [read_images()].
#' @param ... Must be empty.
#' @return Without `files` a graph, see [graph_mesh()]. Otherwise an object of class `n2gfl_images`
#'   with `x`, `graph`, `subjects`, `data`, `dropped` and `files` as in [read_images()]; its `space`
#'   has the whole mesh (`coords`, `faces`), the `mask` of the vertices in use, and their `mean`.
#'   Vertices without variance, such as those of the medial wall, are dropped and counted.
#' @seealso [read_images()], [graph_mesh()], [write_map()].
#' @examples
#' # A tetrahedron and the values of five subjects
#' corners <- rbind(c(0, 0, 0), c(10, 0, 0), c(0, 10, 0), c(0, 0, 10))
#' mesh <- graph_mesh(rbind(c(1, 2, 3), c(1, 2, 4), c(1, 3, 4), c(2, 3, 4)), coords = corners)
#' set.seed(1)
#' thickness <- read_surface(matrix(rnorm(20, 3), 5), mesh)
#' thickness
#' @export
read_surface <- function(files = NULL, mesh, mask = NULL, data = NULL, ..., scale = NULL) {
  check_empty_dots(...)
  check_image_scale(scale)
  if (missing(mesh)) stop_bad("`mesh` must be given: a GIFTI file or a graph from graph_mesh().")
  mesh <- check_mesh(mesh)
  if (is.null(files)) return(mesh)
  if (is.data.frame(files)) {
    if (is.null(data)) data <- files
    files <- file_column(files)
  }
  source <- surface_source(files, mesh)
  source$data <- check_subject_data(data, source)
  inside <- check_vertex_mask(mask, mesh$n)
  varies <- apply(source$x, 2, function(v) any(v != v[1])) | nrow(source$x) == 1
  keep <- inside & varies
  if (!any(keep)) stop_bad("`files` must differ in at least one vertex, but all are the same.")
  space <- new_surface(mesh, keep, colMeans(source$x)[keep])
  x <- if (all(keep)) source$x else source$x[, keep, drop = FALSE]
  rownames(x) <- source$subjects
  labels <- if (is.null(source$paths)) paste("row", seq_len(nrow(x))) else quoted_each(source$paths)
  warn_scale(image_stats(x), labels)
  set_scale(new_images(x, part_of_mesh(mesh, keep), space, source$subjects, source$data,
                       sum(inside & !varies), source$paths), scale)
}

# ---- mesh and values -----------------------------------------------------------------------------

check_mesh <- function(mesh) {
  if (inherits(mesh, "n2gfl_graph")) {
    if (is.null(mesh$faces) || is.null(mesh$coords)) {
      stop_bad("`mesh` must have triangles and positions: use graph_mesh(faces, coords = ).")
    }
    return(mesh)
  }
  if (!is.character(mesh) || length(mesh) != 1 || is.na(mesh)) {
    stop_bad("`mesh` must be the path of a GIFTI file or a graph from graph_mesh(), not ",
             describe(mesh), ".")
  }
  arrays <- read_gifti(mesh, "mesh")
  if (is.null(arrays$pointset) || is.null(arrays$triangle)) {
    stop_bad("`mesh` must have vertices and triangles, but ", quoted(mesh), " has ",
             if (length(arrays)) quoted(names(arrays)) else "no data", ".")
  }
  # GIFTI counts vertices from 0.
  graph_mesh(unname(as.matrix(arrays$triangle)) + 1, nrow(arrays$pointset),
             unname(as.matrix(arrays$pointset)))
}

# The data arrays of a GIFTI file, named by their intent.
read_gifti <- function(path, name) {
  need_package("gifti", "to read surfaces")
  if (!file.exists(path)) {
    stop_bad("`", name, "` must hold paths of GIFTI files, but there is no file ", quoted(path),
             ".")
  }
  image <- tryCatch(suppressWarnings(gifti::readgii(path)), error = function(e) NULL)
  if (is.null(image) || !length(image$data)) {
    stop_bad("`", name, "` must hold GIFTI files, but ", quoted(path),
             " is not a GIFTI file or is damaged.")
  }
  image$data
}

# A list with x, n, subjects and paths.
surface_source <- function(files, mesh) {
  if (is.matrix(files) && is.numeric(files)) {
    x <- check_matrix(files, "files")
    check_vertex_count(ncol(x), mesh$n, "the matrix")
    subjects <- rownames(x)
    if (is.null(subjects)) subjects <- paste0("surface_", format_index(nrow(x)))
    return(list(x = x, n = nrow(x), subjects = subjects))
  }
  if (!is.character(files) || !length(files) || anyNA(files)) {
    stop_bad("`files` must be paths of GIFTI files or a numeric matrix, not ", describe(files),
             ".")
  }
  subjects <- names(files)
  files <- path.expand(unname(files))
  check_duplicates(files)
  x <- matrix(0, length(files), mesh$n)
  for (i in seq_along(files)) x[i, ] <- read_vertex_values(files[i], mesh$n)
  if (is.null(subjects)) subjects <- sub("(\\.[a-z]+)?\\.gii$", "", basename(files))
  if (anyDuplicated(subjects)) subjects <- files
  list(x = x, n = length(files), subjects = subjects, paths = files)
}

read_vertex_values <- function(path, n, name = "files") {
  arrays <- read_gifti(path, name)
  values <- as.vector(arrays[[1]])
  if (length(arrays) != 1) {
    stop_bad("`", name, "` must hold GIFTI files with one array of values, but ", quoted(path),
             " has ", length(arrays), ".")
  }
  check_vertex_count(length(values), n, quoted(path), name)
  if (!all(is.finite(values))) {
    stop_bad("`", name, "` must hold finite numbers, but ", quoted(path), " has ",
             count_of(sum(!is.finite(values)), "vertex value"), " with NaN or Inf.")
  }
  as.double(values)
}

check_vertex_count <- function(found, n, what, name = "files") {
  if (found != n) {
    stop_bad("`", name, "` must have one value per vertex of the mesh (", n, "), but ", what,
             " has ", found, ".")
  }
}

check_vertex_mask <- function(mask, n) {
  if (is.null(mask)) return(rep(TRUE, n))
  if (is.character(mask) && length(mask) == 1 && !is.na(mask)) {
    mask <- read_vertex_values(mask, n, "mask")
  }
  mask <- check_numbers(mask, "mask", n, "vertex") != 0
  if (!any(mask)) stop_bad("`mask` must have a vertex that is not zero, but all ", n, " are zero.")
  mask
}

# The mesh of some of the vertices.
part_of_mesh <- function(mesh, keep) {
  if (all(keep)) return(mesh)
  inside <- keep[mesh$faces[, 1]] & keep[mesh$faces[, 2]] & keep[mesh$faces[, 3]]
  number <- cumsum(keep)
  # Edges, not faces: a side may be kept although its triangle is not.
  edges <- keep[mesh$from] & keep[mesh$to]
  faces <- mesh$faces[inside, , drop = FALSE]
  faces[] <- number[faces]
  new_graph(sum(keep), number[mesh$from[edges]], number[mesh$to[edges]], mesh$weight[edges], "mesh",
            coords = mesh$coords[keep, , drop = FALSE], faces = faces)
}

# ---- files ---------------------------------------------------------------------------------------

# One value per vertex of the whole mesh; 0 where a vertex was not used.
write_surface_map <- function(map, space, file) {
  need_package("gifti", "to write maps of surfaces")
  values <- numeric(length(space$mask))
  values[space$mask] <- map$values
  gifti::writegii(gifti_image(values, "NIFTI_INTENT_NONE", map$integer, map$description), file)
  file
}

# One array of values, as gifti::writegii() wants it. It cannot pack integers, and the text that it
# writes has seven digits, which is too few for floats: integers are text, floats are packed.
gifti_image <- function(values, intent, integer = FALSE, description = "") {
  size <- dim(as.array(values))
  info <- list(
    Intent = intent, DataType = if (integer) "NIFTI_TYPE_INT32" else "NIFTI_TYPE_FLOAT32",
    ArrayIndexingOrder = "RowMajorOrder", Dimensionality = as.character(length(size)),
    Encoding = if (integer) "ASCII" else "GZipBase64Binary", Endian = "LittleEndian",
    ExternalFileName = "", ExternalFileOffset = "")
  info[paste0("Dim", seq_along(size) - 1)] <- sprintf("%d", size)  # never "1e+05"
  structure(
    list(data = list(values), file_meta = character(), version = "1.0", label = NULL,
         data_meta = list(cbind(names = "Name", vals = description)),
         data_info = as.data.frame(info), transformations = list(NULL)),
    class = "gifti")
}
