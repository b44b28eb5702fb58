# Shared by the scripts of this folder. Each method runs in its own R process, so
# that its peak memory can be measured and a slow peer can be stopped.
#
# N2GFL_BENCH_SMALL=1 shrinks the problems to test the scripts; its numbers mean nothing.

if (!file.exists("DESCRIPTION")) stop("Please run this from the top of the source tree.")
# The package, then the newest peers (tools/setup.R); the tests use older ones.
.libPaths(c(file.path("out", c("lib", "bench-lib")), .libPaths()))
Sys.setenv(OPENBLAS_NUM_THREADS = 1)  # one thread, unless a row says otherwise

small <- nzchar(Sys.getenv("N2GFL_BENCH_SMALL"))
gap_bar <- 1e-6

# ---- a script: the parent prints a table, its children run one method each ----

# The last line of every script. `main` takes a part of a row's name; `run_method` takes the name
# of a row, of a method, and the file for its costs.
start <- function(main, run_method) {
  arguments <- commandArgs(trailingOnly = TRUE)
  if (identical(arguments[1], "run")) return(invisible(do.call(run_method, as.list(arguments[-1]))))
  main(c(arguments, "")[1])
}

wanted <- function(names, part) grep(part, names, value = TRUE, fixed = TRUE)

# NULL if the time limit is reached. The limit is for the method; reading the data comes on top.
run_child <- function(script, arguments, limit = 600) {
  file <- tempfile(fileext = ".rds")
  messages <- tempfile()
  on.exit(unlink(c(file, messages)))
  status <- suppressWarnings(system2(
    file.path(R.home("bin"), "Rscript"), shQuote(c(script, arguments, file)), stderr = messages,
    timeout = limit + 30))
  if (status == 124) return(NULL)
  writeLines(readLines(messages), stderr())
  if (status != 0) stop("`", paste(c("Rscript", script, arguments), collapse = " "), "` failed")
  if (file.exists(file)) readRDS(file)
}

has_package <- function(name) nzchar(system.file(package = name))

# As run_child(), but a peer that fails or is not installed does not stop the script.
run_peer <- function(script, name, peer, limit) {
  if (!has_package(peer)) return(no_run)
  tryCatch(run_child(script, c("run", name, peer), limit), error = function(e) {
    message(conditionMessage(e))
    no_run
  })
}

no_run <- list(seconds = NA_real_, cpu = NA_real_, peak = NA_real_)

# The data of a row are made by a child too, once for each `key`: a method's process only reads
# them.
prepare_data <- function(script, name, key) {
  if (key %in% printed$prepared) return(invisible())
  run_child(script, c("run", name, "data"))
  printed$prepared <- c(printed$prepared, key)
}

# ---- in the child: the costs of a call -------------------------------------------

# Highest resident memory of this process so far, in MB; NA if the system does not tell.
peak_memory <- function() {
  status <- "/proc/self/status"
  if (!file.exists(status)) return(NA_real_)
  line <- grep("^VmHWM", readLines(status), value = TRUE)
  if (length(line)) as.numeric(gsub("[^0-9]", "", line)) / 1024 else NA_real_
}

# Resets the highest memory and returns the present one, so that the memory that a call adds can be
# separated from the data; NA if the system does not allow that.
reset_peak_memory <- function() {
  gc()
  forgotten <- tryCatch({
    writeLines("5", "/proc/self/clear_refs")
    TRUE
  }, error = function(e) FALSE, warning = function(w) FALSE)
  if (forgotten) peak_memory() else NA_real_
}

# Times the call, after the data are made, and saves its costs. A call of less than 20 s is run
# three times and the median counts; a call of less than 0.1 s is repeated to fill that time,
# because clocks count milliseconds. Processor seconds are given beside elapsed seconds: other work
# on the machine changes them far less. `added` is the memory beyond what the process had before
# the first call.
measure <- function(call, file, package = "n2gfl") {
  force(call)  # it may carry its data
  load_all(package)
  before <- reset_peak_memory()
  times <- time_calls(call)
  peak <- peak_memory()
  answer <- attr(times, "answer")
  if (times[["seconds"]] < 20) {
    first <- if (times[["seconds"]] >= 0.1) list(times)
    calls <- if (is.null(first)) enough_calls(call) else 1
    times <- c(first, lapply(seq_len(3 - length(first)), function(k) time_calls(call, calls)))
    times <- apply(do.call(rbind, times), 2, stats::median)
  }
  saveRDS(list(seconds = times[["seconds"]], cpu = times[["cpu"]], peak = peak,
               added = peak - before, answer = answer), file)
}

# Loading a package counts neither for the time nor for the memory of a call.
load_all <- function(package) {
  loadNamespace(package)
  if (package != "n2gfl") return()
  n2gfl::n2gfl(diag(4), 1:4, n2gfl::graph_chain(4), lambda1 = 0.01, lambda2 = 0.01)
}

enough_calls <- function(call) {
  ceiling(0.1 / max(time_calls(call, 10)[["seconds"]], 1e-5))
}

time_calls <- function(call, calls = 1) {
  time <- system.time(for (k in seq_len(calls)) answer <- call())
  structure(c(seconds = time[["elapsed"]], cpu = time[["user.self"]] + time[["sys.self"]]) / calls,
            answer = answer)
}

megabytes_of <- function(x) as.numeric(utils::object.size(x)) / 2^20

# ---- what is printed is kept, for bench/results --------------------------------

printed <- new.env()
printed$lines <- character()
printed$gaps <- numeric()

say <- function(...) {
  line <- paste0(...)
  cat(line, "\n", sep = "")
  printed$lines <- c(printed$lines, line)
}

print_row <- function(...) say("| ", paste(c(...), collapse = " | "), " |")

print_head <- function(...) {
  print_row(...)
  print_row(rep("---", length(c(...))))
}

print_title <- function(title, ...) {
  say("### ", title, "\n")
  if (length(c(...))) say(paste(...), "\n")
}

# Machine and versions, once per script, before its tables.
print_machine <- function(peers = character()) {
  cpu <- "/proc/cpuinfo"
  model <- if (file.exists(cpu)) grep("^model name", readLines(cpu), value = TRUE)[1] else NA
  versions <- vapply(c("n2gfl", peers), function(p) paste(p, version_of(p)), "")
  say(format(Sys.Date()), ", ", sub(".*: *", "", model), ", R ", as.character(getRversion()), ", ",
      paste(versions, collapse = ", "), ". One thread unless a row says otherwise; s: seconds by ",
      "the clock, CPU s: of the processor; medians of three runs where one takes less than 20 s; ",
      "MB: peak of the whole process with its data; passes: products X'r a fit; bar: what ",
      "`ratio` must not exceed.\n")
}

version_of <- function(package) {
  if (has_package(package)) as.character(utils::packageVersion(package)) else "(not installed)"
}

print_worst_gap <- function() {
  if (length(printed$gaps)) say("\nWorst relative duality gap: ", short(max(printed$gaps)), ".")
}

# Only a full run is kept.
keep_results <- function(name, part) {
  if (small || nzchar(part)) return(invisible())
  dir.create("bench/results", showWarnings = FALSE)
  writeLines(c(paste0("Made by `Rscript bench/", name, ".R`.\n"), printed$lines),
             file.path("bench", "results", paste0(name, ".md")))
}

# ---- cells ---------------------------------------------------------------------

short <- function(x, digits = 3) {
  if (is.na(x)) return("-")
  format(signif(x, digits), scientific = abs(x) < 1e-4 && x != 0)
}

seconds <- function(run, limit, clock = "seconds") {
  if (is.null(run)) sprintf("> %g", limit) else short(run[[clock]])
}

megabytes <- function(run) {
  if (is.null(run) || is.na(run$peak)) "-" else sprintf("%.0f", run$peak)
}

time_cells <- function(run, limit) {
  c(seconds(run, limit), if (is.null(run)) "-" else short(run$cpu), megabytes(run))
}

gap_cell <- function(gap) {
  if (is.null(gap)) return("-")
  printed$gaps <- c(printed$gaps, gap)
  paste0(short(gap, 2), if (gap > gap_bar) " (not met)")
}

# The ratio of times. A run that was stopped (NULL) took at least the limit.
time_ratio <- function(ours, peer, limit = NA, clock = "cpu") {
  time <- function(run) if (is.null(run)) limit else run[[clock]]
  time(ours) / time(peer)
}

ratio_cell <- function(ours, peer, limit = NA, clock = "cpu") {
  bound <- if (is.null(ours)) "> " else if (is.null(peer)) "< " else ""
  ratio <- time_ratio(ours, peer, limit, clock)
  if (is.na(ratio)) "-" else paste0(bound, short(ratio))
}

# The ratio, the bar and whether it is met.
ratio_cells <- function(ours, peer, bar = NA, limit = NA, clock = "cpu", gap = 0) {
  met <- !is.null(ours) && gap <= gap_bar && time_ratio(ours, peer, limit, clock) <= bar
  c(ratio_cell(ours, peer, limit, clock), bar_cells(bar, met))
}

bar_cells <- function(bar, met) {
  if (is.na(bar)) c("", "") else c(short(bar), if (isTRUE(met)) "yes" else "no")
}

# ---- a table of fits beside those of a peer --------------------------------------

print_comparison_head <- function() {
  print_head("problem", "n2gfl s", "n2gfl CPU s", "n2gfl MB", "worst gap", "passes", "peer",
             "peer s", "peer CPU s", "peer MB", "ratio", "bar", "met")
}

# The children return `gap` and `passes`.
print_comparison <- function(script, name, peer, bar, limit = 600) {
  ours <- run_child(script, c("run", name, "n2gfl"), limit)
  peer_run <- run_peer(script, name, peer, limit)
  gap <- ours$answer$gap
  print_row(name, time_cells(ours, limit), gap_cell(gap), short(max(ours$answer$passes, 0)), peer,
            time_cells(peer_run, limit), ratio_cells(ours, peer_run, bar, limit, gap = max(gap, 0)))
}
