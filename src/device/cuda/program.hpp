// A compiled program on the driver, with its kernels and what each of them takes.
#pragma once

#include "device/cuda/context.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <span>

namespace axisloom::device::cuda {

/// One kernel. CUfunctions may be launched by any number of threads; only raising their limits is serialised.
class Kernel {
 public:
  Kernel(const Context& context, CUfunction function, std::string name);

  CUfunction get() const noexcept { return function_; }
  const std::string& name() const noexcept { return name_; }
  KernelAttributes attributes() const;

  /// Checks count and sizes of the arguments, where the driver tells what the kernel takes.
  void require_arguments(std::span<const Arg> args) const;
  /// Lets the kernel use more than the default local memory and portable cluster size; once each.
  void allow(size_t local_bytes, unsigned cluster);

 private:
  int attribute(int which) const;
  void raise(int which, int value) const;

  const Context& context_;
  CUfunction function_;
  std::string name_;
  std::optional<std::vector<size_t>> argument_sizes_;
  size_t static_local_ = 0;
  std::mutex mutex_;
  bool local_raised_ = false;
  bool cluster_raised_ = false;
};

class CudaProgram final : public Program {
 public:
  /// Loads machine code or PTX. Null when the driver rejects it; `rejected` then says why.
  static std::shared_ptr<CudaProgram> load(const SharedContext& context, const std::string& name,
                                           std::span<const std::byte> binary, std::string& rejected);
  ~CudaProgram() override;

  std::vector<std::byte> binary() const override { return binary_; }
  /// The kernel of that name; the context must be current.
  Kernel& kernel(const std::string& name);
  const Context& context() const noexcept { return *context_; }

 private:
  CudaProgram(SharedContext context, std::string name, std::span<const std::byte> binary)
      : context_(std::move(context)), name_(std::move(name)), binary_(binary.begin(), binary.end()) {}
  void load_kernels();

  SharedContext context_;
  std::string name_;
  std::vector<std::byte> binary_;
  CUmodule module_ = nullptr;
  std::mutex mutex_;
  std::map<std::string, Kernel, std::less<>> kernels_;
};

}  // namespace axisloom::device::cuda
