// The intrinsics that read the same on every runtime: access to buffers and local memory, helper arguments, arithmetic.
// Included by on_opencl.h and on_cuda.h after their primitives. Every access passes one of four hooks (AXL_READ,
// AXL_WRITE, AXL_LOCAL_READ, AXL_LOCAL_WRITE); watch.h redefines the hooks, and the argument lists that they need, for
// CHECKED and TRACE.

#if AXL_CHECKED && AXL_TRACE
#error "AXL_CHECKED and AXL_TRACE exclude each other"
#elif AXL_CHECKED || AXL_TRACE
#define AXL_WATCH 1
#include "watch.h"
#else
// Unwatched arguments and hooks. The offset is added to the pointer first: that sum does not change within a kernel, so
// a 32-bit index costs one multiply-add.
#define AXL_BUFFER_TAIL(a)
#define AXL_REF_TAIL(a)
#define AXL_PASS_TAIL(a)
#define AXL_LOG_ARGUMENT
#define AXL_READ(a, i, bytes, align) ((a##_p + a##_o) + (i))
#define AXL_WRITE(b, i, bytes, align) ((b##_p + b##_o) + (i))
#define PASS_BASED(a) a##_p + a##_o, 0
#define START(T) const GLOBAL T*
#define start_at(a, i) ((a##_p + a##_o) + (i))
#define load_from(a, start, i) ((start)[i])
#define load_loose_from(P, a, start, i) AXL_GET_LOOSE(P, sizeof(*a##_p), (start) + (i))
#define load_first_from(P, a, start, i, count) axl_get_first<P>((start) + (i), count)
#define AXL_LOCAL_SPILL
#define AXL_LOCAL_BOUNDS(T, name, byte_offset, count)
#define AXL_LOCAL_REF_TAIL(name)
#define AXL_LOCAL_PASS_TAIL(name)
#define AXL_LOCAL_READ(name, i, bytes, align) (name##_l + (i))
#define AXL_LOCAL_WRITE(name, i, bytes, align) (name##_l + (i))
#endif

// ---- names put together of what x and y, T and n expand to
#define JOIN(x, y) AXL_JOIN(x, y)
#define AXL_JOIN(x, y) x##y
#define PACKET_OF(T, n) AXL_PACKET_OF(T, n)
#define AXL_PACKET_OF(T, n) T##x##n
#define MAKE_PACKET_OF(T, n) AXL_MAKE_PACKET_OF(T, n)
#define AXL_MAKE_PACKET_OF(T, n) make_##T##x##n

// ---- declarations
#define IN(T, a) const GLOBAL T *AXL_RESTRICT a##_p, const i64 a##_o AXL_BUFFER_TAIL(a)
#define OUT(T, b) GLOBAL T *AXL_RESTRICT b##_p, const i64 b##_o AXL_BUFFER_TAIL(b)
#define INOUT(T, b) GLOBAL T *b##_p, const i64 b##_o AXL_BUFFER_TAIL(b)
#define PARAMS(P) AXL_LOG_ARGUMENT AXL_BY_VALUE(P, p)
#define REF(T, a) const GLOBAL T *a##_p, const i64 a##_o AXL_REF_TAIL(a)
#define MUTABLE_REF(T, b) GLOBAL T *b##_p, const i64 b##_o AXL_REF_TAIL(b)
#define PASS(a) a##_p, a##_o AXL_PASS_TAIL(a)
#define PASS_AS(T, a) (GLOBAL T*)a##_p, a##_o AXL_PASS_TAIL(a)

// ---- global memory: the second layer of each intrinsic lets type arguments that are themselves macros expand
#define load(a, i) (*AXL_READ(a, i, sizeof(*a##_p), sizeof(*a##_p)))
#define store(b, i, v) (*AXL_WRITE(b, i, sizeof(*b##_p), sizeof(*b##_p)) = (v))
#define load_packet(P, a, i) AXL_GET(P, AXL_READ(a, i, sizeof(P), sizeof(P)))
#define store_packet(P, b, i, v) AXL_PUT(P, AXL_WRITE(b, i, sizeof(P), sizeof(P)), v)
#define load_loose(P, a, i) AXL_GET_LOOSE(P, sizeof(*a##_p), AXL_READ(a, i, AXL_LOOSE_BYTES(P), sizeof(*a##_p)))
#define store_loose(P, b, i, v) AXL_PUT_LOOSE(P, sizeof(*b##_p), AXL_WRITE(b, i, AXL_LOOSE_BYTES(P), sizeof(*b##_p)), v)
// Where there are masks. Of several kernels in one file each has its own FIRST_LANES.
#if defined(AXL_HAS_FIRST_LANES)
#define FIRST_LANES 1
#else
#define FIRST_LANES 0
#endif
#define load_first(P, a, i, count) axl_get_first<P>(AXL_READ(a, i, (count) * (i64)sizeof(*a##_p), sizeof(*a##_p)), count)
#define store_first(P, b, i, count, v) \
  axl_put_first<P>(AXL_WRITE(b, i, (count) * (i64)sizeof(*b##_p), sizeof(*b##_p)), count, v)
#define stream_load(P, a, i) AXL_GET_STREAM(P, AXL_READ(a, i, sizeof(P), sizeof(P)))
#define stream_store(P, b, i, v) AXL_PUT_STREAM(P, AXL_WRITE(b, i, sizeof(P), sizeof(P)), v)
#undef prefetch  // a macro in some OpenCL headers
#define prefetch(a, i) axl_prefetch(AXL_READ(a, i, sizeof(*a##_p), sizeof(*a##_p)))
#define prefetch_l2(a, i) axl_prefetch_l2(AXL_READ(a, i, sizeof(*a##_p), sizeof(*a##_p)))

// In arrays of the kernel's own, where there are vectors.
#define own_load(P, address) AXL_OWN_GET(P, address)
#define own_store(P, address, v) AXL_OWN_PUT(P, address, v)

// Integers only: a sum that does not depend on who comes first. Of 64 bits in two halves, the carry after the lower
// one.
#define add_atomically(b, i, v) axl_add_64(AXL_WRITE(b, i, sizeof(*b##_p), sizeof(*b##_p)), v)
INLINE void axl_add_64(GLOBAL u64* const to, const u64 value) {
  GLOBAL u32* const half_words = (GLOBAL u32*)to;  // the lower one first: little endian
  const u32 low = (u32)value, before = axl_atomic_add(half_words, low);
  const u32 high = (u32)(value >> 32) + (before + low < low ? 1u : 0u);
  if (high != 0u) (void)axl_atomic_add(half_words + 1, high);
}

#define address_of(a, i) ((u64)(a##_p + a##_o) + (u64)((i64)(i) * (i64)sizeof(*a##_p)))

// ---- local memory
#define LOCAL_PART(T, name, byte_offset, count) \
  LOCAL T* const name##_l = (LOCAL T*)(axl_block + (byte_offset)) AXL_LOCAL_BOUNDS(T, name, byte_offset, count)
#define LOCAL_REF(T, name) LOCAL T* const name##_l AXL_LOCAL_REF_TAIL(name)
#define PASS_LOCAL(name) name##_l AXL_LOCAL_PASS_TAIL(name)
#define local_load(name, i) (*AXL_LOCAL_READ(name, i, sizeof(*name##_l), sizeof(*name##_l)))
#define local_store(name, i, v) (*AXL_LOCAL_WRITE(name, i, sizeof(*name##_l), sizeof(*name##_l)) = (v))
#define local_load_packet(P, name, i) AXL_LOCAL_GET(P, AXL_LOCAL_READ(name, i, sizeof(P), sizeof(P)))
#define local_store_packet(P, name, i, v) AXL_LOCAL_PUT(P, AXL_LOCAL_WRITE(name, i, sizeof(P), sizeof(P)), v)

// A copy into local memory by all items of the group, one element at a time: what async_copy means, and what it is
// where accesses are watched or the hardware has nothing better.
#define AXL_COPY_BY_ITEMS(name, a, i, count, stride)                       \
  for (i64 axl_k = (i64)item_id(); axl_k < (i64)(count); axl_k += GROUP) { \
    local_store(name, axl_k, load(a, (i64)(i) + axl_k * (i64)(stride)));   \
  }
#if defined(AXL_WATCH)
#define async_copy(name, a, i, count) AXL_COPY_BY_ITEMS(name, a, i, count, 1)
#define async_copy_strided(name, a, i, count, stride) AXL_COPY_BY_ITEMS(name, a, i, count, stride)
#define async_wait() barrier_local()
#else
#define async_copy(name, a, i, count) AXL_ASYNC_COPY(name, a, i, count)
#define async_copy_strided(name, a, i, count, stride) AXL_ASYNC_COPY_STRIDED(name, a, i, count, stride)
#define async_wait() AXL_ASYNC_WAIT()
#endif

// ---- order between groups
#if defined(AXL_CAN_ORDER_GROUPS)
#define SLOT(b, i) AXL_WRITE(b, i, sizeof(*b##_p), sizeof(*b##_p))
#define publish(slot, v) axl_publish(slot, v)
#define collect(slot) axl_collect(slot)
#define ticket_last(slot, total) axl_ticket_last(slot, total)
#endif

// ---- choosing: `condition` is a truth, or a vector's worth of them
#if !defined(SELECT)
#define SELECT(condition, a, b) ((condition) ? (a) : (b))
#endif

// ---- sums by the units that multiply, where these are others than those that add
#if !defined(ADD_FUSED)
#define ADD_FUSED(x, y) ((x) + (y))
#define SUBTRACT_FUSED(x, y) ((x) - (y))
#endif

// ---- loops
#define EACH(k, n) UNROLL for (int k = 0; k < (n); ++k)

// ---- arithmetic
#define AXL_MIN_MAX(T)                     \
  INLINE T min_##T(const T a, const T b) { \
    return a < b ? a : b;                  \
  }                                        \
  INLINE T max_##T(const T a, const T b) { \
    return a > b ? a : b;                  \
  }
AXL_MIN_MAX(i32)
AXL_MIN_MAX(u32)
AXL_MIN_MAX(i64)
AXL_MIN_MAX(u64)

// Selectors of the PTX instruction prmt: nibble k names the byte of b:a that becomes byte k of the result.
INLINE u32 even8(const u32 a, const u32 b) {
  return AXL_PERMUTE(a, b, 0x6240u, (a & 0x00ff00ffu) | ((b & 0x00ff00ffu) << 8));
}
INLINE u32 odd8(const u32 a, const u32 b) {
  return AXL_PERMUTE(a, b, 0x7351u, ((a >> 8) & 0x00ff00ffu) | (b & 0xff00ff00u));
}
INLINE u32 low16(const u32 a, const u32 b) {
  return AXL_PERMUTE(a, b, 0x5410u, (a & 0xffffu) | (b << 16));
}
INLINE u32 high16(const u32 a, const u32 b) {
  return AXL_PERMUTE(a, b, 0x7632u, (a >> 16) | (b & 0xffff0000u));
}

#include "convert.h"
