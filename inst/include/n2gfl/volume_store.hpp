// The values of many images at some voxels while they are read, one image after the other, before it
// is known which voxels will be kept. Blocks of voxels are given back as soon as they are copied out,
// so that store and result together never need more than the larger of them plus a block. Stored as
// float when every value is one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace n2gfl {

class VolumeStoreBase {
 public:
  virtual ~VolumeStoreBase() = default;
  virtual void put(int image, const double* values) = 0;
  // Per voxel: does it vary over the images; how many of its values are not finite. Per image the same
  // count, over the voxels of `wanted`.
  virtual void scan(std::vector<char>& varies, std::vector<int>& bad) const = 0;
  virtual int count_bad(int image, const std::vector<char>& wanted) const = 0;
  // The kept voxels as the columns of `out`; the store is empty afterwards.
  virtual void take(const std::vector<char>& keep, double* out) = 0;
  virtual int images() const = 0;
  virtual int voxels() const = 0;
};

template <class Value>
class VolumeStore : public VolumeStoreBase {
 public:
  // A block of more than 32 MB is memory of its own, which goes back to the system when it is freed.
  VolumeStore(int images, int voxels, std::size_t block_bytes = 40 << 20)
      : images_(images), voxels_(voxels),
        block_(static_cast<int>(std::min<std::size_t>(
            1 << 30, 1 + block_bytes / (sizeof(Value) * std::max(1, images))))) {
    const std::size_t blocks = (static_cast<std::size_t>(voxels) + block_ - 1) / block_;
    for (std::size_t b = 0; b < blocks; ++b)
      blocks_.emplace_back(static_cast<std::size_t>(images) * block_size(b));
  }

  int images() const override { return images_; }
  int voxels() const override { return voxels_; }

  void put(int image, const double* values) override {
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      Value* at = blocks_[b].data() + image;
      for (int k = 0; k < block_size(b); ++k, at += images_) *at = static_cast<Value>(*values++);
    }
  }

  void scan(std::vector<char>& varies, std::vector<int>& bad) const override {
    varies.assign(voxels_, 0);
    bad.assign(voxels_, 0);
    for (int j = 0; j < voxels_; ++j) {
      const Value* x = voxel(j);
      for (int i = 0; i < images_; ++i) {
        if (x[i] != x[0]) varies[j] = 1;
        if (!std::isfinite(x[i])) ++bad[j];
      }
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
        const Value* x = blocks_[b].data() + static_cast<std::size_t>(k) * images_;
        out = std::copy(x, x + images_, out);
      }
      std::vector<Value>().swap(blocks_[b]);
    }
    voxels_ = 0;
    blocks_.clear();
  }

 private:
  int block_size(std::size_t b) const {
    return static_cast<int>(std::min<std::size_t>(block_, voxels_ - b * block_));
  }
  const Value* voxel(int j) const {
    return blocks_[j / block_].data() + static_cast<std::size_t>(j % block_) * images_;
  }

  int images_, voxels_;
  int block_;  // voxels in a block
  std::vector<std::vector<Value>> blocks_;
};

}  // namespace n2gfl
