// An open OpenCL device.
#pragma once

#include "device/opencl/queue.hpp"

namespace axisloom::device::opencl {

class OpenclDevice final : public Device {
 public:
  explicit OpenclDevice(SharedContext context) : context_(std::move(context)) {}
  const DeviceInfo& info() const noexcept override { return std::as_const(*context_).info(); }
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
};

/// A device in a context of its own.
std::shared_ptr<Device> open_device(cl_device_id id, int index);
/// A device in the caller's context; `index` as in DeviceInfo.
std::shared_ptr<Device> borrow_device(cl_context context, cl_device_id id, int index);

}  // namespace axisloom::device::opencl
