# R sessions that tests start, stop and kill. Nothing here depends on their speed: tests wait for
# files that the sessions write, up to a limit that only a hanging session reaches.

wait_for <- function(condition, limit = 300) {
  give_up <- Sys.time() + limit
  while (!condition()) {
    if (Sys.time() > give_up) return(FALSE)
    Sys.sleep(0.02)
  }
  TRUE
}

# Runs `code` in a new session, which can use `given` and `folder`. A shell writes the file "ended"
# when the session has ended, so that its end is noticed even if nobody waits for it.
start_child <- function(folder, given, code) {
  saveRDS(given, file.path(folder, "given.rds"))
  unlink(file.path(folder, c("ended", "pid")))
  body <- c(
    sprintf(".libPaths(%s)", paste(deparse(.libPaths()), collapse = "")),
    "library(n2gfl)",
    sprintf("folder <- %s", deparse(folder)),
    "given <- readRDS(file.path(folder, \"given.rds\"))",
    "writeLines(as.character(Sys.getpid()), file.path(folder, \"pid-new\"))",
    "invisible(file.rename(file.path(folder, \"pid-new\"), file.path(folder, \"pid\")))",
    deparse(code))
  script <- file.path(folder, "script.R")
  writeLines(body, script)
  command <- sprintf("%s %s > %s 2>&1; echo $? > %s", file.path(R.home("bin"), "Rscript"),
                     shQuote(script), shQuote(file.path(folder, "log")),
                     shQuote(file.path(folder, "ended")))
  system(paste("sh -c", shQuote(command)), wait = FALSE)
  testthat::expect_true(wait_for(function() file.exists(file.path(folder, "pid"))))
  as.integer(readLines(file.path(folder, "pid")))
}

child_ended <- function(folder) {
  testthat::expect_true(wait_for(function() file.exists(file.path(folder, "ended"))))
}

child_log <- function(folder) paste(readLines(file.path(folder, "log")), collapse = "\n")

# True if the process is gone, or a zombie that its new parent has not yet collected.
process_gone <- function(pid) {
  if (!tools::pskill(pid, 0)) return(TRUE)
  stat <- tryCatch(readLines(file.path("/proc", pid, "stat")), error = function(e) "",
                   warning = function(w) "")
  identical(stat, "") || grepl("\\) Z ", stat)
}

# In a child: fold 3 of cv_problem() never ends (in R or inside the core) and writes a file when it
# starts; every fold writes the number of the process that computes it.
endless_fold <- quote({
  real <- n2gfl:::fit_fold
  utils::assignInNamespace("fit_fold", function(view, run, ...) {
    writeLines("", file.path(folder, paste0("worker-", Sys.getpid())))
    if (3 %in% run$held) {
      file.create(file.path(folder, "reached"))
      if (given$where == "R") repeat Sys.sleep(1)
      # plain gradient steps on columns of very different size need days
      view$control[c("algorithm", "thresh", "maxit")] <- list("ista", 1e-300, 2147483647L)
      view$data$x <- sweep(view$data$x, 2, 10^seq(0, 6, length.out = 12), "*")
    }
    real(view, run, ...)
  }, "n2gfl")
  if (given$plan != "sequential") future::plan(given$plan, workers = 2)
  do.call(cv.n2gfl, given$call)
})

# A cross-validation of four folds that keeps its pieces in `folder`.
four_fold_call <- function(folder) {
  data <- cv_problem("gaussian")
  list(data$x, data$y, data$graph, lambda1 = c(0.1, 0.01), lambda2 = 0.01,
       foldid = rep(1:4, 15), checkpoint = file.path(folder, "kept"))
}

# Starts a run that stops in fold 3, and waits until it is there and all other folds that can be
# finished are on disk.
start_endless <- function(folder, call, plan = "sequential", where = "core", done = 1:2) {
  given <- list(call = call, plan = plan, where = where)
  pid <- start_child(folder, given, endless_fold)
  reached <- c(file.path(folder, "reached"),
               file.path(call$checkpoint, paste0("Fold-", done, ".piece")))
  testthat::expect_true(wait_for(function() all(file.exists(reached))))
  pid
}

worker_pids <- function(folder) as.integer(sub("worker-", "", dir(folder, "^worker-")))

# Sets an old date, which files keep unless a run writes them again.
make_old <- function(files) Sys.setFileTime(files, as.POSIXct("2001-01-01", tz = "UTC"))
is_old <- function(files) file.mtime(files) < as.POSIXct("2002-01-01", tz = "UTC")
