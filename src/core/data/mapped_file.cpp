#include "data/mapped_file.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#ifdef _WIN32
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
#else
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace n2gfl {

namespace {

void check_size(std::uint64_t found, std::uint64_t expected) {
  if (found != expected) throw FileOfOtherSize(found);
  if (found == 0 || found > std::numeric_limits<std::size_t>::max()) throw FileNotMapped();
}

#ifdef _WIN32

// Closes a handle when the block ends.
struct Handle {
  explicit Handle(HANDLE value) : value(value) {}
  ~Handle() {
    if (valid()) CloseHandle(value);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  bool valid() const { return value != nullptr && value != INVALID_HANDLE_VALUE; }
  HANDLE value;
};

std::wstring wide(const std::string& utf8) {
  const int size = MultiByteToWideChar(CP_UTF8, 0, utf8.c_str(), -1, nullptr, 0);
  std::wstring text(static_cast<std::size_t>(size > 0 ? size : 1), L'\0');
  MultiByteToWideChar(CP_UTF8, 0, utf8.c_str(), -1, &text[0], size);
  return text;
}

void* map_file(const std::string& path, std::uint64_t size) {
  const Handle file(CreateFileW(wide(path).c_str(), GENERIC_READ,
                                FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                                OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr));
  LARGE_INTEGER found;
  if (!file.valid() || !GetFileSizeEx(file.value, &found)) throw FileMissing();
  check_size(static_cast<std::uint64_t>(found.QuadPart), size);
  const Handle mapping(CreateFileMappingW(file.value, nullptr, PAGE_READONLY, 0, 0, nullptr));
  void* start = mapping.valid() ? MapViewOfFile(mapping.value, FILE_MAP_READ, 0, 0, 0) : nullptr;
  if (start == nullptr) throw FileNotMapped();
  return start;
}

void unmap_file(void* start, std::uint64_t) { UnmapViewOfFile(start); }

#else

// Closes a file when the block ends; its mapping stays.
struct Descriptor {
  explicit Descriptor(int value) : value(value) {}
  ~Descriptor() {
    if (value >= 0) close(value);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int value;
};

void* map_file(const std::string& path, std::uint64_t size) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat found {};
  if (file.value < 0 || fstat(file.value, &found) != 0 || !S_ISREG(found.st_mode))
    throw FileMissing();
  check_size(static_cast<std::uint64_t>(found.st_size), size);
  void* start = mmap(nullptr, static_cast<std::size_t>(size), PROT_READ, MAP_SHARED, file.value, 0);
  if (reinterpret_cast<std::intptr_t>(start) == -1) throw FileNotMapped();  // MAP_FAILED
  return start;
}

void unmap_file(void* start, std::uint64_t size) { munmap(start, static_cast<std::size_t>(size)); }

#endif

}  // namespace

MappedFile::MappedFile(const std::string& path, std::uint64_t size)
    : start_(map_file(path, size)), size_(size) {}

MappedFile::~MappedFile() { unmap_file(start_, size_); }

}  // namespace n2gfl
