// 16 bytes that begin anywhere, put together from the two aligned packets that hold them; and aligned packets of which
// only a part is written. The element is ELEMENT, of ELEMENT_BYTES.

// The word from byte `bytes`, 0 to 3, of two words. Nibble k of a byte permutation's selector names byte bytes + k.
INLINE u32 word_from(const u32 low, const u32 high, const u32 bytes) {
  return AXL_PERMUTE(low, high, 0x3210u + 0x1111u * bytes, (u32)((((u64)high << 32) | (u64)low) >> (8u * bytes)));
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
#if ELEMENT_BYTES == 4
  return make_u32x4(w0, w1, w2, w3);
#else
  const u32 bytes = beyond & 3u;
  return make_u32x4(word_from(w0, w1, bytes), word_from(w1, w2, bytes), word_from(w2, w3, bytes),
                    word_from(w3, w4, bytes));
#endif
}

// Writes the piece of `bytes`, 1 to 8, at byte `from` of an aligned packet, a multiple of them.
INLINE void store_piece(MUTABLE_REF(ELEMENT, b), const index_t at, const u32x4 value, const u32 from, const u32 bytes) {
  const index_t to = at + (index_t)(from / ELEMENT_BYTES);
  const u32 low = from & 8u ? value.s2 : value.s0, high = from & 8u ? value.s3 : value.s1;
  const u32 word = (from & 4u ? high : low) >> (8u * (from & 3u));
  if (bytes == 8u) store_packet(u32x2, b, to, make_u32x2(low, high));
  if (bytes == 4u) store_packet(u32, b, to, word);
#if ELEMENT_BYTES <= 2
  if (bytes == 2u) store_packet(u16, b, to, (u16)word);
#endif
#if ELEMENT_BYTES == 1
  if (bytes == 1u) store(b, to, (u8)word);
#endif
}

// Writes bytes `begin` to `end` - 1 of an aligned packet: by pieces that grow up to a multiple of 16, and then shrink.
INLINE void store_pieces(MUTABLE_REF(ELEMENT, b), const index_t at, const u32x4 value, const u32 begin, const u32 end) {
  u32 from = begin;
  UNROLL for (u32 bytes = ELEMENT_BYTES; bytes <= 8u; bytes *= 2u) {
    if ((from & bytes) && from + bytes <= end) {
      store_piece(PASS(b), at, value, from, bytes);
      from += bytes;
    }
  }
  UNROLL for (u32 bytes = 8u; bytes >= ELEMENT_BYTES; bytes /= 2u) {
    if (from + bytes <= end) {
      store_piece(PASS(b), at, value, from, bytes);
      from += bytes;
    }
  }
}
