// The few entry points of NCCL (libnccl.so.2) that the library calls, declared without its header.
#pragma once

#include <axisloom/nccl.hpp>

#include "device/entry_point.hpp"

#include <cstddef>
#include <memory>
#include <string>

namespace axisloom::distributed {

// ncclResult_t, and the ncclDataType_t of bytes
inline constexpr int kNcclSuccess = 0, kNcclInProgress = 7, kNcclInt8 = 0;

/// Every entry point used, by its exported name; ncclSend and ncclRecv came last, with 2.7. OPTIONAL ones are null in
/// libraries older than they are: ncclGetLastError needs 2.13.
#define AXISLOOM_NCCL(REQUIRED, OPTIONAL)                                                                      \
  REQUIRED(ncclGetVersion, int, (int* version))                                                                \
  REQUIRED(ncclGetErrorString, const char*, (int result))                                                      \
  OPTIONAL(ncclGetLastError, const char*, (ncclComm_t comm))                                                   \
  REQUIRED(ncclCommCount, int, (ncclComm_t comm, int* count))                                                  \
  REQUIRED(ncclCommUserRank, int, (ncclComm_t comm, int* rank))                                                \
  REQUIRED(ncclCommCuDevice, int, (ncclComm_t comm, int* device))                                              \
  REQUIRED(ncclCommGetAsyncError, int, (ncclComm_t comm, int* error))                                          \
  REQUIRED(ncclCommAbort, int, (ncclComm_t comm))                                                              \
  REQUIRED(ncclGroupStart, int, ())                                                                            \
  REQUIRED(ncclGroupEnd, int, ())                                                                              \
  REQUIRED(ncclSend, int, (const void* from, size_t count, int type, int peer, ncclComm_t comm, void* stream)) \
  REQUIRED(ncclRecv, int, (void* to, size_t count, int type, int peer, ncclComm_t comm, void* stream))         \
  REQUIRED(ncclAllGather, int,                                                                                 \
           (const void* from, void* to, size_t count_of_each, int type, ncclComm_t comm, void* stream))

/// NCCL as a table of functions.
struct NcclApi : device::EntryTable {
#define AXISLOOM_REQUIRED(name, result, parameters) device::EntryPoint<result parameters> name{#name, *this};
#define AXISLOOM_OPTIONAL(name, result, parameters) device::EntryPoint<result parameters> name{#name, *this, false};
  AXISLOOM_NCCL(AXISLOOM_REQUIRED, AXISLOOM_OPTIONAL)
#undef AXISLOOM_REQUIRED
#undef AXISLOOM_OPTIONAL
};

/// A version as NCCL counts it: 22809 is 2.28.9, and before 2.9 2708 is 2.7.8.
std::string nccl_version_text(int number);

/// The library of that name, or where it is empty the one that the program has or the loader finds. Throws
/// Error(unsupported), which says what is missing.
std::shared_ptr<const NcclApi> open_nccl(const std::string& file);

}  // namespace axisloom::distributed
