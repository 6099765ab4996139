// Vectors of the dialect as OpenCL C has them.
#include "opencl_lines.h"

#define AXL_HAS_VECTORS 1
#define VECTOR_OF(T, n) PACKET_OF(T, n)
#define CONVERT_LANES(T, n, x) JOIN(JOIN(AXL_TO_, T), n)(x)
#define AS_LANES(V, x) __builtin_astype(x, V)
#define BY_ITSELF(x) (x)
#define LANE_NUMBERS(T, n) ((VECTOR_OF(T, n))JOIN(AXL_NUMBERS_, n))
#define EVEN_LANES_OF(T, n, x) ((x).even)
#define ODD_LANES_OF(T, n, x) ((x).odd)
#define F32_LANES_OF_F16(n, x) JOIN(axl_f32_of_f16_, n)(x)
#define F32_LANES_OF_BF16(n, x) AS_LANES(VECTOR_OF(f32, n), CONVERT_LANES(u32, n, x) << 16)
#define EXCHANGE_LANES(T, n, x, d) ((x).JOIN(JOIN(JOIN(AXL_EXCHANGE_, n), _), d))
#define AXL_TO_i84 convert_char4
#define AXL_TO_u84 convert_uchar4
#define AXL_TO_i164 convert_short4
#define AXL_TO_u164 convert_ushort4
#define AXL_TO_i324 convert_int4
#define AXL_TO_u324 convert_uint4
#define AXL_TO_i644 convert_long4
#define AXL_TO_u644 convert_ulong4
#define AXL_TO_f324 convert_float4
#define AXL_TO_f644 convert_double4
#define LOWER_LANES_OF(T, n, x, y, d) __builtin_shufflevector(x, y, JOIN(AXL_EVERY_, n)(JOIN(AXL_LOWER_, n), d, 0))
#define UPPER_LANES_OF(T, n, x, y, d) __builtin_shufflevector(x, y, JOIN(AXL_EVERY_, n)(JOIN(AXL_UPPER_, n), d, 0))
#define AXL_LOWER_8(d, k) (((k) & (d)) != 0 ? 8 + ((k) ^ (d)) : (k))
#define AXL_UPPER_8(d, k) (((k) & (d)) != 0 ? 8 + (k) : (k) ^ (d))
#define AXL_LOWER_16(d, k) (((k) & (d)) != 0 ? 16 + ((k) ^ (d)) : (k))
#define AXL_UPPER_16(d, k) (((k) & (d)) != 0 ? 16 + (k) : (k) ^ (d))
#define AXL_TO_i88 convert_char8
#define AXL_TO_u88 convert_uchar8
#define AXL_TO_i168 convert_short8
#define AXL_TO_u168 convert_ushort8
#define AXL_TO_i328 convert_int8
#define AXL_TO_u328 convert_uint8
#define AXL_TO_i648 convert_long8
#define AXL_TO_u648 convert_ulong8
#define AXL_TO_f328 convert_float8
#define AXL_TO_f648 convert_double8
#define AXL_TO_i816 convert_char16
#define AXL_TO_u816 convert_uchar16
#define AXL_TO_i1616 convert_short16
#define AXL_TO_u1616 convert_ushort16
#define AXL_TO_i3216 convert_int16
#define AXL_TO_u3216 convert_uint16
#define AXL_TO_i6416 convert_long16
#define AXL_TO_u6416 convert_ulong16
#define AXL_TO_f3216 convert_float16
#define AXL_TO_f6416 convert_double16
#define AXL_NUMBERS_4 (0, 1, 2, 3)
#define AXL_EXCHANGE_4_2 s2301
#define AXL_EXCHANGE_4_1 s1032
#define AXL_NUMBERS_8 (0, 1, 2, 3, 4, 5, 6, 7)
#define AXL_EXCHANGE_8_4 s45670123
#define AXL_EXCHANGE_8_2 s23016745
#define AXL_EXCHANGE_8_1 s10325476
#define AXL_NUMBERS_16 (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#define AXL_EXCHANGE_16_8 s89abcdef01234567
#define AXL_EXCHANGE_16_4 s45670123cdef89ab
#define AXL_EXCHANGE_16_2 s23016745ab89efcd
#define AXL_EXCHANGE_16_1 s1032547698badcfe
#define LANE(T, n, x, i) JOIN(JOIN(axl_lane_, T), n)(x, i)
#define AXL_LANE(T, n)                                       \
  INLINE T axl_lane_##T##n(const T##x##n x, const int i) {   \
    T lanes[n];                                              \
    vstore##n(x, 0, lanes);                                  \
    return lanes[i];                                         \
  }
AXL_LANE(i8, 4)
AXL_LANE(i8, 8)
AXL_LANE(i8, 16)
AXL_LANE(u8, 4)
AXL_LANE(u8, 8)
AXL_LANE(u8, 16)
AXL_LANE(i16, 4)
AXL_LANE(i16, 8)
AXL_LANE(i16, 16)
AXL_LANE(u16, 4)
AXL_LANE(u16, 8)
AXL_LANE(u16, 16)
AXL_LANE(i32, 4)
AXL_LANE(i32, 8)
AXL_LANE(i32, 16)
AXL_LANE(u32, 4)
AXL_LANE(u32, 8)
AXL_LANE(u32, 16)
AXL_LANE(i64, 4)
AXL_LANE(i64, 8)
AXL_LANE(i64, 16)
AXL_LANE(u64, 4)
AXL_LANE(u64, 8)
AXL_LANE(u64, 16)
AXL_LANE(f32, 4)
AXL_LANE(f32, 8)
AXL_LANE(f32, 16)
#if defined(AXL_HAS_F64)
AXL_LANE(f64, 4)
AXL_LANE(f64, 8)
AXL_LANE(f64, 16)
#endif

#define AXL_OWN_GET(P, address) (((const axl_loose_##P*)(address))->value)
#define AXL_OWN_PUT(P, address, v) (((axl_loose_##P*)(address))->value = (v))
#define AXL_F32_OF_F16(n)                                                                                        \
  INLINE f32x##n axl_f32_of_f16_##n(const u16x##n bits16) {                                                      \
    const u32x##n bits = convert_uint##n(bits16), rest = (bits & 0x7fffu) << 13;                                 \
    const f32x##n tiny = as_float##n(rest + 0x38800000u) - as_f32_u32(0x38800000u);                              \
    const u32x##n normal = rest + ((rest >= 0x0f800000u) ? (u32x##n)(0x70000000u) : (u32x##n)(0x38000000u));     \
    return as_float##n(((bits & 0x8000u) << 16) | (rest < 0x00800000u ? as_uint##n(tiny) : normal));             \
  }
AXL_F32_OF_F16(4)
AXL_F32_OF_F16(8)
// Without exceptions (the 8): with them LLVM compares the halves instead, one by one.
#if defined(__AVX512F__)
#define axl_f32_of_f16_16(bits) __builtin_ia32_vcvtph2ps512_mask(as_short16(bits), (f32x16)(0), (u16)0xffff, 8)
#else
AXL_F32_OF_F16(16)
#endif
