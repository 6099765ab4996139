// Opens the CUDA driver at run time, and turns its result codes into errors.
#include "device/cuda/driver_api.hpp"

#include "device/dynamic_library.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace axisloom::device::cuda {

namespace {

constexpr const char* kDriverRemedy =
    "install the NVIDIA driver (Debian: nvidia-driver, Ubuntu: ubuntu-drivers install); start a container with the "
    "NVIDIA "
    "container toolkit (docker run --gpus all)";

struct Result {
  CUresult code;
  const char* name;
  Errc errc = Errc::device;
};

constexpr Errc lost = Errc::device_lost;

// The codes that end a context, or that a user is likely to meet; others are named by the driver alone.
constexpr Result kResults[] = {
    {1, "CUDA_ERROR_INVALID_VALUE"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", Errc::out_of_memory},
    {3, "CUDA_ERROR_NOT_INITIALIZED"},
    {4, "CUDA_ERROR_DEINITIALIZED", lost},
    {34, "CUDA_ERROR_STUB_LIBRARY"},
    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
    {100, "CUDA_ERROR_NO_DEVICE"},
    {101, "CUDA_ERROR_INVALID_DEVICE"},
    {200, "CUDA_ERROR_INVALID_IMAGE"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", lost},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
    {214, "CUDA_ERROR_ECC_UNCORRECTABLE", lost},
    {218, "CUDA_ERROR_INVALID_PTX"},
    {220, "CUDA_ERROR_NVLINK_UNCORRECTABLE", lost},
    {221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND"},
    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
    {226, "CUDA_ERROR_CONTAINED", lost},
    {400, "CUDA_ERROR_INVALID_HANDLE"},
    {500, "CUDA_ERROR_NOT_FOUND"},
    {600, "CUDA_ERROR_NOT_READY"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", lost},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
    {702, "CUDA_ERROR_LAUNCH_TIMEOUT", lost},
    {709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", lost},
    {710, "CUDA_ERROR_ASSERT", lost},
    {714, "CUDA_ERROR_HARDWARE_STACK_ERROR", lost},
    {715, "CUDA_ERROR_ILLEGAL_INSTRUCTION", lost},
    {716, "CUDA_ERROR_MISALIGNED_ADDRESS", lost},
    {717, "CUDA_ERROR_INVALID_ADDRESS_SPACE", lost},
    {718, "CUDA_ERROR_INVALID_PC", lost},
    {719, "CUDA_ERROR_LAUNCH_FAILED", lost},
    {721, "CUDA_ERROR_TENSOR_MEMORY_LEAK", lost},
    {801, "CUDA_ERROR_NOT_SUPPORTED"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
    {810, "CUDA_ERROR_MPS_CLIENT_TERMINATED", lost},
    {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
    {901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"},
    {907, "CUDA_ERROR_CAPTURED_EVENT"},
    {912, "CUDA_ERROR_INVALID_CLUSTER_SIZE"},
    {999, "CUDA_ERROR_UNKNOWN", lost},
};

const Result* known(CUresult result) {
  const auto found = std::ranges::find(kResults, result, &Result::code);
  return found == std::end(kResults) ? nullptr : found;
}

std::string remedy_for(CUresult result) {
  switch (classify(result)) {
    case Errc::out_of_memory:
      return "free memory on the device, or work on smaller arrays";
    case Errc::device_lost:
      return "restart the process: a lost CUDA context cannot be used again";
    default:
      if (result == kUnsupportedPtxVersion)
        return "install an NVRTC that is not newer than the driver, or a newer driver";
      return {};
  }
}

/// The kernel module's version, which the driver's API does not tell.
std::string kernel_module_version() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

DriverLibrary open_driver() {
  const std::string names[] = {"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1"};
  const DynamicLibrary library(names);
  DriverLibrary found;
  RuntimeStatus& status = found.status;
  status.name = "CUDA driver";
  status.tried = library.tried();
  status.library = library.path();
  if (std::string module = kernel_module_version(); !module.empty())
    status.facts.emplace_back("kernel module", std::move(module));
  if (!library) {
    status.remedy = kDriverRemedy;
    return found;
  }
  auto api = std::make_shared<DriverApi>();
  std::vector<std::string> missing;
#define AXISLOOM_REQUIRE(name, parameters) library.require(#name, api->name.function, missing);
#define AXISLOOM_FIND(name, parameters) library.find(#name, api->name.function);
  AXISLOOM_CUDA_DRIVER(AXISLOOM_REQUIRE, AXISLOOM_FIND)
#undef AXISLOOM_REQUIRE
#undef AXISLOOM_FIND
  if (!missing.empty()) {
    status.facts.emplace_back("missing functions", joined(missing, ", "));
    status.remedy = "install a newer NVIDIA driver: this one lacks functions that are needed";
    return found;
  }
  status.found = true;
  found.api = std::move(api);
  return found;
}

std::string result_name(const DriverApi& api, CUresult result) {
  const char* name = nullptr;
  if (api.cuGetErrorName && api.cuGetErrorName(result, &name) == kSuccess && name) return name;
  if (const Result* entry = known(result)) return entry->name;
  return concat("CUDA error ", result);
}

Errc classify(CUresult result) {
  const Result* entry = known(result);
  return entry ? entry->errc : Errc::device;
}

Error driver_error(const DriverApi& api, CUresult result, const char* call, std::string_view doing,
                   const std::string& device) {
  std::string message(doing);
  message += (doing.empty() ? "" : ": ") + result_name(api, result);
  const char* text = nullptr;
  if (api.cuGetErrorString && api.cuGetErrorString(result, &text) == kSuccess && text)
    message += concat(" (", text, ")");
  return Error(
      classify(result),
      {.message = std::move(message), .device = device, .call = call, .native = result, .remedy = remedy_for(result)});
}

}  // namespace axisloom::device::cuda
