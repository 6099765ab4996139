// One specialisation of the kernel "wgmma" in a namespace of its own, INSTANCE; its constants are defined before, and
// forgotten at the end.

#define ELEMENT u16
#define ACC f32
#define SCALAR f32
#define SCALAR_BYTES 4
#define REAL_F64 0
#define REAL_F32 1
#define COMPLEX 0
#define BLOCK_M 128
#define BAND 8
#define BATCH 3
#define SPLIT 0
#define SCALED EPILOGUE
#define ADD_D EPILOGUE
#define WITH_D EPILOGUE
#define RELU EPILOGUE
#define LOCAL_BYTES (1024 + STAGES * (BLOCK_M + BLOCK_N) * 128 + 2 * 8 * STAGES)

namespace axisloom::emulated::INSTANCE {
#include "matmul/wgmma.kernel"

inline void run_group(const tensor_map& a, const tensor_map& b, const WarpgroupOperands& x, const std::byte* bytes) {
  ProductParams p;
  std::memcpy(&p, bytes, sizeof p);
#if ADD_D
  wgmma(a, b, static_cast<const RESULT*>(x.d), x.d_offset, static_cast<RESULT*>(x.c), x.c_offset, p);
#else
  wgmma(a, b, static_cast<RESULT*>(x.c), x.c_offset, p);
#endif
}

inline const WarpgroupInstance instance = {
    {{"SCALAR_BYTES", SCALAR_BYTES}, {"REAL_F64", REAL_F64}, {"REAL_F32", REAL_F32}, {"IN_FORM", IN_FORM},
     {"OUT_FORM", OUT_FORM}, {"COMPLEX", COMPLEX}, {"SCALED", SCALED}, {"ADD_D", ADD_D}, {"WITH_D", WITH_D}, {"RELU", RELU},
     {"INDEX_BITS", INDEX_BITS}, {"BATCH", BATCH}, {"AXL_PARAMS_SIZE", sizeof(ProductParams)}, {"BLOCK_M", BLOCK_M},
     {"BLOCK_N", BLOCK_N}, {"STAGES", STAGES}, {"BAND", BAND}, {"A_ALONG_M", A_ALONG_M}, {"B_ALONG_N", B_ALONG_N},
     {"PAIRS_C", PAIRS_C}, {"LOCAL_BYTES", LOCAL_BYTES}},
    run_group};
}  // namespace axisloom::emulated::INSTANCE

#undef INSTANCE
#undef ELEMENT
#undef RESULT
#undef ACC
#undef SCALAR
#undef SCALAR_BYTES
#undef REAL_F64
#undef REAL_F32
#undef IN_FORM
#undef OUT_FORM
#undef COMPLEX
#undef BLOCK_M
#undef BLOCK_N
#undef STAGES
#undef BAND
#undef BATCH
#undef SPLIT
#undef EPILOGUE
#undef SCALED
#undef ADD_D
#undef WITH_D
#undef RELU
#undef INDEX_BITS
#undef PAIRS_C
#undef LOCAL_BYTES
#undef A_ALONG_M
#undef B_ALONG_N
// Words of the kernel itself that differ between specialisations.
#undef MULTIPLY
#undef min_index
#undef add
#undef scale
#undef multiply_add
