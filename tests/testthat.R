# Run by R CMD check. `make test` runs the same tests, and the core's own.
library(testthat)
library(n2gfl)

test_check("n2gfl")
