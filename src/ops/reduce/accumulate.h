// What a reduction does to its elements: take them into an accumulator, bring two accumulators together, and finish.
//
//   element --HOLD--> held --MAP--> value --ADD--> accumulator --COMBINE--> ... --finish--> result
//
// The functions below work on scalars, and on vectors where a kernel is for CPUs: V is the type of a value.
//
// Sums of floats carry what rounding took from the plain running sum (D. Knuth, TAOCP 2, 4.2.2, theorem B: TwoSum; the
// cascade is that of T. Ogita, S. Rump and S. Oishi, "Accurate sum and dot product", SIAM J. Sci. Comput. 26, 2005).
#include "forms.h"
#include "reduce/walk.h"

CONSTANT(ELEMENT, type)                        // a scalar in memory; a complex element is two
CONSTANT(ELEMENT_BYTES, one_of(1 2 4 8))       // of a scalar
CONSTANT(ELEMENT_PARTS, one_of(1 2))           // scalars of an element
CONSTANT(HELD, type)                           // a scalar in registers
CONSTANT(VALUE, type)                          // a scalar of an accumulator
CONSTANT(VALUE_PARTS, one_of(1 2))             // scalars of a value
CONSTANT(VALUE_FORMAT, one_of(32 64))          // bits of a float or a place beside it
CONSTANT(VALUE_FLOATS, flag)                   // VALUE is a float
CONSTANT(MAPPING, one_of(IDENTITY SQUARE MAGNITUDE NONZERO))  // of an element before it is taken
// How values are taken: added, added with corrections, multiplied, the one preferred, and its place.
CONSTANT(ACCUMULATION, one_of(TOTAL COMPENSATED PRODUCT EXTREME PLACE))
SETTING(SMALLEST, flag)                        // smaller values are preferred, else larger
SETTING(UNSIGNED, flag)                        // signed VALUE has the bits of an unsigned number, and compares like it
SETTING(SIGNLESS, flag)                        // elements are bits of floats, whose signs do not count
// What is stored: the value, divided by the count, its root, its place, whether it is not zero, or the accumulator.
SETTING(FINISH, one_of(FINISH_VALUE FINISH_MEAN FINISH_ROOT FINISH_PLACE FINISH_TRUTH FINISH_ACCUMULATOR))
SETTING(OUT_FORM, like(IN_FORM))               // of a value that is stored
SETTING(CONVERTS, flag)                        // what is stored is more than that: see store_converted
SETTING(WITH_INITIAL, flag)                    // a value of the parameters is taken with the elements
SETTING(OUT_BYTES, one_of(1 2 4 8))            // of a scalar that is stored
SETTING(OUT_FLOATS, flag)                      // it is a float

// Of any element the greatest is not zero, of all the least.
#define TELLS_TRUTH (ACCUMULATION == EXTREME && !VALUE_FLOATS)

#define MOST_ADDITIONS 4096  // of one running sum, before it is brought together with others

#if ACCUMULATION == COMPENSATED
#define SLOTS (2 * VALUE_PARTS)  // sums, then their corrections
#else
#define SLOTS VALUE_PARTS
#endif
#define U64S (SLOTS + (ACCUMULATION == PLACE) + MASKED)

typedef struct {
  VALUE part[SLOTS];
#if ACCUMULATION == PLACE
  i64 at;  // place of the element, counted along the reduced axes
#endif
#if MASKED
  i64 taken;  // elements that the mask lets through
#endif
} Accumulator;

typedef struct {
  VALUE part[VALUE_PARTS];
} Value;

// ---- from memory to a value
#if FORM_IS_BITS(IN_FORM)
#define HOLD(x) F32_OF_BITS(IN_FORM, x)
#elif IN_FORM == FORM_BOOL
#define HOLD(x) ((HELD)((x) != 0))
#else
#define HOLD(x) ((HELD)COUNTED_BITS(ELEMENT, x))
#endif

// Zeros are told from other floats by their bits, without the sign.
#if !VALUE_FLOATS && ELEMENT_BYTES > 1 && (ACCUMULATION == EXTREME || MAPPING == NONZERO)
#define COUNTED_BITS(V, x) ((V)((x) & (V)(ELEMENT)(SIGNLESS ? ~(u64)0 >> (65 - 8 * sizeof(ELEMENT)) : ~(u64)0)))
#else
#define COUNTED_BITS(V, x) (x)
#endif

#if VALUE_FORMAT == 64
#define INFINITE as_f64_u64((u64)0x7ff00000u << 32)
#else
#define INFINITE as_f32_u32(0x7f800000u)
#endif

// The greatest and the least value: of integers all bits, but for a sign.
#if VALUE_FLOATS
#define GREATEST INFINITE
#define LEAST (-INFINITE)
#else
#define GREATEST ((VALUE)((VALUE)-1 > 0 ? ~(u64)0 : ~(u64)0 >> (65 - 8 * sizeof(VALUE))))
#define LEAST ((VALUE)~GREATEST)
#endif

// The value of nothing: START0 in an accumulator's first part, START1 in its second.
#if ACCUMULATION == PRODUCT
#define START0 1
#define START1 0
#elif ACCUMULATION == TOTAL || ACCUMULATION == COMPENSATED
#define START0 0
#define START1 0
#elif MAPPING == NONZERO
#define START0 IN_ORDER((VALUE)SMALLEST)
#define START1 0
#else
#define START0 (LARGEST_WINS ? LEAST : GREATEST)
#define START1 START0
#endif

// Which value is preferred is no constant on the host: there it is always the larger one, and where it should be the
// smaller one, values are taken, and travel, with their order reversed. Unsigned numbers do so with their highest bit
// turned over, as signed ones in the same order.
#if defined(AXL_HOST)
#define LARGEST_WINS 1
#define IN_ORDER(x) REVERSED(x, SMALLEST, UNSIGNED)
#elif VALUE_FLOATS
#define LARGEST_WINS (!SMALLEST)
#define IN_ORDER(x) (x)
#else
#define LARGEST_WINS (!SMALLEST)
#define IN_ORDER(x) ((x) ^ (VALUE)(UNSIGNED ? LEAST : 0))
#endif
#if ACCUMULATION == EXTREME || ACCUMULATION == PLACE
#define TAKEN(x) IN_ORDER(x)
#else
#define TAKEN(x) (x)
#endif

// The modulus without overflow on the way; an infinite part makes it infinite, whatever the other is.
#define MAGNITUDE_OF(x) SELECT((x) < 0, -(x), x)
#define MODULUS(V, result, x, y)                                              \
  {                                                                           \
    const V infinite = INFINITE;                                              \
    const V ax = MAGNITUDE_OF(x), ay = MAGNITUDE_OF(y);                       \
    const V large = SELECT(ax > ay, ax, ay), small = SELECT(ax > ay, ay, ax); \
    const V divisor = SELECT(large == 0, infinite, large);                    \
    const V ratio = small / divisor, modulus = large * sqrt(1 + ratio * ratio); \
    result = SELECT((x) != (x), x, SELECT((y) != (y), y, modulus));           \
    result = SELECT((ax == infinite) | (ay == infinite), infinite, result);   \
  }

// MAP sets `v` (a Value, or one of vectors) from the held components e[].
#if MAPPING == IDENTITY
#define MAP(V, v, e) EACH(c, VALUE_PARTS) (v).part[c] = TAKEN((e)[c])
#elif MAPPING == SQUARE
#if ELEMENT_PARTS == 2
#define MAP(V, v, e) (v).part[0] = (e)[0] * (e)[0] + (e)[1] * (e)[1]
#else
#define MAP(V, v, e) (v).part[0] = (e)[0] * (e)[0]
#endif
#elif MAPPING == MAGNITUDE
#if ELEMENT_PARTS == 2
#define MAP(V, v, e) MODULUS(V, (v).part[0], (e)[0], (e)[1])
#else
#define MAP(V, v, e) (v).part[0] = MAGNITUDE_OF((e)[0])
#endif
#else
#if ELEMENT_PARTS == 2
#define MAP(V, v, e) (v).part[0] = TAKEN(TRUTH_##V(((e)[0] != (HELD)0) | ((e)[1] != (HELD)0)))
#else
#define MAP(V, v, e) (v).part[0] = TAKEN(TRUTH_##V((e)[0] != (HELD)0))
#endif
#endif
#define TRUTH_VALUE(condition) ((VALUE)((condition) ? 1 : 0))

// ---- one value more
// Whether v comes before what an accumulator has: smaller or larger, NaN before all, and never an equal.
#define BEFORE(x, y) (LARGEST_WINS ? (x) > (y) : (x) < (y))
#if VALUE_PARTS == 2
#define IS_NUMBER(v) (((v)[0] == (v)[0]) & ((v)[1] == (v)[1]))
#define LEXICALLY(v, w) (BEFORE((v)[0], (w)[0]) | (((v)[0] == (w)[0]) & BEFORE((v)[1], (w)[1])))
#define PREFERRED(v, w) (IS_NUMBER(w) & (((v)[0] != (v)[0]) | ((v)[1] != (v)[1]) | LEXICALLY(v, w)))
#define ALIKE(v, w) (((!IS_NUMBER(v)) & (!IS_NUMBER(w))) | (((v)[0] == (w)[0]) & ((v)[1] == (w)[1])))
#elif VALUE_FLOATS
#define IS_NUMBER(v) ((v)[0] == (v)[0])
#define PREFERRED(v, w) (IS_NUMBER(w) & (((v)[0] != (v)[0]) | BEFORE((v)[0], (w)[0])))
#define ALIKE(v, w) (((!IS_NUMBER(v)) & (!IS_NUMBER(w))) | ((v)[0] == (w)[0]))
#else
#define PREFERRED(v, w) BEFORE((v)[0], (w)[0])
#define ALIKE(v, w) ((v)[0] == (w)[0])
#endif

// The greater one in one step, where there is one; of floats x where it is no number, else y where that is none.
#if defined(AXL_HOST) && VALUE_PARTS == 1 && VALUE_FLOATS
#define GREATER_OF_NUMBERS(x, y) SELECT((x) != (x), x, GREATER(x, y))
#elif defined(AXL_HOST) && VALUE_PARTS == 1
#define GREATER_OF_NUMBERS(x, y) GREATER(x, y)
#endif

// Of seven additions three go to the units that multiply, where these are others: 16 floats took a core of an EPYC 9004
// 2.0 ns, and take 1.3.
#define TWO_SUM(V, sum, correction, x)                                                          \
  {                                                                                             \
    const V next = (sum) + (x);                                                                 \
    const V added = next - (sum);                                                               \
    (correction) += ADD_FUSED(SUBTRACT_FUSED((sum), next - added), SUBTRACT_FUSED((x), added)); \
    (sum) = next;                                                                               \
  }

#define CHOOSE(to, from, condition) \
  EACH(c, VALUE_PARTS) (to).part[c] = SELECT(condition, (from).part[c], (to).part[c])

// ADD takes a value at a place into an accumulator; COMBINE takes another accumulator, which may lie anywhere.
#if ACCUMULATION == TOTAL
#define ADD(V, to, v, place) (to).part[0] += (v).part[0]
#define COMBINE(V, to, from) (to).part[0] += (from).part[0]
#elif ACCUMULATION == COMPENSATED
#define ADD(V, to, v, place) \
  EACH(c, VALUE_PARTS) TWO_SUM(V, (to).part[c], (to).part[VALUE_PARTS + c], (v).part[c])
#define COMBINE(V, to, from)                                             \
  EACH(c, VALUE_PARTS) {                                                 \
    (to).part[VALUE_PARTS + c] += (from).part[VALUE_PARTS + c];          \
    TWO_SUM(V, (to).part[c], (to).part[VALUE_PARTS + c], (from).part[c]) \
  }
#elif ACCUMULATION == PRODUCT
#if VALUE_PARTS == 2
#define ADD(V, to, v, place)                                                \
  {                                                                         \
    const V real = (to).part[0] * (v).part[0] - (to).part[1] * (v).part[1]; \
    (to).part[1] = (to).part[0] * (v).part[1] + (to).part[1] * (v).part[0]; \
    (to).part[0] = real;                                                    \
  }
#else
#define ADD(V, to, v, place) (to).part[0] *= (v).part[0]
#endif
#define COMBINE(V, to, from) ADD(V, to, from, 0)
#elif ACCUMULATION == EXTREME && defined(GREATER_OF_NUMBERS)
#define ADD(V, to, v, place) (to).part[0] = GREATER_OF_NUMBERS((v).part[0], (to).part[0])
#define COMBINE(V, to, from) ADD(V, to, from, 0)
#elif ACCUMULATION == EXTREME
#define ADD(V, to, v, place)                                                                  \
  {                                                                                           \
    const AXL_TYPEOF(PREFERRED((v).part, (to).part)) better = PREFERRED((v).part, (to).part); \
    CHOOSE(to, v, better);                                                                    \
  }
#define COMBINE(V, to, from) ADD(V, to, from, 0)
#else
#define ADD(V, to, v, place)                                                                  \
  {                                                                                           \
    const AXL_TYPEOF(PREFERRED((v).part, (to).part)) better = PREFERRED((v).part, (to).part); \
    CHOOSE(to, v, better);                                                                    \
    (to).at = SELECT(better, place, (to).at);                                                 \
  }
#define COMBINE(V, to, from)                                                                         \
  {                                                                                                  \
    const AXL_TYPEOF(PREFERRED((from).part, (to).part)) better =                                     \
        PREFERRED((from).part, (to).part) | (ALIKE((from).part, (to).part) & ((from).at < (to).at)); \
    CHOOSE(to, from, better);                                                                        \
    (to).at = SELECT(better, (from).at, (to).at);                                                    \
  }
#endif

// Nothing is at place 0: it is only ever preferred to elements that all equal it, and then the first of these is there.
INLINE Accumulator nothing(void) {
  Accumulator result;
  EACH(c, SLOTS) result.part[c] = c == 1 ? START1 : START0;
#if ACCUMULATION == PLACE
  result.at = 0;
#endif
#if MASKED
  result.taken = 0;
#endif
  return result;
}

INLINE void combine(Accumulator* const to, const Accumulator from) {
  COMBINE(VALUE, *to, from);
#if MASKED
  to->taken += from.taken;
#endif
}

// ---- as 64-bit words, in which accumulators travel
#if !VALUE_FLOATS
#define U64_OF(x) ((u64)(x))
#define OF_U64(word) ((VALUE)(word))
#elif VALUE_FORMAT == 64
#define U64_OF as_u64_f64
#define OF_U64 as_f64_u64
#else
#define U64_OF as_u32_f32
#define OF_U64 as_f32_u32
#endif

INLINE u64 word_of(const Accumulator from, const int w) {
#if MASKED
  if (w == U64S - 1) return (u64)from.taken;
#endif
#if ACCUMULATION == PLACE
  if (w == SLOTS) return (u64)from.at;
#endif
  return U64_OF(from.part[w]);
}

INLINE void set_word(Accumulator* const to, const int w, const u64 word) {
#if MASKED
  if (w == U64S - 1) {
    to->taken = (i64)word;
    return;
  }
#endif
#if ACCUMULATION == PLACE
  if (w == SLOTS) {
    to->at = (i64)word;
    return;
  }
#endif
  to->part[w] = OF_U64(word);
}

// ---- the result: stored as what FINISH and OUT_FORM say, so its buffer is one of bytes
typedef u8 RESULT;

// Quotients and roots are taken in f64 where the device has it: OpenCL rounds those of f32 as it likes.
#if defined(AXL_HAS_F64)
#define LAST f64
#else
#define LAST f32
#endif

INLINE LAST finished(const LAST value, const i64 count) {
  if (FINISH == FINISH_MEAN) return value / (LAST)count;
  if (FINISH == FINISH_ROOT) return sqrt(value);
  return value;
}

// The sum with its correction, which counts only as long as the plain sum is finite.
INLINE LAST settled(const VALUE sum, const VALUE correction) {
  const LAST together = (LAST)sum + (LAST)correction;
  return together - together == 0 ? together : (LAST)sum;
}

#define STORE_OF(T, name)                                                          \
  INLINE void name(MUTABLE_REF(T, b), const index_t at, const T x) { \
    store(b, at, x);                                                               \
  }
STORE_OF(u64, store_word)
STORE_OF(u32, store_half_word)
STORE_OF(u16, store_bits)
STORE_OF(u8, store_byte)
STORE_OF(f32, store_single)
STORE_OF(LAST, store_quotient)
STORE_OF(VALUE, store_value)

INLINE void store_part(MUTABLE_REF(RESULT, b), const index_t at, const VALUE x) {
#if VALUE_FLOATS && VALUE_FORMAT == 32
  if (FORM_IS_BITS(OUT_FORM)) {
    store_bits(PASS_AS(u16, b), at, BITS_OF_F32(OUT_FORM, x));
    return;
  }
#endif
  store_value(PASS_AS(VALUE, b), at, x);
}

#if ACCUMULATION == COMPENSATED
INLINE void sums_of(const Accumulator total, LAST* const sum) {
  EACH(c, VALUE_PARTS) sum[c] = settled(total.part[c], total.part[VALUE_PARTS + c]);
#if VALUE_PARTS == 2
  if (FINISH == FINISH_MEAN) {
    // The quotient of two complex numbers, as NumPy takes it: what is not finite in one part is NaN in the other.
    const LAST x = sum[0], y = sum[1];
    sum[0] = x + y * 0;
    sum[1] = y - x * 0;
  }
#endif
}
#endif

INLINE void store_value_of(MUTABLE_REF(RESULT, b), const index_t at, const Accumulator total, const i64 count) {
#if ACCUMULATION == COMPENSATED
  LAST sum[VALUE_PARTS];
  sums_of(total, sum);
  EACH(c, VALUE_PARTS) store_part(PASS(b), at + c, (VALUE)finished(sum[c], count));
#else
  if (FINISH == FINISH_MEAN)
    store_quotient(PASS_AS(LAST, b), at, finished((LAST)total.part[0], count));
#if TELLS_TRUTH
  else if (FINISH == FINISH_TRUTH)
    store_byte(PASS_AS(u8, b), at, TAKEN(total.part[0]) != 0);
#endif
  else
    EACH(c, VALUE_PARTS) store_part(PASS(b), at + c, TAKEN(total.part[c]));
#endif
}

// The initial value, as one more element in front of all others.
INLINE void take_initial(Accumulator* const total, const ReduceParams* const p) {
#if ACCUMULATION == PLACE
  Accumulator first;
  EACH(c, VALUE_PARTS) first.part[c] = TAKEN(OF_U64(p->initial[c]));
  first.at = -1;
#if MASKED
  first.taken = 0;
#endif
  combine(total, first);
#else
  Value value;
  EACH(c, VALUE_PARTS) value.part[c] = TAKEN(OF_U64(p->initial[c]));
  ADD(VALUE, *total, value, 0);
#endif
}

INLINE void store_float(MUTABLE_REF(RESULT, b), const index_t at, const LAST x) {
  if (FORM_IS_BITS(OUT_FORM))
    store_bits(PASS_AS(u16, b), at, BITS_OF_F32(OUT_FORM, (f32)x));
  else if (OUT_BYTES == 4)
    store_single(PASS_AS(f32, b), at, (f32)x);
  else
    store_quotient(PASS_AS(LAST, b), at, x);
}

// The low bytes of an integer.
INLINE void store_integer(MUTABLE_REF(RESULT, b), const index_t at, const u64 x) {
  if (OUT_BYTES == 1)
    store_byte(PASS_AS(u8, b), at, (u8)x);
  else if (OUT_BYTES == 2)
    store_bits(PASS_AS(u16, b), at, (u16)x);
  else if (OUT_BYTES == 4)
    store_half_word(PASS_AS(u32, b), at, (u32)x);
  else
    store_word(PASS_AS(u64, b), at, x);
}

// With the initial value, and in the dtype that was asked for: what few reductions want, and so none has to wait for.
CALLED void store_converted(MUTABLE_REF(RESULT, b), const index_t at, Accumulator total, const ReduceParams* const p,
                            const i64 count) {
#if ACCUMULATION == TOTAL
  if (OUT_FLOATS) {
    LAST sum = (LAST)total.part[0];
#if defined(AXL_HAS_F64)
    if (WITH_INITIAL) sum += as_f64_u64(p->initial[0]);
#else
    if (WITH_INITIAL) sum += as_f32_u32((u32)p->initial[1]);
#endif
    store_float(PASS(b), at, finished(sum, count));
    return;
  }
#endif
  if (WITH_INITIAL) take_initial(&total, p);
#if ACCUMULATION == COMPENSATED
  LAST sum[VALUE_PARTS];
  sums_of(total, sum);
  EACH(c, VALUE_PARTS) store_float(PASS(b), at + c, finished(sum[c], count));
#elif VALUE_FLOATS
  EACH(c, VALUE_PARTS) store_float(PASS(b), at + c, (LAST)TAKEN(total.part[c]));
#else
  const u64 result = (u64)TAKEN(total.part[0]);
  store_integer(PASS(b), at, FINISH == FINISH_TRUTH ? result != 0 : result);
#endif
}

CALLED void store_result(MUTABLE_REF(RESULT, b), const index_t at, const Accumulator total,
                         const ReduceParams* const p) {
#if MASKED
  const i64 count = total.taken;
#else
  const i64 count = p->count;
#endif
  if (FINISH == FINISH_ACCUMULATOR) {
    EACH(w, U64S) store_word(PASS_AS(u64, b), at + w, word_of(total, w));
    return;
  }
#if ACCUMULATION == PLACE
  if (FINISH == FINISH_PLACE) {
    store_word(PASS_AS(u64, b), at, (u64)total.at);
    return;
  }
#endif
  if (CONVERTS) {
    store_converted(PASS(b), at, total, p, count);
    return;
  }
  store_value_of(PASS(b), at, total, count);
}

// ---- one element
INLINE Value value_at(REF(ELEMENT, a), const index_t at) {
  HELD held[ELEMENT_PARTS];
  Value value;
  EACH(c, ELEMENT_PARTS) held[c] = HOLD(load(a, at + c));
  MAP(VALUE, value, held);
  return value;
}

#if MASKED
// Takes the element at `at` where the mask is true at `mask_at`.
INLINE void take_masked(REF(ELEMENT, a), REF(u8, mask), const index_t at, const index_t mask_at, const i64 place,
                        Accumulator* const to) {
  if (load(mask, mask_at) == 0) return;
  const Value value = value_at(PASS(a), at);
  ADD(VALUE, *to, value, place);
  ++to->taken;
}
#define MASK_ARGUMENT IN(u8, mask),
#define MASK_REF REF(u8, mask),
#define PASS_MASK PASS(mask),
#define TAKE_AT(to, at, mask_at, place) take_masked(PASS(a), PASS(mask), at, mask_at, place, &(to))
#else
#define MASK_ARGUMENT
#define MASK_REF
#define PASS_MASK
#define TAKE_AT(to, at, mask_at, place)          \
  {                                              \
    const Value value = value_at(PASS(a), at);   \
    ADD(VALUE, to, value, place);                \
  }
#endif
