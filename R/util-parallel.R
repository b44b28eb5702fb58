# Runs independent pieces of work: one after the other or, if the user has set a future::plan(), in
# parallel. A function of the package takes a task and returns plain data. It uses no random
# numbers, so every plan gives bitwise identical results.

# The answers, in the order of `tasks`, which are named: names appear in errors and in checkpoints.
# `work(task, alive, ...)`: `alive` is a file; the work must stop when it is removed.
# `progress` counts `pieces` for each task, see start_progress(). If the session itself does the
# work, `work` gets one more argument, `inside`, to report how many pieces of its task are finished.
run_tasks <- function(tasks, work, ..., alive = "", checkpoint = NULL, progress = NULL,
                      pieces = rep(1, length(tasks))) {
  answers <- lapply(names(tasks), function(name) read_piece(checkpoint, name))
  open <- which(vapply(answers, is.null, NA))
  skip_pieces(progress, sum(pieces) - sum(pieces[open]))
  answers[open] <- if (length(open) && wants_futures()) {
    names(pieces) <- names(tasks)
    run_apart(tasks[open], work, ..., checkpoint = checkpoint, progress = progress,
              pieces = pieces)
  } else {
    run_here(tasks[open], work, ..., alive = alive, checkpoint = checkpoint, progress = progress,
             pieces = pieces[open])
  }
  stats::setNames(answers, names(tasks))
}

# One after the other, in this session.
run_here <- function(tasks, work, ..., alive, checkpoint, progress, pieces) {
  inside <- inside_of(progress)
  do_work <- if (is.null(inside)) work else function(...) work(..., inside = inside)
  lapply(seq_along(tasks), function(k) {
    run_task(tasks[[k]], names(tasks)[k], do_work, ..., alive = alive, checkpoint = checkpoint,
             tick = function(name) tick(progress, name, pieces[k]))
  })
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

# ---- interrupts ----------------------------------------------------------------------------------

# Runs `code` without interrupts: bookkeeping that must not stop halfway, or C++ code, which R would
# leave without freeing memory if an interrupt came while R allocates memory. Pending interrupts
# are handled at the end.
uninterrupted <- function(code) {
  value <- suspendInterrupts(code)
  Sys.sleep(1e-4)
  value
}

# ---- in parallel ---------------------------------------------------------------------------------

# A plan exists only where the user has loaded the future package and set one.
wants_futures <- function() {
  isNamespaceLoaded("future") && !inherits(future::plan(), "sequential")
}

# In parallel. Workers signal each finished task as a condition.
run_apart <- function(tasks, work, ..., checkpoint, progress, pieces) {
  here <- Sys.getpid()  # forked workers inherit the handler
  teller <- if (!is.null(progress)) {
    task_ticker(progressr_signal(progress), pieces, at_once = !forks())
  }
  withCallingHandlers(
    run_with_futures(tasks, work, ..., checkpoint = checkpoint, tick = teller, progress = progress),
    n2gfl_done = function(done) {
      name <- conditionMessage(done)
      if (Sys.getpid() == here) tick(progress, name, pieces[[name]], signal = FALSE)
    }
  )
}

run_with_futures <- function(tasks, work, ..., checkpoint, tick, progress) {
  # Removing `alive` ends all workers. It is removed when this function exits, for any reason.
  folder <- tempfile("n2gfl-run-")
  dir.create(folder)
  alive <- file.path(folder, "alive")
  writeLines(as.character(Sys.getpid()), alive)
  file.create(elsewhere(alive))
  crew <- new.env()
  crew$futures <- list()
  crew$lost <- 0
  on.exit(suspendInterrupts({
    unlink(c(alive, elsewhere(alive)))
    dismiss(crew, folder)
    unlink(folder, recursive = TRUE)
  }), add = TRUE)
  # x may exceed future's default limit on the size of data for workers.
  old <- options(future.globals.maxSize = Inf)
  on.exit(options(old), add = TRUE)
  run_shares(share_out(names(tasks)), tasks, crew, folder, list(
    work = work, ..., alive = alive, home = machine_name(),
    parent = if (forks()) Sys.getpid(), checkpoint = checkpoint, tick = tick), progress)
}

# Forked workers share x. Other workers need a copy each, so they get all their tasks at once.
forks <- function() isNamespaceLoaded("future") && inherits(future::plan(), "multicore")

share_out <- function(names) {
  workers <- min(if (!forks()) future::nbrOfWorkers(), length(names))
  unname(split(names, ceiling(seq_along(names) * workers / length(names))))
}

# One future for each share, as many at once as there are workers. `crew$futures` are those whose
# answers have not been read yet, `crew$lost` counts those that ended without an answer. An
# interrupt inside of future's own functions would lose a worker and its slot for the rest of the
# session, so interrupts are allowed only between these calls, and where R waits.
run_shares <- function(shares, tasks, crew, folder, given, progress = NULL) {
  answers <- list()
  waiting <- seq_along(shares)
  while (length(waiting) || length(crew$futures)) {
    if (length(waiting) && length(crew$futures) < future::nbrOfWorkers()) {
      share <- shares[[waiting[1]]]
      begin_share(share, c(list(tasks = tasks[share]), given), crew, folder)
      waiting <- waiting[-1]
    }
    for (one in crew$futures) {
      # handle an interrupt before an error that the same Ctrl-C has caused
      said <- uninterrupted(ask_future(one, crew))
      if (inherits(said, "FutureError")) stop_lost_worker(one$share, folder, said)
      if (inherits(said, "error")) stop(said)
      if (!is.null(said)) answers[one$share] <- said
    }
    draw_progress(progress)
  }
  unname(answers[names(tasks)])
}

begin_share <- function(share, given, crew, folder) {
  begin <- function() {
    future <- tryCatch(
      future::future(do.call(run_share, c(list(share), given)), packages = "n2gfl",
                     globals = list(run_share = run_share, share = share, given = given)),
      FutureError = identity
    )
    if (!inherits(future, "FutureError")) {
      crew$futures[[share[1]]] <- list(future = future, share = share)
    }
    future
  }
  # Without a free worker, or if the session itself is the worker, begin() blocks: allow interrupts.
  future <- if (has_free_worker()) uninterrupted(begin()) else begin()
  if (inherits(future, "FutureError")) stop_lost_worker(share, folder, future)
}

has_free_worker <- function() {
  if (forks() && (future::nbrOfWorkers() < 2 || !future::supportsMulticore())) return(FALSE)
  # future cannot count every kind of worker
  isTRUE(tryCatch(future::nbrOfFreeWorkers(background = TRUE), error = function(e) 0) > 0)
}

# The answers of a future, as a list; NULL if there are none yet; or an error.
ask_future <- function(one, crew, ...) {
  said <- tryCatch(if (future::resolved(one$future)) future::value(one$future, ...),
                   error = identity)
  if (!is.null(said)) crew$futures[[one$share[1]]] <- NULL
  crew$lost <- crew$lost + inherits(said, "FutureError")
  said
}

# ---- the end of a run ----------------------------------------------------------------------------

# Ends the futures that still run after an error or an interrupt. The removal of `alive` has told
# their workers to stop. Most stop at once; forks that do not are killed. The answers must be read:
# a fork holds its slot until its result is read.
dismiss <- function(crew, folder) {
  if (!length(crew$futures) && crew$lost == 0) return(invisible())
  passed <- stopwatch()
  while (length(crew$futures) && passed() < if (forks()) 5 else 0.3) {
    for (one in crew$futures) {
      if (forks() && passed() > 0.1) kill_forks(one$share, folder)
      # ignore a second Ctrl-C
      tryCatch(suppressWarnings(ask_future(one, crew, stdout = FALSE, signal = FALSE)),
               interrupt = function(e) NULL)
    }
  }
  if (!forks()) return(invisible())
  if (crew$lost > 0) free_slots(crew$lost, file.path(folder, "all-slots"))
  # forks whose results were read may need some time to exit
  pids <- forks_of(dir(folder, "[.]begun$", full.names = TRUE))
  passed <- stopwatch()
  while (any(tools::pskill(pids, 0)) && passed() < 0.5) {
    tryCatch(Sys.sleep(0.005), interrupt = function(e) NULL)
  }
}

stopwatch <- function() {
  start <- proc.time()[["elapsed"]]
  function() proc.time()[["elapsed"]] - start
}

# A fork that has not written its mark yet ends by itself, because `alive` is gone.
kill_forks <- function(names, folder) {
  tools::pskill(forks_of(paste0(marks_of(names, folder), ".begun")), tools::SIGKILL)
}

# Process ids, from the marks that the processes wrote.
forks_of <- function(files) {
  as.integer(unlist(lapply(files[file.exists(files)], readLines)))
}

# future frees the slots of dead forks only when it needs them. So this function takes all slots at
# once, including those of `lost` forks: each holder waits until the last one has begun.
free_slots <- function(lost, signal) {
  on.exit(file.create(signal))
  slots <- lost + tryCatch(future::nbrOfFreeWorkers(), error = function(e) 0)
  keepers <- lapply(seq_len(slots), function(slot) {
    future::future(keep_slot(slot == slots, signal),
                   globals = list(keep_slot = keep_slot, slot = slot, slots = slots,
                                  signal = signal))
  })
  for (keeper in keepers) {
    tryCatch(future::value(keeper), FutureError = function(e) NULL, interrupt = function(e) NULL)
  }
}

keep_slot <- function(is_last, signal) {
  if (is_last) file.create(signal)
  give_up <- Sys.time() + 20
  while (!file.exists(signal) && Sys.time() < give_up) Sys.sleep(0.01)
}

# `names`: the share of the worker that was lost.
stop_lost_worker <- function(names, folder, e) {
  marks <- marks_of(names, folder)
  begun <- file.exists(paste0(marks, ".begun"))
  done <- file.exists(paste0(marks, ".done"))
  listed <- function(which) paste(names[which], collapse = " and ")
  when <- if (any(begun & !done)) {
    paste(" while it computed", listed(begun & !done))
  } else if (all(done)) {
    paste(" after it had computed", listed(done))
  } else {
    paste0(", with ", listed(!done), " still to compute")
  }
  reason <- sub(" Post-mortem diagnostic.*", "", gsub("\\s+", " ", conditionMessage(e)))
  stop_bad("A worker ended without an answer", when,
           "; set the future::plan() again; with `checkpoint` the same call then continues after ",
           "the finished tasks. (", trimws(reason), ")")
}

# ---- in the worker -------------------------------------------------------------------------------

run_share <- function(names, ...) lapply(names, run_task_apart, ...)

# A worker writes a mark when it begins and when it ends a task: a killed worker cannot report it.
marks_of <- function(names, folder) file.path(folder, gsub("[^A-Za-z0-9]+", "-", names))

machine_name <- function() Sys.info()[["nodename"]]

# `alive` contains a process id, which has no meaning on another machine: workers there use this
# empty file.
elsewhere <- function(alive) paste0(alive, "-elsewhere")

# `parent` is the process id of the session that forks workers, NULL if workers are not forks.
run_task_apart <- function(name, tasks, work, ..., alive, home, parent, checkpoint, tick) {
  # With a single worker future does not fork, and this is the session itself.
  forked <- !is.null(parent) && parent != Sys.getpid()
  give_up <- function() tools::pskill(Sys.getpid(), tools::SIGKILL)
  if (forked && !end_with_parent_cpp(parent)) give_up()
  mark <- marks_of(name, dirname(alive))
  if (home != machine_name()) alive <- elsewhere(alive)
  # Write the mark before testing `alive`, to avoid a race: dismiss() reads marks after removing it.
  if (dir.exists(dirname(alive))) writeLines(as.character(Sys.getpid()), paste0(mark, ".begun"))
  # Another machine may not see the file, so there its absence does not mean that the run stopped.
  if (!file.exists(alive)) {
    if (forked) give_up()
    if (home == machine_name()) stop_bad(name, ": the run was stopped")
    alive <- ""
  }
  answer <- run_task(tasks[[name]], name, work, ..., alive = alive, checkpoint = checkpoint,
                     tick = tick)
  if (nzchar(alive)) file.create(paste0(mark, ".done"))
  answer
}

# ---- progress ------------------------------------------------------------------------------------

# Makes the function that a worker calls at the end of each task. It signals progressr and the
# session, which counts the tasks: `at_once`, or with the answer, which for forked workers is as
# early and happens exactly once. It is made here because its environment is sent to the workers.
task_ticker <- function(signal, pieces, at_once) {
  force(signal)
  force(pieces)
  class <- c("n2gfl_done", if (at_once) "immediateCondition", "condition")
  function(name) {
    if (!is.null(signal)) signal(message = name, amount = pieces[[name]])
    signalCondition(structure(class = class, list(message = name, call = NULL)))
  }
}
