// The few entry points of the CUDA driver (libcuda.so.1) that the library calls, declared without any CUDA header.
#pragma once

#include "core/integers.hpp"
#include "core/text.hpp"
#include "device/device.hpp"
#include "device/entry_point.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace axisloom::device::cuda {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = u64;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;

inline constexpr CUresult kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2, kNoDevice = 100,
                          kUnsupportedPtxVersion = 222, kNotReady = 600;

// CUdevice_attribute
inline constexpr int kMaxThreadsPerBlock = 1, kMaxSharedMemoryPerBlock = 8, kMultiprocessorCount = 16,
                     kL2CacheSize = 38, kComputeCapabilityMajor = 75, kComputeCapabilityMinor = 76,
                     kMaxSharedMemoryPerBlockOptin = 97, kClusterLaunch = 120;

// CUfunction_attribute
inline constexpr int kFuncMaxThreadsPerBlock = 0, kFuncSharedSizeBytes = 1, kFuncLocalSizeBytes = 3, kFuncNumRegs = 4,
                     kFuncMaxDynamicSharedSizeBytes = 8, kFuncNonPortableClusterSizeAllowed = 14;

// CUjit_option
inline constexpr int kJitErrorLogBuffer = 5, kJitErrorLogBufferSizeBytes = 6;

inline constexpr unsigned kStreamNonBlocking = 1, kEventDisableTiming = 2, kMemHostAllocPortable = 1;

// Of streams; the ordinary one is 0. The driver takes what is out of its range for the nearest that is not.
inline constexpr int kGreatestPriority = -100;

// CUlaunchAttributeID
inline constexpr int kLaunchAttributeClusterDimension = 4, kLaunchAttributeProgrammaticSerialization = 6;

struct CUlaunchAttribute {
  int id = 0;
  int pad = 0;
  union {
    char bytes[64] = {};
    struct {
      unsigned x, y, z;
    } cluster;
    int allowed;  // programmatic serialization
  };
};

/// What a kernel is handed by value as a tensor map; the driver writes it.
struct alignas(128) CUtensorMap {
  u64 opaque[16] = {};
};

// CUtensorMapDataType, CUtensorMapSwizzle, CUtensorMapL2promotion
inline constexpr int kTensorU8 = 0, kTensorU16 = 1, kTensorU32 = 2, kTensorU64 = 4, kTensorSwizzle128 = 3,
                     kTensorPromote128 = 2;

struct CUlaunchConfig {
  unsigned grid_x = 1, grid_y = 1, grid_z = 1;
  unsigned block_x = 1, block_y = 1, block_z = 1;
  unsigned shared_bytes = 0;
  CUstream stream = nullptr;
  CUlaunchAttribute* attributes = nullptr;
  unsigned attribute_count = 0;
};

/// One side of cuMemcpy3DAsync: rows of bytes a pitch apart, and slices a number of rows apart.
struct CUmemcpySide {
  size_t x = 0, y = 0, z = 0, lod = 0;
  unsigned type = 0;  // CUmemorytype
  void* host = nullptr;
  CUdeviceptr device = 0;
  void* array = nullptr;
  void* reserved = nullptr;
  size_t pitch = 0, height = 0;
};
struct CUmemcpy3D {
  CUmemcpySide from, to;
  size_t width = 0, height = 0, depth = 0;
};
inline constexpr unsigned kMemoryDevice = 2;  // CUmemorytype

/// By which another process of the host opens memory.
struct CUipcMemHandle {
  char reserved[64] = {};
};
inline constexpr unsigned kIpcLazyEnablePeerAccess = 1;
inline constexpr CUresult kPeerAccessAlreadyEnabled = 704;
inline constexpr int kCaptureNone = 0;  // CUstreamCaptureStatus

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
  REQUIRED(cuDeviceTotalMem_v2, (size_t * bytes, CUdevice device))                                                  \
  REQUIRED(cuDeviceGetAttribute, (int* value, int attribute, CUdevice device))                                      \
  REQUIRED(cuDeviceGetPCIBusId, (char* text, int size, CUdevice device))                                            \
  REQUIRED(cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device))                                        \
  REQUIRED(cuDevicePrimaryCtxRelease_v2, (CUdevice device))                                                         \
  REQUIRED(cuCtxPushCurrent_v2, (CUcontext context))                                                                \
  REQUIRED(cuCtxPopCurrent_v2, (CUcontext * context))                                                               \
  REQUIRED(cuCtxGetDevice, (CUdevice * device))                                                                     \
  REQUIRED(cuCtxEnablePeerAccess, (CUcontext peer, unsigned flags))                                                 \
  REQUIRED(cuMemGetInfo_v2, (size_t * free, size_t * total))                                                        \
  REQUIRED(cuMemAlloc_v2, (CUdeviceptr * address, size_t bytes))                                                    \
  REQUIRED(cuMemFree_v2, (CUdeviceptr address))                                                                     \
  REQUIRED(cuMemHostAlloc, (void** host, size_t bytes, unsigned flags))                                             \
  REQUIRED(cuMemFreeHost, (void* host))                                                                             \
  REQUIRED(cuIpcGetMemHandle, (CUipcMemHandle * handle, CUdeviceptr address))                                       \
  REQUIRED(cuIpcOpenMemHandle_v2, (CUdeviceptr * address, CUipcMemHandle handle, unsigned flags))                   \
  REQUIRED(cuIpcCloseMemHandle, (CUdeviceptr address))                                                              \
  REQUIRED(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void* from, size_t bytes, CUstream stream))                 \
  REQUIRED(cuMemcpyDtoHAsync_v2, (void* to, CUdeviceptr from, size_t bytes, CUstream stream))                       \
  REQUIRED(cuMemcpyAsync, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))                        \
  REQUIRED(cuMemcpy3DAsync_v2, (const CUmemcpy3D* slices, CUstream stream))                                         \
  REQUIRED(cuMemsetD8Async, (CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream))                   \
  REQUIRED(cuStreamCreateWithPriority, (CUstream * stream, unsigned flags, int priority))                           \
  REQUIRED(cuStreamDestroy_v2, (CUstream stream))                                                                   \
  REQUIRED(cuStreamGetCtx, (CUstream stream, CUcontext * context))                                                  \
  REQUIRED(cuStreamIsCapturing, (CUstream stream, int* status))                                                     \
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
           (CUtensorMap * map, int type, u32 rank, void* address, const u64* extents, const u64* pitches,           \
            const u32* box, const u32* steps, int interleave, int swizzle, int promotion, int fill))                \
  OPTIONAL(cuModuleGetFunctionCount, (unsigned* count, CUmodule module))                                            \
  OPTIONAL(cuModuleEnumerateFunctions, (CUfunction * functions, unsigned count, CUmodule module))                   \
  OPTIONAL(cuFuncGetName, (const char** name, CUfunction function))                                                 \
  OPTIONAL(cuFuncLoad, (CUfunction function))                                                                       \
  OPTIONAL(cuFuncGetParamInfo, (CUfunction function, size_t index, size_t * offset, size_t * size))

/// The driver as a table of functions, each of which a test can replace.
struct DriverApi : EntryTable {
#define AXISLOOM_REQUIRED(name, parameters) EntryPoint<CUresult parameters> name{#name, *this};
#define AXISLOOM_OPTIONAL(name, parameters) EntryPoint<CUresult parameters> name{#name, *this, false};
  AXISLOOM_CUDA_DRIVER(AXISLOOM_REQUIRED, AXISLOOM_OPTIONAL)
#undef AXISLOOM_REQUIRED
#undef AXISLOOM_OPTIONAL
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
  std::string text() const { return concat(major, ".", minor); }
  auto operator<=>(const Version&) const = default;
};

/// "CUDA_ERROR_ILLEGAL_ADDRESS", by the driver's word.
std::string result_name(const DriverApi& api, CUresult result);

/// out_of_memory, device_lost when no later call on the context can succeed, device for the rest.
Errc classify(CUresult result);

/// The error for a driver call that did not succeed. `doing` says what it was for: "launching tile".
Error driver_error(const DriverApi& api, CUresult result, const char* call, std::string_view doing,
                   const std::string& device);

}  // namespace axisloom::device::cuda
