// One random case that main.cpp runs repeatedly, determined by its seed alone.
#pragma once

#include <cstdint>
#include <string>

namespace fuzz {

struct Outcome {
  std::string wrong;    // empty: correct
  std::string note;     // correct, but worth counting
  std::string setting;  // of the case, for the report
  bool refused = false;  // with an explanatory error
};

// What is being computed, for the report of a case that takes too long.
inline std::string under_way;

Outcome prox_case(std::uint32_t seed);
// Without a family, one of gaussian and binomial.
Outcome fit_case(std::uint32_t seed, const std::string& family = "");
Outcome path_case(std::uint32_t seed, const std::string& family = "");

}  // namespace fuzz
