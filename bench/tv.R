# Exact total variation denoising on grids beside flsa.
#
#   Rscript bench/tv.R            all problems
#   Rscript bench/tv.R 512        those whose name contains "512"
#
# flsa follows the whole path from lambda = 0; it is stopped after `limit` seconds.
source("bench/helpers.R")
limit <- 120

# A ball of height 3 and a bar of height -2 under standard normal noise.
picture <- function(side, dimension) {
  set.seed(1)
  dims <- rep(side, dimension)
  at <- arrayInd(seq_len(prod(dims)), dims) / side
  centre <- c(0.3, 0.4, 0.5)[seq_len(dimension)]
  ball <- colSums((t(at) - centre)^2) < 0.04
  bar <- abs(at[, 1] - 0.7) < 0.1 & abs(at[, 2] - 0.6) < 0.15
  array(ifelse(bar, -2, 3 * ball) + rnorm(prod(dims)), dims)
}

problems <- list(
  "32^3, lambda 1" = list(side = 32, dimension = 3, lambda = 1),
  "64^3, lambda 1" = list(side = 64, dimension = 3, lambda = 1),
  "64^3, lambda 0.25" = list(side = 64, dimension = 3, lambda = 0.25),
  "128^2, lambda 1" = list(side = 128, dimension = 2, lambda = 1),
  "512^2, lambda 1" = list(side = 512, dimension = 2, lambda = 1),
  "512^2, lambda 0.25" = list(side = 512, dimension = 2, lambda = 0.25)
)

# flsa wants, for each node, its neighbours counted from zero.
flsa_graph <- function(graph) {
  ends <- split(c(graph$to, graph$from) - 1L, factor(c(graph$from, graph$to), seq_len(graph$n)))
  structure(unname(ends), class = "connListObj")
}

run_method <- function(method, problem, file) {
  z <- as.numeric(picture(problem$side, problem$dimension))
  graph <- n2gfl::graph_grid(rep(problem$side, problem$dimension))
  if (method == "n2gfl") {
    measure(function() n2gfl::tv_denoise(z, graph, problem$lambda), file)
  } else {
    neighbours <- flsa_graph(graph)
    measure(function() {
      as.numeric(flsa::flsa(z, lambda2 = problem$lambda, connListObj = neighbours))
    }, file)
  }
}

difference <- function(ours, peer) {
  if (is.null(peer)) "-" else format(signif(max(abs(ours$answer - peer$answer)), 2))
}

main <- function(part = "") {
  cat("\n### Total variation denoising\n\n")
  print_machine()
  print_head("problem", "tv_denoise s", "peak MB", "flsa s", "peak MB", "flsa / tv_denoise",
             "largest difference")
  for (name in grep(part, names(problems), value = TRUE, fixed = TRUE)) {
    ours <- run_child("bench/tv.R", c("run", shQuote(name), "n2gfl"))
    peer <- run_child("bench/tv.R", c("run", shQuote(name), "flsa"), limit)
    print_row(name, seconds(ours, limit), megabytes(ours), seconds(peer, limit), megabytes(peer),
              ratio(peer, ours, limit), difference(ours, peer))
  }
}

arguments <- commandArgs(trailingOnly = TRUE)
if (identical(arguments[1], "run")) {
  run_method(arguments[3], problems[[arguments[2]]], arguments[4])
} else {
  do.call(main, as.list(arguments))
}
