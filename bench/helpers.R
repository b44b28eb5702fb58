# Shared by the scripts of this folder. Each method runs in an R of its own, so
# that its peak memory is its own and a slow peer can be stopped.

if (!file.exists("DESCRIPTION")) stop("Please run this from the top of the source tree.")
.libPaths(c(file.path("out", "lib"), .libPaths()))

# Highest resident memory of this process so far, in MB; NA where the system does not say.
peak_memory <- function() {
  status <- "/proc/self/status"
  if (!file.exists(status)) return(NA_real_)
  line <- grep("^VmHWM", readLines(status), value = TRUE)
  if (length(line)) as.numeric(gsub("[^0-9]", "", line)) / 1024 else NA_real_
}

# Forgets the highest memory so far and gives the present one, so that what a call adds can be told
# from the data; NA where the system does not allow that.
reset_peak_memory <- function() {
  forgotten <- tryCatch({
    writeLines("5", "/proc/self/clear_refs")
    TRUE
  }, error = function(e) FALSE, warning = function(w) FALSE)
  if (forgotten) peak_memory() else NA_real_
}

# In the child: times the call after the data are made, and saves what it cost.
# Short calls are timed three times and the best time counts: other work on the
# machine only ever adds. `answer` is for comparing methods.
measure <- function(call, file) {
  gc()
  times <- numeric()
  while (length(times) < 3 && sum(times) < 20) {
    times <- c(times, system.time(answer <- call())[["elapsed"]])
  }
  saveRDS(list(seconds = min(times), peak = peak_memory(), answer = answer), file)
}

# In the parent: runs `script` with the arguments. NULL when the time is over.
run_child <- function(script, arguments, limit = 600) {
  file <- tempfile(fileext = ".rds")
  messages <- tempfile()
  on.exit(unlink(c(file, messages)))
  status <- suppressWarnings(system2(
    file.path(R.home("bin"), "Rscript"), c(script, arguments, file), stderr = messages,
    timeout = limit))
  if (status == 124) return(NULL)
  writeLines(readLines(messages), stderr())
  if (status != 0) stop("`", paste(c("Rscript", script, arguments), collapse = " "), "` failed")
  readRDS(file)
}

seconds <- function(run, limit) {
  if (is.null(run)) sprintf("> %d", limit) else format(signif(run$seconds, 3))
}

ratio <- function(peer, ours, limit) {
  if (is.null(peer)) return(sprintf("> %.0f", limit / ours$seconds))
  format(signif(peer$seconds / ours$seconds, 2))
}

megabytes <- function(run) if (is.null(run)) "-" else sprintf("%.0f", run$peak)

print_row <- function(...) cat("|", paste(c(...), collapse = " | "), "|\n")

print_head <- function(...) {
  print_row(...)
  print_row(rep("---", ...length()))
}

print_machine <- function() {
  cpu <- "/proc/cpuinfo"
  model <- if (file.exists(cpu)) grep("^model name", readLines(cpu), value = TRUE)[1] else NA
  cat("R ", as.character(getRversion()), ", ", sub(".*: *", "", model), ", one thread. ",
      "Peak memory is the whole process with its data.\n\n", sep = "")
}
