# The two smoothing problems whose design matrix is the identity. They are solved exactly.

#' Total variation denoising on a graph
#'
#' Finds the exact minimiser `b` of
#' \deqn{\frac12 \sum_i m_i (b_i - z_i)^2 + \lambda \sum_{(i,j)} w_{ij} |b_i - b_j|}{
#'   1/2 sum_i m_i (b_i - z_i)^2 + lambda sum_(i,j) w_ij |b_i - b_j|}
#' by maximum flow, on any graph. The result is constant over connected regions; a larger `lambda`
#' gives fewer of them.
#'
#' With `dual = TRUE` the result includes the edge flow \eqn{\xi}{xi} that proves it. Let
#' \eqn{(div \xi)_i}{(div xi)_i} be the sum of the flow that leaves node `i` (the flow of edges
#' `from` i minus that of edges `to` i). Then `m * b = m * z - div(flow)`, no flow is larger than
#' `lambda * weight`, and if the two ends of an edge have different values, its flow is equal to
#' `lambda * weight`, from the larger value to the smaller. \eqn{\xi}{xi} solves the dual problem:
#' it minimises
#' \eqn{\sum_i (m_i z_i - (div \xi)_i)^2 / m_i}{sum_i (m_i z_i - (div xi)_i)^2 / m_i}.
#'
#' @param z The values to smooth, one per node: a numeric vector, or an array with as many elements
#'   as the graph has nodes.
#' @param graph A graph ([graph_grid()], [graph_mask()], [graph_edges()], ...) or what [as_graph()]
#'   accepts.
#' @param lambda Weight of the total variation, a nonnegative number.
#' @param weights Weights `m` of the nodes' squared errors, positive; 1 if not given. Edge weights
#'   belong to the graph.
#' @param dual If `TRUE`, return the dual solution and the duality gap too.
#' @param ... Must be empty.
#' @return The smoothed values, with the dimensions and names of `z`. With `dual = TRUE` a list:
#'   `beta`, the values; `flow`, one number per edge of the graph, positive from `from` to `to`;
#'   `gap`, the duality gap of `beta` and `flow`, relative to the objective.
#' @seealso [fused_prox()] for sparse or one-sided results.
#' @examples
#' z <- c(rep(0, 20), rep(2, 20)) + rnorm(40, sd = 0.3)
#' tv_denoise(z, graph_chain(40), lambda = 1)
#'
#' image <- matrix(rnorm(400, sd = 0.3), 20, 20)
#' image[5:12, 6:15] <- image[5:12, 6:15] + 2
#' smooth <- tv_denoise(image, graph_grid(c(20, 20)), lambda = 0.5)
#' table(round(smooth, 3))
#'
#' # The certificate
#' answer <- tv_denoise(z, graph_chain(40), lambda = 1, dual = TRUE)
#' answer$gap
#' range(answer$flow)
#' @export
tv_denoise <- function(z, graph, lambda, weights = NULL, dual = FALSE, ...) {
  check_empty_dots(...)
  if (missing(graph)) stop_no_graph()
  values <- check_signal(z)
  graph <- check_graph(graph, length(values), "element of `z`")
  lambda <- check_nonnegative(lambda, "lambda")
  masses <- check_masses(weights, length(values))
  dual <- check_flag(dual, "dual")
  answer <- fused_prox_cpp(values, masses, numeric(length(values)), graph_list(graph), lambda,
                           "free")
  prox_result(answer, z, dual)
}

#' The proximal operator of the fused lasso on a graph
#'
#' Finds the exact minimiser `b` of
#' \deqn{\frac12 \sum_i m_i (b_i - z_i)^2 + \lambda_1 \sum_i u_i |b_i| +
#'   \lambda_2 \sum_{(i,j)} w_{ij} |b_i - b_j|}{
#'   1/2 sum_i m_i (b_i - z_i)^2 + lambda1 sum_i u_i |b_i| + lambda2 sum_(i,j) w_ij |b_i - b_j|}
#' subject to the sign: the fused lasso signal approximator, and the step of `"fista"` and `"ista"`
#' in [n2gfl()]. A cut at zero finds the nonzero nodes first, so sparse results are fast.
#'
#' With `dual = TRUE` the result includes the edge flow that proves it, as for [tv_denoise()]:
#' where `b` is not zero, `m * b = m * z - lambda1 * u * sign(b) - div(flow)`.
#'
#' @inheritParams tv_denoise
#' @param lambda1 Weight of the sparsity penalty, a nonnegative number.
#' @param lambda2 Weight of the fusion penalty, a nonnegative number.
#' @param sign `"nonnegative"` (the default) and `"nonpositive"` constrain the result, `"free"`
#'   does not.
#' @param penalty.factor Factors `u` of `lambda1`, one per node; 1 if not given. 0 leaves a node
#'   without sparsity penalty, `Inf` fixes its value at 0.
#' @inherit tv_denoise return
#' @seealso [tv_denoise()], [n2gfl()].
#' @param ... Must be empty.
#' @param lambda Not to be given: there are two penalties, `lambda1` and `lambda2`.
#' @examples
#' z <- c(rep(0, 20), rep(2, 10), rep(-2, 10)) + rnorm(40, sd = 0.3)
#' g <- graph_chain(40)
#' fused_prox(z, g, lambda1 = 0.5, lambda2 = 1)
#' fused_prox(z, g, lambda1 = 0.5, lambda2 = 1, sign = "free")
#' @export
fused_prox <- function(z, graph, lambda1, lambda2, sign = c("nonnegative", "nonpositive", "free"),
                       weights = NULL, penalty.factor = NULL, dual = FALSE, ..., lambda) {
  check_empty_dots(...)
  # Without this argument R would only say that `lambda` matches several others.
  if (!missing(lambda)) {
    stop_bad("`lambda` must be given as `lambda1` (sparsity) and `lambda2` (fusion), two numbers.")
  }
  if (missing(graph)) stop_no_graph()
  values <- check_signal(z)
  graph <- check_graph(graph, length(values), "element of `z`")
  lambda1 <- check_nonnegative(lambda1, "lambda1")
  lambda2 <- check_nonnegative(lambda2, "lambda2")
  sign <- match_choice(sign, "sign", c("nonnegative", "nonpositive", "free"))
  masses <- check_masses(weights, length(values))
  thresholds <- check_thresholds(lambda1, penalty.factor, length(values))
  dual <- check_flag(dual, "dual")
  answer <- fused_prox_cpp(values, masses, thresholds, graph_list(graph), lambda2, sign)
  prox_result(answer, z, dual)
}

stop_no_graph <- function() {
  stop_bad("`graph` must be given, with one node per element of `z`: graph_chain(length(z)) for a ",
           "sequence, graph_grid(dim(z)) for an image.")
}

# An image may come as an array; its elements are the nodes.
check_signal <- function(z) {
  if (is.array(z) && !is.object(z)) z <- as.vector(z)
  z <- check_vector(z, "z")
  check_finite(z, "z")
  z
}

check_masses <- function(weights, n) {
  if (is.null(weights)) return(rep(1, n))
  weights <- check_numbers(weights, "weights", n, "element of `z`")
  bad <- which(weights <= 0)
  if (length(bad)) {
    stop_bad("`weights` must hold positive numbers, but element ", bad[1], " is ",
             number_text(weights[bad[1]]), ".")
  }
  weights
}

# lambda1 * u, where u = Inf excludes a node for every lambda1, zero included.
check_thresholds <- function(lambda1, penalty.factor, n) {
  if (is.null(penalty.factor)) return(rep(lambda1, n))
  u <- check_vector(penalty.factor, "penalty.factor")
  check_length(u, "penalty.factor", n, "element of `z`")
  bad <- which(is.na(u) | u < 0)
  if (length(bad)) {
    stop_bad("`penalty.factor` must hold nonnegative numbers or Inf, but element ", bad[1], " is ",
             number_text(u[bad[1]]), ".")
  }
  ifelse(u == Inf, Inf, lambda1 * u)
}

prox_result <- function(answer, z, dual) {
  kept <- intersect(names(attributes(z)), c("names", "dim", "dimnames"))
  attributes(answer$beta) <- attributes(z)[kept]
  if (dual) answer else answer$beta
}
