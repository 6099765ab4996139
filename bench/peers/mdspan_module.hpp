// What the program and the module of cuda::copy tell each other.
#pragma once

/// A move of elements of 1, 2, 4, 8 or 16 bytes, axes from the slowest to the fastest one of the output, strides in
/// elements.
struct MdspanCopy {
  int element, rank;
  const int *extents, *in_strides, *out_strides;
  const void* in;
  void* out;
};

/// The most axes that the module has kernels for.
inline constexpr int mdspan_most_axes = 8;

/// Queues the copy on a stream. Answers whether it was queued.
using MdspanFunction = bool(const MdspanCopy* copy, void* stream);
