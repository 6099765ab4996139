// The benchmark's own declarations of cuTENSOR, cuDNN and oneDNN against those libraries' headers.
// -DAXISLOOM_PEER_HEADERS names the folders where these are; each of the three is looked at where it is found.
#include "bench/peers/cudnn_api.hpp"
#include "bench/peers/cutensor_api.hpp"
#include "bench/peers/onednn_api.hpp"

#include "declarations_support.hpp"

#include <gtest/gtest.h>

#if __has_include(<cutensor.h>)
#include <cutensor.h>

namespace axisloom::bench::cutensor {
namespace {

#define AXISLOOM_COMPARE(result, name, parameters) \
  static_assert(compatible(decltype(Api::name){}, static_cast<decltype(&::name)>(nullptr)), #name);
AXISLOOM_CUTENSOR(AXISLOOM_COMPARE)
#undef AXISLOOM_COMPARE
static_assert(same_layout<ComputeDescriptor, decltype(CUTENSOR_COMPUTE_DESC_32F)>);

TEST(BenchPeerDeclarations, ConstantsOfCutensor) {
  EXPECT_EQ(invalid_value, CUTENSOR_STATUS_INVALID_VALUE);
  EXPECT_EQ(not_supported, CUTENSOR_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(real_16f, CUTENSOR_R_16F);
  EXPECT_EQ(real_16bf, CUTENSOR_R_16BF);
  EXPECT_EQ(real_32f, CUTENSOR_R_32F);
  EXPECT_EQ(real_64f, CUTENSOR_R_64F);
  EXPECT_EQ(complex_32f, CUTENSOR_C_32F);
  EXPECT_EQ(complex_64f, CUTENSOR_C_64F);
  EXPECT_EQ(identity, CUTENSOR_OP_IDENTITY);
  EXPECT_EQ(add, CUTENSOR_OP_ADD);
  EXPECT_EQ(maximum, CUTENSOR_OP_MAX);
  EXPECT_EQ(minimum, CUTENSOR_OP_MIN);
  EXPECT_EQ(algo_default, CUTENSOR_ALGO_DEFAULT);
  EXPECT_EQ(algo_default_patient, CUTENSOR_ALGO_DEFAULT_PATIENT);
  EXPECT_EQ(jit_none, CUTENSOR_JIT_MODE_NONE);
  EXPECT_EQ(jit_default, CUTENSOR_JIT_MODE_DEFAULT);
  EXPECT_EQ(workspace_max, CUTENSOR_WORKSPACE_MAX);
  EXPECT_EQ(plan_required_workspace, CUTENSOR_PLAN_REQUIRED_WORKSPACE);
  EXPECT_EQ(operation_scalar_type, CUTENSOR_OPERATION_DESCRIPTOR_SCALAR_TYPE);
}

}  // namespace
}  // namespace axisloom::bench::cutensor
#endif

#if __has_include(<cudnn.h>)
#include <cudnn.h>

namespace axisloom::bench::cudnn {
namespace {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#define AXISLOOM_COMPARE(result, name, parameters) \
  static_assert(compatible(decltype(Api::name){}, static_cast<decltype(&::name)>(nullptr)), #name);
AXISLOOM_CUDNN(AXISLOOM_COMPARE)
#undef AXISLOOM_COMPARE

TEST(BenchPeerDeclarations, ConstantsOfCudnn) {
  EXPECT_EQ(nchw, CUDNN_TENSOR_NCHW);
  EXPECT_EQ(nhwc, CUDNN_TENSOR_NHWC);
  EXPECT_EQ(nchw_vect_c, CUDNN_TENSOR_NCHW_VECT_C);
  EXPECT_EQ(type_float, CUDNN_DATA_FLOAT);
  EXPECT_EQ(type_double, CUDNN_DATA_DOUBLE);
  EXPECT_EQ(type_half, CUDNN_DATA_HALF);
  EXPECT_EQ(type_bfloat16, CUDNN_DATA_BFLOAT16);
  EXPECT_EQ(type_int8, CUDNN_DATA_INT8);
  EXPECT_EQ(type_int8x4, CUDNN_DATA_INT8x4);
  EXPECT_EQ(type_int8x32, CUDNN_DATA_INT8x32);
  EXPECT_EQ(most_dimensions, CUDNN_DIM_MAX);
}
#pragma GCC diagnostic pop

}  // namespace
}  // namespace axisloom::bench::cudnn
#endif

#if __has_include(<oneapi/dnnl/dnnl.h>)
#include <oneapi/dnnl/dnnl.h>

namespace axisloom::bench::onednn {
namespace {

#define AXISLOOM_COMPARE(result, name, parameters) \
  static_assert(compatible(decltype(Api::name){}, static_cast<decltype(&::name)>(nullptr)), #name);
AXISLOOM_ONEDNN(AXISLOOM_COMPARE)
#if DNNL_VERSION_MAJOR == 2
AXISLOOM_COMPARE(Status, dnnl_memory_desc_init_by_strides, )
AXISLOOM_COMPARE(Status, dnnl_memory_desc_init_by_tag, )
static_assert(sizeof(dnnl_memory_desc_t) <= memory_descriptor_bytes);
static_assert(alignof(dnnl_memory_desc_t) <= 8);
#else
AXISLOOM_COMPARE(Status, dnnl_memory_desc_create_with_strides, )
AXISLOOM_COMPARE(Status, dnnl_memory_desc_create_with_tag, )
AXISLOOM_COMPARE(Status, dnnl_memory_desc_destroy, )
#endif
#undef AXISLOOM_COMPARE

TEST(BenchPeerDeclarations, ConstantsAndStructuresOfOnednn) {
  EXPECT_EQ(invalid_arguments, dnnl_invalid_arguments);
  EXPECT_EQ(unimplemented, dnnl_unimplemented);
  EXPECT_EQ(most_dimensions, DNNL_MAX_NDIMS);
  EXPECT_EQ(type_bf16, dnnl_bf16);
  EXPECT_EQ(type_f32, dnnl_f32);
  EXPECT_EQ(type_s32, dnnl_s32);
  EXPECT_EQ(type_u8, dnnl_u8);
  EXPECT_EQ(engine_cpu, dnnl_cpu);
  EXPECT_EQ(stream_in_order, static_cast<unsigned>(dnnl_stream_in_order));
  EXPECT_EQ(argument_from, DNNL_ARG_FROM);
  EXPECT_EQ(argument_to, DNNL_ARG_TO);
  EXPECT_EQ(query_implementation, dnnl_query_impl_info_str);
  EXPECT_EQ(blocked_channels_tag(DNNL_VERSION_MAJOR, 4), dnnl_aBc4b);
  EXPECT_EQ(blocked_channels_tag(DNNL_VERSION_MAJOR, 8), dnnl_aBc8b);
  EXPECT_EQ(blocked_channels_tag(DNNL_VERSION_MAJOR, 16), dnnl_aBc16b);
  EXPECT_EQ(blocked_channels_tag(DNNL_VERSION_MAJOR, 32), dnnl_aBc32b);
  EXPECT_EQ(sizeof(Argument), sizeof(dnnl_exec_arg_t));
  EXPECT_EQ(offsetof(Argument, memory), offsetof(dnnl_exec_arg_t, memory));
  EXPECT_EQ(sizeof(Version), sizeof(dnnl_version_t));
  EXPECT_EQ(offsetof(Version, cpu_runtime), offsetof(dnnl_version_t, cpu_runtime));
}

}  // namespace
}  // namespace axisloom::bench::onednn
#endif
