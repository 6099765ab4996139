// For tests that run on an OpenCL device: a private kernel cache, a small kernel, and typed access to bytes.
#pragma once

#include "device/device.hpp"
#include "device/registry.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace axisloom::test {

/// Sets POCL_CACHE_DIR to a folder of this process, unless the caller has chosen one, and removes it at the end.
class PrivatePoclCache {
 public:
  PrivatePoclCache() {
    std::string folder = (std::filesystem::temp_directory_path() / "axisloom-pocl-XXXXXX").string();
    if (std::getenv("POCL_CACHE_DIR") || !mkdtemp(folder.data())) return;
    folder_ = folder;
    setenv("POCL_CACHE_DIR", folder_.c_str(), 1);
  }
  ~PrivatePoclCache() {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }

 private:
  std::string folder_;
};

inline const PrivatePoclCache private_pocl_cache;

inline int find_test_index() {
  const char* const text = std::getenv("AXISLOOM_DEVICE");
  const device::Spec spec = device::parse_spec(text && *text ? text : "auto");
  if (spec.which != device::Spec::Which::api || spec.api != Api::opencl) return 0;
  const std::vector<DeviceInfo> present = device::opencl_runtime().devices();
  const DeviceInfo* const chosen = device::select(spec, present);
  if (chosen == nullptr) throw Error(Errc::no_device, std::string("there is no device ") + text);
  return chosen->index;
}

/// The OpenCL device that the tests use: the one that AXISLOOM_DEVICE names, else the first. It is looked for once,
/// since tests make the search fail.
inline int test_index() {
  static const int index = find_test_index();
  return index;
}

inline std::string test_spec() {
  return "opencl:" + std::to_string(test_index());
}

/// out[i] = in[i] * factor + shift
inline const device::BuildRequest scale_request{
    "test/scale",
    "kernel void scale(global const int* in, global int* out, int factor, long shift) {\n"
    "  size_t i = get_global_id(0);\n"
    "  out[i] = in[i] * factor + (int)shift;\n"
    "}\n",
    {"-cl-std=CL1.2", "-Werror"}};

template <typename T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

template <typename T>
std::span<std::byte> writable_bytes_of(std::vector<T>& values) {
  return std::as_writable_bytes(std::span(values));
}

template <typename T>
device::Arg by_value(const T& value) {
  return device::Arg::bytes(&value, sizeof value);
}

/// The code of the Error that a call throws; nullopt when it throws none.
template <typename Call>
std::optional<Errc> code_thrown(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return std::nullopt;
}

/// The text of the Error that a call throws; empty when it throws none.
template <typename Call>
std::string text_thrown(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace axisloom::test
