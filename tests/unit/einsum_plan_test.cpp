// What einsum, matmul and dot lower to: which steps a plan has, and what is refused. Nothing runs.
#include "ops_support.hpp"

#include "ops/einsum/lowering.hpp"

#include <gtest/gtest.h>

namespace axisloom::ops_test {
namespace {

const Device& pretended() {
  static const Device device(std::make_shared<PretendedDevice>(cpu_info()));
  return device;
}

View f32(const Dims& shape) {
  return View::contiguous(Dtype::f32, shape);
}

Plan planned(const Operation& op, const std::vector<View>& views, const PlanOptions& options = {}) {
  return plan(op, views, pretended(), options);
}

View result(const Operation& op, const std::vector<View>& inputs) {
  return result_view(op, inputs);
}

std::string steps_of(const Operation& op, const std::vector<View>& views) {
  std::string words;
  const Plan made = planned(op, views);
  for (const std::string& step : made.report().steps) {
    const std::size_t begin = step.find(": ") + 2;
    const bool product = step.find("matmul/") != std::string::npos;
    words += (words.empty() ? "" : " ") + (product ? "product" : step.substr(begin, step.find(' ', begin) - begin));
  }
  return words;
}

class Einsum : public ::testing::Test {
  NoDiskCache memory_only_;
};

TEST_F(Einsum, NeedsNoCopyWhereTheKernelReadsStrides) {
  EXPECT_EQ(steps_of(einsum("i k, k j -> i j"), {f32({30, 40}), f32({40, 50})}), "product");
  EXPECT_EQ(steps_of(einsum("k i, j k -> j i"), {f32({40, 30}), f32({50, 40})}), "product");
  EXPECT_EQ(steps_of(einsum("b i d, h d e -> b h i e"), {f32({3, 30, 40}), f32({5, 40, 20})}), "product");
  EXPECT_EQ(steps_of(einsum("i k l, k l j -> i j"), {f32({30, 4, 5}), f32({4, 5, 50})}), "product");
  EXPECT_EQ(steps_of(einsum("i i k, k j -> j i"), {f32({30, 30, 40}), f32({40, 50})}), "product");
  EXPECT_EQ(steps_of(einsum("b c k i, b c k j -> i b j c"), {f32({3, 4, 7, 5}), f32({3, 4, 7, 6})}), "product");
}

TEST_F(Einsum, CopiesTheSmallerArrayWhereSummedAxesDisagree) {
  const Operation op = einsum("i k l, l k j -> i j");
  EXPECT_EQ(steps_of(op, {f32({300, 4, 5}), f32({5, 4, 50})}), "copy product");
  const std::string small_right = planned(op, {f32({300, 4, 5}), f32({5, 4, 50})}).report().steps[0];
  EXPECT_NE(small_right.find("k l j"), std::string::npos) << small_right;
  const std::string small_left = planned(op, {f32({30, 4, 5}), f32({5, 4, 500})}).report().steps[0];
  EXPECT_NE(small_left.find("i k l"), std::string::npos) << small_left;
  // With gaps along the summed axes of both, none can lead.
  View left = f32({30, 4, 5}), right = f32({4, 5, 50});
  left.strides = {60, 6, 1};
  right.strides = {300, 50, 1};
  EXPECT_EQ(steps_of(einsum("i k l, k l j -> i j"), {left, right}), "copy copy product");
}

TEST_F(Einsum, SumsWithinOperandsFirst) {
  EXPECT_EQ(steps_of(einsum("i k x, k j -> i j"), {f32({30, 40, 7}), f32({40, 50})}), "sum product");
  EXPECT_EQ(steps_of(einsum("i j -> j"), {f32({30, 40})}), "sum");
  EXPECT_EQ(steps_of(einsum("i i ->"), {f32({30, 30})}), "sum");
}

TEST_F(Einsum, MovesWhatIsOnlyReordered) {
  EXPECT_EQ(steps_of(einsum("i j -> j i"), {f32({30, 40})}), "copy");
  EXPECT_EQ(steps_of(einsum("i i -> i"), {f32({30, 30})}), "copy");
  EXPECT_EQ(steps_of(einsum("i j -> j i", {{"alpha", "2"}}), {f32({30, 40})}), "scale");
}

TEST_F(Einsum, MultipliesElementwiseWithoutAProduct) {
  EXPECT_EQ(steps_of(einsum("i j, i j -> i j"), {f32({300, 400}), f32({300, 400})}), "multiply");
  EXPECT_EQ(steps_of(einsum("i, j -> i j"), {f32({300}), f32({400})}), "multiply");
  EXPECT_EQ(steps_of(einsum("i j, j i -> i j"), {f32({300, 400}), f32({400, 300})}), "copy multiply");
  EXPECT_EQ(steps_of(einsum("i j, i j -> i"), {f32({300, 400}), f32({300, 400})}), "product");
  EXPECT_EQ(steps_of(einsum("i j, i j -> j"), {f32({300, 400}), f32({300, 400})}), "multiply sum");
  EXPECT_EQ(steps_of(einsum("i j, i j -> j"), {f32({30, 400}), f32({30, 400})}), "product");
}

TEST_F(Einsum, ConvertsOnlyWhatDiffers) {
  const View i8 = View::contiguous(Dtype::i8, {40, 50}), f16 = View::contiguous(Dtype::f16, {30, 40});
  EXPECT_EQ(steps_of(einsum("i k, k j -> i j"), {f32({30, 40}), i8}), "convert product");
  EXPECT_EQ(steps_of(einsum("k i, k j -> i j"), {i8, i8}), "product");
  EXPECT_EQ(steps_of(einsum("k i, k j -> i j", {{"out-dtype", "f32"}}), {f16, f16}), "product");
}

TEST_F(Einsum, FusesTheEpilogueIntoTheLastProduct) {
  const Options epilogue{{"alpha", "0.5"}, {"beta", "2"}, {"activation", "relu"}};
  EXPECT_EQ(steps_of(einsum("i k, k j -> i j", epilogue), {f32({30, 40}), f32({40, 50}), f32({50})}), "product");
  EXPECT_EQ(
      steps_of(einsum("i k, k l, l j -> i j", epilogue), {f32({30, 40}), f32({40, 40}), f32({40, 50}), f32({50})}),
      "product product");
}

TEST_F(Einsum, HasNothingToDoForAnEmptyResult) {
  EXPECT_EQ(steps_of(einsum("i k, k j -> i j"), {f32({0, 40}), f32({40, 50})}), "");
  EXPECT_EQ(steps_of(einsum("i k, k j -> i j"), {f32({30, 0}), f32({0, 50})}), "product");
}

TEST_F(Einsum, ReportsStepsBytesAndTime) {
  const Plan made = planned(einsum("i k, k j -> i j"), {f32({64, 32}), f32({32, 16})});
  const PlanReport& report = made.report();
  ASSERT_EQ(report.steps.size(), 1u);
  EXPECT_EQ(report.steps[0], "1: i k, k j -> i j  matmul/" + report.candidate + "  65.5 kFLOP");
  EXPECT_EQ(report.bytes_moved, (64 * 32 + 32 * 16 + 64 * 16) * 4);
  EXPECT_GT(report.expected_seconds, 0);
  EXPECT_EQ(report.shapes, "f32[64,32], f32[32,16] -> f32[64,16]");
}

TEST_F(Einsum, KnowsTheDtypeOfItsResult) {
  const auto dtype = [](Dtype a, Dtype b, const Options& options = {}) {
    return result(einsum("i, i -> i", options), {View::contiguous(a, {3}), View::contiguous(b, {3})}).dtype;
  };
  EXPECT_EQ(dtype(Dtype::i8, Dtype::i8), Dtype::i32);
  EXPECT_EQ(dtype(Dtype::i8, Dtype::u8), Dtype::i32);
  EXPECT_EQ(dtype(Dtype::i8, Dtype::i8, {{"out-dtype", "i8"}}), Dtype::i8);
  EXPECT_EQ(dtype(Dtype::i16, Dtype::i16), Dtype::i16);
  EXPECT_EQ(dtype(Dtype::f16, Dtype::f16), Dtype::f16);
  EXPECT_EQ(dtype(Dtype::bf16, Dtype::bf16, {{"out-dtype", "f32"}}), Dtype::f32);
  EXPECT_EQ(dtype(Dtype::i32, Dtype::f32), Dtype::f64);
  EXPECT_EQ(dtype(Dtype::boolean, Dtype::boolean), Dtype::boolean);
}

TEST_F(Einsum, MatmulHasNumPysShapes) {
  const auto shape = [](const Dims& a, const Dims& b, const Options& options = {}) {
    return to_string(result(matmul(options), {f32(a), f32(b)}).shape);
  };
  EXPECT_EQ(shape({3, 4}, {4, 5}), "[3,5]");
  EXPECT_EQ(shape({4}, {4, 5}), "[5]");
  EXPECT_EQ(shape({3, 4}, {4}), "[3]");
  EXPECT_EQ(shape({4}, {4}), "[]");
  EXPECT_EQ(shape({4}, {7, 4, 5}), "[7,5]");
  EXPECT_EQ(shape({6, 1, 3, 4}, {7, 4, 5}), "[6,7,3,5]");
  EXPECT_EQ(shape({4, 3}, {5, 4}, {{"transpose-a", ""}, {"transpose-b", ""}}), "[3,5]");
}

TEST_F(Einsum, RefusesWhatDoesNotFit) {
  const auto text = [](const Operation& op, const std::vector<View>& views, const PlanOptions& options = {}) {
    EXPECT_EQ(exit_code(code_thrown([&] { planned(op, views, options); }).value_or(Errc::file)), 2) << to_string(op);
    return text_thrown([&] { planned(op, views, options); });
  };
  const Operation product = einsum("i k, k j -> i j");
  EXPECT_NE(text(matmul(), {f32({3, 4}), f32({5, 4})}).find("rows of the first array have length 4"),
            std::string::npos);
  EXPECT_NE(text(matmul(), {f32({3, 1}), f32({5, 4})}), "");
  EXPECT_NE(text(matmul(), {f32({}), f32({5, 4})}).find("one axis or more"), std::string::npos);
  EXPECT_NE(text(matmul(), {f32({2, 3, 4}), f32({3, 4, 5})}).find("ellipsis has length 3"), std::string::npos);
  EXPECT_NE(text(dot(), {f32({3, 4}), f32({4})}).find("use matmul"), std::string::npos);
  EXPECT_NE(text(dot(), {f32({1}), f32({4})}).find("different lengths"), std::string::npos);
  EXPECT_NE(text(product, {f32({3, 4})}), "");
  EXPECT_NE(text(einsum("i -> i", {{"alpha", "x"}}), {f32({3})}).find("not a number"), std::string::npos);
  EXPECT_NE(text(einsum("i -> i", {{"alpha", "nan"}}), {f32({3})}).find("not a number"), std::string::npos);
  EXPECT_NE(text(einsum("i -> i", {{"activation", "gelu"}}), {f32({3})}).find("use relu"), std::string::npos);
  EXPECT_NE(text(einsum("i -> i", {{"out-dtype", "f16"}}), {f32({3})}).find("cannot hold"), std::string::npos);
  EXPECT_NE(text(einsum("i -> i", {{"out-dtype", "f3"}}), {f32({3})}).find("no dtype"), std::string::npos);
  EXPECT_NE(text(einsum("i -> i", {{"beta", "1"}}), {f32({3}), f32({4})}).find("broadcast"), std::string::npos);
  EXPECT_NE(text(einsum("i -> i", {{"beta", "1"}}), {f32({3}), View::contiguous(Dtype::f64, {3})}).find("convert"),
            std::string::npos);
  const View i32 = View::contiguous(Dtype::i32, {3}), boolean = View::contiguous(Dtype::boolean, {3});
  EXPECT_NE(text(einsum("i -> i", {{"alpha", "0.5"}}), {i32}).find("whole numbers"), std::string::npos);
  EXPECT_NE(text(einsum("i -> i", {{"activation", "relu"}}), {boolean}).find("real numbers"), std::string::npos);
  PlanOptions in_place, forced;
  in_place.in_place = true;
  forced.candidate = "packed";
  EXPECT_NE(text(einsum("i -> i"), {f32({3})}, in_place).find("in place"), std::string::npos);
  View repeated = f32({3});
  repeated.strides = {0};
  EXPECT_EQ(code_thrown([&] { planned(einsum("i -> i"), {f32({3}), repeated}); }), Errc::overlap);
  EXPECT_EQ(code_thrown([&] { planned(einsum("i j -> j i"), {f32({3, 4})}, forced); }), Errc::unsupported);
}

TEST_F(Einsum, RefusesF64WhereThereIsNone) {
  DeviceInfo info = cpu_info();
  info.f64 = false;
  const Device device(std::make_shared<PretendedDevice>(info));
  const View f64 = View::contiguous(Dtype::f64, {3}), i32 = View::contiguous(Dtype::i32, {3});
  const std::vector<View> doubles{f64, f64}, promoted{i32, f32({3})};
  EXPECT_EQ(code_thrown([&] { plan(einsum("i, i ->"), doubles, device); }), Errc::unsupported);
  EXPECT_EQ(code_thrown([&] { plan(einsum("i, i ->"), promoted, device); }), Errc::unsupported);
}

}  // namespace
}  // namespace axisloom::ops_test

namespace axisloom::ops {
namespace {

LoweredProduct lowered(const Operation& op, const std::vector<Dims>& shapes) {
  std::vector<View> views;
  for (const Dims& shape : shapes) views.push_back(View::contiguous(Dtype::f32, shape));
  views.push_back(contraction_result(op, views));
  const Contraction problem = contraction_of(op, views);
  return lower_product(problem, {problem.operands[0], problem.operands[1], problem.out});
}

TEST(EinsumLowering, GivesColumnsTheOutputsFastestAxis) {
  const LoweredProduct straight = lowered({"einsum", {"i k, k j -> i j"}}, {{30, 40}, {40, 50}});
  EXPECT_FALSE(straight.swapped);
  EXPECT_EQ(straight.product.m.extent, 30);
  EXPECT_EQ(straight.product.n.extent, 50);
  EXPECT_EQ(straight.product.k.extent, 40);
  EXPECT_EQ(straight.product.n.out, 1);
  const LoweredProduct turned = lowered({"einsum", {"i k, k j -> j i"}}, {{30, 40}, {40, 50}});
  EXPECT_TRUE(turned.swapped);
  EXPECT_EQ(turned.product.m.extent, 50);
  EXPECT_EQ(turned.product.n.extent, 30);
  EXPECT_EQ(turned.product.n.out, 1);
  EXPECT_EQ(turned.product.m.in, 1);
  EXPECT_EQ(turned.product.n.other, 40);
}

TEST(EinsumLowering, WalksWhatDoesNotMergeAsABatch) {
  const LoweredProduct step = lowered({"einsum", {"b i d, h d e -> b h i e"}}, {{3, 30, 40}, {5, 40, 20}});
  EXPECT_EQ(step.product.m.extent, 30);
  EXPECT_EQ(step.product.n.extent, 20);
  EXPECT_EQ(step.product.k.extent, 40);
  ASSERT_EQ(step.product.batch.size(), 2u);
  EXPECT_EQ(step.product.batch[0].extent, 3);
  EXPECT_EQ(step.product.batch[0].in, 30 * 40);
  EXPECT_EQ(step.product.batch[0].other, 0);
  EXPECT_EQ(step.product.batch[1].extent, 5);
  EXPECT_EQ(step.product.batch[1].in, 0);
  EXPECT_EQ(step.product.batch[1].other, 40 * 20);
}

}  // namespace
}  // namespace axisloom::ops
