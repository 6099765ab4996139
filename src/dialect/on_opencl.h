// The dialect on OpenCL C 1.2 and later: types, packets, and the primitives below the intrinsics of intrinsics.h.
#include "constants.h"

#if !defined(AXL_CONTRACT)
#pragma OPENCL FP_CONTRACT OFF
#endif
#if defined(AXL_HAS_F64)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#if defined(AXL_HAS_F16)
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif

// Wide packets pass through inlined functions only, so how a narrower processor would pass them does not matter; and
// UNROLL is a hint, which a compiler may decline.
#if defined(__has_warning)
#if __has_warning("-Wpsabi")
#pragma clang diagnostic ignored "-Wpsabi"
#endif
#if __has_warning("-Wpass-failed")
#pragma clang diagnostic ignored "-Wpass-failed"
#endif
#endif

#define GLOBAL __global
#define LOCAL __local
#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("unroll")
#define ROLLED _Pragma("unroll 1")
#define AXL_RESTRICT restrict
#define AXL_ASM __asm__  // asm is no keyword of OpenCL C
#define AXL_OVERLOAD __attribute__((overloadable))
#define AXL_TYPEOF(x) __typeof__(x)
#define AXL_BY_VALUE(P, name) const P name
// NVIDIA's OpenCL refuses __VA_ARGS__, but takes the named form.
#define KERNEL(name, arguments...) __kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void name(arguments)
// Every launch has one dimension, but for rehearsals, which are there for the compiler's sake and do nothing.
// Only groups of one item are rehearsed: returning before a barrier, others corrupt PoCL's heap.
#if defined(AXL_REHEARSAL) && GROUP == 1
#define AXL_BEGIN \
  if (get_work_dim() != 1u) return;
#else
#define AXL_BEGIN
#endif
#define PARAMS_SIZE(P) AXL_PARAMS_SIZE_CHECK(P)
#define AXL_PARAMS_SIZE_CHECK(P) typedef char axl_params_size_##P[sizeof(P) == AXL_PARAMS_SIZE ? 1 : -1]

#if defined(__has_builtin)
#if __has_builtin(__builtin_nontemporal_store)
#define AXL_NONTEMPORAL 1
#endif
#endif
#if defined(__NV_CL_C_VERSION)
#define AXL_NVIDIA 1
#endif

// SPIR-V has vectors of up to 16 components; at wider ones a compiler that goes by way of it ends the program (rusticl
// 22.3).
#if !defined(__SPIR__) && !defined(__SPIR64__)
#define AXL_WIDE_VECTORS 1
#endif

typedef char i8;
typedef uchar u8;
typedef short i16;
typedef ushort u16;
typedef int i32;
typedef uint u32;
typedef long i64;
typedef ulong u64;
typedef float f32;
#if defined(AXL_HAS_F64)
typedef double f64;
#endif

#define as_f32_u32(x) as_float((u32)(x))
#define as_u32_f32(x) as_uint((f32)(x))
#define as_f32_i32(x) as_float((i32)(x))
#define as_i32_f32(x) as_int((f32)(x))
#if defined(AXL_HAS_F64)
#define as_f64_u64(x) as_double((u64)(x))
#define as_u64_f64(x) as_ulong((f64)(x))
#endif

#define group_id() ((u32)get_group_id(0))
#define item_id() ((u32)get_local_id(0))
#define group_count() ((u32)get_num_groups(0))

// Not mul_hi, of which PoCL makes four multiplications of halves.
#define mul_hi_u32(a, b) ((u32)((u64)(u32)(a) * (u32)(b) >> 32))
#define mul_hi_u64(a, b) mul_hi((u64)(a), (u64)(b))
#define popcount_u32(x) popcount((u32)(x))
#define clz_u32(x) clz((u32)(x))

#if defined(AXL_NVIDIA)
#include "nvidia.h"
#define AXL_STREAM_WORDS(P)                                                      \
  INLINE P axl_get_stream_##P(const GLOBAL P* const from) {                      \
    P value;                                                                     \
    axl_nvidia_stream_load((u8*)&value, (const GLOBAL u8*)from, (u32)sizeof(P)); \
    return value;                                                                \
  }                                                                              \
  INLINE void axl_put_stream_##P(GLOBAL P* const to, const P value) {            \
    axl_nvidia_stream_store((GLOBAL u8*)to, (const u8*)&value, (u32)sizeof(P));  \
  }
#else
#define AXL_PERMUTE(a, b, selector, plain) (plain)
#if defined(AXL_NONTEMPORAL)
#define AXL_STREAM_WORDS(P)                                                     \
  INLINE P axl_get_stream_##P(const GLOBAL axl_any_##P* const from) {           \
    return __builtin_nontemporal_load(from);                                    \
  }                                                                             \
  INLINE void axl_put_stream_##P(GLOBAL axl_any_##P* const to, const P value) { \
    __builtin_nontemporal_store(value, to);                                     \
  }
#else
#define AXL_STREAM_WORDS(P)                                                     \
  INLINE P axl_get_stream_##P(const GLOBAL axl_any_##P* const from) {           \
    return *from;                                                               \
  }                                                                             \
  INLINE void axl_put_stream_##P(GLOBAL axl_any_##P* const to, const P value) { \
    *to = value;                                                                \
  }
#endif

// The pointer of __builtin_prefetch has no address space; on a CPU the spaces are one.
#if defined(__x86_64__) || defined(__aarch64__)
#define axl_prefetch(address) __builtin_prefetch((const void*)(ulong)(address))
#define axl_prefetch_l2(address) __builtin_prefetch((const void*)(ulong)(address), 0, 2)
#else
INLINE void axl_prefetch(const GLOBAL void* const address) {
  prefetch((const GLOBAL u8*)address, (size_t)1);
}
#define axl_prefetch_l2(address) axl_prefetch(address)
#endif

#if defined(AXL_DEVICE_SCOPE)
#define AXL_CAN_ORDER_GROUPS 1
INLINE void axl_relaxed_store(GLOBAL u32* const slot, const u32 value) {
  atomic_store_explicit((volatile GLOBAL atomic_uint*)slot, value, memory_order_relaxed, memory_scope_device);
}
INLINE u32 axl_relaxed_load(GLOBAL u32* const slot) {
  return atomic_load_explicit((volatile GLOBAL atomic_uint*)slot, memory_order_relaxed, memory_scope_device);
}
INLINE u32 axl_ordered_increment(GLOBAL u32* const slot) {
  return atomic_fetch_add_explicit((volatile GLOBAL atomic_uint*)slot, 1u, memory_order_acq_rel, memory_scope_device);
}
#endif
#endif

// Outside NVIDIA a fence of one item reaches the others only over a barrier that orders global memory as well.
#if defined(AXL_DEVICE_SCOPE) && !defined(AXL_NVIDIA)
#define barrier_local() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#else
#define barrier_local() barrier(CLK_LOCAL_MEM_FENCE)
#endif

// A buffer may be read and written as packets of any type: axl_any_P aliases everything.
#define AXL_ACCESS_WORDS(P)                         \
  typedef P axl_any_##P __attribute__((may_alias)); \
  AXL_STREAM_WORDS(P)
// axl_loose_P has no alignment, axl_part_P that of its components T: in buffers whose elements are no smaller NVIDIA
// then moves components, where it would move bytes.
#define AXL_LOOSE_WORDS(P, T)                                                              \
  enum { axl_loose_bytes_##P = sizeof(P) };                                                \
  typedef struct __attribute__((packed, may_alias)) {                                      \
    P value;                                                                               \
  } axl_loose_##P;                                                                         \
  typedef struct __attribute__((packed, aligned(sizeof(T)), may_alias)) {                  \
    P value;                                                                               \
  } axl_part_##P;                                                                          \
  INLINE P axl_get_loose_##P(const GLOBAL void* const from, const u32 element) {           \
    if (element % sizeof(T) == 0u) return ((const GLOBAL axl_part_##P*)from)->value;       \
    return ((const GLOBAL axl_loose_##P*)from)->value;                                     \
  }                                                                                        \
  INLINE void axl_put_loose_##P(GLOBAL void* const to, const u32 element, const P value) { \
    if (element % sizeof(T) == 0u)                                                         \
      ((GLOBAL axl_part_##P*)to)->value = value;                                           \
    else                                                                                   \
      ((GLOBAL axl_loose_##P*)to)->value = value;                                          \
  }
#define AXL_LOOSE_WORDS_3(T)                                                                       \
  enum { axl_loose_bytes_##T##x3 = 3 * sizeof(T) };                                                \
  INLINE T##x3 axl_get_loose_##T##x3(const GLOBAL void* const from, const u32 element) {           \
    (void)element;                                                                                 \
    return vload3(0, (const GLOBAL T*)from);                                                       \
  }                                                                                                \
  INLINE void axl_put_loose_##T##x3(GLOBAL void* const to, const u32 element, const T##x3 value) { \
    (void)element;                                                                                 \
    vstore3(value, 0, (GLOBAL T*)to);                                                              \
  }

#include "makers.h"
#define AXL_LITERAL(P, components) ((P)components)
#define AXL_SCALAR(T, native)                                                                    \
  typedef native##2 T##x2;                                                                       \
  typedef native##3 T##x3;                                                                       \
  typedef native##4 T##x4;                                                                       \
  typedef native##8 T##x8;                                                                       \
  typedef native##16 T##x16;                                                                     \
  AXL_ACCESS_WORDS(T)                                                                            \
  AXL_ACCESS_WORDS(T##x2)                                                                        \
  AXL_ACCESS_WORDS(T##x3)                                                                        \
  AXL_ACCESS_WORDS(T##x4)                                                                        \
  AXL_ACCESS_WORDS(T##x8)                                                                        \
  AXL_ACCESS_WORDS(T##x16)                                                                       \
  AXL_LOOSE_WORDS(T, T) AXL_LOOSE_WORDS(T##x2, T) AXL_LOOSE_WORDS_3(T) AXL_LOOSE_WORDS(T##x4, T) \
  AXL_LOOSE_WORDS(T##x8, T) AXL_LOOSE_WORDS(T##x16, T)                                           \
  AXL_MAKERS(T)

AXL_SCALAR(i8, char)
AXL_SCALAR(u8, uchar)
AXL_SCALAR(i16, short)
AXL_SCALAR(u16, ushort)
AXL_SCALAR(i32, int)
AXL_SCALAR(u32, uint)
AXL_SCALAR(i64, long)
AXL_SCALAR(u64, ulong)
AXL_SCALAR(f32, float)
#if defined(AXL_HAS_F64)
AXL_SCALAR(f64, double)
#endif

#define AXL_GET(P, address) (*(const GLOBAL axl_any_##P*)(address))
#define AXL_PUT(P, address, v) (*(GLOBAL axl_any_##P*)axl_writable(address) = (v))
#define AXL_LOCAL_GET(P, address) (*(const LOCAL axl_any_##P*)(address))
#define AXL_LOCAL_PUT(P, address, v) (*(LOCAL axl_any_##P*)(address) = (v))
#define AXL_LOOSE_BYTES(P) axl_loose_bytes_##P
#define AXL_GET_LOOSE(P, element, address) axl_get_loose_##P(address, element)
#define AXL_PUT_LOOSE(P, element, address, v) axl_put_loose_##P(address, element, v)
#define AXL_GET_STREAM(P, address) axl_get_stream_##P((const GLOBAL P*)(address))
#define AXL_PUT_STREAM(P, address, v) axl_put_stream_##P((GLOBAL P*)axl_writable(address), v)

// Refuses a pointer to const, so that a store to an IN buffer does not compile.
INLINE GLOBAL void* axl_writable(GLOBAL void* const address) {
  return address;
}

#define AXL_LOCAL_ARRAY(name, bytes) LOCAL u8 name[bytes] __attribute__((aligned(128)))
#define LOCAL_BLOCK(bytes)            \
  enum { axl_block_bytes = (bytes) }; \
  AXL_LOCAL_ARRAY(axl_block, bytes);  \
  event_t axl_event = 0;              \
  const event_t axl_no_event = 0;     \
  (void)axl_event;                    \
  (void)axl_no_event AXL_LOCAL_SPILL

// One event collects all copies up to a wait, which releases it; a copy in a helper function has no event and does not
// compile.
#define AXL_ASYNC_COPY(name, a, i, count) \
  axl_event = async_work_group_copy(name##_l, AXL_READ(a, i, 0, 0), (size_t)(count), axl_event)
#define AXL_ASYNC_COPY_STRIDED(name, a, i, count, stride) \
  axl_event =                                             \
      async_work_group_strided_copy(name##_l, AXL_READ(a, i, 0, 0), (size_t)(count), (size_t)(stride), axl_event)
// OpenCL's wait orders the copies alone (on PoCL other items may still be before it): the intrinsic has a barrier.
#define AXL_ASYNC_WAIT()              \
  do {                                \
    wait_group_events(1, &axl_event); \
    axl_event = axl_no_event;         \
    barrier_local();                  \
  } while (0)

#if defined(AXL_CAN_ORDER_GROUPS)
#include "order.h"
#endif

#if defined(AXL_HAS_F16) && !defined(AXL_NATIVE_F16)
#define AXL_NATIVE_F16 1
INLINE f32 axl_native_f32_from_f16(const u16 h) {
  return convert_float(as_half(h));
}
INLINE u16 axl_native_f16_from_f32(const f32 value) {
  return as_ushort(convert_half_rte(value));
}
#endif

#define axl_count_up(counter) atomic_inc((volatile GLOBAL u32*)(counter))
#define axl_atomic_add(address, value) atomic_add((volatile GLOBAL u32*)(address), (u32)(value))

#include "opencl_vectors.h"
#include "intrinsics.h"
