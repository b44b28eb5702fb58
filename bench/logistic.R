# Paths of logistic fits on correlated 3-D fields, N = 200, beside the lasso paths of glmnet, adelie
# and biglasso; bench/paths.R says how.
#
#   Rscript bench/logistic.R             all problems
#   Rscript bench/logistic.R 28,000      those whose name contains "28,000"
source("bench/helpers.R")
source("bench/data.R")
source("bench/paths.R")

# `bar` is that of the ratio to glmnet, `adelie` that of the ratio to adelie.
problem <- function(size, bar, adelie = NA, ...) {
  path_problem(size, c(glmnet = bar, adelie = adelie), ...)
}

problems <- list()
for (size in names(shell_sizes)) {
  named <- function(...) paste(c(size, ...), collapse = ", ")
  fused <- function(share) sprintf("lambda2 %g %%", 100 * share)
  large <- size == "d 223,000"
  problems[[named("10 rows")]] <- problem(size, 0.6, adelie = 1)
  problems[[named("100 rows")]] <- problem(size, 1, rows = 100)
  problems[[named("10 rows, smooth")]] <- problem(size, 0.6, adelie = 1, kind = "smooth")
  problems[[named("100 rows, smooth")]] <-
    problem(size, if (large) 1 else 0.4, rows = 100, kind = "smooth")
  problems[[named("10 rows, free")]] <- problem(size, 0.8, sign = "free")
  problems[[named("10 rows, two covariates")]] <- problem(size, 0.8, covariates = TRUE)
  for (share in c(0.001, 0.005))
    problems[[named("10 rows", fused(share))]] <- problem(size, 1, share = share)
  for (share in c(0.1, 0.5))
    problems[[named("10 rows", fused(share))]] <- problem(size, 0.8, share = share)
  for (share in c(0.1, 0.5))
    problems[[named("10 rows, smooth", fused(share))]] <-
      problem(size, if (large) 1.5 else 0.8, share = share, kind = "smooth")
}

table <- path_table("bench/logistic.R", problems, peers = c("glmnet", "adelie", "biglasso"),
                    with_bars = c("glmnet", "adelie"))

main <- function(part) {
  print_paths(table, part,
              "Paths of logistic fits, N = 200, beside the lasso of glmnet, adelie and biglasso",
              paste("Ratios: n2gfl's CPU seconds over the peer's. adelie and biglasso run the free",
                    "lasso, biglasso on standardised columns; -: not installed, failed, or without",
                    "such a model. lambda2 is 2 % of max X'r unless a row says otherwise."))
}

start(main, function(name, method, file) run_path(problems[[name]], method, file))
