// What runtimes and kinds of devices are called.
#include "device/device.hpp"

namespace axisloom {

std::string_view name(Api api) noexcept {
  switch (api) {
    case Api::opencl:
      return "opencl";
    case Api::cuda:
      return "cuda";
    case Api::host:
      return "host";
  }
  return "unknown";
}

std::string_view device::title(Api api) noexcept {
  switch (api) {
    case Api::opencl:
      return "OpenCL";
    case Api::cuda:
      return "CUDA";
    case Api::host:
      return "host";
  }
  return "unknown";
}

std::string_view name(Kind kind) noexcept {
  switch (kind) {
    case Kind::cpu:
      return "cpu";
    case Kind::gpu:
      return "gpu";
    case Kind::other:
      return "other";
  }
  return "unknown";
}

}  // namespace axisloom
