// OpenCL buffers: the device's own, host memory used in place, page-locked staging memory, and those of the caller.
#pragma once

#include "device/opencl/context.hpp"

#include <mutex>

namespace axisloom::device::opencl {

class MemoryObject final : public Buffer {
 public:
  struct Traits {
    size_t bytes = 0;
    size_t alignment = 1;
    void* host = nullptr;
    bool mapped = false;                    // the driver's host memory, mapped for as long as the object lives
    std::optional<Location> location = {};  // of a part of another buffer, or of the caller's host memory behind it
  };
  MemoryObject(SharedContext context, MemoryHandle memory, const Traits& traits, QueueHandle unmap_queue = {})
      : context_(std::move(context)),
        unmap_queue_(std::move(unmap_queue)),
        memory_(std::move(memory)),
        traits_(traits) {}
  ~MemoryObject() override;
  size_t bytes() const noexcept override { return traits_.bytes; }
  size_t alignment() const noexcept override { return traits_.alignment; }
  void* host() const noexcept override { return traits_.host; }
  void* native() const noexcept override { return memory_; }
  Location location() const noexcept override;

  cl_mem get() const noexcept { return memory_; }
  bool mapped() const noexcept { return traits_.mapped; }
  /// From now on it is host memory, until it goes.
  void map();
  /// A queued command uses the mapped memory by its address, of which the runtime knows nothing: it must not be
  /// unmapped or freed before that command has finished.
  void keep_mapped_until(SharedEvent event);
  const Context& context() const noexcept { return *context_; }

 private:
  SharedContext context_;
  QueueHandle unmap_queue_;
  MemoryHandle memory_;
  Traits traits_;
  std::mutex mutex_;
  std::vector<SharedEvent> uses_;
  std::vector<cl_event> waits_;  // of the uses, ready for the destructor, which must not allocate
};

SharedBuffer allocate_memory(const SharedContext& context, size_t bytes);
SharedBuffer allocate_staging_memory(const SharedContext& context, size_t bytes);
/// Null on devices that cannot use host memory in place.
SharedBuffer wrap_memory(const SharedContext& context, void* host, size_t bytes);
SharedBuffer borrow_memory(const SharedContext& context, cl_mem memory, size_t bytes);

/// Whether the runtime works directly on host memory that it is given; tried out, since OpenCL lets it keep a copy.
bool works_in_place(const SharedContext& context);

}  // namespace axisloom::device::opencl
