// What the tests of file formats share: a folder that vanishes, whole files as strings, and expected errors.
#pragma once

#include <algorithm>
#include <axisloom/error.hpp>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "io/io.hpp"

namespace axisloom::io_support {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "axisloom_io_XXXXXX").string();
    if (!::mkdtemp(pattern.data())) throw std::runtime_error("no temporary folder");
    folder_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string operator/(const std::string& name) const { return (folder_ / name).string(); }

  /// Writes a file of these bytes; its path.
  std::string put(const std::string& name, const std::string& bytes) const {
    const std::string path = *this / name;
    std::ofstream file(path, std::ios::binary);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path;
  }

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) all.push_back(entry.path().filename());
    std::ranges::sort(all);
    return all;
  }

 private:
  std::filesystem::path folder_;
};

inline std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

/// Expects `act` to throw Error(code) whose text has every one of `words`.
template <class Act>
void expect_error(Errc code, const std::vector<std::string>& words, const Act& act) {
  try {
    act();
    ADD_FAILURE() << "no error; expected one with '" << words.front() << "'";
  } catch (const Error& error) {
    EXPECT_EQ(name(error.code()), name(code)) << error.what();
    for (const std::string& word : words) {
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << "no '" << word << "' in: " << error.what();
    }
  }
}

/// Expects that reading `path` fails with Error(file) naming the file and all `words`.
inline void expect_unreadable(const std::string& path, std::vector<std::string> words,
                              const io::ReadOptions& options = {}) {
  words.push_back(path);
  expect_error(Errc::file, words, [&] { io::read(path, options); });
}

/// The bytes of values in this machine's order.
template <class T>
std::string raw_bytes(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// A dense array holding these bytes.
inline io::HostArray array_of(Dtype dtype, const Dims& shape, const std::string& bytes) {
  io::HostArray array = io::HostArray::allocate(View::contiguous(dtype, shape));
  EXPECT_EQ(array.bytes, bytes.size());
  if (!bytes.empty()) std::memcpy(array.memory.get(), bytes.data(), bytes.size());
  return array;
}

inline std::string memory_of(const io::HostArray& array) {
  return std::string(reinterpret_cast<const char*>(array.memory.get()), array.bytes);
}

}  // namespace axisloom::io_support
