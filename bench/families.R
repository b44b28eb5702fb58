# Paths of Poisson, Cox and proportional odds fits on correlated 3-D fields, N = 200, beside the
# lasso paths of glmnet and adelie; bench/paths.R says how. No peer fits a lasso with cut points, so
# the ordinal rows stand alone.
#
#   Rscript bench/families.R             all problems
#   Rscript bench/families.R cox         those whose name contains "cox"
source("bench/helpers.R")
source("bench/data.R")
source("bench/paths.R")

problems <- list()
for (family in c("poisson", "cox", "ordinal")) for (kind in names(field_kinds))
  for (rows in c(10, 100))
    problems[[sprintf("%s, %d rows, %s", family, rows, kind)]] <-
      path_problem("d 28,000", c(glmnet = if (family == "ordinal") NA else 1.5), family,
                   rows = rows, kind = kind)

table <- path_table("bench/families.R", problems, peers = c("glmnet", "adelie"),
                    with_bars = "glmnet")

main <- function(part) {
  print_paths(table, part, "Paths of fits of other families, d = 28,000, N = 200",
              paste("Ratios: n2gfl's CPU seconds over those of a lasso path. adelie runs the free",
                    "lasso; -: not installed, failed, or without such a model, as all peers for",
                    "ordered classes. lambda2 is 2 % of max X'r."))
}

start(main, function(name, method, file) run_path(problems[[name]], method, file))
