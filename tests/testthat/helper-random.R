# Random graphs and problems for the tests. All of them draw from the current generator:
# callers set the seed with withr::local_seed().

# A plain edge list, sorted as the package keeps it.
edge_list <- function(n, from, to, weight = rep(1, length(from))) {
  low <- pmin(from, to)
  high <- pmax(from, to)
  o <- order(low, high)
  list(n = n, from = low[o], to = high[o], weight = weight[o])
}

# The package's graph of an edge list.
package_graph <- function(g) graph_edges(g$from, g$to, g$weight, n = g$n)

chain_edges <- function(n, weight = rep(1, n - 1)) {
  edge_list(n, seq_len(n - 1), seq_len(n)[-1], weight)
}

grid_edges <- function(rows, cols) {
  id <- matrix(seq_len(rows * cols), rows, cols)
  down <- cbind(c(id[-rows, ]), c(id[-1, ]))
  right <- cbind(c(id[, -cols]), c(id[, -1]))
  both <- rbind(down, right)
  edge_list(rows * cols, both[, 1], both[, 2])
}

# Each pair is an edge with probability `density`, so some graphs are disconnected.
random_edges <- function(n, density = 0.4, weighted = TRUE) {
  if (n < 2) return(edge_list(n, integer(0), integer(0)))
  pairs <- utils::combn(n, 2)
  keep <- stats::runif(ncol(pairs)) < density
  weight <- if (weighted) stats::runif(sum(keep), 0.2, 2) else rep(1, sum(keep))
  edge_list(n, pairs[1, keep], pairs[2, keep], weight)
}

# Labels 1, 2, ... of the connected components, by spreading the smallest label.
component_labels <- function(graph, keep_edge = rep(TRUE, length(graph$from))) {
  label <- seq_len(graph$n)
  repeat {
    old <- label
    for (e in which(keep_edge)) {
      ends <- c(graph$from[e], graph$to[e])
      label[ends] <- min(label[ends])
    }
    if (identical(old, label)) return(match(label, unique(label)))
  }
}

# One graph of each shape (isomorphism class) of the connected graphs with n nodes.
connected_shapes <- function(n) {
  if (n == 1) return(list(edge_list(1, integer(0), integer(0))))
  pairs <- utils::combn(n, 2)
  orders <- all_orders(n)
  seen <- list()
  shapes <- list()
  for (code in seq_len(2^ncol(pairs)) - 1) {
    keep <- bitwAnd(code, 2^(seq_len(ncol(pairs)) - 1)) > 0
    adjacency <- matrix(FALSE, n, n)
    adjacency[t(pairs[, keep, drop = FALSE])] <- TRUE
    adjacency <- adjacency | t(adjacency)
    # known if it is a relabelling of a graph that was kept
    if (!is.null(seen[[paste(which(adjacency), collapse = " ")]])) next
    for (o in orders) seen[[paste(which(adjacency[o, o]), collapse = " ")]] <- TRUE
    g <- edge_list(n, pairs[1, keep], pairs[2, keep])
    if (max(component_labels(g)) == 1) shapes <- c(shapes, list(g))
  }
  shapes
}

all_orders <- function(n) {
  if (n == 1) return(list(1))
  unlist(lapply(all_orders(n - 1), function(o) {
    lapply(0:(n - 1), function(k) append(o, n, after = k))
  }), recursive = FALSE)
}

# A small regression problem with some signal and everything switched on at random.
random_problem <- function(family, sign, n = sample(12:30, 1), d = sample(3:12, 1),
                           penalty = "fused", extras = TRUE) {
  x <- matrix(stats::rnorm(n * d), n, d)
  if (extras && stats::runif(1) < 0.3) x <- x + 3
  beta <- stats::rnorm(d) * (stats::runif(d) < 0.6)
  if (sign == "nonnegative") beta <- abs(beta)
  if (sign == "nonpositive") beta <- -abs(beta)
  eta <- drop(x %*% beta)
  eta <- eta - mean(eta)
  y <- random_response(family, eta)
  on <- function(value) if (extras && stats::runif(1) < 0.5) value else NULL
  factor <- sample(c(0.5, 1, 1, 2, 0, Inf), d, replace = TRUE, prob = c(2, 4, 4, 2, 1, 1))
  if (all(factor == Inf)) factor[1] <- 1
  graph <- random_edges(d, stats::runif(1, 0.15, 0.7))
  p <- list(
    x, y, package_graph(graph),
    family = family, sign = sign,
    covariates = on(matrix(stats::rnorm(2 * n), n, 2)),
    weights = on(stats::runif(n, 0.3, 2)), offset = on(stats::rnorm(n) / 3),
    penalty = penalty, penalty.factor = on(factor),
    standardize = extras && stats::runif(1) < 0.25
  )
  if (extras && !family %in% c("gaussian", "binomial")) p <- with_more(p)
  do.call(reference_problem, p)
}

# A response that follows eta.
random_response <- function(family, eta) {
  n <- length(eta)
  switch(family,
    gaussian = eta + stats::rnorm(n),
    binomial = random_classes(eta / 2),
    poisson = replace(stats::rpois(n, exp(0.5 + eta / 3)), 1, 2),
    cox = random_times(eta / 2),
    ordinal = random_levels(eta)
  )
}

# Rows of a response of any family.
rows_of <- function(y, rows) {
  if (!is.matrix(y)) return(y[rows])
  strata <- attr(y, "strata")
  y <- y[rows, , drop = FALSE]
  if (!is.null(strata)) attr(y, "strata") <- strata[rows]
  y
}

# Labels 0/1 with both classes present several times.
random_classes <- function(eta) {
  y <- as.numeric(stats::runif(length(eta)) < stats::plogis(eta))
  y[1:3] <- 0
  y[4:6] <- 1
  y
}

# Times, of which some are censored and often some are equal; one row has an event before the last.
random_times <- function(eta) {
  n <- length(eta)
  time <- stats::rexp(n) * exp(-eta)
  if (stats::runif(1) < 0.5) time <- ceiling(4 * time) / 4
  status <- as.numeric(stats::runif(n) < stats::runif(1, 0.3, 1))
  status[which.min(time)] <- 1
  cbind(time = time, status = status)
}

# Three or four levels, each of which occurs several times.
random_levels <- function(eta) {
  levels <- sample(3:4, 1)
  noisy <- eta + stats::rlogis(length(eta))
  y <- as.integer(cut(noisy, c(-Inf, stats::quantile(noisy, seq_len(levels - 1) / levels), Inf)))
  y[seq_len(2 * levels)] <- rep(seq_len(levels), 2)
  factor(c("NC", "SMC", "MCI", "AD")[y], c("NC", "SMC", "MCI", "AD")[seq_len(levels)],
         ordered = TRUE)
}

# Weights of zero, though not for the rows that make a problem possible; strata.
with_more <- function(p) {
  n <- nrow(p[[1]])
  first <- if (p$family == "cox") which.min(p[[2]][, "time"]) else 1:8
  if (!is.null(p$weights)) p$weights[setdiff(which(stats::runif(n) < 0.2), first)] <- 0
  if (p$family == "cox" && stats::runif(1) < 0.4) {
    attr(p[[2]], "strata") <- rep(1:2, length.out = n)
  }
  p
}
