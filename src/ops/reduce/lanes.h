// Accumulators side by side in vectors, for kernels whose group is one item of a CPU.
//
// LANES elements are loaded at once: 16 numbers, or 8 complex ones as 16 scalars that are taken apart. On the host
// extremes of short integers fill a vector of 64 bytes.
#if ELEMENT_PARTS == 2
#define LANES 8
#define HALF_LANES 4
#define QUARTER_LANES 2
#define LOADED VECTOR_OF(ELEMENT, 16)
#elif defined(AXL_HOST) && ACCUMULATION == EXTREME && !VALUE_FLOATS && ELEMENT_BYTES == 1
#define LANES 64
#define HALF_LANES 32
#define QUARTER_LANES 16
#define LOADED VECTOR_OF(ELEMENT, 64)
#elif defined(AXL_HOST) && ACCUMULATION == EXTREME && !VALUE_FLOATS && ELEMENT_BYTES == 2
#define LANES 32
#define HALF_LANES 16
#define QUARTER_LANES 8
#define LOADED VECTOR_OF(ELEMENT, 32)
#else
#define LANES 16
#define HALF_LANES 8
#define QUARTER_LANES 4
#define LOADED VECTOR_OF(ELEMENT, 16)
#endif

#define LINE_VECTORS (LANES * ELEMENT_PARTS * ELEMENT_BYTES < 64 ? 64 / (LANES * ELEMENT_PARTS * ELEMENT_BYTES) : 1)

// Asks for a line of 64 bytes, or for as many as a longer vector has. (Of two lines of doubles only the first was asked
// for: two cores of an EPYC 7003 took 2^25 doubles in 24 ms so, and take 10.)
#define LINE (LINE_VECTORS * LANES)  // elements
#define LINE_OF_64 (64 / (ELEMENT_PARTS * ELEMENT_BYTES))
INLINE void ask_for_line(REF(ELEMENT, a), const i64 at) {
  UNROLL for (int m = 0; m < LINE; m += LINE_OF_64) prefetch_l2(a, at + m * ELEMENT_PARTS);
}

#define VALUES VECTOR_OF(VALUE, LANES)
#define HELDS VECTOR_OF(HELD, LANES)

#define TRUTH_VALUES(condition) (CONVERT_LANES(VALUE, LANES, condition) & (VALUES)(VALUE)1)

#if VALUE_FORMAT == 64
#define PLACE_NUMBER i64
#else
#define PLACE_NUMBER i32
#endif
typedef VECTOR_OF(PLACE_NUMBER, LANES) Places;
#define FIRST_PLACES LANE_NUMBERS(PLACE_NUMBER, LANES)

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
  EACH(c, SLOTS) lanes.part[c] = (VALUES)(VALUE)(c == 1 ? START1 : START0);
#if ACCUMULATION == PLACE
  lanes.at = (Places)(PLACE_NUMBER)0;
#endif
  return lanes;
}

// The first values of lanes: as ADD takes them into empty ones, in less time.
#if ACCUMULATION == COMPENSATED
#define BEGIN(to, v, place)                                \
  EACH(c, VALUE_PARTS) {                                   \
    (to).part[c] = (v).part[c] + (VALUES)(VALUE)0;         \
    (to).part[VALUE_PARTS + c] = (VALUES)(VALUE)0;         \
  }
#elif ACCUMULATION == PRODUCT
#define BEGIN(to, v, place)      \
  {                              \
    (to) = empty_lanes();        \
    ADD(VALUES, to, v, place);   \
  }
#else
#define BEGIN(to, v, place)                         \
  {                                                 \
    EACH(c, VALUE_PARTS) (to).part[c] = (v).part[c]; \
    BEGIN_PLACES(to, place);                        \
  }
#endif
#if ACCUMULATION == PLACE
#define BEGIN_PLACES(to, place) (to).at = place
#else
#define BEGIN_PLACES(to, place)
#endif

// x / y; often y is 1, and a division takes as long as many additions.
INLINE index_t quotient(const index_t x, const index_t y) {
  return y == 1 ? x : x / y;
}

#if VALUE_FORMAT == 64 && MAPPING != NONZERO
#define HELD_OF_F32(x) CONVERT_LANES(HELD, LANES, x)
#else
#define HELD_OF_F32(x) (x)
#endif

// As F32_OF_BITS, but for the payload of NaN.
#if IN_FORM == FORM_F16
#define HOLD_LANES(x) HELD_OF_F32(F32_LANES_OF_F16(LANES, x))
#elif IN_FORM == FORM_BF16
#define HOLD_LANES(x) HELD_OF_F32(F32_LANES_OF_BF16(LANES, x))
#else
#define HOLD_LANES(x) CONVERT_LANES(HELD, LANES, NUMBERS(x))
#endif
#if defined(AXL_HOST)
#define TRUTHS(x) LESSER(x, (LOADED)(ELEMENT)1)  // of unsigned integers
#else
#define TRUTHS(x) (AS_LANES(LOADED, (x) != (LOADED)(ELEMENT)0) & (LOADED)(ELEMENT)1)
#endif
#if IN_FORM == FORM_BOOL
#define NUMBERS(x) TRUTHS(x)
#else
#define NUMBERS(x) (x)
#endif

// LANES elements side by side, from `at` on. (64 bits, whatever the index: those of 32 are sums of which each is
// widened by itself, which costs more instructions than it saves.)
INLINE Values values_at(REF(ELEMENT, a), const i64 at) {
  HELDS held[ELEMENT_PARTS];
  Values values;
  const LOADED loaded = COUNTED_BITS(LOADED, load_loose(LOADED, a, at));
#if ELEMENT_PARTS == 2
  held[0] = HOLD_LANES(EVEN_LANES_OF(ELEMENT, 16, loaded));
  held[1] = HOLD_LANES(ODD_LANES_OF(ELEMENT, 16, loaded));
#else
  held[0] = HOLD_LANES(loaded);
#endif
  MAP(VALUES, values, held);
  return values;
}

// Small integers, and what is counted, are added up in fewer bits first, where as many as ENOUGH fit.
#if ACCUMULATION == TOTAL && ELEMENT_PARTS == 1 && (MAPPING == NONZERO ? ELEMENT_BYTES < 8 : ELEMENT_BYTES <= 2)
#define ENOUGH 128
#if MAPPING == NONZERO
#define NARROW ELEMENT
#else
#define TWICE_u8 u16
#define TWICE_i8 i16
#define TWICE_u16 u32
#define TWICE_i16 i32
#define NARROW JOIN(TWICE_, ELEMENT)
#endif
typedef VECTOR_OF(NARROW, LANES) Narrows;

INLINE Narrows narrow_at(REF(ELEMENT, a), const i64 at) {
  const LOADED loaded = COUNTED_BITS(LOADED, load_loose(LOADED, a, at));
#if MAPPING == NONZERO
  return TRUTHS(loaded);
#else
  return CONVERT_LANES(NARROW, LANES, NUMBERS(loaded));
#endif
}

// The sum of `count` vectors, at most ENOUGH, `apart` elements from one to the next.
INLINE Values sums_at(REF(ELEMENT, a), const i64 at, const int count, const i64 apart) {
  Narrows sum = narrow_at(PASS(a), at);
  UNROLL for (int k = 1; k < count; ++k) sum += narrow_at(PASS(a), at + k * apart);
  Values values;
  values.part[0] = CONVERT_LANES(VALUE, LANES, sum);
  return values;
}
#endif

// The first `count` of LANES elements that lie `stride` scalars apart; the other lanes hold nothing.
CALLED Values some_values_at(REF(ELEMENT, a), const index_t at, const index_t stride, const index_t count) {
  union {
    VALUE lane[LANES];
    VALUES all;
  } part[VALUE_PARTS];
  Values values;
  const Lanes empty = empty_lanes();
  EACH(c, VALUE_PARTS) part[c].all = empty.part[c];
  for (index_t n = 0; n < min_index(count, LANES); ++n) {
    const Value value = value_at(PASS(a), at + n * stride);
    EACH(c, VALUE_PARTS) part[c].lane[n] = value.part[c];
  }
  EACH(c, VALUE_PARTS) values.part[c] = part[c].all;
  return values;
}

// The first `count` of LANES elements side by side; the other lanes hold nothing. The array ends at `reach`, up to which
// what follows them is loaded, too.
INLINE Values first_values_at(REF(ELEMENT, a), const i64 at, const i64 count, const i64 reach) {
  if (at + LANES * ELEMENT_PARTS > reach) return some_values_at(PASS(a), at, ELEMENT_PARTS, count);
  Values values = values_at(PASS(a), at);
  const Lanes empty = empty_lanes();
  const VALUES number = LANE_NUMBERS(VALUE, LANES), end = (VALUES)(VALUE)count;
  EACH(c, VALUE_PARTS) values.part[c] = SELECT(number < end, values.part[c], empty.part[c]);
  return values;
}

#if ACCUMULATION == PLACE
#define EXCHANGE_PLACES(to, from, d) (to).at = EXCHANGE_LANES(PLACE_NUMBER, LANES, (from).at, d)
#else
#define EXCHANGE_PLACES(to, from, d)
#endif

// Brings each lane i together with lane i ^ d.
#define FOLD(lanes, d)                                                                        \
  {                                                                                           \
    Lanes other;                                                                              \
    EACH(c, SLOTS) other.part[c] = EXCHANGE_LANES(VALUE, LANES, (lanes).part[c], d);          \
    EXCHANGE_PLACES(other, lanes, d);                                                         \
    COMBINE(VALUES, lanes, other);                                                            \
  }

// Lane n; places are counted from `place`.
INLINE Accumulator lane_of(const Lanes* const lanes, const int n, const i64 place) {
  Accumulator one;
  (void)place;
  EACH(c, SLOTS) one.part[c] = LANE(VALUE, LANES, lanes->part[c], n);
#if ACCUMULATION == PLACE
  one.at = place + (i64)LANE(PLACE_NUMBER, LANES, lanes->at, n);
#endif
  return one;
}

// All lanes brought together: the upper half into the lower, until one is left. Places are counted from `place`. (The
// same tree over an array of scalars is miscompiled for bytes by LLVM 15.)
INLINE Accumulator fold_lanes(Lanes lanes, const i64 place) {
#if LANES >= 64
  FOLD(lanes, 32)
#endif
#if LANES >= 32
  FOLD(lanes, 16)
#endif
#if LANES >= 16
  FOLD(lanes, 8)
#endif
  FOLD(lanes, 4)
  FOLD(lanes, 2)
  FOLD(lanes, 1)
  return lane_of(&lanes, 0, place);
}

// Folds of several lanes at once, two into one at a time: where a lane's number has bit d, the result's is of the second
// of them. So fold k is in the lane that has the bits of k in reverse.
#if ACCUMULATION == PLACE
#define JOIN_PLACES(name, x, y, d) (x).at = name(PLACE_NUMBER, LANES, (x).at, (y).at, d)
#else
#define JOIN_PLACES(name, x, y, d)
#endif
#define FOLD_PAIRS(lanes, count, d)                                                                       \
  ROLLED for (int k = 0; 2 * k < (count); ++k) {                                                          \
    const Lanes x = (lanes)[2 * k], y = (lanes)[2 * k + 1 < (count) ? 2 * k + 1 : 2 * k];                 \
    Lanes lower = x, upper = x;                                                                           \
    EACH(c, SLOTS) lower.part[c] = LOWER_LANES_OF(VALUE, LANES, x.part[c], y.part[c], d);                 \
    EACH(c, SLOTS) upper.part[c] = UPPER_LANES_OF(VALUE, LANES, x.part[c], y.part[c], d);                 \
    JOIN_PLACES(LOWER_LANES_OF, lower, y, d);                                                             \
    JOIN_PLACES(UPPER_LANES_OF, upper, y, d);                                                             \
    COMBINE(VALUES, lower, upper);                                                                        \
    (lanes)[k] = lower;                                                                                   \
  }                                                                                                       \
  (count) = ((count) + 1) / 2;

// The last steps: of what is side by side in quarters, or halves, of each.
INLINE void fold_quarters(Lanes* const lanes, int count) {
#if LANES >= 64
  FOLD_PAIRS(lanes, count, 8)
#endif
#if LANES >= 32
  FOLD_PAIRS(lanes, count, 4)
#endif
#if LANES >= 16
  FOLD_PAIRS(lanes, count, 2)
#endif
  FOLD_PAIRS(lanes, count, 1)
}
INLINE void fold_halves(Lanes* const lanes, int count) {
  FOLD_PAIRS(lanes, count, QUARTER_LANES)
  fold_quarters(lanes, count);
}

// Up to LANES of them, into the first.
CALLED void fold_each(Lanes* const lanes, int count) {
  FOLD_PAIRS(lanes, count, HALF_LANES)
  fold_halves(lanes, count);
}

// The lane in which fold_each leaves fold k; and the fold that it leaves in lane k.
INLINE int lane_of_fold(const int k) {
  int reversed = 0;
  UNROLL for (int bit = 1; bit < LANES; bit *= 2) reversed = 2 * reversed + ((k & bit) != 0);
  return reversed;
}

// ---- results of lanes; of single numbers all of them are finished at once, in the same steps as one by one
typedef VECTOR_OF(LAST, LANES) Lasts;
typedef VECTOR_OF(i64, LANES) LongPlaces;

// The first `count` lanes, to elements `stride` apart.
#define STORE_LANES_OF(T, name)                                                                                 \
  INLINE void name(MUTABLE_REF(T, b), const i64 at, const i64 stride, const VECTOR_OF(T, LANES) x, const int count) { \
    if (stride == 1 && count == LANES) {                                                                        \
      store_loose(VECTOR_OF(T, LANES), b, at, x);                                                               \
      return;                                                                                                   \
    }                                                                                                           \
    T lane[LANES];                                                                                              \
    own_store(VECTOR_OF(T, LANES), lane, x);                                                                    \
    ROLLED for (int n = 0; n < count; ++n) store(b, at + n * stride, lane[n]);                                  \
  }
STORE_LANES_OF(VALUE, store_value_lanes)
#if TELLS_TRUTH
STORE_LANES_OF(u8, store_truth_lanes)
#endif
#if ACCUMULATION == TOTAL
STORE_LANES_OF(LAST, store_last_lanes)
#elif ACCUMULATION == PLACE
STORE_LANES_OF(i64, store_place_lanes)
#endif

INLINE Lasts finished_lanes(const Lasts values, const i64 count) {
  if (FINISH == FINISH_MEAN) return values / (Lasts)(LAST)count;
  if (FINISH == FINISH_ROOT) return sqrt(values);
  return values;
}

#if VALUE_PARTS == 1
INLINE VALUES values_of(const Lanes* const lanes, const i64 count) {
#if ACCUMULATION == COMPENSATED
#if VALUE_FORMAT == 32
  // The same bits as by way of f64, which has more than twice as many.
  if (FINISH == FINISH_VALUE) {
    const VALUES correction = lanes->part[1];
    return SELECT(correction - correction == (VALUES)(VALUE)0, lanes->part[0] + correction, lanes->part[0]);
  }
#endif
  const Lasts sum = CONVERT_LANES(LAST, LANES, lanes->part[0]);
  const Lasts together = sum + CONVERT_LANES(LAST, LANES, lanes->part[1]);
  const Lasts settled = SELECT(together - together == (Lasts)(LAST)0, together, sum);
  return CONVERT_LANES(VALUE, LANES, finished_lanes(settled, count));
#else
  (void)count;
  return TAKEN(lanes->part[0]);
#endif
}
#endif

// The results of the first `lanes_used` lanes; places are counted from `place`.
INLINE void store_lanes(MUTABLE_REF(RESULT, b), const i64 at, const i64 stride, const Lanes* const lanes,
                        const int lanes_used, const i64 place, const ReduceParams* const p) {
#if VALUE_PARTS == 1
  if (CONVERTS ? 0 : FINISH != FINISH_ACCUMULATOR) {
#if ACCUMULATION == PLACE
    if (FINISH == FINISH_PLACE) {
      const LongPlaces places = CONVERT_LANES(i64, LANES, lanes->at) + (LongPlaces)place;
      store_place_lanes(PASS_AS(i64, b), at, stride, places, lanes_used);
      return;
    }
#elif ACCUMULATION == TOTAL
    if (FINISH == FINISH_MEAN) {
      const Lasts means = finished_lanes(CONVERT_LANES(LAST, LANES, lanes->part[0]), p->count);
      store_last_lanes(PASS_AS(LAST, b), at, stride, means, lanes_used);
      return;
    }
#endif
    const VALUES values = values_of(lanes, p->count);
#if TELLS_TRUTH
    if (FINISH == FINISH_TRUTH) {
      const VECTOR_OF(u8, LANES) one = (VECTOR_OF(u8, LANES))(u8)1;
      const VECTOR_OF(u8, LANES) truth = CONVERT_LANES(u8, LANES, values != (VALUES)(VALUE)0) & one;
      store_truth_lanes(PASS_AS(u8, b), at, stride, truth, lanes_used);
      return;
    }
#endif
#if VALUE_FLOATS && VALUE_FORMAT == 32
    if (FORM_IS_BITS(OUT_FORM)) {
      VALUE lane[LANES];
      own_store(VALUES, lane, values);
      ROLLED for (int n = 0; n < lanes_used; ++n) store_part(PASS(b), at + n * stride, lane[n]);
      return;
    }
#endif
    store_value_lanes(PASS_AS(VALUE, b), at, stride, values, lanes_used);
    return;
  }
#endif
  ROLLED for (int n = 0; n < lanes_used; ++n)
    store_result(PASS(b), at + n * stride, lane_of(lanes, n, place), p);
}

// ---- lanes as 64-bit words, in which accumulators travel; see parts.h
typedef VECTOR_OF(u64, LANES) Words;

INLINE Words words_of(const Lanes* const from, const int w, const i64 place) {
#if ACCUMULATION == PLACE
  if (w == SLOTS) return AS_LANES(Words, CONVERT_LANES(i64, LANES, from->at) + (LongPlaces)place);
#endif
  (void)place;
#if !VALUE_FLOATS
  return CONVERT_LANES(u64, LANES, from->part[w]);
#elif VALUE_FORMAT == 64
  return AS_LANES(Words, from->part[w]);
#else
  return CONVERT_LANES(u64, LANES, AS_LANES(VECTOR_OF(u32, LANES), from->part[w]));
#endif
}

INLINE void set_words(Lanes* const to, const int w, const Words words) {
#if ACCUMULATION == PLACE
  if (w == SLOTS) {
    to->at = CONVERT_LANES(PLACE_NUMBER, LANES, AS_LANES(LongPlaces, words));
    return;
  }
#endif
#if !VALUE_FLOATS
  to->part[w] = CONVERT_LANES(VALUE, LANES, words);
#elif VALUE_FORMAT == 64
  to->part[w] = AS_LANES(VALUES, words);
#else
  to->part[w] = AS_LANES(VALUES, CONVERT_LANES(u32, LANES, words));
#endif
}
