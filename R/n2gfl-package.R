#' n2gfl: nonnegative generalized fused lasso on graphs
#'
#' Sparse models of numbers, classes, counts, times to an event and stages for features on a graph:
#' voxels of a brain mask, pixels, points of a chain or of a surface. The penalty favours equal
#' coefficients of neighbours, so the fit is a short list of compact regions, and by default all
#' coefficients are nonnegative. Every fit comes with a duality gap, an upper bound on how far it is
#' from the optimum.
#'
#' @section Where to start:
#' * [read_images()] reads NIfTI files; any matrix with a graph will do as well: [graph_mask()],
#'   [graph_grid()], [graph_chain()], [graph_mesh()], [graph_edges()], [as_graph()].
#' * [n2gfl()] fits the model over a grid of the two penalties, [cv.n2gfl()] chooses among them.
#' * [coef()][coef.n2gfl], [predict()][predict.n2gfl] and [plot()][plot.n2gfl] read a fit.
#' * [stability()] measures whether the same features are selected when the data change a little,
#'   [stability_selection()] selects those that do.
#' * [write_map()], [plot_map()], [plot_folds()] and [region_table()] show where they are.
#' * [tv_denoise()] and [fused_prox()] solve the penalised smoothing problem on a graph.
#' * [simulate_cohort()] makes data to try all this on.
#'
#' @references
#' Xin, B., Hu, L., Wang, Y. and Gao, W. (2015). Stable Feature Selection from Brain sMRI.
#' *Proceedings of the Twenty-Ninth AAAI Conference on Artificial Intelligence*, 1910--1916.
#'
#' @useDynLib n2gfl, .registration = TRUE
#' @importFrom Rcpp evalCpp
#' @importFrom methods as is new
#' @importFrom Matrix t
#' @importClassesFrom Matrix dgCMatrix
#' @docType package
#' @name n2gfl-package
#' @keywords internal
NULL
