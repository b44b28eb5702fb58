# kill -9 at random moments of runs with a checkpoint, full disks, shared folders, dead workers: the
# same call goes on and gives the object of an undisturbed run.
source(file.path("tests", "torture", "common.R"))

set.seed(seed)
x <- matrix(rnorm(60 * 400), 60)
y <- rowSums(x[, 1:20]) + rnorm(60)
graph <- graph_grid(c(20, 20))
data <- list(x = x, y = y, graph = graph, seed = seed)
cross <- function(checkpoint) {
  set.seed(seed)
  cv.n2gfl(x, y, graph, nlambda1 = 12, nlambda2 = 3, nfolds = 6, checkpoint = checkpoint)
}
halves <- function(checkpoint) {
  set.seed(seed)
  stability_selection(x, y, graph, q = 20, PFER = 1, B = 20, checkpoint = checkpoint)
}

kill_line <- function(name, run, plan = "sequential") {
  started <<- Sys.time()
  rows <- kill_trial(run, data, 30, seed, plan)
  report(paste("kill -9,", name), sum(!rows$same) + sum(!rows$gone),
         paste("%d runs, %d killed in the middle, %d pieces kept, %d forked workers seen,",
               "%d runs left one"),
         nrow(rows), sum(rows$killed), sum(rows$kept), sum(rows$workers), sum(!rows$gone))
}
kill_line("cv.n2gfl", cross)
kill_line("cv.n2gfl, multicore", cross, "multicore")
kill_line("stability_selection", halves)

# A disk of some kilobytes, where mounting is allowed; the run goes on once there is room.
full_disk <- function(kilobytes) {
  folder <- tempfile("disk")
  dir.create(folder)
  mount <- function(size, how = "") {
    system(sprintf("mount -t tmpfs -o %ssize=%dk tmpfs %s 2>/dev/null", how, size, folder)) == 0
  }
  if (!mount(kilobytes)) return("no right to mount")
  on.exit(system(paste("umount", folder)))
  said <- tryCatch({
    cross(folder)
    "fitted"
  }, error = conditionMessage)
  mount(10000, "remount,")
  same <- identical(cross(folder), cross(NULL))
  if (!same) "another object" else if (grepl("^`checkpoint` must be a folder with room", said)) {
    "said so"
  } else said
}
started <- Sys.time()
said <- vapply(c(4, 8, 16, 24, 32, 48, 64, 96, 128, 1000), full_disk, "")
report("full disks", sum(!said %in% c("said so", "fitted", "no right to mount")),
       "%d sizes, %d said so, %d had room, %d could not be tried", length(said),
       sum(said == "said so"), sum(said == "fitted"), sum(said == "no right to mount"))

# Two runs in one folder at once, each with folds of its own.
started <- Sys.time()
wrong <- 0
shared <- for_a_while(20, function(k) {
  folder <- tempfile("shared")
  jobs <- lapply(1:2, function(which) parallel::mcparallel({
    set.seed(1000 * k + which)
    without_call(cv.n2gfl(x, y, graph, nlambda1 = 12, nlambda2 = 3, nfolds = 6,
                          checkpoint = folder))
  }, silent = TRUE))
  answers <- parallel::mccollect(jobs)
  unlink(folder, recursive = TRUE)
  for (answer in answers) {
    alone <- without_call(cv.n2gfl(x, y, graph, nlambda1 = 12, nlambda2 = 3,
                                   foldid = answer$foldid))
    if (!identical(answer, alone)) wrong <<- wrong + 1
  }
  identical(answers[[1]], answers[[2]])
})
report("two runs in one folder", wrong, "%d pairs, %d of them gave one object", length(shared),
       sum(unlist(shared)))
finish()
