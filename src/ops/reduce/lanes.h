// Accumulators side by side in vectors, for kernels whose group is one item of a CPU.
//
// LANES elements are loaded at once: 16 numbers, or 8 complex ones as 16 scalars that are taken apart.
#if ELEMENT_PARTS == 2
#define LANES 8
#define HALF_LANES 4
#else
#define LANES 16
#define HALF_LANES 8
#endif

#define VALUES VECTOR_OF(VALUE, LANES)
#define HELDS VECTOR_OF(HELD, LANES)
#define LOADED VECTOR_OF(ELEMENT, 16)

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

// x / y; often y is 1, and a division takes as long as many additions.
INLINE index_t quotient(const index_t x, const index_t y) {
  return y == 1 ? x : x / y;
}

// As F32_OF_BITS, but for the payload of NaN.
#if IN_FORM == FORM_F16
#define HOLD_LANES(x) F32_LANES_OF_F16(LANES, x)
#elif IN_FORM == FORM_BF16
#define HOLD_LANES(x) F32_LANES_OF_BF16(LANES, x)
#else
#define HOLD_LANES(x) CONVERT_LANES(HELD, LANES, NUMBERS(x))
#endif
#if IN_FORM == FORM_BOOL
#define NUMBERS(x) (AS_LANES(LOADED, (x) != (LOADED)(ELEMENT)0) & (LOADED)(ELEMENT)1)
#else
#define NUMBERS(x) (x)
#endif

// LANES elements side by side, from `at` on. (64 bits, whatever the index: those of 32 are sums of which each is
// widened by itself, which costs more instructions than it saves.)
INLINE Values values_at(REF(ELEMENT, a), const i64 at) {
  HELDS held[ELEMENT_PARTS];
  Values values;
  const LOADED loaded = load_loose(LOADED, a, at);
#if ELEMENT_PARTS == 2
  held[0] = HOLD_LANES(EVEN_LANES_OF(ELEMENT, 16, loaded));
  held[1] = HOLD_LANES(ODD_LANES_OF(ELEMENT, 16, loaded));
#else
  held[0] = HOLD_LANES(loaded);
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
#if LANES == 16
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

// Up to LANES of them, into the first.
INLINE void fold_each(Lanes* const lanes, int count) {
#if LANES == 16
  FOLD_PAIRS(lanes, count, 8)
#endif
  FOLD_PAIRS(lanes, count, 4)
  FOLD_PAIRS(lanes, count, 2)
  FOLD_PAIRS(lanes, count, 1)
}

// The lane in which fold_each leaves fold k.
INLINE int lane_of_fold(const int k) {
  const int pairs = (k & 5) << 1 | (k & 10) >> 1, reversed = (pairs & 3) << 2 | pairs >> 2;
  return LANES == 16 ? reversed : reversed >> 1;
}
