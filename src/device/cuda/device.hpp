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

  std::shared_ptr<Buffer> allocate(std::size_t bytes) override;
  std::shared_ptr<Buffer> allocate_staging(std::size_t bytes) override;
  std::shared_ptr<Buffer> wrap(void* host, std::size_t bytes) override;
  std::shared_ptr<Buffer> borrow_buffer(void* native, std::size_t bytes) override;

  std::shared_ptr<Queue> queue(bool timing) override;
  std::shared_ptr<Queue> borrow_queue(void* native) override;

  std::shared_ptr<Program> build(const BuildRequest& request) override;
  std::shared_ptr<Program> load(const BuildRequest& request, std::span<const std::byte> binary) override;
  KernelAttributes attributes(Program& program, const std::string& kernel) override;

 private:
  SharedContext context_;
  const NvrtcSearch& search_;
};

}  // namespace axisloom::device::cuda
