// Kernels that were not compiled with the library, by a compiler of this machine: only where the user names one.
#pragma once

#include "core/not_copied.hpp"
#include "device/device.hpp"
#include "device/host/isa.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace axisloom::device::host {

/// What AXISLOOM_HOST_COMPILER names: the absolute path of g++ or clang++; empty where it is not set. Throws
/// Error(usage) for what is no such path.
std::string machine_compiler();
/// All that its code depends on besides the text: the file it is, and what the processor can do.
std::string compiler_identity(const std::string& compiler);

/// The shared object that the compiler makes of a kernel's text. Throws Error(device) with what the compiler says.
std::vector<std::byte> compile(const std::string& compiler, const BuildRequest& request, Isa isa);

/// Loaded code: one kernel, for as long as this lives.
class LoadedKernel : core::NotCopied {
 public:
  /// Empty where the bytes cannot be loaded.
  explicit LoadedKernel(std::span<const std::byte> object);
  ~LoadedKernel();
  Entry entry() const noexcept { return entry_; }

 private:
  void* handle_ = nullptr;
  Entry entry_ = nullptr;
};

}  // namespace axisloom::device::host
