// The intrinsics of ops/nvidia/tensor.h on the host, which plays the tensor memory accelerator: copies are done at once. What
// a card would fault at, and a copy beyond a buffer or local memory, ends the launch in an error; so these copies are
// checked always.

// BoundMap of device/host/kernel.hpp.
struct tensor_map {
  u8* array;
  u64 bytes, element, extent[3], pitch[2];
  u32 box[3];
};
#define TENSOR_MAP(name) const tensor_map& name

// As on a card, local memory begins somewhere, and not at a multiple of 1024.
enum : u32 { axl_local_begin = 3 * 128 };
#define local_address(t, i) (axl_local_begin + (u32)((const u8*)(t##_l + (i)) - axl_this_call->local))

void axl_require(const bool right, const char* const what) const {
  if (!right) axl_this_call->fault(*axl_this_call, what);
}

// So many bytes at a local address.
u8* axl_local_at(const u32 address, const u32 bytes, const u32 alignment, const char* const what) const {
  const u64 at = (u64)address - axl_local_begin;
  const bool right = address % alignment == 0 && address >= axl_local_begin && at + bytes <= axl_this_call->local_bytes;
  axl_require(right, what);
  return axl_this_call->local + (right ? at : 0);
}

// The swizzle of 128 bytes exchanges bits of the address itself: 4 to 6 are combined with 7 to 9.
u8* axl_swizzled(const u32 address) const {
  return axl_this_call->local + ((address ^ (address >> 3 & 0x70)) - axl_local_begin);
}

// Calls move(local, global, bytes) for every 16 bytes of a box in local memory; `bytes` of them lie in the array.
template <class Move>
__attribute__((noinline)) void axl_over_box(const tensor_map& map, const u32 local, const i32 x, const i32 y, const i32 z,
                                            const Move move) const {
  const u32 row_bytes = 128, piece = 16, pieces = row_bytes / piece;
  axl_require(((u64)map.array | map.pitch[0] | map.pitch[1]) % piece == 0, "a tensor map's rows are not aligned to 16 bytes");
  axl_require(map.box[0] * map.element == row_bytes && map.box[1] <= 256 && map.box[2] == 1 && x >= 0 && y >= 0 && z >= 0,
              "no such box can be copied");
  // Swizzled, it stays within its 1024 bytes.
  axl_local_at(local, map.box[1] * row_bytes, 128, "a box lies beyond local memory, or not at a multiple of 128 bytes");
  for (u32 row = 0; row < map.box[1]; ++row)
    for (u32 k = 0; k < pieces; ++k) {
      const i64 first = x + (i64)(k * piece / map.element);
      i64 left = (i64)map.extent[0] - first;
      if (left < 0 || y + (i64)row >= (i64)map.extent[1] || z >= (i64)map.extent[2]) left = 0;
      const u64 bytes = left * map.element < piece ? left * map.element : piece;
      const u64 at = first * map.element + (y + (u64)row) * map.pitch[0] + (u64)z * map.pitch[1];
      const bool inside = at + bytes <= map.bytes;
      axl_require(bytes == 0 || inside, "a box lies beyond its buffer");
      move(axl_swizzled(local + row * row_bytes + k * piece), map.array + (inside ? at : 0), inside ? bytes : 0);
    }
}

// A barrier in local memory, phase after phase.
struct axl_arrival {
  u16 items, missing;  // that arrive in a phase, and have not yet
  u32 phase : 1;       // parity of the one that has not ended
  i32 expected : 31;   // bytes that copies have still to bring
};
static_assert(sizeof(axl_arrival) == 8, "a barrier takes 8 bytes of local memory");

axl_arrival& axl_arrival_at(const u32 at) const {
  return *(axl_arrival*)axl_local_at(at, 8, 8, "a barrier lies beyond local memory, or not at a multiple of 8 bytes");
}
void arrival_begin(const u32 at, const u32 items) const {
  axl_arrival_at(at) = {(u16)items, (u16)items, 0, 0};
}
// Notes that items and bytes have come, and ends the phase with the last of them.
void axl_arrive(const u32 at, const u32 items, const i32 bytes) const {
  axl_arrival& arrival = axl_arrival_at(at);
  axl_require(items <= arrival.missing, "more items arrive at a barrier than it waits for");
  arrival.missing = (u16)(arrival.missing - items);
  arrival.expected -= bytes;
  if (arrival.missing != 0 || arrival.expected != 0) return;
  arrival.missing = arrival.items;
  arrival.phase ^= 1u;
}
void arrival_expect(const u32 at, const u32 bytes) const {
  axl_arrive(at, 1, -(i32)bytes);
}
void arrive(const u32 at) const {
  axl_arrive(at, 1, 0);
}
void arrival_wait(const u32 at, const u32 parity) {
  const axl_arrival& arrival = axl_arrival_at(at);
  axl_wait_until([&arrival, parity] { return arrival.phase != (parity & 1u); });
}

void tensor_load(const u32 to, const tensor_map& map, const i32 x, const i32 y, const i32 z, const u32 at) const {
  axl_over_box(map, to, x, y, z, [](u8* const local, const u8* const global, const u64 bytes) {
    __builtin_memcpy(local, global, bytes);
    __builtin_memset(local + bytes, 0, 16 - bytes);
  });
  axl_arrive(at, 0, (i32)(map.box[1] * 128));
}
#define tensor_store_begin() ((void)0)
void tensor_store(const tensor_map& map, const i32 x, const i32 y, const i32 z, const u32 from) const {
  axl_over_box(map, from, x, y, z, [](const u8* const local, u8* const global, const u64 bytes) {
    __builtin_memcpy(global, local, bytes);
  });
}
#define tensor_store_end() ((void)0)
