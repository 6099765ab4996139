// The dialect on the host, as far as the kernels that need it go: a group's items are threads that share a block of local
// memory. Included after every other header, since the words are macros.
#pragma once

#include <atomic>
#include <barrier>
#include <bit>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace axisloom::emulated {

using i8 = std::int8_t;
using u8 = std::uint8_t;
using i16 = std::int16_t;
using u16 = std::uint16_t;
using i32 = std::int32_t;
using u32 = std::uint32_t;
using i64 = std::int64_t;
using u64 = std::uint64_t;
using f32 = float;
using f64 = double;

struct alignas(8) u32x2 {
  u32 s0, s1;
};
struct alignas(16) u32x4 {
  u32 s0, s1, s2, s3;
};
struct alignas(4) u16x2 {
  u16 s0, s1;
};
struct alignas(8) f32x2 {
  f32 s0, s1;
};
struct alignas(16) f64x2 {
  f64 s0, s1;
};
inline u16x2 make_u16x2(u16 a, u16 b) { return {a, b}; }
inline f32x2 make_f32x2(f32 a, f32 b) { return {a, b}; }
inline f64x2 make_f64x2(f64 a, f64 b) { return {a, b}; }
inline u32x2 make_u32x2(u32 a, u32 b) { return {a, b}; }
inline u32x4 make_u32x4(u32 a, u32 b, u32 c, u32 d) { return {a, b, c, d}; }

/// A barrier in local memory, phase after phase.
struct Arrival {
  u32 items = 0, missing = 0;  // that arrive in a phase, and have not yet
  i64 expected = 0;            // bytes that bulk copies have still to bring
  u32 phase = 0;               // the one that has not ended
};

/// What the items of a group share.
struct Group {
  u8* block;                 // its local memory, aligned to 128
  u32 begin;                 // where local memory begins in the address space of local memory
  std::barrier<>& arrived;   // of all items
  std::atomic<int> faults{};
  std::mutex mutex{};  // of what follows
  std::condition_variable phase_ended{};
  std::map<u32, Arrival> arrivals{};  // by their addresses
};
inline thread_local Group* group = nullptr;
inline thread_local u32 group_number = 0, item_number = 0;
inline u32 group_total = 1;

template <class P>
P get(const void* address) {
  P value;
  std::memcpy(&value, address, sizeof value);
  return value;
}
template <class P>
void put(void* address, const P value) {
  std::memcpy(address, &value, sizeof value);
}

// The tests define what a kernel declares; these are words of its one_of.
#define CONSTANT(...)
#define SETTING(...)
#define FORM_SAME 0
#define FORM_CAST 1
#define FORM_BOOL 2
#define FORM_F16 3
#define FORM_BF16 4
#define GLOBAL
#define LOCAL
#define INLINE inline
#define UNROLL
#define ROLLED
#define AXL_RESTRICT
#define AXL_BY_VALUE(P, name) const P& name
#define AXL_PERMUTE(a, b, selector, plain) (plain)
#define AXL_GET(P, address) get<P>(address)
#define AXL_PUT(P, address, v) put<P>(address, v)
#define AXL_LOCAL_GET(P, address) get<P>(address)
#define AXL_LOCAL_PUT(P, address, v) put<P>(address, v)
#define axl_atomic_add(address, v) (*(address) += (v))
#define as_f32_u32(x) std::bit_cast<f32>((u32)(x))
#define as_f64_u64(x) std::bit_cast<f64>((u64)(x))
#define as_u32_f32(x) std::bit_cast<u32>((f32)(x))
#define KERNEL(name, ...) inline void name(__VA_ARGS__)
#define PARAMS_SIZE(P) static_assert(sizeof(P) > 0)
#define LOCAL_BLOCK(bytes) u8* const axl_block = group->block
#define group_id() group_number
#define group_count() group_total
#define item_id() item_number
#define barrier_local() group->arrived.arrive_and_wait()

inline u32 mul_hi_u32(u32 a, u32 b) { return static_cast<u32>((u64{a} * b) >> 32); }

#include "dialect/intrinsics.h"

}  // namespace axisloom::emulated
