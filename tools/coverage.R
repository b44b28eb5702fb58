# Prints the share of lines that the R tests run, per file and in all, and the lines that no test
# runs. Works on a copy: covr compiles with other flags and would leave its objects in src.
copy <- file.path("out", "coverage")
unlink(copy, recursive = TRUE)
dir.create(copy, recursive = TRUE)
parts <- intersect(c("DESCRIPTION", "NAMESPACE", "R", "src", "inst", "man", "tests"), dir())
invisible(file.copy(parts, copy, recursive = TRUE))

# 1, 2, 3, 7 as "1-3 7"
line_ranges <- function(lines) {
  lines <- sort(unique(lines))
  group <- cumsum(c(TRUE, diff(lines) > 1))
  ends <- function(part) if (length(part) > 1) paste(range(part), collapse = "-") else part
  paste(tapply(lines, group, ends), collapse = " ")
}

# Without any optimisation Eigen takes a quarter of an hour; -Og keeps the lines apart.
flags <- getOption("covr.flags", c())
compile <- c("CFLAGS", "CXXFLAGS", "CXX11FLAGS", "CXX14FLAGS", "CXX17FLAGS")
flags[compile] <- "-Og -g --coverage"
flags["LDFLAGS"] <- "--coverage"
options(covr.flags = flags)
Sys.setenv(NOT_CRAN = "true", TESTTHAT_MAX_FAILS = "Inf")
coverage <- covr::package_coverage(copy, type = "tests")
saveRDS(coverage, file.path("out", "coverage.rds"))
print(coverage)
counts <- covr::tally_coverage(coverage, by = "line")
missed <- split(counts$line[counts$value == 0], counts$filename[counts$value == 0])
cat("Lines that no test runs:\n")
cat(sprintf("  %s: %s\n", names(missed), vapply(missed, line_ranges, "")), sep = "")
cat(sprintf("coverage: %.1f %% of %d lines\n", 100 * mean(counts$value > 0), nrow(counts)))
