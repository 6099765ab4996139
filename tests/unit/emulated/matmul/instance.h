// One specialisation of the kernel "mma" in a namespace of its own, INSTANCE; constants that are not as below are defined
// before, all are forgotten at the end. `instance` runs a group and says what the constants were.

#if !defined(REAL_F64)
#define REAL_F64 0
#endif
#if REAL_F64
#define ELEMENT f64
#define RESULT f64
#define ACC f64
#define IN_FORM FORM_SAME
#define OUT_FORM FORM_SAME
#define STEP_K 16
#else
#define ACC f32
#define ELEMENT u16
#define STEP_K 32
#if !defined(IN_FORM)
#define IN_FORM FORM_F16
#endif
#if !defined(OUT_FORM)
#define RESULT u16
#define OUT_FORM FORM_F16
#else
#define RESULT f32
#endif
#endif
#define SCALAR ACC
#define SCALAR_BYTES (REAL_F64 ? 8 : 4)
#define REAL_F32 (!REAL_F64)
#define COMPLEX 0
#define BLOCK_M 32
#define BLOCK_N 32
#define WARP_M 32
#define WARP_N 16
#define BAND 2
#define BATCH 3
#if !defined(STAGES)
#define STAGES 3
#endif
#if !defined(DEPTH)
#define DEPTH 16
#endif
#if !defined(BYTES_A)
#define BYTES_A 16
#define BYTES_B 16
#define PAIRS_C 1
#endif
#if !defined(EPILOGUE)
#define EPILOGUE 0
#endif
#define SCALED EPILOGUE
#define ADD_D EPILOGUE
#define WITH_D EPILOGUE
#define RELU EPILOGUE
#if !defined(SPLIT)
#define SPLIT 0
#endif
#if !defined(INDEX_BITS)
#define INDEX_BITS 32
#endif

namespace axisloom::emulated::INSTANCE {
#include "matmul/mma.kernel"

inline void run_group(const Operands& x, const std::byte* bytes) {
  ProductParams p;
  std::memcpy(&p, bytes, sizeof p);
  const auto a = static_cast<const ELEMENT*>(x.a), b = static_cast<const ELEMENT*>(x.b);
#if SPLIT
  mma(a, x.a_offset, b, x.b_offset, static_cast<ACC*>(x.c), x.c_offset, p);
#elif ADD_D
  mma(a, x.a_offset, b, x.b_offset, static_cast<const RESULT*>(x.d), x.d_offset, static_cast<RESULT*>(x.c), x.c_offset,
      p);
#else
  mma(a, x.a_offset, b, x.b_offset, static_cast<RESULT*>(x.c), x.c_offset, p);
#endif
}

inline const Instance instance = {
    {{"REAL_F64", REAL_F64}, {"REAL_F32", REAL_F32}, {"IN_FORM", IN_FORM},   {"OUT_FORM", OUT_FORM},
     {"COMPLEX", COMPLEX},   {"SCALED", SCALED},     {"ADD_D", ADD_D}, {"WITH_D", WITH_D},       {"RELU", RELU},
     {"BLOCK_M", BLOCK_M},   {"BLOCK_N", BLOCK_N},   {"WARP_M", WARP_M},     {"WARP_N", WARP_N},
     {"STEP_K", STEP_K},     {"STAGES", STAGES},     {"DEPTH", DEPTH},       {"BAND", BAND},
     {"BYTES_A", BYTES_A},   {"BYTES_B", BYTES_B},   {"PAIRS_C", PAIRS_C},   {"A_ALONG_M", A_ALONG_M},
     {"SPLIT", SPLIT},       {"BATCH", BATCH},       {"B_ALONG_N", B_ALONG_N}, {"INDEX_BITS", INDEX_BITS},
     {"SCALAR_BYTES", SCALAR_BYTES}, {"AXL_PARAMS_SIZE", sizeof(ProductParams)}},
    run_group};
}  // namespace axisloom::emulated::INSTANCE

#undef INSTANCE
#undef REAL_F64
#undef ELEMENT
#undef RESULT
#undef ACC
#undef IN_FORM
#undef OUT_FORM
#undef STEP_K
#undef SCALAR
#undef SCALAR_BYTES
#undef REAL_F32
#undef COMPLEX
#undef BLOCK_M
#undef BLOCK_N
#undef WARP_M
#undef WARP_N
#undef BAND
#undef BATCH
#undef STAGES
#undef DEPTH
#undef BYTES_A
#undef BYTES_B
#undef PAIRS_C
#undef EPILOGUE
#undef SCALED
#undef ADD_D
#undef WITH_D
#undef RELU
#undef SPLIT
#undef INDEX_BITS
#undef A_ALONG_M
#undef B_ALONG_N
// Words of the kernel itself that are functions in one specialisation and macros in another.
#undef activate
#undef add
#undef scale
#undef multiply_add
