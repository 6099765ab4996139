// Moves cut into parts whose bounds fit into small buffers: the parts together give what the whole gives.
#include "ops_support.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace axisloom::ops_test {
namespace {

constexpr std::int64_t limit = 1000;

struct Case {
  Operation op;
  std::vector<View> views;
};

class Cases {
 public:
  explicit Cases(unsigned seed) : engine_(seed) {}

  Case next() {
    constexpr std::array dtypes = {Dtype::u8, Dtype::u16, Dtype::f32, Dtype::f64};
    const Dtype dtype = dtypes[static_cast<std::size_t>(between(0, 3))];
    const int rank = between(1, 4);
    Dims shape;
    for (int i = 0; i < rank; ++i) shape.push_back(between(1, rank == 1 ? 3000 : rank == 2 ? 60 : 11));
    const Operation op = permute(order(rank));
    std::vector<View> views = with_result(op, View::contiguous(dtype, shape));
    for (View& view : views) place(view);
    return {op, views};
  }

 private:
  int between(int low, int high) { return std::uniform_int_distribution(low, high)(engine_); }

  std::vector<int> order(int rank) {
    std::vector<int> list(static_cast<std::size_t>(rank));
    std::iota(list.begin(), list.end(), 0);
    std::shuffle(list.begin(), list.end(), engine_);
    return list;
  }

  /// Gaps between rows, an offset, and some axes that run backwards.
  void place(View& view) {
    std::int64_t stride = 1;
    view.offset = between(0, 9);
    for (const int axis : order(view.rank())) {
      view.strides[axis] = stride;
      stride *= view.shape[axis];
      stride += between(0, 3);
      if (between(0, 2) > 0) continue;
      view.offset += (view.shape[axis] - 1) * view.strides[axis];
      view.strides[axis] *= -1;
    }
  }

  std::mt19937 engine_;
};

std::vector<ops::Slice> cut(const Case& given, std::int64_t most) {
  return ops::entry(given.op.name).slices(given.op, given.views, real_device(), {}, most).list;
}

/// Runs a part on copies of its bytes and writes back what came out.
void run_part(const ops::Slice& slice, const Bytes& in, Bytes& out) {
  const auto part = [](auto& bytes, const ops::Slice::Range& range) {
    return std::span(bytes).subspan(static_cast<std::size_t>(range.begin), static_cast<std::size_t>(range.bytes));
  };
  const std::span<std::byte> to = part(out, slice.ranges[1]);
  const std::span<const std::byte> from = part(in, slice.ranges[0]);
  const Bytes result = after_run(Plan(slice.plan), Bytes(from.begin(), from.end()), Bytes(to.begin(), to.end()));
  std::ranges::copy(result, to.begin());
}

void expect_parts_give_the_whole(const Case& given, std::int64_t most, bool backwards) {
  const Bytes in = random_bytes(buffer_bytes(given.views[0]), 1);
  const Bytes gaps(static_cast<std::size_t>(buffer_bytes(given.views[1])), std::byte{0xee});
  std::vector<ops::Slice> parts = cut(given, most);
  if (backwards) std::ranges::reverse(parts);
  Bytes out = gaps;
  for (const ops::Slice& slice : parts) {
    ASSERT_EQ(slice.ranges.size(), 2u);
    for (const ops::Slice::Range& range : slice.ranges) EXPECT_LE(range.bytes, most);
    run_part(slice, in, out);
  }
  EXPECT_EQ(out, after_oracle(given.op, given.views, in, gaps));
}

TEST(Slices, TogetherGiveTheWhole) {
  Cases cases(31);
  std::size_t most = 0;
  for (int i = 0; i < 40; ++i) {
    const Case given = cases.next();
    SCOPED_TRACE(to_string(given.op) + " " + to_string(given.views[0]) + " -> " + to_string(given.views[1]));
    expect_parts_give_the_whole(given, limit, i % 2 == 1);
    most = std::max(most, cut(given, limit).size());
  }
  EXPECT_GT(most, 10u) << "the arrays were too small to be cut";
}

TEST(Slices, OfOneElementEach) {
  const View in = View::contiguous(Dtype::f64, {3, 4});
  const Case given{transpose(), with_result(transpose(), in)};
  EXPECT_EQ(cut(given, 8).size(), 12u);
  expect_parts_give_the_whole(given, 8, false);
}

TEST(Slices, OneIsEnoughForSmallArrays) {
  const Case given{transpose(), with_result(transpose(), View::contiguous(Dtype::f32, {10, 25}))};
  const std::vector<ops::Slice> parts = cut(given, limit);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].ranges[0].begin, 0);
  EXPECT_EQ(parts[0].ranges[0].bytes, limit);
}

TEST(Slices, TailsOfChannelsStayTogether) {
  for (const bool back : {false, true}) {
    const Operation op = back ? relayout("NC/8HW8", "NCHW", 11) : relayout("NCHW", "NC/8HW8");
    const View in = View::contiguous(Dtype::u8, back ? Dims{5, 2, 6, 7, 8} : Dims{5, 11, 6, 7});
    expect_parts_give_the_whole({op, with_result(op, in)}, limit, back);
  }
}

TEST(Slices, WhatCannotBeCutIsNamed) {
  const Operation op = relayout("NCHW", "NC/32HW32");
  const Case given{op, with_result(op, View::contiguous(Dtype::f32, {1, 67, 1, 1}))};
  EXPECT_EQ(code_thrown([&] { cut(given, 100); }), Errc::out_of_memory);
  EXPECT_NE(text_thrown([&] { cut(given, 100); }).find("100 bytes"), std::string::npos);
}

TEST(Slices, AnElementLargerThanTheLimitIsNamed) {
  const Case given{copy(), with_result(copy(), View::contiguous(Dtype::c128, {4}))};
  EXPECT_EQ(code_thrown([&] { cut(given, 15); }), Errc::out_of_memory);
}

TEST(Slices, EmptyArraysNeedNoBytes) {
  const Case given{transpose(), with_result(transpose(), View::contiguous(Dtype::f32, {0, 5}))};
  for (const ops::Slice& slice : cut(given, limit))
    for (const ops::Slice::Range& range : slice.ranges) EXPECT_EQ(range.bytes, 0);
}

TEST(Slices, RefuseWhatPlansRefuse) {
  std::vector<View> views = with_result(transpose(), View::contiguous(Dtype::f32, {30, 40}));
  views[1].strides = {0, 1};
  const Device limited(std::make_shared<device::SmallBuffers>(real_device().impl(), std::size_t(limit)));
  const Bytes in(std::size_t(buffer_bytes(views[0])));
  Bytes out(std::size_t(buffer_bytes(views[1])));
  const std::span<const std::byte> input(in);
  EXPECT_EQ(code_thrown([&] { run_on_host(transpose(), views, {&input, 1}, out, limited); }), Errc::overlap);
}

}  // namespace
}  // namespace axisloom::ops_test
