# Every stability measure of K = 100 sets over d = 223,260 voxels (a 61 x 61 x 60 grid): time, and
# the memory that the call adds at its peak to what the process held before it.
#
#   Rscript bench/stability.R [part of a problem's name]
#
# The sets are maps of 30 balls around shared centres, each ball moved by up to one voxel and now
# and then missing, as fused fits look; or as many voxels drawn one by one, as those of a lasso do.

source(file.path("bench", "helpers.R"))

problems <- list(
  list(name = "30 regions, 4,000 voxels a set", radius = 3, scattered = FALSE),
  list(name = "30 regions, 10,000 voxels a set", radius = 4.2, scattered = FALSE),
  list(name = "4,000 scattered voxels a set", radius = 3, scattered = TRUE)
)

make_runs <- function(problem, dim = c(61, 61, 60), k = 100) {
  set.seed(1)
  d <- prod(dim)
  reach <- ceiling(problem$radius)
  ball <- as.matrix(expand.grid(rep(list(-reach:reach), 3)))
  ball <- ball[rowSums(ball^2) <= problem$radius^2, ]
  margin <- reach + 2
  centres <- sapply(dim, function(n) sample(margin:(n - margin), 30, replace = TRUE))
  voxel <- function(at) 1 + as.integer((at - 1) %*% cumprod(c(1, dim[-3])))
  one <- function(run) {
    at <- centres[runif(30) < 0.9, ]
    at <- at + matrix(sample(-1:1, length(at), replace = TRUE), nrow(at))
    sort(unique(unlist(lapply(seq_len(nrow(at)), function(r) voxel(sweep(ball, 2, at[r, ], "+"))))))
  }
  sets <- lapply(seq_len(k), one)
  # Half of the voxels are common favourites, as in fits to folds of the same data.
  if (problem$scattered) {
    favourites <- sample(d, 3000)
    sets <- lapply(lengths(sets), function(n) {
      sort(unique(c(sample(favourites, n / 2), sample(d, n / 2))))
    })
  }
  Matrix::sparseMatrix(i = unlist(sets), j = rep(seq_len(k), lengths(sets)),
                       x = rexp(sum(lengths(sets))), dims = c(d, k))
}

arguments <- commandArgs(trailingOnly = TRUE)

if (length(arguments) == 2 && grepl("\\.rds$", arguments[2])) {
  library(n2gfl)
  problem <- problems[[as.integer(arguments[1])]]
  runs <- make_runs(problem)
  graph <- graph_grid(c(61, 61, 60))
  stability(runs[1:1000, 1:3])  # loads everything before the timing
  held <- reset_peak_memory()
  times <- vapply(1:3, function(k) {
    time <- system.time(panel <<- stability(runs, graph = graph))
    if (k == 1) peak <<- peak_memory() - held
    c(time[["elapsed"]], time[["user.self"]] + time[["sys.self"]])
  }, numeric(2))
  saveRDS(list(seconds = stats::median(times[1, ]), cpu = stats::median(times[2, ]), peak = peak,
               answer = panel), arguments[2])
} else {
  print_title("All measures of stability() on 100 sets over 223,260 voxels",
              "MB: what the call adds.")
  print_machine()
  print_head("sets", "seconds", "of them on the processor", "MB", "mDC",
             "Nogueira (95 %)", "Dice, one step forgiven", "centres apart")
  for (k in seq_along(problems)) {
    if (length(arguments) && !grepl(arguments[1], problems[[k]]$name, fixed = TRUE)) next
    run <- run_child("bench/stability.R", k)
    panel <- run$answer
    print_row(problems[[k]]$name, sprintf("%.2f", run$seconds),
              sprintf("%.2f", run$cpu), megabytes(run),
              sprintf("%.3f", panel$mdc),
              sprintf("%.3f (%.3f to %.3f)", panel$nogueira, panel$nogueira.lower,
                      panel$nogueira.upper),
              sprintf("%.3f", panel$dice.near), sprintf("%.2f", panel$centre.distance))
  }
  keep_results("stability", c(arguments, "")[1])
}
