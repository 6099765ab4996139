// The dialect on CUDA C++ for NVRTC, without any CUDA header: what is NVIDIA's own, around what HIP shares.
// For sm_80 and later.
#include "constants.h"

#define AXL_CUDA 1
#define AXL_NVIDIA 1
#define AXL_ASM asm
#define AXL_BY_VALUE(P, name) const __grid_constant__ P name
#if RESIDENT
#define AXL_BOUNDS __launch_bounds__(GROUP, RESIDENT)
#else
#define AXL_BOUNDS __launch_bounds__(GROUP)
#endif

typedef uint2 axl_two_words;
typedef uint4 axl_four_words;

#include "cpp.h"
#include "nvidia.h"
#include "order.h"

template <class P>
INLINE P axl_get_stream(const void* const address) {
  axl_carrier<sizeof(P)> value;
  axl_nvidia_stream_load(reinterpret_cast<u8*>(&value), static_cast<const u8*>(address), sizeof(P));
  return axl_bits<P>(value);
}

template <class P>
INLINE void axl_put_stream(void* const address, const P value) {
  const axl_carrier<sizeof(P)> bits = axl_bits<axl_carrier<sizeof(P)>>(value);
  axl_nvidia_stream_store(static_cast<u8*>(address), reinterpret_cast<const u8*>(&bits), sizeof(P));
}

#define AXL_GET_STREAM(P, address) axl_get_stream<P>(address)
#define AXL_PUT_STREAM(P, address, v) axl_put_stream<P>(address, v)

// cp.async in the widest piece that both addresses and the length allow; elements of 1 or 2 bytes and strides go by
// items.
template <int Bytes>
INLINE void axl_async_piece(u8* const to, const u8* const from) {
  const u32 local = (u32)__cvta_generic_to_shared(to);
  if (Bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(local), "l"(from) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(local), "l"(from), "n"(Bytes) : "memory");
  }
}

template <int Bytes>
INLINE void axl_async_pieces(u8* const to, const u8* const from, const i64 bytes) {
  for (i64 k = (i64)item_id() * Bytes; k < bytes; k += GROUP * Bytes) axl_async_piece<Bytes>(to + k, from + k);
}

template <class T>
INLINE void axl_async_copy(T* const to, const T* const from, const i64 count) {
  u8* const to_bytes = reinterpret_cast<u8*>(to);
  const u8* const from_bytes = reinterpret_cast<const u8*>(from);
  const i64 bytes = count * (i64)sizeof(T);
  const u64 ends = (u64)to_bytes | (u64)from_bytes | (u64)bytes;
  if (ends % 16 == 0) {
    axl_async_pieces<16>(to_bytes, from_bytes, bytes);
  } else if (ends % 8 == 0) {
    axl_async_pieces<8>(to_bytes, from_bytes, bytes);
  } else if (ends % 4 == 0) {
    axl_async_pieces<4>(to_bytes, from_bytes, bytes);
  } else {
    for (i64 k = (i64)item_id(); k < count; k += GROUP) to[k] = from[k];
  }
}

#define AXL_ASYNC_COPY(name, a, i, count) axl_async_copy(name##_l, AXL_READ(a, i, 0, 0), (i64)(count))
#define AXL_ASYNC_COPY_STRIDED(name, a, i, count, stride) AXL_COPY_BY_ITEMS(name, a, i, count, stride)
#define AXL_ASYNC_WAIT()                             \
  do {                                               \
    asm volatile("cp.async.wait_all;" ::: "memory"); \
    __syncthreads();                                 \
  } while (0)

#include "intrinsics.h"
