// Benchmark data: every element is a hash of its own position, so that a result can be judged element by element.
#pragma once

#include "bench/team.hpp"

#include <axisloom/array.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace axisloom::bench {

/// What the elements of one buffer are. The kernels of verify.kernel compute the same.
struct Data {
  std::int64_t element = 1;  // bytes: 1, 2, 4, 8 or 16
  std::uint64_t seed = 1;
  std::uint64_t keep = ~std::uint64_t{0};  // bits of the hash that stay as they are
  std::uint64_t set = 0;                   // bits that are set afterwards

  /// For moves: any bits that read as floats of the element's size are finite and normal, whatever the dtype: libraries
  /// that know floats alone move integers as such, and multiply by one, which changes NaNs.
  static Data of(Dtype dtype, std::uint64_t seed);
  /// For arithmetic: integers of the full range, and floats of random sign and of size 0.5 to 1, the first excluded bit
  /// of whose fractions is at `fraction_bits` (at most; a dtype's own fraction may be shorter).
  static Data numbers(Dtype dtype, std::uint64_t seed, int fraction_bits);

  /// Eight bytes of the element at a position; `half` 1 is the upper half of a 16-byte element.
  std::uint64_t bits(std::uint64_t position, unsigned half) const noexcept {
    std::uint64_t z = (2 * position + half + seed) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return ((z ^ (z >> 31)) & keep) | set;
  }
};

/// Fills memory that begins at position 0.
void fill_on_host(Team& team, const Data& data, std::span<std::byte> memory);

/// A real float format with a leading bit that is not stored: sign, exponent, fraction.
struct FloatFormat {
  int bits, fraction_bits;
  std::uint64_t exponent_of_half;  // the stored exponent of [0.5, 1)
};
/// Nothing for integers and bool; of complex dtypes the format of a component.
const FloatFormat* float_format(Dtype dtype) noexcept;

/// Elements made by Data::numbers as whole numbers: integers as they are, floats times 2^(fraction_bits + 1).
class WholeNumbers {
 public:
  WholeNumbers(Dtype dtype, int fraction_bits);

  std::int64_t operator()(std::uint64_t bits) const noexcept {
    const auto size = static_cast<std::int64_t>(leading_ + ((bits >> fraction_shift_) & fraction_mask_));
    if (floating_) return (bits >> sign_bit_ & 1) != 0 ? -size : size;
    return signed_ ? static_cast<std::int64_t>(bits << unused_) >> unused_
                   : static_cast<std::int64_t>(bits << unused_ >> unused_);
  }
  /// What a whole number stands for is that number times this.
  double unit() const noexcept { return unit_; }

 private:
  bool floating_ = false, signed_ = false;
  unsigned sign_bit_ = 0, fraction_shift_ = 0, unused_ = 0;
  std::uint64_t fraction_mask_ = 0, leading_ = 0;
  double unit_ = 1;
};

}  // namespace axisloom::bench
