// Dividers: multiplication and shift against the division of the machine.
#include <gtest/gtest.h>

#include <random>

#include <axisloom/error.hpp>

#include "core/checked.hpp"
#include "core/divider.hpp"

namespace axisloom::core {
namespace {

std::uint64_t divide(std::uint64_t n, const Divider& by, int bits) {
  return static_cast<std::uint64_t>((UWide{2 * n} * by.multiplier) >> bits) >> by.shift;
}

void expect_exact_around_multiples(std::uint64_t divisor, int bits, std::mt19937_64& engine) {
  const Divider by = divider(divisor, bits);
  EXPECT_EQ(by.multiplier >> (bits - 1) >> 1, 0u) << divisor;
  const std::uint64_t largest = (std::uint64_t{1} << (bits - 1)) - 1;
  const std::uint64_t multiple = (engine() % (largest / divisor) + 1) * divisor;
  for (const std::uint64_t n : {std::uint64_t{0}, divisor - 1, divisor, multiple - 1, multiple, multiple + divisor - 1,
                                largest - 1, largest, engine() & largest}) {
    if (n > largest) continue;
    ASSERT_EQ(divide(n, by, bits), n / divisor) << n << " / " << divisor << " in " << bits << " bits";
  }
}

TEST(Divider, IsExactForRandomDivisors) {
  std::mt19937_64 engine(1);
  for (const int bits : {32, 64})
    for (int round = 0; round < 200000; ++round)
      expect_exact_around_multiples((engine() >> (65 - bits) >> (engine() % static_cast<unsigned>(bits - 1))) | 1, bits,
                                    engine);
}

TEST(Divider, IsExactForSmallDivisorsAndPowersOfTwo) {
  std::mt19937_64 engine(2);
  for (const int bits : {32, 64}) {
    for (std::uint64_t divisor = 1; divisor <= 2000; ++divisor) expect_exact_around_multiples(divisor, bits, engine);
    for (int power = 0; power < bits - 1; ++power) {
      expect_exact_around_multiples(std::uint64_t{1} << power, bits, engine);
      expect_exact_around_multiples((std::uint64_t{2} << power) - 1, bits, engine);
    }
  }
}

TEST(Divider, RefusesDivisorsOutsideItsRange) {
  EXPECT_THROW(divider(0, 32), Error);
  EXPECT_THROW(divider(std::uint64_t{1} << 31, 32), Error);
  EXPECT_THROW(divider(std::uint64_t{1} << 63, 64), Error);
  EXPECT_THROW(divider(3, 16), Error);
}

}  // namespace
}  // namespace axisloom::core
