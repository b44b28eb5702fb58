// Fista on columns in single precision, and its jumps to the best values of regions.
#include "check.hpp"
#include "random_problem.hpp"

#include <string>

using n2gfl::Algorithm;
using n2gfl::Fit;
using n2gfl::Poll;
using n2gfl::Sign;
using testing::null_objective;
using testing::objective_of;
using testing::plain_problem;
using testing::Problem;
using testing::Random;

namespace {

Fit fit_by(Algorithm algorithm, Problem p, double thresh) {
  p.settings.algorithm = algorithm;
  p.settings.thresh = thresh;
  Poll poll;
  return p.path(poll)->fit({0.02 * p.scale(), 0.01 * p.scale()});
}

// Many more features than observations have a signal, and the means are far from zero.
Problem hard_problem(const std::string& family, Sign sign) {
  Random random(11);
  Problem p = plain_problem(random, family, 60, 90);
  p.x.array() += 30;
  p.settings.sign = sign;
  return p;
}

}  // namespace

// Rounding errors of single precision must not end the convergence.
TEST(fista_reaches_tiny_gaps) {
  for (const char* family : {"gaussian", "binomial"})
    for (Sign sign : {Sign::nonnegative, Sign::nonpositive, Sign::free}) {
      const Problem p = hard_problem(family, sign);
      const double lambda1 = 0.02 * p.scale(), lambda2 = 0.01 * p.scale(), null = null_objective(p);
      const double best = objective_of(p, lambda1, lambda2, fit_by(Algorithm::pursuit, p, 1e-12));
      for (double thresh : {1e-6, 1e-10, 1e-12}) {
        const Fit fit = fit_by(Algorithm::fista, p, thresh);
        CHECK(fit.converged);
        CHECK_NEAR(objective_of(p, lambda1, lambda2, fit), best, 2 * thresh * null);
      }
    }
}
