// Random numbers that are the same everywhere.
#pragma once

#include <axisloom/array.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace axisloom::harness {

/// The mixing of SplitMix64: numbers that differ in any way become numbers that differ in about half of their bits.
constexpr std::uint64_t mixed(std::uint64_t z) noexcept {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}
/// By how much SplitMix64 counts on: 2^64 by the golden ratio.
inline constexpr std::uint64_t golden_step = 0x9E3779B97F4A7C15u;

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  /// Seeds with a number and a text together.
  Random(std::uint64_t seed, std::string_view text);

  std::uint64_t next() noexcept { return mixed(state_ += golden_step); }
  /// 0 <= result < count; count > 0.
  std::int64_t below(std::int64_t count) noexcept;
  /// low <= result <= high.
  std::int64_t between(std::int64_t low, std::int64_t high) noexcept { return low + below(high - low + 1); }
  bool percent(int chance) noexcept { return below(100) < chance; }
  template <class Values>
  const auto& one_of(const Values& values) noexcept {
    return values[static_cast<std::size_t>(below(static_cast<std::int64_t>(std::size(values))))];
  }
  template <class Values>
  void shuffle(Values& values) noexcept {
    for (std::size_t i = values.size(); i > 1; --i)
      std::swap(values[i - 1], values[static_cast<std::size_t>(below(static_cast<std::int64_t>(i)))]);
  }
  void fill(std::span<std::byte> bytes) noexcept;
  /// Fills with elements that can be added and multiplied without overflow: floats in [-1, 1), else any bits. Half of
  /// the time floats are few different ones, so that there are equals among them.
  void fill_numbers(Dtype dtype, std::span<std::byte> bytes) noexcept;

 private:
  std::uint64_t state_;
};

}  // namespace axisloom::harness
