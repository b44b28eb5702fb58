// What main.cpp runs over and over: one random case, made from its seed alone.
#pragma once

#include <cstdint>
#include <string>

namespace fuzz {

struct Outcome {
  std::string wrong;    // empty: all is right
  std::string note;     // right, but worth counting
  std::string setting;  // of the case, for the report
  bool refused = false;  // with an error that says why
};

Outcome prox_case(std::uint32_t seed);
Outcome fit_case(std::uint32_t seed);

}  // namespace fuzz
