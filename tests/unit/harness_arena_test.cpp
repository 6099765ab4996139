// What the driver of cases says about a buffer that is not as it should be.
#include "harness/arena.hpp"

#include <gtest/gtest.h>

namespace axisloom::harness {
namespace {

// u16[2,3] with rows of four elements, after a canary of two elements and before one of one.
const View view{Dtype::u16, {2, 3}, {4, 1}, 2, 256};
constexpr std::size_t buffer_bytes = (2 + 7 + 1) * 2;

std::string difference_at(std::size_t byte) {
  const std::vector<std::byte> want(buffer_bytes);
  std::vector<std::byte> got = want;
  got[byte] = std::byte{0x5a};
  return describe_difference(view, want, got);
}

TEST(HarnessArena, EqualBuffersDoNotDiffer) {
  const std::vector<std::byte> bytes(buffer_bytes);
  EXPECT_EQ(describe_difference(view, bytes, bytes), "");
}

TEST(HarnessArena, ElementsAreNamedByTheirIndex) {
  EXPECT_EQ(difference_at(4), "at [0,0] want 0x0000 got 0x005a");
  EXPECT_EQ(difference_at((2 + 4 + 2) * 2 + 1), "at [1,2] want 0x0000 got 0x5a00");
}

TEST(HarnessArena, EveryOtherByteIsWatched) {
  EXPECT_NE(difference_at(0).find("before the array"), std::string::npos);
  EXPECT_NE(difference_at(3).find("before the array"), std::string::npos);
  EXPECT_NE(difference_at((2 + 3) * 2).find("in a gap between elements"), std::string::npos);
  EXPECT_NE(difference_at(buffer_bytes - 2).find("after the array"), std::string::npos);
  EXPECT_NE(difference_at(buffer_bytes - 1).find("want 0x00 got 0x5a"), std::string::npos);
}

TEST(HarnessArena, ElementsComeFirst) {
  const std::vector<std::byte> want(buffer_bytes);
  const std::vector<std::byte> got(buffer_bytes, std::byte{1});
  EXPECT_EQ(describe_difference(view, want, got), "at [0,0] want 0x0000 got 0x0101");
}

}  // namespace
}  // namespace axisloom::harness
