// Elements as numbers: every dtype there and back, rounding to the 16-bit floats, and the digits printed.
#include "core/number.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

namespace axisloom::core {
namespace {

std::uint16_t stored(Dtype dtype, long double number) {
  std::array<std::byte, 2> element;
  store_number(dtype, element.data(), number);
  std::uint16_t bits;
  std::memcpy(&bits, element.data(), 2);
  return bits;
}

template <class T>
std::string text_of(Dtype dtype, T value) {
  std::array<std::byte, 16> element{};
  std::memcpy(element.data(), &value, sizeof value);
  return number_text(dtype, element.data());
}

TEST(Number, TextsBecomeNumbersOfTheirDtype) {
  const auto real = [](Dtype dtype, std::string_view text) { return number_of(dtype, text).value().at(0); };
  EXPECT_EQ(real(Dtype::u64, "18446744073709551615"), 18446744073709551615.0L);
  EXPECT_EQ(real(Dtype::i64, "-9223372036854775808"), -0x1p63L);
  EXPECT_EQ(real(Dtype::i8, "1e2"), 100);
  EXPECT_EQ(real(Dtype::f32, "0.1"), 0.1F);
  EXPECT_EQ(real(Dtype::f64, "0.1"), 0.1);
  EXPECT_EQ(real(Dtype::f16, "1e9"), HUGE_VALL);
  EXPECT_EQ(real(Dtype::f64, "-inf"), -HUGE_VALL);
  EXPECT_TRUE(std::isnan(real(Dtype::f32, "nan")));
  EXPECT_EQ(real(Dtype::boolean, "true"), 1);
  EXPECT_EQ(number_of(Dtype::c64, "1.5-2j"), (Parts{1.5L, -2}));
  EXPECT_EQ(number_of(Dtype::c64, "-1e-3+1e2j"), (Parts{-1e-3F, 100}));
  EXPECT_EQ(number_of(Dtype::c128, "-2j"), (Parts{0, -2}));
  EXPECT_EQ(number_of(Dtype::c128, "3"), (Parts{3, 0}));
}

TEST(Number, RefusesTextsThatAreNoNumberOfTheirDtype) {
  for (const char* text : {"", "x", "1x", "0.5", "256", "-1", "nan", "inf", "1e30", "1j", " 1"})
    EXPECT_FALSE(number_of(Dtype::u8, text)) << text;
  for (const char* text : {"", "j", "1+j", "1+2", "1j2", "1++2j", "--1"})
    EXPECT_FALSE(number_of(Dtype::c64, text)) << text;
  EXPECT_FALSE(number_of(Dtype::boolean, "2"));
  EXPECT_FALSE(number_of(Dtype::f32, "1+2j"));
}

// What is printed can be read.
TEST(Number, TextsGoThereAndBack) {
  const float values[] = {0.1F, -1e-40F, 3.4e38F, 16777216.0F};
  for (const float value : values) EXPECT_EQ(number_of(Dtype::f32, text_of(Dtype::f32, value)).value()[0], value);
  const std::array<double, 2> complex = {-1.25e-7, 3};
  EXPECT_EQ(number_of(Dtype::c128, text_of(Dtype::c128, complex)), (Parts{-1.25e-7, 3}));
}

TEST(Number, SixteenBitFloatsComeBackFromTheirValues) {
  for (const Dtype dtype : {Dtype::f16, Dtype::bf16}) {
    for (unsigned bits = 0; bits < 65536; ++bits) {
      std::array<std::byte, 2> element;
      const auto half = static_cast<std::uint16_t>(bits);
      std::memcpy(element.data(), &half, 2);
      const long double number = number_at(dtype, element.data());
      if (std::isnan(number)) continue;
      ASSERT_EQ(stored(dtype, number), half) << name(dtype);
    }
  }
}

TEST(Number, SixteenBitFloatsRoundToNearestEven) {
  EXPECT_EQ(stored(Dtype::f16, 1 + 0x1p-11L), 0x3c00);             // half way, down to even
  EXPECT_EQ(stored(Dtype::f16, 1 + 3 * 0x1p-11L), 0x3c02);         // half way, up to even
  EXPECT_EQ(stored(Dtype::f16, 1 + 0x1p-11L + 0x1p-40L), 0x3c01);  // just above half way
  EXPECT_EQ(stored(Dtype::f16, 65519.9L), 0x7bff);                 // the largest
  EXPECT_EQ(stored(Dtype::f16, 65520), 0x7c00);                    // half way to what would be the next: infinity
  EXPECT_EQ(stored(Dtype::f16, 0x1p-25L), 0x0000);                 // half of the smallest
  EXPECT_EQ(stored(Dtype::f16, 1.5L * 0x1p-24L), 0x0002);
  EXPECT_EQ(stored(Dtype::f16, -0.0L), 0x8000);
  EXPECT_EQ(stored(Dtype::bf16, 1 + 0x1p-8L), 0x3f80);
  EXPECT_EQ(stored(Dtype::bf16, std::numeric_limits<float>::max()), 0x7f80);
}

TEST(Number, IntegersOfSixtyFourBitsAreExact) {
  EXPECT_EQ(text_of(Dtype::u64, std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(text_of(Dtype::i64, std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
}

TEST(Number, TextIsTheShortestThatReadsBack) {
  EXPECT_EQ(text_of(Dtype::f32, 0.1f), "0.1");
  EXPECT_EQ(text_of(Dtype::f64, 0.1), "0.1");
  EXPECT_EQ(text_of(Dtype::f64, 1.0 / 3), "0.3333333333333333");
  EXPECT_EQ(text_of(Dtype::c64, std::array{1.5f, -2.f}), "1.5-2j");
  EXPECT_EQ(text_of(Dtype::boolean, true), "true");
  EXPECT_EQ(text_of(Dtype::i8, std::int8_t{-7}), "-7");
  EXPECT_EQ(text_of(Dtype::f32, std::numeric_limits<float>::infinity()), "inf");
}

}  // namespace
}  // namespace axisloom::core
