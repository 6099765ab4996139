// Rows of ELEMENT that a kernel has put together in an array of its own, and writes. For CPUs. With STREAM whole lines
// go past the cache; the ends of a row that begins or ends within a line do not, since its neighbour has the rest.
#define LINE_ELEMENTS (LINE / ELEMENT_BYTES)
#define QUARTER_ELEMENTS (16 / ELEMENT_BYTES)

// Writes `count` elements, less than a line.
INLINE void store_part(MUTABLE_REF(ELEMENT, b), const index_t at, const ELEMENT* const row, const index_t count) {
  if (count >= QUARTER_ELEMENTS) {
    const index_t last = count - QUARTER_ELEMENTS;
    for (index_t n = 0; n < last; n += QUARTER_ELEMENTS) store_loose(QUARTER, b, at + n, own_load(QUARTER, row + n));
    store_loose(QUARTER, b, at + last, own_load(QUARTER, row + last));
  } else {
    for (index_t n = 0; n < count; ++n) store(b, at + n, row[n]);
  }
}

INLINE void store_row(MUTABLE_REF(ELEMENT, b), const index_t at, const ELEMENT* const row, const index_t count) {
  index_t n = 0;
  if (STREAM) {
    const index_t past = address_of(b, at) / ELEMENT_BYTES % LINE_ELEMENTS;
    n = min_index(count, past == 0 ? 0 : LINE_ELEMENTS - past);
    store_part(PASS(b), at, row, n);
    for (; n + LINE_ELEMENTS <= count; n += LINE_ELEMENTS)
      stream_store(LINE_VECTOR, b, at + n, own_load(LINE_VECTOR, row + n));
  } else {
    for (; n + LINE_ELEMENTS <= count; n += LINE_ELEMENTS)
      store_loose(LINE_VECTOR, b, at + n, own_load(LINE_VECTOR, row + n));
    if (n > 0 && n < count) {  // the last line begins in the one before
      n = count - LINE_ELEMENTS;
      store_loose(LINE_VECTOR, b, at + n, own_load(LINE_VECTOR, row + n));
      return;
    }
  }
  store_part(PASS(b), at + n, row + n, count - n);
}
