// How variants describe arrays to the tensor memory accelerator.
#pragma once

#include "device/device.hpp"

#include <array>

namespace axisloom::ops {

inline constexpr std::int64_t tensor_box_bytes = 128;  // width of a box: as far as the swizzle reaches
inline constexpr std::int64_t tensor_alignment = 16;   // of an array's start and its pitches, bytes

/// Three axes, the fastest first, and elements from neighbour to neighbour along the other two; in boxes of 128 bytes
/// by `rows` by 1. Where it begins is filled in when it is launched.
inline device::TensorMap tensor_map(std::int64_t element, std::array<std::int64_t, 3> extent,
                                    std::array<std::int64_t, 2> pitch, std::int64_t rows) {
  const auto number = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  device::TensorMap map;
  map.element = static_cast<std::size_t>(element);
  map.extent = {number(extent[0]), number(extent[1]), number(extent[2])};
  map.pitch = {number(pitch[0] * element), number(pitch[1] * element)};
  map.box = {static_cast<unsigned>(tensor_box_bytes / element), static_cast<unsigned>(rows), 1};
  return map;
}

}  // namespace axisloom::ops
