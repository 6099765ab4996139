// Errors as the program tells them.
#include "cli/messages.hpp"

#include <axisloom/error.hpp>

#include <gtest/gtest.h>

namespace axisloom::cli {
namespace {

TEST(CliMessages, AnErrorIsOneLineAndARemedy) {
  const Error error(Errc::device, {.message = "the launch failed",
                                   .op = "transpose",
                                   .shapes = "f32[3,4]",
                                   .device = "opencl:0 (cpu)",
                                   .call = "clFinish",
                                   .native = -5,
                                   .remedy = "update the driver"});
  EXPECT_EQ(error_text(error),
            "axisloom: transpose: the launch failed (f32[3,4], on opencl:0 (cpu), clFinish returned -5)\n"
            "remedy: update the driver");
  EXPECT_EQ(error_text(Error(Errc::usage, "no")), "axisloom: no");
}

TEST(CliMessages, ThePatternAndItsCaretFollowTheFirstLine) {
  const Error error(Errc::usage,
                    {.message = "unknown axis\n  h w -> q\n         ^", .shapes = "u8[2,2]", .remedy = "name h or w"});
  EXPECT_EQ(error_text(error), "axisloom: unknown axis (u8[2,2])\n  h w -> q\n         ^\nremedy: name h or w");
}

}  // namespace
}  // namespace axisloom::cli
