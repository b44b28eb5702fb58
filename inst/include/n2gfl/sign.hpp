// What the coefficients may be: the sign constraint of the model.
#pragma once

namespace n2gfl {

enum class Sign { nonnegative, nonpositive, free };

}  // namespace n2gfl
