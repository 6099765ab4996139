// A device that passes every call on to another one: those that describe or limit a device differently derive from it.
#pragma once

#include "core/text.hpp"
#include "device/device.hpp"

namespace axisloom::device {

class ForwardingDevice : public Device {
 public:
  explicit ForwardingDevice(SharedDevice real) : info_(real->info()), real_(std::move(real)) {}

  const DeviceInfo& info() const noexcept override { return info_; }
  const DeviceInfo& compiled_for() const noexcept override { return real_->compiled_for(); }
  bool lost() const noexcept override { return real_->lost(); }
  std::string build_identity() const override { return real_->build_identity(); }
  SharedBuffer allocate(size_t bytes) override { return real_->allocate(bytes); }
  SharedBuffer allocate_staging(size_t bytes) override { return real_->allocate_staging(bytes); }
  SharedBuffer wrap(void* host, size_t bytes) override { return real_->wrap(host, bytes); }
  SharedBuffer borrow_buffer(void* native, size_t bytes) override { return real_->borrow_buffer(native, bytes); }
  SharedQueue queue(bool timing) override { return real_->queue(timing); }
  SharedQueue borrow_queue(void* native) override { return real_->borrow_queue(native); }
  SharedQueue urgent_queue() override { return real_->urgent_queue(); }
  SharedQueue immediate_queue() override { return real_->immediate_queue(); }
  bool can_build() const override { return real_->can_build(); }
  SharedProgram build(const BuildRequest& request) override { return real_->build(request); }
  SharedProgram load(const BuildRequest& request, std::span<const std::byte> binary) override {
    return real_->load(request, binary);
  }
  SharedProgram built_in(const std::string& name, std::span<const i32> settings) override {
    return real_->built_in(name, settings);
  }
  KernelAttributes attributes(Program& program, const std::string& kernel) override {
    return real_->attributes(program, kernel);
  }

 protected:
  DeviceInfo info_;  // what plans are made for
  SharedDevice real_;
};

/// Grants no buffer beyond `largest` bytes, so that arrays of a few kilobytes are taken in slices.
class SmallBuffers : public ForwardingDevice {
 public:
  SmallBuffers(SharedDevice real, size_t largest) : ForwardingDevice(std::move(real)) {
    info_.max_allocation = largest;
  }
  SharedBuffer allocate(size_t bytes) override { return require(bytes), real_->allocate(bytes); }
  SharedBuffer allocate_staging(size_t bytes) override { return require(bytes), real_->allocate_staging(bytes); }
  SharedBuffer wrap(void* host, size_t bytes) override { return require(bytes), real_->wrap(host, bytes); }

 protected:
  virtual void require(size_t bytes) {
    if (bytes > info_.max_allocation)
      throw Error(Errc::out_of_memory,
                  concat("a buffer of ", bytes, " bytes exceeds the largest, ", info_.max_allocation));
  }
};

}  // namespace axisloom::device
