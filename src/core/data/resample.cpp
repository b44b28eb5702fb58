#include "data/resample.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace n2gfl {

namespace {

// One axis of a position between voxels: the voxel below it and the share of the voxel above it.
struct AxisPosition {
  int below = 0;
  double share = 0;
  bool inside = false;
};

// Positions within kNear voxels of a voxel are that voxel: affines are often stored as floats. The
// field of view ends half a voxel beyond the last voxel; there the value is that of the last voxel.
AxisPosition locate(double at, int size) {
  constexpr double kNear = 1e-3;
  AxisPosition position;
  if (!(at > -0.5 - kNear && at < size - 0.5 + kNear)) return position;
  position.inside = true;
  const double nearest = std::round(at);
  if (std::abs(at - nearest) < kNear) at = nearest;
  at = std::clamp(at, 0.0, size - 1.0);
  position.below = static_cast<int>(at);
  position.share = at - position.below;
  return position;
}

// Voxels whose share is 0 are not read: what is not finite there has no effect, and they may lie
// outside of the array.
template <class Value>
double interpolate(const Value* values, const GridSize& size,
                   const std::array<AxisPosition, 3>& at) {
  double sum = 0;
  for (int c = 0; c < 8; ++c) {
    const std::array<int, 3> up = {c & 1, c >> 1 & 1, c >> 2};
    double weight = 1;
    std::size_t index = 0;
    for (int axis = 2; axis >= 0; --axis) {
      weight *= up[axis] ? at[axis].share : 1 - at[axis].share;
      index = index * size[axis] + at[axis].below + up[axis];
    }
    if (weight > 0) sum += weight * values[index];
  }
  return sum;
}

template <class Value>
void resample_values(const Value* values, const GridSize& size, const GridMap& map,
                     const GridSize& new_size, double* out) {
  for (int k = 0; k < new_size[2]; ++k)
    for (int j = 0; j < new_size[1]; ++j)
      for (int i = 0; i < new_size[0]; ++i, ++out) {
        std::array<AxisPosition, 3> at;
        bool inside = true;
        for (int axis = 0; axis < 3; ++axis) {
          const auto& row = map[axis];
          at[axis] = locate(row[0] * i + row[1] * j + row[2] * k + row[3], size[axis]);
          inside &= at[axis].inside;
        }
        *out = inside ? interpolate(values, size, at) : std::numeric_limits<double>::quiet_NaN();
      }
}

}  // namespace

void resample(const float* values, const GridSize& size, const GridMap& map,
              const GridSize& new_size, double* out) {
  resample_values(values, size, map, new_size, out);
}

void resample(const double* values, const GridSize& size, const GridMap& map,
              const GridSize& new_size, double* out) {
  resample_values(values, size, map, new_size, out);
}

}  // namespace n2gfl
