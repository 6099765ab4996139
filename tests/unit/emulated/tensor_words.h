// The words of src/ops/rearrange/tensor.h on the host: what the tensor memory accelerator does with a map, in loops.
#pragma once

#include "device/device.hpp"
#include "host_words.h"

namespace axisloom::emulated {

/// What the driver would write down.
struct tensor_map {
  device::TensorMap map;
  std::byte* buffer;
};
#define TENSOR_MAP(name) const tensor_map& name

#define local_address(t, i) (group->begin + (u32)((u8*)(t##_l + (i)) - group->block))

/// The swizzle of 128 bytes exchanges bits of the address itself: 4 to 6 are combined with 7 to 9.
inline u8* swizzled(const u32 address) {
  return group->block + ((address ^ (address >> 3 & 0x70)) - group->begin);
}

/// Calls move(local, global) for each element of a box; global is null outside the array.
template <class Move>
void over_box(const tensor_map& tensor, const u32 local, const i64 x, const i64 y, const i64 z, Move move) {
  const device::TensorMap& map = tensor.map;
  if (local % 128 != 0 || map.box[0] * map.element != 128 || map.box[2] != 1) ++group->faults;
  for (u32 row = 0; row < map.box[1]; ++row)
    for (u32 k = 0; k < map.box[0]; ++k) {
      const bool inside = x + k < static_cast<i64>(map.extent[0]) && y + row < static_cast<i64>(map.extent[1]) &&
                          z < static_cast<i64>(map.extent[2]);
      const u64 at = map.begin + static_cast<u64>(x + k) * map.element + static_cast<u64>(y + row) * map.pitch[0] +
                     static_cast<u64>(z) * map.pitch[1];
      const auto place = static_cast<u32>(local + row * 128 + k * map.element);
      move(swizzled(place), inside ? tensor.buffer + at : nullptr, map.element);
    }
}

inline void arrival_begin(const u32 at, u32) {
  if (at % 8 != 0) ++group->faults;
  group->expected = 0;
}
inline void arrival_expect(u32, const u32 bytes) { group->expected += bytes; }
/// Copies are done at once, so that what is still expected never comes.
inline void arrival_wait(u32, u32) {
  if (group->expected != 0) ++group->faults;
}
inline void tensor_load(const u32 to, const tensor_map& map, const i32 x, const i32 y, const i32 z, u32) {
  over_box(map, to, x, y, z, [](u8* local, const std::byte* global, std::size_t bytes) {
    if (global != nullptr)
      std::memcpy(local, global, bytes);
    else
      std::memset(local, 0, bytes);
    group->expected -= static_cast<i64>(bytes);
  });
}
inline void tensor_store_begin() {}
inline void tensor_store(const tensor_map& map, const i32 x, const i32 y, const i32 z, const u32 from) {
  over_box(map, from, x, y, z, [](const u8* local, std::byte* global, std::size_t bytes) {
    if (global != nullptr) std::memcpy(global, local, bytes);
  });
}
inline void tensor_store_end() {}

}  // namespace axisloom::emulated
