// Lists of a few elements: where they lie, and that each element is destroyed once.
#include "core/short_list.hpp"

#include "failing_allocations.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>

namespace axisloom::core {
namespace {

TEST(ShortList, HoldsWhatIsAdded) {
  for (const size_t most : {0, 1, 4, 5, 100}) {
    ShortList<int, 4> list(most);
    for (size_t i = 0; i < most; ++i) list.push_back(int(i));
    EXPECT_EQ(list.size(), most);
    EXPECT_EQ(std::accumulate(list.begin(), list.end(), size_t{0}), most * (most - 1) / 2 * (most > 0));
  }
}

TEST(ShortList, OfFewElementsAllocatesNothing) {
  const auto before = test::allocation_faults.made;
  ShortList<int, 4> list(4);
  for (int i = 0; i < 4; ++i) list.push_back(i);
  EXPECT_EQ(test::allocation_faults.made, before);
}

TEST(ShortList, DestroysItsElementsOnce) {
  const auto shared = std::make_shared<int>(7);
  {
    ShortList<std::shared_ptr<int>, 2> list(3);
    list.push_back(shared);
    list.push_back(shared);
    list.clear();
    EXPECT_EQ(shared.use_count(), 1);
    for (int i = 0; i < 3; ++i) list.push_back(shared);
    EXPECT_EQ(shared.use_count(), 4);
    EXPECT_EQ(*list[2], 7);
  }
  EXPECT_EQ(shared.use_count(), 1);
}

}  // namespace
}  // namespace axisloom::core
