// A file that is removed when the test ends.
#pragma once

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

namespace testing {

class TemporaryFile {
 public:
  // In the current folder, with these numbers after `offset` bytes.
  template <class T>
  explicit TemporaryFile(const std::vector<T>& values, std::size_t offset = 0)
      : path_("mapped-" + std::to_string(next()++) + ".tmp") {
    std::ofstream out(path_, std::ios::binary);
    out << std::string(offset, 'x');
    out.write(reinterpret_cast<const char*>(values.data()),
              static_cast<std::streamsize>(values.size() * sizeof(T)));
  }
  ~TemporaryFile() { std::remove(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  static int& next() {
    static int number = 0;
    return number;
  }
  std::string path_;
};

}  // namespace testing
