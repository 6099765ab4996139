// Loop nests: what is merged, reversed and ordered, and what is proved about the places that loops lead to.
#include <gtest/gtest.h>

#include <limits>

#include "core/nest.hpp"
#include "core/text.hpp"

namespace axisloom::core {
namespace {

constexpr i64 most_32 = std::numeric_limits<i32>::max();

TEST(Nest, MergesLoopsThatAllArraysWalkAsOne) {
  Loops loops{{4, 20, 1, 5}, {3, 80, 4, 20}, {5, 1, 12, 0}};
  merge(loops);
  EXPECT_EQ(loops, (Loops{{12, 20, 1, 5}, {5, 1, 12, 0}}));
  for (const Operand one : {&Loop::in, &Loop::out, &Loop::other, &Loop::addend}) {
    Loops apart{{3, 80, 40, 20, 60}, {4, 20, 10, 5, 15}};
    apart[1].*one += 1;
    merge(apart);
    EXPECT_EQ(apart.size(), 2u);
  }
}

TEST(Nest, KeepsLoopsWhoseReachNoNumberHolds) {
  EXPECT_FALSE(continues({2, 0}, {i64{1} << 32, i64{1} << 32}));  // the product wraps round to 0
}

TEST(Nest, MergesNeighboursOnlyWhereTheOrderOfStepsMatters) {
  const Loops interleaved{{3, 4}, {5, 100}, {4, 1}};
  Loops free = interleaved, in_order = interleaved;
  merge(free);
  merge(in_order, true);
  EXPECT_EQ(free, (Loops{{5, 100}, {12, 1}}));
  EXPECT_EQ(in_order, interleaved);
}

TEST(Nest, TurnsALoopRoundOnBothSides) {
  Loop loop{5, 2, -3};
  i64 in = 10, out = 20;
  reverse_loop(loop, in, out);
  EXPECT_EQ(loop, (Loop{5, -2, 3}));
  EXPECT_EQ(in, 18);
  EXPECT_EQ(out, 8);
}

TEST(Nest, OrdersByTheOutputOrByTheInput) {
  const Loops loops{{2, 0, 7}, {3, -9, 1}, {4, 5, 30}, {5, 0, 8}};
  Loops by_output = loops, by_input = loops;
  order_by_output(by_output);
  order_by_input(by_input);
  EXPECT_EQ(joined(by_output, ",", &Loop::extent), "4,5,2,3");
  EXPECT_EQ(joined(by_input, ",", &Loop::extent), "5,2,3,4") << "those that repeat an element are the slowest";
}

TEST(Nest, CountsStepsAndElements) {
  const Loops loops{{3, 0, 4}, {4, 5, 1}};
  EXPECT_EQ(count(loops), 12);
  EXPECT_EQ(distinct(loops, &Loop::in), 4);
  EXPECT_EQ(count(Loops{{i64{1} << 40}, {i64{1} << 40}, {0}}), 0) << "however long the others are";
  EXPECT_EQ(over_blocks({10, 3, 5, 7, 9}, 4), (Loop{3, 12, 20, 28, 36}));
  EXPECT_EQ(without(loops, 0), (Loops{{4, 5, 1}}));
}

TEST(Nest, ReachesFromItsStartInBothDirections) {
  const Bounds bounds = reach(Loops{{3, -10}, {4, 5}, {0, 1000}}, &Loop::in, 7);
  EXPECT_EQ(bounds.low, -13);
  EXPECT_EQ(bounds.high, 22);
  EXPECT_EQ(reach_beyond(Loops{{3, -10, 1}, {4, 5, 13}}, 0), 55);
  EXPECT_EQ(reach_beyond(Loops{{3, -10, 1}, {4, 5, 1}}, 2), 80) << "the input's, and the stride backward too";
  EXPECT_EQ(reach_beyond(Loops{{3, -10, 1}, {4, 5, 13}}, 2), 83);
}

TEST(Nest, FitsIn32BitsUpToTheLastPlace) {
  EXPECT_TRUE(fits_32_bits(Loops{{2, most_32}}, &Loop::in, 0));
  EXPECT_FALSE(fits_32_bits(Loops{{2, most_32}}, &Loop::in, 1));
  EXPECT_TRUE(fits_32_bits(Loops{{2, -most_32}}, &Loop::in, 0));
  EXPECT_FALSE(fits_32_bits(Loops{{2, -most_32}}, &Loop::in, -1)) << "the least number stands for no place";
  EXPECT_FALSE(fits_32_bits(Loops{{2, -most_32 - 1}}, &Loop::in, most_32)) << "on the way there";
  EXPECT_FALSE(fits_32_bits(Loops{{1, most_32 + 1}}, &Loop::in, 0)) << "strides are parameters too";
  EXPECT_TRUE(fits_32_bits(most_32 - (1 << 20)));
  EXPECT_FALSE(fits_32_bits(most_32 - (1 << 20) + 1));
}

TEST(Nest, ProvesTheAlignmentThatAllPlacesHave) {
  const Loops loops{{4, 48}, {1, 3}, {2, 0}};
  EXPECT_EQ(proven_alignment(loops, &Loop::in, {.offset = 32}, 4, 256), 64) << "48 elements of 4 bytes";
  EXPECT_EQ(proven_alignment(loops, &Loop::in, {.offset = 2}, 4, 256), 8);
  EXPECT_EQ(proven_alignment(loops, &Loop::in, {.align = 16}, 4, 256), 16);
  EXPECT_EQ(proven_alignment(loops, &Loop::in, {}, 4, 8), 8);
}

}  // namespace
}  // namespace axisloom::core
