// Peer access between the cards of a process, and CUDA's IPC between processes.
#include "device/cuda/sharing.hpp"

#include "device/cuda/device.hpp"
#include "device/cuda/memory.hpp"

namespace axisloom::device::cuda {
namespace {

constexpr std::string_view reaching = "reaching another card's memory";

void enable_peer_access(const Context& context, CUcontext peer) {
  if (peer == context.get()) return;
  const auto& entry = context.api->cuCtxEnablePeerAccess;
  const CUresult result = entry(peer, 0);
  if (result != kPeerAccessAlreadyEnabled) context.check(result, entry.name, reaching);
}

}  // namespace

MemoryKey key_of(Buffer& memory) {
  const auto* const buffer = dynamic_cast<CudaBuffer*>(&memory);
  if (!buffer) throw Error(Errc::unsupported, "the memory is not of CUDA's driver");
  const Context& context = buffer->context();
  const auto scope = context.enter();
  MemoryKey key;
  key.context = context.get();
  key.address = buffer->address();
  context.call(&DriverApi::cuDeviceGetPCIBusId, key.card.data(), int(key.card.size()), context.card.device);
  context.call(&DriverApi::cuIpcGetMemHandle, &key.handle, key.address);
  return key;
}

SharedBuffer reach(const Device& device, const MemoryKey& key, size_t bytes, bool same_process) {
  const SharedContext& context = context_of(device);
  const auto scope = context->enter();
  if (same_process) {
    enable_peer_access(*context, key.context);
    return borrow_memory(context, reinterpret_cast<void*>(key.address), bytes);
  }
  auto opened = std::make_shared<CudaBuffer>(context, CudaBuffer::Owner::process, 0, bytes);
  CUdeviceptr address = 0;
  context->call_for(reaching, &DriverApi::cuIpcOpenMemHandle_v2, &address, key.handle, kIpcLazyEnablePeerAccess);
  opened->hold(address);
  return opened;
}

}  // namespace axisloom::device::cuda
