// For tests of the program cache: a folder of one's own for each, and what is asked of it.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "counting_device.hpp"
#include "jit/jit.hpp"
#include "jit/program_cache.hpp"

namespace axisloom::jit::cache_test {

namespace fs = std::filesystem;
using test::CountingDevice;
using test::LoggedLines;
using test::TemporaryFolder;
using test::Variable;

inline constexpr const char* group = "64";

inline device::BuildRequest request_for(const std::string& source, std::vector<std::string> options = {"-Werror"}) {
  return {"test/kernel", source, std::move(options)};
}

inline std::string source_number(int i) {
  return "kernel " + std::to_string(i) + std::string(200, '.');
}

inline std::string text_of(const std::shared_ptr<device::Program>& program) {
  return dynamic_cast<test::TextProgram&>(*program).text;
}

inline CacheStats operator-(const CacheStats& a, const CacheStats& b) {
  return {a.memory_hits - b.memory_hits, a.disk_hits - b.disk_hits, a.compiles - b.compiles, a.damaged - b.damaged,
          a.stored - b.stored};
}

/// Every test starts with an empty folder of its own and nothing in memory.
class Cache : public testing::Test {
 protected:
  Cache() { forget_programs(); }
  ~Cache() override { forget_programs(); }

  void use_folder(const std::string& value) {
    cache_dir_.set(value);
    forget_programs();
  }
  void limit_bytes(const std::string& value) {
    cache_bytes_.set(value);
    forget_programs();
  }
  CacheStats since_start() const { return cache_stats() - start_; }
  /// A file that nobody else can write to.
  static void write_own(const fs::path& file, const std::string& text) {
    test::write_file(file, text);
    fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  }

  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder_.path())) found.push_back(entry.path());
    return found;
  }

  TemporaryFolder folder_;

 private:
  Variable cache_dir_{"AXISLOOM_CACHE_DIR", folder_.path().string()};
  Variable cache_bytes_{"AXISLOOM_CACHE_BYTES", std::nullopt};

 protected:
  CacheStats start_ = cache_stats();
};

}  // namespace axisloom::jit::cache_test
