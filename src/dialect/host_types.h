// The types of the dialect on the host, in C++ as GCC and clang have it: scalars, packets and vectors. Included once,
// before any number of kernels.
//
// A vector is as wide as the processor's registers, or is two halves that are vectors: so neither compiler takes one
// apart into its lanes.

#if !defined(AXL_HOST_TYPES)
#define AXL_HOST_TYPES 1
#include <type_traits>
#include <utility>

// Kernels of several levels of the instruction set stand in one program: nothing of one may be taken for another's.
#if !defined(AXL_LEVEL)
#define AXL_LEVEL machine
#endif
#define AXL_LEVEL_NAME_OF(level) axl_##level
#define AXL_LEVEL_NAME(level) AXL_LEVEL_NAME_OF(level)
namespace AXL_LEVEL_NAME(AXL_LEVEL) {

typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned int u32;
typedef long i64;
typedef unsigned long u64;
typedef float f32;
typedef double f64;

#define AXL_INLINE inline __attribute__((always_inline))

// UNROLL is a hint, which a compiler may decline.
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

// Bytes of a vector register.
#if defined(__AVX512F__)
#define AXL_REGISTER 64
#elif defined(__AVX__)
#define AXL_REGISTER 32
#else
#define AXL_REGISTER 16
#endif

// What the library calls a kernel with: KernelCall of device/host/kernel.hpp.
struct axl_call {
  const void* const* args;
  const i32* settings;
  u64 groups;
  u8* local;
  u64 local_bytes;
  void (*run_items)(const axl_call& call, u32 items, void (*item)(void* context, u32 number), void* context);
  void (*barrier)();
  void (*fault)(const axl_call& call, const char* what);
};

#include "host_items.h"

// Vectors, below. GCC copies structures by 16 bytes, so those of two halves are copied by halves, and a half as what
// the register holds.
template <class T, int N, bool Wide = (N * sizeof(T) > AXL_REGISTER)>
struct axl_vector;
template <class P>
constexpr bool axl_has_halves = false;
template <class T, int N>
constexpr bool axl_has_halves<axl_vector<T, N, true>> = true;
template <class P>
constexpr bool axl_is_register = false;
template <class T, int N>
constexpr bool axl_is_register<axl_vector<T, N, false>> = true;

template <class To, class From>
AXL_INLINE To axl_bits(const From& from) {
  static_assert(sizeof(To) == sizeof(From), "bits of another size");
  if constexpr (axl_has_halves<To> && axl_has_halves<From>) {
    return {axl_bits<typename To::half>(from.low), axl_bits<typename To::half>(from.high)};
  } else if constexpr (axl_is_register<To> && axl_is_register<From>) {
    return To::of((typename To::native)from.v);
  } else {
    To to;
    __builtin_memcpy(&to, &from, sizeof(To));
    return to;
  }
}

#define INLINE AXL_INLINE
#define AXL_PACKET_ALIGNMENT(bytes) (bytes)
#include "packets.h"

#include "host_vectors.h"

// ---- memory
template <class P>
AXL_INLINE P axl_get(const void* const address) {
  if constexpr (axl_has_halves<P>) {
    typedef typename P::half Half;
    return {axl_get<Half>(address), axl_get<Half>(static_cast<const u8*>(address) + sizeof(Half))};
  } else if constexpr (axl_is_register<P>) {
    return P::of(*static_cast<const typename P::in_memory*>(address));
  }
  P value;
  __builtin_memcpy(&value, __builtin_assume_aligned(address, sizeof(P)), sizeof(P));
  return value;
}
template <class P>
AXL_INLINE void axl_put(void* const address, const P& value) {
  if constexpr (axl_has_halves<P>) {
    axl_put(address, value.low);
    return axl_put(static_cast<u8*>(address) + sizeof value.low, value.high);
  } else if constexpr (axl_is_register<P>) {
    *static_cast<typename P::in_memory*>(address) = value.v;
    return;
  }
  __builtin_memcpy(__builtin_assume_aligned(address, sizeof(P)), &value, sizeof(P));
}

template <class P>
AXL_INLINE P axl_get_loose(const void* const address) {
  if constexpr (axl_has_halves<P>) {
    typedef typename P::half Half;
    return {axl_get_loose<Half>(address), axl_get_loose<Half>(static_cast<const u8*>(address) + sizeof(Half))};
  } else if constexpr (axl_is_register<P>) {
    return P::of(*static_cast<const typename P::loose*>(address));
  }
  P value;
  __builtin_memcpy(&value, address, axl_loose_bytes<P>(0));
  return value;
}
template <class P>
AXL_INLINE void axl_put_loose(void* const address, const P& value) {
  if constexpr (axl_has_halves<P>) {
    axl_put_loose(address, value.low);
    return axl_put_loose(static_cast<u8*>(address) + sizeof value.low, value.high);
  } else if constexpr (axl_is_register<P>) {
    *static_cast<typename P::loose*>(address) = value.v;
    return;
  }
  __builtin_memcpy(address, &value, axl_loose_bytes<P>(0));
}

// The first lanes of a vector of elements of 4 or 8 bytes, by a mask; of those loaded the others are 0.
#if AXL_REGISTER >= 32
#define AXL_HAS_FIRST_LANES 1
typedef axl_vector<f32, AXL_REGISTER / 4> axl_fours;
typedef axl_vector<f64, AXL_REGISTER / 8> axl_eights;
#if AXL_REGISTER == 64
template <class P>
AXL_INLINE u32 axl_first(const i64 count) {
  return __builtin_ia32_bzhi_si(~0u, (u32)count);
}
#define AXL_GET_FOURS(from, first) __builtin_ia32_loadups512_mask((const f32*)from, axl_fours::native{}, (u16)first)
#define AXL_GET_EIGHTS(from, first) __builtin_ia32_loadupd512_mask((const f64*)from, axl_eights::native{}, (u8)first)
#define AXL_PUT_FOURS(to, first, x) __builtin_ia32_storeups512_mask((f32*)to, x, (u16)first)
#define AXL_PUT_EIGHTS(to, first, x) __builtin_ia32_storeupd512_mask((f64*)to, x, (u8)first)
#else
template <class P>
AXL_INLINE auto axl_first(const i64 count) {
  typedef typename axl_truth<sizeof(typename P::scalar)>::type Lane;
  typedef axl_vector<Lane, sizeof(P) / sizeof(Lane)> Lanes;
  return (axl_numbered((Lanes*)nullptr) < Lanes(Lane(count))).v;
}
#define AXL_GET_FOURS(from, first) __builtin_ia32_maskloadps256((const axl_fours::native*)from, first)
typedef long long axl_eights_mask __attribute__((vector_size(32)));
#define AXL_GET_EIGHTS(from, first) \
  __builtin_ia32_maskloadpd256((const axl_eights::native*)from, (axl_eights_mask)first)
#define AXL_PUT_FOURS(to, first, x) __builtin_ia32_maskstoreps256((axl_fours::native*)to, first, x)
#define AXL_PUT_EIGHTS(to, first, x) \
  __builtin_ia32_maskstorepd256((axl_eights::native*)to, (axl_eights_mask)first, x)
#endif
template <class P>
AXL_INLINE P axl_get_first(const void* const from, const i64 count) {
  if constexpr (axl_has_halves<P>) {
    typedef typename P::half Half;
    constexpr i64 lanes = sizeof(Half) / sizeof(typename P::scalar);
    return {axl_get_first<Half>(from, count < lanes ? count : lanes),
            axl_get_first<Half>((const u8*)from + sizeof(Half), count < lanes ? 0 : count - lanes)};
  } else if constexpr (sizeof(typename P::scalar) == 4) {
    return axl_bits<P>(axl_fours::of(AXL_GET_FOURS(from, axl_first<P>(count))));
  } else {
    return axl_bits<P>(axl_eights::of(AXL_GET_EIGHTS(from, axl_first<P>(count))));
  }
}
template <class P>
AXL_INLINE void axl_put_first(void* const to, const i64 count, const P& value) {
  if constexpr (axl_has_halves<P>) {
    constexpr i64 lanes = sizeof value.low / sizeof(typename P::scalar);
    axl_put_first(to, count < lanes ? count : lanes, value.low);
    axl_put_first((u8*)to + sizeof value.low, count < lanes ? 0 : count - lanes, value.high);
  } else if constexpr (sizeof(typename P::scalar) == 4) {
    AXL_PUT_FOURS(to, axl_first<P>(count), axl_bits<axl_fours>(value).v);
  } else {
    AXL_PUT_EIGHTS(to, axl_first<P>(count), axl_bits<axl_eights>(value).v);
  }
}
#endif

// Past the cache where the processor can: 64, 32, 16, 8 and 4 bytes at a time.
#if defined(__clang__)
#define AXL_PAST(V, store)                                                            \
  AXL_INLINE void axl_put_past(void* const address, const V value) {                  \
    __builtin_nontemporal_store(value, static_cast<V*>(address));                     \
  }
#define AXL_CAN_PAST 1
#elif defined(__SSE2__)
#define AXL_PAST(V, store)                                                            \
  AXL_INLINE void axl_put_past(void* const address, const V value) {                  \
    store(static_cast<V*>(address), value);                                           \
  }
#define AXL_CAN_PAST 1
#endif
#if defined(AXL_CAN_PAST)
typedef long long axl_past16 __attribute__((vector_size(16)));
typedef long long axl_past32 __attribute__((vector_size(32)));
typedef long long axl_past64 __attribute__((vector_size(64)));
AXL_PAST(int, __builtin_ia32_movnti)
AXL_PAST(long long, __builtin_ia32_movnti64)
AXL_PAST(axl_past16, __builtin_ia32_movntdq)
#if AXL_REGISTER >= 32
AXL_PAST(axl_past32, __builtin_ia32_movntdq256)
#endif
#if AXL_REGISTER == 64
AXL_PAST(axl_past64, __builtin_ia32_movntdq512)
#endif
template <class W, class P>
AXL_INLINE void axl_put_words_past(void* const address, const P value) {
  W words[sizeof(P) / sizeof(W)];
  __builtin_memcpy(words, &value, sizeof value);
#pragma GCC unroll 8
  for (unsigned k = 0; k < sizeof(P) / sizeof(W); ++k) axl_put_past(static_cast<W*>(address) + k, words[k]);
}
#endif
template <class P>
AXL_INLINE void axl_put_stream(void* const address, const P& value) {
#if defined(AXL_CAN_PAST)
  if constexpr (axl_has_halves<P>) {
    axl_put_stream(address, value.low);
    return axl_put_stream(static_cast<u8*>(address) + sizeof value.low, value.high);
  }
#if AXL_REGISTER == 64
  if constexpr (sizeof(P) % 64 == 0)
    axl_put_words_past<axl_past64>(address, value);
  else
#endif
#if AXL_REGISTER >= 32
  if constexpr (sizeof(P) % 32 == 0)
    axl_put_words_past<axl_past32>(address, value);
  else
#endif
  if constexpr (sizeof(P) % 16 == 0)
    axl_put_words_past<axl_past16>(address, value);
  else if constexpr (sizeof(P) == 8)
    axl_put_words_past<long long>(address, value);
  else if constexpr (sizeof(P) == 4)
    axl_put_words_past<int>(address, value);
  else
#endif
    axl_put(address, value);
}
}  // namespace
#endif
