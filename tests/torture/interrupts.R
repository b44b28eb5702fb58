# SIGINT at random moments: it is handled within a second, nothing is left half done, and no worker
# and no memory stay behind.
source(file.path("tests", "torture", "common.R"))

set.seed(seed)
n <- 60
data <- list(x = matrix(rnorm(n * 1600), n), graph = graph_grid(c(40, 40)))
data$y <- rowSums(data$x[, 1:20]) + rnorm(n)

folder <- tempfile()
dir.create(folder)
data$files <- file.path(folder, sprintf("sub-%02d.nii.gz", 1:20))
for (file in data$files) make_nifti(array(runif(64^3), c(64, 64, 64)), file)

# Work that consists of answers far larger than a pipe: most signals come while workers start or
# write, or while their answers are read.
answer <- function() {
  tasks <- stats::setNames(as.list(1:6), paste("Fold", 1:6))
  n2gfl:::run_tasks(tasks, function(task, alive, size) seq_len(size) + task, size = 2e6)
}

trials <- list(
  `n2gfl` = list(run = function() n2gfl(x, y, graph), count = 100),
  `cv.n2gfl` = list(run = function() {
    cv.n2gfl(x, y, graph, nlambda1 = 10, nlambda2 = 2, foldid = rep(1:6, 10))
  }),
  `cv.n2gfl, multicore` = list(run = function() {
    cv.n2gfl(x, y, graph, nlambda1 = 10, nlambda2 = 2, foldid = rep(1:6, 10))
  }, plan = "multicore"),
  `cv.n2gfl, multicore, Ctrl-C` = list(run = function() {
    cv.n2gfl(x, y, graph, nlambda1 = 10, nlambda2 = 2, foldid = rep(1:6, 10))
  }, plan = "multicore", all = TRUE),
  `stability_selection` = list(run = function() {
    set.seed(1)
    stability_selection(x, y, graph, q = 20, PFER = 1, B = 10)
  }),
  `stability_selection, multicore` = list(run = function() {
    set.seed(1)
    stability_selection(x, y, graph, q = 20, PFER = 1, B = 5)
  }, plan = "multicore"),
  `answers of 8 MB, multicore` = list(run = answer, plan = "multicore"),
  `answers of 8 MB, multicore, Ctrl-C` = list(run = answer, plan = "multicore", all = TRUE),
  `read_images` = list(run = function() read_images(files, threshold = 0)))

for (name in names(trials)) {
  trial <- utils::modifyList(list(count = 50, plan = "sequential", all = FALSE), trials[[name]])
  started <- Sys.time()
  got <- interrupt_trial(trial$run, data, trial$count, seed, trial$plan, trial$all)
  calls <- got$calls
  growth <- mean(tail(got$memory, 5)) - mean(got$memory[6:10])
  bad <- sum(!calls$taken, calls$delay > 1, calls$left > 0, !got$same, growth > 15)
  report(paste("interrupts,", name), bad,
         paste("%d signals in a call of %.1f s, %d taken, at most %.2f s late (median %.2f),",
               "%d workers left, memory %+.1f MB"),
         nrow(calls), got$seconds, sum(calls$taken), max(calls$delay), median(calls$delay),
         sum(calls$left), growth)
}
finish()
