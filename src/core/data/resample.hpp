// The values of a volume at the voxels of another grid, by trilinear interpolation. A grid is the
// size of an array whose first index runs fastest; `map` takes indices of the new grid to indices
// of the old one, both counted from 0. Where the new voxels are old ones in another order, as in an
// image that is stored from right to left, values are copied exactly.
#pragma once

#include <array>

namespace n2gfl {

using GridSize = std::array<int, 3>;
using GridMap = std::array<std::array<double, 4>, 3>;

// Writes NaN outside of the old grid's field of view.
void resample(const float* values, const GridSize& size, const GridMap& map,
              const GridSize& new_size, double* out);
void resample(const double* values, const GridSize& size, const GridMap& map,
              const GridSize& new_size, double* out);

}  // namespace n2gfl
