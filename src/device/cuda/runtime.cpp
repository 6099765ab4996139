// Finds the CUDA cards of this machine and opens them.
#include "device/cuda/runtime.hpp"

#include "device/cuda/device.hpp"
#include "device/cuda/memory.hpp"

#include <algorithm>
#include <array>

namespace axisloom::device {

namespace cuda {

namespace {

void call(const DriverApi& api, const auto& entry, auto... args) {
  const CUresult result = entry(args...);
  if (result != kSuccess) throw driver_error(api, result, entry.name, {}, {});
}

Version driver_version(const DriverApi& api) {
  int number = 0;
  call(api, api.cuDriverGetVersion, &number);
  return Version::of_driver(number);
}

/// Never destroyed: the driver takes itself down at exit, in an order that is not ours to know.
CudaRuntime& the_runtime() {
  static CudaRuntime& runtime = *new CudaRuntime(open_driver(), installed_nvrtc);
  return runtime;
}

}  // namespace

/// Starts the driver. Tried again after a failure: a card may have become available.
void CudaRuntime::require_started() {
  if (!driver_.api)
    throw Error(Errc::no_device, "the CUDA driver was not found: " + joined(driver_.status.tried, "; "),
                driver_.status.remedy);
  if (started_) return;
  remember_process();
  call(*driver_.api, driver_.api->cuInit, 0U);
  started_ = true;
}

int CudaRuntime::count() {
  require_started();
  int count = 0;
  call(*driver_.api, driver_.api->cuDeviceGetCount, &count);
  return count;
}

Card CudaRuntime::describe(int ordinal) const {
  const DriverApi& api = *driver_.api;
  Card card;
  call(api, api.cuDeviceGet, &card.device, ordinal);
  const auto attribute = [&](int which) {
    int value = 0;
    call(api, api.cuDeviceGetAttribute, &value, which, card.device);
    return value;
  };
  std::array<char, 256> name{};
  call(api, api.cuDeviceGetName, name.data(), int(name.size() - 1), card.device);
  card.driver = driver_version(api);
  card.capability = attribute(kComputeCapabilityMajor) * 10 + attribute(kComputeCapabilityMinor);
  card.clusters = api.cuLaunchKernelEx && attribute(kClusterLaunch) != 0;
  DeviceInfo& info = card.info;
  call(api, api.cuDeviceTotalMem_v2, &info.global_memory, card.device);
  info.api = Api::cuda;
  info.kind = Kind::gpu;
  info.index = ordinal;
  info.name = name.data();
  info.vendor = "NVIDIA Corporation";
  info.platform = "NVIDIA CUDA";
  info.driver = card.driver.text();
  info.api_version = "CUDA " + info.driver;
  info.architecture = concat("sm_", card.capability);
  info.compute_units = unsigned(attribute(kMultiprocessorCount));
  info.max_group = size_t(attribute(kMaxThreadsPerBlock));
  info.local_memory = size_t(attribute(kMaxSharedMemoryPerBlock));
  info.local_memory_max = std::max(info.local_memory, size_t(attribute(kMaxSharedMemoryPerBlockOptin)));
  info.max_allocation = info.global_memory;
  info.base_alignment = kBaseAlignment;
  info.last_level_cache = size_t(attribute(kL2CacheSize));
  if (const auto nvrtc = suitable_nvrtc(nvrtc_(), card.driver)) info.compiler = "NVRTC " + nvrtc->version.text();
  info.f64 = info.f16 = info.atomics_64 = info.byte_stores = info.device_scope_order = true;
  return card;
}

std::vector<DeviceInfo> CudaRuntime::devices() {
  const Starting alone;
  std::vector<DeviceInfo> found;
  if (!driver_.api) return found;
  try {
    const int cards = count();
    for (int ordinal = 0; ordinal < cards; ++ordinal) found.push_back(describe(ordinal).info);
  } catch (const Error& error) {
    if (error.parts().native != kNoDevice) log(concat("CUDA: ", error.what()));
  }
  return found;
}

SharedDevice CudaRuntime::open(int index) {
  const Starting alone;
  int cards = 0;
  try {
    cards = count();
  } catch (const Error& error) {
    throw Error(Errc::no_device, error.parts());
  }
  if (index < 0 || index >= cards)
    throw Error(Errc::no_device, concat("there is no CUDA device ", index, "; the driver shows ", cards),
                "check CUDA_VISIBLE_DEVICES");
  return open_device(driver_.api, describe(index), nvrtc_());
}

SharedDevice CudaRuntime::borrow(CUcontext context) {
  if (!context) throw Error(Errc::usage, "a null CUcontext cannot be borrowed");
  const Starting alone;
  const int cards = count();
  const DriverApi& api = *driver_.api;
  CUdevice device = 0;
  CUcontext popped = nullptr;
  call(api, api.cuCtxPushCurrent_v2, context);
  const CUresult result = api.cuCtxGetDevice(&device);
  call(api, api.cuCtxPopCurrent_v2, &popped);
  if (result != kSuccess) throw driver_error(api, result, api.cuCtxGetDevice.name, {}, {});
  for (int ordinal = 0; ordinal < cards; ++ordinal)
    if (Card card = describe(ordinal); card.device == device)
      return open_device(driver_.api, std::move(card), nvrtc_(), context);
  throw Error(Errc::no_device, "the borrowed CUcontext is of a device that the driver does not show");
}

std::vector<RuntimeStatus> CudaRuntime::status() {
  const Starting alone;
  RuntimeStatus driver = driver_.status;
  if (driver_.api) {
    try {
      const int cards = count();
      driver.facts.emplace_back("CUDA version", driver_version(*driver_.api).text());
      driver.facts.emplace_back("devices", std::to_string(cards));
    } catch (const Error& error) {
      driver.facts.emplace_back("error", error.what());
      driver.remedy = "check with nvidia-smi that the driver runs and shows a device";
    }
  }
  return {std::move(driver), nvrtc_().status};
}

}  // namespace cuda

Runtime& cuda_runtime() {
  return cuda::the_runtime();
}

SharedDevice borrow_cuda(void* context) {
  return cuda::the_runtime().borrow(static_cast<cuda::CUcontext>(context));
}

}  // namespace axisloom::device
