# Cross-validation with 10 folds: beside single paths (time, forked workers, and memory beyond x),
# with the default grid of n2gfl() beside an earlier core, and with the grid that refines itself.
#
#   Rscript bench/cv.R            all problems
#   Rscript bench/cv.R 28,000     those whose name contains "28,000"
#
# A fold is a set of weights on the one x, so its path should take as long as a single path, and no
# run should need a copy of x. The times of the earlier core are in bench/before.csv.
source("bench/helpers.R")
source("bench/data.R")
script <- "bench/cv.R"
limit <- 1800  # of a default cross-validation

# The path of bench/logistic.R, the grid of n2gfl() (which was that of cv.n2gfl() with the earlier
# core), and all that a user gets without choosing penalties.
one_path <- list("logistic, d 28,000" = "d 28,000")
default_grid <- list("default grid, d 28,000" = "d 28,000", "default grid, d 223,000" = "d 223,000")
refined_grid <- list("refined grid, d 28,000" = "d 28,000", "refined grid, d 223,000" = "d 223,000")

# Writes the largest sum of the workers' private memory, measured five times a second, to `file` in
# kB.
watch_workers <- function(file) {
  watcher <- sprintf(
    paste("while [ -d /proc/%1$d ]; do for p in $(pgrep -P %1$d); do",
          "awk '/^Private/ {s += $2} END {print s}' /proc/$p/smaps_rollup 2>/dev/null; done |",
          "awk '{s += $1} END {print s + 0}'; sleep 0.2; done > %2$s"), Sys.getpid(), file)
  system(paste("sh -c", shQuote(watcher)), wait = FALSE)
}

cross_validate <- function(data, ...) {
  cv <- n2gfl::cv.n2gfl(data$x, data$y, data$graph, family = "binomial",
                        foldid = rep_len(1:10, nrow(data$x)), ...)
  gaps <- c(cv$grid$gap, unlist(lapply(cv$fold.fits, `[[`, "gap")))
  # The scores are returned to show that workers do not change them.
  list(cvm = cv$cvm, gap = max(gaps), rows = nrow(cv$grid))
}

run_default_grid <- function(data, file) {
  fit <- n2gfl::n2gfl(data$x, data$y, data$graph, family = "binomial", nlambda1 = 1)
  measure(function() cross_validate(data, lambda2 = unique(fit$grid$lambda2)), file)
}

run_refined_grid <- function(data, file) measure(function() cross_validate(data), file)

run_one_path <- function(data, method, file) {
  grid <- list(nlambda1 = 10, lambda2 = 0.02 * max(data$products), thresh = gap_bar)
  workers <- tempfile()
  if (method == "two workers") {
    future::plan("multicore", workers = 2)
    watch_workers(workers)
  }
  measure(function() {
    if (method != "path") return(do.call(cross_validate, c(list(data), grid)))
    fit <- do.call(n2gfl::n2gfl,
                   c(list(data$x, data$y, data$graph, family = "binomial"), grid))
    list(gap = max(fit$grid$gap))
  }, file)
  run <- readRDS(file)
  run$x <- megabytes_of(data$x)
  if (method == "two workers") {
    Sys.sleep(0.5)
    run$added <- max(as.numeric(readLines(workers))) / 1024
  }
  saveRDS(run, file)
}

run_method <- function(name, method, file) {
  data <- shell_data(c(one_path, default_grid, refined_grid)[[name]])
  if (method == "data") return()
  if (name %in% names(one_path)) return(run_one_path(data, method, file))
  run <- if (name %in% names(default_grid)) run_default_grid else run_refined_grid
  run(data, file)
}

print_one_path <- function(name) {
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

# The earlier times are those of another day: CPU seconds are compared.
print_default_grid <- function(name, before) {
  prepare_data(script, name, name)
  after <- run_child(script, c("run", name, "cv"), limit)
  gap <- after$answer$gap
  earlier <- as.list(before[match(name, before$problem), ])
  known <- !is.na(earlier$cpu)
  print_row(name, if (known) c(short(earlier$seconds), short(earlier$cpu)) else c("-", "-"),
            seconds(after, limit), seconds(after, limit, "cpu"),
            if (known) ratio_cells(after, earlier, 0.5, limit, gap = max(gap, 0)) else rep("", 3),
            gap_cell(gap), max(after$answer$rows, 0), short(max(after$added, 0)))
}

print_default_grids <- function(names) {
  if (length(names) == 0) return(invisible())
  file <- "bench/before.csv"
  say("")
  print_title("Cross-validation with 10 folds and whole grids",
              "Default: that of n2gfl(); refined: that of cv.n2gfl().",
              "Ratio: CPU seconds now over those before.",
              sub("^# *", "", grep("^#", readLines(file), value = TRUE)),
              "MB added: memory beyond the data.")
  print_head("problem", "before s", "before CPU s", "s", "CPU s", "ratio", "bar", "met",
             "worst gap", "rows", "MB added")
  before <- utils::read.csv(file, comment.char = "#")
  for (name in names) print_default_grid(name, before)
}

main <- function(part) {
  print_title("Cross-validation with 10 folds")
  print_machine()
  print_head("problem", "what", "s", "CPU s", "of s", "of CPU s", "ratio", "bar", "met")
  for (name in wanted(names(one_path), part)) print_one_path(name)
  print_default_grids(wanted(names(c(default_grid, refined_grid)), part))
  print_worst_gap()
  keep_results("cv", part)
}

start(main, run_method)
