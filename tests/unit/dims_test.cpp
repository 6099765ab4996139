// Lists of extents, their strides, and their product.
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include <axisloom/array.hpp>
#include <axisloom/error.hpp>

namespace axisloom {
namespace {

constexpr std::int64_t large = std::int64_t{1} << 32;

TEST(Dims, HoldUpToTheLargestRank) {
  Dims dims = Dims::filled(max_rank, 3);
  EXPECT_EQ(dims.size(), max_rank);
  EXPECT_EQ(dims.back(), 3);
  EXPECT_THROW(dims.push_back(1), Error);
  EXPECT_THROW(Dims::filled(max_rank + 1, 1), Error);
  EXPECT_THROW(Dims(std::vector<std::int64_t>(max_rank + 1, 1)), Error);
}

TEST(Dims, CompareBySizeAndValues) {
  EXPECT_EQ((Dims{1, 2}), (Dims{1, 2}));
  EXPECT_NE((Dims{1, 2}), (Dims{1, 3}));
  EXPECT_NE((Dims{1, 2}), (Dims{1, 2, 0}));
  EXPECT_TRUE(Dims{}.empty());
}

TEST(Dims, Strides) {
  EXPECT_EQ(contiguous_strides({2, 3, 4}), (Dims{12, 4, 1}));
  EXPECT_EQ(fortran_strides({2, 3, 4}), (Dims{1, 2, 6}));
  EXPECT_EQ(contiguous_strides({2, 0, 4}), (Dims{4, 4, 1}));
  EXPECT_EQ(contiguous_strides({}), Dims{});
  EXPECT_THROW(contiguous_strides({large, large, large}), Error);
}

TEST(Dims, Count) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({2, 3, 4}), 24);
  EXPECT_EQ(element_count({std::numeric_limits<std::int64_t>::max()}), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(element_count({large, large, 0, large}), 0);
  EXPECT_THROW(element_count({large, large}), Error);
  EXPECT_THROW(element_count({2, -1}), Error);
  EXPECT_THROW(element_count({0, -1}), Error);
}

TEST(Dims, Text) {
  EXPECT_EQ(to_string(Dims{3, -4, 5}), "[3,-4,5]");
  EXPECT_EQ(to_string(Dims{}), "[]");
}

}  // namespace
}  // namespace axisloom
