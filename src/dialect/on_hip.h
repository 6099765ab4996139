// The dialect on HIP for AMD's processors: what is AMD's own, around what CUDA shares. No runtime of Axisloom uses it
// yet: tests/compilers.sh compiles every kernel with it. The constants stand above it.

#define AXL_BY_VALUE(P, name) const P name
#define AXL_BOUNDS __launch_bounds__(GROUP)

typedef unsigned int axl_two_words __attribute__((ext_vector_type(2)));
typedef unsigned int axl_four_words __attribute__((ext_vector_type(4)));

#include "cpp.h"

#define AXL_PERMUTE(a, b, selector, plain) (plain)

// The loads and stores of a packet in words of its width, past the cache.
template <class P>
INLINE P axl_get_stream(const void* const address) {
  typedef axl_carrier<sizeof(P)> Carrier;
  const Carrier* const from = static_cast<const Carrier*>(address);
  Carrier value;
  UNROLL for (unsigned k = 0; k < Carrier::parts; ++k) value.part[k] = __builtin_nontemporal_load(&from->part[k]);
  return axl_bits<P>(value);
}

template <class P>
INLINE void axl_put_stream(void* const address, const P value) {
  typedef axl_carrier<sizeof(P)> Carrier;
  Carrier* const to = static_cast<Carrier*>(address);
  const Carrier bits = axl_bits<Carrier>(value);
  UNROLL for (unsigned k = 0; k < Carrier::parts; ++k) __builtin_nontemporal_store(bits.part[k], &to->part[k]);
}

#define AXL_GET_STREAM(P, address) axl_get_stream<P>(address)
#define AXL_PUT_STREAM(P, address, v) axl_put_stream<P>(address, v)

#define axl_prefetch(address) ((void)(address))
#define axl_prefetch_l2(address) ((void)(address))

#define AXL_ASYNC_COPY(name, a, i, count) AXL_COPY_BY_ITEMS(name, a, i, count, 1)
#define AXL_ASYNC_COPY_STRIDED(name, a, i, count, stride) AXL_COPY_BY_ITEMS(name, a, i, count, stride)
#define AXL_ASYNC_WAIT() __syncthreads()

#define AXL_CAN_ORDER_GROUPS 1
INLINE void axl_relaxed_store(u32* const slot, const u32 value) {
  __hip_atomic_store(slot, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
INLINE u32 axl_relaxed_load(u32* const slot) {
  return __hip_atomic_load(slot, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
INLINE u32 axl_ordered_increment(u32* const slot) {
  return __hip_atomic_fetch_add(slot, 1u, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT);
}

#include "order.h"
#include "intrinsics.h"
