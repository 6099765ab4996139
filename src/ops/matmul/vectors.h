// Sums side by side in vectors, and how they become elements of C. For CPUs. Of complex numbers there are vectors of
// the real parts and of the imaginary ones, which become elements one by one.
CONSTANT(LANES, one_of(4 8 16), 16)  // numbers of a vector

#define VECTOR VECTOR_OF(SCALAR, LANES)

#if IN_FORM == FORM_BOOL
#define VECTOR_ADD(x, y, sum) ((sum) | ((x) & (y)))
#else
#define VECTOR_ADD(x, y, sum) ((x) * (y) + (sum))
#endif

#if !COMPLEX && OUT_FORM <= FORM_CAST
#define STORES_VECTORS 1
#define RESULTS VECTOR_OF(RESULT, LANES)
#if OUT_FORM == FORM_SAME
#define NARROW_LANES(x) (x)
#define WIDEN_LANES(x) (x)
#else
#define NARROW_LANES(x) CONVERT_LANES(RESULT, LANES, x)
#define WIDEN_LANES(x) CONVERT_LANES(SCALAR, LANES, x)
#endif
#if REAL_F32 || REAL_F64
#define LANES_NEGATIVE(x) ((x) < (RESULTS)0)
#else
#define LANES_NEGATIVE(x) (((x) >> (8 * (int)sizeof(RESULT) - 1)) != (RESULTS)0)
#endif
// C's elements from as many sums of a row, where C's lie together, and D's.
INLINE void store_lanes(const ProductParams* const p, REF_D MUTABLE_REF(RESULT, c), const VECTOR sum, const index_t at,
                        const index_t at_d) {
  const RESULTS x = NARROW_LANES(FINISH_SUM(p, sum, WIDEN_LANES(load_loose(RESULTS, d, at_d))));
  (void)p, (void)at_d;
  store_loose(RESULTS, c, at, RELU ? SELECT(LANES_NEGATIVE(x), (RESULTS)0, x) : x);
}
#endif
