// Factors of a type that is known when the kernel runs, from an array of bytes: by one kernel those of all types. KIND
// is that of a factor or, where factors are PAIRS with the real part first, of their parts.
#include "matmul/vectors.h"

SETTING(KIND, one_of(I8 U8 I16 U16 I32 U32 I64 U64 BOOL F32 F64 F16 BF16), U8)  // see above
SETTING(PAIRS, flag, 0)  // factors are pairs, the real part first

// OF(kind, T) for each kind whose numbers are of a type T; integers do not come of floats. Of 64-bit integers as floats
// vectors would be no faster on most processors, and large.
#define EACH_SHORT_INTEGER(OF) OF(I8, i8) OF(U8, u8) OF(I16, i16) OF(U16, u16) OF(I32, i32) OF(U32, u32)
#define EACH_INTEGER(OF) EACH_SHORT_INTEGER(OF) OF(I64, i64) OF(U64, u64)
#if REAL_F32 || REAL_F64
#define EACH_KIND(OF) EACH_INTEGER(OF) OF(F32, f32) OF(F64, f64)
#define EACH_VECTOR_KIND(OF) EACH_SHORT_INTEGER(OF) OF(F32, f32) OF(F64, f64)
#define TAKES_VECTORS (KIND != I64 && KIND != U64)
#else
#define EACH_KIND(OF) EACH_INTEGER(OF)
#define EACH_VECTOR_KIND(OF) EACH_INTEGER(OF)
#define TAKES_VECTORS 1
#endif

// Number i of an array.
INLINE SCALAR number_at(REF(u8, from), const index_t i) {
  switch (KIND) {
#define OF(kind, T) case kind: return (SCALAR)load_packet(T, from, i * (index_t)sizeof(T));
    EACH_KIND(OF)
#undef OF
#if REAL_F32 || REAL_F64
    case F16: return (SCALAR)f32_from_f16(load_packet(u16, from, 2 * i));
    case BF16: return (SCALAR)f32_from_bf16(load_packet(u16, from, 2 * i));
#endif
    default: return (SCALAR)(load(from, i) != 0);
  }
}

#if COMPLEX
INLINE ACC element_at(REF(u8, from), const index_t i) {
  return PAIRS ? MAKE_ACC(number_at(PASS(from), 2 * i), number_at(PASS(from), 2 * i + 1))
               : MAKE_ACC(number_at(PASS(from), i), 0);
}
#else
#define element_at number_at
// LANES numbers from number i on; step: 0, where it is the same one, or 1.
INLINE VECTOR lanes_at(REF(u8, from), const index_t i, const int step) {
  if (step == 0) return (VECTOR)number_at(PASS(from), i);
#define BYTES VECTOR_OF(u8, LANES)
#define LANES_OF(T) load_loose(VECTOR_OF(T, LANES), from, i * (index_t)sizeof(T))
  switch (KIND) {
#define OF(kind, T) case kind: return CONVERT_LANES(SCALAR, LANES, LANES_OF(T));
    EACH_VECTOR_KIND(OF)
#undef OF
#if REAL_F32 || REAL_F64
    case F16: return CONVERT_LANES(SCALAR, LANES, F32_LANES_OF_F16(LANES, LANES_OF(u16)));
    case BF16: return CONVERT_LANES(SCALAR, LANES, F32_LANES_OF_BF16(LANES, LANES_OF(u16)));
#endif
    default: return CONVERT_LANES(SCALAR, LANES, SELECT(LANES_OF(u8) != (BYTES)0, (BYTES)1, (BYTES)0));
  }
}
#endif
#define FACTOR_AT(x, i) element_at(PASS(x), i)
