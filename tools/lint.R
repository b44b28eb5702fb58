# Static checks of the sources in R; .lintr has the rules. Fails on any finding.
#
#   Rscript tools/lint.R

# The package does not change the user's session, and its calls say what they return.
only_in_package <- list(
  lintr::duplicate_argument_linter(),
  lintr::undesirable_function_linter(c(
    attach = NA, browser = NA, require = NA,
    sapply = "use vapply()", set.seed = "the random numbers are the user's", setwd = NA
  ))
)

lint_folder <- function(folder) {
  files <- dir(folder, pattern = "[.]R$", full.names = TRUE)
  files <- files[basename(files) != "RcppExports.R"]
  do.call(c, lapply(files, lintr::lint))
}

folders <- c("R", "tools", "bench", "inst/paper", "tests/testthat")
findings <- do.call(c, lapply(folders, lint_folder))
files <- setdiff(dir("R", full.names = TRUE), "R/RcppExports.R")
findings <- c(findings, do.call(c, lapply(files, lintr::lint, linters = only_in_package)))
for (finding in findings) print(finding)
cat(sprintf("lint of R: %d findings\n", length(findings)))
quit(status = if (length(findings)) 1 else 0)
