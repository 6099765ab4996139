// Views: bounds, contiguity, text, and what validation refuses.
#include <gtest/gtest.h>

#include <limits>

#include <axisloom/array.hpp>
#include <axisloom/error.hpp>

namespace axisloom {
namespace {

constexpr std::int64_t large = std::int64_t{1} << 62;

View view_of(const Dims& shape, const Dims& strides, std::int64_t offset = 0) {
  View view;
  view.dtype = Dtype::f32;
  view.shape = shape;
  view.strides = strides;
  view.offset = offset;
  return view;
}

std::string refusal(const View& view) {
  try {
    validate(view, "input");
  } catch (const Error& error) {
    EXPECT_EQ(exit_code(error.code()), exit_code(Errc::usage));
    return error.what();
  }
  return "accepted";
}

TEST(View, BoundsFollowTheSignsOfTheStrides) {
  const Bounds bounds = view_of({3, 4, 5}, {-20, 0, 2}, 50).bounds();
  EXPECT_EQ(bounds.low, 10);
  EXPECT_EQ(bounds.high, 59);
  EXPECT_EQ(view_of({}, {}, 7).bounds().high, 8);
}

TEST(View, EmptyOneHasEmptyBounds) {
  const Bounds bounds = view_of({3, 0}, {large, large}, 5).bounds();
  EXPECT_EQ(bounds.low, 5);
  EXPECT_EQ(bounds.high, 5);
}

TEST(View, BoundsThatOverflowAreAnError) {
  EXPECT_THROW(view_of({3}, {large}).bounds(), Error);
  EXPECT_THROW(view_of({2, 2}, {large, large}).bounds(), Error);
  EXPECT_THROW(view_of({4}, {-large}).bounds(), Error);
}

TEST(View, Contiguity) {
  EXPECT_TRUE(View::contiguous(Dtype::u8, {2, 3}).is_contiguous());
  EXPECT_TRUE(view_of({2, 1, 3}, {3, 99, 1}).is_contiguous());
  EXPECT_TRUE(view_of({2, 0}, {7, 9}).is_contiguous());
  EXPECT_TRUE(view_of({}, {}).is_contiguous());
  EXPECT_FALSE(view_of({2, 3}, {4, 1}).is_contiguous());
  EXPECT_FALSE(view_of({2, 3}, {1, 2}).is_contiguous());
  EXPECT_FALSE(view_of({2, 3}, {3, -1}, 2).is_contiguous());
}

TEST(View, Text) {
  EXPECT_EQ(to_string(View::contiguous(Dtype::f32, {3, 4})), "f32[3,4]");
  EXPECT_EQ(to_string(view_of({3, 4}, {1, 3}, 5)), "f32[3,4]{1,3}+5");
  EXPECT_EQ(to_string(view_of({}, {})), "f32[]");
  EXPECT_EQ(to_string(view_of({-3}, {1})), "f32[-3]{1}") << "as it is, though no view can have it";
  EXPECT_EQ(to_string(view_of({large, large}, {0, 0})), "f32[4611686018427387904,4611686018427387904]{0,0}");
}

TEST(View, ValidationAcceptsAnyStridesWithinTheBuffer) {
  EXPECT_EQ(refusal(view_of({3, 4}, {-4, 1}, 8)), "accepted");
  EXPECT_EQ(refusal(view_of({3, 4}, {0, 0})), "accepted");
  EXPECT_EQ(refusal(view_of({0}, {-1})), "accepted");
  EXPECT_EQ(refusal(view_of({1, 2}, {std::numeric_limits<std::int64_t>::min(), 1})), "accepted");
  EXPECT_EQ(refusal(View::contiguous(Dtype::c128, {})), "accepted");
}

TEST(View, ValidationNamesTheFault) {
  EXPECT_NE(refusal(view_of({3, 4}, {4, -1}, 2)).find("the input reaches to element -1"), std::string::npos);
  EXPECT_NE(refusal(view_of({3, 4}, {1})).find("2 extents and 1 strides"), std::string::npos);
  EXPECT_NE(refusal(view_of({-3}, {1})).find("negative extent -3"), std::string::npos);
  View view = view_of({3}, {1});
  view.align = 24;
  EXPECT_NE(refusal(view).find("alignment of 24"), std::string::npos);
  view.align = 2;
  EXPECT_NE(refusal(view).find("aligned to 2 bytes"), std::string::npos);
  view.align = 0;
  EXPECT_NE(refusal(view), "accepted");
}

TEST(View, ValidationCountsBytes) {
  EXPECT_NE(refusal(view_of({2}, {large - 1})), "accepted");
  EXPECT_NE(refusal(view_of({large}, {0})), "accepted");
  EXPECT_NE(refusal(view_of({1}, {1}, large)), "accepted");
  constexpr std::int64_t most = max_bytes / 4;  // of f32
  EXPECT_EQ(refusal(view_of({most}, {1})), "accepted");
  EXPECT_NE(refusal(view_of({most}, {1}, 1)).find("beyond 281474976710656 bytes"), std::string::npos);
  EXPECT_NE(refusal(view_of({most, 2}, {0, 0})).find("more than 281474976710656 bytes"), std::string::npos);
}

}  // namespace
}  // namespace axisloom
