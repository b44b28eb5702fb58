#' Which regions survive
#'
#' The connected regions of a map, and the share of the runs in which each is selected again.
#'
#' @details
#' The regions are the components, in the graph, of
#'
#' * the support of the fit to all data at one row of the grid, for [cv.n2gfl()] and
#'   [perturb_fits()];
#' * the selected features, for [stability_selection()];
#' * the features that at least a share `cutoff` of the runs select, for a list or a matrix of runs.
#'
#' @inheritParams stability
#' @param s,row One row of the grid, see [stability()]; `"lambda.stable"` by default for a
#'   cross-validation.
#' @param graph The graph of the features, for runs that are given as a list or a matrix.
#' @param cutoff For a list or a matrix: the share of runs that must select a feature of a region.
#' @param overlap A region survives in a run that selects at least this share of its features.
#' @param ... Must be empty.
#' @return A data frame with one row per region, the largest `survives` first: `region`; `size`, its
#'   number of features; `survives`, the share of runs that select at least `overlap` of its
#'   features; `touched` and `whole`, the shares of runs that select at least one, and all of them;
#'   `prob.mean`, `prob.min` and `prob.max` of the selection probabilities of its features. Larger
#'   is more stable. The attribute `feature` is a list with the features of each region.
#' @family stability measures
#' @examples
#' runs <- sapply(list(c(2:4, 8), 2:5, c(2:3, 8:9)), function(set) as.numeric(1:10 %in% set))
#' stable_regions(runs, graph = graph_chain(10))
#' @export
stable_regions <- function(object, s = NULL, row = NULL, graph = NULL, cutoff = 0.5,
                           overlap = 0.5, ...) {
  check_empty_dots(...)
  cutoff <- check_share(cutoff, "cutoff")
  overlap <- check_share(overlap, "overlap")
  source <- run_source(object, graph)
  if (is.null(source$graph)) stop_bad("`graph` must be given for runs without one.")
  if (is.null(s) && is.null(row) && !is.null(source$index)) s <- usual_choice(source)
  row <- run_rows(source, s, row)
  if (length(row) != 1) {
    stop_bad("`s` or `row` must name one row of the grid, not ", length(row), ".")
  }
  runs <- as_sets(source$runs(row))
  prob <- Matrix::rowMeans(runs)
  features <- reported_features(object, row, prob, cutoff)
  survival_table(runs, features, prob, source$graph, overlap)
}

# The features whose regions are reported.
reported_features <- function(object, row, prob, cutoff) {
  if (is_run_object(object)) return(column_entries(full_fit(object)$beta, row)$i + 1L)
  if (is_selection(object)) return(unname(object$selected))
  which(prob >= cutoff - 1e-9)
}

survival_table <- function(runs, features, prob, graph, overlap) {
  map <- sparse_columns(list(list(i = features - 1L, x = rep(1, length(features)))), nrow(runs))
  region <- support_regions(map, graph)
  size <- tabulate(region, max(0L, region))
  # Rows are regions: how many of its features each run selects.
  held <- rowsum(as.matrix(runs[features, , drop = FALSE]), region)
  share <- held / size
  of_prob <- function(summary) as.vector(tapply(prob[features], region, summary))
  table <- data.frame(
    region = seq_along(size), size = size, survives = rowMeans(share >= overlap - 1e-9),
    touched = rowMeans(held > 0), whole = rowMeans(held == size), prob.mean = of_prob(mean),
    prob.min = of_prob(min), prob.max = of_prob(max)
  )
  order <- order(-table$survives, -table$size, table$region)
  table <- table[order, ]
  table$region <- seq_along(size)
  rownames(table) <- NULL
  structure(table, feature = unname(split(features, region))[order])
}
