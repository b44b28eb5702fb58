# The scripts of inst/paper, sourced into a new environment.
paper_scripts <- function(...) {
  home <- new.env(parent = globalenv())
  for (name in c("comparators", "evaluate", "ensemble", "treatments", "compare", "tables",
                 "figures", "checks", "report", "cohort")) {
    sys.source(system.file("paper", paste0(name, ".R"), package = "n2gfl"), home)
  }
  home
}

# A small cohort on a slice, with a logical truth.
paper_data <- function(n = 40, dim = c(10, 12)) {
  data <- simulate_cohort(n, dim)
  data$truth <- data$truth > 0
  data
}

# The same as a cohort of the comparison of whole procedures.
comparison_data <- function(n = 40, nfolds = 3, dim = c(10, 12)) {
  data <- paper_data(n, dim)
  data$data$global <- rowMeans(data$x)
  data$foldid <- make_folds(data$y, nfolds)
  data$seed <- 99
  data
}
