// Rows that lie along k become columns in registers: unpacks within 16 bytes, each of which is then stored by itself.
// Of floats, or words of other elements. For CPUs.
#define TURNS (DOT > 1 || FORM_IS_BITS(IN_FORM) || (IN_FORM == FORM_SAME && (REAL_F32 || REAL_F64)))

#if TURNS
#define LINE_VECTOR VECTOR_OF(u32, 16)
typedef LINE_VECTOR Line;
#define QUARTER VECTOR_OF(u8, 16)
#if DOT > 1 || IN_FORM == FORM_SAME
#define LOAD_LINE(from, at) load_loose(LINE_VECTOR, from, at)
#else
#define LOAD_LINE(from, at) AS_LANES(LINE_VECTOR, LANES_OF_BITS(IN_FORM, 16, load_loose(VECTOR_OF(u16, 16), from, at)))
#endif
#define LINE_SCALARS (64 / SCALAR_BYTES)
#define QUARTER_SCALARS (16 / SCALAR_BYTES)

// QUARTER_SCALARS rows of a line each, as columns.
typedef struct {
  SCALAR scalar[LINE_SCALARS * QUARTER_SCALARS] __attribute__((aligned(64)));
} Columns;
#define COLUMN(columns, j) \
  ((columns).scalar + (j) % QUARTER_SCALARS * LINE_SCALARS + (j) / QUARTER_SCALARS * QUARTER_SCALARS)

// Only `count` rows exist, the others are zeros.
INLINE void turn_rows(REF(ELEMENT, from), const index_t at, const index_t stride, const index_t count,
                      Columns* const columns) {
  Line row[QUARTER_SCALARS], turned[QUARTER_SCALARS];
  EACH(r, QUARTER_SCALARS) row[r] = r < count ? LOAD_LINE(from, at + r * stride) : (Line)(0u);
#if SCALAR_BYTES == 8
  turned[0] = INTERLEAVE_LOW(u64, row[0], row[1]);
  turned[1] = INTERLEAVE_HIGH(u64, row[0], row[1]);
#else
  const Line low01 = INTERLEAVE_LOW(u32, row[0], row[1]), high01 = INTERLEAVE_HIGH(u32, row[0], row[1]);
  const Line low23 = INTERLEAVE_LOW(u32, row[2], row[3]), high23 = INTERLEAVE_HIGH(u32, row[2], row[3]);
  turned[0] = INTERLEAVE_LOW(u64, low01, low23);
  turned[1] = INTERLEAVE_HIGH(u64, low01, low23);
  turned[2] = INTERLEAVE_LOW(u64, high01, high23);
  turned[3] = INTERLEAVE_HIGH(u64, high01, high23);
#endif
  EACH(v, QUARTER_SCALARS) own_store(LINE_VECTOR, columns->scalar + v * LINE_SCALARS, turned[v]);
}
#endif
