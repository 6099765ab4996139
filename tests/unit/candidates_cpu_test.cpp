// What PoCL makes of the kernels for CPUs: where the processor has registers of 64 bytes, whole cache lines fill them.
#include "ops_support.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>

namespace axisloom::ops_test {
namespace {

namespace fs = std::filesystem;

/// Machine code of every kernel "block" in PoCL's cache, which is private to the tests.
std::set<fs::path> compiled_blocks() {
  std::set<fs::path> found;
  const char* const folder = std::getenv("POCL_CACHE_DIR");
  if (!folder || !fs::exists(folder)) return found;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().filename() == "block.so") found.insert(entry.path());
  return found;
}

std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  std::array<char, 4096> part;
  while (pipe && fgets(part.data(), part.size(), pipe.get())) text += part.data();
  return text;
}

bool has_avx512() {
#ifdef __x86_64__
  return __builtin_cpu_supports("avx512f") != 0;
#else
  return false;
#endif
}

TEST(CandidatesCpu, BlocksAreTurnedInWholeRegisters) {
  if (!has_avx512()) GTEST_SKIP() << "this processor has no AVX-512";
  if (real_device().info().platform != "Portable Computing Language") GTEST_SKIP() << "PoCL is not the device";
  if (output_of("objdump --version 2> /dev/null").empty()) GTEST_SKIP() << "objdump is not installed";
  const NoDiskCache memory_only;
  const std::set<fs::path> before = compiled_blocks();
  PlanOptions options;
  options.candidate = "block";
  options.configuration = {{"lines_in", 16},
                           {"lines_out", 16}};  // as nobody else asks for, so that it is compiled here
  const View view = View::contiguous(Dtype::f32, {256, 256});
  const Bytes in = random_bytes(buffer_bytes(view), 1), out(in.size());
  EXPECT_EQ(after_run(plan(transpose(), std::array{view}, real_device(), options), in, out),
            after_oracle(transpose(), {view, view}, in, out));
  int compiled = 0;
  for (const fs::path& path : compiled_blocks()) {
    if (before.contains(path)) continue;
    ++compiled;
    EXPECT_NE(output_of("objdump -d '" + path.string() + "'").find("%zmm"), std::string::npos) << path;
  }
  if (compiled == 0) GTEST_SKIP() << "PoCL's cache had it from an earlier run";
}

// What large arrays would do: whole lines past the cache, and the rest of a row, which may begin anywhere, by itself.
TEST(CandidatesCpu, LinesAreStreamedPastTheCache) {
  if (real_device().info().kind != Kind::cpu) GTEST_SKIP() << "the device is no CPU";
  const auto expect_right = [](const char* candidate, const Operation& op, Dtype dtype, const Dims& shape) {
    PlanOptions options;
    options.candidate = candidate;
    options.configuration = {{"stream_mib", 0}};
    const View view = View::contiguous(dtype, shape);
    const Bytes in = random_bytes(buffer_bytes(view), 1), out(in.size());
    const View result = with_result(op, view).back();
    EXPECT_EQ(after_run(plan(op, std::array{view}, real_device(), options), in, out),
              after_oracle(op, {view, result}, in, out))
        << candidate << " " << name(dtype);
  };
  for (const Dtype dtype : {Dtype::u8, Dtype::f32}) {
    expect_right("block", transpose(), dtype, {150, 140});
    expect_right("interleave_cpu", rearrange("h w c -> c h w"), dtype, {37, 41, 3});
    expect_right("interleave_cpu", rearrange("h w c -> c h w"), dtype, {32, 40, 8});
    expect_right("interleave_cpu", rearrange("c h w -> h w c"), dtype, {8, 37, 40});
  }
}

}  // namespace
}  // namespace axisloom::ops_test
