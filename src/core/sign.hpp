// The sign constraint on the coefficients.
#pragma once

namespace n2gfl {

enum class Sign { nonnegative, nonpositive, free };

// The signs that a coefficient may get when it leaves zero, to loop over: +1, and -1 unless it must
// be nonnegative.
class Signs {
 public:
  explicit constexpr Signs(bool nonnegative) : count_(nonnegative ? 1 : 2) {}
  const int* begin() const { return kSigns; }
  const int* end() const { return kSigns + count_; }

 private:
  static constexpr int kSigns[] = {1, -1};
  int count_;
};

}  // namespace n2gfl
