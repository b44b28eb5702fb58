# Inside fista: a prox that starts from the flow of the last one beside a cold one on the same
# values.
#
#   Rscript bench/warm_prox.R          all problems
#   Rscript bench/warm_prox.R 64^3     those whose name contains "64^3"
#
# bench/warm_prox.cpp runs fista over the core, without R; `make out/bench/warm_prox` compiles it.
# The first prox of a run is cold itself. The times are of the processor, medians of three runs.
source("bench/helpers.R")

# The goal is 0.3 on small graphs, where a cold prox is fast too, and 0.2 on large ones.
problem <- function(side, dimensions, n, share, sign = "nonnegative") {
  list(side = if (small) side %/% 4 else side, dimensions = dimensions, n = n, share = share,
       sign = sign, bar = if (dimensions == 2) 0.3 else 0.2)
}

problems <- list(
  "100 x 100, N = 500, 10 %" = problem(100, 2, 500, 0.1),
  "100 x 100, N = 500, 1 %" = problem(100, 2, 500, 0.01),
  "100 x 100, N = 500, 1 %, free" = problem(100, 2, 500, 0.01, "free"),
  "64^3, N = 50, 10 %" = problem(64, 3, 50, 0.1),
  "64^3, N = 50, 1 %" = problem(64, 3, 50, 0.01),
  "64^3, N = 50, 1 %, free" = problem(64, 3, 50, 0.01, "free")
)
iterations <- c(2, 5, 10, 20)

run_problem <- function(p) {
  lines <- system2("out/bench/warm_prox",
                   c(p$side, p$dimensions, p$n, p$share, p$sign, max(iterations)), stdout = TRUE)
  table <- utils::read.table(text = lines,
                             col.names = c("iteration", "warm", "cold", "support", "gap"))
  stats::aggregate(. ~ iteration, table, stats::median)
}

print_problem <- function(name) {
  table <- run_problem(problems[[name]])
  for (k in iterations) {
    at <- table[table$iteration == k, ]
    print_row(name, k, at$support, short(at$cold), short(at$warm), gap_cell(at$gap),
              ratio_cells(list(cpu = at$warm), list(cpu = at$cold), problems[[name]]$bar))
  }
}

main <- function(part) {
  if (system2("make", c("-s", "out/bench/warm_prox")) != 0) stop("warm_prox.cpp does not compile")
  print_title("The prox inside fista, warm beside cold",
              "Least squares on a grid, lambda1 = lambda2 = a share of max(X'y) / N.")
  print_machine()
  print_head("problem", "iteration", "support", "cold CPU s", "warm CPU s", "gap", "ratio", "bar",
             "met")
  for (name in wanted(names(problems), part)) print_problem(name)
  print_worst_gap()
  keep_results("warm_prox", part)
}

start(main, stop)
