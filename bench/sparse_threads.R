# What a sparse x, a second thread and a second worker gain.
#
#   Rscript bench/sparse_threads.R            all rows
#   Rscript bench/sparse_threads.R threads    those whose name contains "threads"
#
# Sparse rows: the same x as a dgCMatrix and dense, CPU seconds of a path of 10. Threads: fista for
# a fixed number of steps, most of which is X'r, and paths, by the clock. Workers: 10 folds, by the
# clock.
source("bench/helpers.R")
source("bench/data.R")

dims <- if (small) c(10, 20) else c(100, 200)
steps <- 50

threads_row <- function(fields, lambda2) {
  list(kinds = c("2 threads", "1 thread"), fields = fields, path = lambda2)
}

# Two variants of the same work; the ratio is the first over the second.
rows <- list(
  "x with 1 % filled, N = 500" = list(kinds = c("sparse", "dense"), fill = 0.01, n = 500),
  "x with 10 % filled, N = 500" = list(kinds = c("sparse", "dense"), fill = 0.1, n = 500),
  "two threads, 50 steps of fista, N = 2000" = list(kinds = c("2 threads", "1 thread"), n = 2000),
  "two threads, path of 10, N = 2000" = list(kinds = c("2 threads", "1 thread"), n = 2000,
                                             path = 0.02),
  "two threads, logistic path of 10, d 28,000" = threads_row("rough", 0.02),
  "two threads, the same, lambda2 50 %" = threads_row("rough", 0.5),
  "two threads, the same, smooth" = threads_row("smooth", 0.02),
  "two threads, the same, smooth, lambda2 50 %" = threads_row("smooth", 0.5),
  "two workers, 10 folds, N = 500" = list(kinds = c("2 workers", "1 worker"), n = 500, folds = TRUE)
)

# Blocks on a grid, or the fields of the logistic paths (bench/logistic.R).
row_data <- function(row) {
  if (!is.null(row$fields)) return(shell_data("d 28,000", kind = row$fields))
  block_data(row$n, dims, fill = if (is.null(row$fill)) 1 else row$fill)
}

row_family <- function(row) if (is.null(row$fields)) "gaussian" else "binomial"

run_method <- function(name, kind, file) {
  row <- rows[[name]]
  data <- row_data(row)
  if (kind == "data") return()
  if (kind == "sparse") data$x <- Matrix::Matrix(data$x, sparse = TRUE)
  lambda2 <- (if (is.null(row$path)) 0.02 else row$path) * max(data$products)
  arguments <- list(data$x, data$y, data$graph, family = row_family(row), lambda2 = lambda2,
                    nlambda1 = 10, thresh = gap_bar, threads = if (kind == "2 threads") 2 else 1)
  if (kind == "2 workers") future::plan("multicore", workers = 2)
  measure(function() {
    if (!is.null(row$folds)) {
      cv <- do.call(n2gfl::cv.n2gfl, c(arguments, list(foldid = rep_len(1:10, row$n))))
      return(list(gap = max(cv$grid$gap), beta = as.numeric(cv$cvm)))
    }
    fit <- if (is.null(row$fill) && is.null(row$path)) fixed_steps(arguments) else
      do.call(n2gfl::n2gfl, arguments)
    list(gap = max(fit$grid$gap), beta = as.numeric(fit$beta))
  }, file)
}

# The gap is not meant to be reached: both variants do the same work.
fixed_steps <- function(arguments) {
  arguments$lambda1 <- 5 * arguments$lambda2
  arguments[c("algorithm", "maxit")] <- list("fista", steps)
  suppressWarnings(do.call(n2gfl::n2gfl, arguments))
}

print_problem <- function(name) {
  row <- rows[[name]]
  what <- paste(c(row$n, row$fill, row$fields), collapse = " ")
  prepare_data("bench/sparse_threads.R", name, what)
  runs <- lapply(row$kinds, function(kind) {
    run_child("bench/sparse_threads.R", c("run", name, kind))
  })
  clock <- if (is.null(row$fill)) "seconds" else "cpu"
  if (!grepl("steps", name)) gap_cell(runs[[1]]$answer$gap)
  difference <- max(abs(runs[[1]]$answer$beta - runs[[2]]$answer$beta))
  compared <- c(ratio_cells(runs[[1]], runs[[2]], clock = clock)[1], short(difference, 2))
  for (k in 1:2)
    print_row(name, row$kinds[k], time_cells(runs[[k]], 600), short(runs[[k]]$answer$gap, 2),
              if (k == 1) compared else c("", ""))
}

main <- function(part) {
  print_title("Sparse x, threads, workers", "Ratio: CPU seconds for sparse x, by the clock for the",
              "others. Difference: the largest between the coefficients, or scores, of the two.")
  print_machine()
  print_head("problem", "kind", "s", "CPU s", "MB", "gap", "ratio", "difference")
  for (name in wanted(names(rows), part)) print_problem(name)
  print_worst_gap()
  keep_results("sparse_threads", part)
}

start(main, run_method)
