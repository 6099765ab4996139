// Tensor maps as the driver writes them: what the tensor memory accelerator is to know of an array.
#pragma once

#include "device/cuda/context.hpp"

namespace axisloom::device::cuda {

/// The map of an array that begins `map.begin` bytes after `buffer`; Error(unsupported) on a driver without tensor
/// maps, Error(device) for a map that the driver refuses.
CUtensorMap encode(const Context& context, CUdeviceptr buffer, const TensorMap& map);

}  // namespace axisloom::device::cuda
