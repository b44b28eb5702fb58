# Slow proofs run with `make test`, which sets NOT_CRAN; R CMD check leaves them out.
skip_in_check <- function() {
  testthat::skip_if_not(identical(Sys.getenv("NOT_CRAN"), "true"), "slow, run by `make test`")
}
