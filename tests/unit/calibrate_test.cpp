// Measuring a device, small and quick: every figure is there, and plans go by what was kept.
#include "ops_support.hpp"

#include "model/calibrate.hpp"
#include "model/store.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

namespace axisloom::ops_test {
namespace {

const model::CalibrateOptions quick{.largest = std::size_t{4} << 20, .seconds = 1e-3, .found = {}};

TEST(Calibrate, MeasuresWhatKernelsCanShow) {
  std::set<std::string> told;
  model::CalibrateOptions options = quick;
  options.found = [&](const model::Figure& figure, double value) {
    EXPECT_GT(value, 0) << figure.name;
    told.emplace(figure.name);
  };
  const Device device = real_device();
  const model::DeviceModel measured = model::calibrate(device, options);
  EXPECT_EQ(measured.name, device.info().name);
  for (const char* name : {"copy_rate", "cached_rate", "launch", "latency", "f32_rate", "i32_rate", "i64_rate"})
    EXPECT_TRUE(told.contains(name)) << name;
  EXPECT_EQ(told.contains("core"), device.info().kind == Kind::cpu);
  for (const model::Figure& figure : model::figures())
    EXPECT_EQ(measured.*figure.place > 0, told.contains(std::string(figure.name))) << figure.name;
}

// The form of the kernels that cards run, on whatever is there.
TEST(Calibrate, MeasuresCards) {
  const model::DeviceModel measured = model::calibrate(as_gpu(real_device()), quick);
  EXPECT_GT(measured.copy_rate, 0);
  EXPECT_GE(measured.cached_rate, measured.copy_rate);
  EXPECT_GT(measured.f32_rate, 0);
  EXPECT_EQ(measured.core, 0);
}

TEST(Calibrate, WhatIsKeptIsGoneBy) {
  const test::TemporaryFolder folder;
  const test::Variable home("XDG_DATA_HOME", folder.path().string());
  model::DeviceModel measured{gpu_info()};
  measured.copy_rate = 1.25e12;
  measured.launch = 7e-6;
  const std::filesystem::path file = model::remember(measured);
  measured.copy_rate = 1.5e12;
  EXPECT_EQ(model::remember(measured), file) << "the last line counts";
  model::reset_stores();
  const model::DeviceModel found = model::model_of(gpu_info());
  EXPECT_EQ(found.source, "user's store");
  EXPECT_EQ(found.copy_rate, 1.5e12);
  EXPECT_EQ(found.launch, 7e-6);
  const View in = View::contiguous(Dtype::f32, {100, 100});
  const Plan made = plan(transpose(), std::span(&in, 1), Device(std::make_shared<PretendedDevice>(gpu_info())));
  EXPECT_EQ(made.report().model, "user's store");
  std::filesystem::remove(file);
  model::reset_stores();
}

TEST(Calibrate, AStoreThatCannotBeWrittenIsAnError) {
  const test::TemporaryFolder folder;
  test::write_file(folder / "axisloom", "a file where the folder should be");
  const test::Variable home("XDG_DATA_HOME", folder.path().string());
  EXPECT_EQ(code_thrown([] { model::remember(model::DeviceModel{gpu_info()}); }), Errc::file);
}

}  // namespace
}  // namespace axisloom::ops_test
