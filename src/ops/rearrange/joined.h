// 16 bytes that begin anywhere, put together from the two aligned packets that hold them.
INLINE u32 funnel(const u32 low, const u32 high, const u32 bits) {
  return (u32)((((u64)high << 32) | (u64)low) >> bits);
}

// The 16 bytes from byte `beyond`, at most 15, of two packets side by side; 0 asks nothing of the second.
INLINE u32x4 joined(const u32x4 first, const u32x4 second, const u32 beyond) {
  u32 w0 = first.s0, w1 = first.s1, w2 = first.s2, w3 = first.s3, w4 = second.s0, w5 = second.s1;
  if (beyond & 8u) {
    w0 = w2, w1 = w3, w2 = w4, w3 = w5, w4 = second.s2, w5 = second.s3;
  }
  if (beyond & 4u) {
    w0 = w1, w1 = w2, w2 = w3, w3 = w4, w4 = w5;
  }
  const u32 bits = (beyond & 3u) * 8u;
  return make_u32x4(funnel(w0, w1, bits), funnel(w1, w2, bits), funnel(w2, w3, bits), funnel(w3, w4, bits));
}
