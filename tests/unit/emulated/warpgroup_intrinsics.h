// The words of src/ops/nvidia/warpgroup.h on the host. A warpgroup's items are 128 threads, each of which works out its own
// sums from the tiles in local memory; where an element lies is as the PTX ISA says of the matrix descriptor.
#pragma once

#include "tensor_intrinsics.h"

namespace axisloom::emulated {

/// Meets the warpgroup's other items.
inline thread_local std::barrier<>* warpgroup = nullptr;

#define registers_take(n) ((void)0)
#define registers_leave(n) ((void)0)
#define products_begin() ((void)0)
#define products_end() ((void)0)
// Products are done at once, by each item for itself: all of them have been when all items have come here.
#define products_wait(n) warpgroup->arrive_and_wait()
#define products_sums(n, sum) warpgroup->arrive_and_wait()

inline u64 tile_at(const u32 at, const u32 across) {
  if (at % 1024 != 0) ++group->faults;
  return u64{at / 16 & 0x3fff} | u64{across / 16} << 16 | u64{1024 / 16} << 32 | u64{1} << 62;
}

/// Element (x, k) of a tile: x is m or n.
inline u16 element_of(const u64 tile, const u32 x, const u32 k, const bool transposed) {
  const auto bytes = [&](int bit) { return static_cast<u32>(tile >> bit & 0x3fff) * 16; };
  if (tile >> 62 != 1) ++group->faults;
  const u32 start = bytes(0), across = bytes(16), eight_rows = bytes(32);
  const u32 at = transposed ? start + x / 64 * across + k / 8 * eight_rows + k % 8 * 128 + x % 64 * 2
                        : start + x / 8 * eight_rows + x % 8 * 128 + k * 2;
  return get<u16>(swizzled(at));
}

template <int N, class Widen>
void add_tiles(f32 (*sum)[4], const u64 a, const u64 b, const bool transposed_a, const bool transposed_b, Widen widen) {
  const u32 warp = item_number % 128 / 32, lane = item_number % 32;
  for (u32 j = 0; j < N / 8; ++j)
    for (u32 q = 0; q < 4; ++q)
      for (u32 k = 0; k < 16; ++k)
        sum[j][q] += widen(element_of(a, warp * 16 + lane / 4 + q / 2 * 8, k, transposed_a)) *
                     widen(element_of(b, j * 8 + lane % 4 * 2 + q % 2, k, transposed_b));
}
#define products_f16(n, sum, a, b, transposed_a, transposed_b) \
  add_tiles<n>(sum, a, b, transposed_a, transposed_b, [](u16 x) { return f32_from_f16(x); })
#define products_bf16(n, sum, a, b, transposed_a, transposed_b) \
  add_tiles<n>(sum, a, b, transposed_a, transposed_b, [](u16 x) { return f32_from_bf16(x); })

}  // namespace axisloom::emulated
