// What CUDA C++ and HIP share of the dialect: types, packets, and the primitives below intrinsics.h that no processor
// has instructions of its own for. The runtime's prelude comes first and defines AXL_BY_VALUE, AXL_BOUNDS, and
// axl_two_words and axl_four_words, which are loaded and stored as one.

#define AXL_HAS_F64 1

#define GLOBAL
#define LOCAL
#define INLINE __device__ __forceinline__
#define UNROLL _Pragma("unroll")
#define ROLLED _Pragma("unroll 1")
#define AXL_RESTRICT __restrict__
#define AXL_OVERLOAD
#define AXL_TYPEOF(x) decltype(x)
#define KERNEL(name, ...) extern "C" __global__ void AXL_BOUNDS name(__VA_ARGS__)
#define AXL_BEGIN
#define PARAMS_SIZE(P) static_assert(sizeof(P) == AXL_PARAMS_SIZE, "host and kernel disagree on the size of " #P)

typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;

#define as_f32_u32(x) __uint_as_float(x)
#define as_u32_f32(x) __float_as_uint(x)
#define as_f32_i32(x) __int_as_float(x)
#define as_i32_f32(x) __float_as_int(x)
#define as_f64_u64(x) __longlong_as_double(x)
#define as_u64_f64(x) ((u64)__double_as_longlong(x))

#define group_id() ((u32)blockIdx.x)
#define item_id() ((u32)threadIdx.x)
#define group_count() ((u32)gridDim.x)
#define barrier_local() __syncthreads()

#define mul_hi_u32(a, b) __umulhi(a, b)
#define mul_hi_u64(a, b) __umul64hi(a, b)
#define popcount_u32(x) ((u32)__popc(x))
#define clz_u32(x) ((u32)__clz(x))

// CUDA and HIP load at most 16 bytes at once.
#define AXL_PACKET_ALIGNMENT(bytes) ((bytes) < 16 ? (bytes) : 16)
#include "packets.h"

// Packets travel between memory and registers as words that the compiler loads and stores whole; a structure of bytes
// it would load byte by byte.
template <class W, unsigned Parts = 1>
struct axl_words {
  typedef W Word;
  static constexpr unsigned parts = Parts;
  Word part[Parts];
};
template <unsigned Bytes>
struct axl_carrier : axl_words<axl_four_words, Bytes / 16> {
  static_assert(Bytes % 16 == 0, "a packet has 1, 2, 4, 8 or a multiple of 16 bytes");
};
template <>
struct axl_carrier<8> : axl_words<axl_two_words> {};
template <>
struct axl_carrier<4> : axl_words<u32> {};
template <>
struct axl_carrier<2> : axl_words<u16> {};
template <>
struct axl_carrier<1> : axl_words<u8> {};

template <class To, class From>
INLINE To axl_bits(const From& from) {
  static_assert(sizeof(To) == sizeof(From), "bits of another size");
  To to;
  memcpy(&to, &from, sizeof(To));
  return to;
}

template <class P>
INLINE P axl_get(const void* const address) {
  typedef axl_carrier<sizeof(P)> Carrier;
  const Carrier* const from = static_cast<const Carrier*>(address);
  Carrier value;
  UNROLL for (unsigned k = 0; k < Carrier::parts; ++k) value.part[k] = from->part[k];
  return axl_bits<P>(value);
}

template <class P>
INLINE void axl_put(void* const address, const P value) {
  typedef axl_carrier<sizeof(P)> Carrier;
  Carrier* const to = static_cast<Carrier*>(address);
  const Carrier bits = axl_bits<Carrier>(value);
  UNROLL for (unsigned k = 0; k < Carrier::parts; ++k) to->part[k] = bits.part[k];
}

// Element by element: no wider access is proven.
template <class P, class T>
INLINE P axl_get_loose(const T* const from) {
  constexpr unsigned bytes = axl_loose_bytes<P>(0);
  static_assert(bytes % sizeof(T) == 0, "a loose packet holds whole elements of its buffer");
  P value;
  UNROLL for (unsigned k = 0; k < bytes / sizeof(T); ++k) {
    const T element = from[k];
    memcpy(reinterpret_cast<u8*>(&value) + k * sizeof(T), &element, sizeof(T));
  }
  return value;
}

template <class P, class T>
INLINE void axl_put_loose(T* const to, const P value) {
  constexpr unsigned bytes = axl_loose_bytes<P>(0);
  static_assert(bytes % sizeof(T) == 0, "a loose packet holds whole elements of its buffer");
  UNROLL for (unsigned k = 0; k < bytes / sizeof(T); ++k) {
    T element;
    memcpy(&element, reinterpret_cast<const u8*>(&value) + k * sizeof(T), sizeof(T));
    to[k] = element;
  }
}

#define AXL_GET(P, address) axl_get<P>(address)
#define AXL_PUT(P, address, v) axl_put<P>(address, v)
#define AXL_LOCAL_GET(P, address) axl_get<P>(address)
#define AXL_LOCAL_PUT(P, address, v) axl_put<P>(address, v)
#define AXL_LOOSE_BYTES(P) axl_loose_bytes<P>(0)
#define AXL_GET_LOOSE(P, element, address) axl_get_loose<P>(address)
#define AXL_PUT_LOOSE(P, element, address, v) axl_put_loose<P>(address, v)

#define axl_writable(address) (address)

#define AXL_LOCAL_ARRAY(name, bytes) __shared__ u8 name[bytes] __attribute__((aligned(128)))
#define LOCAL_BLOCK(bytes)                                        \
  enum { axl_block_bytes = (bytes) };                             \
  extern __shared__ u8 axl_block[] __attribute__((aligned(128))); \
  (void)axl_block_bytes AXL_LOCAL_SPILL

#define axl_count_up(counter) atomicAdd(counter, 1u)
#define axl_atomic_add(address, value) atomicAdd(address, (u32)(value))
