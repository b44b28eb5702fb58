// The sign constraint on the coefficients.
#pragma once

namespace n2gfl {

enum class Sign { nonnegative, nonpositive, free };

}  // namespace n2gfl
