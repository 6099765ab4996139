// The dialect on the host, in C++. A kernel and the headers that it includes are the body of a structure: its helpers are
// members, and so are the number of group and item and the settings, which the compiler keeps in registers. host_end.h
// ends the structure.
#include "host_types.h"
#include "constants.h"

#define AXL_HOST 1
#define AXL_HAS_F64 1
#define AXL_HAS_VECTORS 1

#define GLOBAL
#define LOCAL
#define UNROLL _Pragma("GCC unroll 64")
#define ROLLED _Pragma("GCC unroll 1")
#define CALLED __attribute__((noinline))
#define AXL_RESTRICT __restrict__
#define AXL_OVERLOAD
#define AXL_TYPEOF(x) decltype(x)
#define AXL_BY_VALUE(P, name) const P& name
#define KERNEL(name, ...) AXL_INLINE void name(__VA_ARGS__)
#define AXL_BEGIN
#define PARAMS_SIZE(P) static_assert(sizeof(P) == AXL_PARAMS_SIZE, "host and kernel disagree on the size of " #P)

#define as_f32_u32(x) axl_bits<f32>((u32)(x))
#define as_u32_f32(x) axl_bits<u32>((f32)(x))
#define as_f32_i32(x) axl_bits<f32>((i32)(x))
#define as_i32_f32(x) axl_bits<i32>((f32)(x))
#define as_f64_u64(x) axl_bits<f64>((u64)(x))
#define as_u64_f64(x) axl_bits<u64>((f64)(x))

#define group_id() axl_group
#define item_id() axl_item
#define group_count() ((u32)axl_this_call->groups)
// A group of one item meets nobody.
#if GROUP == 1
#define barrier_local() ((void)0)
#else
#define barrier_local() axl_meet(axl_shared->group, GROUP)
#endif

#define mul_hi_u32(a, b) ((u32)((u64)(u32)(a) * (u32)(b) >> 32))
#define mul_hi_u64(a, b) ((u64)((unsigned __int128)(u64)(a) * (u64)(b) >> 64))
#define popcount_u32(x) ((u32)__builtin_popcount((u32)(x)))
#define clz_u32(x) axl_clz((u32)(x))
#define sqrt(x) axl_sqrt(x)
#define AXL_PERMUTE(a, b, selector, plain) (plain)

#define axl_prefetch(address) __builtin_prefetch(address)
#define axl_prefetch_l2(address) __builtin_prefetch(address, 0, 2)

namespace AXL_LEVEL_NAME(AXL_LEVEL) {
struct AXL_KERNEL {
  const axl_call* axl_this_call;
  u32 axl_group, axl_item;

#if GROUP != 1
#include "host_meet.h"
#endif

INLINE u32 axl_clz(const u32 x) {
  return x == 0u ? 32u : (u32)__builtin_clz(x);
}

#define AXL_GET(P, address) axl_get<P>(address)
#define AXL_PUT(P, address, v) axl_put<P>(address, v)
#define AXL_LOCAL_GET(P, address) axl_get<P>(address)
#define AXL_LOCAL_PUT(P, address, v) axl_put<P>(address, v)
#define AXL_LOOSE_BYTES(P) axl_loose_bytes<P>(0)
#define AXL_GET_LOOSE(P, element, address) axl_get_loose<P>(address)
#define AXL_PUT_LOOSE(P, element, address, v) axl_put_loose<P>(address, v)
#define AXL_GET_STREAM(P, address) axl_get<P>(address)
#define AXL_PUT_STREAM(P, address, v) axl_put_stream<P>(address, v)
#define AXL_OWN_GET(P, address) axl_get_loose<P>(address)
#define AXL_OWN_PUT(P, address, v) axl_put_loose<P>(address, v)
#define axl_writable(address) (address)

#define AXL_LOCAL_ARRAY(name, bytes) u8* const name = axl_this_call->local + axl_##name##_begin
// What CHECKED and TRACE keep beside a group's block lies behind what the launch has of it: none, where it needs none.
#define LOCAL_BLOCK(bytes)                                     \
  enum { axl_block_bytes = (bytes) };                          \
  const u64 axl_axl_spill_begin = axl_this_call->local_bytes;  \
  (void)axl_axl_spill_begin;                                   \
  u8* const axl_block = axl_this_call->local;                       \
  (void)axl_block AXL_LOCAL_SPILL

#define AXL_ASYNC_COPY(name, a, i, count) AXL_COPY_BY_ITEMS(name, a, i, count, 1)
#define AXL_ASYNC_COPY_STRIDED(name, a, i, count, stride) AXL_COPY_BY_ITEMS(name, a, i, count, stride)
#define AXL_ASYNC_WAIT() barrier_local()

#define axl_count_up(counter) __atomic_fetch_add(counter, 1u, __ATOMIC_RELAXED)
#define axl_atomic_add(address, value) __atomic_fetch_add(address, (u32)(value), __ATOMIC_RELAXED)

#define AXL_CAN_ORDER_GROUPS 1
INLINE void axl_relaxed_store(u32* const slot, const u32 value) {
  __atomic_store_n(slot, value, __ATOMIC_RELAXED);
}
INLINE u32 axl_relaxed_load(u32* const slot) {
  return __atomic_load_n(slot, __ATOMIC_RELAXED);
}
INLINE u32 axl_ordered_increment(u32* const slot) {
  return __atomic_fetch_add(slot, 1u, __ATOMIC_ACQ_REL);
}
#include "order.h"

#if defined(__F16C__)
#define AXL_NATIVE_F16 1
#if AXL_FLOAT16_INSTRUCTIONS
INLINE f32 axl_native_f32_from_f16(const u16 h) {
  typedef short Halves __attribute__((vector_size(16)));
  return __builtin_ia32_vcvtph2ps(Halves{(short)h})[0];
}
#else
INLINE f32 axl_native_f32_from_f16(const u16 h) {
  return axl_bits<_Float16>(h);
}
#endif
INLINE u16 axl_native_f16_from_f32(const f32 value) {
  typedef f32 Floats __attribute__((vector_size(16)));
  return (u16)__builtin_ia32_vcvtps2ph(Floats{value}, 0)[0];
}
#endif

// ---- vectors
#define VECTOR_OF(T, n) AXL_VECTOR_OF(T, n)
#define AXL_VECTOR_OF(T, n) axl_##T##v##n
#define SELECT(condition, a, b) axl_select(condition, a, b)
#define REVERSED(x, c, s) axl_reversed(x, c, s)
#define GREATER(x, y) axl_chosen<1>(x, y)
#define LESSER(x, y) axl_chosen<-1>(x, y)
#define ADD_FUSED(x, y) axl_fused_sum<1>(x, y)
#define SUBTRACT_FUSED(x, y) axl_fused_sum<-1>(x, y)
#define BY_ITSELF(x) axl_by_itself(x)
#define CONVERT_LANES(T, n, x) axl_convert<T>(x)
#define AS_LANES(V, x) axl_bits<V>(x)
#define EXCHANGE_LANES(T, n, x, d) axl_exchange<d>(x)
#define LOWER_LANES_OF(T, n, x, y, d) axl_lower_lanes<d>(x, y)
#define UPPER_LANES_OF(T, n, x, y, d) axl_upper_lanes<d>(x, y)
#define LANE_NUMBERS(T, n) axl_numbered((axl_vector<T, n>*)nullptr)
#define LANE(T, n, x, i) axl_lane(x, i)
#define EVEN_LANES_OF(T, n, x) axl_every_second<0>(x)
#define ODD_LANES_OF(T, n, x) axl_every_second<1>(x)
#define F32_LANES_OF_F16(n, x) axl_f32_of_f16(x)
#define F32_LANES_OF_BF16(n, x) axl_f32_of_bf16(x)
#define INTERLEAVE_LOW(T, x, y) (axl_interleave<T, 0>(x, y))
#define INTERLEAVE_HIGH(T, x, y) (axl_interleave<T, 1>(x, y))
#define PIECES(x, y, a, b, c, d) (axl_pieces<a, b, c, d>(x, y))
#define QUARTER_LOW(T, x, y) (axl_interleave<T, 0>(x, y))
#define QUARTER_HIGH(T, x, y) (axl_interleave<T, 1>(x, y))
#define SPREAD_THREES(x, n) axl_spread_threes<n>(x)
#define PACK_THREES(x) axl_pack_threes(x)
#define THREE_IN_TURNS(T, n, x, y, z) (axl_in_turns<T, n>(x, y, z))
#define EVENS(T, x, y) (axl_second<T, 0>(x, y))
#define ODDS(T, x, y) (axl_second<T, 1>(x, y))
#define MERGE_LOWER(T, x, y) (axl_merge<T, 0>(x, y))
#define MERGE_UPPER(T, x, y) (axl_merge<T, 1>(x, y))
#define EVERY_THIRD(T, l, x, y, z) (axl_third<T, l>(x, y, z))

#include "host_dots.h"
#include "intrinsics.h"
