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

  /// 32- and 64-bit floats are finite and normal: libraries that multiply by one change NaNs.
  static Data of(Dtype dtype, std::uint64_t seed);

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

}  // namespace axisloom::bench
