// Overlap of views against the sets of bytes they touch, and the cases that must not be decided.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include <axisloom/error.hpp>

#include "core/overlap.hpp"

namespace axisloom::core {
namespace {

template <class Visit>
void for_each_element(const View& view, const Visit& visit) {
  const auto walk = [&](const auto& self, int axis, std::int64_t offset) -> void {
    if (axis == view.rank()) return visit(offset);
    for (std::int64_t i = 0; i < view.shape[axis]; ++i) self(self, axis + 1, offset + i * view.strides[axis]);
  };
  walk(walk, 0, view.offset);
}

std::set<std::int64_t> bytes_of(const View& view, std::int64_t start) {
  const auto size = static_cast<std::int64_t>(size_of(view.dtype));
  std::set<std::int64_t> bytes;
  for_each_element(view, [&](std::int64_t offset) {
    for (std::int64_t byte = 0; byte < size; ++byte) bytes.insert(start + offset * size + byte);
  });
  return bytes;
}

class RandomViews {
 public:
  explicit RandomViews(unsigned seed) : engine_(seed) {}

  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }

  View next(std::int64_t largest_stride) {
    static constexpr Dtype dtypes[] = {Dtype::u8, Dtype::u16, Dtype::f32, Dtype::f64, Dtype::c128};
    View view;
    view.dtype = dtypes[pick(0, 4)];
    for (std::int64_t rank = pick(0, 4); rank > 0; --rank) {
      view.shape.push_back(pick(0, 30) == 0 ? 0 : pick(1, 5));
      view.strides.push_back(pick(-largest_stride, largest_stride));
    }
    view.offset = pick(0, 60);
    return view;
  }

 private:
  std::mt19937 engine_;
};

TEST(Overlap, AgreesWithTheBytesTouched) {
  RandomViews views(1);
  int verdicts[2] = {0, 0};
  for (int round = 0; round < 10000; ++round) {
    const View a = views.next(40), b = views.next(40);
    const auto a_start = static_cast<std::uint64_t>(views.pick(100000, 100064));
    const auto b_start = static_cast<std::uint64_t>(views.pick(100000, 100064));
    const auto in_a = bytes_of(a, static_cast<std::int64_t>(a_start));
    const auto in_b = bytes_of(b, static_cast<std::int64_t>(b_start));
    const bool shared =
        std::any_of(in_a.begin(), in_a.end(), [&in_b](std::int64_t byte) { return in_b.contains(byte); });
    ASSERT_EQ(shares_memory(a, a_start, b, b_start), shared ? Overlap::yes : Overlap::no)
        << to_string(a) << " at " << a_start << ", " << to_string(b) << " at " << b_start;
    ++verdicts[shared];
  }
  EXPECT_GT(std::min(verdicts[0], verdicts[1]), 1000);
}

TEST(Overlap, WithinAViewAgreesWithTheElementsTouched) {
  RandomViews views(2);
  int verdicts[2] = {0, 0};
  for (int round = 0; round < 10000; ++round) {
    const View view = views.next(round % 2 ? 200 : 12);
    std::set<std::int64_t> elements;
    bool twice = false;
    for_each_element(view, [&](std::int64_t offset) { twice = !elements.insert(offset).second || twice; });
    ASSERT_EQ(overlaps_itself(view), twice ? Overlap::yes : Overlap::no) << to_string(view);
    ++verdicts[twice];
  }
  EXPECT_GT(std::min(verdicts[0], verdicts[1]), 1000);
}

TEST(Overlap, InterleavedViewsAreApart) {
  View even = View::contiguous(Dtype::f32, {1 << 20});
  even.strides[0] = 2;
  View odd = even;
  odd.offset = 1;
  EXPECT_EQ(shares_memory(even, 4096, odd, 4096), Overlap::no);
  EXPECT_EQ(shares_memory(even, 4096, odd, 4100), Overlap::yes);
  EXPECT_EQ(shares_memory(even, 4096, odd, 4097), Overlap::yes);
}

TEST(Overlap, HalvesOfAPitchedImageAreApart) {
  View left = View::contiguous(Dtype::u8, {4096, 2048});
  left.strides[0] = 4096;
  View right = left;
  right.offset = 2048;
  EXPECT_EQ(shares_memory(left, 0, right, 0, 4), Overlap::no);
  right.offset = 2047;
  EXPECT_EQ(shares_memory(left, 0, right, 0, 4), Overlap::yes);
}

TEST(Overlap, OfContiguousViewsNeedsNoSearch) {
  const View view = View::contiguous(Dtype::f64, {3, 5, 7, 11, 13, 17, 19});
  const auto bytes = static_cast<std::uint64_t>(view.count()) * 8;
  EXPECT_EQ(shares_memory(view, 0, view, bytes - 1, 0), Overlap::yes);
  EXPECT_EQ(shares_memory(view, 0, view, bytes, 0), Overlap::no);
  EXPECT_EQ(overlaps_itself(view, 0), Overlap::no);
}

TEST(Overlap, StartsNearTheEndOfTheAddressSpace) {
  const View view = View::contiguous(Dtype::u8, {16});
  EXPECT_EQ(shares_memory(view, ~std::uint64_t{0} - 16, view, 0), Overlap::no);
  EXPECT_EQ(shares_memory(view, ~std::uint64_t{0} - 16, view, ~std::uint64_t{0} - 20), Overlap::yes);
}

TEST(Overlap, EndsUndecidedWhenTheWorkIsSpent) {
  View a;
  a.shape = {50, 50, 50, 50};
  a.strides = {12345678, 9876543, 7654321, 5432109};
  View b = a;
  b.shape = {51, 49, 50, 50};
  b.strides = {11111117, 9999991, 7777777, 5555559};
  EXPECT_EQ(shares_memory(a, 1 << 20, b, (1 << 20) + 17, 3), Overlap::undecided);
  EXPECT_EQ(overlaps_itself(a, 1), Overlap::undecided);
}

TEST(Overlap, EmptyViewsTouchNothing) {
  const View full = View::contiguous(Dtype::u8, {16});
  const View empty = View::contiguous(Dtype::u8, {4, 0});
  EXPECT_EQ(shares_memory(full, 0, empty, 4), Overlap::no);
  View repeated = empty;
  repeated.strides[0] = 0;
  EXPECT_EQ(overlaps_itself(repeated), Overlap::no);
}

TEST(Overlap, RefusesSpansBeyond63Bits) {
  View view = View::contiguous(Dtype::c128, {2});
  view.strides[0] = std::int64_t{1} << 62;
  EXPECT_THROW(shares_memory(view, 0, view, 0), Error);
  EXPECT_THROW(overlaps_itself(view), Error);
}

}  // namespace
}  // namespace axisloom::core
