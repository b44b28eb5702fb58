# Runs the R tests on the installed package and counts them.
#
#   Rscript tools/test.R [part of the test files' names]
#
# A test is one test_that() block. It fails if one of its expectations fails.
# With CI=true or N2GFL_STRICT=1 a skipped test counts as failed: a missing
# package to compare with must not look like a success.

library <- normalizePath(Sys.getenv("N2GFL_LIBRARY", file.path("out", "lib")))
.libPaths(c(library, .libPaths()))
# NOT_CRAN: snapshots are compared too. All failures are listed.
Sys.setenv(NOT_CRAN = "true", TESTTHAT_MAX_FAILS = "Inf", R_LIBS = library)
strict <- identical(Sys.getenv("CI"), "true") || identical(Sys.getenv("N2GFL_STRICT"), "1")

# One line per file; on a terminal the counts are updated.
reporter <- testthat::ProgressReporter$new(
  show_praise = FALSE, update_interval = if (isatty(stdout())) 0.1 else Inf
)

part <- commandArgs(trailingOnly = TRUE)
results <- testthat::test_dir(
  file.path("tests", "testthat"), filter = if (length(part)) part[1],
  package = "n2gfl", load_package = "installed", reporter = reporter,
  stop_on_failure = FALSE
)
tests <- as.data.frame(results)

# testthat's own table misses an error that is not the last result of its test.
is_broken <- function(result) inherits(result, c("expectation_failure", "expectation_error"))
failed <- vapply(results, function(test) any(vapply(test$results, is_broken, NA)), NA)
skipped <- tests$skipped & !failed
if (strict && any(skipped)) {
  cat("Skipped here, and therefore failed:\n")
  cat(sprintf("  %s: %s\n", tests$file[skipped], tests$test[skipped]), sep = "")
  failed <- failed | skipped
  skipped <- skipped & FALSE
}
cat(sprintf("R tests: %d passed, %d failed, %d skipped (%d expectations, %.0f s)\n",
            sum(!failed & !skipped), sum(failed), sum(skipped), sum(tests$nb), sum(tests$real)))
# Running no test is a failure as well.
quit(status = if (any(failed) || nrow(tests) == 0) 1 else 0)
