// The one list of build options. No entry may relax floating-point arithmetic; contraction alone can be asked for.
#include <charconv>

#include "device/opencl/pocl.hpp"
#include "jit/rehearsal.hpp"

namespace axisloom::jit {
namespace {

/// Major version in "OpenCL 3.0 ..." or "NVRTC 13.0"; 0 when there is none.
int major_version(std::string_view text) {
  const size_t digit = text.find_first_of("0123456789");
  int major = 0;
  if (digit != text.npos) std::from_chars(text.data() + digit, text.data() + text.size(), major);
  return major;
}

std::vector<std::string> opencl_options(const DeviceInfo& device, bool contract, bool checked) {
  // Order between groups needs OpenCL C 3.0's fences, except on NVIDIA's own OpenCL, where the dialect uses inline PTX.
  const bool nvidia = device.platform.find("NVIDIA") != device.platform.npos;
  const bool fences = device.device_scope_order && !nvidia && major_version(device.api_version) >= 3;
  std::vector<std::string> options = {fences ? "-cl-std=CL3.0" : "-cl-std=CL1.2", "-Werror"};
  if (fences || (device.device_scope_order && nvidia)) options.push_back("-DAXL_DEVICE_SCOPE=1");
  if (device.f64) options.push_back("-DAXL_HAS_F64=1");
  if (device.f16) options.push_back("-DAXL_HAS_F16=1");
  if (rehearses(device, 1)) options.emplace_back(rehearsal_option);
  for (const device::Workaround& workaround : device::workarounds(device)) options.emplace_back(workaround.option);
  // PoCL takes a second for a kernel whose accesses are checked, and half of it as it is written; results are the same.
  if (checked && device.platform == device::opencl::pocl_platform) options.push_back("-cl-opt-disable");
  // OpenCL C contracts a*b+c by default and has no option against it: the prelude's FP_CONTRACT pragma forbids it,
  // unless this constant is set.
  if (contract) options.push_back("-DAXL_CONTRACT=1");
  return options;
}

std::vector<std::string> cuda_options(const DeviceInfo& device, bool contract) {
  std::vector<std::string> options = {"--std=c++17", "-default-device", contract ? "--fmad=true" : "--fmad=false"};
  // NVRTC has no option that turns all warnings into errors. These are the ones behind wrong results: an expression
  // without effect (what OpenCL C's vector literals become), a variable used before it is set, a missing return.
  if (major_version(device.compiler) >= 12) options.push_back("--diag-error=174,549,940");
  return options;
}

}  // namespace

std::vector<std::string> build_options(const DeviceInfo& device, bool contract, bool checked) {
  switch (device.api) {
    case Api::opencl:
      return opencl_options(device, contract, checked);
    case Api::cuda:
      return cuda_options(device, contract);
    case Api::host:  // the others are those of cmake/host_kernels.cmake
      // Kernels whose accesses are checked run once or twice, and take GCC twice as long to optimise further.
      return {contract ? "-ffp-contract=fast" : "-ffp-contract=off", checked ? "-O1" : "-O2"};
  }
  throw Error(Errc::unsupported, "no build options for runtime " + std::to_string(int(device.api)));
}

}  // namespace axisloom::jit
