#include "data/mapped_storage.hpp"

#include <cstdint>
#include <memory>

#include "data/dense_storage.hpp"
#include "data/mapped_file.hpp"

namespace n2gfl {

namespace {

template <class T>
std::shared_ptr<const Storage> storage_of(const MatrixFile& matrix) {
  const auto file = std::make_shared<const MappedFile>(matrix.path, matrix.size());
  const T* values = static_cast<const T*>(file->from(matrix.offset));
  const auto with = [&](auto meaning) -> std::shared_ptr<const Storage> {
    return std::make_shared<DenseStorage<T, decltype(meaning)>>(values, matrix.rows, matrix.cols,
                                                               meaning, file);
  };
  if (matrix.has_missing)
    return with(ScaledOrMissing<T>{matrix.slope, matrix.intercept, matrix.missing});
  if (matrix.slope == 1 && matrix.intercept == 0) return with(AsStored<T>());
  return with(Scaled<T>{matrix.slope, matrix.intercept});
}

}  // namespace

int bytes_of(StoredType type) {
  switch (type) {
    case StoredType::float64: return 8;
    case StoredType::float32:
    case StoredType::int32: return 4;
    case StoredType::int16:
    case StoredType::uint16: return 2;
    case StoredType::uint8: break;
  }
  return 1;
}

std::uint64_t MatrixFile::size() const {
  return offset + static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(cols) *
                      static_cast<std::uint64_t>(bytes_of(type));
}

std::shared_ptr<const Storage> mapped_storage(const MatrixFile& matrix) {
  switch (matrix.type) {
    case StoredType::float64: return storage_of<double>(matrix);
    case StoredType::float32: return storage_of<float>(matrix);
    case StoredType::int32: return storage_of<std::int32_t>(matrix);
    case StoredType::int16: return storage_of<std::int16_t>(matrix);
    case StoredType::uint16: return storage_of<std::uint16_t>(matrix);
    case StoredType::uint8: break;
  }
  return storage_of<std::uint8_t>(matrix);
}

}  // namespace n2gfl
