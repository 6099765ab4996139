// Random numbers that are the same everywhere, and random cases made from them.
#pragma once

#include <axisloom/array.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace axisloom::cli {

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  /// Seeds with a number and a text together.
  Random(std::uint64_t seed, std::string_view text);

  std::uint64_t next() noexcept;
  /// 0 <= result < count; count > 0.
  std::int64_t below(std::int64_t count) noexcept;
  /// low <= result <= high.
  std::int64_t between(std::int64_t low, std::int64_t high) noexcept { return low + below(high - low + 1); }
  bool percent(int chance) noexcept { return below(100) < chance; }
  template <class T>
  const T& one_of(const std::vector<T>& values) noexcept {
    return values[static_cast<std::size_t>(below(static_cast<std::int64_t>(values.size())))];
  }
  void fill(std::span<std::byte> bytes) noexcept;
  /// Fills with elements that can be added and multiplied without overflow: floats uniform in [-1, 1), else any bits.
  void fill_numbers(Dtype dtype, std::span<std::byte> bytes) noexcept;

 private:
  std::uint64_t state_;
};

/// The line of random case `index` of a seed: shapes half 0 to 70 a side, a quarter tile sizes and powers of two with
/// their neighbours, the rest primes, thin, and strides that are multiples of a page; any dtype, strides, offsets and
/// alignment.
std::string random_case(std::uint64_t seed, std::int64_t index);

}  // namespace axisloom::cli
