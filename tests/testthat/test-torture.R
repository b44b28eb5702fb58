# Interrupts and kills at random moments; `make torture` has many more.

stopped_problem <- function() {
  withr::local_seed(401)
  x <- matrix(rnorm(50 * 400), 50)
  list(x = x, y = rowSums(x[, 1:20]) + rnorm(50), graph = graph_grid(c(20, 20)))
}

expect_interrupts <- function(got) {
  expect_true(got$same, label = "the same object before and after")
  calls <- got$calls
  expect_true(all(calls$taken))
  expect_lt(max(calls$delay), 5)
  expect_identical(sum(calls$left), 0L)
}

test_that("interrupts at random moments stop fits, selections and reading, and harm nothing", {
  skip_on_os(c("windows", "mac", "solaris"))
  skip_in_check()
  skip_on_covr()
  data <- stopped_problem()
  data$files <- file.path(withr::local_tempdir(), paste0("sub-", 1:10, ".nii.gz"))
  for (file in data$files) make_nifti(array(rnorm(40^3), c(40, 40, 40)), file)
  expect_interrupts(interrupt_trial(function() n2gfl(x, y, graph, thresh = 1e-8), data, 3, 402))
  expect_interrupts(interrupt_trial(function() {
    set.seed(1)
    stability_selection(x, y, graph, q = 20, PFER = 1, B = 10)
  }, data, 2, 403))
  expect_interrupts(interrupt_trial(function() read_images(files, threshold = 0), data, 3, 404))
})

# An interrupt from inside the session, which R handles at the next check: gc() is such a moment.
interrupt_now <- function() {
  tools::pskill(Sys.getpid(), tools::SIGINT)
  gc()
}

test_that("protected code runs to its end, and the interrupt is handled then", {
  skip_on_os("windows")
  done <- after <- FALSE
  got <- tryCatch({
    uninterrupted({
      interrupt_now()
      done <- TRUE
    })
    after <- TRUE
  }, interrupt = function(e) "interrupted")
  expect_identical(got, "interrupted")
  expect_true(done)
  expect_false(after)
  expect_identical(uninterrupted("a value"), "a value")
})

test_that("an interrupt does not jump out of the C++ that reads images", {
  skip_on_os("windows")
  files <- file.path(withr::local_tempdir(), paste0("sub-", 1:4, ".nii.gz"))
  for (file in files) make_nifti(array(runif(27, 1, 2), c(3, 3, 3)), file)
  steps <- c("read_nifti_cpp", "add_volume_cpp", "store_add_cpp", "store_scan_cpp",
             "store_take_cpp")
  glue <- asNamespace("n2gfl")
  for (step in steps) {
    ended <- FALSE
    real <- get(step, glue)
    utils::assignInNamespace(step, function(...) {
      answer <- real(...)
      interrupt_now()
      ended <<- TRUE
      answer
    }, "n2gfl")
    got <- tryCatch(read_images(files, threshold = 0), interrupt = function(e) "interrupted",
                    finally = utils::assignInNamespace(step, real, "n2gfl"))
    expect_identical(got, "interrupted", label = step)
    expect_true(ended, label = step)
  }
  expect_s3_class(read_images(files, threshold = 0), "n2gfl_images")
})

test_that("Ctrl-C reaches forked workers, too, and none is left", {
  skip_on_os(c("windows", "mac", "solaris"))
  skip_in_check()
  skip_on_covr()
  skip_if_not_installed("future")
  got <- interrupt_trial(function() {
    cv.n2gfl(x, y, graph, nlambda1 = 10, nlambda2 = 2, foldid = rep(1:5, 10))
  }, stopped_problem(), 3, 405, "multicore", all = TRUE)
  expect_interrupts(got)
})

for (plan in c("sequential", "multicore")) {
  test_that(paste("killed at random moments, the same call gives the same object:", plan), {
    skip_on_os(c("windows", "mac", "solaris"))
    skip_in_check()
    skip_on_covr()
    skip_if_not_installed("future")
    withr::local_seed(406)
    rows <- kill_trial(function(checkpoint) {
      set.seed(406)
      cv.n2gfl(x, y, graph, nlambda1 = 8, nlambda2 = 2, nfolds = 5, checkpoint = checkpoint)
    }, stopped_problem(), 2, 407, plan)
    expect_true(all(rows$same))
    expect_true(all(rows$gone))
  })
}

test_that("forked workers end if their session is killed and could not stop them", {
  skip_on_os(c("windows", "mac", "solaris"))
  skip_in_check()
  skip_on_covr()
  skip_if_not_installed("future")
  withr::local_seed(410)
  folder <- normalizePath(withr::local_tempdir())
  call <- four_fold_call(folder)
  # fold 3 sleeps in R, which does not check the file that says whether to go on
  pid <- start_endless(folder, call, "multicore", where = "R", done = c(1, 2, 4))
  workers <- worker_pids(folder)
  expect_false(all(vapply(workers, process_gone, NA)))
  tools::pskill(pid, tools::SIGKILL)
  child_ended(folder)
  expect_true(wait_for(function() all(vapply(workers, process_gone, NA)), 10))
})

# Work that would take days; `alive` says whether the session that waits for it still runs.
endless_work <- function(alive) {
  withr::local_seed(408)
  data <- cv_problem("gaussian")
  problem <- check_problem(fit_arguments(list(
    x = sweep(data$x, 2, 10^seq(0, 6, length.out = 12), "*"), y = data$y, graph = data$graph,
    lambda1 = 0.1, lambda2 = 0.1, algorithm = "ista", thresh = 1e-300, maxit = 2147483647)))
  solve_view(problem_at(problem), alive = alive)
}

test_that("work stops when the session that waits for it has been killed", {
  skip_on_os("windows")
  alive <- withr::local_tempfile()
  # the id of a process that has ended
  pid <- as.integer(system("sh -c 'echo $$'", intern = TRUE))
  writeLines(as.character(pid), alive)
  expect_error(endless_work(alive), "the run was stopped")
  # and when its file is gone
  expect_error(endless_work(withr::local_tempfile()), "the run was stopped")
})

test_that("a plan that would fork, but has a single worker, leaves the session alone", {
  skip_on_os("windows")
  skip_if_not_installed("future")
  withr::local_seed(409)
  data <- cv_problem("gaussian")
  alone <- without_call(quick_cv(data))
  old <- future::plan("multicore", workers = 1)
  withr::defer(future::plan(old))
  expect_identical(without_call(quick_cv(data)), alone)
})

test_that("after an error no forked worker stays, not even one that has not begun", {
  skip_on_os(c("windows", "mac", "solaris"))
  skip_if_not_installed("future")
  old <- future::plan("multicore", workers = 2)
  withr::defer(future::plan(old))
  # fold 2 runs until it is told to stop, and is marked as if it had not begun
  work <- function(task, alive) {
    if (task == 1) {
      wait_for(function() file.exists(file.path(dirname(alive), "second")))
      stop("no luck")
    }
    unlink(dir(dirname(alive), "[.]begun$", full.names = TRUE))
    file.create(file.path(dirname(alive), "second"))
    while (file.exists(alive)) Sys.sleep(0.01)
  }
  before <- children_of(Sys.getpid())
  expect_error(run_tasks(list(`Fold 1` = 1, `Fold 2` = 2), work), "^Fold 1: no luck$")
  expect_true(wait_for(function() !length(setdiff(children_of(Sys.getpid()), before)), 5))
})
