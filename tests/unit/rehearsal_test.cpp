// Rehearsals: when fresh programs are launched without work, with what, and that no run compiles anything afterwards.
#include "jit/rehearsal.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "opencl_interposer.hpp"
#include "ops_support.hpp"
#include "own_process.hpp"

namespace axisloom::jit {
namespace {

using ops_test::PretendedDevice;

Specialisation any_kernel(unsigned items = 1) {
  Specialisation what;
  what.file = "rearrange/plain.kernel";
  what.kernel = "plain";
  what.items = items;
  what.defines.set("ELEMENT", "u8").set("ELEMENT_BYTES", 1).set("RANK", 2).set("INDEX_BITS", 32);
  what.defines.set("AXL_PARAMS_SIZE", 48);
  return what;
}

DeviceInfo info_of(Api api, const std::string& platform) {
  DeviceInfo info;
  info.api = api;
  info.platform = platform;
  return info;
}

class Rehearsals : public testing::Test {
 protected:
  Rehearsals() { forget_programs(); }
  ~Rehearsals() override { forget_programs(); }
  std::uint64_t stored() const { return cache_stats().stored - before_; }

  PretendedDevice pocl_{ops_test::cpu_info()};
  test::TemporaryFolder folder_;
  test::Variable cache_dir_{"AXISLOOM_CACHE_DIR", folder_.path().string()};
  std::uint64_t before_ = cache_stats().stored;
};

TEST_F(Rehearsals, WhatIsStoredIsTheBinaryAfterTheRehearsal) {
  pocl_.added_by_launches = " with all that launches compile";
  const auto program = obtain(pocl_, any_kernel(), {.groups = 10, .buffers = 2, .params_bytes = 48});
  ASSERT_EQ(pocl_.launches.size(), 1u);
  EXPECT_EQ(pocl_.launches[0].kernel, "plain");
  EXPECT_EQ(pocl_.launches[0].geometry.groups, 1u);
  EXPECT_EQ(pocl_.launches[0].geometry.items, 1u);
  EXPECT_TRUE(pocl_.launches[0].geometry.rehearsal);
  EXPECT_EQ(pocl_.launches[0].argument_sizes, (std::vector<std::size_t>{8, 8, 8, 8, 48}));
  EXPECT_EQ(stored(), 1u);
  EXPECT_EQ(cache_folder().entries, 1u);

  forget_programs();
  const auto again = obtain(pocl_, any_kernel(), {.groups = 10, .buffers = 2, .params_bytes = 48});
  EXPECT_EQ(dynamic_cast<test::TextProgram&>(*again).text, dynamic_cast<test::TextProgram&>(*program).text);
  EXPECT_EQ(pocl_.loads, 1);
  EXPECT_EQ(pocl_.launches.size(), 1u) << "what comes from the disk is complete";
  EXPECT_EQ(stored(), 1u);
}

TEST_F(Rehearsals, CheckedKernelsTakeLengthsAndTheLogAsWell) {
  Specialisation what = any_kernel();
  what.checked = true;
  obtain(pocl_, what, {.buffers = 2, .params_bytes = 48});
  ASSERT_EQ(pocl_.launches.size(), 1u);
  EXPECT_EQ(pocl_.launches[0].argument_sizes, (std::vector<std::size_t>{8, 8, 8, 8, 8, 8, 8, 48}));
}

TEST_F(Rehearsals, PoclHasAProgramForWideGrids) {
  const auto narrow = obtain(pocl_, any_kernel(), {.groups = 65534});
  EXPECT_EQ(obtain(pocl_, any_kernel(), {.groups = 1}), narrow);
  const auto wide = obtain(pocl_, any_kernel(), {.groups = 65535});
  EXPECT_NE(wide, narrow);
  EXPECT_EQ(obtain(pocl_, any_kernel(), {.groups = std::uint64_t{1} << 40}), wide);
  ASSERT_EQ(pocl_.launches.size(), 2u);
  EXPECT_EQ(pocl_.launches[1].geometry.groups, 65535u);
  forget_programs();
  obtain(pocl_, any_kernel(), {.groups = 1});
  obtain(pocl_, any_kernel(), {.groups = 70000});
  EXPECT_EQ(pocl_.loads, 2) << "each has an entry of its own";
}

// Returning before a barrier corrupts PoCL's heap, so they compile at their first launch.
TEST_F(Rehearsals, GroupsOfSeveralItemsHaveNoneAndAreStoredAsTheyAreBuilt) {
  const jit::LaunchForm form{.groups = 10, .buffers = 2, .params_bytes = 48};
  obtain(pocl_, any_kernel(64), form);
  EXPECT_TRUE(pocl_.launches.empty());
  EXPECT_EQ(stored(), 1u);
  EXPECT_EQ(cache_folder().entries, 1u);
  forget_programs();
  obtain(pocl_, any_kernel(64), form);
  EXPECT_EQ(pocl_.builds(), 1);
  EXPECT_EQ(pocl_.loads, 1);
  EXPECT_EQ(stored(), 1u);
}

TEST_F(Rehearsals, OnlyPoclHasThem) {
  EXPECT_TRUE(rehearses(info_of(Api::opencl, "Portable Computing Language"), 1));
  EXPECT_FALSE(rehearses(info_of(Api::opencl, "Portable Computing Language"), 2));
  EXPECT_FALSE(rehearses(info_of(Api::opencl, "Intel(R) OpenCL"), 1));
  EXPECT_FALSE(rehearses(info_of(Api::cuda, "NVIDIA CUDA"), 1));
  std::uint64_t devices = 0;
  for (const Api api : {Api::opencl, Api::cuda}) {
    for (const unsigned items : {1u, 64u}) {
      PretendedDevice card(ops_test::gpu_info(api));
      obtain(card, any_kernel(items), {});
      EXPECT_TRUE(card.launches.empty());
      EXPECT_EQ(stored(), ++devices) << "what is built is complete";
      // A kernel that does not return from a rehearsal must never see one, and the other way round.
      for (const std::string& option : build_options(card.info())) EXPECT_NE(option, rehearsal_option);
      clear_cache_folder();
    }
  }
}

TEST_F(Rehearsals, WhatFailsIsToldAndTriedAgain) {
  pocl_.queue_error = Errc::device;
  EXPECT_THROW(obtain(pocl_, any_kernel(), {}), Error);
  EXPECT_EQ(stored(), 0u);
  pocl_.queue_error.reset();
  obtain(pocl_, any_kernel(), {});
  EXPECT_EQ(pocl_.builds(), 2);
  EXPECT_EQ(stored(), 1u);
}

/// Everything below the folders in which compiled programs are kept, with the times of the last changes.
std::map<std::string, std::filesystem::file_time_type> kept_programs() {
  std::map<std::string, std::filesystem::file_time_type> kept;
  for (const char* variable : {"POCL_CACHE_DIR", "AXISLOOM_CACHE_DIR"}) {
    const char* const folder = std::getenv(variable);
    if (folder == nullptr || !std::filesystem::is_directory(folder)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
      kept[entry.path().string()] = entry.last_write_time();
  }
  return kept;
}

struct Planned {
  Operation op;
  std::vector<View> in;
  PlanOptions options;
};

/// What CPUs are given: a kernel of one launch, one whose accesses are checked, and a product of two launches.
std::vector<Planned> to_be_planned() {
  PlanOptions checked;
  checked.checked = true;
  const View matrix = View::contiguous(Dtype::i32, {24, 24});
  return {{transpose(), {View::contiguous(Dtype::u8, {40, 50})}, {}},
          {transpose(), {View::contiguous(Dtype::u16, {40, 50})}, checked},
          {matmul(), {matrix, matrix}, {}}};
}

void expect_runs_to_compile_nothing() {
  const Device device = ops_test::real_device();
  const Queue queue = device.queue();
  for (const Planned& planned : to_be_planned()) {
    const Plan made = plan(planned.op, planned.in, device, planned.options);
    std::vector<Buffer> buffers;
    for (const View& view : made.views())
      buffers.push_back(device.allocate(static_cast<std::size_t>(ops_test::buffer_bytes(view))));
    queue.finish();
    const auto before = kept_programs();
    std::map<std::string, int> calls;
    {
      const test::Interposer interposer;
      for (int run = 0; run < 2; ++run) made.run(queue, buffers).wait();
      calls = interposer.calls();
    }
    for (const char* call : {"clGetProgramInfo", "clBuildProgram", "clCreateProgramWithBinary"})
      EXPECT_EQ(calls[call], 0) << call << " by " << to_string(planned.op) << " " << planned.options.candidate;
    EXPECT_TRUE(kept_programs() == before) << "a run of " << to_string(planned.op) << " compiled";
    EXPECT_GE(calls["clEnqueueNDRangeKernel"], 2);
  }
}

TEST(PlansCompileAll, DISABLED_InAProcessWithEmptyFolders) {
  expect_runs_to_compile_nothing();
  test::end_alone();
}

TEST(PlansCompileAll, ARunCompilesNothingMore) {
  if (ops_test::real_device().info().api != Api::opencl) GTEST_SKIP() << "counts calls of OpenCL";
  const test::TemporaryFolder folder;
  const test::Variable pocl("POCL_CACHE_DIR", (folder / "pocl").string());
  const test::Variable ours("AXISLOOM_CACHE_DIR", (folder / "axisloom").string());
  EXPECT_EQ(test::run_alone("PlansCompileAll.DISABLED_InAProcessWithEmptyFolders"), "");
}

}  // namespace
}  // namespace axisloom::jit
