// A file in memory: the system reads its pages when they are used and may drop them again. All
// processes that map one file share its pages. The file is never written.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace n2gfl {

struct FileMissing : std::runtime_error {
  FileMissing() : std::runtime_error("the file cannot be opened") {}
};

struct FileOfOtherSize : std::runtime_error {
  explicit FileOfOtherSize(std::uint64_t size)
      : std::runtime_error("the file has another size"), size(size) {}
  std::uint64_t size;  // what it has
};

struct FileNotMapped : std::runtime_error {
  FileNotMapped() : std::runtime_error("the file cannot be mapped into memory") {}
};

class MappedFile {
 public:
  // The size is checked, because reading beyond the end of a file ends the process. `path` is in
  // UTF-8 on Windows, elsewhere as the system writes it.
  MappedFile(const std::string& path, std::uint64_t size);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // The bytes from `offset` on.
  const void* from(std::uint64_t offset) const { return static_cast<const char*>(start_) + offset; }

 private:
  void* start_;
  std::uint64_t size_;
};

}  // namespace n2gfl
