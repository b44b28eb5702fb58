// A fixed number of the fuzz's random cases (fuzz/): the same every time, so that CI runs them too.
#include "check.hpp"
#include "fuzz/fuzz.hpp"

#include <cstdint>
#include <string>

namespace {

void check_cases(fuzz::Outcome (*run)(std::uint32_t), std::uint32_t count) {
  for (std::uint32_t seed = 1; seed <= count; ++seed) {
    const fuzz::Outcome outcome = run(seed);
    if (outcome.wrong.empty()) continue;
    const std::string what = "seed " + std::to_string(seed) + ": " + outcome.wrong;
    check::fail(__FILE__, __LINE__, what);
  }
}

}  // namespace

TEST(random_graphs_are_solved) { check_cases(fuzz::prox_case, 40000); }

TEST(random_fits_are_as_good_as_they_say) { check_cases(fuzz::fit_case, 4000); }
