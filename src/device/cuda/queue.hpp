// CUDA streams, of ours or the caller's, and the events of their commands.
#pragma once

#include "device/cuda/context.hpp"

namespace axisloom::device::cuda {

/// A new stream that does not synchronise with the legacy default stream.
SharedQueue create_queue(const SharedContext& context, bool timing);
/// The caller's stream; null is the legacy default stream.
SharedQueue borrow_queue(const SharedContext& context, CUstream stream);

}  // namespace axisloom::device::cuda
