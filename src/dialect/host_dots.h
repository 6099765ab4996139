// Products of the numbers that lanes of vectors hold side by side, added to the lanes of a sum. Part of
// on_host.h.
#define DOT_BYTES(n, x, y, sum) axl_dot_bytes(x, y, sum)
#define DOT_BF16(n, x, y, sum) axl_dot_bf16(x, y, sum)

// Four bytes of x, without a sign, times four of y, with one. Sums wrap.
template <int N, bool Wide>
AXL_INLINE axl_vector<u32, N, Wide> axl_dot_bytes(const axl_vector<u32, N, Wide>& x, const axl_vector<u32, N, Wide>& y,
                                                  axl_vector<u32, N, Wide> sum) {
  if constexpr (Wide) {
    return {axl_dot_bytes(x.low, y.low, sum.low), axl_dot_bytes(x.high, y.high, sum.high)};
  } else {
#if defined(__AVX512VNNI__) && defined(__AVX512VL__)
    asm("vpdpbusd %2, %1, %0" : "+v"(sum.v) : "v"(x.v), "v"(y.v));
#else
    typedef axl_vector<i32, N, false> Signed;
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      const axl_vector<u32, N, false> byte = (x >> (8 * k)) & axl_vector<u32, N, false>(255u);
      sum += byte * axl_bits<axl_vector<u32, N, false>>(axl_bits<Signed>(y << (24 - 8 * k)) >> 24);
    }
#endif
    return sum;
  }
}
// Two bf16 of x, the upper one first, times two of y. Their products are exact, and each sum is rounded once.
template <int N, bool Wide>
AXL_INLINE axl_vector<f32, N, Wide> axl_dot_bf16(const axl_vector<u32, N, Wide>& x, const axl_vector<u32, N, Wide>& y,
                                                 axl_vector<f32, N, Wide> sum) {
  if constexpr (Wide) {
    return {axl_dot_bf16(x.low, y.low, sum.low), axl_dot_bf16(x.high, y.high, sum.high)};
  } else {
#if defined(__AVX512BF16__) && defined(__AVX512VL__)
    asm("vdpbf16ps %2, %1, %0" : "+v"(sum.v) : "v"(x.v), "v"(y.v));
#else
    typedef axl_vector<f32, N, false> Floats;
    const axl_vector<u32, N, false> upper(0xffff0000u);
    sum = axl_bits<Floats>(x & upper) * axl_bits<Floats>(y & upper) + sum;
    sum = axl_bits<Floats>(x << 16) * axl_bits<Floats>(y << 16) + sum;
#endif
    return sum;
  }
}
