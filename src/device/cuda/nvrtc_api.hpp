// The few entry points of NVRTC, the run-time compiler of CUDA, declared without any CUDA header.
#pragma once

#include "device/entry_point.hpp"

#include <cstddef>

namespace axisloom::device::cuda {

using nvrtcResult = int;
using nvrtcProgram = struct nvrtcProgram_st*;

inline constexpr nvrtcResult kNvrtcSuccess = 0, kNvrtcOutOfMemory = 1, kNvrtcCompilation = 6;

/// Every entry point used, by its exported name; all are there since NVRTC 11.2.
#define AXISLOOM_NVRTC(X)                                                                                \
  X(nvrtcVersion, (int* major, int* minor))                                                              \
  X(nvrtcGetNumSupportedArchs, (int* count))                                                             \
  X(nvrtcGetSupportedArchs, (int* architectures))                                                        \
  X(nvrtcCreateProgram, (nvrtcProgram * program, const char* source, const char* name, int header_count, \
                         const char* const* headers, const char* const* include_names))                  \
  X(nvrtcDestroyProgram, (nvrtcProgram * program))                                                       \
  X(nvrtcCompileProgram, (nvrtcProgram program, int option_count, const char* const* options))           \
  X(nvrtcGetProgramLogSize, (nvrtcProgram program, size_t * size))                                       \
  X(nvrtcGetProgramLog, (nvrtcProgram program, char* log))                                               \
  X(nvrtcGetCUBINSize, (nvrtcProgram program, size_t * size))                                            \
  X(nvrtcGetCUBIN, (nvrtcProgram program, char* cubin))                                                  \
  X(nvrtcGetPTXSize, (nvrtcProgram program, size_t * size))                                              \
  X(nvrtcGetPTX, (nvrtcProgram program, char* ptx))

/// NVRTC as a table of functions, each of which a test can replace.
struct NvrtcApi : EntryTable {
#define AXISLOOM_ENTRY(name, parameters) EntryPoint<nvrtcResult parameters> name{#name, *this};
  AXISLOOM_NVRTC(AXISLOOM_ENTRY)
#undef AXISLOOM_ENTRY
};

}  // namespace axisloom::device::cuda
