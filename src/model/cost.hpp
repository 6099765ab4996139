// Predicted costs that the operations share: bytes in whole segments over the device's bandwidth, and launches.
#pragma once

#include "core/integers.hpp"
#include "core/move.hpp"
#include "model/device_model.hpp"

namespace axisloom::model {

/// Bytes moved in whole sectors for `elements` elements taken in runs of `run` elements with `stride` between
/// neighbours.
double sector_bytes(double elements, double run, i64 stride, i64 element, const DeviceModel& device);

/// What `bytes` count of which only `once` come from a GPU's memory, and the rest from its last-level cache.
double cached_again(double bytes, double once);

/// The same for the elements of a move taken one by one in the output's order. A sector that is needed again while it
/// is still in the near cache is moved once. On a GPU a sector that is needed again while it is in a quarter of the
/// last-level cache counts a quarter.
double strided_bytes(const core::Move& move, bool output, const DeviceModel& device);

/// Share of the full bandwidth that accesses of `bytes` bytes an item reach.
double access_efficiency(i64 bytes, const DeviceModel& device);

/// Whether a CPU's vectors hold 16 floats, as those of its kernels do. Those have masks, shorter ones have not.
inline bool has_masks(const DeviceModel& device) {
  return device.lanes >= 16;
}

/// So many times as long a core takes for the kernels' vectors, beside what its scalar loops say of it.
double vector_times(const DeviceModel& device);

/// Time of moving `bytes` at the rate of the memory, or of the last-level cache if it holds the `arrays`, of so many
/// bytes.
double memory_seconds(double bytes, double arrays, const DeviceModel& device);
inline double memory_seconds(double bytes, const DeviceModel& device) {
  return memory_seconds(bytes, bytes, device);
}

/// The same with one launch.
inline double transfer_seconds(double bytes, const DeviceModel& device) {
  return device.launch + memory_seconds(bytes, device);
}

/// The same for a kernel that takes a move through local memory, which on a CPU is only a detour.
double local_memory_seconds(const core::Move& move, double bytes, const DeviceModel& device);

}  // namespace axisloom::model
