#' Multi-set Dice coefficient
#'
#' The share of the selected features that all runs agree on. Larger is more stable: 1 when all runs
#' select the same features, 0 when no feature is in all of them.
#'
#' @details
#' With \eqn{S_k} the features with a nonzero coefficient in run \eqn{k},
#' \deqn{mDC = \frac{K \, |\bigcap_k S_k|}{\sum_k |S_k|}}{
#'   mDC = K |intersection of all S_k| / sum_k |S_k|}
#' (Xin et al. 2015). It is not corrected for chance, and more runs make it smaller: compare it
#' between models on the same folds only. [stability()] gives measures that are corrected.
#'
#' The value is `NA` if all sets are empty or there is only one run; the attribute `reason` then
#' says why, row by row.
#'
#' @inheritParams ES
#' @param object An object with the coefficients of several runs, from [cv.n2gfl()],
#'   [perturb_fits()] or [stability_selection()], a list of coefficient vectors, or a (sparse)
#'   with one row per feature and one column per run.
#' @param sign Count a feature as common only if its sign is the same in all runs?
#' @param top Use only the `top` largest positive coefficients of each run, as Xin et al. do for
#'   models that select many more; `NULL` uses all nonzero ones. Features that tie with the last one
#'   are kept, so that the order of the features does not matter.
#' @param ... Must be empty.
#' @return A number for each row; one number for runs without a grid.
#' @references
#' Xin, B., Hu, L., Wang, Y. and Gao, W. (2015). Stable Feature Selection from Brain sMRI.
#' *Proceedings of the Twenty-Ninth AAAI Conference on Artificial Intelligence*, 1910--1916.
#' @family stability measures
#' @examples
#' runs <- list(c(1, 2, 1, 1, 0), c(0, 1, 3, 1, 0), c(0, 2, 1, -1, 1))
#' mDC(runs)
#' mDC(runs, sign = TRUE)
#' mDC(runs, top = 1)
#' @export
mDC <- function(object, s = NULL, sign = FALSE, top = NULL,  # nolint: object_name.
                row = NULL, ...) {
  check_empty_dots(...)
  sign <- check_flag(sign, "sign")
  if (!is.null(top)) top <- check_count(top, "top")
  source <- run_source(object)
  with_reasons(lapply(run_rows(source, s, row), function(row) {
    mdc_measured(top_of_runs(source$runs(row), top), sign)
  }))
}

# The largest positive coefficients of each run.
top_of_runs <- function(runs, top) {
  if (is.null(top)) return(runs)
  columns <- lapply(seq_len(ncol(runs)), function(k) {
    run <- column_entries(runs, k)
    positive <- sort(run$x[run$x > 0], decreasing = TRUE)
    least <- positive[min(top, length(positive))]
    keep <- run$x > 0 & run$x >= c(least, Inf)[1]
    list(i = run$i[keep], x = run$x[keep])
  })
  sparse_columns(columns, nrow(runs))
}
