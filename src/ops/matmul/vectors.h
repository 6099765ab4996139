// Sums side by side in vectors, and how they become elements of C. For CPUs. Of complex numbers there are vectors of
// the real parts and of the imaginary ones, which become elements one by one.
CONSTANT(LANES, one_of(4 8 16), 16)  // numbers of a vector

#define VECTOR VECTOR_OF(SCALAR, LANES)

#if IN_FORM == FORM_BOOL
#define VECTOR_ADD(x, y, sum) ((sum) | ((x) & (y)))
#else
#define VECTOR_ADD(x, y, sum) ((x) * (y) + (sum))
#endif

#if !COMPLEX && OUT_FORM != FORM_BOOL
#define STORES_VECTORS 1
#define RESULTS VECTOR_OF(RESULT, LANES)
#if FORM_IS_BITS(OUT_FORM)
#define BITS VECTOR_OF(u32, LANES)
// As f16_from_f32 and bf16_from_f32, which say how.
INLINE RESULTS narrow_lanes(const VECTOR x) {
  const BITS bits = AS_LANES(BITS, x), rest = bits & (BITS)0x7fffffffu, sign = bits & (BITS)0x80000000u;
#if OUT_FORM == FORM_F16
  const BITS tiny = AS_LANES(BITS, AS_LANES(VECTOR, rest) + (VECTOR)0.5f) - (BITS)0x3f000000u;
  const BITS normal = (rest + (BITS)0xc8000fffu + ((rest >> 13) & (BITS)1u)) >> 13;
  const BITS finite = SELECT(rest < (BITS)0x38800000u, tiny, normal);
  const BITS nan = (BITS)0x7e00u | ((rest >> 13) & (BITS)0x03ffu);
  const BITS beyond = SELECT(rest > (BITS)0x7f800000u, nan, (BITS)0x7c00u);
  const BITS value = SELECT(rest >= (BITS)0x47800000u, beyond, finite);
#else
  const BITS nan = (rest >> 16) | (BITS)0x0040u;
  const BITS value = SELECT(rest > (BITS)0x7f800000u, nan, (rest + (BITS)0x7fffu + ((rest >> 16) & (BITS)1u)) >> 16);
#endif
  return CONVERT_LANES(u16, LANES, value | (sign >> 16));
}
#define NARROW_LANES(x) narrow_lanes(x)
#define WIDEN_LANES(x) LANES_OF_BITS(OUT_FORM, LANES, x)
#elif OUT_FORM == FORM_SAME
#define NARROW_LANES(x) (x)
#define WIDEN_LANES(x) (x)
#else
#define NARROW_LANES(x) CONVERT_LANES(RESULT, LANES, x)
#define WIDEN_LANES(x) CONVERT_LANES(SCALAR, LANES, x)
#endif
// What is negative becomes 0: as IS_NEGATIVE has it.
#if FORM_IS_BITS(OUT_FORM)
#define RELU_LANES(x) \
  SELECT((x) > (RESULTS)MINUS_INFINITE_BITS(OUT_FORM), x, SELECT((x) > (RESULTS)0x8000u, (RESULTS)0u, x))
#elif REAL_F32 || REAL_F64
#define RELU_LANES(x) SELECT((x) < (RESULTS)0, (RESULTS)0, x)
#else
#define RELU_LANES(x) SELECT(((x) >> (8 * (int)sizeof(RESULT) - 1)) != (RESULTS)0, (RESULTS)0, x)
#endif
INLINE RESULTS finished_lanes(const RESULTS x) {
  return RELU ? RELU_LANES(x) : x;
}
// C's elements from as many sums and D's elements, of which there may be none.
#define FINISH_LANES(p, sum, d) finished_lanes(NARROW_LANES(FINISH_SUM(p, sum, WIDEN_LANES(d))))
// The same of a row, where C's lie together, and D's.
INLINE void store_lanes(const ProductParams* const p, REF_D MUTABLE_REF(RESULT, c), const VECTOR sum, const index_t at,
                        const index_t at_d) {
  (void)p, (void)at_d;
  store_loose(RESULTS, c, at, FINISH_LANES(p, sum, load_loose(RESULTS, d, at_d)));
}
#endif
