// The normalised form of reductions: what its header promises of the axes.
#include "ops/reduce/reduction.hpp"

#include <gtest/gtest.h>

namespace axisloom::ops {
namespace {

std::vector<std::int64_t> in_strides(const core::Loops& axes) {
  std::vector<std::int64_t> strides;
  for (const core::Loop& axis : axes) strides.push_back(axis.in);
  return strides;
}

TEST(Reduction, AxesAreOrderedByTheInputsStrideAndThoseOfStrideNoughtComeFirst) {
  Reduction reduction;
  reduction.kept = {{3, 2, 10}, {5, 0, 100}, {7, 1000, 1}, {2, 50, 1000}};
  reduction.reduced = {{4, 7, 0}, {3, 0, 0}, {6, 300, 0}};
  const Reduction sorted = normalise(reduction);
  EXPECT_EQ(in_strides(sorted.kept), (std::vector<std::int64_t>{0, 1000, 50, 2}));
  EXPECT_EQ(in_strides(sorted.reduced), (std::vector<std::int64_t>{0, 300, 7}));
}

TEST(Reduction, PlacesKeepTheOrderOfWhatIsReduced) {
  Reduction reduction;
  reduction.recipe.finish = Finish::place;
  reduction.recipe.accumulation = Accumulation::place;
  reduction.reduced = {{4, 7, 0}, {3, 0, 0}, {6, 300, 0}};
  EXPECT_EQ(in_strides(normalise(reduction).reduced), (std::vector<std::int64_t>{7, 0, 300}));
}

}  // namespace
}  // namespace axisloom::ops
