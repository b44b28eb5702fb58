// Used by every call from R: R objects as objects of the core, and R's interrupts as a Poll.
#pragma once

#include <RcppEigen.h>

#include "data/design.hpp"
#include "data/mapped_file.hpp"
#include "data/mapped_storage.hpp"
#include "graph/graph.hpp"
#include "poll.hpp"
#include "sign.hpp"

#include <cerrno>
#include <csignal>
#include <fstream>
#include <string>
#include <vector>

// R counts nodes from 1.
inline n2gfl::Graph as_core_graph(const Rcpp::List& graph) {
  const Rcpp::IntegerVector from = graph["from"], to = graph["to"];
  const Rcpp::NumericVector weight = graph["weight"];
  std::vector<n2gfl::Edge> edges(from.size());
  for (R_xlen_t e = 0; e < from.size(); ++e) edges[e] = {from[e] - 1, to[e] - 1, weight[e]};
  return n2gfl::Graph(Rcpp::as<int>(graph["n"]), std::move(edges));
}

inline n2gfl::Sign as_core_sign(const std::string& sign) {
  if (sign == "nonnegative") return n2gfl::Sign::nonnegative;
  if (sign == "nonpositive") return n2gfl::Sign::nonpositive;
  return n2gfl::Sign::free;
}

// A matrix of class "disk_matrix", see R/data-disk.R.
n2gfl::MatrixFile as_core_file(const Rcpp::List& x);

// Calls open(file), and words the errors of a file that is not as it was when it was described.
template <class Open>
auto with_file(const n2gfl::MatrixFile& file, const Open& open) {
  try {
    return open(file);
  } catch (const n2gfl::FileMissing&) {
    Rcpp::stop("A matrix on disk must stay where it is, but its file \"%s\" cannot be opened.",
               file.path);
  } catch (const n2gfl::FileOfOtherSize& found) {
    Rcpp::stop("A matrix on disk must stay as it is, but its file \"%s\" has %.0f bytes, not %.0f.",
               file.path, static_cast<double>(found.size), static_cast<double>(file.size()));
  } catch (const n2gfl::FileNotMapped&) {
    Rcpp::stop("A matrix on disk must fit into the address space, but its file \"%s\" of %.0f "
               "bytes cannot be mapped into memory.",
               file.path, static_cast<double>(file.size()));
  }
}

// A view of R's own memory, a numeric matrix or a dgCMatrix, or of a file. Only this function
// chooses a storage. It looks at a file's size again, which may have changed.
inline n2gfl::Design as_design(const SEXP x) {
  if (Rf_inherits(x, "disk_matrix"))
    return n2gfl::Design(with_file(as_core_file(Rcpp::List(x)), n2gfl::mapped_storage));
  if (Rf_isMatrix(x)) {
    const Rcpp::IntegerVector dim = Rf_getAttrib(x, R_DimSymbol);
    return n2gfl::Design::dense(REAL(x), dim[0], dim[1]);
  }
  const Rcpp::S4 sparse(x);
  const Rcpp::IntegerVector starts = sparse.slot("p"), indices = sparse.slot("i");
  const Rcpp::IntegerVector dim = sparse.slot("Dim");
  const Rcpp::NumericVector values = sparse.slot("x");
  return n2gfl::Design::sparse(starts.begin(), indices.begin(), values.begin(), dim[0], dim[1]);
}

// On Windows this cannot be tested, and every process counts as running.
inline bool is_running(const int pid) {
#ifdef _WIN32
  return true;
#else
  return kill(pid, 0) == 0 || errno == EPERM;
#endif
}

// Stops the core by a C++ exception, so that destructors run. It does so when the user interrupts,
// or when the file `alive` (none if empty) has been removed, which tells a worker in another
// process that its result is no longer needed. A session that was killed cannot remove the file,
// so the process whose number is in the file, if any, must also be running.
inline n2gfl::Poll interrupt_poll(const std::string& alive = "") {
  int owner = 0;
  if (!alive.empty() && !(std::ifstream(alive) >> owner)) owner = 0;
  return n2gfl::Poll([alive, owner] {
    Rcpp::checkUserInterrupt();
    if (alive.empty()) return;
    if (!std::ifstream(alive).good() || (owner > 0 && !is_running(owner)))
      Rcpp::stop("the run was stopped");
  });
}
