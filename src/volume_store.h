// The values of many images at some voxels, stored while the images are read one by one, before it
// is known which voxels will be kept. Each block of voxels is freed as soon as it is copied out,
// so the store and the result together never need more than the larger of the two plus one block.
// Values are stored as float if every value is exactly a float.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <vector>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace n2gfl {

// Returns freed memory to the system; glibc would keep it.
inline void return_freed_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

class VolumeStoreBase {
 public:
  virtual ~VolumeStoreBase() = default;
  // Adds the values of the next image at `index`, counted from 1. Returns how many of them are not
  // finite; these become 0 if `zero`.
  virtual int add(const float* values, const int* index, bool zero) = 0;
  virtual int add(const double* values, const int* index, bool zero) = 0;
  // Per voxel: whether it varies over the images, and how many of its values are not finite. Per
  // image the same count, over the voxels in `wanted`. All images must have been added.
  virtual void scan(std::vector<char>& varies, std::vector<int>& bad) const = 0;
  virtual int count_bad(int image, const std::vector<char>& wanted) const = 0;
  // Copies the kept voxels to the columns of `out` and empties the store.
  virtual void take(const std::vector<char>& keep, double* out) = 0;
  virtual int images() const = 0;
  virtual int voxels() const = 0;
};

template <class Value>
class VolumeStore : public VolumeStoreBase {
 public:
  VolumeStore(int images, int voxels, std::size_t block_bytes = 8 << 20)
      : images_(images), voxels_(voxels),
        block_(static_cast<int>(std::min<std::size_t>(
            1 << 30, 1 + block_bytes / (sizeof(Value) * std::max(1, images))))) {}

  int images() const override { return images_; }
  int voxels() const override { return voxels_; }

  int add(const float* values, const int* index, bool zero) override {
    return add_values(values, index, zero);
  }
  int add(const double* values, const int* index, bool zero) override {
    return add_values(values, index, zero);
  }

  void scan(std::vector<char>& varies, std::vector<int>& bad) const override {
    varies.assign(voxels_, 0);
    bad.assign(voxels_, 0);
    for (int j = 0; j < voxels_; ++j) {
      const Value* x = voxel(j);
      bool differs = false;
      int not_finite = 0;
      for (int i = 0; i < images_; ++i) {
        differs |= x[i] != x[0];
        not_finite += !std::isfinite(x[i]);
      }
      varies[j] = differs;
      bad[j] = not_finite;
    }
  }

  int count_bad(int image, const std::vector<char>& wanted) const override {
    int count = 0;
    for (int j = 0; j < voxels_; ++j) count += wanted[j] && !std::isfinite(voxel(j)[image]);
    return count;
  }

  void take(const std::vector<char>& keep, double* out) override {
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      for (int k = 0; k < block_size(b); ++k) {
        if (!keep[b * block_ + k]) continue;
        const Value* x = blocks_[b].get() + static_cast<std::size_t>(k) * images_;
        out = std::copy(x, x + images_, out);
      }
      blocks_[b].reset();
      return_freed_memory();
    }
    voxels_ = 0;
    blocks_.clear();
  }

 private:
  // So many images are collected before their values are written to the voxels: the values of two
  // voxels are far apart in memory, and each access costs as much as writing several values.
  static constexpr int kWaiting = 8;

  template <class Given>
  int add_values(const Given* values, const int* index, bool zero) {
    const std::size_t size = voxels_;
    if (waiting_.empty()) waiting_.resize(size * std::min(kWaiting, images_));
    Value* to = waiting_.data() + size * (added_ % kWaiting);
    int bad = 0;
    for (int j = 0; j < voxels_; ++j) {
      Given value = values[index[j] - 1];
      if (!std::isfinite(value)) {
        ++bad;
        if (zero) value = 0;
      }
      to[j] = static_cast<Value>(value);
    }
    ++added_;
    if (added_ == images_ || added_ % kWaiting == 0) spread();
    return bad;
  }

  // From the collected images to the voxels.
  void spread() {
    if (blocks_.empty()) make_blocks();
    const int first = (added_ - 1) / kWaiting * kWaiting;
    const int count = added_ - first;
    for (int j = 0; j < voxels_; ++j) {
      Value* to = voxel(j) + first;
      const Value* from = waiting_.data() + j;
      for (int i = 0; i < count; ++i, from += voxels_) to[i] = *from;
    }
    if (added_ == images_) std::vector<Value>().swap(waiting_);
  }

  // At the first images, not in the constructor: until then the caller may use the memory.
  void make_blocks() {
    const std::size_t blocks = (static_cast<std::size_t>(voxels_) + block_ - 1) / block_;
    for (std::size_t b = 0; b < blocks; ++b)
      blocks_.emplace_back(new Value[static_cast<std::size_t>(images_) * block_size(b)]);
  }

  int block_size(std::size_t b) const {
    return static_cast<int>(std::min<std::size_t>(block_, voxels_ - b * block_));
  }
  Value* voxel(int j) const {
    return blocks_[j / block_].get() + static_cast<std::size_t>(j % block_) * images_;
  }

  int images_, voxels_;
  int block_;      // voxels per block
  int added_ = 0;  // images added so far
  std::vector<Value> waiting_;
  std::vector<std::unique_ptr<Value[]>> blocks_;
};

}  // namespace n2gfl
