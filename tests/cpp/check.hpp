// A very small test harness, so that the core can be tested without R and
// without downloads.
//
//   #include "check.hpp"
//   TEST(sum_is_exact) {
//     CHECK(1 + 1 == 2);
//     CHECK_NEAR(0.1 + 0.2, 0.3, 1e-15);
//     CHECK_THROWS(std::vector<int>().at(0));
//   }
//
// All tests/cpp/test_*.cpp are linked into one program; main.cpp runs the tests
// in the order of their names. A test passes if all its checks do.
#pragma once

#include <cmath>
#include <sstream>
#include <string>
#include <vector>

namespace check {

struct TestCase {
  std::string name;
  std::string file;
  void (*body)();
};

// The tests register themselves before main() starts.
inline std::vector<TestCase>& all_tests() {
  static std::vector<TestCase> tests;
  return tests;
}

// Messages of the failed checks of the test that is running.
inline std::vector<std::string>& failures() {
  static std::vector<std::string> messages;
  return messages;
}

struct Registrar {
  Registrar(const char* name, const char* file, void (*body)()) {
    all_tests().push_back({name, file, body});
  }
};

inline void fail(const char* file, int line, const std::string& what) {
  std::ostringstream out;
  out << file << ":" << line << ": " << what;
  failures().push_back(out.str());
}

inline void check_near(const char* file, int line, const char* text, double a, double b,
                       double tolerance) {
  // Written so that NaN fails; equal infinities are near.
  if (a == b || std::fabs(a - b) <= tolerance) return;
  std::ostringstream out;
  out.precision(17);
  out << text << ": " << a << " and " << b << " differ by " << std::fabs(a - b)
      << ", more than " << tolerance;
  fail(file, line, out.str());
}

}  // namespace check

#define TEST(name)                                                              \
  static void test_##name();                                                    \
  static const check::Registrar registrar_##name(#name, __FILE__, test_##name); \
  static void test_##name()

// Variadic, so that a condition may contain commas.
#define CHECK(...)                                                     \
  do {                                                                 \
    if (!(__VA_ARGS__)) check::fail(__FILE__, __LINE__, #__VA_ARGS__); \
  } while (false)

#define CHECK_NEAR(a, b, tolerance) \
  check::check_near(__FILE__, __LINE__, #a " near " #b, (a), (b), (tolerance))

#define CHECK_THROWS(...)                                                       \
  do {                                                                          \
    bool thrown = false;                                                        \
    try {                                                                       \
      (void)(__VA_ARGS__);                                                      \
    } catch (...) {                                                             \
      thrown = true;                                                            \
    }                                                                           \
    if (!thrown) check::fail(__FILE__, __LINE__, #__VA_ARGS__ " did not throw"); \
  } while (false)
