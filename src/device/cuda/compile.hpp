// Compiles CUDA C++ with NVRTC; needs no card and no driver.
#pragma once

#include "device/cuda/nvrtc.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace axisloom::device::cuda {

/// Machine code for "sm_80", "sm_90a", ...; PTX (with its closing zero) for "compute_80", .... The compiler's messages
/// go to `log` when it is given, warnings of a successful build too. Throws Error(device) with the messages when the
/// source does not compile, Error(unsupported) when this NVRTC does not know the architecture.
std::vector<std::byte> compile_cuda(const Nvrtc& nvrtc, const BuildRequest& request, std::string_view architecture,
                                    std::string* log);

/// The same with the newest NVRTC on this machine.
std::vector<std::byte> compile_cuda(const BuildRequest& request, std::string_view architecture, std::string* log);

}  // namespace axisloom::device::cuda
