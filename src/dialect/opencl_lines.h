// Lines, vectors of 64 bytes, as OpenCL C has them: shuffles of u32x16 by the numbers of lanes. A compiler without
// vectors of more than 16 components gets them put together of quarters, 16 bytes each.
#define AXL_4_FROM(k) (k), (k) + 1, (k) + 2, (k) + 3
#define PIECES(x, y, a, b, c, d)                                                                            \
  __builtin_shufflevector(x, y, AXL_4_FROM(4 * (a)), AXL_4_FROM(4 * (b)), AXL_4_FROM(4 * (c)), AXL_4_FROM(4 * (d)))
#define AXL_QUARTER(V, x, n) __builtin_astype(__builtin_shufflevector(x, x, AXL_4_FROM(4 * (n))), V)

// M(l, 0), M(l, 1), ...
#define AXL_EVERY_2(M, l, k) M(l, k), M(l, (k) + 1)
#define AXL_EVERY_4(M, l, k) AXL_EVERY_2(M, l, k), AXL_EVERY_2(M, l, (k) + 2)
#define AXL_EVERY_8(M, l, k) AXL_EVERY_4(M, l, k), AXL_EVERY_4(M, l, (k) + 4)
#define AXL_EVERY_16(M, l, k) AXL_EVERY_8(M, l, k), AXL_EVERY_8(M, l, (k) + 8)
#define AXL_EVERY_32(M, l, k) AXL_EVERY_16(M, l, k), AXL_EVERY_16(M, l, (k) + 16)
#define AXL_EVERY_64(M, l, k) AXL_EVERY_32(M, l, k), AXL_EVERY_32(M, l, (k) + 32)

// The numbers of the elements of n that are picked; those of the second vector follow. Within each 16 bytes, which hold
// `each` elements, in turns from element `first` on; every second one; those of a half in turns.
#define AXL_TURNS_BY(n, each, first, k) ((k) / (each) * (each) + (k) % (each) / 2 + (first) + (k) % 2 * (n))
#define AXL_SECOND(first, k) (2 * (k) + (first))
#define AXL_TURNS_64(first, k) AXL_TURNS_BY(64, 16, first, k)
#define AXL_TURNS_32(first, k) AXL_TURNS_BY(32, 8, first, k)
#define AXL_TURNS_16(first, k) AXL_TURNS_BY(16, 4, first, k)
#define AXL_TURNS_8(first, k) AXL_TURNS_BY(8, 2, first, k)
#define AXL_MERGED_64(first, k) ((first) + (k) / 2 + (k) % 2 * 64)
#define AXL_MERGED_32(first, k) ((first) + (k) / 2 + (k) % 2 * 32)
#define AXL_MERGED_16(first, k) ((first) + (k) / 2 + (k) % 2 * 16)
#define AXL_MERGED_8(first, k) ((first) + (k) / 2 + (k) % 2 * 8)

#define AXL_LINE_OF(V, n, x, y, M, l) \
  __builtin_astype(                   \
      __builtin_shufflevector(__builtin_astype(x, V), __builtin_astype(y, V), AXL_EVERY_##n(M, l, 0)), u32x16)
#define AXL_TURNS_u32(upper, x, y) AXL_LINE_OF(u32x16, 16, x, y, AXL_TURNS_16, 2 * (upper))
#define AXL_TURNS_u64(upper, x, y) AXL_LINE_OF(u64x8, 8, x, y, AXL_TURNS_8, (upper))
#define AXL_SECOND_u32(odd, x, y) AXL_LINE_OF(u32x16, 16, x, y, AXL_SECOND, odd)
#define AXL_SECOND_u64(odd, x, y) AXL_LINE_OF(u64x8, 8, x, y, AXL_SECOND, odd)
#define AXL_MERGE_u32(upper, x, y) AXL_LINE_OF(u32x16, 16, x, y, AXL_MERGED_16, 8 * (upper))
#define AXL_MERGE_u64(upper, x, y) AXL_LINE_OF(u64x8, 8, x, y, AXL_MERGED_8, 4 * (upper))

// Element k of a third is element 3*k + l of three vectors of n: picked from the first two, then the third.
#define AXL_OF_TWO(n, l, k) (3 * (k) + (l) < 2 * (n) ? 3 * (k) + (l) : 0)
#define AXL_OF_THIRD(n, l, k) (3 * (k) + (l) < 2 * (n) ? (k) : 3 * (k) + (l) - (n))
#define AXL_OF_TWO_32(l, k) AXL_OF_TWO(32, l, k)
#define AXL_OF_TWO_16(l, k) AXL_OF_TWO(16, l, k)
#define AXL_OF_TWO_8(l, k) AXL_OF_TWO(8, l, k)
#define AXL_OF_THIRD_32(l, k) AXL_OF_THIRD(32, l, k)
#define AXL_OF_THIRD_16(l, k) AXL_OF_THIRD(16, l, k)
#define AXL_OF_THIRD_8(l, k) AXL_OF_THIRD(8, l, k)
#define AXL_THIRD_OF(V, n, l, x, y, z)                                                                             \
  __builtin_shufflevector(__builtin_shufflevector(__builtin_astype(x, V), __builtin_astype(y, V),                  \
                                                  AXL_EVERY_##n(AXL_OF_TWO_##n, l, 0)),                            \
                          __builtin_astype(z, V), AXL_EVERY_##n(AXL_OF_THIRD_##n, l, 0))
#define AXL_THIRD_u32(l, x, y, z) __builtin_astype(AXL_THIRD_OF(u32x16, 16, l, x, y, z), u32x16)
#define AXL_THIRD_u64(l, x, y, z) __builtin_astype(AXL_THIRD_OF(u64x8, 8, l, x, y, z), u32x16)

// Of bytes in vectors of 16, since no processor before AVX-512 VBMI moves them further: what lies in vector number `s`,
// beside zeros.
#define AXL_PICKED(s, l, k) ((3 * (k) + (l)) / 16 == (s) ? (3 * (k) + (l)) % 16 : 16)
#define AXL_PICKED_0(l, k) AXL_PICKED(0, l, k)
#define AXL_PICKED_1(l, k) AXL_PICKED(1, l, k)
#define AXL_PICKED_2(l, k) AXL_PICKED(2, l, k)
#define AXL_THIRD_u8(l, x, y, z)                                                   \
  (__builtin_shufflevector(x, (u8x16)(0), AXL_EVERY_16(AXL_PICKED_0, l, 0)) |      \
   __builtin_shufflevector(y, (u8x16)(0), AXL_EVERY_16(AXL_PICKED_1, l, 0)) |      \
   __builtin_shufflevector(z, (u8x16)(0), AXL_EVERY_16(AXL_PICKED_2, l, 0)))

#if defined(AXL_WIDE_VECTORS)
typedef uchar axl_bytes __attribute__((ext_vector_type(64)));
typedef ushort axl_halves __attribute__((ext_vector_type(32)));
#define AXL_TURNS_u8(upper, x, y) AXL_LINE_OF(axl_bytes, 64, x, y, AXL_TURNS_64, 8 * (upper))
#define AXL_TURNS_u16(upper, x, y) AXL_LINE_OF(axl_halves, 32, x, y, AXL_TURNS_32, 4 * (upper))
#define AXL_SECOND_u8(odd, x, y) AXL_LINE_OF(axl_bytes, 64, x, y, AXL_SECOND, odd)
#define AXL_SECOND_u16(odd, x, y) AXL_LINE_OF(axl_halves, 32, x, y, AXL_SECOND, odd)
#define AXL_MERGE_u8(upper, x, y) AXL_LINE_OF(axl_bytes, 64, x, y, AXL_MERGED_64, 32 * (upper))
#define AXL_MERGE_u16(upper, x, y) AXL_LINE_OF(axl_halves, 32, x, y, AXL_MERGED_32, 16 * (upper))
#define AXL_THIRD_u16(l, x, y, z) __builtin_astype(AXL_THIRD_OF(axl_halves, 32, l, x, y, z), u32x16)
#else
#define AXL_QUARTER_OF(V, n, x, y, M, l) \
  __builtin_astype(__builtin_shufflevector(x, y, AXL_EVERY_##n(M, l, 0)), u32x4)
#define AXL_TURNS_OF(V, n, x, y, q, M, l) AXL_QUARTER_OF(V, n, AXL_QUARTER(V, x, q), AXL_QUARTER(V, y, q), M, l)
#define AXL_TURNS_ALL(V, n, x, y, M, l)                                             \
  ((u32x16)(AXL_TURNS_OF(V, n, x, y, 0, M, l), AXL_TURNS_OF(V, n, x, y, 1, M, l), \
            AXL_TURNS_OF(V, n, x, y, 2, M, l), AXL_TURNS_OF(V, n, x, y, 3, M, l)))
#define AXL_TURNS_u8(upper, x, y) AXL_TURNS_ALL(u8x16, 16, x, y, AXL_MERGED_16, 8 * (upper))
#define AXL_TURNS_u16(upper, x, y) AXL_TURNS_ALL(u16x8, 8, x, y, AXL_MERGED_8, 4 * (upper))
#define AXL_SECOND_OF(V, n, x, q, odd) \
  AXL_QUARTER_OF(V, n, AXL_QUARTER(V, x, q), AXL_QUARTER(V, x, (q) + 1), AXL_SECOND, odd)
#define AXL_SECOND_ALL(V, n, x, y, odd)                                         \
  ((u32x16)(AXL_SECOND_OF(V, n, x, 0, odd), AXL_SECOND_OF(V, n, x, 2, odd), \
            AXL_SECOND_OF(V, n, y, 0, odd), AXL_SECOND_OF(V, n, y, 2, odd)))
#define AXL_SECOND_u8(odd, x, y) AXL_SECOND_ALL(u8x16, 16, x, y, odd)
#define AXL_SECOND_u16(odd, x, y) AXL_SECOND_ALL(u16x8, 8, x, y, odd)
#define AXL_MERGE_ALL(upper, low, high) \
  PIECES(low, high, 2 * (upper), 2 * (upper) + 4, 2 * (upper) + 1, 2 * (upper) + 5)
#define AXL_MERGE_u8(upper, x, y) AXL_MERGE_ALL(upper, AXL_TURNS_u8(0, x, y), AXL_TURNS_u8(1, x, y))
#define AXL_MERGE_u16(upper, x, y) AXL_MERGE_ALL(upper, AXL_TURNS_u16(0, x, y), AXL_TURNS_u16(1, x, y))
#define AXL_THIRD_PART(l, x, i, y, j, z, k)                                                                 \
  __builtin_astype(AXL_THIRD_OF(u16x8, 8, l, AXL_QUARTER(u16x8, x, i), AXL_QUARTER(u16x8, y, j),            \
                                AXL_QUARTER(u16x8, z, k)), u32x4)
#define AXL_THIRD_u16(l, x, y, z)                                                       \
  ((u32x16)(AXL_THIRD_PART(l, x, 0, x, 1, x, 2), AXL_THIRD_PART(l, x, 3, y, 0, y, 1),   \
            AXL_THIRD_PART(l, y, 2, y, 3, z, 0), AXL_THIRD_PART(l, z, 1, z, 2, z, 3)))
#endif

#define INTERLEAVE_LOW(T, x, y) JOIN(AXL_TURNS_, T)(0, x, y)
#define INTERLEAVE_HIGH(T, x, y) JOIN(AXL_TURNS_, T)(1, x, y)
#define EVENS(T, x, y) JOIN(AXL_SECOND_, T)(0, x, y)
#define ODDS(T, x, y) JOIN(AXL_SECOND_, T)(1, x, y)
#define MERGE_LOWER(T, x, y) JOIN(AXL_MERGE_, T)(0, x, y)
#define MERGE_UPPER(T, x, y) JOIN(AXL_MERGE_, T)(1, x, y)
#define EVERY_THIRD(T, l, x, y, z) JOIN(AXL_THIRD_, T)(l, x, y, z)
