# Prints the share of lines that the R tests run, per file and in all. Works on
# a copy: covr compiles with other flags and would leave its objects in src.
copy <- file.path("out", "coverage")
unlink(copy, recursive = TRUE)
dir.create(copy, recursive = TRUE)
parts <- intersect(c("DESCRIPTION", "NAMESPACE", "R", "src", "inst", "man", "tests"), dir())
invisible(file.copy(parts, copy, recursive = TRUE))

Sys.setenv(NOT_CRAN = "true")
coverage <- covr::package_coverage(copy, type = "tests")
print(coverage)
cat(sprintf("coverage: %.1f %%\n", covr::percent_coverage(coverage)))
