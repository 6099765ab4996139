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
};

/// A device in a context of its own.
SharedDevice open_device(cl_device_id id, int index);
/// A device in the caller's context; `index` as in DeviceInfo.
SharedDevice borrow_device(cl_context context, cl_device_id id, int index);

}  // namespace axisloom::device::opencl
