// Short names for the integers that shapes, strides and kernel parameters are made of; the kernels use the same ones.
#pragma once

#include <cstddef>
#include <cstdint>

namespace axisloom {

using std::size_t;
using u8 = std::uint8_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// a / b rounded up, for a >= 0 and b > 0.
constexpr i64 ceil_div(i64 a, i64 b) {
  return (a + b - 1) / b;
}

}  // namespace axisloom
