# Progress of long work: a bar in interactive sessions by default, in scripts on request, and only
# progressr's display if that is switched on.

bars_of <- function(code) sub("\n$", "", capture_messages(code))

slow_tasks <- list(`Fold 1` = 1, `Fold 2` = 2)

# cli's bars, in a session that cli takes for interactive and that has a suitable clock: what is
# shown, what is returned or reported, and what is left behind, for several kinds of `work`.
shown_bars <- quote({
  options(rlang_interactive = TRUE, cli.progress_show_after = given$after, cli.unicode = FALSE,
          cli.num_colors = 1L)
  slow <- function(task, alive, inside = NULL, ending = NULL) {
    for (k in 1:3) {
      Sys.sleep(0.12)
      if (!is.null(inside)) inside(k / 3)
    }
    if (task == 2 && !is.null(ending)) stop(ending)
    task
  }
  run <- function(...) {
    progress <- n2gfl:::start_progress("Work", 2)
    on.exit(n2gfl:::end_progress(progress))
    n2gfl:::run_tasks(given$tasks, slow, progress = progress, ...)
  }
  watch <- function(...) {
    shown <- character()
    value <- tryCatch(withCallingHandlers(run(...), message = function(m) {
      shown <<- c(shown, conditionMessage(m))
      invokeRestart("muffleMessage")
    }), error = identity, interrupt = identity)
    list(shown = shown, value = value, left = cli::cli_progress_cleanup(),
         option = getOption("cli__pb"))
  }
  interrupt <- structure(class = c("interrupt", "condition"), list(message = "", call = NULL))
  seen <- list(plain = watch(), error = watch(ending = simpleError("no luck")),
               interrupt = watch(ending = interrupt))
  options(cli.progress_show_after = Inf)
  seen$never <- watch()
  options(cli.progress_show_after = 0, knitr.in.progress = TRUE, rlang_interactive = NULL)
  seen$knitr <- watch()
  options(rlang_interactive = TRUE)
  if (given$forks) {
    future::plan("multicore", workers = 2)
    seen$forks <- watch()
  }
  saveRDS(seen, file.path(folder, "seen.rds"))
})

test_that("in an interactive session a bar shows count and time left, and ends whatever happens", {
  skip_in_check()
  folder <- withr::local_tempdir()
  withr::local_envvar(CLI_TICK_TIME = "20")
  forks <- .Platform$OS.type != "windows" && requireNamespace("future", quietly = TRUE)
  start_child(folder, list(after = 0, tasks = slow_tasks, forks = forks), shown_bars)
  child_ended(folder)
  seen <- readRDS(file.path(folder, "seen.rds"))
  for (run in seen) {
    expect_length(run$left, 0)
    expect_null(run$option)
  }
  expect_identical(seen$plain$value, slow_tasks)
  expect_match(seen$plain$shown, "Work .* 33% \\| 0 of 2 \\| [0-9]+ s left", all = FALSE)
  expect_match(seen$plain$shown, "Work .* [56][0-9]% \\| 1 of 2 \\| [0-9]+ s left", all = FALSE)
  expect_match(seen$error$shown, "1 of 2", all = FALSE)
  expect_identical(conditionMessage(seen$error$value), "Fold 2: no luck")
  expect_match(seen$interrupt$shown, "1 of 2", all = FALSE)
  expect_s3_class(seen$interrupt$value, "interrupt")
  # silenced, and in a document that is knitted
  for (run in seen[c("never", "knitr")]) {
    expect_identical(run$value, slow_tasks)
    expect_length(run$shown, 0)
  }
  if (!forks) return(invisible())
  # the session that waits draws, from the start, and does not see into workers
  expect_identical(seen$forks$value, slow_tasks)
  expect_match(seen$forks$shown, " 0% \\| 0 of 2", all = FALSE)
  expect_false(any(grepl("33%", seen$forks$shown)))
})

test_that("scripts show nothing unless asked, and their work has no callbacks", {
  expect_false(is_interactive())
  if (!isNamespaceLoaded("progressr")) expect_null(start_progress("Work", 2))
  expect_null(inside_of(start_progress("Work", 2)))
  expect_null(path_callback(NULL))
  expect_null(row_callback(NULL))
})

test_that("every kind of long work has a bar", {
  withr::local_options(rlang_interactive = TRUE)
  withr::local_seed(31)
  data <- cv_problem("gaussian")
  titles <- character()
  seen <- function(title) {
    titles <<- c(titles, title)
    function(progress, name) NULL
  }
  real <- cli_drawer
  utils::assignInNamespace("cli_drawer", seen, "n2gfl")
  withr::defer(utils::assignInNamespace("cli_drawer", real, "n2gfl"))
  quick_cv(data)
  n2gfl(data$x, data$y, data$graph, lambda1 = 0.2, lambda2 = 0.1)
  perturb_fits(data$x, data$y, data$graph, B = 2, lambda1 = 0.2, lambda2 = 0.1)
  stability_selection(data$x, data$y, data$graph, cutoff = 0.9, q = 3, B = 2, lambda2 = 0.01)
  images <- array(stats::runif(4^4), c(4, 4, 4, 4))
  mask <- array(TRUE, c(4, 4, 4))
  read_images(images, mask, verbose = TRUE)
  expect_identical(titles, c("Cross-validation", "Fitting", "Perturbed fits",
                             "Stability selection", "Reading images"))
  read_images(images, mask, verbose = FALSE)
  expect_length(titles, 5)
})

test_that("trace.it = 1 draws every piece at once, and ends its line after an error", {
  work <- function(task, alive, inside) if (task == 2) stop("no luck") else task
  run <- function() {
    progress <- start_progress("Work", 2, trace = TRUE)
    on.exit(end_progress(progress))
    run_tasks(slow_tasks, work, progress = progress)
  }
  # a log: one line for each
  shown <- capture_messages(expect_error(run(), "no luck"))
  expect_length(shown, 1)
  expect_match(shown, "^\\|={15}.{16,17}\\| 1 of 2  Fold 1 *\n$")
  # a terminal: one line, drawn again, which stays
  withr::with_options(list(cli.dynamic = TRUE), {
    shown <- capture_messages(expect_error(run(), "no luck"))
  })
  expect_match(shown[1], "^\r\\|=.*\\| 1 of 2  Fold 1")
  expect_identical(shown[length(shown)], "\n")
  withr::local_seed(32)
  data <- cv_problem("gaussian")
  counts <- function(code) sub(".*\\| ([0-9]+ of [0-9]+).*", "\\1", sub("\n", "", bars_of(code)))
  perturb <- function() {
    perturb_fits(data$x, data$y, data$graph, B = 2, lambda1 = 0.2, lambda2 = 0.1, trace.it = 1)
  }
  expect_identical(counts(perturb()), paste(1:3, "of 3"))
  select <- function() {
    stability_selection(data$x, data$y, data$graph, cutoff = 0.9, q = 3, B = 2, lambda2 = 0.01,
                        trace.it = 1)
  }
  expect_identical(counts(select()), paste(1:4, "of 4"))
})

test_that("a run that is continued starts its count at the finished pieces", {
  withr::local_seed(33)
  data <- cv_problem("gaussian")
  folder <- withr::local_tempdir()
  run <- function() quick_cv(data, checkpoint = folder, trace.it = 1)
  expect_length(bars_of(run()), 5)
  unlink(dir(folder, "Fold-?[24]", full.names = TRUE, ignore.case = TRUE))
  shown <- bars_of(run())
  expect_identical(sub(".*\\| ([0-9] of 5) .*", "\\1", shown), c("4 of 5", "5 of 5"))
  expect_length(bars_of(run()), 0)
})

test_that("time left: from the pieces that were worked on, less what has passed since", {
  progress <- list(total = 10, done = 6, skipped = 4, inside = 0.5, start = 100, moved = 150)
  expect_equal(seconds_left(progress, now = 150), 3.5 * 50 / 2.5)
  expect_equal(seconds_left(progress, now = 160), 3.5 * 50 / 2.5 - 10)
  expect_identical(seconds_left(progress, now = 1000), 0)
  expect_identical(seconds_left(utils::modifyList(progress, list(done = 4, inside = 0))), NA_real_)
  expect_identical(vapply(c(0, 11.2, 59.5, 61, 3000, 3600, 9000), time_text, ""),
                   c("0 s", "12 s", "1 min", "1 min", "50 min", "1 h 0 min", "2 h 30 min"))
})

test_that("if progressr is on, only progressr shows something", {
  skip_if_not_installed("progressr")
  requireNamespace("progressr", quietly = TRUE)
  withr::local_options(rlang_interactive = TRUE, progressr.enable = NULL)
  expect_false(is_progressr_on())
  withr::local_options(progressr.enable = TRUE)
  expect_false(is_progressr_on())
  seen <- 0
  update <- function(...) seen <<- seen + 1
  handler <- progressr::make_progression_handler("count", list(update = update), interval = 0,
                                                 enable = TRUE)
  progressr::with_progress({
    on <- is_progressr_on()
    progress <- start_progress("Work", 2)
    run_tasks(slow_tasks, function(task, alive) task, progress = progress)
    end_progress(progress)
  }, handlers = function(...) handler)
  expect_true(on)
  expect_null(progress$draw)
  expect_gte(seen, 2)
  # switched off, it shows nothing, and so the bar is drawn
  withr::local_options(progressr.enable = FALSE)
  progressr::with_progress(off <- is_progressr_on())
  expect_false(off)
})
