// Runs random cases for a given time:  fuzz prox|fits|paths [seconds] [first seed] [most cases]
// A case is determined by its seed, so a failure can be repeated by `fuzz fits 0 <seed>`. A case
// that takes longer than the watchdog allows ends the program and prints its seed.
#include "fuzz.hpp"

#include <sys/time.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <limits>
#include <string>

namespace {

// Seconds of CPU; a sanitized program is more than ten times slower.
#ifdef __SANITIZE_ADDRESS__
constexpr int kLongestCase = 200;
#else
constexpr int kLongestCase = 10;
#endif
volatile std::uint32_t running = 0;

void too_long(int) {
  std::fprintf(stderr, "seed %u takes longer than %d s: %s\n", running, kLongestCase,
               fuzz::under_way.c_str());
  std::_Exit(1);
}

using Case = std::function<fuzz::Outcome(std::uint32_t)>;

// Null if there is no such kind. A family may follow the kinds of fits: "paths-cox".
Case case_of(const std::string& kind) {
  const std::size_t dash = kind.find('-');
  const std::string family = dash == std::string::npos ? "" : kind.substr(dash + 1);
  const std::string what = kind.substr(0, dash);
  if (kind == "prox") return fuzz::prox_case;
  if (what == "fits") return [=](std::uint32_t seed) { return fuzz::fit_case(seed, family); };
  if (what == "paths") return [=](std::uint32_t seed) { return fuzz::path_case(seed, family); };
  return nullptr;
}

fuzz::Outcome run_case(const Case& one, std::uint32_t seed) {
  running = seed;
  fuzz::under_way.clear();
  const itimerval limit{{0, 0}, {kLongestCase, 0}};
  setitimer(ITIMER_VIRTUAL, &limit, nullptr);
  try {
    return one(seed);
  } catch (const std::exception& error) {
    return {std::string("threw: ") + error.what(), "", "", false};
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string kind = argc > 1 ? argv[1] : "";
  const Case one = case_of(kind);
  if (one == nullptr) {
    std::fprintf(stderr, "usage: fuzz prox|fits|paths|fits-FAMILY|paths-FAMILY [seconds] "
                         "[first seed] [most cases]\n");
    return 2;
  }
  const double seconds = argc > 2 ? std::atof(argv[2]) : 60;
  std::uint32_t seed = argc > 3 ? static_cast<std::uint32_t>(std::atoll(argv[3])) : 1;
  const long most = argc > 4 ? std::atol(argv[4]) : std::numeric_limits<long>::max();
  std::signal(SIGVTALRM, too_long);
  const auto begin = std::chrono::steady_clock::now();
  long cases = 0, wrong = 0, noted = 0, refused = 0;
  std::chrono::duration<double> spent{0};
  do {
    const fuzz::Outcome outcome = run_case(one, seed);
    ++cases;
    noted += !outcome.note.empty();
    refused += outcome.refused;
    const bool alone = seconds <= 0;
    if (!outcome.wrong.empty() || (alone && !outcome.setting.empty()))
      std::printf("seed %u: %s %s\n  %s\n", seed, outcome.wrong.c_str(), outcome.note.c_str(),
                  outcome.setting.c_str());
    wrong += !outcome.wrong.empty();
    ++seed;
    spent = std::chrono::steady_clock::now() - begin;
  } while (spent.count() < seconds && cases < most && wrong < 20);
  std::printf("%s: %ld cases in %.0f s, %ld wrong, %ld not converged, %ld refused\n", kind.c_str(),
              cases, spent.count(), wrong, noted, refused);
  return wrong > 0;
}
