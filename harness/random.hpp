// Random numbers that are the same everywhere.
#pragma once

#include "core/integers.hpp"

#include <axisloom/array.hpp>

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace axisloom::harness {

/// What a buffer or a file holds.
using Bytes = std::vector<std::byte>;

/// The mixing of SplitMix64: numbers that differ in any way become numbers that differ in about half of their bits.
constexpr u64 mixed(u64 z) noexcept {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}
/// By how much SplitMix64 counts on: 2^64 by the golden ratio.
inline constexpr u64 golden_step = 0x9E3779B97F4A7C15u;

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
class Random {
 public:
  explicit Random(u64 seed) : state_(seed) {}
  /// Seeds with a number and a text together.
  Random(u64 seed, std::string_view text);

  u64 next() noexcept { return mixed(state_ += golden_step); }
  /// 0 <= result < count; count > 0.
  i64 below(i64 count) noexcept;
  /// low <= result <= high.
  i64 between(i64 low, i64 high) noexcept { return low + below(high - low + 1); }
  bool percent(int chance) noexcept { return below(100) < chance; }
  template <class Values>
  const auto& one_of(const Values& values) noexcept {
    return values[below(std::size(values))];
  }
  template <class Values>
  void shuffle(Values& values) noexcept {
    for (size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
  }
  void fill(std::span<std::byte> bytes) noexcept;
  /// Fills with elements that can be added and multiplied without overflow: floats in [-1, 1), else any bits. Half of
  /// the time floats are few different ones, so that there are equals among them.
  void fill_numbers(Dtype dtype, std::span<std::byte> bytes) noexcept;

 private:
  u64 state_;
};

}  // namespace axisloom::harness
