// Cutting nests of loops, without any device: the parts are the whole, each once, and stay within the limit.
#include "planner/slices.hpp"

#include <axisloom/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace axisloom::ops {
namespace {

using Point = std::vector<std::int64_t>;

template <class Visit>
void for_each_point(const Box& box, const Visit& visit) {
  Point point;
  const auto walk = [&](const auto& self) -> void {
    if (point.size() == box.size()) return visit(point);
    const Interval& interval = box[point.size()];
    for (std::int64_t i = interval.begin; i < interval.begin + interval.extent; ++i) {
      point.push_back(i);
      self(self);
      point.pop_back();
    }
  };
  walk(walk);
}

class RandomNests {
 public:
  SlicedNest next() {
    SlicedNest nest;
    const int loops = between(1, 4);
    nest.arrays.resize(static_cast<std::size_t>(between(1, 3)));
    nest.arrays.push_back({.element = 8, .strides = {}, .span = 1, .result = true});
    nest.partial_bytes = 1;
    for (int d = 0; d < loops; ++d) {
      nest.extents.push_back(between(1, 9));
      nest.reduced.push_back(between(0, 1) == 1);
      for (SlicedArray& array : nest.arrays)
        array.strides.push_back(array.result && nest.reduced.back() ? 0 : between(-20, 20));
    }
    for (SlicedArray& array : nest.arrays) array.element = std::int64_t{1} << between(0, 3);
    return nest;
  }

 private:
  int between(int low, int high) { return std::uniform_int_distribution(low, high)(engine_); }
  std::mt19937 engine_{7};
};

void expect_within(const SlicedNest& nest, const Box& box, const SlicedArray& array, std::int64_t limit) {
  const Bounds bounds = bounds_in(nest, box, array);
  EXPECT_LE((bounds.high - bounds.low) * array.element, limit);
  for_each_point(box, [&](const Point& point) {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < point.size(); ++d) at += point[d] * array.strides[d];
    EXPECT_LE(bounds.low, at);
    EXPECT_LT(at, bounds.high);
  });
}

bool same_kept(const SlicedNest& nest, const Box& a, const Box& b) {
  for (std::size_t d = 0; d < a.size(); ++d)
    if (!nest.reduced[d] && (a[d].begin != b[d].begin || a[d].extent != b[d].extent)) return false;
  return true;
}

TEST(Cut, PartsAreTheWholeOnceAndWithinTheLimit) {
  RandomNests nests;
  bool in_parts = false, in_blocks = false;
  for (int i = 0; i < 300; ++i) {
    const SlicedNest nest = nests.next();
    const std::int64_t limit = 200 + 10 * i;
    std::map<Point, int> times;
    const std::vector<Block> blocks = cut(nest, limit);
    in_blocks |= blocks.size() > 1;
    for (const Block& block : blocks) {
      in_parts |= block.parts.size() > 1;
      for (const Box& part : block.parts) {
        EXPECT_TRUE(same_kept(nest, part, block.box));
        for (const SlicedArray& array : nest.arrays) expect_within(nest, part, array, limit);
        for_each_point(part, [&](const Point& point) { ++times[point]; });
      }
    }
    std::int64_t points = 1;
    for (const std::int64_t extent : nest.extents) points *= extent;
    EXPECT_EQ(static_cast<std::int64_t>(times.size()), points);
    EXPECT_TRUE(std::all_of(times.begin(), times.end(), [](const auto& point) { return point.second == 1; }));
  }
  EXPECT_TRUE(in_parts && in_blocks) << "the nests were too small";
}

/// rows x columns of four bytes, contiguous, of which one axis is reduced.
SlicedNest matrix(std::int64_t rows, std::int64_t columns, bool rows_are_reduced) {
  SlicedNest nest;
  nest.extents = {rows, columns};
  nest.reduced = {rows_are_reduced, !rows_are_reduced};
  nest.arrays = {{4, {columns, 1}, 1, false},
                 {4, rows_are_reduced ? std::vector<std::int64_t>{0, 1} : std::vector<std::int64_t>{1, 0}, 1, true}};
  nest.partial_bytes = 16;
  return nest;
}

TEST(Cut, NothingWhereAllFits) {
  const std::vector<Block> blocks = cut(matrix(10, 10, true), 400);
  ASSERT_EQ(blocks.size(), 1u);
  EXPECT_EQ(blocks[0].parts.size(), 1u);
}

TEST(Cut, KeptLoopsAloneWhereThatIsEnough) {
  for (const Block& block : cut(matrix(64, 10, false), 100)) EXPECT_EQ(block.parts.size(), 1u);
}

TEST(Cut, ReducedLoopsWhereTheyReachTooFar) {
  const std::vector<Block> blocks = cut(matrix(64, 10, true), 1280);
  ASSERT_EQ(blocks.size(), 1u);
  EXPECT_EQ(blocks[0].parts.size(), 2u);
}

TEST(Cut, BothWherePartialResultsNeedTooMuch) {
  const std::vector<Block> blocks = cut(matrix(64, 100, true), 1000);
  EXPECT_GT(blocks.size(), 1u);
  for (const Block& block : blocks)
    EXPECT_LE(static_cast<std::int64_t>(block.parts.size()) * block.box[1].extent * 16, 1000);
}

TEST(Cut, SaysWhatIsTooLargeForAnything) {
  EXPECT_THROW(cut(matrix(2, 2, true), 3), Error);
  EXPECT_THROW(cut(matrix(640, 1, true), 100), Error) << "the partial results of one output";
}

TEST(Cut, LoopsThatHaveNoSteps) {
  SlicedNest nest = matrix(0, 100, true);
  const std::vector<Block> blocks = cut(nest, 100);
  EXPECT_GT(blocks.size(), 1u) << "there are results all the same";
  EXPECT_EQ(bounds_in(nest, blocks[0].box, nest.arrays[0]).high, 0);
  nest = matrix(0, 100, false);
  EXPECT_EQ(cut(nest, 100).size(), 1u);
}

}  // namespace
}  // namespace axisloom::ops
