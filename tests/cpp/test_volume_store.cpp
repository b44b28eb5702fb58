// Images on their way into a matrix: what is put in comes out, and only what is wanted.
#include "check.hpp"

#include <n2gfl/volume_store.hpp>

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

namespace {

// Different in every image and voxel, exact as float.
double value(int image, int voxel) { return image * 0.25 + voxel; }

template <class Value>
void check_store(int images, int voxels) {
  n2gfl::VolumeStore<Value> store(images, voxels, 1000 * sizeof(Value));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (int i = 0; i < images; ++i) {
    std::vector<double> values(voxels);
    for (int j = 0; j < voxels; ++j) values[j] = value(i, j);
    values[1] = 7;               // the same in all images
    if (i == 1) values[2] = nan;
    store.put(i, values.data());
  }
  std::vector<char> varies, keep(voxels);
  std::vector<int> bad;
  store.scan(varies, bad);
  CHECK(!varies[1] && varies[0] && bad[2] == 1 && bad[0] == 0);
  CHECK(store.count_bad(1, std::vector<char>(voxels, 1)) == 1);
  CHECK(store.count_bad(0, std::vector<char>(voxels, 1)) == 0);
  CHECK(store.count_bad(1, std::vector<char>(voxels, 0)) == 0);
  for (int j = 0; j < voxels; ++j) keep[j] = varies[j] && bad[j] == 0 && j % 3 == 0;
  std::vector<double> x(static_cast<std::size_t>(images) * voxels, -1);
  store.take(keep, x.data());
  std::size_t at = 0;
  for (int j = 0; j < voxels; ++j)
    for (int i = 0; keep[j] && i < images; ++i) CHECK(x[at++] == value(i, j));
  CHECK(at == x.size() || x[at] == -1);
  CHECK(store.voxels() == 0);
}

}  // namespace

TEST(volume_store_gives_back_what_is_wanted) {
  for (int voxels : {4, 100, 333, 334, 335, 2000}) {  // around the size of a block
    check_store<double>(3, voxels);
    check_store<float>(3, voxels);
  }
}
