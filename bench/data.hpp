// Benchmark data: every element is a hash of its own position, so that a result can be judged element by element.
#pragma once

#include "bench/team.hpp"
#include "harness/random.hpp"

#include <axisloom/array.hpp>

#include <span>

namespace axisloom::bench {

using namespace harness;  // whose words for cases, tables and arguments are the bench's too

/// What the elements of one buffer are. The kernels of verify.kernel compute the same.
struct Data {
  i64 element = 1;  // bytes: 1, 2, 4, 8 or 16
  u64 seed = 1;
  u64 keep = ~u64{0};  // bits of the hash that stay as they are
  u64 set = 0;         // bits that are set afterwards

  /// For moves: any bits that read as floats of the element's size are finite and normal, whatever the dtype: libraries
  /// that know floats alone move integers as such, and multiply by one, which changes NaNs.
  static Data of(Dtype dtype, u64 seed);
  /// For arithmetic: integers of the full range, and floats of random sign and of size 0.5 to 1, the first excluded bit
  /// of whose fractions is at `fraction_bits` (at most; a dtype's own fraction may be shorter).
  static Data numbers(Dtype dtype, u64 seed, int fraction_bits);

  /// Eight bytes of the element at a position; `half` 1 is the upper half of a 16-byte element.
  u64 bits(u64 position, unsigned half) const noexcept {
    return (mixed((2 * position + half + seed) * golden_step) & keep) | set;
  }
};

/// Fills memory that begins at position 0.
void fill_on_host(Team& team, const Data& data, std::span<std::byte> memory);

/// Elements made by Data::numbers as whole numbers: integers as they are, floats times 2^(fraction_bits + 1).
struct WholeNumbers {
  WholeNumbers(Dtype dtype, int most_fraction_bits);

  i64 operator()(u64 bits) const noexcept {
    const u64 implied = u64{1} << fraction_bits;
    const i64 size = implied + (bits >> fraction_shift & (implied - 1));
    if (floating) return (bits >> sign_bit & 1) != 0 ? -size : size;
    return is_signed ? i64(bits << unused) >> unused : i64(bits << unused >> unused);
  }

  bool floating = false, is_signed = false;
  unsigned sign_bit = 0, fraction_shift = 0;  // of floats, whose leading bit is not stored
  unsigned fraction_bits = 0;
  unsigned unused = 0;  // upper bits of integers
  double unit = 1;      // what a whole number stands for is that number times this
};

}  // namespace axisloom::bench
