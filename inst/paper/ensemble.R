# An ensemble in the manner of FREM (Hoyos-Idrobo and others 2018), which nilearn recommends for
# decoding: linear classifiers of clustered features, each with its own resample of the rows and its
# own clusters, and the average of their weights. Written from its description. As nilearn's
# FREMClassifier does by default, 30 resamples leave out a tenth of each class, a fifth of the
# clusters is kept by their t, and the area under the ROC curve in the rows left out judges.
#
# Three things differ, all in favour of the ensemble. Features are not scaled to variance 1: with
# voxels of 8 mm that made the clusters useless. There may be a quarter as many clusters as features
# instead of a tenth. And the resamples choose together, because a tenth of the rows is little to
# choose by. Costs are relative, as in fit_svm(); below 1 all subjects get the larger class.

ensemble_runs <- 30
ensemble_settings <- expand.grid(cost = 10^(0:3), share = c(0.1, 0.25))

# The interface of comparators.R. The ensemble chooses its settings itself: the grid has one row.
fit_ensemble <- function(x, y, graph, grid = NULL) {
  if (is.null(grid)) grid <- data.frame(runs = ensemble_runs)
  members <- lapply(seq_len(grid$runs), function(k) ensemble_member(x, y, graph, draw_rows(y)))
  best <- which.max(Reduce(`+`, lapply(members, `[[`, "auc")))
  betas <- vapply(members, function(member) member$beta[, best], numeric(ncol(x)))
  list(grid = grid, a0 = mean(vapply(members, function(member) member$a0[best], 0)),
       beta = matrix(rowMeans(betas)))
}

# TRUE for nine tenths of the rows of each class.
draw_rows <- function(y) {
  used <- rep(TRUE, length(y))
  for (rows in split(seq_along(y), droplevels(factor(y)))) {
    used[rows[sample.int(length(rows), max(1, round(length(rows) / 10)))]] <- FALSE
  }
  used
}

# Classifiers of the rows `used`, one for each row of the settings: list(a0, beta, auc), the last in
# the other rows.
ensemble_member <- function(x, y, graph, used, settings = ensemble_settings) {
  parts <- lapply(unique(settings$share), function(share) {
    clustered_rules(x, y, graph, used, share, settings$cost[settings$share == share])
  })
  take <- function(name) lapply(parts, `[[`, name)
  list(a0 = unlist(take("a0")), beta = do.call(cbind, take("beta")), auc = unlist(take("auc")))
}

clustered_rules <- function(x, y, graph, used, share, costs) {
  cluster <- graph_clusters(x[used, , drop = FALSE], graph, ceiling(share * ncol(x)))
  means <- cluster_means(x, cluster)
  positive <- as.integer(droplevels(factor(y))) == 2
  strength <- abs(t_statistics(means[used, , drop = FALSE], positive[used]))
  kept <- order(-strength)[seq_len(ceiling(length(strength) / 5))]
  rules <- fit_svm(means[used, kept, drop = FALSE], y[used], NULL, data.frame(cost = costs))
  left <- held_out(rules, means[, kept, drop = FALSE], which(!used))
  weight <- matrix(0, ncol(means), length(costs))
  weight[kept, ] <- rules$beta
  list(a0 = rules$a0, beta = (weight / tabulate(cluster))[cluster, , drop = FALSE],
       auc = apply(left, 2, area_under_curve, y = y[!used]))
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
