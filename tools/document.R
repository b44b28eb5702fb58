# Writes NAMESPACE, man, src/RcppExports.cpp and R/RcppExports.R. Nothing is
# compiled: roxygen2 reads the sources of R alone. Rcpp reads NAMESPACE, so it
# comes second.
suppressPackageStartupMessages(
  roxygen2::roxygenise(".", load_code = roxygen2::load_source)
)
Rcpp::compileAttributes(".")
