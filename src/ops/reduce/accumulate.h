// What a reduction does to its elements: take them into an accumulator, bring two accumulators together, and finish.
//
//   element --HOLD--> held --MAP--> value --ADD--> accumulator --COMBINE--> ... --finish--> result
//
// The functions below work on scalars, and on OpenCL's vectors where a kernel is for CPUs: V is the type of a value.
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
CONSTANT(RESULT, type)                         // a scalar of the result in memory
CONSTANT(MAPPING, one_of(IDENTITY SQUARE MAGNITUDE NONZERO))  // of an element before it is taken
// How values are taken: added, added with corrections, multiplied, the one preferred, and its place.
CONSTANT(ACCUMULATION, one_of(TOTAL COMPENSATED PRODUCT EXTREME PLACE))
CONSTANT(SMALLEST, flag)                       // smaller values are preferred, else larger
// What is stored: the value, divided by the count, its root, its place, or the accumulator.
CONSTANT(FINISH, one_of(FINISH_VALUE FINISH_MEAN FINISH_ROOT FINISH_PLACE FINISH_ACCUMULATOR))

#define MOST_ADDITIONS 4096  // of one running sum, before it is brought together with others

#if ACCUMULATION == COMPENSATED
#define SLOTS (2 * VALUE_PARTS)  // sums, then their corrections
#else
#define SLOTS VALUE_PARTS
#endif
#if ACCUMULATION == PLACE
#define U64S (SLOTS + 1)
#else
#define U64S SLOTS
#endif

typedef struct {
  VALUE part[SLOTS];
#if ACCUMULATION == PLACE
  i64 at;  // place of the element, counted along the reduced axes
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
#define HOLD(x) ((HELD)(x))
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
#define START0 SMALLEST
#define START1 0
#elif SMALLEST
#define START0 GREATEST
#define START1 START0
#else
#define START0 LEAST
#define START1 START0
#endif

// The modulus without overflow on the way; an infinite part makes it infinite, whatever the other is.
#define MODULUS(V, result, x, y)                                              \
  {                                                                           \
    const V infinite = INFINITE;                                              \
    const V ax = (x) < 0 ? -(x) : (x), ay = (y) < 0 ? -(y) : (y);             \
    const V large = ax > ay ? ax : ay, small = ax > ay ? ay : ax;             \
    const V divisor = large == 0 ? infinite : large, ratio = small / divisor; \
    result = large * sqrt(1 + ratio * ratio);                                 \
    result = (x) != (x) ? (x) : (y) != (y) ? (y) : result;                    \
    result = ax == infinite ? infinite : ay == infinite ? infinite : result;  \
  }

// MAP sets `v` (a Value, or one of vectors) from the held components e[].
#if MAPPING == IDENTITY
#define MAP(V, v, e) EACH(c, VALUE_PARTS) (v).part[c] = (e)[c]
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
#define MAP(V, v, e) (v).part[0] = (e)[0] < 0 ? -(e)[0] : (e)[0]
#endif
#else
#if ELEMENT_PARTS == 2
#define MAP(V, v, e) (v).part[0] = TRUTH_##V(((e)[0] != (HELD)0) | ((e)[1] != (HELD)0))
#else
#define MAP(V, v, e) (v).part[0] = TRUTH_##V((e)[0] != (HELD)0)
#endif
#endif
#define TRUTH_VALUE(condition) ((VALUE)((condition) ? 1 : 0))

// ---- one value more
// Whether v comes before what an accumulator has: smaller or larger, NaN before all, and never an equal.
#if SMALLEST
#define BEFORE(x, y) ((x) < (y))
#else
#define BEFORE(x, y) ((x) > (y))
#endif
#if VALUE_PARTS == 2
#define IS_NUMBER(v) (((v)[0] == (v)[0]) & ((v)[1] == (v)[1]))
#define LEXICALLY(v, w) (BEFORE((v)[0], (w)[0]) | (((v)[0] == (w)[0]) & BEFORE((v)[1], (w)[1])))
#define PREFERRED(v, w) (IS_NUMBER(w) & (((v)[0] != (v)[0]) | ((v)[1] != (v)[1]) | LEXICALLY(v, w)))
#define ALIKE(v, w) ((!IS_NUMBER(v) & !IS_NUMBER(w)) | (((v)[0] == (w)[0]) & ((v)[1] == (w)[1])))
#elif VALUE_FLOATS
#define IS_NUMBER(v) ((v)[0] == (v)[0])
#define PREFERRED(v, w) (IS_NUMBER(w) & (((v)[0] != (v)[0]) | BEFORE((v)[0], (w)[0])))
#define ALIKE(v, w) ((!IS_NUMBER(v) & !IS_NUMBER(w)) | ((v)[0] == (w)[0]))
#else
#define PREFERRED(v, w) BEFORE((v)[0], (w)[0])
#define ALIKE(v, w) ((v)[0] == (w)[0])
#endif

#define TWO_SUM(V, sum, correction, x)                        \
  {                                                           \
    const V next = (sum) + (x);                               \
    const V added = next - (sum);                             \
    (correction) += ((sum) - (next - added)) + ((x) - added); \
    (sum) = next;                                             \
  }

#define CHOOSE(to, from, condition) \
  EACH(c, VALUE_PARTS) (to).part[c] = (condition) ? (from).part[c] : (to).part[c]

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
    (to).at = better ? (place) : (to).at;                                                     \
  }
#define COMBINE(V, to, from)                                                                         \
  {                                                                                                  \
    const AXL_TYPEOF(PREFERRED((from).part, (to).part)) better =                                     \
        PREFERRED((from).part, (to).part) | (ALIKE((from).part, (to).part) & ((from).at < (to).at)); \
    CHOOSE(to, from, better);                                                                        \
    (to).at = better ? (from).at : (to).at;                                                          \
  }
#endif

// Nothing is at place 0: it is only ever preferred to elements that all equal it, and then the first of these is there.
INLINE Accumulator nothing(void) {
  Accumulator result;
  EACH(c, SLOTS) result.part[c] = c == 1 ? START1 : START0;
#if ACCUMULATION == PLACE
  result.at = 0;
#endif
  return result;
}

INLINE void combine(Accumulator* const to, const Accumulator from) {
  COMBINE(VALUE, *to, from);
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
#if ACCUMULATION == PLACE
  if (w == SLOTS) return (u64)from.at;
#endif
  return U64_OF(from.part[w]);
}

INLINE void set_word(Accumulator* const to, const int w, const u64 word) {
#if ACCUMULATION == PLACE
  if (w == SLOTS) {
    to->at = (i64)word;
    return;
  }
#endif
  to->part[w] = OF_U64(word);
}

// ---- the result
#if FORM_IS_BITS(OUT_FORM)
#define STORED(x) BITS_OF_F32(OUT_FORM, x)
#else
#define STORED(x) ((RESULT)(x))
#endif

// Quotients and roots are taken in f64 where the device has it: OpenCL rounds those of f32 as it likes.
#if defined(AXL_HAS_F64)
#define LAST f64
#else
#define LAST f32
#endif

INLINE LAST finished(const LAST value, const i64 count) {
#if FINISH == FINISH_MEAN
  return value / (LAST)count;
#elif FINISH == FINISH_ROOT
  return sqrt(value);
#else
  return value;
#endif
}

// The sum with its correction, which counts only as long as the plain sum is finite.
INLINE LAST settled(const VALUE sum, const VALUE correction) {
  const LAST together = (LAST)sum + (LAST)correction;
  return together - together == 0 ? together : (LAST)sum;
}

INLINE void store_result(MUTABLE_REF(RESULT, b), const index_t at, const Accumulator total, const i64 count) {
#if FINISH == FINISH_ACCUMULATOR
  EACH(w, U64S) store(b, at + w, word_of(total, w));
#elif FINISH == FINISH_PLACE
  store(b, at, total.at);
#elif ACCUMULATION == COMPENSATED && FINISH == FINISH_MEAN && VALUE_PARTS == 2
  // The quotient of two complex numbers, as NumPy takes it: what is not finite in one part is NaN in the other.
  const LAST x = settled(total.part[0], total.part[2]), y = settled(total.part[1], total.part[3]);
  store(b, at, STORED((VALUE)finished(x + y * 0, count)));
  store(b, at + 1, STORED((VALUE)finished(y - x * 0, count)));
#elif ACCUMULATION == COMPENSATED
  EACH(c, VALUE_PARTS)
    store(b, at + c, STORED((VALUE)finished(settled(total.part[c], total.part[VALUE_PARTS + c]), count)));
#elif FINISH == FINISH_MEAN
  store(b, at, (RESULT)finished((LAST)total.part[0], count));
#else
  EACH(c, VALUE_PARTS) store(b, at + c, STORED(total.part[c]));
#endif
  (void)count;
}

// ---- one element
INLINE Value value_at(REF(ELEMENT, a), const index_t at) {
  HELD held[ELEMENT_PARTS];
  Value value;
  EACH(c, ELEMENT_PARTS) held[c] = HOLD(load(a, at + c));
  MAP(VALUE, value, held);
  return value;
}
