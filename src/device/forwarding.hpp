// A device that passes every call on to another one: those that describe or limit a device differently derive from it.
#pragma once

#include "device/device.hpp"

namespace axisloom::device {

class ForwardingDevice : public Device {
 public:
  explicit ForwardingDevice(std::shared_ptr<Device> real) : info_(real->info()), real_(std::move(real)) {}

  const DeviceInfo& info() const noexcept override { return info_; }
  const DeviceInfo& compiled_for() const noexcept override { return real_->compiled_for(); }
  bool lost() const noexcept override { return real_->lost(); }
  std::string build_identity() const override { return real_->build_identity(); }
  std::shared_ptr<Buffer> allocate(std::size_t bytes) override { return real_->allocate(bytes); }
  std::shared_ptr<Buffer> allocate_staging(std::size_t bytes) override { return real_->allocate_staging(bytes); }
  std::shared_ptr<Buffer> wrap(void* host, std::size_t bytes) override { return real_->wrap(host, bytes); }
  std::shared_ptr<Buffer> borrow_buffer(void* native, std::size_t bytes) override {
    return real_->borrow_buffer(native, bytes);
  }
  std::shared_ptr<Queue> queue(bool timing) override { return real_->queue(timing); }
  std::shared_ptr<Queue> borrow_queue(void* native) override { return real_->borrow_queue(native); }
  std::shared_ptr<Program> build(const BuildRequest& request) override { return real_->build(request); }
  std::shared_ptr<Program> load(const BuildRequest& request, std::span<const std::byte> binary) override {
    return real_->load(request, binary);
  }
  KernelAttributes attributes(Program& program, const std::string& kernel) override {
    return real_->attributes(program, kernel);
  }

 protected:
  DeviceInfo info_;  // what plans are made for
  std::shared_ptr<Device> real_;
};

/// Grants no buffer beyond `largest` bytes, so that arrays of a few kilobytes are taken in slices.
class SmallBuffers : public ForwardingDevice {
 public:
  SmallBuffers(std::shared_ptr<Device> real, std::size_t largest) : ForwardingDevice(std::move(real)) {
    info_.max_allocation = largest;
  }
  std::shared_ptr<Buffer> allocate(std::size_t bytes) override { return require(bytes), real_->allocate(bytes); }
  std::shared_ptr<Buffer> allocate_staging(std::size_t bytes) override {
    return require(bytes), real_->allocate_staging(bytes);
  }
  std::shared_ptr<Buffer> wrap(void* host, std::size_t bytes) override {
    return require(bytes), real_->wrap(host, bytes);
  }

 protected:
  virtual void require(std::size_t bytes) {
    if (bytes > info_.max_allocation)
      throw Error(Errc::out_of_memory, "a buffer of " + std::to_string(bytes) + " bytes exceeds the largest, " +
                                           std::to_string(info_.max_allocation));
  }
};

}  // namespace axisloom::device
