// The words of src/ops/nvidia/tensor.h on the host: what the tensor memory accelerator does with a map, in loops.
#pragma once

#include "device/device.hpp"
#include "host_intrinsics.h"

#include <chrono>

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

inline void arrival_begin(const u32 at, const u32 items) {
  if (at % 8 != 0) ++group->faults;
  const std::scoped_lock lock(group->mutex);
  group->arrivals[at] = {items, items};
}
/// Notes that items and bytes have come, and ends the phase with the last of them.
inline void note_arrival(const u32 at, const u32 items, const i64 bytes) {
  const std::scoped_lock lock(group->mutex);
  Arrival& arrival = group->arrivals.at(at);
  arrival.missing -= items;
  arrival.expected -= bytes;
  if (arrival.missing != 0 || arrival.expected != 0) return;
  arrival.missing = arrival.items;
  ++arrival.phase;
  group->phase_ended.notify_all();
}
inline void arrival_expect(const u32 at, const u32 bytes) {
  note_arrival(at, 1, -i64{bytes});
}
inline void arrive(const u32 at) {
  note_arrival(at, 1, 0);
}
/// Copies are done at once: what does not come soon never comes.
inline void arrival_wait(const u32 at, const u32 parity) {
  std::unique_lock lock(group->mutex);
  const Arrival& arrival = group->arrivals.at(at);
  const auto ended = [&] { return arrival.phase % 2 != parity; };
  if (!group->phase_ended.wait_for(lock, std::chrono::seconds(20), ended)) ++group->faults;
}
inline void tensor_load(const u32 to, const tensor_map& map, const i32 x, const i32 y, const i32 z,
                        const u32 at) {
  i64 brought = 0;
  over_box(map, to, x, y, z, [&](u8* local, const std::byte* global, std::size_t bytes) {
    if (global != nullptr)
      std::memcpy(local, global, bytes);
    else
      std::memset(local, 0, bytes);
    brought += static_cast<i64>(bytes);
  });
  note_arrival(at, 0, brought);
}
inline void tensor_store_begin() {}
inline void tensor_store(const tensor_map& map, const i32 x, const i32 y, const i32 z, const u32 from) {
  over_box(map, from, x, y, z, [](const u8* local, std::byte* global, std::size_t bytes) {
    if (global != nullptr) std::memcpy(global, local, bytes);
  });
}
inline void tensor_store_end() {}

}  // namespace axisloom::emulated
