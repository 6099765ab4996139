// A real device that is planned for as if it were another one: the same memory and compiler, another description.
#pragma once

#include "device/device.hpp"

#include <memory>
#include <utility>

namespace axisloom::ops_test {

class RedescribedDevice : public device::Device {
 public:
  RedescribedDevice(std::shared_ptr<device::Device> real, DeviceInfo info)
      : real_(std::move(real)), info_(std::move(info)) {}
  const DeviceInfo& info() const noexcept override { return info_; }
  std::string build_identity() const override { return real_->build_identity(); }
  std::shared_ptr<device::Buffer> allocate(std::size_t bytes) override { return real_->allocate(bytes); }
  std::shared_ptr<device::Buffer> allocate_staging(std::size_t bytes) override {
    return real_->allocate_staging(bytes);
  }
  std::shared_ptr<device::Buffer> wrap(void* host, std::size_t bytes) override { return real_->wrap(host, bytes); }
  std::shared_ptr<device::Buffer> borrow_buffer(void* native, std::size_t bytes) override {
    return real_->borrow_buffer(native, bytes);
  }
  std::shared_ptr<device::Queue> queue(bool timing) override { return real_->queue(timing); }
  std::shared_ptr<device::Queue> borrow_queue(void* native) override { return real_->borrow_queue(native); }
  std::shared_ptr<device::Program> build(const device::BuildRequest& request) override { return real_->build(request); }
  std::shared_ptr<device::Program> load(const device::BuildRequest& request,
                                        std::span<const std::byte> binary) override {
    return real_->load(request, binary);
  }
  device::KernelAttributes attributes(device::Program& program, const std::string& kernel) override {
    return real_->attributes(program, kernel);
  }

 protected:
  std::shared_ptr<device::Device> real_;
  DeviceInfo info_;
};

/// The device of the tests planned for as a GPU: kernels take the form of many items a group, which OpenCL runs
/// anywhere.
inline Device as_gpu(const Device& real) {
  DeviceInfo info = real.info();
  info.kind = Kind::gpu;
  return Device(std::make_shared<RedescribedDevice>(real.impl(), std::move(info)));
}

}  // namespace axisloom::ops_test
