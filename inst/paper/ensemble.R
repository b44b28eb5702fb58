# An ensemble in the manner of FREM (Hoyos-Idrobo and others 2018), which nilearn recommends for
# decoding: linear classifiers of clustered features, each with its own resample of the rows and its
# own clusters, and the average of their weights. Written from its description. The numbers are the
# defaults of nilearn's FREMClassifier: 30 resamples that leave out a tenth of each class, features
# scaled to variance 1, a tenth as many clusters as features, a fifth of these kept by their t, and
# the cost with the largest area under the ROC curve in the rows left out.

ensemble_runs <- 30
ensemble_costs <- 10^(-3:2)  # as in fit_svm()

# The interface of comparators.R. Each member chooses its own cost, so the grid has one row.
fit_ensemble <- function(x, y, graph, grid = NULL) {
  if (is.null(grid)) grid <- data.frame(runs = ensemble_runs)
  members <- lapply(seq_len(grid$runs), function(k) ensemble_member(x, y, graph, draw_rows(y)))
  list(grid = grid, a0 = mean(vapply(members, `[[`, 0, "a0")),
       beta = matrix(rowMeans(vapply(members, `[[`, numeric(ncol(x)), "beta"))))
}

# TRUE for nine tenths of the rows of each class.
draw_rows <- function(y) {
  used <- rep(TRUE, length(y))
  for (rows in split(seq_along(y), droplevels(factor(y)))) {
    used[rows[sample.int(length(rows), max(1, round(length(rows) / 10)))]] <- FALSE
  }
  used
}

# One classifier, estimated from the rows `used`: list(a0, beta).
ensemble_member <- function(x, y, graph, used, costs = ensemble_costs) {
  centre <- colMeans(x[used, , drop = FALSE])
  spread <- apply(x[used, , drop = FALSE], 2, stats::sd)
  z <- sweep(sweep(x, 2, centre), 2, ifelse(spread > 0, spread, Inf), "/")
  cluster <- graph_clusters(z[used, , drop = FALSE], graph, ceiling(ncol(x) / 10))
  means <- cluster_means(z, cluster)
  positive <- as.integer(droplevels(factor(y))) == 2
  strength <- abs(t_statistics(means[used, , drop = FALSE], positive[used]))
  kept <- order(-strength)[seq_len(ceiling(length(strength) / 5))]
  rules <- fit_svm(means[used, kept, drop = FALSE], y[used], NULL, data.frame(cost = costs))
  left <- held_out(rules, means[, kept, drop = FALSE], which(!used))
  best <- which.max(apply(left, 2, area_under_curve, y = y[!used]))
  weight <- replace(numeric(ncol(means)), kept, rules$beta[, best]) / tabulate(cluster)
  beta <- ifelse(spread > 0, weight[cluster] / spread, 0)
  list(a0 = rules$a0[best] - sum(beta * centre), beta = beta)
}

# The share of pairs of both classes that are in the right order; ties count half.
area_under_curve <- function(link, y) {
  positive <- as.integer(droplevels(factor(y))) == 2
  n <- c(sum(positive), sum(!positive))
  (sum(rank(link)[positive]) - n[1] * (n[1] + 1) / 2) / prod(n)
}

# ---- clusters ------------------------------------------------------------------------------------

# Recursive nearest neighbour agglomeration (ReNA, Hoyos-Idrobo and others 2019): each cluster joins
# the neighbour whose mean is most like its own, until `count` are left. Returns the number of the
# cluster of each column of x. A graph of more components keeps one cluster for each.
graph_clusters <- function(x, graph, count) {
  cluster <- seq_len(ncol(x))
  repeat {
    means <- cluster_means(x, cluster)
    joins <- nearest_neighbours(means, cluster[graph$from], cluster[graph$to])
    excess <- ncol(means) - count
    if (excess < 1 || !nrow(joins)) return(cluster)
    # The nearest neighbours make a forest, so that each join leaves one cluster less.
    joins <- utils::head(joins[order(joins$distance), ], excess)
    cluster <- join_clusters(ncol(means), joins$from, joins$to)[cluster]
  }
}

cluster_means <- function(x, cluster) {
  unname(t(rowsum(t(x), cluster) / tabulate(cluster)))
}

# The edge from each cluster to its nearest neighbour, each edge once.
nearest_neighbours <- function(means, from, to) {
  between <- from != to
  from <- from[between]
  to <- to[between]
  distance <- colSums((means[, from, drop = FALSE] - means[, to, drop = FALSE])^2)
  ends <- c(from, to)
  edge <- rep(seq_along(from), 2)
  nearest <- order(ends, distance[edge], edge)
  chosen <- unique(edge[nearest][!duplicated(ends[nearest])])
  data.frame(from = from[chosen], to = to[chosen], distance = distance[chosen])
}

# The components of a graph of n nodes, numbered: each node takes the smallest number among its
# neighbours until nothing changes.
join_clusters <- function(n, from, to) {
  label <- seq_len(n)
  ends <- c(from, to)
  repeat {
    before <- label
    least <- tapply(rep(pmin(label[from], label[to]), 2), ends, min)
    at <- as.integer(names(least))
    label[at] <- pmin(label[at], as.vector(least))
    label <- label[label]
    if (identical(label, before)) return(match(label, sort(unique(label))))
  }
}
