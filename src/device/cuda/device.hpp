// Opening CUDA devices.
#pragma once

#include "device/cuda/context.hpp"
#include "device/cuda/nvrtc.hpp"

namespace axisloom::device::cuda {

/// Retains the card's primary context, or uses `borrowed`. `search` is where the compiler is chosen from.
SharedDevice open_device(std::shared_ptr<const DriverApi> api, Card card, const NvrtcSearch& search,
                         CUcontext borrowed = nullptr);

}  // namespace axisloom::device::cuda
