// One open CUDA device: the backend interface's factory for its memory, queues and programs.
#pragma once

#include "device/cuda/context.hpp"
#include "device/cuda/nvrtc.hpp"

namespace axisloom::device::cuda {

class CudaDevice final : public Device {
 public:
  /// Retains the card's primary context, or uses `borrowed`. `search` is where the compiler is chosen from.
  CudaDevice(std::shared_ptr<const DriverApi> api, Card card, const NvrtcSearch& search, CUcontext borrowed = nullptr);

  const DeviceInfo& info() const noexcept override { return context_->info(); }
  bool lost() const noexcept override { return context_->lost(); }
  std::string build_identity() const override;

  SharedBuffer allocate(size_t bytes) override;
  SharedBuffer allocate_staging(size_t bytes) override;
  SharedBuffer wrap(void* host, size_t bytes) override;
  SharedBuffer borrow_buffer(void* native, size_t bytes) override;

  SharedQueue queue(bool timing) override;
  SharedQueue borrow_queue(void* native) override;

  SharedProgram build(const BuildRequest& request) override;
  SharedProgram load(const BuildRequest& request, std::span<const std::byte> binary) override;
  KernelAttributes attributes(Program& program, const std::string& kernel) override;

 private:
  SharedContext context_;
  const NvrtcSearch& search_;
};

}  // namespace axisloom::device::cuda
