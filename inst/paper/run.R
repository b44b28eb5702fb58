# The tables, figures and checks of the paper.
#
#   Rscript run.R [small|full] [FOLDER]     small: some minutes; full: many hours
#   Rscript run.R comparison [small|medium|full] [FOLDER] [COHORTS]     only the comparison of whole
#                                           procedures, on as many cohorts a task
#   Rscript run.R copy [FOLDER]             copies the tables to where the vignettes read them
#
# `make paper` and `make paper FULL=1` call it with out/paper. Finished parts stay in the folder and
# are not computed again, so a stopped run continues where it was. All random numbers are seeded.

this_script <- function() {
  file <- grep("^--file=", commandArgs(), value = TRUE)
  normalizePath(if (length(file)) sub("^--file=", "", file[1]) else "run.R")
}
home <- dirname(this_script())
for (name in c("comparators", "evaluate", "ensemble", "treatments", "compare", "tables", "figures",
               "checks", "report")) {
  source(file.path(home, paste0(name, ".R")))
}

# limit: seconds that a cell of Table 1 may take.
settings <- list(
  small = list(cohorts = 1, limit = 20, sizes = table1_sizes[1:3],
               comparison = comparison_settings(1, nfolds = 3, treatments = c("raw", "scaled"))),
  # Only the comparison has this size: ten cohorts a task in a third of the time.
  medium = list(comparison = comparison_settings(10, nfolds = 5)),
  full = list(cohorts = 10, limit = 600, sizes = table1_sizes,
              comparison = comparison_settings(10))
)

run_paper <- function(size = "small", folder = file.path("out", "paper"), set = settings[[size]]) {
  if (is.null(set$sizes)) stop("The first argument must be small or full, not ", size, ".")
  dir.create(folder, recursive = TRUE, showWarnings = FALSE)
  run_checks(folder)
  draw_figures(folder)
  run_table1(file.path(folder, "cells"), set$limit, this_script(), set$sizes)
  run_cohorts(file.path(folder, "cohorts"), set$cohorts)
  run_comparison(file.path(folder, "comparison"), set$comparison)
  write_report(folder, set)
}

run_only_comparison <- function(size = "small", folder = file.path("out", "paper"),
                                cohorts = set$cohorts, set = settings[[size]]$comparison) {
  set$cohorts <- as.numeric(cohorts)
  run_comparison(file.path(folder, "comparison"), set)
  text <- write_comparison(folder, set)
  writeLines(c("# The comparison of whole procedures", text), file.path(folder, "comparison.md"))
  writeLines(text)
}

copy_results <- function(folder = file.path("out", "paper"), to = file.path(home, "results")) {
  tables <- c("table1", "table2", "table3", "settings", "comparison", "comparison_settings")
  files <- file.path(folder, paste0(tables, ".csv"))
  files <- files[file.exists(files)]
  file.copy(files, to, overwrite = TRUE)
  message("Copied to ", to, ": ", paste(basename(files), collapse = ", "))
}

main <- function(arguments) {
  rest <- as.list(arguments[-1])
  if (identical(arguments[1], "comparison")) return(do.call(run_only_comparison, rest))
  if (identical(arguments[1], "copy")) return(do.call(copy_results, rest))
  if (identical(arguments[1], "cell")) {
    return(table1_cell(as.numeric(arguments[2]), arguments[3], arguments[4]))
  }
  do.call(run_paper, as.list(arguments))
}

if (sys.nframe() == 0) main(commandArgs(trailingOnly = TRUE))
