// What the driver of cases counts as refused, and what as failed.
#include "check/runner.hpp"

#include "ops_support.hpp"

#include <gtest/gtest.h>

namespace axisloom::cli {
namespace {

Outcome outcome_without_f64(const char* line) {
  DeviceInfo info = ops_test::cpu_info();
  info.f64 = false;
  CheckSettings settings;
  settings.device = Device(std::make_shared<ops_test::PretendedDevice>(info));
  const std::vector<Outcome> outcomes = run_case(parse_case(line), settings);
  EXPECT_EQ(outcomes.size(), 1u) << line;
  return outcomes.at(0);
}

TEST(CliRunner, ADeviceRefusesByNameWhatItLacks) {
  for (const char* line : {"mean u8 37", "sum f64 5x7 axes=1", "matmul f64 3x4,4x5", "einsum f64 3,3 \"i, i -> i\"",
                           "any f64 300x9 axes=0", "count_nonzero c128 300x9 axes=0", "mean u8 37 expect=usage"}) {
    const Outcome outcome = outcome_without_f64(line);
    EXPECT_EQ(outcome.kind, Outcome::Kind::refused) << line << ": " << outcome.message;
    EXPECT_NE(outcome.message.find("unsupported error"), std::string::npos) << outcome.message;
    EXPECT_NE(outcome.message.find("the device has no f64"), std::string::npos) << outcome.message;
  }
}

TEST(CliRunner, ADeviceThatCannotOrderGroupsRefusesOneLaunch) {
  DeviceInfo info = ops_test::gpu_info(Api::opencl);
  info.device_scope_order = false;
  CheckSettings settings;
  settings.device = Device(std::make_shared<ops_test::PretendedDevice>(info));
  const Outcome outcome = run_case(parse_case("sum f32 100003 candidate=lesson"), settings).at(0);
  EXPECT_EQ(outcome.kind, Outcome::Kind::refused) << outcome.message;
}

TEST(CliRunner, OtherRefusalsAreFailures) {
  EXPECT_EQ(outcome_without_f64("copy u8 5x7 candidate=swap").kind, Outcome::Kind::failed);
  EXPECT_EQ(outcome_without_f64("copy u8 5x7 candidate=swap expect=unsupported").kind, Outcome::Kind::passed);
  EXPECT_EQ(outcome_without_f64("mean u8 37 expect=unsupported").kind, Outcome::Kind::passed);
}

}  // namespace
}  // namespace axisloom::cli
