// A CUDA driver in host memory for tests: it keeps books of every handle, runs two kernels, and fails on demand.
//
//   fake.fault = {"cuMemAlloc_v2", 2, 2};          // the second call since reset() returns 2 and does nothing
//   fake.fault = {"cuLaunchKernel", 1, 719, true};  // so does each from the first on
//   fake.struck                                    // how many calls failed
//
// Every entry of AXISLOOM_CUDA_DRIVER can fail. What releases something does release it and then says that it failed,
// so that the books stay true.
#pragma once

#include "device/cuda/driver_api.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace axisloom::device::cuda {

/// Text that the fake driver takes for PTX; its kernels are twice(const int* a, int* b, long n): b[i] = 2 * a[i], and
/// mapped(CUtensorMap map, long n), which keeps the map.
inline constexpr char kFakePtx[] = ".version 8.0 .entry twice";

class FakeDriver {
 public:
  struct Fault {
    std::string entry;
    int at = 0;  // the call that fails, from 1; 0 for none
    CUresult code = 0;
    bool lasting = false;  // those behind it fail as well
  };
  struct Launch {
    unsigned groups, items, local_bytes, cluster;
    CUstream stream;
    bool awaits_earlier = false;
  };

  static inline CUcontext const primary = reinterpret_cast<CUcontext>(0x1000);
  static inline CUcontext const foreign = reinterpret_cast<CUcontext>(0x2000);
  static constexpr std::size_t total_memory = std::size_t{1} << 30;

  static FakeDriver& get() {
    static FakeDriver driver;
    return driver;
  }
  /// Forgets everything; what a test allocated must have been freed before.
  void reset() {
    fault = {};
    struck = 0;
    calls.clear();
    waits.clear();
    launches.clear();
    raised.clear();
    reaching.clear();
    capturing = false;
    kernel = {};
    urgent.clear();
    device_count = 1;
    capability = 90;
    clusters = true;
    dynamic_limit_ = 47 * 1024;
    version = 13000;
    init_result = kSuccess;
  }
  std::size_t live() const {
    return memory.size() + opened.size() + pinned.size() + streams.size() + events.size() + modules.size() +
           static_cast<std::size_t>(retained);
  }

  /// Frees what a test could not, because the context refused to become current.
  void drop_leftovers() {
    for (const auto& [address, bytes] : memory) std::free(reinterpret_cast<void*>(address));
    for (void* host : pinned) std::free(host);
    memory.clear();
    opened.clear();
    pinned.clear();
    streams.clear();
    events.clear();
    modules.clear();
  }

  /// The table that the code under test calls: it counts, injects the fault, and hands on to the emulation.
  std::shared_ptr<DriverApi> table();

  Fault fault;
  int struck = 0;
  std::map<std::string, int> calls;
  std::vector<std::pair<CUstream, CUevent>> waits;
  std::vector<Launch> launches;
  CUtensorMap mapped_with;    // address, type, rank, swizzle, extents, pitches, box
  std::map<int, int> raised;  // function attribute -> how often set
  int device_count = 1;
  int capability = 90;
  bool clusters = true;
  int version = 13000;
  CUresult init_result = kSuccess;

  std::map<CUdeviceptr, std::size_t> memory;
  std::multiset<CUdeviceptr> opened;                   // of other processes
  std::set<std::pair<CUcontext, CUcontext>> reaching;  // and the context that it reaches
  bool capturing = false;                              // every stream
  /// A kernel of this name does this, given its groups and arguments, of which the first has so many bytes.
  struct Kernel {
    std::string name;
    std::size_t argument_bytes = 0;
    std::function<void(unsigned, void**)> body;
  };
  Kernel kernel;
  std::set<void*> pinned;
  std::map<CUstream, CUcontext> streams;
  std::set<CUstream> urgent;       // that go before others; those that are gone, too
  std::map<CUevent, bool> events;  // whether recorded
  std::set<CUmodule> modules;
  int retained = 0;
  static inline thread_local std::vector<CUcontext> stack;

 private:
  template <typename Signature>
  struct Injected;

  FakeDriver() {
    emulate_devices();
    emulate_memory();
    emulate_streams();
    emulate_modules();
  }
  void emulate_devices();
  void emulate_memory();
  void emulate_streams();
  void emulate_modules();
  CUresult run(CUfunction function, const Launch& launch, void** args);

  template <typename Handle>
  Handle make() {
    return reinterpret_cast<Handle>(next_ += 16);
  }
  static CUresult current() { return stack.empty() ? 201 : kSuccess; }

  DriverApi emulation_;
  std::recursive_mutex mutex_;
  std::uintptr_t next_ = 0x10000;
  int dynamic_limit_ = 47 * 1024;
};

/// Entries that destructors call, which have nobody to tell of a failure.
inline bool releases(std::string_view entry) {
  constexpr std::string_view all[] = {"cuCtxPopCurrent_v2", "cuDevicePrimaryCtxRelease_v2", "cuMemFree_v2",
                                      "cuMemFreeHost",      "cuStreamDestroy_v2",           "cuEventDestroy_v2",
                                      "cuModuleUnload",     "cuIpcCloseMemHandle"};
  return std::ranges::find(all, entry) != std::end(all);
}

template <typename... A>
struct FakeDriver::Injected<CUresult(A...)> {
  template <auto Entry>
  static CUresult call(A... args) {
    FakeDriver& fake = get();
    const auto& entry = fake.emulation_.*Entry;
    const std::lock_guard lock(fake.mutex_);
    const int number = ++fake.calls[entry.name];
    const FakeDriver::Fault& fault = fake.fault;
    const bool reached = fault.at > 0 && (fault.lasting ? number >= fault.at : number == fault.at);
    if (!reached || fault.entry != entry.name) return entry.function(args...);
    ++fake.struck;
    if (releases(entry.name)) entry.function(args...);
    return fault.code;
  }
};

inline std::shared_ptr<DriverApi> FakeDriver::table() {
  auto api = std::make_shared<DriverApi>();
#define AXISLOOM_INJECT(name, parameters) \
  api->name.function = &Injected<CUresult parameters>::template call<&DriverApi::name>;
  AXISLOOM_CUDA_DRIVER(AXISLOOM_INJECT, AXISLOOM_INJECT)
#undef AXISLOOM_INJECT
  return api;
}

inline void FakeDriver::emulate_devices() {
  DriverApi& e = emulation_;
  e.cuInit.function = [](unsigned) { return get().init_result; };
  e.cuDriverGetVersion.function = [](int* version) { return *version = get().version, kSuccess; };
  e.cuGetErrorName.function = [](CUresult result, const char** name) {
    *name = result == kNoDevice ? "CUDA_ERROR_NO_DEVICE" : result == 719 ? "CUDA_ERROR_LAUNCH_FAILED" : nullptr;
    return *name ? kSuccess : kInvalidValue;
  };
  e.cuGetErrorString.function = [](CUresult, const char** text) { return *text = "injected", kSuccess; };
  e.cuDeviceGetCount.function = [](int* count) { return *count = get().device_count, kSuccess; };
  e.cuDeviceGet.function = [](CUdevice* device, int ordinal) { return *device = ordinal, kSuccess; };
  e.cuDeviceGetName.function = [](char* name, int size, CUdevice) {
    std::strncpy(name, "Fake card", static_cast<std::size_t>(size));
    return kSuccess;
  };
  e.cuDeviceTotalMem_v2.function = [](std::size_t* bytes, CUdevice) { return *bytes = total_memory, kSuccess; };
  e.cuDeviceGetAttribute.function = [](int* value, int attribute, CUdevice) {
    const std::map<int, int> values = {{kMaxThreadsPerBlock, 1024},
                                       {kMaxSharedMemoryPerBlock, 48 * 1024},
                                       {kMultiprocessorCount, 132},
                                       {kL2CacheSize, 50 << 20},
                                       {kComputeCapabilityMajor, get().capability / 10},
                                       {kComputeCapabilityMinor, get().capability % 10},
                                       {kMaxSharedMemoryPerBlockOptin, 227 * 1024},
                                       {kClusterLaunch, get().clusters}};
    const auto found = values.find(attribute);
    if (found == values.end()) return kInvalidValue;
    *value = found->second;
    return kSuccess;
  };
  e.cuDeviceGetPCIBusId.function = [](char* text, int size, CUdevice device) {
    std::snprintf(text, static_cast<std::size_t>(size), "0000:%02x:00.0", static_cast<unsigned>(device) & 0xff);
    return kSuccess;
  };
  e.cuDevicePrimaryCtxRetain.function = [](CUcontext* context, CUdevice device) {
    *context = reinterpret_cast<CUcontext>(reinterpret_cast<char*>(primary) + device);
    ++get().retained;
    return kSuccess;
  };
  e.cuDevicePrimaryCtxRelease_v2.function = [](CUdevice) { return --get().retained, kSuccess; };
  e.cuCtxPushCurrent_v2.function = [](CUcontext context) { return stack.push_back(context), kSuccess; };
  e.cuCtxPopCurrent_v2.function = [](CUcontext* context) {
    if (stack.empty()) return 201;
    *context = stack.back();
    stack.pop_back();
    return kSuccess;
  };
  e.cuCtxEnablePeerAccess.function = [](CUcontext peer, unsigned) {
    if (current() != kSuccess || peer == stack.back()) return kInvalidValue;
    return get().reaching.emplace(stack.back(), peer).second ? kSuccess : kPeerAccessAlreadyEnabled;
  };
  e.cuCtxGetDevice.function = [](CUdevice* device) { return *device = 0, current(); };
}

inline void FakeDriver::emulate_memory() {
  DriverApi& e = emulation_;
  e.cuMemGetInfo_v2.function = [](std::size_t* free, std::size_t* total) {
    *free = *total = total_memory;
    for (const auto& [address, bytes] : get().memory) *free -= bytes;
    return current();
  };
  e.cuMemAlloc_v2.function = [](CUdeviceptr* address, std::size_t bytes) {
    if (bytes == 0) return kInvalidValue;
    std::size_t used = 0;
    for (const auto& [at, size] : get().memory) used += size;
    if (bytes > total_memory - used) return kOutOfMemory;
    if (current() != kSuccess) return current();
    *address = reinterpret_cast<CUdeviceptr>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
    get().memory[*address] = bytes;
    return kSuccess;
  };
  e.cuMemFree_v2.function = [](CUdeviceptr address) {
    if (current() != kSuccess || get().memory.erase(address) == 0) return kInvalidValue;
    std::free(reinterpret_cast<void*>(address));
    return kSuccess;
  };
  e.cuIpcGetMemHandle.function = [](CUipcMemHandle* handle, CUdeviceptr address) {
    if (current() != kSuccess || !get().memory.contains(address)) return kInvalidValue;
    std::memcpy(handle->reserved, &address, sizeof address);
    return kSuccess;
  };
  e.cuIpcOpenMemHandle_v2.function = [](CUdeviceptr* address, CUipcMemHandle handle, unsigned flags) {
    if (current() != kSuccess || flags != kIpcLazyEnablePeerAccess) return kInvalidValue;
    std::memcpy(address, handle.reserved, sizeof *address);
    get().opened.insert(*address);
    return kSuccess;
  };
  e.cuIpcCloseMemHandle.function = [](CUdeviceptr address) {
    const auto found = get().opened.find(address);
    if (current() != kSuccess || found == get().opened.end()) return kInvalidValue;
    get().opened.erase(found);
    return kSuccess;
  };
  e.cuMemHostAlloc.function = [](void** host, std::size_t bytes, unsigned) {
    if (current() != kSuccess) return current();
    get().pinned.insert(*host = std::malloc(bytes));
    return kSuccess;
  };
  e.cuMemFreeHost.function = [](void* host) {
    if (current() != kSuccess || get().pinned.erase(host) == 0) return kInvalidValue;
    std::free(host);
    return kSuccess;
  };
  e.cuMemcpyHtoDAsync_v2.function = [](CUdeviceptr to, const void* from, std::size_t bytes, CUstream) {
    return std::memcpy(reinterpret_cast<void*>(to), from, bytes), current();
  };
  e.cuMemcpyDtoHAsync_v2.function = [](void* to, CUdeviceptr from, std::size_t bytes, CUstream) {
    return std::memcpy(to, reinterpret_cast<const void*>(from), bytes), current();
  };
  e.cuMemcpyAsync.function = [](CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream) {
    return std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes), current();
  };
  e.cuMemcpy3DAsync_v2.function = [](const CUmemcpy3D* slices, CUstream) {
    for (const CUmemcpySide& side : {slices->from, slices->to})
      if (side.type != kMemoryDevice || side.pitch < slices->width || side.height < slices->height)
        return kInvalidValue;
    const auto row_of = [](const CUmemcpySide& side, std::size_t slice, std::size_t row) {
      return reinterpret_cast<void*>(side.device + (slice * side.height + row) * side.pitch);
    };
    for (std::size_t slice = 0; slice < slices->depth; ++slice)
      for (std::size_t row = 0; row < slices->height; ++row)
        std::memcpy(row_of(slices->to, slice, row), row_of(slices->from, slice, row), slices->width);
    return current();
  };
  e.cuMemsetD8Async.function = [](CUdeviceptr to, unsigned char value, std::size_t bytes, CUstream) {
    return std::memset(reinterpret_cast<void*>(to), value, bytes), current();
  };
}

inline void FakeDriver::emulate_streams() {
  DriverApi& e = emulation_;
  e.cuStreamCreateWithPriority.function = [](CUstream* stream, unsigned flags, int priority) {
    if (flags != kStreamNonBlocking || current() != kSuccess) return kInvalidValue;
    get().streams[*stream = get().make<CUstream>()] = stack.back();
    if (priority < 0) get().urgent.insert(*stream);
    return kSuccess;
  };
  e.cuStreamDestroy_v2.function = [](CUstream stream) {
    return get().streams.erase(stream) == 1 ? current() : kInvalidValue;
  };
  e.cuStreamGetCtx.function = [](CUstream stream, CUcontext* context) {
    return *context = get().streams.at(stream), current();
  };
  e.cuStreamIsCapturing.function = [](CUstream, int* status) { return *status = get().capturing, current(); };
  e.cuStreamSynchronize.function = [](CUstream) { return current(); };
  e.cuStreamWaitEvent.function = [](CUstream stream, CUevent event, unsigned) {
    return get().waits.emplace_back(stream, event), current();
  };
  e.cuEventCreate.function = [](CUevent* event, unsigned) {
    return get().events[*event = get().make<CUevent>()] = false, current();
  };
  e.cuEventDestroy_v2.function = [](CUevent event) {
    return get().events.erase(event) == 1 ? current() : kInvalidValue;
  };
  e.cuEventRecord.function = [](CUevent event, CUstream) { return get().events.at(event) = true, current(); };
  e.cuEventQuery.function = [](CUevent event) { return get().events.at(event) ? current() : kNotReady; };
  e.cuEventSynchronize.function = [](CUevent event) { return get().events.at(event) ? current() : kInvalidValue; };
  e.cuEventElapsedTime.function = [](float* milliseconds, CUevent start, CUevent end) {
    *milliseconds = 2.5F;
    return start != end && get().events.at(start) && get().events.at(end) ? current() : kInvalidValue;
  };
}

inline void FakeDriver::emulate_modules() {
  DriverApi& e = emulation_;
  static CUfunction const twice = reinterpret_cast<CUfunction>(0x7000);
  static CUfunction const mapped = reinterpret_cast<CUfunction>(0x8000);
  static CUfunction const given = reinterpret_cast<CUfunction>(0x9000);
  e.cuModuleLoadDataEx.function = [](CUmodule* module, const void* image, unsigned, int* options, void** values) {
    const char* text = static_cast<const char*>(image);
    if (std::memcmp(text,
                    "\x7f"
                    "ELF",
                    4) != 0 &&
        std::string(text).find("twice") == std::string::npos) {
      if (options[0] == kJitErrorLogBuffer) std::strcpy(static_cast<char*>(values[0]), "ptxas says no");
      return 218;
    }
    get().modules.insert(*module = get().make<CUmodule>());
    return current();
  };
  e.cuModuleUnload.function = [](CUmodule module) {
    return get().modules.erase(module) == 1 ? current() : kInvalidValue;
  };
  e.cuModuleGetFunction.function = [](CUfunction* function, CUmodule, const char* name) {
    const std::map<std::string, CUfunction> known = {{"twice", twice}, {"mapped", mapped}, {get().kernel.name, given}};
    const auto found = known.find(name);
    if (found == known.end()) return 500;
    *function = found->second;
    return current();
  };
  e.cuModuleGetFunctionCount.function = [](unsigned* count, CUmodule) { return *count = 1, current(); };
  e.cuModuleEnumerateFunctions.function = [](CUfunction* functions, unsigned, CUmodule) {
    return functions[0] = twice, current();
  };
  e.cuFuncGetName.function = [](const char** name, CUfunction) { return *name = "twice", current(); };
  e.cuFuncLoad.function = [](CUfunction) { return current(); };
  e.cuFuncGetParamInfo.function = [](CUfunction function, std::size_t index, std::size_t* offset, std::size_t* size) {
    if (index >= (function == given ? 1 : function == mapped ? 2 : 3)) return kInvalidValue;
    if (function == given) return *offset = 0, *size = get().kernel.argument_bytes, kSuccess;
    const std::size_t first = function == mapped ? sizeof(CUtensorMap) : 8;
    *offset = index == 0 ? 0 : first + 8 * (index - 1);
    *size = index == 0 ? first : 8;
    return current();
  };
  e.cuTensorMapEncodeTiled.function = [](CUtensorMap* map, int type, std::uint32_t rank, void* address,
                                         const std::uint64_t* extents, const std::uint64_t* pitches,
                                         const std::uint32_t* box, const std::uint32_t* steps, int interleave,
                                         int swizzle, int, int fill) {
    const auto at = reinterpret_cast<std::uint64_t>(address);
    if (at % 16 != 0 || pitches[0] % 16 != 0 || pitches[1] % 16 != 0 || rank != 3 ||
        steps[0] * steps[1] * steps[2] != 1)
      return kInvalidValue;
    if (interleave != 0 || fill != 0) return kInvalidValue;
    *map = {{at, static_cast<std::uint64_t>(type), rank, static_cast<std::uint64_t>(swizzle), extents[0], extents[1],
             extents[2], pitches[0], pitches[1], box[0], box[1], box[2]}};
    return kSuccess;  // needs no current context
  };
  e.cuFuncGetAttribute.function = [](int* value, int attribute, CUfunction) {
    const std::map<int, int> values = {
        {kFuncMaxThreadsPerBlock, 1024}, {kFuncSharedSizeBytes, 1024}, {kFuncLocalSizeBytes, 0}, {kFuncNumRegs, 16}};
    return *value = values.at(attribute), current();
  };
  e.cuFuncSetAttribute.function = [](CUfunction, int attribute, int value) {
    ++get().raised[attribute];
    if (attribute == kFuncMaxDynamicSharedSizeBytes) get().dynamic_limit_ = value;
    return value + 1024 > 227 * 1024 ? kInvalidValue : current();
  };
  e.cuLaunchKernel.function = [](CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                 unsigned block_x, unsigned block_y, unsigned block_z, unsigned local_bytes,
                                 CUstream stream, void** args, void**) {
    if (grid_y * grid_z * block_y * block_z != 1) return kInvalidValue;
    return get().run(function, {grid_x, block_x, local_bytes, 1, stream}, args);
  };
  e.cuLaunchKernelEx.function = [](const CUlaunchConfig* config, CUfunction function, void** args, void**) {
    unsigned cluster = 1;
    bool awaits_earlier = false;
    for (const CUlaunchAttribute& one : std::span(config->attributes, config->attribute_count))
      if (one.id == kLaunchAttributeClusterDimension)
        cluster = one.cluster.x;
      else if (one.id == kLaunchAttributeProgrammaticSerialization)
        awaits_earlier = one.allowed == 1;
      else
        return kInvalidValue;
    if (config->grid_y * config->grid_z * config->block_y * config->block_z != 1) return kInvalidValue;
    return get().run(function,
                     {config->grid_x, config->block_x, config->shared_bytes, cluster, config->stream, awaits_earlier},
                     args);
  };
}

inline CUresult FakeDriver::run(CUfunction function, const Launch& launch, void** args) {
  if (current() != kSuccess) return current();
  if (launch.groups == 0 || launch.local_bytes > static_cast<unsigned>(dynamic_limit_)) return kInvalidValue;
  launches.push_back(launch);
  if (function == reinterpret_cast<CUfunction>(0x9000)) {
    mutex_.unlock();  // it may wait for what other threads launch
    kernel.body(launch.groups, args);
    mutex_.lock();
    return kSuccess;
  }
  if (function == reinterpret_cast<CUfunction>(0x8000)) {
    mapped_with = *static_cast<CUtensorMap*>(args[0]);
    return kSuccess;
  }
  const auto* a = reinterpret_cast<const int*>(*static_cast<CUdeviceptr*>(args[0]));
  auto* b = reinterpret_cast<int*>(*static_cast<CUdeviceptr*>(args[1]));
  const long n = *static_cast<long*>(args[2]);
  for (long i = 0; i < n && i < static_cast<long>(launch.groups) * launch.items; ++i)
    b[i] = static_cast<int>(2U * static_cast<unsigned>(a[i]));
  return kSuccess;
}

}  // namespace axisloom::device::cuda
