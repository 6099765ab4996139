// Predicted cost of a move: what a variant moves in whole segments, over the device's measured bandwidth.
#pragma once

#include "core/move.hpp"

#include <axisloom/device.hpp>

#include <cstdint>

namespace axisloom::ops {

inline constexpr std::int64_t gpu_segment = 32;  // bytes of a sector: the smallest that a GPU's memory moves
inline constexpr std::int64_t cpu_segment = 64;  // bytes of a cache line

/// Bytes moved for `elements` elements taken in runs of `run` elements with `stride` between neighbours.
double segment_bytes(double elements, double run, std::int64_t stride, std::int64_t element, std::int64_t segment);

/// The same for the elements of a move taken one by one in the output's order. A segment that comes round again while
/// it is still cached is moved once: so where few elements lie between neighbours of the input. What comes round again
/// while it is in a larger cache, of `far_bytes`, counts a quarter.
double strided_bytes(const core::Move& move, bool output, std::int64_t segment, double cache_bytes, double far_bytes);

/// Share of the full bandwidth that a GPU reaches with accesses of so many bytes per item.
double access_efficiency(std::int64_t bytes);

/// One launch that moves so many bytes, at the rate of the memory or of the last-level cache.
double transfer_seconds(double bytes, const DeviceInfo& device);

/// The same for a kernel that takes a move through local memory, which on a CPU is only a detour.
double local_memory_seconds(const core::Move& move, double bytes, const DeviceInfo& device);

}  // namespace axisloom::ops
