# Every future::plan() gives the same bits, progress is shown, and whatever stops a run stops all
# its workers.

local_plan <- function(plan, envir = parent.frame()) {
  skip_if_not_installed("future")
  if (plan %in% c("multisession", "cluster")) skip_in_check()
  # workers are new sessions and find the package where this one did
  withr::local_envvar(R_LIBS = paste(.libPaths(), collapse = .Platform$path.sep),
                      .local_envir = envir)
  old <- if (plan == "sequential") future::plan(plan) else future::plan(plan, workers = 2)
  withr::defer(future::plan(old), envir = envir)
}

forked <- function() skip_on_os("windows")

# Each of them under one plan, since new sessions take their time.

whole_run <- function(data) {
  set.seed(92)
  cv <- quick_cv(data, foldid = NULL, nfolds = 3, nrepeats = 2, nested = TRUE, keep = TRUE)
  list(cv = without_call(cv), seed = .Random.seed)
}

expect_same_bits <- function(data, alone) {
  before <- future::plan()
  expect_silent(together <- whole_run(data))
  expect_identical(together, alone)
  expect_identical(future::plan(), before)
  expect_null(getOption("future.globals.maxSize"))
  # with foldid nothing at all is drawn
  expect_seed_kept(expect_silent(quick_cv(data)))
  rm(".Random.seed", envir = globalenv())
  expect_seed_kept(quick_cv(data))
  expect_identical(list.files(tempdir(), "^n2gfl-run"), character(0))
}

# The bar counts every path once, in the session that waits: one with all rows, 4 without a fold,
# and 5 in each outer fold.
expect_bar <- function(data) {
  shown <- capture_messages(quick_cv(data, trace.it = 1, nested = TRUE))
  expect_identical(sub(".*\\| ([0-9]+) of 25 .*", "\\1", sub("\n", "", shown)),
                   as.character(c(1:5, 10, 15, 20, 25)))
  expect_setequal(gsub(".* of 25 *| *\n?$", "", shown), piece_names)
}

piece_names <- c("All rows", paste("Fold", 1:4), paste("Outer fold", 1:4))

expect_progression <- function(data) {
  withr::local_options(progressr.enable = TRUE)
  requireNamespace("progressr", quietly = TRUE)
  seen <- character()
  withCallingHandlers(
    quick_cv(data, nested = TRUE),
    progression = function(p) seen <<- c(seen, paste(p$type, conditionMessage(p))))
  expect_identical(sum(grepl("^initiate", seen)), 1L)
  expect_identical(sum(grepl("^finish", seen)), 1L)
  # future hands conditions of forked workers on through files, and may do so late or twice
  if (inherits(future::plan(), "multicore")) return(invisible())
  expect_setequal(grep("^update", seen, value = TRUE),
                  paste("update", piece_names))
}

expect_error_with_name <- function() {
  work <- function(task, alive) if (task == 2) stop("no luck") else task
  tasks <- list(`Fold 1` = 1, `Fold 2` = 2, `Fold 3` = 3)
  expect_error(run_tasks(tasks, work), "^Fold 2: no luck$")
}

for (plan in c("sequential", "multicore", "multisession")) {
  test_that(paste("same object, random numbers and plan; progress; errors with names:", plan), {
    if (plan == "multicore") forked()
    skip_if_not_installed("progressr")
    withr::local_seed(91)
    data <- cv_problem("binomial")
    alone <- whole_run(data)
    local_plan(plan)
    expect_same_bits(data, alone)
    expect_bar(data)
    expect_progression(data)
    expect_error_with_name()
  })
}

# ---- workers that die ---------------------------------------------------------------------------

for (plan in c("multicore", "cluster")) {
  test_that(paste("a dead worker's fold is named, the rest kept, the next run works:", plan), {
    forked()
    withr::local_seed(97)
    data <- cv_problem("gaussian")
    alone <- whole_run(data)
    local_plan(plan)
    if (plan == "cluster") expect_same_bits(data, alone)
    store <- open_checkpoint(withr::local_tempdir(), "work")
    kept <- function(name) file.exists(piece_file(store, name))
    # fold 2 does not die before the first one is on disk
    work <- function(task, alive, first) {
      if (task == 2) {
        while (!file.exists(first)) Sys.sleep(0.01)
        tools::pskill(Sys.getpid(), tools::SIGKILL)
        Sys.sleep(60)
      }
      task
    }
    tasks <- list(`Fold 1` = 1, `Fold 2` = 2)
    # parallel's own warning about the lost job comes before
    suppressWarnings(expect_error(
      run_tasks(tasks, work, checkpoint = store, first = piece_file(store, "Fold 1")),
      "^A worker ended without an answer while it computed Fold 2; "))
    if (plan == "multicore") expect_equal(future::nbrOfFreeWorkers(), 2)
    expect_true(kept("Fold 1"))
    expect_false(kept("Fold 2"))
    if (plan == "cluster") future::plan("sequential")  # new sessions would take long
    make_old(piece_file(store, "Fold 1"))
    again <- run_tasks(tasks, function(task, alive) task, checkpoint = store)
    expect_identical(again, tasks)
    expect_true(is_old(piece_file(store, "Fold 1")))
  })
}

test_that("a worker that is dead before it begins is named by the folds it was to compute", {
  forked()
  skip_on_covr()
  local_plan("multisession")
  workers <- lapply(1:2, function(k) future::future(Sys.getpid()))
  pids <- vapply(workers, future::value, 1L)
  tools::pskill(pids[2], tools::SIGKILL)
  expect_true(wait_for(function() process_gone(pids[2])))
  tasks <- stats::setNames(as.list(1:4), paste("Fold", 1:4))
  # Long enough for the first worker to be busy when the second share begins. Closed connections
  # give warnings, too.
  work <- function(task, alive) {
    Sys.sleep(0.5)
    task
  }
  said <- expect_error(suppressWarnings(run_tasks(tasks, work)))
  expect_match(conditionMessage(said), paste0(
    "^A worker ended without an answer, with Fold [13] and Fold [24] still to compute; ",
    "set the future::plan\\(\\) again"))
})

test_that("the error about a lost worker says what it had finished, was computing or had left", {
  folder <- withr::local_tempdir()
  names <- paste("Fold", 1:3)
  said <- function() {
    tryCatch(stop_lost_worker(names, folder, simpleError("no connection")),
             error = function(e) sub(";.*", "", conditionMessage(e)))
  }
  mark <- function(name) file.create(file.path(folder, name))
  none <- "A worker ended without an answer"
  expect_identical(said(), paste0(none, ", with Fold 1 and Fold 2 and Fold 3 still to compute"))
  mark("Fold-1.begun")
  expect_identical(said(), paste(none, "while it computed Fold 1"))
  mark("Fold-1.done")
  expect_identical(said(), paste0(none, ", with Fold 2 and Fold 3 still to compute"))
  for (end in c(".begun", ".done")) for (fold in c("Fold-2", "Fold-3")) mark(paste0(fold, end))
  expect_identical(said(), paste(none, "after it had computed Fold 1 and Fold 2 and Fold 3"))
})

# ---- interrupts ---------------------------------------------------------------------------------

for (plan in c("sequential", "multicore")) {
  test_that(paste("Ctrl-C stops the core, leaves no worker and keeps what is finished:", plan), {
    forked()
    skip_in_check()
    skip_if_not_installed("future")
    withr::local_seed(95)
    folder <- normalizePath(withr::local_tempdir())
    call <- four_fold_call(folder)
    done <- if (plan == "sequential") 1:2 else c(1, 2, 4)
    pid <- start_endless(folder, call, plan, done = done)
    tools::pskill(pid, tools::SIGINT)
    child_ended(folder)
    expect_false(readLines(file.path(folder, "ended")) == "0")
    workers <- worker_pids(folder)
    expect_length(workers, if (plan == "sequential") 1 else 4)
    expect_true(wait_for(function() all(vapply(workers, process_gone, NA))))
    folds <- file.path(call$checkpoint, paste0("Fold-", done, ".piece"))
    make_old(folds)
    again <- do.call(cv.n2gfl, call)
    expect_true(all(is_old(folds)))
    call$checkpoint <- NULL
    expect_identical(without_call(again), without_call(do.call(cv.n2gfl, call)))
  })
}

test_that("after an interrupt no forked worker stays and the next run works", {
  forked()
  skip_in_check()
  skip_if_not_installed("future")
  withr::local_seed(96)
  folder <- normalizePath(withr::local_tempdir())
  call <- four_fold_call(folder)
  code <- bquote({
    stopped <- tryCatch(.(endless_fold), interrupt = function(e) "interrupted")
    utils::assignInNamespace("fit_fold", real, "n2gfl")
    workers <- as.integer(sub("worker-", "", dir(folder, "^worker-")))
    saveRDS(list(stopped = stopped, left = sum(tools::pskill(workers, 0)),
                 cv = do.call(cv.n2gfl, given$call)), file.path(folder, "answer.rds"))
  })
  pid <- start_child(folder, list(call = call, plan = "multicore", where = "core"), code)
  expect_true(wait_for(function() {
    all(file.exists(file.path(folder, "reached"), file.path(call$checkpoint, "Fold-4.piece")))
  }))
  tools::pskill(pid, tools::SIGINT)
  child_ended(folder)
  answer <- readRDS(file.path(folder, "answer.rds"))
  expect_identical(answer$stopped, "interrupted")
  expect_identical(answer$left, 0L)
  call$checkpoint <- NULL
  expect_identical(without_call(answer$cv), without_call(do.call(cv.n2gfl, call)))
})

# In a child: parallel sends this session, and with `given$all` its workers, too, an interrupt at
# the worst moment: a worker was just forked, or an answer just read, and this is not recorded yet.
# Answers are larger than what fits into a pipe.
interrupted_inside <- quote({
  tasks <- stats::setNames(as.list(1:4), paste("Fold", 1:4))
  run <- function() {
    n2gfl:::run_tasks(tasks, function(task, alive, size) seq_len(size) + task, size = 1e6)
  }
  future::plan("multicore", workers = 2)
  whole <- run()
  here <- Sys.getpid()
  signal <- function() {
    if (Sys.getpid() != here) return(invisible())
    untrace(given$where, where = asNamespace("parallel"))
    forks <- vapply(parallel:::children(), `[[`, 1L, "pid")
    tools::pskill(c(here, if (given$all) forks), tools::SIGINT)
    started <<- Sys.time()
    for (k in 1:10000) sqrt(k)  # time to handle it
  }
  interrupt <- function() {
    suppressMessages(trace(given$where, where = asNamespace("parallel"), exit = signal,
                           print = FALSE))
    answer <- tryCatch(run(), interrupt = function(e) "interrupted")
    list(answer = answer, seconds = as.numeric(Sys.time() - started, units = "secs"),
         left = length(parallel:::children()), free = future::nbrOfFreeWorkers())
  }
  seen <- lapply(1:3, function(k) suppressMessages(interrupt()))
  saveRDS(list(seen = seen, same = identical(run(), whole)), file.path(folder, "answer.rds"))
})

for (where in c("mcfork", "readChild")) {
  test_that(paste("interrupts inside of parallel lose neither time nor slots:", where), {
    forked()
    skip_in_check()
    skip_on_covr()
    skip_if_not_installed("future")
    for (all in c(FALSE, TRUE)) {
      folder <- normalizePath(withr::local_tempdir())
      start_child(folder, list(where = where, all = all), interrupted_inside)
      child_ended(folder)
      got <- readRDS(file.path(folder, "answer.rds"))
      expect_true(got$same)
      for (one in got$seen) {
        expect_identical(one$answer, "interrupted")
        expect_lt(one$seconds, 5)  # and not the 20 of a slot that is never freed
        expect_identical(one$left, 0L)
        expect_equal(one$free, 2)
      }
    }
  })
}
