// Device memory, page-locked host memory, and memory that the caller or another process owns.
#pragma once

#include "device/cuda/context.hpp"

namespace axisloom::device::cuda {

class CudaBuffer final : public Buffer {
 public:
  enum class Owner { device, staging, caller, process };

  CudaBuffer(SharedContext context, Owner owner, CUdeviceptr address, size_t bytes)
      : context_(std::move(context)), owner_(owner), address_(address), bytes_(bytes) {}
  ~CudaBuffer() override;
  size_t bytes() const noexcept override { return bytes_; }
  size_t alignment() const noexcept override;
  void* host() const noexcept override {
    return owner_ == Owner::staging ? reinterpret_cast<void*>(address_) : nullptr;
  }
  void* native() const noexcept override { return reinterpret_cast<void*>(address_); }
  Location location() const noexcept override { return {nullptr, address_}; }

  /// Made before its memory is, since nothing may fail once there is some.
  void hold(CUdeviceptr address) noexcept { address_ = address; }
  /// What a kernel sees. Page-locked host memory has one address on both sides (unified addressing).
  CUdeviceptr address() const noexcept { return address_; }
  /// Address of a part; Error(usage) when it does not lie within the buffer.
  CUdeviceptr part(size_t offset, size_t bytes) const;
  const Context& context() const noexcept { return *context_; }

 private:
  SharedContext context_;
  Owner owner_;
  CUdeviceptr address_;
  size_t bytes_;
};

/// Of every buffer that the driver allocates, in bytes.
inline constexpr size_t kBaseAlignment = 256;

SharedBuffer allocate_memory(const SharedContext& context, size_t bytes);
SharedBuffer allocate_staging_memory(const SharedContext& context, size_t bytes);
SharedBuffer borrow_memory(const SharedContext& context, void* native, size_t bytes);

}  // namespace axisloom::device::cuda
