// Lines of 64 bytes, and pieces of them, of arrays that are counted in bytes. For CPUs.
#define LINE 64
#define LINE_VECTOR VECTOR_OF(u32, 16)
typedef LINE_VECTOR Line;
#define QUARTER VECTOR_OF(u8, 16)

// Copies `count` bytes, fewer than a line, by a few accesses that may overlap.
#define COPY_ENDS(P)                                                                           \
  {                                                                                            \
    const index_t last = count - (index_t)sizeof(P);                                           \
    const P x = load_loose(P, a, from), y = load_loose(P, a, from + last);                     \
    store_loose(P, b, to, x);                                                                  \
    store_loose(P, b, to + last, y);                                                           \
  }
INLINE void copy_part(MUTABLE_REF(u8, b), const index_t to, REF(u8, a), const index_t from, const index_t count) {
  if (count > 32) {
    store_loose(QUARTER, b, to + 16, load_loose(QUARTER, a, from + 16));
    store_loose(QUARTER, b, to + count - 32, load_loose(QUARTER, a, from + count - 32));
  }
  if (count >= 16)
    COPY_ENDS(QUARTER)
  else if (count >= 8)
    COPY_ENDS(u64)
  else if (count >= 4)
    COPY_ENDS(u32)
  else if (count >= 2)
    COPY_ENDS(u16)
  else if (count == 1)
    store(b, to, load(a, from));
}
