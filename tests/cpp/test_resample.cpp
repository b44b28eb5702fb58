// Volumes on another grid: exact for voxels in another order, linear in between, NaN outside.
#include "check.hpp"

#include "data/resample.hpp"

#include <cmath>
#include <limits>
#include <vector>

namespace {

const n2gfl::GridSize kSize = {4, 3, 5};

std::vector<float> values() {
  std::vector<float> all(60);
  for (int k = 0; k < 60; ++k) all[k] = static_cast<float>(std::sin(3 * k));
  return all;
}

std::vector<double> resampled(const std::vector<float>& from, const n2gfl::GridMap& map,
                              const n2gfl::GridSize& size) {
  std::vector<double> to(static_cast<std::size_t>(size[0]) * size[1] * size[2]);
  n2gfl::resample(from.data(), kSize, map, size, to.data());
  return to;
}

}  // namespace

TEST(resample_copies_voxels_in_another_order) {
  const auto from = values();
  // The second axis first and backwards, a bit off as floats are.
  const n2gfl::GridMap map = {{{0, 1, 0, 1e-5}, {-1, 0, 0, 2 - 1e-5}, {0, 0, 1.000001, 0}}};
  const auto to = resampled(from, map, {3, 4, 5});
  for (int k = 0; k < 5; ++k)
    for (int j = 0; j < 4; ++j)
      for (int i = 0; i < 3; ++i) CHECK(to[i + 3 * j + 12 * k] == from[j + 4 * (2 - i) + 12 * k]);
}

TEST(resample_is_exact_for_linear_images) {
  std::vector<float> from(60);
  for (int v = 0; v < 60; ++v) {
    const int x = v % 4, y = v / 4 % 3, z = v / 12;
    from[v] = static_cast<float>(2 * x - y + 0.5 * z);
  }
  const n2gfl::GridMap map = {{{0.5, 0.1, 0, 0.2}, {0, 0.5, 0.1, 0.1}, {0.1, 0, 0.5, 0.3}}};
  const auto to = resampled(from, map, {5, 3, 5});
  for (int k = 0; k < 5; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 5; ++i) {
        const double x = 0.5 * i + 0.1 * j + 0.2, y = 0.5 * j + 0.1 * k + 0.1;
        const double z = 0.1 * i + 0.5 * k + 0.3;
        CHECK(std::abs(to[i + 5 * j + 15 * k] - (2 * x - y + 0.5 * z)) < 1e-6);
      }
}

TEST(resample_ends_half_a_voxel_beyond_the_last) {
  const auto from = values();
  const n2gfl::GridMap map = {{{0.25, 0, 0, -0.75}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
  const auto to = resampled(from, map, {20, 1, 1});
  CHECK(std::isnan(to[0]) && to[1] == from[0] && to[3] == from[0]);
  CHECK(to[15] == from[3] && to[17] == from[3] && std::isnan(to[18]));
}

TEST(resample_reads_no_voxel_without_weight) {
  auto from = values();
  from[1] = std::numeric_limits<float>::infinity();
  const n2gfl::GridMap map = {{{0.5, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
  const auto to = resampled(from, map, {7, 1, 1});
  CHECK(to[0] == from[0]);
  for (int k = 1; k < 4; ++k) CHECK(!std::isfinite(to[k]));
  CHECK(to[4] == from[2] && to[6] == from[3]);
}
