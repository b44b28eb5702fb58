new_images <- function(x, graph, space, subjects, data = NULL, dropped = 0L) {
  structure(
    list(x = x, graph = graph, space = space, subjects = subjects, data = data,
         dropped = dropped),
    class = "n2gfl_images"
  )
}

is_images <- function(x) inherits(x, "n2gfl_images")

# What n2gfl() and cv.n2gfl() make of `x` and `graph`: list(x, graph, space, data). A plain matrix
# passes through as it is, without a copy.
unpack_images <- function(x, graph) {
  if (!is_images(x)) return(list(x = x, graph = graph, space = NULL, data = NULL))
  list(x = x$x, graph = if (missing(graph) || is.null(graph)) x$graph else graph,
       space = x$space, data = x$data)
}
