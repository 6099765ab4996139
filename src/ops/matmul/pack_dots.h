// Panels of words, each of DOT k's of a row, the first one lowest; beyond the last k and the last row they are zeros.
//
//      panels_b[(panel * words + w) * COLUMNS + j] = B[DOT w .. DOT w + DOT - 1, panel * COLUMNS + j]
//
// A's bytes have their first bits flipped, zeros among them: see packed.kernel.
#define OPERAND u32
#define PARTS 1
#define WIDTH_A ROWS
#define WIDTH_B COLUMNS
#define BITS (32 / DOT)          // of an element
#define PIECE (16 / (BITS / 8))  // elements of 16 bytes
#define LINE_K (16 * DOT)        // k's of a line of 64 bytes
#define FLIP (DOT == 4 ? 0x80808080u : 0u)

// A word of up to DOT elements.
INLINE u32 word_of(REF(ELEMENT, from), const index_t at, const index_t stride, const index_t count) {
  u32 word = 0u;
  EACH(d, DOT) if (d < count) word |= (u32)load(from, at + d * stride) << (BITS * d);
  return word;
}

// Some columns x of the words of one k, one by one.
INLINE void pack_words(REF(ELEMENT, from), MUTABLE_REF(u32, panels), const Side* const side, const index_t at, int x,
                       const int count, const index_t w, const i64 to) {
  const index_t left = side->k - w * DOT;
  for (; x < count; ++x)
    store(panels, to + x,
          word_of(PASS(from), at + x * side->stride_x + w * DOT * side->stride_k, side->stride_k, left) ^ side->flip);
  for (; x < side->width; ++x) store(panels, to + x, 0u);
}

// Packs words [begin, end) of the panel whose rows lie along k, or anyhow.
INLINE void pack_panel(REF(ELEMENT, from), MUTABLE_REF(u32, panels), const Side* const side, const index_t at,
                       const int count, index_t begin, const index_t end, const i64 to) {
  const QUARTER flip = AS_LANES(QUARTER, (VECTOR_OF(u32, 4))side->flip);
  if (side->stride_k == 1) {
    for (; (begin + LINE_SCALARS) * DOT <= side->k && begin + LINE_SCALARS <= end; begin += LINE_SCALARS) {
      for (int x = 0; x < side->width; x += QUARTER_SCALARS) {
        Columns columns;
        turn_rows(PASS(from), at + begin * DOT + x * side->stride_x, side->stride_x, count - x, &columns);
        const i64 place = to + (i64)begin * side->width + x;
        EACH(j, LINE_SCALARS)
          store_loose(QUARTER, panels, place + j * side->width, own_load(QUARTER, COLUMN(columns, j)) ^ flip);
      }
    }
  }
  for (; begin < end; ++begin)
    pack_words(PASS(from), PASS(panels), side, at, 0, count, begin, to + (i64)begin * side->width);
}

#define PUT_QUARTER(x, quarter) store_loose(QUARTER, panels, row + (x), (quarter) ^ flip);

// The same where neighbours in the panel are neighbours in memory: pieces of DOT rows are interleaved. Rows reach on for
// so many elements, of which `count` are the panel's.
INLINE void pack_rows(REF(ELEMENT, from), MUTABLE_REF(u32, panels), const Side* const side, const index_t at,
                      const index_t reach, const int count, const index_t begin, const index_t end, const i64 to) {
  const QUARTER flip = AS_LANES(QUARTER, (VECTOR_OF(u32, 4))side->flip);
  for (index_t w = begin; w < end; ++w) {
    const i64 row = to + (i64)w * side->width;
    const index_t place = at + w * DOT * side->stride_k;
    const int whole = (w + 1) * DOT <= side->k;
    int x = 0;
    for (; whole && x + 8 <= count && x + PIECE <= reach; x += 8) {
      QUARTER piece[DOT];
      EACH(d, DOT) piece[d] = load_loose(QUARTER, from, place + d * side->stride_k + x);
#if DOT == 2
      const QUARTER low = piece[0], high = piece[1];
#else
      const QUARTER low = QUARTER_LOW(u8, piece[0], piece[1]), high = QUARTER_LOW(u8, piece[2], piece[3]);
#endif
      PUT_QUARTER(x, QUARTER_LOW(u16, low, high))
      PUT_QUARTER(x + 4, QUARTER_HIGH(u16, low, high))
#if DOT == 4
      if (x + PIECE > count) continue;
      const QUARTER low_end = QUARTER_HIGH(u8, piece[0], piece[1]), high_end = QUARTER_HIGH(u8, piece[2], piece[3]);
      x += 8;
      PUT_QUARTER(x, QUARTER_LOW(u16, low_end, high_end))
      PUT_QUARTER(x + 4, QUARTER_HIGH(u16, low_end, high_end))
#endif
    }
    pack_words(PASS(from), PASS(panels), side, at, x, count, w, row);
  }
}
