// What a forked worker needs that R has no function for.
#include <Rcpp.h>

#ifdef __linux__
#include <signal.h>
#include <sys/prctl.h>
#endif
#ifndef _WIN32
#include <unistd.h>
#endif

// Asks the system to end this process together with its parent. Without that a forked worker whose
// session was killed would wait for ever, in R's own code, for leave to go. FALSE if the parent is
// gone already; where the system cannot do it (outside of Linux), only that is found out.
// [[Rcpp::export(rng = false)]]
bool end_with_parent_cpp(int parent) {
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
#ifdef _WIN32
  return true;
#else
  return getppid() == parent;
#endif
}
