// The few entry points of cuDNN 9 (libcudnn.so.9) that the benchmark calls, declared without its header.
#pragma once

#include "device/cuda/driver_api.hpp"

#include <cstddef>

namespace axisloom::bench::cudnn {

using Status = int;
using Handle = struct HandleOf*;
using TensorDescriptor = struct TensorDescriptorOf*;
using Stream = device::cuda::CUstream;

// cudnnTensorFormat_t
inline constexpr int nchw = 0, nhwc = 1, nchw_vect_c = 2;
// cudnnDataType_t
inline constexpr int type_float = 0, type_double = 1, type_half = 2, type_int8 = 3, type_int8x4 = 5, type_int8x32 = 8,
                     type_bfloat16 = 9;
inline constexpr int most_dimensions = 8;  // CUDNN_DIM_MAX

#define AXISLOOM_CUDNN(ENTRY)                                                                                     \
  ENTRY(Status, cudnnCreate, (Handle*))                                                                           \
  ENTRY(Status, cudnnDestroy, (Handle))                                                                           \
  ENTRY(Status, cudnnSetStream, (Handle, Stream))                                                                 \
  ENTRY(size_t, cudnnGetVersion, ())                                                                              \
  ENTRY(const char*, cudnnGetErrorString, (Status))                                                               \
  ENTRY(Status, cudnnCreateTensorDescriptor, (TensorDescriptor*))                                                 \
  ENTRY(Status, cudnnDestroyTensorDescriptor, (TensorDescriptor))                                                 \
  ENTRY(Status, cudnnSetTensor4dDescriptor, (TensorDescriptor, int format, int type, int n, int c, int h, int w)) \
  ENTRY(Status, cudnnSetTensorNdDescriptor,                                                                       \
        (TensorDescriptor, int type, int dimensions, const int* extents, const int* strides))                     \
  ENTRY(Status, cudnnTransformTensor,                                                                             \
        (Handle, const void* alpha, TensorDescriptor from, const void* x, const void* beta, TensorDescriptor to,  \
         void* y))

struct Api {
#define AXISLOOM_ENTRY(result, name, parameters) result(*name) parameters;
  AXISLOOM_CUDNN(AXISLOOM_ENTRY)
#undef AXISLOOM_ENTRY
};

}  // namespace axisloom::bench::cudnn
