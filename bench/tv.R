# Exact total variation denoising, all levels, beside flsa, genlasso and one cut by igraph.
#
#   Rscript bench/tv.R            all problems
#   Rscript bench/tv.R 512        those whose name contains "512"
#
# Peers are run at the sizes that they can finish; they are stopped after `limit` seconds.
source("bench/helpers.R")
limit <- 300

# ---- problems: unit noise, a ball of height 3 and a bar of height -2 ---------------

# `at`: positions of the nodes in [0, 1], one row a node.
noisy_blocks <- function(at) {
  set.seed(1)
  centre <- c(0.3, 0.4, 0.5)[seq_len(ncol(at))]
  ball <- colSums((t(at) - centre)^2) < 0.04
  bar <- abs(at[, 1] - 0.7) < 0.1 & abs(at[, 2] - 0.6) < 0.15
  ifelse(bar, -2, 3 * ball) + rnorm(nrow(at))
}

grid_problem <- function(...) {
  dims <- c(...)
  at <- arrayInd(seq_len(prod(dims)), dims) / rep(dims, each = prod(dims))
  list(z = noisy_blocks(at), graph = n2gfl::graph_grid(dims), dims = dims)
}

# Points in a square, joined when they are close: about 8 neighbours.
geometric_problem <- function(n) {
  set.seed(1)
  points <- igraph::sample_grg(n, sqrt(8 / (pi * n)), coords = TRUE)
  at <- cbind(igraph::V(points)$x, igraph::V(points)$y)
  list(z = noisy_blocks(at), graph = n2gfl::as_graph(points))
}

# A torus of triangles: a grid that closes in both directions, each square cut in two.
torus_problem <- function(rows, columns) {
  at <- expand.grid(i = seq_len(rows) - 1, j = seq_len(columns) - 1)
  node <- function(i, j) 1 + i %% rows + rows * (j %% columns)
  faces <- rbind(with(at, cbind(node(i, j), node(i + 1, j), node(i + 1, j + 1))),
                 with(at, cbind(node(i, j), node(i + 1, j + 1), node(i, j + 1))))
  list(z = noisy_blocks(as.matrix(at) / rep(c(rows, columns), each = nrow(at))),
       graph = n2gfl::graph_mesh(faces, n = nrow(at)))
}

# Sides are divided by this in a small run.
shrink <- if (small) 4 else 1
square <- function(side) function() grid_problem(side / shrink, side / shrink)
cube <- function(side) function() grid_problem(side / shrink, side / shrink, side / shrink)
surface <- function() torus_problem(400 / shrink, 500 / shrink)
geometric <- function() geometric_problem(200000 / shrink^2)

problems <- list(
  "32 x 32, lambda 1" = list(data = square(32), lambda = 1, peers = "genlasso"),
  "128 x 128, lambda 1" = list(data = square(128), lambda = 1, peers = "flsa"),
  "512 x 512, lambda 1" = list(data = square(512), lambda = 1),
  "32^3, lambda 1" = list(data = cube(32), lambda = 1, peers = "igraph"),
  "64^3, lambda 0.25" = list(data = cube(64), lambda = 0.25),
  "64^3, lambda 1" = list(data = cube(64), lambda = 1),
  "64^3, lambda 1, threshold 1, nonnegative" = list(data = cube(64), lambda = 1, threshold = 1),
  "128^3, lambda 0.25" = list(data = cube(128), lambda = 0.25),
  "128^3, lambda 1" = list(data = cube(128), lambda = 1),
  "surface of triangles, 200,000 nodes, lambda 0.25" = list(data = surface, lambda = 0.25),
  "surface of triangles, 200,000 nodes, lambda 1" = list(data = surface, lambda = 1),
  "random geometric graph, 200,000 nodes, lambda 0.25" = list(data = geometric, lambda = 0.25),
  "random geometric graph, 200,000 nodes, lambda 1" = list(data = geometric, lambda = 1)
)

# One row of the second table: the time of one run as a multiple of another's.
comparisons <- list(
  list(ours = "32 x 32, lambda 1", peer = "genlasso", of = "32 x 32, lambda 1"),
  list(ours = "128 x 128, lambda 1", peer = "flsa", of = "128 x 128, lambda 1"),
  list(ours = "512 x 512, lambda 1", peer = "flsa", of = "128 x 128, lambda 1", bar = 0.1),
  list(ours = "32^3, lambda 1", peer = "igraph", of = "32^3, lambda 1"),
  list(ours = "64^3, lambda 1", peer = "igraph", of = "32^3, lambda 1", bar = 1 / 25),
  list(ours = "128^3, lambda 0.25", peer = "n2gfl", of = "64^3, lambda 0.25", bar = 12),
  list(ours = "128^3, lambda 1", peer = "n2gfl", of = "64^3, lambda 1", bar = 60)
)

# ---- methods: a function to be timed, the data in the peer's form made before -------

run_n2gfl <- function(data, p) {
  if (is.null(p$threshold))
    return(function() n2gfl::tv_denoise(data$z, data$graph, p$lambda, dual = TRUE))
  function() n2gfl::fused_prox(data$z, data$graph, p$threshold, p$lambda, dual = TRUE)
}

# flsa wants, for each node, its neighbours counted from zero.
run_flsa <- function(data, p) {
  g <- data$graph
  ends <- split(c(g$to, g$from) - 1L, factor(c(g$from, g$to), seq_len(g$n)))
  neighbours <- structure(unname(ends), class = "connListObj")
  function() {
    list(beta = as.numeric(flsa::flsa(data$z, lambda2 = p$lambda, connListObj = neighbours)))
  }
}

# genlasso starts from an infinite lambda.
run_genlasso <- function(data, p) {
  z <- matrix(data$z, data$dims[1])
  function() {
    path <- genlasso::fusedlasso2d(z, minlam = p$lambda, maxsteps = 1e5)
    list(beta = as.numeric(stats::coef(path, lambda = p$lambda)$beta))
  }
}

# The single cut between the nodes above and below the mean: the first of the many that all levels
# need.
run_igraph <- function(data, p) {
  g <- data$graph
  pull <- data$z - mean(data$z)
  source <- g$n + 1
  sink <- g$n + 2
  above <- which(pull > 0)
  below <- which(pull < 0)
  ends <- rbind(c(g$from, g$to, rep(source, length(above)), below),
                c(g$to, g$from, above, rep(sink, length(below))))
  capacity <- c(rep(p$lambda * g$weight, 2), pull[above], -pull[below])
  network <- igraph::make_graph(c(ends), n = g$n + 2)
  function() {
    flow <- igraph::max_flow(network, source, sink, capacity)
    # The side of each node; the values themselves would need many more cuts.
    list(above = seq_len(g$n) %in% as.integer(flow$partition1))
  }
}

methods <- list(n2gfl = run_n2gfl, flsa = run_flsa, genlasso = run_genlasso, igraph = run_igraph)

run_method <- function(name, method, file) {
  p <- problems[[name]]
  measure(methods[[method]](p$data(), p), file, method)
}

# ---- tables ------------------------------------------------------------------------

# The peer's answer must agree with ours: the same values, or the same side of the mean.
agreement <- function(ours, peer, name) {
  if (is.null(ours) || is.null(peer)) return("-")
  if (is.null(peer$answer$above)) return(short(max(abs(ours$answer$beta - peer$answer$beta)), 2))
  level <- mean(problems[[name]]$data()$z)
  sprintf("%d nodes", sum((ours$answer$beta > level) != peer$answer$above))
}

run_problem <- function(name) {
  run <- function(method) run_child("bench/tv.R", c("run", name, method), limit)
  ours <- run("n2gfl")
  runs <- list(n2gfl = ours)
  print_row(name, "n2gfl", time_cells(ours, limit), gap_cell(ours$answer$gap), "")
  for (peer in problems[[name]]$peers) {
    runs[[peer]] <- run(peer)
    print_row(name, if (peer == "igraph") "igraph, one cut" else peer,
              time_cells(runs[[peer]], limit), "-", agreement(ours, runs[[peer]], name))
  }
  lapply(runs, function(run) run[c("seconds", "cpu")])
}

print_comparison_row <- function(row, runs) {
  ours <- runs[[row$ours]]$n2gfl
  peer <- runs[[row$of]][[row$peer]]
  cut <- if (row$peer == "igraph") ", one cut" else ""
  print_row(row$ours, row$peer, paste0(row$of, cut),
            ratio_cells(ours, peer, if (is.null(row$bar)) NA else row$bar, limit))
}

main <- function(part) {
  print_title("Total variation denoising", "Exact, all levels, with its certificate. Difference:",
              "the largest between n2gfl's values and the peer's, or nodes across the cut.",
              "A run is stopped after", limit, "s.")
  print_machine(c("flsa", "genlasso", "igraph"))
  print_head("problem", "method", "s", "CPU s", "MB", "gap", "difference")
  runs <- list()
  for (name in wanted(names(problems), part)) runs[[name]] <- run_problem(name)
  print_worst_gap()
  say("")
  print_title("Total variation denoising: ratios", "Ratio of CPU seconds.")
  print_head("problem", "peer", "of the peer's", "ratio", "bar", "met")
  for (row in comparisons)
    if (all(c(row$ours, row$of) %in% names(runs))) print_comparison_row(row, runs)
  keep_results("tv", part)
}

start(main, run_method)
