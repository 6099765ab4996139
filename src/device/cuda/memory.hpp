// Device memory, page-locked host memory, and memory that the caller owns.
#pragma once

#include "device/cuda/context.hpp"

namespace axisloom::device::cuda {

class CudaBuffer final : public Buffer {
 public:
  enum class Owner { device, staging, caller };

  CudaBuffer(SharedContext context, Owner owner, CUdeviceptr address, std::size_t bytes)
      : context_(std::move(context)), owner_(owner), address_(address), bytes_(bytes) {}
  ~CudaBuffer() override;
  std::size_t bytes() const noexcept override { return bytes_; }
  std::size_t alignment() const noexcept override;
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
  CUdeviceptr part(std::size_t offset, std::size_t bytes) const;
  const Context& context() const noexcept { return *context_; }

 private:
  SharedContext context_;
  Owner owner_;
  CUdeviceptr address_;
  std::size_t bytes_;
};

/// Of every buffer that the driver allocates, in bytes.
inline constexpr std::size_t kBaseAlignment = 256;

std::shared_ptr<Buffer> allocate_memory(const SharedContext& context, std::size_t bytes);
std::shared_ptr<Buffer> allocate_staging_memory(const SharedContext& context, std::size_t bytes);
std::shared_ptr<Buffer> borrow_memory(const SharedContext& context, void* native, std::size_t bytes);

}  // namespace axisloom::device::cuda
