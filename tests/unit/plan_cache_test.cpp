// Plans that are found again: for which devices, and what counts as the same call.
#include "planner/plan_cache.hpp"
#include "failing_allocations.hpp"
#include "ops_support.hpp"

#include <gtest/gtest.h>

namespace axisloom::ops_test {
namespace {

const View matrix = View::contiguous(Dtype::u16, {37, 91});

TEST(PlanCache, GivesTheSamePlanAgain) {
  for (const Device& device : {Device::open("host"), real_device()}) {
    const Plan first = plan(transpose(), {matrix}, device);
    EXPECT_EQ(plan(transpose(), {matrix}, device).impl(), first.impl());
    EXPECT_EQ(ops::cached_plan(transpose(), std::span(&matrix, 1), device, {}).impl(), first.impl());
    EXPECT_NE(ops::new_plan(transpose(), std::span(&matrix, 1), device, {}).impl(), first.impl());
  }
}

TEST(PlanCache, TellsCallsApart) {
  const Device host = Device::open("host");
  const Plan first = plan(transpose(), {matrix}, host);
  View other = matrix;
  other.align = 2;
  EXPECT_NE(plan(transpose(), {other}, host).impl(), first.impl());
  EXPECT_NE(plan(copy(), {matrix}, host).impl(), first.impl());
  EXPECT_NE(plan(transpose(), {matrix, first.views().back()}, host).impl(), first.impl());
  EXPECT_NE(plan(transpose(), {matrix}, host, {.candidate = "plain"}).impl(), first.impl());
}

// The text of both is the same.
TEST(PlanCache, IsNotMisledByTheTextOfACall) {
  const Device host = Device::open("host");
  plan({"rearrange", {"h (w x) -> w h x"}, {{"x", 7}}}, {matrix}, host);
  EXPECT_EQ(code_thrown([&] { plan({"rearrange", {"h (w x) -> w h x", "x=7"}}, {matrix}, host); }), Errc::usage);
}

TEST(PlanCache, FindsThePlanOfAnotherThreadAndOfLongAgo) {
  const Device host = Device::open("host");
  const Plan first = plan(transpose(), {matrix}, host);
  for (std::int64_t columns = 1; columns < 40; ++columns) plan(copy(), {View::contiguous(Dtype::u8, {columns})}, host);
  EXPECT_EQ(plan(transpose(), {matrix}, host).impl(), first.impl());
}

TEST(PlanCache, AllocatesNothingForAPlanThatAThreadHadLately) {
  const Device host = Device::open("host");
  const Operation op = rearrange("h (w x) -> w h x", {{"x", 7}});
  const Plan first = plan(op, {matrix}, host);
  const auto before = test::allocation_faults.made;
  EXPECT_EQ(plan(op, {matrix}, host).impl(), first.impl());
  EXPECT_EQ(test::allocation_faults.made, before);
}

// Nothing of a device stays behind that its owner may close.
TEST(PlanCache, KeepsNoPlansForDevicesOfOthers) {
  auto borrowed = std::make_shared<PretendedDevice>(cpu_info());
  plan(transpose(), {matrix}, Device(borrowed));
  const std::weak_ptr<PretendedDevice> device = borrowed;
  borrowed.reset();
  EXPECT_TRUE(device.expired());
}

}  // namespace
}  // namespace axisloom::ops_test
