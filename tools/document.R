# Writes NAMESPACE, man, src/RcppExports.cpp and R/RcppExports.R. Nothing is compiled: roxygen2
# reads the R sources only. Rcpp reads NAMESPACE, so it runs second.
suppressPackageStartupMessages(
  roxygen2::roxygenise(".", load_code = roxygen2::load_source)
)
Rcpp::compileAttributes(".")
