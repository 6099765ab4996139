// Allocates, borrows and frees memory; an allocation that fails says what was asked for and what there is.
#include "device/cuda/memory.hpp"

#include "core/host_memory.hpp"

namespace axisloom::device::cuda {

CudaBuffer::~CudaBuffer() {
  if (address_ == 0 || owner_ == Owner::caller) return;
  context_->release([&](const DriverApi& api) {
    if (owner_ == Owner::device)
      api.cuMemFree_v2(address_);
    else if (owner_ == Owner::process)
      api.cuIpcCloseMemHandle(address_);
    else
      api.cuMemFreeHost(host());
  });
}

size_t CudaBuffer::alignment() const noexcept {
  if (owner_ != Owner::caller || address_ == 0) return kBaseAlignment;
  return core::alignment_of(address_, ~u64{0});
}

CUdeviceptr CudaBuffer::part(size_t offset, size_t bytes) const {
  if (offset > bytes_ || bytes > bytes_ - offset)
    context_->refuse(Errc::usage,
                     concat(bytes, " bytes at offset ", offset, " do not lie within a buffer of ", bytes_, " bytes"));
  return address_ + offset;
}

SharedBuffer allocate_memory(const SharedContext& context, size_t bytes) {
  const auto scope = context->enter();
  auto buffer = std::make_shared<CudaBuffer>(context, CudaBuffer::Owner::device, 0, bytes);
  if (bytes == 0) return buffer;
  const DriverApi& api = *context->api;
  CUdeviceptr address = 0;
  const CUresult result = api.cuMemAlloc_v2(&address, bytes);
  std::string doing = "allocating device memory";
  if (result == kOutOfMemory) {
    doing = concat("allocating ", bytes, " bytes of device memory");
    size_t free = 0, total = 0;
    if (api.cuMemGetInfo_v2(&free, &total) == kSuccess)
      doing += concat(", of which ", free, " of ", total, " bytes are free");
  }
  context->check(result, api.cuMemAlloc_v2.name, doing);
  buffer->hold(address);
  return buffer;
}

SharedBuffer allocate_staging_memory(const SharedContext& context, size_t bytes) {
  const auto scope = context->enter();
  auto buffer = std::make_shared<CudaBuffer>(context, CudaBuffer::Owner::staging, 0, bytes);
  if (bytes == 0) return buffer;
  const std::string doing = concat("allocating ", bytes, " bytes of page-locked host memory");
  void* host = nullptr;
  context->call_for(doing, &DriverApi::cuMemHostAlloc, &host, bytes, kMemHostAllocPortable);
  buffer->hold(reinterpret_cast<CUdeviceptr>(host));
  return buffer;
}

SharedBuffer borrow_memory(const SharedContext& context, void* native, size_t bytes) {
  context->require_usable();
  if (!native && bytes > 0) throw Error(Errc::usage, "a null CUdeviceptr cannot be borrowed as a buffer");
  return std::make_shared<CudaBuffer>(context, CudaBuffer::Owner::caller, reinterpret_cast<CUdeviceptr>(native), bytes);
}

}  // namespace axisloom::device::cuda
