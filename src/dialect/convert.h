// Conversions between f32 and the 16-bit floats, which are stored as u16. Rounding is to nearest even; a NaN keeps its
// sign and the payload bits that fit, and becomes quiet. The bits are the same on every runtime: where the hardware
// converts (AXL_NATIVE_F16), only NaNs, which it would canonicalise, take the integer path.

INLINE f32 axl_f32_from_f16_bits(const u32 h) {
  const u32 sign = (h & 0x8000u) << 16;
  const u32 rest = (h & 0x7fffu) << 13;
  const u32 exponent = rest & 0x0f800000u;
  if (exponent == 0x0f800000u) {  // infinity, or NaN made quiet
    return as_f32_u32(sign | 0x7f800000u | rest | ((rest & 0x007fffffu) != 0u ? 0x00400000u : 0u));
  }
  if (exponent == 0u) {  // zero or subnormal: an exact difference of two normal numbers renormalises it
    return as_f32_u32(sign | as_u32_f32(as_f32_u32(rest + 0x38800000u) - as_f32_u32(0x38800000u)));
  }
  return as_f32_u32(sign | (rest + 0x38000000u));
}

INLINE u16 axl_f16_bits_from_f32(const f32 value) {
  const u32 bits = as_u32_f32(value);
  const u32 sign = (bits >> 16) & 0x8000u;
  const u32 rest = bits & 0x7fffffffu;
  if (rest > 0x7f800000u) return (u16)(sign | 0x7e00u | ((rest >> 13) & 0x03ffu));
  if (rest >= 0x47800000u) return (u16)(sign | 0x7c00u);  // 65536 and above
  if (rest < 0x38800000u) {  // subnormal in f16: adding 0.5 puts its last bit at the last place of f32, which rounds it
    return (u16)(sign | (as_u32_f32(as_f32_u32(rest) + 0.5f) - 0x3f000000u));
  }
  return (u16)(sign | ((rest + 0xc8000fffu + ((rest >> 13) & 1u)) >> 13));
}

INLINE f32 f32_from_f16(const u16 h) {
#if defined(AXL_NATIVE_F16)
  if ((h & 0x7fffu) <= 0x7c00u) return axl_native_f32_from_f16(h);
#endif
  return axl_f32_from_f16_bits(h);
}

INLINE u16 f16_from_f32(const f32 value) {
#if defined(AXL_NATIVE_F16)
  if ((as_u32_f32(value) & 0x7fffffffu) <= 0x7f800000u) return axl_native_f16_from_f32(value);
#endif
  return axl_f16_bits_from_f32(value);
}

INLINE f32 f32_from_bf16(const u16 h) {
  const u32 bits = (u32)h << 16;
  return as_f32_u32((bits & 0x7fffffffu) > 0x7f800000u ? bits | 0x00400000u : bits);
}

INLINE u16 bf16_from_f32(const f32 value) {
  const u32 bits = as_u32_f32(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return (u16)((bits >> 16) | 0x0040u);
  return (u16)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
