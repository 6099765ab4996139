// The few entry points of the CUDA driver (libcuda.so.1) that the library calls, declared without any CUDA header.
#pragma once

#include "device/cuda/entry_point.hpp"
#include "device/device.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace axisloom::device::cuda {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = std::uint64_t;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;

inline constexpr CUresult kSuccess = 0;
inline constexpr CUresult kInvalidValue = 1;
inline constexpr CUresult kOutOfMemory = 2;
inline constexpr CUresult kNoDevice = 100;
inline constexpr CUresult kUnsupportedPtxVersion = 222;
inline constexpr CUresult kNotReady = 600;

// CUdevice_attribute
inline constexpr int kMaxThreadsPerBlock = 1;
inline constexpr int kMaxSharedMemoryPerBlock = 8;
inline constexpr int kMultiprocessorCount = 16;
inline constexpr int kL2CacheSize = 38;
inline constexpr int kComputeCapabilityMajor = 75;
inline constexpr int kComputeCapabilityMinor = 76;
inline constexpr int kMaxSharedMemoryPerBlockOptin = 97;
inline constexpr int kClusterLaunch = 120;

// CUfunction_attribute
inline constexpr int kFuncMaxThreadsPerBlock = 0;
inline constexpr int kFuncSharedSizeBytes = 1;
inline constexpr int kFuncLocalSizeBytes = 3;
inline constexpr int kFuncNumRegs = 4;
inline constexpr int kFuncMaxDynamicSharedSizeBytes = 8;
inline constexpr int kFuncNonPortableClusterSizeAllowed = 14;

// CUjit_option
inline constexpr int kJitErrorLogBuffer = 5;
inline constexpr int kJitErrorLogBufferSizeBytes = 6;

inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kEventDisableTiming = 2;
inline constexpr unsigned kMemHostAllocPortable = 1;

// CUlaunchAttributeID
inline constexpr int kLaunchAttributeClusterDimension = 4;

struct CUlaunchAttribute {
  int id = 0;
  int pad = 0;
  union {
    char bytes[64] = {};
    struct {
      unsigned x, y, z;
    } cluster;
  };
};

/// What a kernel is handed by value as a tensor map; the driver writes it.
struct alignas(128) CUtensorMap {
  std::uint64_t opaque[16] = {};
};

// CUtensorMapDataType, CUtensorMapSwizzle, CUtensorMapL2promotion
inline constexpr int kTensorU8 = 0;
inline constexpr int kTensorU16 = 1;
inline constexpr int kTensorU32 = 2;
inline constexpr int kTensorU64 = 4;
inline constexpr int kTensorSwizzle128 = 3;
inline constexpr int kTensorPromote128 = 2;

struct CUlaunchConfig {
  unsigned grid_x = 1, grid_y = 1, grid_z = 1;
  unsigned block_x = 1, block_y = 1, block_z = 1;
  unsigned shared_bytes = 0;
  CUstream stream = nullptr;
  CUlaunchAttribute* attributes = nullptr;
  unsigned attribute_count = 0;
};

/// Every entry point used, by its exported name. OPTIONAL ones are null in drivers older than they are:
/// cuLaunchKernelEx needs 11.8; tensor maps need 12.0; looking at a module's functions needs 12.4.
#define AXISLOOM_CUDA_DRIVER(REQUIRED, OPTIONAL)                                                                    \
  REQUIRED(cuInit, (unsigned flags))                                                                                \
  REQUIRED(cuDriverGetVersion, (int* version))                                                                      \
  REQUIRED(cuGetErrorName, (CUresult result, const char** name))                                                    \
  REQUIRED(cuGetErrorString, (CUresult result, const char** text))                                                  \
  REQUIRED(cuDeviceGetCount, (int* count))                                                                          \
  REQUIRED(cuDeviceGet, (CUdevice * device, int ordinal))                                                           \
  REQUIRED(cuDeviceGetName, (char* name, int size, CUdevice device))                                                \
  REQUIRED(cuDeviceTotalMem_v2, (std::size_t * bytes, CUdevice device))                                             \
  REQUIRED(cuDeviceGetAttribute, (int* value, int attribute, CUdevice device))                                      \
  REQUIRED(cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device))                                        \
  REQUIRED(cuDevicePrimaryCtxRelease_v2, (CUdevice device))                                                         \
  REQUIRED(cuCtxPushCurrent_v2, (CUcontext context))                                                                \
  REQUIRED(cuCtxPopCurrent_v2, (CUcontext * context))                                                               \
  REQUIRED(cuCtxGetDevice, (CUdevice * device))                                                                     \
  REQUIRED(cuMemGetInfo_v2, (std::size_t * free, std::size_t * total))                                              \
  REQUIRED(cuMemAlloc_v2, (CUdeviceptr * address, std::size_t bytes))                                               \
  REQUIRED(cuMemFree_v2, (CUdeviceptr address))                                                                     \
  REQUIRED(cuMemHostAlloc, (void** host, std::size_t bytes, unsigned flags))                                        \
  REQUIRED(cuMemFreeHost, (void* host))                                                                             \
  REQUIRED(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream))            \
  REQUIRED(cuMemcpyDtoHAsync_v2, (void* to, CUdeviceptr from, std::size_t bytes, CUstream stream))                  \
  REQUIRED(cuMemcpyAsync, (CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream))                   \
  REQUIRED(cuMemsetD8Async, (CUdeviceptr to, unsigned char value, std::size_t bytes, CUstream stream))              \
  REQUIRED(cuStreamCreate, (CUstream * stream, unsigned flags))                                                     \
  REQUIRED(cuStreamDestroy_v2, (CUstream stream))                                                                   \
  REQUIRED(cuStreamGetCtx, (CUstream stream, CUcontext * context))                                                  \
  REQUIRED(cuStreamSynchronize, (CUstream stream))                                                                  \
  REQUIRED(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags))                                     \
  REQUIRED(cuEventCreate, (CUevent * event, unsigned flags))                                                        \
  REQUIRED(cuEventDestroy_v2, (CUevent event))                                                                      \
  REQUIRED(cuEventRecord, (CUevent event, CUstream stream))                                                         \
  REQUIRED(cuEventQuery, (CUevent event))                                                                           \
  REQUIRED(cuEventSynchronize, (CUevent event))                                                                     \
  REQUIRED(cuEventElapsedTime, (float* milliseconds, CUevent start, CUevent end))                                   \
  REQUIRED(cuModuleLoadDataEx,                                                                                      \
           (CUmodule * module, const void* image, unsigned option_count, int* options, void** values))              \
  REQUIRED(cuModuleUnload, (CUmodule module))                                                                       \
  REQUIRED(cuModuleGetFunction, (CUfunction * function, CUmodule module, const char* name))                         \
  REQUIRED(cuFuncGetAttribute, (int* value, int attribute, CUfunction function))                                    \
  REQUIRED(cuFuncSetAttribute, (CUfunction function, int attribute, int value))                                     \
  REQUIRED(cuLaunchKernel,                                                                                          \
           (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,               \
            unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void** args, void** extra)) \
  OPTIONAL(cuLaunchKernelEx, (const CUlaunchConfig* config, CUfunction function, void** args, void** extra))        \
  OPTIONAL(cuTensorMapEncodeTiled,                                                                                  \
           (CUtensorMap * map, int type, std::uint32_t rank, void* address, const std::uint64_t* extents,           \
            const std::uint64_t* pitches, const std::uint32_t* box, const std::uint32_t* steps, int interleave,     \
            int swizzle, int promotion, int fill))                                                                  \
  OPTIONAL(cuModuleGetFunctionCount, (unsigned* count, CUmodule module))                                            \
  OPTIONAL(cuModuleEnumerateFunctions, (CUfunction * functions, unsigned count, CUmodule module))                   \
  OPTIONAL(cuFuncGetName, (const char** name, CUfunction function))                                                 \
  OPTIONAL(cuFuncLoad, (CUfunction function))                                                                       \
  OPTIONAL(cuFuncGetParamInfo, (CUfunction function, std::size_t index, std::size_t * offset, std::size_t * size))

/// The driver as a table of functions, each of which a test can replace.
struct DriverApi {
#define AXISLOOM_ENTRY(name, parameters) EntryPoint<CUresult parameters> name{#name};
  AXISLOOM_CUDA_DRIVER(AXISLOOM_ENTRY, AXISLOOM_ENTRY)
#undef AXISLOOM_ENTRY
};

/// The driver as it was found on this machine; `api` is null when it was not.
struct DriverLibrary {
  std::shared_ptr<const DriverApi> api;
  RuntimeStatus status;
};
DriverLibrary open_driver();

/// A version as drivers count it: 13000 is 13.0.
struct Version {
  int major = 0;
  int minor = 0;

  static Version of_driver(int number) { return {number / 1000, number % 1000 / 10}; }
  std::string text() const { return std::to_string(major) + "." + std::to_string(minor); }
  auto operator<=>(const Version&) const = default;
};

/// "CUDA_ERROR_ILLEGAL_ADDRESS", by the driver's word or else from the library's own table.
std::string result_name(const DriverApi& api, CUresult result);

/// out_of_memory, device_lost when no later call on the context can succeed, device for the rest.
Errc classify(CUresult result);

/// The error for a driver call that did not succeed. `doing` says what it was for: "launching tile".
Error driver_error(const DriverApi& api, CUresult result, const char* call, std::string_view doing,
                   const std::string& device);

}  // namespace axisloom::device::cuda
