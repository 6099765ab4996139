// Errors: how parts become one message, and which exit code each error has.
#include <gtest/gtest.h>

#include <axisloom/error.hpp>
#include <axisloom/ops.hpp>

namespace axisloom {
namespace {

TEST(Error, MessageHasItsRemedy) {
  const Error error(Errc::usage, "the rank is 17", "merge axes first");
  EXPECT_EQ(error.code(), Errc::usage);
  EXPECT_STREQ(error.what(), "the rank is 17; merge axes first");
  EXPECT_STREQ(Error(Errc::usage, "the rank is 17").what(), "the rank is 17");
}

TEST(Error, MessageNamesEveryPart) {
  const Error error(Errc::device, {.message = "the launch failed",
                                   .op = "transpose",
                                   .shapes = "f32[3,4] -> f32[4,3]",
                                   .device = "opencl:0",
                                   .call = "clEnqueueNDRangeKernel",
                                   .native = -5,
                                   .remedy = "free some memory"});
  EXPECT_STREQ(
      error.what(),
      "transpose: the launch failed (f32[3,4] -> f32[4,3], on opencl:0, clEnqueueNDRangeKernel failed with -5); "
      "free some memory");
}

TEST(Error, NothingFollowsTheLastLineOfAMessageOfSeveral) {
  const Error error(Errc::usage,
                    {.message = "no\n  a -> b\n  ^", .op = "repeat", .shapes = "u8[2]", .remedy = "name b"});
  EXPECT_STREQ(error.what(), "repeat: no\n  a -> b\n  ^\n(u8[2])\nname b");
}

TEST(Error, ContextFillsOnlyWhatIsEmpty) {
  const Error inner(Errc::device, {.message = "it failed", .call = "cuLaunchKernel", .native = 700});
  const Error outer =
      inner.with({.message = "other", .op = "copy", .call = "other", .native = 1, .remedy = "try again"});
  EXPECT_EQ(outer.code(), Errc::device);
  EXPECT_EQ(outer.parts().message, "it failed");
  EXPECT_EQ(outer.parts().call, "cuLaunchKernel");
  EXPECT_EQ(outer.parts().native, 700);
  EXPECT_STREQ(outer.what(), "copy: it failed (cuLaunchKernel failed with 700); try again");
  EXPECT_EQ(Error(Errc::device, "it failed").with({.native = 7}).parts().native, 7);
}

TEST(Error, ExitCodes) {
  for (const Errc code : {Errc::usage, Errc::shape, Errc::dtype, Errc::axis, Errc::pattern, Errc::overlap})
    EXPECT_EQ(exit_code(code), 2);
  EXPECT_EQ(exit_code(Errc::no_device), 3);
  EXPECT_EQ(exit_code(Errc::file), 4);
  for (const Errc code : {Errc::unsupported, Errc::out_of_memory, Errc::device, Errc::device_lost, Errc::after_fork})
    EXPECT_EQ(exit_code(code), 5);
}

TEST(Error, Names) {
  EXPECT_EQ(name(Errc::usage), "usage");
  EXPECT_EQ(name(Errc::pattern), "pattern");
  EXPECT_EQ(name(Errc::out_of_memory), "out_of_memory");
  EXPECT_EQ(name(Errc::after_fork), "after_fork");
}

// A binding raises another exception for each of these.
TEST(Error, TellsShapesDtypesAxesAndPatternsApart) {
  const View matrix = View::contiguous(Dtype::f32, {3, 4}), line = View::contiguous(Dtype::f32, {4});
  const auto code = [&](const Operation& op, const std::vector<View>& inputs) -> std::optional<Errc> {
    try {
      result_view(op, inputs);
    } catch (const Error& error) {
      return error.code();
    }
    return std::nullopt;
  };
  View hostile = matrix;
  hostile.dtype = Dtype(99);
  EXPECT_EQ(code(matmul(), {matrix, matrix}), Errc::shape);
  EXPECT_EQ(code(rearrange("a b c -> c b a"), {matrix}), Errc::shape);
  EXPECT_EQ(code(rearrange("(a b) c -> a b c", {{"a", 2}}), {matrix}), Errc::shape);
  EXPECT_EQ(code(rearrange("a b -> a"), {matrix}), Errc::pattern);
  EXPECT_EQ(code(rearrange("a (b -> a b"), {matrix}), Errc::pattern);
  EXPECT_EQ(code(reduction("sum", {{"axes", "2"}}), {matrix}), Errc::axis);
  EXPECT_EQ(code(reduction("sum", {{"axes", "one"}}), {matrix}), Errc::axis);
  EXPECT_EQ(code(copy(), {hostile}), Errc::dtype);
  EXPECT_EQ(code(einsum("i -> i", {{"out-dtype", "u8"}}), {line}), Errc::dtype);
  EXPECT_EQ(code(reduction("sum", {{"ord", "2"}}), {line}), Errc::usage);
}

}  // namespace
}  // namespace axisloom
