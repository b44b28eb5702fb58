# Trials that stop, interrupt and kill work at random moments. The tests run a few of each, `make
# torture` many; every moment comes from a seed.

# ---- interrupts ----------------------------------------------------------------------------------

# In a child: calls `given$run()` until it is interrupted, again and again, and writes files that
# say what happened when. If an interrupt arrives during this bookkeeping, the bookkeeping starts
# again.
interrupted_calls <- quote({
  if (given$plan != "sequential") future::plan(given$plan, workers = 2)
  run <- given$run
  environment(run) <- list2env(given$data, parent = globalenv())
  there <- function(name) file.exists(file.path(folder, name))
  mark <- function(name, value) {
    if (there(name)) return(invisible())
    saveRDS(value, file.path(folder, "new"))
    invisible(file.rename(file.path(folder, "new"), file.path(folder, name)))
  }
  resident <- function() {
    gc()
    line <- grep("^VmRSS", readLines("/proc/self/status"), value = TRUE)
    as.numeric(gsub("[^0-9]", "", line)) / 1024
  }
  uninterrupted <- function(code) {
    while (!tryCatch({
      code()
      TRUE
    }, interrupt = function(e) FALSE)) NULL
  }
  whole <- run()
  started <- Sys.time()
  again <- run()
  mark("ready", list(seconds = as.numeric(Sys.time() - started, units = "secs"),
                     same = identical(again, whole)))
  memory <- numeric()
  for (k in seq_len(given$count)) {
    answer <- tryCatch({
      mark(paste0("begin-", k), TRUE)
      repeat run()
    }, interrupt = function(e) "interrupted")
    uninterrupted(function() {
      mark(paste0("end-", k), list(time = Sys.time(),
                                   interrupted = identical(answer, "interrupted")))
      answer <<- NULL
      memory[k] <<- resident()
      while (!there(paste0("next-", k))) Sys.sleep(0.005)
    })
  }
  mark("after", list(same = identical(run(), whole), memory = memory))
})

# Processes whose parent is `pid`, without dead ones.
children_of <- function(pid) {
  stats <- Sys.glob("/proc/[0-9]*/stat")
  fields <- vapply(stats, function(file) {
    line <- tryCatch(readLines(file, warn = FALSE), error = function(e) "",
                     warning = function(w) "")
    if (length(line)) sub("^.*\\) ", "", line[1]) else ""
  }, "")
  parts <- strsplit(fields, " ")
  mine <- vapply(parts, function(p) length(p) > 1 && p[2] == pid && p[1] != "Z", NA)
  as.integer(basename(dirname(stats[mine])))
}

# One row per interrupt: whether it took effect, after how many seconds, and how many workers are
# left. `all`: workers get the signal too, as they do from a terminal.
interrupt_trial <- function(run, data, count, seed, plan = "sequential", all = FALSE) {
  folder <- normalizePath(withr::local_tempdir())
  given <- list(run = run, data = data, count = count, plan = plan)
  pid <- start_child(folder, given, interrupted_calls)
  on.exit(if (!file.exists(file.path(folder, "ended"))) tools::pskill(pid, tools::SIGKILL))
  there <- function(name) file.exists(file.path(folder, name))
  await <- function(name) {
    if (!wait_for(function() there(name) || there("ended")) || !there(name)) {
      stop("the session ended without ", name, ": ", child_log(folder))
    }
    readRDS(file.path(folder, name))
  }
  ready <- await("ready")
  moments <- withr::with_seed(seed, stats::runif(count, 0, ready$seconds))
  rows <- lapply(seq_len(count), function(k) {
    await(paste0("begin-", k))
    Sys.sleep(moments[k])
    sent <- Sys.time()
    tools::pskill(c(pid, if (all) children_of(pid)), tools::SIGINT)
    end <- await(paste0("end-", k))
    # workers that are about to end count only if they stay
    wait_for(function() !length(children_of(pid)), 3)
    left <- length(children_of(pid))
    file.create(file.path(folder, paste0("next-", k)))
    data.frame(taken = end$interrupted, left = left,
               delay = as.numeric(end$time - sent, units = "secs"))
  })
  after <- await("after")
  child_ended(folder)
  list(calls = do.call(rbind, rows), same = ready$same && after$same, memory = after$memory,
       seconds = ready$seconds, log = child_log(folder))
}

# ---- kills ---------------------------------------------------------------------------------------

# In a child: the one call, and a file just before it.
killed_call <- quote({
  if (given$plan != "sequential") future::plan(given$plan, workers = 2)
  run <- given$run
  environment(run) <- list2env(given$data, parent = globalenv())
  file.create(file.path(folder, "begin"))
  run(given$checkpoint)
})

# Kills a session that computes `run(checkpoint)` after `seconds`.
kill_after <- function(run, data, plan, checkpoint, seconds) {
  folder <- normalizePath(withr::local_tempdir())
  given <- list(run = run, data = data, plan = plan, checkpoint = checkpoint)
  pid <- start_child(folder, given, killed_call)
  testthat::expect_true(wait_for(function() file.exists(file.path(folder, "begin"))))
  Sys.sleep(seconds)
  workers <- children_of(pid)
  tools::pskill(pid, tools::SIGKILL)
  child_ended(folder)
  gone <- wait_for(function() all(vapply(workers, process_gone, NA)), 10)
  data.frame(killed = readLines(file.path(folder, "ended")) != "0", workers = length(workers),
             gone = gone)
}

# Starts `run(checkpoint)` `count` times, kills each at a random moment, and runs it again to its
# end: which were killed during the work, had forked workers, left a worker, gave a different
# object.
kill_trial <- function(run, data, count, seed, plan = "sequential") {
  environment(run) <- list2env(data, parent = globalenv())
  whole <- run(NULL)
  seconds <- system.time(run(withr::local_tempdir()))[["elapsed"]]
  moments <- withr::with_seed(seed, stats::runif(count, 0, seconds))
  rows <- lapply(moments, function(moment) {
    folder <- withr::local_tempdir()
    kill <- kill_after(run, data, plan, folder, moment)
    data.frame(kill, kept = length(dir(folder, "[.]piece$")),
               same = identical(run(folder), whole))
  })
  do.call(rbind, rows)
}
