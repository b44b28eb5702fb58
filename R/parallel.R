# Independent pieces of work, one after the other or, when the user has set a future::plan(), side
# by side. A piece is done by a function of the package that gets its task and returns plain data;
# it uses no random numbers, so every plan gives the same bits.

# The answers, in the order of `tasks`, which are named: names appear in errors and in checkpoints.
# `work(task, alive, ...)`: `alive` is a file whose removal must stop the work.
# `quiet`: tasks inside of a task are not counted.
run_tasks <- function(tasks, work, ..., alive = "", checkpoint = NULL, trace = FALSE,
                      quiet = FALSE) {
  answers <- lapply(names(tasks), function(name) read_piece(checkpoint, name))
  open <- which(vapply(answers, is.null, NA))
  if (!length(open)) return(stats::setNames(answers, names(tasks)))
  # progressr ends its progress when the function that began it ends: this one.
  signal <- if (!quiet && isNamespaceLoaded("progressr")) {
    progressr::progressor(steps = length(open))
  }
  tick <- if (!quiet) task_ticker(signal, at_once = !forks())
  show <- if (trace) plain_bar(length(tasks), length(tasks) - length(open)) else identity
  here <- Sys.getpid()  # forked workers inherit the handler
  answers[open] <- withCallingHandlers(
    if (wants_futures()) {
      run_with_futures(tasks[open], work, ..., checkpoint = checkpoint, tick = tick)
    } else {
      lapply(names(tasks)[open], function(name) {
        run_task(tasks[[name]], name, work, ..., alive = alive, checkpoint = checkpoint,
                 tick = tick)
      })
    },
    n2gfl_done = function(done) if (Sys.getpid() == here) show(conditionMessage(done))
  )
  stats::setNames(answers, names(tasks))
}

run_task <- function(task, name, work, ..., alive, checkpoint, tick) {
  answer <- withCallingHandlers(
    work(task, alive = alive, ...),
    error = function(e) if (!inherits(e, "interrupt")) stop_bad(name, ": ", conditionMessage(e))
  )
  if (!is.null(checkpoint)) write_piece(checkpoint, name, answer)
  if (!is.null(tick)) tick(name)
  answer
}

# ---- side by side --------------------------------------------------------------------------------

# A plan exists only where the user has loaded the future package and set one.
wants_futures <- function() {
  if (!isNamespaceLoaded("future") || inherits(future::plan(), "sequential")) return(FALSE)
  need_package("future.apply", "to run folds under a future::plan()")
  TRUE
}

run_with_futures <- function(tasks, work, ..., checkpoint, tick) {
  # Its removal, at the latest when this function is left for whatever reason, ends all workers.
  folder <- tempfile("n2gfl-run-")
  dir.create(folder)
  alive <- file.path(folder, "alive")
  writeLines(as.character(Sys.getpid()), alive)
  file.create(elsewhere(alive))
  finished <- FALSE
  on.exit({
    unlink(c(alive, elsewhere(alive)))
    if (!finished && forks()) release_forks(folder)
    unlink(folder, recursive = TRUE)
  }, add = TRUE)
  # x may be larger than what future sends without being asked twice.
  old <- options(future.globals.maxSize = Inf)
  on.exit(options(old), add = TRUE)
  answers <- tryCatch(
    future.apply::future_lapply(
      names(tasks), run_task_apart, tasks = tasks, work = work, ..., alive = alive,
      home = machine_name(), parent = if (forks()) Sys.getpid(), checkpoint = checkpoint,
      tick = tick, future.seed = FALSE, future.packages = "n2gfl",
      future.scheduling = if (forks()) Inf else 1
    ),
    FutureError = function(e) stop_lost_worker(names(tasks), folder, e)
  )
  finished <- TRUE
  answers
}

# Forked workers share x; others get a copy each, so they get all their tasks at once.
forks <- function() isNamespaceLoaded("future") && inherits(future::plan(), "multicore")

# After an error or an interrupt forked workers stop, but stay until someone takes their answers;
# future does so when it needs their places. So all places are taken at once: those who have one
# keep it until the last one has come.
release_forks <- function(folder) {
  places <- future::nbrOfWorkers()
  future.apply::future_lapply(seq_len(places), take_place, last = places,
                              sign = file.path(folder, "all-places"), future.scheduling = Inf)
}

take_place <- function(place, last, sign) {
  if (place == last) file.create(sign)
  give_up <- Sys.time() + 20
  while (!file.exists(sign) && Sys.time() < give_up) Sys.sleep(0.01)
}

# Numbers of the processes that left these marks.
begun_by <- function(marks) {
  vapply(marks, function(mark) as.integer(readLines(paste0(mark, ".begun"))[1]), 1L)
}

# Signal 0 only asks; on Windows there is no way to ask.
is_running <- function(pids) {
  if (.Platform$OS.type != "unix") return(rep(FALSE, length(pids)))
  vapply(pids, function(pid) !is.na(pid) && tools::pskill(pid, 0), NA)
}

machine_name <- function() Sys.info()[["nodename"]]

# The number of a process, which is in `alive`, means nothing on another machine.
elsewhere <- function(alive) paste0(alive, "-elsewhere")

# In the worker, which leaves a mark when it begins and when it ends: a dead one cannot say so.
# `parent` is the session that forks workers, NULL if they are no forks.
run_task_apart <- function(name, tasks, work, ..., alive, home, parent, checkpoint, tick) {
  # With a single worker future does not fork, and this is the session itself.
  forked <- !is.null(parent) && parent != Sys.getpid()
  if (forked && !end_with_parent_cpp(parent)) tools::pskill(Sys.getpid(), tools::SIGKILL)
  mark <- file.path(dirname(alive), gsub("[^A-Za-z0-9]+", "-", name))
  if (home != machine_name()) alive <- elsewhere(alive)
  # Another machine may not see the file, and must not take its absence for an order to stop.
  if (!file.exists(alive)) {
    if (home == machine_name()) stop_bad(name, ": the run was stopped")
    alive <- ""
  }
  if (nzchar(alive)) writeLines(as.character(Sys.getpid()), paste0(mark, ".begun"))
  answer <- run_task(tasks[[name]], name, work, ..., alive = alive, checkpoint = checkpoint,
                     tick = tick)
  if (nzchar(alive)) file.create(paste0(mark, ".done"))
  answer
}

stop_lost_worker <- function(names, folder, e) {
  marks <- file.path(folder, gsub("[^A-Za-z0-9]+", "-", names))
  begun <- file.exists(paste0(marks, ".begun")) & !file.exists(paste0(marks, ".done"))
  dead <- begun
  dead[begun] <- !is_running(begun_by(marks[begun]))
  lost <- names[if (any(dead)) dead else begun]
  reason <- sub(" Post-mortem diagnostic.*", "", gsub("\\s+", " ", conditionMessage(e)))
  stop_bad("A worker ended without an answer", if (length(lost)) " while it computed ",
           paste(lost, collapse = " or "),
           "; set the future::plan() again, and with `checkpoint` the same call goes on from what ",
           "was finished. (", trimws(reason), ")")
}

# ---- progress ------------------------------------------------------------------------------------

# A function to call at the end of each task, there where it was done: it tells progressr, and the
# session that counts the tasks: `at_once`, or with the answer, which for forked workers is as soon
# and comes exactly once. It is made here because it is sent to workers with all that it sees.
task_ticker <- function(signal, at_once) {
  force(signal)
  class <- c("n2gfl_done", if (at_once) "immediateCondition", "condition")
  function(name) {
    if (!is.null(signal)) signal(message = name)
    signalCondition(structure(class = class, list(message = name, call = NULL)))
  }
}

plain_bar <- function(total, done) {
  force(total)
  function(name) {
    done <<- done + 1
    message(progress_bar(done, total), " ", done, " of ", total, sprintf("  %-30s", name),
            if (done >= total) "\n", appendLF = FALSE)
  }
}

# A bar that is drawn again on the same line.
progress_bar <- function(done, total) {
  width <- 30
  filled <- floor(width * done / total)
  paste0("\r|", strrep("=", filled), strrep(" ", width - filled), "|")
}
