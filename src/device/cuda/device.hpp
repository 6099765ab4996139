// Opening CUDA devices, and streams of ours or the caller's.
#pragma once

#include "device/cuda/context.hpp"
#include "device/cuda/nvrtc.hpp"

namespace axisloom::device::cuda {

/// Retains the card's primary context, or uses `borrowed`. `search` is where the compiler is chosen from.
SharedDevice open_device(std::shared_ptr<const DriverApi> api, Card card, const NvrtcSearch& search,
                         CUcontext borrowed = nullptr);

/// A new stream that does not synchronise with the legacy default stream.
SharedQueue create_queue(const SharedContext& context, bool timing, int priority = 0);
/// The caller's stream; null is the legacy default stream.
SharedQueue borrow_queue(const SharedContext& context, CUstream stream);

}  // namespace axisloom::device::cuda
