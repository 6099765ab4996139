// What the kernels of a product share: element types and their arithmetic, the epilogue, the walk over the batch.
//
// Integers wrap: their sums are unsigned, and so is what is stored.
#include "forms.h"
#define SHORT_DIVIDERS
#include "loops.h"
#include "matmul/product.params.h"

PARAMS_SIZE(ProductParams);

CONSTANT(ELEMENT, type)              // of A and B in memory
CONSTANT(RESULT, type)               // of C and D in memory
CONSTANT(OUT_FORM, like(IN_FORM))    // of RESULT
CONSTANT(ACC, type)                  // of sums
CONSTANT(SCALAR, type)               // of sums, or of their real parts
CONSTANT(SCALAR_BYTES, one_of(4 8))  // of such
CONSTANT(COMPLEX, flag)              // sums are pairs, the real part first
CONSTANT(REAL_F64, flag)             // SCALAR is f64
CONSTANT(REAL_F32, flag)             // SCALAR is f32
CONSTANT(DOT, one_of(1 2 4), 1)      // k's that lie together in a word of packed panels: of bf16 2, of bytes 4
CONSTANT(WITH_D, flag, 1)            // D is an argument
SETTING(SCALED, flag)                // the sum is multiplied by alpha
SETTING(ADD_D, flag)                 // beta times D is added
SETTING(RELU, flag)                  // what is negative becomes 0
SETTING(BATCH, one_of(3 14 16))      // axes of the batch that are walked

#if FORM_IS_BITS(IN_FORM)
#define WIDEN(x) F32_OF_BITS(IN_FORM, x)
#elif IN_FORM == FORM_BOOL
#define WIDEN(x) ((ACC)((x) != 0))
#else
#define WIDEN(x) ((ACC)(x))
#endif

#if FORM_IS_BITS(OUT_FORM)
#define NARROW(x) BITS_OF_F32(OUT_FORM, x)
#define WIDEN_D(x) F32_OF_BITS(OUT_FORM, x)
#elif OUT_FORM == FORM_BOOL
#define NARROW(x) ((RESULT)((x) != 0))
#define WIDEN_D(x) ((ACC)((x) != 0))
#else
#define NARROW(x) ((RESULT)(x))
#define WIDEN_D(x) ((ACC)(x))
#endif

#define ACC_BYTES (SCALAR_BYTES * (1 + COMPLEX))
#if COMPLEX
#define MAKE_ACC MAKE_PACKET_OF(SCALAR, 2)
#define ZERO MAKE_ACC(0, 0)
INLINE ACC multiply_add(const ACC x, const ACC y, ACC sum) {
  sum.s0 += x.s0 * y.s0;
  sum.s1 += x.s0 * y.s1;
  sum.s0 -= x.s1 * y.s1;
  sum.s1 += x.s1 * y.s0;
  return sum;
}
INLINE ACC add(ACC x, const ACC y) {
  x.s0 += y.s0;
  x.s1 += y.s1;
  return x;
}
INLINE ACC scale(const SCALAR factor, ACC x) {
  x.s0 *= factor;
  x.s1 *= factor;
  return x;
}
#else
#define ZERO ((ACC)0)
#if IN_FORM == FORM_BOOL
#define multiply_add(x, y, sum) ((sum) | ((x) & (y)))
#define add(x, y) ((x) | (y))
#else
#define multiply_add(x, y, sum) ((x) * (y) + (sum))
#define add(x, y) ((x) + (y))
#endif
#define scale(factor, x) ((factor) * (x))
#endif

#if REAL_F64
#define FACTOR(bits) as_f64_u64(bits)
#elif REAL_F32
#define FACTOR(bits) as_f32_u32(bits)
#else
#define FACTOR(bits) ((SCALAR)(bits))
#endif

// Alpha times a sum, or a vector of them: a macro, since their types differ.
#define SCALE_SUM(p, sum) (SCALED ? scale(FACTOR((p)->alpha), sum) : (sum))
// D as a kernel's first output, as a helper's parameter and as its argument: there only where it is one. And a sum,
// once scaled, with beta times D where that counts; d is of the sum's type.
#if WITH_D
#define IN_D IN(RESULT, d),
#define REF_D REF(RESULT, d),
#define PASS_D PASS(d),
#define FINISH_SUM(p, sum, d) (ADD_D ? add(SCALE_SUM(p, sum), scale(FACTOR((p)->beta), d)) : SCALE_SUM(p, sum))
#else
#define IN_D
#define REF_D
#define PASS_D
#define FINISH_SUM(p, sum, d) SCALE_SUM(p, sum)
#endif

// Of integers, which are stored as unsigned ones, the sign is their first bit.
#if FORM_IS_BITS(OUT_FORM)
#define IS_NEGATIVE(x) ((x) > 0x8000u && (x) <= MINUS_INFINITE_BITS(OUT_FORM))  // beyond are NaNs
#elif REAL_F32 || REAL_F64
#define IS_NEGATIVE(x) ((x) < (RESULT)0)
#else
#define IS_NEGATIVE(x) ((x) >> (8 * sizeof(RESULT) - 1) != 0)
#endif

// C's element from a sum: alpha, then D's element at `at`, then the activation.
INLINE RESULT finish(const ProductParams* const p, REF_D const ACC sum, const index_t at) {
  const RESULT x = NARROW(FINISH_SUM(p, sum, WIDEN_D(load(d, at))));
  (void)p, (void)at;
#if COMPLEX
  return x;
#else
  return RELU && IS_NEGATIVE(x) ? (RESULT)0 : x;
#endif
}

// Where a point of the batch begins in each operand.
typedef struct {
  index_t a, b, c, d;
} Origin;

INLINE Origin origin_of(const ProductParams* const p, index_t point) {
  Origin origin = {0, 0, 0, 0};
#if defined(AXL_HOST)
  if (p->work == 1) return origin;  // without fetching lines of the walk, which mostly is this single point
#endif
  UNROLL for (int w = PRODUCT_AXES - 1; w >= PRODUCT_AXES - BATCH; --w) {
    const index_t i =
        w > PRODUCT_AXES - BATCH ? take_index(&point, p->extent[w], p->multiplier[w], p->shift[w]) : point;
    origin.a += i * (index_t)p->walk_a[w];
    origin.b += i * (index_t)p->walk_b[w];
    origin.c += i * (index_t)p->walk_c[w];
    origin.d += i * (index_t)p->walk_d[w];
  }
  return origin;
}
