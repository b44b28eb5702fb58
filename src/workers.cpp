// Functions for forked workers that R does not have.
#include <Rcpp.h>

#include <csignal>

#ifdef __linux__
#include <sys/prctl.h>
#endif
#ifndef _WIN32
#include <unistd.h>
#endif

// Ends this process, a forked worker, together with its parent: if the session is killed, the
// system kills the worker. Otherwise the worker would wait forever, in R's own code, for
// permission to exit. Ctrl-C reaches both processes; the worker ignores it, and the parent stops
// its workers. Returns FALSE if the parent has already ended. Outside Linux this is all that can
// be done.
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
