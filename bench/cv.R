# Cross-validation beside single paths: time, forked workers, and memory beyond x.
#
#   Rscript bench/cv.R            all problems
#   Rscript bench/cv.R logistic   those whose name contains "logistic"
#
# 10 folds on simulated images of 200 subjects. A fold is a set of weights on the one x, so its path
# should take as long as a single path, and no run should need a copy of x.
source("bench/helpers.R")

# Grids of about 28,000 voxels with three blocks of signal, 30 rows of the grid each.
problems <- list(
  "logistic, 30^3" = list(family = "binomial", lambda2 = c(0.01, 0.003, 0.001)),
  "least squares, 30^3" = list(family = "gaussian", lambda2 = c(0.1, 0.03, 0.01))
)

make_data <- function(problem) {
  set.seed(1)
  n <- 200
  graph <- n2gfl::graph_grid(c(30, 30, 31))
  x <- matrix(rnorm(n * graph$n), n)
  at <- arrayInd(seq_len(graph$n), c(30, 30, 31))
  block <- function(k) apply(abs(sweep(at, 2, c(7, 15, 23)[k])) <= 2, 1, all)
  signal <- rowSums(vapply(1:3, block, logical(graph$n)))
  eta <- drop(x %*% signal) / sqrt(sum(signal))
  y <- if (problem$family == "gaussian") 2 * eta + rnorm(n) else rbinom(n, 1, plogis(3 * eta))
  list(x = x, y = y, graph = graph, family = problem$family, nlambda1 = 10,
       lambda2 = problem$lambda2)
}

# From here on the peak counts anew: making the data had one of its own.
forget_peak <- function() {
  gc()
  try(cat("5", file = "/proc/self/clear_refs"), silent = TRUE)
  peak_memory()
}

# The largest sum of the workers' private memory, seen five times a second, goes to `file` in kB.
watch_workers <- function(file) {
  watcher <- sprintf(
    paste("while [ -d /proc/%1$d ]; do for p in $(pgrep -P %1$d); do",
          "awk '/^Private/ {s += $2} END {print s}' /proc/$p/smaps_rollup 2>/dev/null; done |",
          "awk '{s += $1} END {print s + 0}'; sleep 0.2; done > %2$s"), Sys.getpid(), file)
  system(paste("sh -c", shQuote(watcher)), wait = FALSE)
}

run_method <- function(method, problem, file) {
  data <- make_data(problem)
  cv <- c(data, list(foldid = rep_len(1:10, nrow(data$x))))
  workers <- tempfile()
  if (method == "two workers") {
    future::plan("multicore", workers = 2)
    watch_workers(workers)
  }
  before <- forget_peak()
  time <- system.time(
    answer <- if (method == "path") do.call(n2gfl::n2gfl, data) else do.call(n2gfl::cv.n2gfl, cv)
  )[["elapsed"]]
  peak <- peak_memory() - before
  if (method == "two workers") {
    Sys.sleep(0.5)
    peak <- max(as.numeric(readLines(workers))) / 1024
  }
  saveRDS(list(seconds = time, peak = peak / (as.numeric(object.size(data$x)) / 2^20),
               cvm = answer$cvm), file)
}

main <- function(part = "") {
  cat("\n### Cross-validation with 10 folds\n\n")
  cat("Memory is the peak beyond the process with its data, as a share of x; for two workers what",
      "they do not share, the whole of two R sessions included.\n\n")
  print_head("problem", "path s", "cv s", "cv / path", "cv / (11 paths)", "memory / x",
             "two workers s", "speed-up", "their memory / x", "same scores")
  for (name in grep(part, names(problems), value = TRUE, fixed = TRUE)) {
    run <- function(method) run_child("bench/cv.R", c("run", shQuote(name), shQuote(method)))
    path <- run("path")
    alone <- run("cv")
    two <- run("two workers")
    print_row(name, seconds(path), seconds(alone), ratio(alone, path),
              format(signif(alone$seconds / path$seconds / 11, 2)), format(round(alone$peak, 2)),
              seconds(two), ratio(alone, two), format(round(two$peak, 2)),
              identical(alone$cvm, two$cvm))
  }
}

arguments <- commandArgs(trailingOnly = TRUE)
if (identical(arguments[1], "run")) {
  run_method(arguments[3], problems[[arguments[2]]], arguments[4])
} else {
  do.call(main, as.list(arguments))
}
