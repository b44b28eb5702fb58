# Independent pieces of work, one after the other or, when the user has set a future::plan(), side
# by side. A piece is done by a function of the package that gets its task and returns plain data;
# it uses no random numbers, so every plan gives the same bits.

# The answers, in the order of `tasks`, which are named: names appear in errors and in checkpoints.
# `work(task, alive, ...)`: `alive` is a file whose removal must stop the work.
# `progress` counts `pieces` for each task, see start_progress(). Where the session itself does the
# work, `work` gets one more argument, `inside`, to say how many pieces of its task are finished.
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

# What must be done or not: code that keeps accounts, or C++, which R would leave without freeing
# anything if it found an interrupt while it makes room. Interrupts are let in at the end.
uninterrupted <- function(code) {
  value <- suspendInterrupts(code)
  Sys.sleep(1e-4)
  value
}

# ---- side by side --------------------------------------------------------------------------------

# A plan exists only where the user has loaded the future package and set one.
wants_futures <- function() {
  isNamespaceLoaded("future") && !inherits(future::plan(), "sequential")
}

# Side by side. A finished task comes as a condition from where it was done.
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
  # Its removal, at the latest when this function is left for whatever reason, ends all workers.
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
  # x may be larger than what future sends without being asked twice.
  old <- options(future.globals.maxSize = Inf)
  on.exit(options(old), add = TRUE)
  run_shares(share_out(names(tasks)), tasks, crew, folder, list(
    work = work, ..., alive = alive, home = machine_name(),
    parent = if (forks()) Sys.getpid(), checkpoint = checkpoint, tick = tick), progress)
}

# Forked workers share x; others get a copy each, so they get all their tasks at once.
forks <- function() isNamespaceLoaded("future") && inherits(future::plan(), "multicore")

share_out <- function(names) {
  workers <- min(if (!forks()) future::nbrOfWorkers(), length(names))
  unname(split(names, ceiling(seq_along(names) * workers / length(names))))
}

# One future for each share, as many at once as there are workers. `crew$futures` are those that
# nobody has an answer of yet, `crew$lost` counts those that ended without one. An interrupt inside
# of future's own functions would lose a worker and its place for the rest of the session:
# interrupts are let in between them, and where R waits.
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
      # an interrupt comes before an error that the same Ctrl-C has caused
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
  # Without a free worker, or if the session itself is the worker, this takes its time.
  future <- if (has_free_worker()) uninterrupted(begin()) else begin()
  if (inherits(future, "FutureError")) stop_lost_worker(share, folder, future)
}

has_free_worker <- function() {
  if (forks() && (future::nbrOfWorkers() < 2 || !future::supportsMulticore())) return(FALSE)
  # not every kind of worker can be counted
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

# Futures that run when nobody waits for them any more, after an error or an interrupt. Workers have
# been told to stop, by the removal of `alive`; most do so at once, and others, if they are forks,
# are killed. Answers must be taken: a fork waits until it is rid of its own, and holds its place.
dismiss <- function(crew, folder) {
  if (!length(crew$futures) && crew$lost == 0) return(invisible())
  passed <- stopwatch()
  while (length(crew$futures) && passed() < if (forks()) 5 else 0.3) {
    for (one in crew$futures) {
      if (forks() && passed() > 0.1) kill_forks(one$share, folder)
      # a second Ctrl-C has no more to say than the first one
      tryCatch(suppressWarnings(ask_future(one, crew, stdout = FALSE, signal = FALSE)),
               interrupt = function(e) NULL)
    }
  }
  if (!forks()) return(invisible())
  if (crew$lost > 0) free_places(crew$lost, file.path(folder, "all-places"))
  # those who were given leave to go are still on their way
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

# A fork without a mark ends by itself before it begins.
kill_forks <- function(names, folder) {
  tools::pskill(forks_of(paste0(marks_of(names, folder), ".begun")), tools::SIGKILL)
}

# The numbers of processes, from the marks they left.
forks_of <- function(files) {
  as.integer(unlist(lapply(files[file.exists(files)], readLines)))
}

# future keeps the places of dead forks until it needs them. So all places are taken at once, those
# of `lost` forks among them: who has one keeps it until the last one has come.
free_places <- function(lost, sign) {
  on.exit(file.create(sign))
  places <- lost + tryCatch(future::nbrOfFreeWorkers(), error = function(e) 0)
  keepers <- lapply(seq_len(places), function(place) {
    future::future(keep_place(place == places, sign),
                   globals = list(keep_place = keep_place, place = place, places = places,
                                  sign = sign))
  })
  for (keeper in keepers) {
    tryCatch(future::value(keeper), FutureError = function(e) NULL, interrupt = function(e) NULL)
  }
}

keep_place <- function(is_last, sign) {
  if (is_last) file.create(sign)
  give_up <- Sys.time() + 20
  while (!file.exists(sign) && Sys.time() < give_up) Sys.sleep(0.01)
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
           "; set the future::plan() again, and with `checkpoint` the same call goes on from what ",
           "was finished. (", trimws(reason), ")")
}

# ---- in the worker -------------------------------------------------------------------------------

run_share <- function(names, ...) lapply(names, run_task_apart, ...)

# A worker leaves a mark when it begins and when it ends a task: a dead one cannot say so.
marks_of <- function(names, folder) file.path(folder, gsub("[^A-Za-z0-9]+", "-", names))

machine_name <- function() Sys.info()[["nodename"]]

# The number of a process, which is in `alive`, means nothing on another machine.
elsewhere <- function(alive) paste0(alive, "-elsewhere")

# `parent` is the session that forks workers, NULL if they are no forks.
run_task_apart <- function(name, tasks, work, ..., alive, home, parent, checkpoint, tick) {
  # With a single worker future does not fork, and this is the session itself.
  forked <- !is.null(parent) && parent != Sys.getpid()
  give_up <- function() tools::pskill(Sys.getpid(), tools::SIGKILL)
  if (forked && !end_with_parent_cpp(parent)) give_up()
  mark <- marks_of(name, dirname(alive))
  if (home != machine_name()) alive <- elsewhere(alive)
  # Whoever removes `alive` looks for marks then: this one is either seen, or sees that.
  if (dir.exists(dirname(alive))) writeLines(as.character(Sys.getpid()), paste0(mark, ".begun"))
  # Another machine may not see the file, and must not take its absence for an order to stop.
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

# A function to call at the end of each task, there where it was done: it tells progressr, and the
# session that counts the tasks: `at_once`, or with the answer, which for forked workers is as soon
# and comes exactly once. It is made here because it is sent to workers with all that it sees.
task_ticker <- function(signal, pieces, at_once) {
  force(signal)
  force(pieces)
  class <- c("n2gfl_done", if (at_once) "immediateCondition", "condition")
  function(name) {
    if (!is.null(signal)) signal(message = name, amount = pieces[[name]])
    signalCondition(structure(class = class, list(message = name, call = NULL)))
  }
}
