// Lines of 64 bytes, and pieces of them, of arrays that are counted in bytes. For CPUs.
#define LINE 64
#define LINE_VECTOR VECTOR_OF(u32, 16)
typedef LINE_VECTOR Line;
#define HALF_LINE VECTOR_OF(u32, 8)
#define QUARTER VECTOR_OF(u8, 16)
typedef QUARTER Quarter;

// Copies `count` bytes, fewer than a line, by two accesses that may overlap. ALL begins each of the ways: a loop over
// parts of one length, or nothing.
#define COPY_ENDS(P)                                                                           \
  {                                                                                            \
    const index_t last = count - (index_t)sizeof(P);                                           \
    const P x = load_loose(P, a, from), y = load_loose(P, a, from + last);                     \
    store_loose(P, b, to, x);                                                                  \
    if (last > 0) store_loose(P, b, to + last, y);                                             \
  }
#define COPY_PARTS(ALL)                                                                        \
  if (count >= 32)                                                                             \
    ALL COPY_ENDS(HALF_LINE)                                                                   \
  else if (count >= 16)                                                                        \
    ALL COPY_ENDS(QUARTER)                                                                     \
  else if (count >= 8)                                                                         \
    ALL COPY_ENDS(u64)                                                                         \
  else if (count >= 4)                                                                         \
    ALL COPY_ENDS(u32)                                                                         \
  else if (count >= 2)                                                                         \
    ALL COPY_ENDS(u16)                                                                         \
  else if (count == 1)                                                                         \
    ALL store(b, to, load(a, from));
INLINE void copy_part(MUTABLE_REF(u8, b), const index_t to, REF(u8, a), const index_t from, const index_t count) {
  COPY_PARTS()
}
