// When OpenCL programs reach the disk: after their first launch, and once.
#include <gtest/gtest.h>

#include "counting_device.hpp"
#include "jit/embedded.hpp"
#include "jit/jit.hpp"
#include "jit/program_cache.hpp"

namespace axisloom::jit {
namespace {

using test::CountingDevice;

class Launched : public testing::Test {
 protected:
  Launched() { forget_programs(); }
  ~Launched() override { forget_programs(); }
  std::uint64_t stored() const { return cache_stats().stored - before_; }

  test::TemporaryFolder folder_;
  test::Variable cache_dir_{"AXISLOOM_CACHE_DIR", folder_.path().string()};
  std::uint64_t before_ = cache_stats().stored;
};

device::BuildRequest request() {
  return {"test/kernel", "kernel", {}};
}

TEST_F(Launched, AnOpenClProgramIsStoredAfterItsFirstLaunchAndOnce) {
  CountingDevice device(Api::opencl);
  const auto program = obtain(device, request(), 64);
  EXPECT_EQ(stored(), 0u);
  EXPECT_EQ(cache_folder().entries, 0u);
  launched(device, program);
  EXPECT_EQ(stored(), 1u);
  EXPECT_EQ(cache_folder().entries, 1u);
  clear_cache_folder();
  launched(device, program);
  launched(device, program);
  EXPECT_EQ(stored(), 1u);
  EXPECT_EQ(cache_folder().entries, 0u);
}

TEST_F(Launched, WhatIsStoredIsTheBinaryAfterTheLaunch) {
  CountingDevice device(Api::opencl);
  const std::string complete = dynamic_cast<test::TextProgram&>(*device.build(request())).text;
  device.half_until_launched = true;
  const auto program = obtain(device, request(), 64);
  dynamic_cast<test::TextProgram&>(*program).text = complete;
  launched(device, program);
  forget_programs();
  const auto again = obtain(device, request(), 64);
  EXPECT_EQ(dynamic_cast<test::TextProgram&>(*again).text, complete);
  EXPECT_EQ(device.loads, 1);
}

TEST_F(Launched, AProgramNeverLaunchedIsCompiledAgain) {
  CountingDevice device(Api::opencl);
  obtain(device, request(), 64);
  forget_programs();
  obtain(device, request(), 64);
  EXPECT_EQ(device.builds(), 2);
}

TEST_F(Launched, AProgramFromTheDiskIsNotStoredAgain) {
  CountingDevice device(Api::opencl);
  launched(device, obtain(device, request(), 64));
  forget_programs();
  launched(device, obtain(device, request(), 64));
  EXPECT_EQ(device.loads, 1);
  EXPECT_EQ(stored(), 1u);
}

TEST_F(Launched, ACudaProgramIsStoredAtOnce) {
  CountingDevice device(Api::cuda);
  const auto program = obtain(device, request(), 64);
  EXPECT_EQ(stored(), 1u);
  launched(device, program);
  EXPECT_EQ(stored(), 1u);
}

TEST_F(Launched, AProgramOfAnotherOriginIsLeftAlone) {
  CountingDevice device(Api::opencl);
  launched(device, std::make_shared<test::TextProgram>("not from the cache"));
  EXPECT_EQ(stored(), 0u);
}

TEST_F(Launched, AFolderThatIsFullOrGoneIsNoError) {
  CountingDevice device(Api::opencl);
  const auto program = obtain(device, request(), 64);
  std::filesystem::remove_all(folder_.path());
  EXPECT_NO_THROW(launched(device, program));
  EXPECT_EQ(stored(), 0u);
}

TEST_F(Launched, ManyThreadsStoreAProgramOnce) {
  CountingDevice device(Api::opencl);
  const auto program = obtain(device, request(), 64);
  std::vector<std::thread> crowd;
  for (int t = 0; t < 8; ++t) crowd.emplace_back([&] { launched(device, program); });
  for (auto& thread : crowd) thread.join();
  EXPECT_EQ(stored(), 1u);
}

TEST_F(Launched, ASpecialisedKernelGoesTheSameWay) {
  std::string file;
  for (const std::string_view name : embedded_files()) {
    if (name.ends_with(".kernel")) file = name;
  }
  ASSERT_FALSE(file.empty());
  Specialisation what;
  what.file = file;
  what.kernel = "any";
  what.items = 32;
  CountingDevice device(Api::opencl);
  const auto program = obtain(device, what);
  EXPECT_EQ(device.builds_of(full_text(what, Api::opencl)), 1);
  EXPECT_EQ(obtain(device, what), program);
  what.checked = true;
  EXPECT_NE(obtain(device, what), program);
  what.checked = false;
  launched(device, program);
  forget_programs();
  obtain(device, what);
  EXPECT_EQ(device.builds(), 2);
}

}  // namespace
}  // namespace axisloom::jit
