// Operations: what the factories write down, and the text a user would type for it.
#include <gtest/gtest.h>

#include <axisloom/error.hpp>
#include <axisloom/ops.hpp>

namespace axisloom {
namespace {

TEST(Operation, TextIsWhatOneTypes) {
  EXPECT_EQ(to_string(rearrange("n (c x) h w -> n c h w x", {{"x", 32}})),
            "rearrange \"n (c x) h w -> n c h w x\" x=32");
  EXPECT_EQ(to_string(repeat("h w -> h w c", {{"c", 3}})), "repeat \"h w -> h w c\" c=3");
  EXPECT_EQ(to_string(copy()), "copy");
  EXPECT_EQ(to_string(transpose()), "transpose");
  EXPECT_EQ(to_string(relayout("NCHW", "NC/32HW32")), "relayout NCHW NC/32HW32");
  EXPECT_EQ(to_string(relayout("NC/8HW8", "NCHW", 13)), "relayout NC/8HW8 NCHW channels=13");
  EXPECT_EQ(to_string(einsum("i (k x), k -> i", {{"alpha", "2"}}, {{"x", 3}})),
            "einsum \"i (k x), k -> i\" x=3 --alpha 2");
  EXPECT_EQ(to_string(matmul({{"transpose-a", ""}})), "matmul --transpose-a");
  EXPECT_EQ(to_string(dot()), "dot");
  EXPECT_EQ(to_string(reduce("max", "h (w x) -> h w", {{"order", "portable"}}, {{"x", 3}})),
            "reduce max \"h (w x) -> h w\" x=3 --order portable");
  EXPECT_EQ(to_string(reduction("sum", {{"axes", "0,-1"}, {"keepdims", ""}})), "sum --axes 0,-1 --keepdims");
}

TEST(Operation, PermuteWritesItsAxesAsOneWord) {
  const int axes[] = {2, -3, 1};
  EXPECT_EQ(permute(axes).words, std::vector<std::string>{"2,-3,1"});
  EXPECT_EQ(to_string(permute(axes)), "permute 2,-3,1");
  EXPECT_EQ(to_string(permute({})), "permute \"\"");
}

TEST(Operation, RefusesNegativeChannels) {
  EXPECT_THROW(relayout("NC/8HW8", "NCHW", -1), Error);
}

}  // namespace
}  // namespace axisloom
