// The library's own declarations of the CUDA driver and NVRTC against the toolkit's headers, where a toolkit is
// installed.
#include "device/cuda/driver_api.hpp"
#include "device/cuda/nvrtc_api.hpp"

#include "declarations_support.hpp"

#include <gtest/gtest.h>

#include <cstddef>

#if __has_include("/usr/local/cuda/include/cuda.h") && __has_include("/usr/local/cuda/include/nvrtc.h")
#include "/usr/local/cuda/include/cuda.h"
#include "/usr/local/cuda/include/nvrtc.h"

// The header gives callers the second version, which drivers have since 12.8 only; the first takes the same arguments.
#undef cuEventElapsedTime
extern "C" ::CUresult cuEventElapsedTime(float*, ::CUevent, ::CUevent);

namespace axisloom::device::cuda {
namespace {

#define AXISLOOM_COMPARE_DRIVER(name, parameters) \
  static_assert(compatible(decltype(DriverApi::name.function){}, static_cast<decltype(&::name)>(nullptr)), #name);
AXISLOOM_CUDA_DRIVER(AXISLOOM_COMPARE_DRIVER, AXISLOOM_COMPARE_DRIVER)
#undef AXISLOOM_COMPARE_DRIVER

#define AXISLOOM_COMPARE_NVRTC(name, parameters) \
  static_assert(compatible(decltype(NvrtcApi::name.function){}, static_cast<decltype(&::name)>(nullptr)), #name);
AXISLOOM_NVRTC(AXISLOOM_COMPARE_NVRTC)
#undef AXISLOOM_COMPARE_NVRTC

TEST(CudaDeclarations, StructuresAgreeWithTheHeader) {
  EXPECT_EQ(sizeof(CUlaunchAttribute), sizeof(::CUlaunchAttribute));
  EXPECT_EQ(offsetof(CUlaunchAttribute, cluster), offsetof(::CUlaunchAttribute, value));
  EXPECT_EQ(offsetof(CUlaunchAttribute, allowed), offsetof(::CUlaunchAttribute, value));
  EXPECT_EQ(sizeof(CUlaunchConfig), sizeof(::CUlaunchConfig));
  EXPECT_EQ(offsetof(CUlaunchConfig, block_x), offsetof(::CUlaunchConfig, blockDimX));
  EXPECT_EQ(offsetof(CUlaunchConfig, shared_bytes), offsetof(::CUlaunchConfig, sharedMemBytes));
  EXPECT_EQ(offsetof(CUlaunchConfig, stream), offsetof(::CUlaunchConfig, hStream));
  EXPECT_EQ(offsetof(CUlaunchConfig, attributes), offsetof(::CUlaunchConfig, attrs));
  EXPECT_EQ(offsetof(CUlaunchConfig, attribute_count), offsetof(::CUlaunchConfig, numAttrs));
  EXPECT_EQ(sizeof(CUtensorMap), sizeof(::CUtensorMap));
  EXPECT_EQ(sizeof(CUmemcpy3D), sizeof(::CUDA_MEMCPY3D));
  EXPECT_EQ(offsetof(CUmemcpy3D, from.type), offsetof(::CUDA_MEMCPY3D, srcMemoryType));
  EXPECT_EQ(offsetof(CUmemcpy3D, from.device), offsetof(::CUDA_MEMCPY3D, srcDevice));
  EXPECT_EQ(offsetof(CUmemcpy3D, from.pitch), offsetof(::CUDA_MEMCPY3D, srcPitch));
  EXPECT_EQ(offsetof(CUmemcpy3D, from.height), offsetof(::CUDA_MEMCPY3D, srcHeight));
  EXPECT_EQ(offsetof(CUmemcpy3D, to.type), offsetof(::CUDA_MEMCPY3D, dstMemoryType));
  EXPECT_EQ(offsetof(CUmemcpy3D, to.device), offsetof(::CUDA_MEMCPY3D, dstDevice));
  EXPECT_EQ(offsetof(CUmemcpy3D, to.pitch), offsetof(::CUDA_MEMCPY3D, dstPitch));
  EXPECT_EQ(offsetof(CUmemcpy3D, to.height), offsetof(::CUDA_MEMCPY3D, dstHeight));
  EXPECT_EQ(offsetof(CUmemcpy3D, width), offsetof(::CUDA_MEMCPY3D, WidthInBytes));
  EXPECT_EQ(offsetof(CUmemcpy3D, height), offsetof(::CUDA_MEMCPY3D, Height));
  EXPECT_EQ(offsetof(CUmemcpy3D, depth), offsetof(::CUDA_MEMCPY3D, Depth));
  EXPECT_GE(alignof(CUtensorMap), alignof(::CUtensorMap));
}

TEST(CudaDeclarations, ConstantsAgreeWithTheHeader) {
  EXPECT_EQ(kInvalidValue, CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(kOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(kNoDevice, CUDA_ERROR_NO_DEVICE);
  EXPECT_EQ(kUnsupportedPtxVersion, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  EXPECT_EQ(kNotReady, CUDA_ERROR_NOT_READY);
  EXPECT_EQ(kMaxThreadsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  EXPECT_EQ(kMaxSharedMemoryPerBlock, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  EXPECT_EQ(kMultiprocessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  EXPECT_EQ(kL2CacheSize, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  EXPECT_EQ(kComputeCapabilityMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  EXPECT_EQ(kComputeCapabilityMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  EXPECT_EQ(kMaxSharedMemoryPerBlockOptin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  EXPECT_EQ(kClusterLaunch, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH);
  EXPECT_EQ(kFuncMaxThreadsPerBlock, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  EXPECT_EQ(kFuncSharedSizeBytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  EXPECT_EQ(kFuncLocalSizeBytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  EXPECT_EQ(kFuncNumRegs, CU_FUNC_ATTRIBUTE_NUM_REGS);
  EXPECT_EQ(kFuncMaxDynamicSharedSizeBytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  EXPECT_EQ(kFuncNonPortableClusterSizeAllowed, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
  EXPECT_EQ(kJitErrorLogBuffer, CU_JIT_ERROR_LOG_BUFFER);
  EXPECT_EQ(kJitErrorLogBufferSizeBytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
  EXPECT_EQ(kStreamNonBlocking, CU_STREAM_NON_BLOCKING);
  EXPECT_EQ(kEventDisableTiming, CU_EVENT_DISABLE_TIMING);
  EXPECT_EQ(kMemoryDevice, static_cast<unsigned>(CU_MEMORYTYPE_DEVICE));
  EXPECT_EQ(kMemHostAllocPortable, static_cast<unsigned>(CU_MEMHOSTALLOC_PORTABLE));
  EXPECT_EQ(kLaunchAttributeClusterDimension, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
  EXPECT_EQ(kLaunchAttributeProgrammaticSerialization, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
  EXPECT_EQ(kTensorU8, CU_TENSOR_MAP_DATA_TYPE_UINT8);
  EXPECT_EQ(kTensorU16, CU_TENSOR_MAP_DATA_TYPE_UINT16);
  EXPECT_EQ(kTensorU32, CU_TENSOR_MAP_DATA_TYPE_UINT32);
  EXPECT_EQ(kTensorU64, CU_TENSOR_MAP_DATA_TYPE_UINT64);
  EXPECT_EQ(kTensorSwizzle128, CU_TENSOR_MAP_SWIZZLE_128B);
  EXPECT_EQ(kTensorPromote128, CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
  EXPECT_EQ(0, CU_TENSOR_MAP_INTERLEAVE_NONE);
  EXPECT_EQ(0, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  EXPECT_EQ(kNvrtcOutOfMemory, NVRTC_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(kNvrtcCompilation, NVRTC_ERROR_COMPILATION);
}

TEST(CudaDeclarations, ResultsHaveTheDriversNames) {
  DriverApi driver;
  driver.cuGetErrorName.function = [](CUresult result, const char** name) {
    *name = result == CUDA_ERROR_ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS" : nullptr;
    return *name ? kSuccess : kInvalidValue;
  };
  EXPECT_EQ(result_name(driver, CUDA_ERROR_ILLEGAL_ADDRESS), "CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_EQ(result_name(driver, 12345), "CUDA error 12345");
}

TEST(CudaDeclarations, ResultsMeanWhatTheHeaderCallsThem) {
  EXPECT_EQ(classify(CUDA_ERROR_OUT_OF_MEMORY), Errc::out_of_memory);
  for (const int lost :
       {CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_LAUNCH_FAILED, CUDA_ERROR_ECC_UNCORRECTABLE, CUDA_ERROR_UNKNOWN,
        CUDA_ERROR_CONTEXT_IS_DESTROYED, CUDA_ERROR_MISALIGNED_ADDRESS, CUDA_ERROR_ILLEGAL_INSTRUCTION,
        CUDA_ERROR_INVALID_ADDRESS_SPACE, CUDA_ERROR_INVALID_PC, CUDA_ERROR_HARDWARE_STACK_ERROR, CUDA_ERROR_ASSERT,
        CUDA_ERROR_LAUNCH_TIMEOUT, CUDA_ERROR_NVLINK_UNCORRECTABLE, CUDA_ERROR_CONTAINED, CUDA_ERROR_DEINITIALIZED,
        CUDA_ERROR_INVALID_CONTEXT, CUDA_ERROR_MPS_CLIENT_TERMINATED, CUDA_ERROR_TENSOR_MEMORY_LEAK}) {
    EXPECT_EQ(classify(lost), Errc::device_lost) << lost;
  }
  for (const int usable : {CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_NOT_FOUND, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
                           CUDA_ERROR_NOT_SUPPORTED, CUDA_ERROR_CAPTURED_EVENT, CUDA_ERROR_INVALID_CLUSTER_SIZE}) {
    EXPECT_EQ(classify(usable), Errc::device) << usable;
  }
}

}  // namespace
}  // namespace axisloom::device::cuda
#endif
