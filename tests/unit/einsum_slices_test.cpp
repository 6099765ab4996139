// Products of host arrays beyond the largest buffer: cut along axes of the result, or of the sums too.
#include "limited_device.hpp"

#include "ops/einsum/path.hpp"
#include "ops/einsum/problem.hpp"

#include <gtest/gtest.h>

#include <array>

namespace axisloom::ops_test {
namespace {

struct Job {
  Operation op;
  std::vector<View> inputs;
};

std::vector<View> all_views(const Job& job) {
  std::vector<View> views = job.inputs;
  views.push_back(result_view(job.op, job.inputs));
  return views;
}

int expect_oracle(const Job& job, std::size_t granted, const PlanOptions& options = {}, bool unified = true) {
  return expect_oracle_in_slices(job.op, all_views(job), granted, options, unified);
}

View contiguous(Dtype dtype, const Dims& shape) {
  return View::contiguous(dtype, shape);
}

TEST(EinsumSlices, EveryAxisOfAProductMayBeTooLong) {
  const Dtype f32 = Dtype::f32;
  for (const auto& [m, n, k] : std::vector<std::array<std::int64_t, 3>>{{90, 5, 60}, {5, 90, 60}, {7, 9, 900}}) {
    EXPECT_GT(expect_oracle({matmul(), {contiguous(f32, {m, k}), contiguous(f32, {k, n})}}, 5000, plainly()), 4);
    EXPECT_GT(expect_oracle({matmul({{"transpose-a", ""}, {"transpose-b", ""}}),
                             {contiguous(f32, {k, m}), contiguous(f32, {n, k})}},
                            5000, plainly(), false),
              4);
  }
  expect_oracle({matmul(), {contiguous(f32, {6, 30, 20}), contiguous(f32, {6, 20, 10})}}, 5000, plainly());
}

TEST(EinsumSlices, TheEpilogueIsAppliedOnce) {
  const Options options = {{"alpha", "-1.5"}, {"beta", "2"}, {"activation", "relu"}};
  for (const Dims& addend : {Dims{12, 10}, Dims{10}})
    for (const PlanOptions& forced : {PlanOptions{}, plainly()})
      EXPECT_GT(expect_oracle({matmul(options),
                               {contiguous(Dtype::f32, {12, 600}), contiguous(Dtype::f32, {600, 10}),
                                contiguous(Dtype::f32, addend)}},
                              6000, forced),
                4);
}

TEST(EinsumSlices, EveryKindOfNumber) {
  for (const Dtype dtype : {Dtype::c64, Dtype::i8, Dtype::u64, Dtype::boolean}) {
    const auto length = static_cast<std::int64_t>(12000 / size_of(dtype) / 8);
    EXPECT_GT(
        expect_oracle({matmul(), {contiguous(dtype, {8, length}), contiguous(dtype, {length, 5})}}, 5000, plainly()), 4)
        << name(dtype);
  }
}

TEST(EinsumSlices, SixteenBitsAreRoundedOnce) {
  const Job job{matmul({{"beta", "1"}}),
                {contiguous(Dtype::f16, {4, 2000}), contiguous(Dtype::f16, {2000, 3}), contiguous(Dtype::f16, {4, 3})}};
  EXPECT_GT(expect_oracle(job, 5000), 4);
  std::vector<View> views = all_views(job);
  const ops::Slices slices = ops::entry("matmul").slices(job.op, views, real_device(), {}, 5000);
  EXPECT_EQ(slices.list.front().plan->views.back().dtype, Dtype::f32);
  EXPECT_EQ(slices.list.back().plan->views.back().dtype, Dtype::f16);
}

TEST(EinsumSlices, SumsCopiesDiagonalsAndChains) {
  const Dtype f32 = Dtype::f32;
  expect_oracle({einsum("i j -> j"), {contiguous(f32, {400, 7})}}, 5000);
  expect_oracle({einsum("i j k -> k i"), {contiguous(f32, {20, 9, 30})}}, 5000);
  expect_oracle({einsum("i i -> i"), {contiguous(f32, {70, 70})}}, 5000);
  expect_oracle({dot(), {contiguous(f32, {3000}), contiguous(f32, {3000})}}, 5000);
  expect_oracle({einsum("i, j -> i j"), {contiguous(f32, {90}), contiguous(f32, {40})}}, 5000);
  expect_oracle({einsum("i k, k l, l j -> i j"),
                 {contiguous(f32, {40, 60}), contiguous(f32, {60, 50}), contiguous(f32, {50, 9})}},
                8000);
  expect_oracle({einsum("i k, k j -> i j"), {contiguous(f32, {70, 0}), contiguous(f32, {0, 30})}}, 5000);
}

TEST(EinsumSlices, AnyStridesAndMixedDtypes) {
  View a = contiguous(Dtype::i16, {30, 80}), b = contiguous(Dtype::f32, {80, 20});
  a.strides = {-90, 1};
  a.offset = 29 * 90 + 3;
  b.strides = {1, -83};
  b.offset = 19 * 83;
  EXPECT_GT(expect_oracle({matmul(), {a, b}}, 3000), 4);
}

// A slice's own cheapest order could have another bound than the whole.
TEST(EinsumSlices, KeepTheOrderOfTheWhole) {
  const Operation op = einsum("a b, b c, c d -> a d");
  const std::vector<View> inputs = {contiguous(Dtype::f32, {400, 20}), contiguous(Dtype::f32, {20, 30}),
                                    contiguous(Dtype::f32, {30, 3})};
  std::vector<View> views = inputs;
  views.push_back(result_view(op, inputs));
  const std::string order = plan(op, views, real_device()).report().steps.front();
  for (const ops::Slice& slice : ops::entry("einsum").slices(op, views, real_device(), {}, 2500).list)
    EXPECT_EQ(slice.plan->report.steps.front().substr(0, order.find("  ")), order.substr(0, order.find("  ")));
}

TEST(EinsumSlices, WhatCannotBeCutIsNamed) {
  const Job job{matmul(), {contiguous(Dtype::c128, {3, 3}), contiguous(Dtype::c128, {3, 3})}};
  EXPECT_EQ(code_thrown([&] { ops::entry("matmul").slices(job.op, all_views(job), real_device(), {}, 15); }),
            Errc::out_of_memory);
}

}  // namespace
}  // namespace axisloom::ops_test
