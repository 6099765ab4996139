// Compiled OpenCL programs, and the kernel objects that launches lease from them.
#pragma once

#include "core/not_copied.hpp"
#include "device/opencl/context.hpp"

#include <list>
#include <map>
#include <mutex>

namespace axisloom::device::opencl {

class KernelProgram final : public Program {
  struct Kernel {
    KernelHandle handle;
    unsigned arguments = 0;
  };
  using Pool = std::list<Kernel>;  // nodes move between lists without allocating

 public:
  KernelProgram(const SharedContext& context, ProgramHandle program, std::string name);
  std::vector<std::byte> binary() const override;

  const Context& context() const noexcept { return *context_; }
  KernelAttributes attributes(const std::string& kernel);

  /// A kernel object for one thread alone: setting arguments from two threads at once crashes runtimes.
  class Lease : core::NotCopied {
   public:
    Lease(KernelProgram& program, const std::string& kernel);
    ~Lease();
    cl_kernel get() const noexcept { return kernel_.front().handle; }
    unsigned arguments() const noexcept { return kernel_.front().arguments; }

   private:
    KernelProgram& program_;
    Pool* pool_ = nullptr;
    Pool kernel_;  // exactly one
  };

 private:
  SharedContext context_;
  ProgramHandle program_;
  std::string name_;
  std::string log_;
  std::mutex mutex_;
  std::map<std::string, Pool> free_;
};

/// Compiles; a compiler error is Error(device) whose message is the build log.
SharedProgram build_program(const SharedContext& context, const BuildRequest& request);
/// PTX in which every kernel of a required group size asks for registers such that `groups` groups fit a compute unit:
/// the second argument of CUDA's __launch_bounds__. Left to itself NVIDIA's assembler gives kernels too few
/// registers for their loads in flight (docs/design/reduce.md).
std::string with_resident_groups(std::string_view ptx, unsigned groups);
/// Null when the runtime rejects the binary.
SharedProgram load_program(const SharedContext& context, const BuildRequest& request,
                           std::span<const std::byte> binary);

/// Registers and spills of a kernel as NVIDIA's verbose build log gives them; -1 where it does not.
KernelAttributes attributes_from_log(std::string_view log, std::string_view kernel);

}  // namespace axisloom::device::opencl
