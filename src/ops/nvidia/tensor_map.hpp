// How variants describe arrays to the tensor memory accelerator.
#pragma once

#include "core/integers.hpp"
#include "device/device.hpp"

#include <algorithm>
#include <limits>

namespace axisloom::ops {

inline constexpr i64 tensor_box_bytes = 128;  // width of a box: as far as the swizzle reaches
inline constexpr i64 tensor_alignment = 16;   // of an array's start and its pitches, bytes

/// An array as the accelerator sees it: rows along its contiguous axis, and matrices of rows.
struct MappedArray {
  i64 along, across, matrices;  // elements of a row, rows of a matrix
  i64 pitch, matrix_pitch;      // elements from row to row, from matrix to matrix

  /// Whether a map has room for its numbers, those of boxes included that begin so far before an end.
  bool is_too_large(i64 element, i64 box) const {
    constexpr i64 most_bytes = i64{1} << 40, most_coordinate = std::numeric_limits<i32>::max() / 2;
    return std::max(pitch, matrix_pitch) >= most_bytes / element ||
           std::max({along, across, matrices}) > most_coordinate - box;
  }
};
inline constexpr const char* too_large_for_maps = "too large for a tensor map";

/// In boxes of 128 bytes by `rows` by 1; elements of 16 bytes count as two of 8. Where it begins is filled in when it
/// is launched.
inline device::TensorMap tensor_map(const MappedArray& array, i64 element, i64 rows) {
  const i64 word = std::min<i64>(element, 8);
  device::TensorMap map;
  map.element = std::size_t(word);
  map.extent = {u64(array.along * element / word), u64(array.across), u64(array.matrices)};
  map.pitch = {u64(array.pitch * element), u64(array.matrix_pitch * element)};
  map.box = {unsigned(tensor_box_bytes / word), unsigned(rows), 1};
  return map;
}

}  // namespace axisloom::ops
