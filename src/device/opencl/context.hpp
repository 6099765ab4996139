// What every object of one open OpenCL device shares: the context, what is known of the device, and whether it is lost.
#pragma once

#include "device/opencl/errors.hpp"
#include "device/process.hpp"

#include <atomic>
#include <utility>

namespace axisloom::device::opencl {

/// Owns one reference to an OpenCL object.
template <typename Object, auto Release>
class Handle {
 public:
  Handle() = default;
  explicit Handle(Object object) noexcept : object_(object) {}
  Handle(Handle&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  // In a forked child the runtime's threads are gone and a release could wait for them forever.
  ~Handle() {
    if (object_ && !forked()) (cl().*Release)(object_);
  }

  operator Object() const noexcept { return object_; }

 private:
  Object object_ = nullptr;
};

using ContextHandle = Handle<cl_context, &Functions::clReleaseContext>;
using DeviceHandle = Handle<cl_device_id, &Functions::clReleaseDevice>;
using QueueHandle = Handle<cl_command_queue, &Functions::clReleaseCommandQueue>;
using MemoryHandle = Handle<cl_mem, &Functions::clReleaseMemObject>;
using ProgramHandle = Handle<cl_program, &Functions::clReleaseProgram>;
using KernelHandle = Handle<cl_kernel, &Functions::clReleaseKernel>;
using EventHandle = Handle<cl_event, &Functions::clReleaseEvent>;

/// Takes a reference of its own to an object of the caller's.
template <typename Owner>
Owner retain(const auto& entry, auto object) {
  call(entry, object);
  return Owner(object);
}

class Context {
 public:
  DeviceInfo info;

  Context(ContextHandle context, DeviceHandle device, DeviceInfo info)
      : info(std::move(info)), device_(std::move(device)), context_(std::move(context)) {}

  cl_context get() const noexcept { return context_; }
  cl_device_id device() const noexcept { return device_; }
  bool lost() const noexcept { return lost_.load(std::memory_order_relaxed); }

  /// Runs calls to OpenCL: refuses at once after a fork or a loss, names the device in errors, and remembers a loss.
  auto guarded(auto&& calls) {
    require_usable();
    try {
      return calls();
    } catch (const Error& error) {
      if (error.code() == Errc::device_lost) lost_ = true;
      throw error.with({.device = info.label()});
    }
  }

 private:
  void require_usable() const {
    require_same_process();
    if (!lost()) return;
    throw Error(Errc::device_lost, {.message = "the device was lost in an earlier call",
                                    .device = info.label(),
                                    .remedy = "open the device again; its buffers and queues are gone"});
  }

  DeviceHandle device_;
  ContextHandle context_;
  std::atomic<bool> lost_{false};
};

using SharedContext = std::shared_ptr<Context>;

}  // namespace axisloom::device::opencl
