// Products of small matrices by the tensor cores of NVIDIA's cards, from compute capability 8.0 on, and how operands
// come to them: inline PTX that CUDA and NVIDIA's OpenCL share. All 32 items of a warp call the first six intrinsics
// together; g is lane / 4 and t is lane % 4.
//
//   mma_f16(c, a, b), mma_bf16     c += a b of 16 x 16 by 16 x 8; a: 4 u32, b: 2 u32 of two elements, lower k first
//                                    a[q]: m = g + q % 2 * 8,  k = 2 t + q / 2 * 8      b[q]: n = g, k = 2 t + q * 8
//   mma_f64_4, mma_f64_8, mma_f64_16(c, a, b)   of 16 x K by K x 8; a: K / 2 f64, b: K / 4; K above 4 from 9.0 on
//                                    a[q]: m = g + q % 2 * 8,  k = t + q / 2 * 4        b[q]: n = g, k = t + q * 4
//                                  c, f32 or f64, of all of them:  c[q]: m = g + q / 2 * 8,  n = 2 t + q % 2
//   matrices_load(t, i, r)         four matrices of 8 x 8 elements of 16 bits: items 8 q ... 8 q + 7 say where the rows
//                                  of matrix q begin, element i of t; r[q]: row g, columns 2 t and 2 t + 1 of matrix q
//   matrices_load_transposed(t, i, r)  the same of their transposes
//
//   piece_copy(bytes, t, i, a, j, count)   an item by itself: 16, 8 or 4 bytes (or one smaller element, at once) from
//                                  element j of a on to element i of t on, asynchronously; zeros beyond `count`
//   pieces_end()                   closes a set of the item's copies; all 32 items of the warp together
//   pieces_wait(n)                 waits for all but the latest n sets, a constant, with a barrier
//
// Products of 16-bit floats are exact; their sums are cut to f32, not rounded, eight at a time on compute
// capability 8.0. With u = 2^-24 that errs by less than 11 u of the sum of the magnitudes, where the bound of a product
// allows 16 u.
//
// Source: PTX ISA 7.8, sections on mma, ldmatrix and cp.async; M. Fasi et al., "Numerical behavior of NVIDIA tensor
// cores", PeerJ Computer Science 2021.
#if !defined(AXL_NVIDIA)
#error "tensor cores are NVIDIA's"
#endif

// Where an element of local memory lies in its own address space.
#if defined(AXL_CUDA)
#define AXL_LOCAL_ADDRESS(address) ((u32)__cvta_generic_to_shared(address))
#else
#define AXL_LOCAL_ADDRESS(address) ((u32)(u64)(address))
#endif

// The items of a warp come to the intrinsics below together. Where accesses are watched each may have taken a branch of
// its own on the way: they are gathered again.
#if defined(AXL_WATCH)
#define AXL_TOGETHER "bar.warp.sync 0xffffffff;\n"
#else
#define AXL_TOGETHER ""
#endif

#define AXL_MMA_16(type, c, a, b)                                                                      \
  AXL_ASM volatile(AXL_TOGETHER "mma.sync.aligned.m16n8k16.row.col.f32." type "." type                 \
                                ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
                   : "+f"((c)[0]), "+f"((c)[1]), "+f"((c)[2]), "+f"((c)[3])                            \
                   : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"((b)[0]), "r"((b)[1]))
INLINE void mma_f16(f32* const c, const u32* const a, const u32* const b) {
  AXL_MMA_16("f16", c, a, b);
}
INLINE void mma_bf16(f32* const c, const u32* const a, const u32* const b) {
  AXL_MMA_16("bf16", c, a, b);
}

#if defined(AXL_HAS_F64)
// Rows 0 to 7 and 8 to 15 one after the other: the shape that compute capability 8.0 has.
INLINE void mma_f64_4(f64* const c, const f64* const a, const f64* const b) {
  EACH(half_rows, 2) {
    AXL_ASM volatile(AXL_TOGETHER "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                     : "+d"(c[2 * half_rows]), "+d"(c[2 * half_rows + 1])
                     : "d"(a[half_rows]), "d"(b[0]));
  }
}
INLINE void mma_f64_8(f64* const c, const f64* const a, const f64* const b) {
  AXL_ASM volatile(
      AXL_TOGETHER
      "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
}
INLINE void mma_f64_16(f64* const c, const f64* const a, const f64* const b) {
  AXL_ASM volatile(
      AXL_TOGETHER
      "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, "
      "{%12, %13, %14, %15}, {%0, %1, %2, %3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]), "d"(b[1]),
        "d"(b[2]), "d"(b[3]));
}
#endif

INLINE void axl_matrices_load(const u32 at, u32* const r) {
  AXL_ASM volatile(AXL_TOGETHER "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                   : "r"(at)
                   : "memory");
}
INLINE void axl_matrices_load_transposed(const u32 at, u32* const r) {
  AXL_ASM volatile(AXL_TOGETHER "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                   : "r"(at)
                   : "memory");
}
#define matrices_load(t, i, r) axl_matrices_load(AXL_LOCAL_ADDRESS(AXL_LOCAL_READ(t, i, 16, 16)), r)
#define matrices_load_transposed(t, i, r) \
  axl_matrices_load_transposed(AXL_LOCAL_ADDRESS(AXL_LOCAL_READ(t, i, 16, 16)), r)

// `bytes` is a constant wherever this is inlined. What lies beyond `given` bytes is not read.
INLINE void axl_piece_copy(const u32 bytes, const u32 to, const GLOBAL void* const from, const u32 given) {
  if (bytes == 16u) {
    AXL_ASM volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(given) : "memory");
  } else if (bytes == 8u) {
    AXL_ASM volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(from), "r"(given) : "memory");
  } else {
    AXL_ASM volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(given) : "memory");
  }
}
#define AXL_PIECE_BY_ELEMENTS(bytes, t, i, a, j, count)  \
  EACH(axl_q, (int)((bytes) / sizeof(*t##_l))) {         \
    if (axl_q < (count)) {                               \
      local_store(t, (i) + axl_q, load(a, (j) + axl_q)); \
    } else {                                             \
      local_store(t, (i) + axl_q, 0);                    \
    }                                                    \
  }
#if defined(AXL_WATCH)
#define piece_copy(bytes, t, i, a, j, count) AXL_PIECE_BY_ELEMENTS(bytes, t, i, a, j, count)
#else
#define piece_copy(bytes, t, i, a, j, count)                                                            \
  if ((bytes) < 4) {                                                                                    \
    AXL_PIECE_BY_ELEMENTS(bytes, t, i, a, j, count)                                                     \
  } else {                                                                                              \
    axl_piece_copy(bytes, AXL_LOCAL_ADDRESS(AXL_LOCAL_WRITE(t, i, bytes, bytes)), AXL_READ(a, j, 0, 0), \
                   (u32)(count) * (u32)sizeof(*t##_l));                                                 \
  }
#endif
// Elements that were copied one by one left the items of a warp in different places.
#define pieces_end() AXL_ASM volatile("cp.async.commit_group;\n bar.warp.sync 0xffffffff;" ::: "memory")
#define pieces_wait(n)                                               \
  do {                                                               \
    AXL_ASM volatile("cp.async.wait_group %0;" ::"n"(n) : "memory"); \
    barrier_local();                                                 \
  } while (0)
