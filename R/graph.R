# Graphs: which nodes are neighbours. Every constructor ends in new_graph(), which checks nothing:
# the constructors ensure the invariants, which are 1-based nodes, from < to, edges sorted by
# (from, to), no edge twice, weights positive.

new_graph <- function(n, from, to, weight, kind, dim = NULL, mask = NULL, coords = NULL,
                      faces = NULL) {
  structure(
    list(n = n, from = from, to = to, weight = weight, kind = kind,
         dim = dim, mask = mask, coords = coords, faces = faces),
    class = "n2gfl_graph"
  )
}

# ---- grids and masks -----------------------------------------------------------------------------

#' Graph of a full grid
#'
#' Neighbouring cells of a line, an image or a volume are joined by edges of weight 1. Nodes are
#' numbered as R stores an array: the first index runs fastest.
#'
#' @param dim Size of the grid: one to three whole numbers.
#' @param neighbours How many neighbours an inner cell has: 2 in one dimension; 4 (sharing a side,
#'   the default) or 8 (also a corner) in two; 6 (sharing a face, the default), 18 (also an edge)
#'   or 26 (also a corner) in three.
#' @param ... Must be empty.
#' @return A graph of class `n2gfl_graph`: a list with the number of nodes `n`, the edges `from`,
#'   `to` (`from < to`, sorted) and `weight`, the `kind` of graph, for grids and masks `dim`,
#'   `mask` and the array indices of each node, `coords`, and for meshes `faces` and the vertices'
#'   positions as `coords`.
#' @seealso [graph_mask()] for a part of a grid, [plot.n2gfl_graph()].
#' @family graphs
#' @examples
#' graph_grid(c(4, 3))
#' graph_grid(c(4, 3), neighbours = 8)
#' graph_grid(c(10, 10, 10))
#' @export
graph_grid <- function(dim, neighbours = NULL, ...) {
  check_empty_dots(...)
  dim <- check_dim(dim)
  neighbours <- check_neighbours(neighbours, length(dim))
  inside <- array(TRUE, dim)
  lattice_graph(inside, neighbours, kind = "grid", mask = NULL)
}

#' Graph of the voxels inside a mask
#'
#' One node for each voxel of the mask that is not zero, and an edge of weight 1 between
#' neighbouring voxels that are both inside. Nodes are numbered in R's array order, so the features
#' of an image `img` are `img[mask != 0]`, in that order.
#'
#' @param mask A logical or numeric array with one to three dimensions (a plain vector is one
#'   dimension), an image of class `nifti` (package oro.nifti) or `niftiImage` (package RNifti), or
#'   the path of a NIfTI file, which is read without reorienting it. Voxels that are `TRUE` or not
#'   zero are inside. Trailing dimensions of size 1 are dropped.
#' @inheritParams graph_grid
#' @inherit graph_grid return
#' @family graphs
#' @param ... Must be empty.
#' @examples
#' ball <- outer(1:9, 1:9, function(i, j) (i - 5)^2 + (j - 5)^2 <= 16)
#' g <- graph_mask(ball)
#' g
#' plot(g)
#'
#' # An image in memory
#' graph_mask(RNifti::asNifti(array(1, c(5, 5, 5))), neighbours = 26)
#' @export
graph_mask <- function(mask, neighbours = NULL, ...) {
  check_empty_dots(...)
  inside <- check_mask(mask)
  neighbours <- check_neighbours(neighbours, length(dim(inside)))
  lattice_graph(inside, neighbours, kind = "mask", mask = inside)
}

# Each edge is found once, from its smaller node. The rows of `joined` are the offsets to larger
# nodes in increasing order, its columns the nodes: which() then returns the edges sorted.
lattice_graph <- function(inside, neighbours, kind, mask) {
  dim <- dim(inside)
  offsets <- lattice_offsets(dim, neighbours)
  cells <- which(inside)
  coords <- arrayInd(cells, dim)
  joined <- matrix(FALSE, nrow(offsets), length(cells))
  for (k in seq_len(nrow(offsets))) {
    joined[k, ] <- is_joined(inside, cells, coords, offsets[k, ])
  }
  edges <- which(joined) - 1L
  from <- as.integer(edges %/% nrow(offsets)) + 1L
  step <- attr(offsets, "step")[edges %% nrow(offsets) + 1L]
  node <- integer(length(inside))
  node[cells] <- seq_along(cells)
  new_graph(length(cells), from, node[cells[from] + step], rep(1, length(from)), kind,
            dim = dim, mask = mask, coords = coords)
}

# The half of the neighbourhood that points to larger cell numbers, in increasing order of `step`,
# the distance in R's array order.
lattice_offsets <- function(dim, neighbours) {
  k <- length(dim)
  offsets <- as.matrix(expand.grid(rep(list(-1:1), k)))
  changed <- rowSums(offsets != 0)
  reach <- match(neighbours, neighbourhoods[[k]])
  # expand.grid() is in array order, so the rows after the middle one point to larger cell numbers.
  forward <- seq_len(nrow(offsets)) > (nrow(offsets) + 1) / 2
  offsets <- offsets[forward & changed <= reach, , drop = FALSE]
  structure(unname(offsets), step = as.integer(offsets %*% cumprod(c(1, dim[-k]))))
}

neighbourhoods <- list(2L, c(4L, 8L), c(6L, 18L, 26L))

# For each cell: is its neighbour at `offset` within the array and inside?
is_joined <- function(inside, cells, coords, offset) {
  dim <- dim(inside)
  step <- as.integer(sum(offset * cumprod(c(1, dim[-length(dim)]))))
  within <- rep(TRUE, length(cells))
  for (axis in which(offset != 0)) {
    edge <- if (offset[axis] > 0) dim[axis] else 1L
    within <- within & coords[, axis] != edge
  }
  within[within] <- inside[cells[within] + step]
  within
}

check_dim <- function(dim) {
  whole <- is.numeric(dim) && length(dim) %in% 1:3 && !anyNA(dim) && all(dim >= 1) &&
    all(dim == round(dim))
  if (!whole) {
    stop_bad("`dim` must be one to three whole numbers of at least 1, not ",
             if (is.numeric(dim)) paste0("(", paste(dim, collapse = ", "), ")") else describe(dim),
             ".")
  }
  if (prod(dim) > .Machine$integer.max) {
    stop_bad("`dim` must give at most ", .Machine$integer.max, " nodes, not ", prod(dim), ".")
  }
  as.integer(dim)
}

check_neighbours <- function(neighbours, k) {
  choices <- neighbourhoods[[k]]
  if (is.null(neighbours)) return(choices[1])
  if (!is_number(neighbours) || !neighbours %in% choices) {
    stop_bad("`neighbours` must be ", paste(choices, collapse = " or "), " in ",
             count_of(k, "dimension"), ", not ", describe(neighbours), ".")
  }
  as.integer(neighbours)
}

# A logical array with one to three dimensions.
check_mask <- function(mask) {
  values <- image_array(mask)
  if (!(is.numeric(values) || is.logical(values))) {
    stop_bad("`mask` must be a logical or numeric array or a NIfTI image, not ",
             describe(mask), ".")
  }
  dim <- dim(values)
  if (is.null(dim)) dim <- length(values)
  while (length(dim) > 3 && dim[length(dim)] == 1) dim <- dim[-length(dim)]
  if (length(dim) > 3) {
    stop_bad("`mask` must have one to three dimensions, not ", length(dim), " (",
             paste(dim, collapse = " x "), ").")
  }
  if (anyNA(values)) {
    stop_bad("`mask` must have no missing values, but element ", which(is.na(values))[1],
             " is ", values[which(is.na(values))[1]], ".")
  }
  inside <- array(as.vector(values) != 0, dim)
  if (!any(inside)) {
    stop_bad("`mask` must have a voxel that is not zero, but all ", length(inside), " are zero.")
  }
  inside
}

# The numbers of an image, from whichever package it comes.
image_array <- function(image) {
  # This test comes first, because is.character() is TRUE for RNifti's internal images.
  if (inherits(image, "niftiImage")) return(as.array(image))
  if (is_oro(image)) return(oro.nifti::img_data(image))
  if (is.character(image) && length(image) == 1 && !is.na(image)) {
    if (!file.exists(image)) {
      stop_bad("`mask` must be an array, an image or the path of a NIfTI file, but there is no ",
               "file ", quoted(image), ".")
    }
    values <- read_array(image, "mask")$values
    # An image with a single slice has two dimensions here.
    return(if (identical(dim(values)[-(1:2)], 1L)) values[, , 1] else values)
  }
  image
}

# ---- chains, edge lists, meshes ------------------------------------------------------------------

#' Graph of a chain
#'
#' Node 1 is joined to node 2, 2 to 3, and so on: the graph of the ordinary fused lasso.
#'
#' @param n Number of nodes.
#' @inherit graph_grid return
#' @family graphs
#' @param ... Must be empty.
#' @examples
#' graph_chain(5)
#' @export
graph_chain <- function(n, ...) {
  check_empty_dots(...)
  n <- check_count(n, "n")
  new_graph(n, seq_len(n - 1L), seq_len(n - 1L) + 1L, rep(1, n - 1L), "chain")
}

#' Graph from a list of edges
#'
#' Any weighted undirected graph, given by its edges. An edge may be given in either direction.
#' Edges that are given more than once are merged and their weights summed; edges of weight 0 are
#' dropped. An edge from a node to itself is an error. Nodes without an edge and graphs in several
#' components are allowed.
#'
#' @param from,to Node numbers at the two ends of each edge, counted from 1.
#' @param weight One nonnegative number per edge, or `NULL` for 1.
#' @param n Number of nodes, or `NULL` for the largest number in `from` and `to`. Give it when the
#'   last nodes have no edge.
#' @inherit graph_grid return
#' @family graphs
#' @param ... Must be empty.
#' @examples
#' # A triangle with a tail, and a node on its own
#' g <- graph_edges(from = c(1, 2, 3, 3), to = c(2, 3, 1, 4), weight = c(1, 1, 2, 0.5), n = 5)
#' g
#' plot(g)
#' @export
graph_edges <- function(from, to, weight = NULL, n = NULL, ...) {
  check_empty_dots(...)
  if (length(from) != length(to)) {
    stop_bad("`to` must have one value per element of `from` (", length(from), "), not ",
             length(to), ".")
  }
  n <- check_node_count(n, from, to)
  from <- check_nodes(from, "from", n)
  to <- check_nodes(to, "to", n)
  loop <- which(from == to)
  if (length(loop)) {
    stop_bad("`from` and `to` must differ, but edge ", loop[1], " joins node ", from[loop[1]],
             " to itself.")
  }
  weight <- check_edge_weight(weight, length(from))
  edges <- merge_edges(from, to, weight)
  new_graph(n, edges$from, edges$to, edges$weight, "edges")
}

#' Graph of a surface mesh
#'
#' Vertices are nodes; the sides of the triangles are edges of weight 1. A side that two triangles
#' share is one edge.
#'
#' @param faces A matrix with three columns: the vertex numbers of each triangle, counted from 1.
#'   Some formats (GIFTI among them) count from 0: add 1.
#' @param n Number of vertices, or `NULL` for the largest number in `faces`.
#' @param coords Positions of the vertices in millimetres, a matrix with one row per vertex and
#'   three columns, for pictures and tables; or `NULL`.
#' @inherit graph_grid return
#' @family graphs
#' @param ... Must be empty.
#' @examples
#' tetrahedron <- rbind(c(1, 2, 3), c(1, 2, 4), c(1, 3, 4), c(2, 3, 4))
#' graph_mesh(tetrahedron)
#' @export
graph_mesh <- function(faces, n = NULL, coords = NULL, ...) {
  check_empty_dots(...)
  if (!is.matrix(faces) || !is.numeric(faces) || ncol(faces) != 3) {
    stop_bad("`faces` must be a numeric matrix with 3 columns, not ", describe(faces), ".")
  }
  if (is.null(n) && !is.null(coords)) n <- NROW(coords)
  n <- check_node_count(n, faces, NULL)
  coords <- check_vertices(coords, n)
  faces[] <- check_nodes(faces, "faces", n)
  storage.mode(faces) <- "integer"
  from <- as.integer(faces)
  to <- as.integer(faces[, c(2, 3, 1)])
  loop <- which(from == to)
  if (length(loop)) {
    stop_bad("`faces` must have three different vertices in each row, but row ",
             (loop[1] - 1) %% nrow(faces) + 1, " has ", from[loop[1]], " twice.")
  }
  edges <- merge_edges(from, to, rep(1, length(from)))
  new_graph(n, edges$from, edges$to, rep(1, length(edges$from)), "mesh", coords = coords,
            faces = faces)
}

check_vertices <- function(coords, n) {
  if (is.null(coords)) return(NULL)
  if (!is.matrix(coords) || !is.numeric(coords) || ncol(coords) != 3 || nrow(coords) != n) {
    stop_bad("`coords` must be a numeric matrix with 3 columns and one row per vertex (", n,
             "), not ", describe(coords), ".")
  }
  check_finite(as.vector(coords), "coords")
  storage.mode(coords) <- "double"
  coords
}

check_node_count <- function(n, from, to) {
  if (!is.null(n)) return(check_count(n, "n"))
  if (!length(from)) stop_bad("`n` must be given when the graph has no edges.")
  largest <- suppressWarnings(max(0, as.numeric(from), as.numeric(to), na.rm = TRUE))
  as.integer(min(max(largest, 1), .Machine$integer.max))
}

check_nodes <- function(nodes, name, n) {
  if (!is.numeric(nodes) || is.object(nodes)) {
    stop_bad("`", name, "` must hold node numbers, not ", describe(nodes), ".")
  }
  bad <- which(is.na(nodes) | nodes < 1 | nodes > n | nodes != round(nodes))
  if (length(bad)) {
    stop_bad("`", name, "` must hold node numbers from 1 to ", n, ", but element ", bad[1],
             " is ", number_text(nodes[bad[1]]), ".")
  }
  as.integer(nodes)
}

check_edge_weight <- function(weight, edges) {
  if (is.null(weight)) return(rep(1, edges))
  weight <- check_numbers(weight, "weight", edges, "edge")
  check_no_negative(weight, "weight")
  weight
}

# Smaller node first, sorted, parallel edges summed, weight 0 dropped.
merge_edges <- function(from, to, weight) {
  small <- pmin(from, to)
  large <- pmax(from, to)
  sorted <- order(small, large)
  sorted <- sorted[weight[sorted] > 0]
  small <- small[sorted]
  large <- large[sorted]
  weight <- weight[sorted]
  count <- length(sorted)
  first <- c(TRUE, small[-1] != small[-count] | large[-1] != large[-count])[seq_len(count)]
  if (!all(first)) weight <- as.vector(rowsum(weight, cumsum(first), reorder = FALSE))
  list(from = small[first], to = large[first], weight = weight)
}

# ---- conversion ----------------------------------------------------------------------------------

#' Convert to a graph
#'
#' Turns an igraph graph or an adjacency matrix into the graph class of this package. Every function
#' that takes a `graph` calls it, so it is rarely needed by hand; it saves time to convert once when
#' a large graph is used many times.
#'
#' @param graph One of
#'   * an `n2gfl_graph`, which is returned unchanged;
#'   * an undirected igraph graph; its edge attribute `weight` is used if it has one;
#'   * a symmetric adjacency matrix, dense or sparse (package Matrix), numeric or logical: entry
#'     (i, j) is the weight of the edge between i and j, 0 for none. The diagonal must be zero.
#' @param ... Must be empty.
#' @return A graph of class `n2gfl_graph`, see [graph_grid()].
#' @family graphs
#' @examples
#' ring <- matrix(0, 5, 5)
#' ring[cbind(1:5, c(2:5, 1))] <- 1
#' as_graph(ring + t(ring))
#'
#' if (requireNamespace("igraph", quietly = TRUE)) {
#'   as_graph(igraph::make_ring(5))
#' }
#' @export
as_graph <- function(graph, ...) {
  check_empty_dots(...)
  UseMethod("as_graph")
}

#' @export
as_graph.default <- function(graph, ...) {
  stop_bad("`graph` must be a graph from one of the graph_*() functions, an igraph graph or a ",
           "square adjacency matrix, not ", describe(graph), ".", mask_hint(graph))
}

#' @export
as_graph.n2gfl_graph <- function(graph, ...) graph

#' @export
as_graph.igraph <- function(graph, ...) {
  if (!requireNamespace("igraph", quietly = TRUE)) {
    stop_bad("`graph` is an igraph graph, which needs the package igraph: ",
             "install.packages(\"igraph\").")
  }
  if (igraph::is_directed(graph)) {
    stop_bad("`graph` must be undirected, not a directed igraph graph.")
  }
  ends <- igraph::as_edgelist(graph, names = FALSE)
  adjacency_graph(ends[, 1], ends[, 2], igraph::edge_attr(graph, "weight"), igraph::vcount(graph))
}

#' @export
as_graph.matrix <- function(graph, ...) {
  if (!(is.numeric(graph) || is.logical(graph))) {
    stop_bad("`graph` must be a numeric adjacency matrix, not ", describe(graph), ".")
  }
  check_square(graph)
  if (anyNA(graph)) {
    k <- which(is.na(graph))[1]
    stop_adjacency(arrayInd(k, dim(graph)), graph[k])
  }
  uneven <- which(abs(graph - t(graph)) > symmetry_slack(graph), arr.ind = TRUE)
  if (nrow(uneven)) stop_not_symmetric(graph, uneven[1, ])
  edges <- which(graph != 0 & row(graph) <= col(graph), arr.ind = TRUE)
  adjacency_graph(edges[, 1], edges[, 2], as.double(graph[edges]), nrow(graph))
}

#' @export
as_graph.Matrix <- function(graph, ...) {
  check_square(graph)
  if (!is(graph, "sparseMatrix")) return(as_graph(as.matrix(graph)))
  graph <- as_plain_matrix(graph)
  row <- graph@i + 1L
  col <- rep(seq_len(ncol(graph)), diff(graph@p))
  if (anyNA(graph@x)) {
    k <- which(is.na(graph@x))[1]
    stop_adjacency(c(row[k], col[k]), graph@x[k])
  }
  check_symmetric_sparse(graph)
  upper <- row <= col & graph@x != 0
  adjacency_graph(row[upper], col[upper], graph@x[upper], nrow(graph))
}

# The difference of the matrices is slow for a large graph: it is computed only if the patterns of
# nonzeros or the values differ.
check_symmetric_sparse <- function(graph) {
  mirror <- t(graph)
  slack <- symmetry_slack(graph@x)
  same_pattern <- identical(graph@p, mirror@p) && identical(graph@i, mirror@i)
  if (same_pattern && all(abs(graph@x - mirror@x) <= slack)) return(invisible())
  uneven <- as_plain_matrix(graph - mirror)
  k <- which(abs(uneven@x) > slack)[1]
  if (!is.na(k)) {
    stop_not_symmetric(graph, c(uneven@i[k] + 1L, findInterval(k - 1L, uneven@p)))
  }
}

# Tolerance for rounding errors in computed weights, such as exp(-distance).
symmetry_slack <- function(weights) 1e-10 * max(0, abs(weights[is.finite(weights)]))

check_square <- function(graph) {
  if (nrow(graph) != ncol(graph) || nrow(graph) < 1) {
    stop_bad("`graph` must be a square adjacency matrix, not ", nrow(graph), " x ", ncol(graph),
             ".", mask_hint(graph))
  }
}

stop_adjacency <- function(at, what) {
  stop_bad("`graph` must have finite nonnegative weights and a zero diagonal, but the edge ",
           "between ", at[1], " and ", at[2], " is ", what, ".",
           if (at[1] == at[2]) " If it is a mask, give graph_mask(mask).")
}

stop_not_symmetric <- function(graph, at) {
  stop_bad("`graph` must be a symmetric adjacency matrix, but entry [", at[1], ", ", at[2], "] is ",
           number_text(as.double(graph[at[1], at[2]])), " and [", at[2], ", ", at[1], "] is ",
           number_text(as.double(graph[at[2], at[1]])), ".", mask_hint(graph))
}

# A graph from another object's edges. The node numbers are valid; only the weights are checked.
adjacency_graph <- function(from, to, weight, n) {
  if (is.null(weight)) weight <- rep(1, length(from))
  bad <- which(!is.finite(weight) | weight < 0 | from == to)[1]
  if (!is.na(bad)) stop_adjacency(c(from[bad], to[bad]), number_text(weight[bad]))
  edges <- merge_edges(as.integer(from), as.integer(to), as.double(weight))
  new_graph(as.integer(n), edges$from, edges$to, edges$weight, "edges")
}

# ---- components ----------------------------------------------------------------------------------

# The number of the component that each of the nodes is in. Only edges between these nodes count.
connected_components <- function(graph, nodes = seq_len(graph$n)) {
  label_parts_cpp(graph_list(graph), c(0L, length(nodes)), nodes - 1L, rep(1, length(nodes)), 0)
}

# The number of the part, within its column, that each entry of a sparse matrix is in: neighbours
# belong together when the relative difference of their values is at most `slack`. So parts are
# regions with 0, and components of the support with Inf.
label_parts <- function(beta, graph, values, slack) {
  label_parts_cpp(graph_list(graph), beta@p, beta@i, values, slack)
}

# ---- print and plot ------------------------------------------------------------------------------

#' @method print n2gfl_graph
#' @export
print.n2gfl_graph <- function(x, ...) {
  size <- if (is.null(x$dim)) "" else paste0(" in ", paste(x$dim, collapse = " x "))
  cat("Graph (", x$kind, size, "): ", count_of(x$n, "node"), ", ",
      count_of(length(x$from), "edge"), "\n", sep = "")
  if (length(x$weight)) {
    range <- range(x$weight)
    cat("Weights: ", if (range[1] == range[2]) "all " else paste(number_text(range[1]), "to "),
        number_text(range[2]), "\n", sep = "")
  }
  degree <- tabulate(c(x$from, x$to), x$n)
  cat("Neighbours of a node: ", paste(unique(range(degree)), collapse = " to "), "\n", sep = "")
  invisible(x)
}

#' Draw a small graph
#'
#' Nodes as dots, edges as lines. Grids and masks in one or two dimensions are drawn in place, in
#' three dimensions as seen from an angle; other graphs are drawn on a circle, chains on a line.
#'
#' @param x A graph of class `n2gfl_graph` with at most 5000 nodes.
#' @param labels Write the node numbers? By default only for graphs with up to 50 nodes.
#' @param col Colour of the nodes, one or one per node.
#' @param pch Symbol of the nodes, see [graphics::points()].
#' @param ... Further graphical parameters of the nodes: `cex`, `bg`, `lwd`, `xpd`.
#' @return The positions of the nodes, a matrix with two columns, invisibly.
#' @examples
#' plot(graph_grid(c(5, 4)))
#' plot(graph_grid(c(3, 3, 3)), labels = FALSE, col = "firebrick")
#' @export
plot.n2gfl_graph <- function(x, labels = x$n <= 50, col = "steelblue", pch = 19, ...) {
  if (x$n > 5000) {
    stop_bad("`x` must have at most 5000 nodes to be drawn, not ", x$n, ".")
  }
  labels <- check_flag(labels, "labels")
  dots <- check_line_parameters(list(...), c("cex", "bg", "lwd", "xpd"))
  at <- node_positions(x)
  old <- graphics::par(mar = c(1, 1, 1, 1))
  on.exit(graphics::par(old), add = TRUE)
  graphics::plot.new()
  graphics::plot.window(range(at[, 1]), range(at[, 2]), asp = 1)
  graphics::segments(at[x$from, 1], at[x$from, 2], at[x$to, 1], at[x$to, 2], col = "grey60")
  do.call(graphics::points, c(list(at, col = col, pch = pch), dots))
  if (labels) graphics::text(at, labels = seq_len(x$n), pos = 3, offset = 0.4, cex = 0.7)
  invisible(at)
}

# Where to draw each node: an n x 2 matrix.
node_positions <- function(graph) {
  n <- graph$n
  if (graph$kind == "chain") return(cbind(seq_len(n), 0))
  if (is.null(graph$coords)) {
    angle <- 2 * pi * seq_len(n) / n
    return(cbind(cos(angle), sin(angle)))
  }
  coords <- cbind(graph$coords, 0, 0)
  switch(ncol(graph$coords),
    cbind(coords[, 1], 0),
    coords[, 1:2],
    cbind(coords[, 1] + 0.45 * coords[, 2], coords[, 3] + 0.3 * coords[, 2])
  )
}
