// Matrices on disk: what R says about them, for the core, and parts of them as matrices of R.
#include "glue.h"

#include <cstdint>
#include <stdexcept>
#include <string>

namespace {

n2gfl::StoredType as_stored_type(const std::string& name) {
  using n2gfl::StoredType;
  if (name == "double") return StoredType::float64;
  if (name == "float") return StoredType::float32;
  if (name == "integer") return StoredType::int32;
  if (name == "short") return StoredType::int16;
  if (name == "ushort") return StoredType::uint16;
  if (name == "raw") return StoredType::uint8;
  throw std::invalid_argument("unknown type of a matrix on disk");
}

// As the system's functions for files take it.
std::string system_path(const SEXP path) {
#ifdef _WIN32
  return Rf_translateCharUTF8(STRING_ELT(path, 0));
#else
  return Rf_translateChar(STRING_ELT(path, 0));
#endif
}

}  // namespace

n2gfl::MatrixFile as_core_file(const Rcpp::List& x) {
  n2gfl::MatrixFile file;
  file.path = system_path(x["file"]);
  file.type = as_stored_type(Rcpp::as<std::string>(x["type"]));
  file.rows = Rcpp::as<int>(x["nrow"]);
  file.cols = Rcpp::as<int>(x["ncol"]);
  file.offset = static_cast<std::uint64_t>(Rcpp::as<double>(x["offset"]));
  file.slope = Rcpp::as<double>(x["slope"]);
  file.intercept = Rcpp::as<double>(x["intercept"]);
  file.has_missing = !Rf_isNull(x["na"]);
  if (file.has_missing) file.missing = Rcpp::as<double>(x["na"]);
  return file;
}

// x[rows, columns] as a matrix in memory; both count from 1.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericMatrix part_of_file_cpp(const Rcpp::List& x, const Rcpp::IntegerVector& rows,
                                     const Rcpp::IntegerVector& columns) {
  const n2gfl::Design design = as_design(x);
  n2gfl::Poll poll = interrupt_poll();
  Rcpp::NumericMatrix part(static_cast<int>(rows.size()), static_cast<int>(columns.size()));
  for (int k = 0; k < part.ncol(); ++k) {
    const Eigen::VectorXd column = design.expanded(columns[k] - 1);
    for (int i = 0; i < part.nrow(); ++i) part(i, k) = column[rows[i] - 1];
    poll();
  }
  return part;
}
