# How time and memory grow with features, subjects, neighbours and smaller penalties.
#
#   Rscript bench/scaling.R          all series
#   Rscript bench/scaling.R "N ="    the rows whose name contains "N ="
#
# Least squares on 3-D grids with white noise in x and three blocks of signal; a path of 10 lambda1
# down to 2 % of the largest, lambda2 2 % of max X'r. Memory is what the call adds to the process
# with its data. Exponents are slopes of log time, and of log memory, on the log of what grows.
source("bench/helpers.R")
source("bench/data.R")
limit <- 900

cubes <- list(c(10, 10, 10), c(22, 22, 21), c(46, 46, 47), c(100, 100, 100))
counts <- c(50, 160, 500, 1600, 5000)
if (small) {
  cubes <- list(c(6, 6, 6), c(10, 10, 10), c(16, 16, 16))
  counts <- c(50, 100, 200)
}
medium <- cubes[[2]]

problem <- function(series, value, dims = medium, n = 50, neighbours = 6, share = NULL, bar = NA) {
  list(series = series, value = value, dims = dims, n = n, neighbours = neighbours, share = share,
       bar = bar)
}

problems <- list()
for (dims in cubes)
  problems[[sprintf("d = %d, N = 50", prod(dims))]] <-
    problem("d", prod(dims), dims, bar = if (prod(dims) >= 1e6) 0.25 else NA)
for (n in counts)
  problems[[sprintf("N = %d, d = %d", n, prod(medium))]] <- problem("N", n, n = n)
for (neighbours in c(6, 18, 26))
  problems[[sprintf("%d neighbours, d = %d, N = 50", neighbours, prod(cubes[[3]]))]] <-
    problem("neighbours", neighbours, cubes[[3]], neighbours = neighbours)
for (share in c(0.5, 0.2, 0.05, 0.02, 0.005))
  problems[[sprintf("one fit at %g of the top lambda1, d = %d, N = 500", share, prod(medium))]] <-
    problem("lambda1", share, n = 500, share = share)

run_method <- function(name, method, file) {
  p <- problems[[name]]
  data <- block_data(p$n, p$dims, p$neighbours)
  if (method == "data") return()
  lambda2 <- 0.02 * max(data$products)
  lambda1 <- if (!is.null(p$share))
    p$share * n2gfl::lambda_max(data$x, data$y, data$graph, lambda2 = lambda2)
  measure(function() {
    fit <- n2gfl::n2gfl(data$x, data$y, data$graph, lambda1 = lambda1, lambda2 = lambda2,
                        nlambda1 = 10, lambda.min.ratio = 0.02, thresh = gap_bar)
    list(gap = max(fit$grid$gap), x = megabytes_of(data$x))
  }, file)
}

print_problem <- function(name) {
  p <- problems[[name]]
  prepare_data("bench/scaling.R", name, paste(c(p$dims, p$n, p$neighbours), collapse = " "))
  run <- run_child("bench/scaling.R", c("run", name, "n2gfl"), limit)
  memory <- if (is.null(run)) NA else run$added / run$answer$x
  print_row(name, time_cells(run, limit), gap_cell(run$answer$gap), short(run$answer$x),
            short(run$added), short(memory), bar_cells(p$bar, memory <= p$bar))
  if (!is.null(run))
    data.frame(series = p$series, value = p$value, cpu = run$cpu, added = max(run$added, 0.1))
}

slope <- function(y, x) sprintf("%.2f", stats::coef(stats::lm(log(y) ~ log(x)))[[2]])

main <- function(part) {
  print_title("How time and memory grow", "Ratio: memory that the call adds over that of x. A run",
              "is stopped after", limit, "s.")
  print_machine()
  print_head("problem", "s", "CPU s", "MB", "worst gap", "x MB", "added MB", "ratio", "bar", "met")
  runs <- do.call(rbind, lapply(wanted(names(problems), part), print_problem))
  print_worst_gap()
  say("")
  print_title("How time and memory grow: exponents")
  print_head("what grows", "from", "to", "exponent of CPU s", "exponent of added MB")
  for (series in split(runs, factor(runs$series, unique(runs$series))))
    if (nrow(series) > 1)
      print_row(series$series[1], short(min(series$value)), short(max(series$value)),
                slope(series$cpu, series$value), slope(series$added, series$value))
  keep_results("scaling", part)
}

start(main, run_method)
