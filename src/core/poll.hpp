// Lets the caller interrupt long work: the core calls a Poll often, the Poll calls the user's
// function about ten times a second, and this function throws to stop the work.
#pragma once

#include <chrono>
#include <functional>
#include <utility>

namespace n2gfl {

class Poll {
 public:
  Poll() = default;
  explicit Poll(std::function<void()> check) : check_(std::move(check)), last_(Clock::now()) {}

  // For inner loops: reads the clock once in 256 calls.
  void operator()() {
    if (++calls_ == 0) now();
  }

  // For steps that may take long themselves.
  void now() {
    if (!check_) return;
    const auto time = Clock::now();
    if (time - last_ < std::chrono::milliseconds(100)) return;
    last_ = time;
    check_();
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::function<void()> check_;
  Clock::time_point last_{};
  unsigned char calls_ = 0;
};

}  // namespace n2gfl
