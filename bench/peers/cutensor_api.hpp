// The few entry points of cuTENSOR 2 (libcutensor.so.2) that the benchmark calls, declared without its header.
#pragma once

#include "core/integers.hpp"
#include "device/cuda/driver_api.hpp"

#include <cstddef>

namespace axisloom::bench::cutensor {

using Status = int;
using Handle = struct HandleOf*;
using TensorDescriptor = struct TensorDescriptorOf*;
using OperationDescriptor = struct OperationDescriptorOf*;
using PlanPreference = struct PlanPreferenceOf*;
using Plan = struct PlanOf*;
using ComputeDescriptor = const struct ComputeDescriptorOf*;
using Stream = device::cuda::CUstream;
using Modes = const i32*;

inline constexpr Status invalid_value = 7, not_supported = 15;
// cudaDataType_t
inline constexpr int real_16f = 2, real_16bf = 14, real_32f = 0, real_64f = 1, complex_32f = 4, complex_64f = 5;
// cutensorOperator_t
inline constexpr int identity = 1, add = 3, maximum = 6, minimum = 7;
// cutensorAlgo_t, cutensorJitMode_t, cutensorWorksizePreference_t, cutensorPlanAttribute_t
inline constexpr int algo_default = -1, algo_default_patient = -6;
inline constexpr int jit_none = 0, jit_default = 1;
inline constexpr int workspace_max = 3;
inline constexpr int plan_required_workspace = 0;
inline constexpr int operation_scalar_type = 1;  // cutensorOperationDescriptorAttribute_t

#define AXISLOOM_CUTENSOR(ENTRY)                                                                                      \
  ENTRY(Status, cutensorCreate, (Handle*))                                                                            \
  ENTRY(Status, cutensorDestroy, (Handle))                                                                            \
  ENTRY(size_t, cutensorGetVersion, ())                                                                               \
  ENTRY(const char*, cutensorGetErrorString, (Status))                                                                \
  ENTRY(Status, cutensorCreateTensorDescriptor,                                                                       \
        (Handle, TensorDescriptor*, u32 mode_count, const i64* extents, const i64* strides, int type, u32 alignment)) \
  ENTRY(Status, cutensorDestroyTensorDescriptor, (TensorDescriptor))                                                  \
  ENTRY(Status, cutensorCreatePermutation,                                                                            \
        (Handle, OperationDescriptor*, TensorDescriptor a, Modes, int op_a, TensorDescriptor b, Modes,                \
         ComputeDescriptor))                                                                                          \
  ENTRY(Status, cutensorCreateReduction,                                                                              \
        (Handle, OperationDescriptor*, TensorDescriptor a, Modes, int op_a, TensorDescriptor c, Modes, int op_c,      \
         TensorDescriptor d, Modes, int op_reduce, ComputeDescriptor))                                                \
  ENTRY(Status, cutensorCreateContraction,                                                                            \
        (Handle, OperationDescriptor*, TensorDescriptor a, Modes, int op_a, TensorDescriptor b, Modes, int op_b,      \
         TensorDescriptor c, Modes, int op_c, TensorDescriptor d, Modes, ComputeDescriptor))                          \
  ENTRY(Status, cutensorOperationDescriptorGetAttribute,                                                              \
        (Handle, OperationDescriptor, int attribute, void* value, size_t bytes))                                      \
  ENTRY(Status, cutensorDestroyOperationDescriptor, (OperationDescriptor))                                            \
  ENTRY(Status, cutensorCreatePlanPreference, (Handle, PlanPreference*, int algo, int jit))                           \
  ENTRY(Status, cutensorDestroyPlanPreference, (PlanPreference))                                                      \
  ENTRY(Status, cutensorEstimateWorkspaceSize,                                                                        \
        (Handle, OperationDescriptor, PlanPreference, int workspace, u64* bytes))                                     \
  ENTRY(Status, cutensorCreatePlan, (Handle, Plan*, OperationDescriptor, PlanPreference, u64 most_workspace_bytes))   \
  ENTRY(Status, cutensorPlanGetAttribute, (Handle, Plan, int attribute, void* value, size_t bytes))                   \
  ENTRY(Status, cutensorDestroyPlan, (Plan))                                                                          \
  ENTRY(Status, cutensorPermute, (Handle, Plan, const void* alpha, const void* a, void* b, Stream))                   \
  ENTRY(Status, cutensorReduce,                                                                                       \
        (Handle, Plan, const void* alpha, const void* a, const void* beta, const void* c, void* d, void* workspace,   \
         u64 workspace_bytes, Stream))                                                                                \
  ENTRY(Status, cutensorContract,                                                                                     \
        (Handle, Plan, const void* alpha, const void* a, const void* b, const void* beta, const void* c, void* d,     \
         void* workspace, u64 workspace_bytes, Stream))

struct Api {
#define AXISLOOM_ENTRY(result, name, parameters) result(*name) parameters;
  AXISLOOM_CUTENSOR(AXISLOOM_ENTRY)
#undef AXISLOOM_ENTRY
  // CUTENSOR_COMPUTE_DESC_32F and _64F are variables of the library.
  const ComputeDescriptor* compute_32f;
  const ComputeDescriptor* compute_64f;
};

}  // namespace axisloom::bench::cutensor
