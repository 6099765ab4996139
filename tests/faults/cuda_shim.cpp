// A libcuda.so.1 that plays a card without one: the emulated driver of the unit tests, whose calls fail on order.
// Kernels run nothing, and memory begins as zeros: so what is computed from zeros is right.
//
// AXISLOOM_SHIM_CAPABILITY   of the card, 90 for 9.0
// AXISLOOM_SHIM_FULL         set: the card has no memory left
#include "emulated_image.hpp"
#include "export.hpp"
#include "preload/injection.hpp"

#include "../unit/cuda_support.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace axisloom;  // the lists of entry points name its integers

using namespace axisloom::device::cuda;
using axisloom::faults::EmulatedKernel;

constexpr CUresult kNotFound = 500;

std::mutex mutex;
std::map<CUmodule, std::deque<EmulatedKernel>> modules;  // a kernel's address is its handle

const DriverApi& emulation();

CUresult current() {
  CUdevice device = 0;
  return emulation().cuCtxGetDevice(&device);
}

const EmulatedKernel& kernel_of(CUfunction function) {
  return *reinterpret_cast<const EmulatedKernel*>(function);
}
CUfunction handle_of(const EmulatedKernel& kernel) {
  return reinterpret_cast<CUfunction>(const_cast<EmulatedKernel*>(&kernel));
}

CUresult load_module(CUmodule* module, const void* image, unsigned count, int* options, void** values) {
  const CUresult result = emulation().cuModuleLoadDataEx(module, image, count, options, values);
  if (result != kSuccess) return result;
  const std::lock_guard lock(mutex);
  const auto kernels = axisloom::faults::kernels_of(static_cast<const char*>(image));
  modules[*module].assign(kernels.begin(), kernels.end());
  return kSuccess;
}

CUresult unload_module(CUmodule module) {
  const std::lock_guard lock(mutex);
  modules.erase(module);
  return emulation().cuModuleUnload(module);
}

CUresult find_function(CUfunction* function, CUmodule module, const char* name) {
  const std::lock_guard lock(mutex);
  for (const EmulatedKernel& kernel : modules.at(module)) {
    if (kernel.first != name) continue;
    *function = handle_of(kernel);
    return current();
  }
  return kNotFound;
}

CUresult count_functions(unsigned* count, CUmodule module) {
  const std::lock_guard lock(mutex);
  *count = static_cast<unsigned>(modules.at(module).size());
  return current();
}

CUresult list_functions(CUfunction* functions, unsigned count, CUmodule module) {
  const std::lock_guard lock(mutex);
  const auto& kernels = modules.at(module);
  std::transform(kernels.begin(), kernels.begin() + std::min<long>(count, static_cast<long>(kernels.size())), functions,
                 handle_of);
  return current();
}

CUresult name_function(const char** name, CUfunction function) {
  *name = kernel_of(function).first.c_str();
  return current();
}

CUresult argument_of(CUfunction function, std::size_t index, std::size_t* offset, std::size_t* size) {
  const std::vector<std::size_t>& sizes = kernel_of(function).second;
  if (index >= sizes.size()) return kInvalidValue;
  *offset = 0;
  *size = sizes[index];
  return current();
}

/// Clears the memory that an address or a tensor map points to.
void clear_behind(const void* argument) {
  CUdeviceptr address = 0;
  std::memcpy(&address, argument, sizeof address);
  for (const auto& [begin, bytes] : FakeDriver::get().memory) {
    if (begin <= address && address < begin + bytes) std::memset(reinterpret_cast<void*>(begin), 0, bytes);
  }
}

/// Does what every kernel does to zeros. Reads all of the arguments, so that one that is too short is noticed.
CUresult launch(CUfunction function, CUstream stream, void** arguments) {
  const std::vector<std::size_t>& sizes = kernel_of(function).second;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::vector<char> value(static_cast<char*>(arguments[i]), static_cast<char*>(arguments[i]) + sizes[i]);
    if (sizes[i] >= sizeof(CUdeviceptr)) clear_behind(value.data());
  }
  CUcontext context = nullptr;
  return stream ? emulation().cuStreamGetCtx(stream, &context) : kSuccess;  // null: the context's default stream
}

CUresult launch_kernel(CUfunction function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                       CUstream stream, void** arguments, void**) {
  return launch(function, stream, arguments);
}
CUresult launch_kernel_ex(const CUlaunchConfig* config, CUfunction function, void** arguments, void**) {
  return launch(function, config->stream, arguments);
}

CUresult allocate(CUdeviceptr* address, std::size_t bytes) {
  static const bool full = std::getenv("AXISLOOM_SHIM_FULL") != nullptr;
  return full ? kOutOfMemory : emulation().cuMemAlloc_v2(address, bytes);
}

const DriverApi& emulation() {
  static const std::shared_ptr<DriverApi> api = [] {
    if (const char* capability = std::getenv("AXISLOOM_SHIM_CAPABILITY"))
      FakeDriver::get().capability = std::atoi(capability);
    return FakeDriver::get().table();
  }();
  return *api;
}

/// The emulation, with kernels of any name.
const DriverApi& driver() {
  static const DriverApi& api = *[] {
    auto* const made = new DriverApi(emulation());
    made->cuModuleLoadDataEx.function = load_module;
    made->cuModuleUnload.function = unload_module;
    made->cuModuleGetFunction.function = find_function;
    made->cuModuleGetFunctionCount.function = count_functions;
    made->cuModuleEnumerateFunctions.function = list_functions;
    made->cuFuncGetName.function = name_function;
    made->cuFuncGetParamInfo.function = argument_of;
    made->cuLaunchKernel.function = launch_kernel;
    made->cuLaunchKernelEx.function = launch_kernel_ex;
    made->cuMemAlloc_v2.function = allocate;
    return made;
  }();
  return api;
}

/// A release that fails has released all the same, so that the books stay true.
bool releases(std::string_view name) {
  constexpr std::string_view words[] = {"Free", "Destroy", "Release", "Unload", "Close", "PopCurrent"};
  return std::ranges::any_of(words, [=](std::string_view word) { return name.find(word) != std::string_view::npos; });
}

template <auto Entry, typename Signature>
struct Forward;
template <auto Entry, typename... Args>
struct Forward<Entry, CUresult(Args...)> {
  static CUresult run(Args... args) {
    const auto& entry = driver().*Entry;
    int code = 0;
    const bool strikes = axisloom_fault_strikes(entry.name, __builtin_return_address(0), &code) != 0;
    if (strikes && !releases(entry.name)) return code;
    const CUresult answer = entry.function(args...);
    return strikes ? code : answer;
  }
};

}  // namespace

#define AXISLOOM_SHIM(name, parameters) AXISLOOM_EXPORT(name, (&Forward<&DriverApi::name, CUresult parameters>::run))
AXISLOOM_CUDA_DRIVER(AXISLOOM_SHIM, AXISLOOM_SHIM)

/// How many objects the program holds: zero when it has released everything.
extern "C" __attribute__((visibility("default"))) std::size_t axisloom_shim_held() {
  return FakeDriver::get().live();
}
