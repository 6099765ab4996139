// Factors of a type that is known when the kernel runs, from an array of bytes: by one kernel those of all types. KIND
// is that of a factor or, where factors are PAIRS with the real part first, of their parts.
#include "matmul/vectors.h"

SETTING(KIND, one_of(I8 U8 I16 U16 I32 U32 I64 U64 BOOL F32 F64 F16 BF16), U8)  // see above
SETTING(PAIRS, flag, 0)  // factors are pairs, the real part first

// OF(kind, T, VECTORS) for each kind whose numbers are of a type T, and whether vectors of them are converted as such.
// Integers do not come of floats. Of 64-bit integers as floats vectors would be no faster on most processors, and large.
#define EACH_SHORT_INTEGER(OF) \
  OF(I8, i8, 1) OF(U8, u8, 1) OF(I16, i16, 1) OF(U16, u16, 1) OF(I32, i32, 1) OF(U32, u32, 1)
#if REAL_F32 || REAL_F64
#define EACH_KIND(OF) EACH_SHORT_INTEGER(OF) OF(I64, i64, 0) OF(U64, u64, 0) OF(F32, f32, 1) OF(F64, f64, 1)
#else
#define EACH_KIND(OF) EACH_SHORT_INTEGER(OF) OF(I64, i64, 1) OF(U64, u64, 1)
#endif

// What is taken already as it is.
#if COMPLEX
#define IS_TAKEN 0
#elif REAL_F32
#define IS_TAKEN (KIND == F32)
#elif REAL_F64
#define IS_TAKEN (KIND == F64)
#elif SCALAR_BYTES == 4
#define IS_TAKEN (KIND == I32 || KIND == U32)
#else
#define IS_TAKEN (KIND == I64 || KIND == U64)
#endif

#define BYTES VECTOR_OF(u8, LANES)
#define TAKE_NUMBERS(T, VECTORS, LANES_OF_T, NUMBER_OF_T)                                                         \
  if (VECTORS && step == 1 && to_step == 1) {                                                                     \
    ROLLED for (; j + LANES <= count; j += LANES) {                                                               \
      const VECTOR_OF(T, LANES) x = load_loose(VECTOR_OF(T, LANES), from, (i + j) * (index_t)sizeof(T));           \
      own_store(VECTOR, to + j, LANES_OF_T);                                                                      \
    }                                                                                                             \
  }                                                                                                               \
  ROLLED for (; j < count; ++j) {                                                                                 \
    const T x = load_packet(T, from, (i + j * step) * (index_t)sizeof(T));                                        \
    to[j * to_step] = NUMBER_OF_T;                                                                                \
  }                                                                                                               \
  break;

// Numbers i, i + step ... of an array, to numbers `to_step` apart. One copy of it: inlined wherever a factor is read,
// with a choice of kinds for each vector, it was nine tenths of a kernel of 32 KB.
CALLED void take_numbers(REF(u8, from), const index_t i, const index_t step, const index_t count, SCALAR* const to,
                         const index_t to_step) {
  index_t j = 0;
  switch (KIND) {
#define OF(kind, T, VECTORS) case kind: TAKE_NUMBERS(T, VECTORS, CONVERT_LANES(SCALAR, LANES, x), (SCALAR)x)
    EACH_KIND(OF)
#undef OF
#if REAL_F32 || REAL_F64
    case F16: TAKE_NUMBERS(u16, 1, CONVERT_LANES(SCALAR, LANES, F32_LANES_OF_F16(LANES, x)), (SCALAR)f32_from_f16(x))
    case BF16: TAKE_NUMBERS(u16, 1, CONVERT_LANES(SCALAR, LANES, F32_LANES_OF_BF16(LANES, x)), (SCALAR)f32_from_bf16(x))
#endif
    default:
      TAKE_NUMBERS(u8, 1, CONVERT_LANES(SCALAR, LANES, SELECT(x != (BYTES)0, (BYTES)1, (BYTES)0)), (SCALAR)(x != 0))
  }
}

// Elements i, i + step ... of an array, the parts of each side by side; `to` has room for whole vectors. At step 0 they
// are the same one.
#if COMPLEX
#define PARTS 2
#define TAKEN_ELEMENT(from, j) MAKE_ACC((from)[2 * (j)], (from)[2 * (j) + 1])
#else
#define PARTS 1
#define TAKEN_ELEMENT(from, j) (from)[j]
#endif
INLINE void take_elements(REF(u8, from), const index_t i, const index_t step, const index_t count, SCALAR* const to) {
  const index_t different = step == 0 ? 1 : count;
#if COMPLEX
  if (PAIRS && step == 1) {
    take_numbers(PASS(from), 2 * i, 1, 2 * different, to, 1);
  } else {
    take_numbers(PASS(from), (1 + PAIRS) * i, (1 + PAIRS) * step, different, to, 2);
    if (PAIRS) take_numbers(PASS(from), 2 * i + 1, 2 * step, different, to + 1, 2);
    else for (index_t j = 0; j < different; ++j) to[2 * j + 1] = 0;
  }
#else
  take_numbers(PASS(from), i, step, different, to, 1);
#endif
  if (step != 0) return;
#if COMPLEX
  const SCALAR real = to[0], imaginary = to[1];
  for (index_t j = 1; j < count; ++j) {
    to[2 * j] = real;
    to[2 * j + 1] = imaginary;
  }
#else
  const VECTOR same = (VECTOR)to[0];
  for (index_t j = 0; j < count; j += LANES) own_store(VECTOR, to + j, same);
#endif
}
