// The sign constraint on the coefficients.
#pragma once

namespace n2gfl {

enum class Sign { nonnegative, nonpositive, free };

// The directions in which a coefficient may leave zero, to loop over: +1, and -1 unless it must be
// nonnegative.
class Ways {
 public:
  explicit constexpr Ways(bool nonnegative) : count_(nonnegative ? 1 : 2) {}
  const int* begin() const { return kWays; }
  const int* end() const { return kWays + count_; }

 private:
  static constexpr int kWays[] = {1, -1};
  int count_;
};

}  // namespace n2gfl
