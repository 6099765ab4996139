// How variants describe arrays to the tensor memory accelerator.
#pragma once

#include "core/integers.hpp"
#include "device/device.hpp"

#include <array>

namespace axisloom::ops {

inline constexpr i64 tensor_box_bytes = 128;  // width of a box: as far as the swizzle reaches
inline constexpr i64 tensor_alignment = 16;   // of an array's start and its pitches, bytes

/// Three axes, the fastest first, and elements from neighbour to neighbour along the other two; in boxes of 128 bytes
/// by `rows` by 1. Where it begins is filled in when it is launched.
inline device::TensorMap tensor_map(i64 element, std::array<i64, 3> extent, std::array<i64, 2> pitch, i64 rows) {
  const auto number = [](i64 value) { return u64(value); };
  device::TensorMap map;
  map.element = static_cast<std::size_t>(element);
  map.extent = {number(extent[0]), number(extent[1]), number(extent[2])};
  map.pitch = {number(pitch[0] * element), number(pitch[1] * element)};
  map.box = {unsigned(tensor_box_bytes / element), unsigned(rows), 1};
  return map;
}

}  // namespace axisloom::ops
