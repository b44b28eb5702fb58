# Cross-validation beside single paths: time, forked workers, and memory beyond x.
#
#   Rscript bench/cv.R            all problems
#   Rscript bench/cv.R 28,000     those whose name contains "28,000"
#
# 10 folds of the logistic path of bench/logistic.R. A fold is a set of weights on the one x, so its
# path should take as long as a single path, and no run should need a copy of x.
source("bench/helpers.R")
source("bench/data.R")

problems <- list("logistic, d 28,000" = "d 28,000")

# Writes the largest sum of the workers' private memory, measured five times a second, to `file` in
# kB.
watch_workers <- function(file) {
  watcher <- sprintf(
    paste("while [ -d /proc/%1$d ]; do for p in $(pgrep -P %1$d); do",
          "awk '/^Private/ {s += $2} END {print s}' /proc/$p/smaps_rollup 2>/dev/null; done |",
          "awk '{s += $1} END {print s + 0}'; sleep 0.2; done > %2$s"), Sys.getpid(), file)
  system(paste("sh -c", shQuote(watcher)), wait = FALSE)
}

# The scores are returned to show that workers do not change them.
run_method <- function(name, method, file) {
  data <- shell_data(problems[[name]])
  if (method == "data") return()
  arguments <- list(data$x, data$y, data$graph, family = "binomial", nlambda1 = 10,
                    lambda2 = 0.02 * max(data$products), thresh = gap_bar)
  workers <- tempfile()
  if (method == "two workers") {
    future::plan("multicore", workers = 2)
    watch_workers(workers)
  }
  measure(function() {
    if (method == "path") return(list(gap = max(do.call(n2gfl::n2gfl, arguments)$grid$gap)))
    cv <- do.call(n2gfl::cv.n2gfl, c(arguments, list(foldid = rep_len(1:10, nrow(data$x)))))
    gaps <- c(cv$grid$gap, unlist(lapply(cv$fold.fits, `[[`, "gap")))
    list(cvm = cv$cvm, gap = max(gaps))
  }, file)
  run <- readRDS(file)
  run$x <- megabytes_of(data$x)
  if (method == "two workers") {
    Sys.sleep(0.5)
    run$added <- max(as.numeric(readLines(workers))) / 1024
  }
  saveRDS(run, file)
}

print_problem <- function(name) {
  script <- "bench/cv.R"
  prepare_data(script, name, name)
  run <- function(method) run_child(script, c("run", name, method))
  path <- run("path")
  alone <- run("cv")
  two <- run("two workers")
  memory <- alone$added / alone$x
  row <- function(what, ours, peer, ...) {
    print_row(name, what, seconds(ours), short(ours$cpu), seconds(peer), short(peer$cpu), ...)
  }
  gap_cell(path$answer$gap)
  gap_cell(alone$answer$gap)
  row("time: 10 folds and the whole / one path", alone, path, ratio_cells(alone, path, 11))
  row("memory beyond the data / x", alone, path, short(memory), bar_cells(0.25, memory <= 0.25))
  row(paste0("time by the clock: two workers / one (same scores: ",
             if (identical(two$answer$cvm, alone$answer$cvm)) "yes" else "no", ")"),
      two, alone, ratio_cells(two, alone, 1 / 1.8, clock = "seconds"))
  row("the workers' own memory / x, two R sessions included", two, alone,
      short(two$added / two$x), "", "")
}

main <- function(part) {
  print_title("Cross-validation with 10 folds")
  print_machine()
  print_head("problem", "what", "s", "CPU s", "of s", "of CPU s", "ratio", "bar", "met")
  for (name in wanted(names(problems), part)) print_problem(name)
  print_worst_gap()
  keep_results("cv", part)
}

start(main, run_method)
