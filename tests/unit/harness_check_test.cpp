// The driver of cases: parts that add up, arrays that share memory, slices, and failing cases made smaller.
#include "device/forwarding.hpp"
#include "harness/minimise.hpp"
#include "harness/runner.hpp"
#include "harness/source.hpp"
#include "ops_support.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace axisloom::harness {
namespace {

CheckSettings settings_here() {
  CheckSettings settings;
  settings.device = ops_test::real_device();
  return settings;
}

/// The message of a case that fails, "" of one that passes.
std::string failure_of(const std::string& line) {
  const std::vector<Outcome> outcomes = run_case(parse_case(line), settings_here());
  EXPECT_EQ(outcomes.size(), 1u) << line;
  return outcomes[0].kind == Outcome::Kind::passed ? "" : outcomes[0].message;
}

std::vector<std::string> texts(const CaseSource& source) {
  std::vector<std::string> all;
  for (std::int64_t i = 0; i < source.count(); ++i) all.push_back(source.at(i).text);
  return all;
}

TEST(HarnessSource, PartsAddUpToTheWhole) {
  const std::vector<std::string> lines = {"copy u8 {1..5}"};
  std::vector<std::string> whole = texts(CaseSource({{}, lines, 23, {}}, 7)), parts;
  EXPECT_EQ(whole.size(), 28u);
  for (std::int64_t number = 1; number <= 4; ++number)
    for (const std::string& text : texts(CaseSource({{}, lines, 23, {number, 4}}, 7))) parts.push_back(text);
  std::sort(whole.begin(), whole.end());
  std::sort(parts.begin(), parts.end());
  EXPECT_EQ(parts, whole);
}

TEST(HarnessSource, APartIsOneOfSoMany) {
  EXPECT_EQ(parse_part("2/4").number, 2);
  EXPECT_EQ(parse_part("").of, 1);
  for (const char* bad : {"0/4", "5/4", "1", "a/4", "1/", "/", "-1/4"}) EXPECT_THROW(parse_part(bad), Error) << bad;
}

TEST(HarnessRunner, SharedMemoryHasToBeNoticed) {
  EXPECT_EQ(failure_of("copy u8 16 one-buffer out-offset=15"), "");  // refused, as it should be
  EXPECT_EQ(failure_of("copy u8 16 one-buffer out-offset=16"), "");  // and this is done
  EXPECT_EQ(failure_of("copy u8 16 one-buffer in-strides=2 out-strides=2 out-offset=1"), "");
}

TEST(HarnessRunner, ArraysBeyondTheLargestBufferAreTakenInSlices) {
  EXPECT_EQ(failure_of("transpose u16 70x90 largest-buffer=1000"), "");
  EXPECT_EQ(failure_of("sum i32 70x90 axes=0 largest-buffer=4096"), "");
}

/// The real device, described as one that is no CPU and cannot order the groups of a launch.
class UnorderedGpu : public device::ForwardingDevice {
 public:
  explicit UnorderedGpu(Api api = Api::opencl) : ForwardingDevice(ops_test::real_device().impl()) {
    info_.api = api;
    info_.kind = Kind::gpu;
    info_.device_scope_order = false;
  }
};

TEST(HarnessRunner, ACandidateThatThisKindOfDeviceCannotHaveIsRefusedNotFailed) {
  const std::vector<std::string> lines = {"sum f32 1000 candidate=lesson config=launches:1",
                                          "sum f32 30x40 axes=0 candidate=rows_cpu"};
  CheckSettings settings;
  settings.device = Device(std::make_shared<UnorderedGpu>());
  for (const std::string& line : lines)
    EXPECT_EQ(run_case(parse_case(line), settings)[0].kind, Outcome::Kind::refused) << line;
  settings.device = Device(std::make_shared<UnorderedGpu>(Api::cuda));
  EXPECT_EQ(run_case(parse_case(lines[1]), settings)[0].kind, Outcome::Kind::refused) << "written for OpenCL";
  const std::string shape = "sum f32 30x40 axes=0 candidate=lesson";  // which no device has for this shape
  EXPECT_EQ(run_case(parse_case(shape), settings)[0].kind, Outcome::Kind::failed);
  EXPECT_EQ(failure_of(lines[1]), "");
}

TEST(HarnessMinimise, OnlyWhatTheFailureNeedsIsLeft) {
  const Case c = parse_case(
      "permute u8 7x40x9 2,0,1 in-strides=1,-19,-3 in-offset=3 out-align=4 out-strides=-264,-52,1 out-offset=7");
  const auto fails = [](const Case& other) {
    const auto& strides = other.output.strides;
    return other.shapes[0].size() > 1 && other.shapes[0][1] > 12 && strides &&
           std::any_of(strides->begin(), strides->end(), [](std::int64_t stride) { return stride < 0; });
  };
  const Case smallest = minimise(c, fails);
  EXPECT_EQ(smallest.text, "permute u8 1x13x1 2,0,1 out-strides=-264,-52,1");
}

TEST(HarnessMinimise, AxesAreDroppedWithTheirNumbers) {
  const Case c = parse_case("sum f32 3x4x50x6 axes=1,-2 --keepdims in-strides=1200,300,6,1");
  const Case smallest = minimise(c, [](const Case& other) {
    return std::any_of(other.shapes[0].begin(), other.shapes[0].end(), [](std::int64_t extent) { return extent > 33; });
  });
  EXPECT_EQ(smallest.text, "sum f32 34");
}

TEST(HarnessMinimise, AsksNoMoreThanSoOften) {
  int asked = 0;
  minimise(
      parse_case("copy u8 1000x1000"), [&](const Case&) { return ++asked > 0; }, 5);
  EXPECT_LE(asked, 5);
}

}  // namespace
}  // namespace axisloom::harness
