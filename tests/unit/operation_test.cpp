// Operations: what the factories write down, and the text a user would type for it.
#include <gtest/gtest.h>

#include <axisloom/error.hpp>
#include <axisloom/ops.hpp>

#include <cmath>

namespace axisloom {
namespace {

std::string refusal_for(const Operation& op, const std::vector<View>& inputs) {
  try {
    result_view(op, inputs);
  } catch (const Error& error) {
    EXPECT_EQ(exit_code(error.code()), exit_code(Errc::usage)) << error.what();
    return error.parts().message;
  }
  return "accepted";
}

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

TEST(Operation, TypedOptionsLoseNothingAsText) {
  EXPECT_EQ(to_string(reduction("sum", ReduceOptions{.axes = {0, -1}, .keepdims = true})),
            "sum --axes 0,-1 --keepdims");
  EXPECT_EQ(to_string(reduction("sum", ReduceOptions{.axes = Axes::none()})), "sum --axes none");
  EXPECT_EQ(to_string(reduction("sum", ReduceOptions{})), "sum");
  EXPECT_EQ(to_string(reduction("sum", ReduceOptions{.initial = 0.1F, .dtype = Dtype::f64, .where = true})),
            "sum --initial 0.10000000149011612 --compute-dtype f64 --where");
  EXPECT_EQ(to_string(reduction("min", ReduceOptions{.initial = ~std::uint64_t{0}})),
            "min --initial 18446744073709551615");
  EXPECT_EQ(to_string(reduction("min", ReduceOptions{.initial = std::int8_t{-7}})), "min --initial -7");
  EXPECT_EQ(Scalar(true).text(), "1");
  EXPECT_EQ(Scalar(std::complex<double>(1, -2)).text(), "1-2j");
  EXPECT_EQ(Scalar(-HUGE_VAL).text(), "-inf");
  EXPECT_EQ(to_string(reduction("norm", ReduceOptions{.order = Order::portable, .ord = NormOrder::inf})),
            "norm --order portable --ord inf");
  EXPECT_EQ(to_string(matmul(ProductOptions{.alpha = 1e-9,
                                            .beta = -0.1,
                                            .relu = true,
                                            .out_dtype = Dtype::f64,
                                            .transpose_a = true,
                                            .transpose_b = true})),
            "matmul --alpha 1e-09 --beta -0.1 --activation relu --out-dtype f64 --transpose-a --transpose-b");
  EXPECT_EQ(to_string(einsum("i -> i", ProductOptions{.alpha = 0.1 + 0.2})),
            "einsum \"i -> i\" --alpha 0.30000000000000004");
  EXPECT_EQ(to_string(permute({2, 0, 1})), "permute 2,0,1");
}

TEST(Operation, RefusesTypedOptionsThatItHasNot) {
  const View line = View::contiguous(Dtype::f32, {4});
  EXPECT_EQ(refusal_for(reduce("sum", "i ->", ReduceOptions{.keepdims = true}), {line}), "has no option 'keepdims'");
  EXPECT_EQ(refusal_for(dot(ProductOptions{.transpose_a = true}), {line, line}), "has no option 'transpose-a'");
  EXPECT_EQ(refusal_for({"relayout", {"NC/4HW4", "NCHW"}, {}, {{"channels", "3"}}}, {line}),
            "'channels' is a length, not an option");
  EXPECT_EQ(refusal_for(dot(ProductOptions{.alpha = std::nan("")}), {line, line}),
            "alpha is 'nan', which is not a number");
}

TEST(Operation, PermuteWritesItsAxesAsOneArgument) {
  const int axes[] = {2, -3, 1};
  EXPECT_EQ(permute(axes).arguments, std::vector<std::string>{"2,-3,1"});
  EXPECT_EQ(to_string(permute(axes)), "permute 2,-3,1");
  EXPECT_EQ(to_string(permute({})), "permute \"\"");
}

TEST(Operation, TakesOptionsAndLengthsOnce) {
  const View image = View::contiguous(Dtype::f32, {2, 1, 3, 5, 4}), line = View::contiguous(Dtype::f32, {4});
  EXPECT_EQ(refusal_for(dot({{"alpha", "2"}, {"beta", "1"}, {"alpha", "3"}}), {line, line, line}),
            "option 'alpha' is given twice");
  EXPECT_EQ(refusal_for(reduction("sum", {{"keepdims", ""}, {"keepdims", ""}}), {line}),
            "option 'keepdims' is given twice");
  EXPECT_EQ(refusal_for(reduction("sum", {{"axes", "0"}, {"axes", "0"}}), {line}), "option 'axes' is given twice");
  EXPECT_NE(refusal_for(rearrange("(a b) -> b a", {{"a", 2}, {"a", 2}}), {line}).find("'a' is given twice"),
            std::string::npos);
  const Operation planes{"relayout", {"NC/4HW4", "NCHW"}, {{"channels", 3}, {"channels", 4}}};
  EXPECT_EQ(refusal_for(planes, {image}), "the length of 'channels' is given twice");
}

TEST(Operation, RefusesNegativeChannels) {
  EXPECT_THROW(relayout("NC/8HW8", "NCHW", -1), Error);
}

}  // namespace
}  // namespace axisloom
