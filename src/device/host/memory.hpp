// Buffers of the host: memory of the process, its own or the caller's.
#pragma once

#include "device/device.hpp"
#include "device/host/pool.hpp"

namespace axisloom::device::host {

class HostMemory final : public Buffer {
 public:
  /// What is `owned` is given back by std::free.
  HostMemory(void* begin, size_t bytes, bool owned) noexcept : begin_(begin), bytes_(bytes), owned_(owned) {}
  ~HostMemory() override;
  size_t bytes() const noexcept override { return bytes_; }
  size_t alignment() const noexcept override;
  void* host() const noexcept override { return begin_; }
  void* native() const noexcept override { return begin_; }
  Location location() const noexcept override { return {nullptr, reinterpret_cast<std::uintptr_t>(begin_)}; }

  /// The address of a part, which `what` is about to use: "a copy". Throws Error(usage) when it exceeds the buffer.
  std::byte* part(const char* what, size_t offset, size_t bytes) const;

 private:
  void* begin_;
  size_t bytes_;
  bool owned_;
};

/// The buffer as one of the host's; Error(usage) when it belongs to another device.
HostMemory& own(Buffer& buffer);

SharedBuffer allocate_memory(const DeviceInfo& info, Pool& pool, size_t bytes);
SharedBuffer wrap_memory(void* host, size_t bytes);

/// Copies by all members of the pool; the two may overlap.
void copy_bytes(Pool& pool, std::byte* to, const std::byte* from, size_t bytes) noexcept;
void fill_bytes(Pool& pool, std::byte* to, size_t bytes, std::byte value) noexcept;
/// Writes to every page, each member to its own stretch: memory lies where it is written to first.
void touch(Pool& pool, std::byte* memory, size_t bytes) noexcept;

}  // namespace axisloom::device::host
