// A matrix by columns in a file: values of one type, in this machine's order of bytes, after some
// bytes that are left out. The value of a stored number v is slope * v + intercept, as in NIfTI
// files.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "data/storage.hpp"

namespace n2gfl {

enum class StoredType { float64, float32, int32, int16, uint16, uint8 };

int bytes_of(StoredType type);

struct MatrixFile {
  std::string path;
  StoredType type = StoredType::float64;
  int rows = 0, cols = 0;
  std::uint64_t offset = 0;  // a multiple of the type's bytes
  double slope = 1.0, intercept = 0.0;
  bool has_missing = false;
  double missing = 0.0;  // the stored number that means that a value is not known

  std::uint64_t size() const;  // of the file, in bytes
};

// Maps the file, for as long as the storage lives; see MappedFile for what it throws.
std::shared_ptr<const Storage> mapped_storage(const MatrixFile& matrix);

}  // namespace n2gfl
