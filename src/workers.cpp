// What a forked worker needs that R has no function for.
#include <Rcpp.h>

#include <csignal>

#ifdef __linux__
#include <sys/prctl.h>
#endif
#ifndef _WIN32
#include <unistd.h>
#endif

// Ties this process, a forked worker, to its parent. The system is asked to end them together: without
// that a worker whose session was killed would wait for ever, in R's own code, for leave to go. Ctrl-C
// goes to both, and is the parent's to answer: it tells its workers. FALSE if the parent is gone
// already; where the system cannot end them together (outside of Linux), only that is found out.
// [[Rcpp::export(rng = false)]]
bool end_with_parent_cpp(int parent) {
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
#ifdef _WIN32
  return true;
#else
  std::signal(SIGINT, SIG_IGN);
  return getppid() == parent;
#endif
}
