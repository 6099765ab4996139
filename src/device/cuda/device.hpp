// Opening CUDA devices, and streams of ours or the caller's.
#pragma once

#include "device/cuda/context.hpp"
#include "device/cuda/nvrtc.hpp"

namespace axisloom::device::cuda {

/// Retains the card's primary context, or uses `borrowed`. `search` is where the compiler is chosen from.
SharedDevice open_device(std::shared_ptr<const DriverApi> api, Card card, const NvrtcSearch& search,
                         CUcontext borrowed = nullptr);

/// The context of a device of this runtime.
const SharedContext& context_of(const Device& device);

/// A new stream that does not synchronise with the legacy default stream.
SharedQueue create_queue(const SharedContext& context, bool timing, int priority = 0);
/// The caller's stream; null is the legacy default stream.
SharedQueue borrow_queue(const SharedContext& context, CUstream stream);

/// The end of all that was queued so far, also on a queue whose launches return no events; and what is queued from now
/// on begins behind an event.
SharedEvent mark(Queue& queue);
void begin_after(Queue& queue, const SharedEvent& event);
/// Whether what is queued is captured in a graph.
bool is_captured(Queue& queue);

/// Where rows lie on one side of a copy.
struct RowsSide {
  CUdeviceptr begin = 0;
  size_t pitch = 0;   // bytes between rows
  size_t height = 0;  // rows between slices, at least as many as a slice has
};
/// Slices of rows of bytes.
struct Rows {
  RowsSide from, to;
  size_t width = 0;  // bytes of a row
  size_t count = 0;  // rows of a slice
  size_t slices = 0;
};
/// By the card's copy engine, also to and from another card's memory that this one reaches.
void copy_rows(Queue& queue, const Rows& rows);

}  // namespace axisloom::device::cuda
