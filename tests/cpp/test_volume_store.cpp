// Images that are copied into a matrix: all wanted values come out unchanged, and no others.
#include "check.hpp"

#include "volume_store.h"

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

namespace {

// Different in every image and voxel, exact as float.
double value(int image, int voxel) { return image * 0.25 + voxel; }

template <class Value, class Given>
void check_store(int images, int voxels) {
  n2gfl::VolumeStore<Value> store(images, voxels, 1000 * sizeof(Value));
  std::vector<int> index(voxels);
  for (int j = 0; j < voxels; ++j) index[j] = 2 * j + 1;
  for (int i = 0; i < images; ++i) {
    std::vector<Given> values(2 * voxels, -5);  // every other value is not requested
    for (int j = 0; j < voxels; ++j) values[2 * j] = static_cast<Given>(value(i, j));
    values[2] = 7;  // the same in all images
    if (i < 2) values[4] = std::numeric_limits<Given>::quiet_NaN();
    CHECK(store.add(values.data(), index.data(), i == 0) == (i < 2));
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
    for (int images : {3, 8, 9, 16, 20}) {            // and of the buffer
      check_store<double, double>(images, voxels);
      check_store<double, float>(images, voxels);
      check_store<float, float>(images, voxels);
      check_store<float, double>(images, voxels);
    }
  }
}
