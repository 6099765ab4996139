// Inline PTX that NVIDIA's OpenCL and CUDA share: byte permutation, 16-bit floats, streaming accesses, prefetch, order
// between groups.
// Buffers lie in global memory, where a generic address equals the global one.

INLINE u32 axl_prmt(const u32 a, const u32 b, const u32 selector) {
  u32 result;
  AXL_ASM("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(selector));
  return result;
}

#define AXL_PERMUTE(a, b, selector, plain) axl_prmt(a, b, selector)

#define AXL_NATIVE_F16 1
INLINE f32 axl_native_f32_from_f16(const u16 h) {
  f32 value;
  AXL_ASM("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(h));
  return value;
}
INLINE u16 axl_native_f16_from_f32(const f32 value) {
  u16 h;
  AXL_ASM("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(value));
  return h;
}

// `bytes` is a constant wherever these are inlined: a power of two, in pieces of at most 16. Loads may move freely,
// since nothing else may access a streamed buffer.
INLINE void axl_nvidia_stream_load(u8* const value, const GLOBAL u8* const from, const u32 bytes) {
  if (bytes == 1u) {
    u16 x;
    AXL_ASM("ld.global.cs.u8 %0, [%1];" : "=h"(x) : "l"(from));
    *value = (u8)x;
  } else if (bytes == 2u) {
    AXL_ASM("ld.global.cs.u16 %0, [%1];" : "=h"(*(u16*)value) : "l"(from));
  } else if (bytes == 4u) {
    AXL_ASM("ld.global.cs.u32 %0, [%1];" : "=r"(*(u32*)value) : "l"(from));
  } else if (bytes == 8u) {
    u32* const x = (u32*)value;
    AXL_ASM("ld.global.cs.v2.u32 {%0, %1}, [%2];" : "=r"(x[0]), "=r"(x[1]) : "l"(from));
  } else {
    UNROLL for (u32 k = 0u; k < bytes; k += 16u) {
      u32* const x = (u32*)(value + k);
      AXL_ASM("ld.global.cs.v4.u32 {%0, %1, %2, %3}, [%4];"
              : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
              : "l"(from + k));
    }
  }
}

INLINE void axl_nvidia_stream_store(GLOBAL u8* const to, const u8* const value, const u32 bytes) {
  if (bytes == 1u) {
    AXL_ASM volatile("st.global.cs.u8 [%0], %1;" ::"l"(to), "h"((u16)*value) : "memory");
  } else if (bytes == 2u) {
    AXL_ASM volatile("st.global.cs.u16 [%0], %1;" ::"l"(to), "h"(*(const u16*)value) : "memory");
  } else if (bytes == 4u) {
    AXL_ASM volatile("st.global.cs.u32 [%0], %1;" ::"l"(to), "r"(*(const u32*)value) : "memory");
  } else if (bytes == 8u) {
    const u32* const x = (const u32*)value;
    AXL_ASM volatile("st.global.cs.v2.u32 [%0], {%1, %2};" ::"l"(to), "r"(x[0]), "r"(x[1]) : "memory");
  } else {
    UNROLL for (u32 k = 0u; k < bytes; k += 16u) {
      const u32* const x = (const u32*)(value + k);
      AXL_ASM volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to + k), "r"(x[0]), "r"(x[1]), "r"(x[2]),
                       "r"(x[3])
                       : "memory");
    }
  }
}

// From the item `distance` further on in the warp, all of whose 32 items take part.
#define AXL_CAN_SHUFFLE 1
INLINE u32 shuffle_down_u32(const u32 value, const u32 distance) {
  u32 result;
  AXL_ASM volatile("shfl.sync.down.b32 %0, %1, %2, 31, -1;" : "=r"(result) : "r"(value), "r"(distance));
  return result;
}
INLINE u64 shuffle_down_u64(const u64 value, const u32 distance) {
  const u32 low = shuffle_down_u32(value, distance);
  return low | (u64)shuffle_down_u32(value >> 32, distance) << 32;
}

INLINE void axl_prefetch(const GLOBAL void* const address) {
  AXL_ASM volatile("prefetch.global.L2 [%0];" ::"l"(address));
}
#define axl_prefetch_l2(address) axl_prefetch(address)

// Order between groups: relaxed accesses of device scope, and an increment whose order is cumulative over the group's
// barriers. It has one fence, where two stood around a relaxed one. 64-bit slots are two 32-bit ones: the ticket orders
// them, so they need not be written at once.
#define AXL_CAN_ORDER_GROUPS 1

INLINE void axl_relaxed_store(GLOBAL u32* const slot, const u32 value) {
  AXL_ASM volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(slot), "r"(value) : "memory");
}

INLINE u32 axl_relaxed_load(GLOBAL u32* const slot) {
  u32 value;
  AXL_ASM volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(slot) : "memory");
  return value;
}

INLINE u32 axl_ordered_increment(GLOBAL u32* const slot) {
  u32 before;
  AXL_ASM volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;" : "=r"(before) : "l"(slot) : "memory");
  return before;
}
