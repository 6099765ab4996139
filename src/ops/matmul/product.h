// What the kernels of a product share: element types and their arithmetic, the epilogue, the walk over the batch.
//
// The host defines ELEMENT (of A and B in memory), RESULT (of C and D), ACC (of sums) and SCALAR (ACC, or its real part's
// type), and how to come from one to the other: IN_FORM and OUT_FORM. Integers wrap: their sums are unsigned.
#include "matmul/product.params.h"

PARAMS_SIZE(ProductParams);

#if INDEX_BITS == 64
typedef i64 index_t;
#define min_index(x, y) min_i64(x, y)
#else
typedef i32 index_t;
#define min_index(x, y) min_i32(x, y)
#endif

#define AXL_PASTE_PAIR(T) T##x2
#define PAIR_OF(T) AXL_PASTE_PAIR(T)
#define AXL_PASTE_MAKE_PAIR(T) make_##T##x2
#define MAKE_PAIR_OF(T) AXL_PASTE_MAKE_PAIR(T)

#define FORM_SAME 0
#define FORM_CAST 1
#define FORM_F16 2
#define FORM_BF16 3
#define FORM_BOOL 4

#if IN_FORM == FORM_F16
#define WIDEN(x) f32_from_f16(x)
#elif IN_FORM == FORM_BF16
#define WIDEN(x) f32_from_bf16(x)
#elif IN_FORM == FORM_BOOL
#define WIDEN(x) ((ACC)((x) != 0))
#elif IN_FORM == FORM_CAST
#define WIDEN(x) ((ACC)(x))
#else
#define WIDEN(x) (x)
#endif

#if OUT_FORM == FORM_F16
#define NARROW(x) f16_from_f32(x)
#define WIDEN_D(x) f32_from_f16(x)
#elif OUT_FORM == FORM_BF16
#define NARROW(x) bf16_from_f32(x)
#define WIDEN_D(x) f32_from_bf16(x)
#elif OUT_FORM == FORM_BOOL
#define NARROW(x) ((RESULT)((x) != 0))
#define WIDEN_D(x) ((ACC)((x) != 0))
#elif OUT_FORM == FORM_CAST
#define NARROW(x) ((RESULT)(x))
#define WIDEN_D(x) ((ACC)(x))
#else
#define NARROW(x) (x)
#define WIDEN_D(x) (x)
#endif

#if COMPLEX
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

// C's element from a sum: alpha, then D, then the activation. D is read only where it counts.
#if SCALED
#define SCALE_SUM(sum) scale(FACTOR(p.alpha), sum)
#else
#define SCALE_SUM(sum) (sum)
#endif
#if ADD_D
#define ADDED(sum, at) add(SCALE_SUM(sum), scale(FACTOR(p.beta), WIDEN_D(load(d, at))))
#define IN_D IN(RESULT, d),
#else
#define ADDED(sum, at) SCALE_SUM(sum)
#define IN_D
#endif
#if RELU
INLINE RESULT activate(const RESULT x) {
#if OUT_FORM == FORM_F16
  return x > 0x8000u && x <= 0xfc00u ? (RESULT)0 : x;  // down to -inf; beyond are NaNs
#elif OUT_FORM == FORM_BF16
  return x > 0x8000u && x <= 0xff80u ? (RESULT)0 : x;
#else
  return x < (RESULT)0 ? (RESULT)0 : x;
#endif
}
#else
#define activate(x) (x)
#endif
#define FINISH(sum, at_d) activate(NARROW(ADDED(sum, at_d)))

// Declares where a point of the batch begins in each operand: a_at, b_at, c_at, d_at. BATCH is how many axes are walked.
#define WALK_BATCH(point)                                 \
  index_t a_at = 0;                                       \
  index_t b_at = 0;                                       \
  index_t c_at = 0;                                       \
  index_t d_at = 0;                                       \
  {                                                       \
    index_t rest = (point);                               \
    UNROLL for (int w = PRODUCT_AXES - 1; w >= PRODUCT_AXES - BATCH; --w) { \
      const index_t along = rest % (index_t)p.extent[w];  \
      rest /= (index_t)p.extent[w];                       \
      a_at += along * (index_t)p.walk_a[w];               \
      b_at += along * (index_t)p.walk_b[w];               \
      c_at += along * (index_t)p.walk_c[w];               \
      d_at += along * (index_t)p.walk_d[w];               \
    }                                                     \
    (void)rest, (void)a_at, (void)b_at, (void)c_at, (void)d_at; \
  }
