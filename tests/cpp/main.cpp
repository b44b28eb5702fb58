// Runs the core's tests:  core_tests [part of a test's name]
#include "check.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <iostream>

namespace {

bool run(const check::TestCase& test) {
  check::failures().clear();
  const auto start = std::chrono::steady_clock::now();
  try {
    test.body();
  } catch (const std::exception& error) {
    check::failures().push_back(std::string("exception: ") + error.what());
  } catch (...) {
    check::failures().push_back("exception of unknown type");
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const bool passed = check::failures().empty();
  std::cout << (passed ? "ok    " : "FAIL  ") << test.name;
  if (seconds.count() > 1) std::cout << " (" << seconds.count() << " s)";
  std::cout << "\n";

  // A loop can fail thousands of times; the first few failures are enough.
  const std::size_t shown = std::min<std::size_t>(check::failures().size(), 5);
  for (std::size_t i = 0; i < shown; ++i) std::cout << "      " << check::failures()[i] << "\n";
  if (shown < check::failures().size())
    std::cout << "      ... and " << check::failures().size() - shown << " more\n";
  std::cout.flush();
  return passed;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string wanted = argc > 1 ? argv[1] : "";
  auto& tests = check::all_tests();
  std::sort(tests.begin(), tests.end(), [](const auto& a, const auto& b) {
    return a.file != b.file ? a.file < b.file : a.name < b.name;
  });

  int passed = 0, failed = 0;
  for (const auto& test : tests) {
    if (test.name.find(wanted) == std::string::npos) continue;
    if (run(test)) ++passed;
    else ++failed;
  }
  std::cout << "core tests: " << passed << " passed, " << failed << " failed" << std::endl;
  // Running no test is a failure too: a wrong filter or an empty build.
  return failed == 0 && passed > 0 ? 0 : 1;
}
