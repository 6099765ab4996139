// Opens the CUDA driver at run time, and turns its result codes into errors.
#include "device/cuda/driver_api.hpp"

#include <algorithm>
#include <fstream>

namespace axisloom::device::cuda {

namespace {

constexpr const char* kDriverRemedy =
    "install the NVIDIA driver (Debian: nvidia-driver, Ubuntu: ubuntu-drivers install); start a container with the "
    "NVIDIA "
    "container toolkit (docker run --gpus all)";

// The codes after which no later call on the context can succeed.
constexpr CUresult kLost[] = {
    4,    // CUDA_ERROR_DEINITIALIZED
    201,  // CUDA_ERROR_INVALID_CONTEXT
    214,  // CUDA_ERROR_ECC_UNCORRECTABLE
    220,  // CUDA_ERROR_NVLINK_UNCORRECTABLE
    226,  // CUDA_ERROR_CONTAINED
    700,  // CUDA_ERROR_ILLEGAL_ADDRESS
    702,  // CUDA_ERROR_LAUNCH_TIMEOUT
    709,  // CUDA_ERROR_CONTEXT_IS_DESTROYED
    710,  // CUDA_ERROR_ASSERT
    714,  // CUDA_ERROR_HARDWARE_STACK_ERROR
    715,  // CUDA_ERROR_ILLEGAL_INSTRUCTION
    716,  // CUDA_ERROR_MISALIGNED_ADDRESS
    717,  // CUDA_ERROR_INVALID_ADDRESS_SPACE
    718,  // CUDA_ERROR_INVALID_PC
    719,  // CUDA_ERROR_LAUNCH_FAILED
    721,  // CUDA_ERROR_TENSOR_MEMORY_LEAK
    810,  // CUDA_ERROR_MPS_CLIENT_TERMINATED
    999,  // CUDA_ERROR_UNKNOWN
};

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
  auto api = std::make_shared<const DriverApi>(DriverApi{{DynamicLibrary(names)}});
  RuntimeStatus status{.name = "CUDA driver",
                       .found = api->missing.empty(),
                       .library = api->library.path(),
                       .tried = api->library.tried()};
  if (std::string module = kernel_module_version(); !module.empty())
    status.facts.emplace_back("kernel module", std::move(module));
  if (!api->library) {
    status.remedy = kDriverRemedy;
  } else if (!status.found) {
    status.facts.emplace_back("missing functions", joined(api->missing, ", "));
    status.remedy = "install a newer NVIDIA driver: this one lacks functions that are needed";
  }
  return {status.found ? std::move(api) : nullptr, std::move(status)};
}

std::string result_name(const DriverApi& api, CUresult result) {
  const char* name = nullptr;
  return api.cuGetErrorName(result, &name) == kSuccess && name ? name : concat("CUDA error ", result);
}

Errc classify(CUresult result) {
  if (result == kOutOfMemory) return Errc::out_of_memory;
  return std::ranges::count(kLost, result) > 0 ? Errc::device_lost : Errc::device;
}

Error driver_error(const DriverApi& api, CUresult result, const char* call, std::string_view doing,
                   const std::string& device) {
  std::string message(doing);
  message += (doing.empty() ? "" : ": ") + result_name(api, result);
  const char* text = nullptr;
  if (api.cuGetErrorString(result, &text) == kSuccess && text) message += concat(" (", text, ")");
  return Error(
      classify(result),
      {.message = std::move(message), .device = device, .call = call, .native = result, .remedy = remedy_for(result)});
}

}  // namespace axisloom::device::cuda
