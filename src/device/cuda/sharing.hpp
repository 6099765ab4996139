// Memory of a card that other cards and other processes of its host reach.
#pragma once

#include "device/cuda/context.hpp"

namespace axisloom::device::cuda {

/// What tells a card from all others of its host: its address on the PCI bus, 0 behind it.
using BusId = std::array<char, 16>;

/// What has to be known of a card's memory to reach it.
struct MemoryKey {
  BusId card = {};
  CUipcMemHandle handle;        // for other processes
  CUcontext context = nullptr;  // for its own
  CUdeviceptr address = 0;
};

/// Of memory that the device allocated, the whole of it.
MemoryKey key_of(Buffer& memory);

/// The memory of a key as the device's kernels reach it, for as long as the buffer lives; the one who allocated it has
/// to keep it that long. `same_process`: as the key's maker. Throws Error(device) where the card does not reach it.
SharedBuffer reach(const Device& device, const MemoryKey& key, size_t bytes, bool same_process);

}  // namespace axisloom::device::cuda
