// Accumulators side by side in OpenCL's own vectors, for kernels whose group is one item of a CPU.
//
// LANES elements are loaded at once: 16 numbers, or 8 complex ones as 16 scalars that are taken apart.
#if ELEMENT_PARTS == 2
#define LANES 8
#else
#define LANES 16
#endif

#define VECTOR_OF(T) PACKET_OF(T, LANES)
#define VALUES VECTOR_OF(VALUE)
#define HELDS VECTOR_OF(HELD)

#define TO_u8(n) convert_uchar##n
#define TO_u16(n) convert_ushort##n
#define TO_u32(n) convert_uint##n
#define TO_u64(n) convert_ulong##n
#define TO_i8(n) convert_char##n
#define TO_i16(n) convert_short##n
#define TO_i32(n) convert_int##n
#define TO_i64(n) convert_long##n
#define TO_f32(n) convert_float##n
#define TO_f64(n) convert_double##n
#define CONVERT(T, n) JOIN(TO_, T)(n)
#define TRUTH_VALUES(condition) (CONVERT(VALUE, LANES)(condition) & (VALUE)1)

#if VALUE_FORMAT == 64
typedef VECTOR_OF(i64) Places;
#else
typedef VECTOR_OF(i32) Places;
#endif
#if LANES == 8
#define FIRST_PLACES (Places)(0, 1, 2, 3, 4, 5, 6, 7)
#else
#define FIRST_PLACES (Places)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#endif

typedef struct {
  VALUES part[SLOTS];
#if ACCUMULATION == PLACE
  Places at;  // counted from where the lanes begin
#endif
} Lanes;

typedef struct {
  VALUES part[VALUE_PARTS];
} Values;

INLINE Lanes empty_lanes(void) {
  Lanes lanes;
  EACH(c, SLOTS) lanes.part[c] = c == 1 ? START1 : START0;
#if ACCUMULATION == PLACE
  lanes.at = 0;
#endif
  return lanes;
}

// f32 of 16-bit floats, as f32_from_f16 and f32_from_bf16 but for the payload of NaN.
#if IN_FORM == FORM_F16 && defined(__AVX512F__)
INLINE HELDS hold(const PACKET_OF(u16, LANES) bits16) {
  const int quiet = 8;  // no exceptions; with them LLVM compares the halves instead, one by one
  return __builtin_ia32_vcvtph2ps512_mask(as_short16(bits16), (f32x16)(0), (u16)0xffff, quiet);
}
#elif IN_FORM == FORM_F16
INLINE HELDS hold(const PACKET_OF(u16, LANES) bits16) {
  const u32x16 bits = convert_uint16(bits16), rest = (bits & 0x7fffu) << 13;
  const f32x16 tiny = as_float16(rest + 0x38800000u) - as_f32_u32(0x38800000u);
  const u32x16 normal = rest + ((rest >= 0x0f800000u) ? (u32x16)(0x70000000u) : (u32x16)(0x38000000u));
  return as_float16(((bits & 0x8000u) << 16) | (rest < 0x00800000u ? as_uint16(tiny) : normal));
}
#elif IN_FORM == FORM_BF16
INLINE HELDS hold(const PACKET_OF(u16, LANES) bits16) {
  return as_float16(convert_uint16(bits16) << 16);
}
#elif IN_FORM == FORM_BOOL
#define hold(x) CONVERT(HELD, LANES)(min(x, (ELEMENT)1))
#else
#define hold(x) CONVERT(HELD, LANES)(x)
#endif

// LANES elements side by side, from `at` on. (64 bits, whatever the index: those of 32 are sums of which each is
// widened by itself, which costs more instructions than it saves.)
INLINE Values values_at(REF(ELEMENT, a), const i64 at) {
  HELDS held[ELEMENT_PARTS];
  Values values;
#if ELEMENT_PARTS == 2
  const PACKET_OF(ELEMENT, 16) both = load_loose(PACKET_OF(ELEMENT, 16), a, at);
  held[0] = hold(both.even);
  held[1] = hold(both.odd);
#else
  held[0] = hold(load_loose(PACKET_OF(ELEMENT, 16), a, at));
#endif
  MAP(VALUES, values, held);
  return values;
}

// The first `count` of LANES elements that lie `stride` scalars apart; the other lanes hold nothing.
INLINE Values some_values_at(REF(ELEMENT, a), const index_t at, const index_t stride, const index_t count) {
  union {
    VALUE lane[LANES];
    VALUES all;
  } part[VALUE_PARTS];
  Values values;
  EACH(c, VALUE_PARTS) part[c].all = c == 1 ? START1 : START0;
  for (index_t n = 0; n < min_index(count, LANES); ++n) {
    const Value value = value_at(PASS(a), at + n * stride);
    EACH(c, VALUE_PARTS) part[c].lane[n] = value.part[c];
  }
  EACH(c, VALUE_PARTS) values.part[c] = part[c].all;
  return values;
}

#if ACCUMULATION == PLACE
#define COPY_PLACES(to, from) (to).at = (from)
#else
#define COPY_PLACES(to, from)
#endif

// Brings each lane together with the one that `order` puts in its place.
#define FOLD(lanes, order)                                \
  {                                                       \
    Lanes other;                                          \
    EACH(c, SLOTS) other.part[c] = (lanes).part[c].order; \
    COPY_PLACES(other, (lanes).at.order);                 \
    COMBINE(VALUES, lanes, other);                        \
  }

// All lanes brought together: the upper half into the lower, until one is left. Places are counted from `place`. (The
// same tree over an array of scalars is miscompiled for bytes by LLVM 15.)
INLINE Accumulator fold_lanes(Lanes lanes, const i64 place) {
  Accumulator total;
#if LANES == 16
  FOLD(lanes, s89abcdef01234567)
  FOLD(lanes, s45670123cdef89ab)
  FOLD(lanes, s23016745ab89efcd)
  FOLD(lanes, s1032547698badcfe)
#else
  FOLD(lanes, s45670123)
  FOLD(lanes, s23016745)
  FOLD(lanes, s10325476)
#endif
  EACH(c, SLOTS) total.part[c] = lanes.part[c].s0;
#if ACCUMULATION == PLACE
  total.at = place + (i64)lanes.at.s0;
#endif
  return total;
}

// Lane n; places are counted from `place`.
INLINE Accumulator lane_of(const Lanes* const lanes, const int n, const i64 place) {
  Accumulator one;
  EACH(c, SLOTS) {
    VALUE part[LANES];
    JOIN(vstore, LANES)(lanes->part[c], 0, part);
    one.part[c] = part[n];
  }
#if ACCUMULATION == PLACE
  i64 at[LANES];
  JOIN(vstore, LANES)(CONVERT(i64, LANES)(lanes->at), 0, at);
  one.at = place + at[n];
#endif
  return one;
}
