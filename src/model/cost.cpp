// Predicted costs of what kernels have in common.
#include "model/cost.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace axisloom::model {

double sector_bytes(double elements, double run, i64 stride, i64 element, const DeviceModel& device) {
  const double size = double(element), whole = device.sector;
  if (std::abs(stride) != 1) return elements * std::min(whole, std::max(size, size * double(std::abs(stride))));
  const double bytes = std::max(1.0, run) * size;
  // A run that starts anywhere touches on average one segment more than its length, less one element.
  const double touched = bytes >= whole ? std::ceil(bytes / whole) * whole : whole;
  return elements * size * std::max(1.0, std::min(touched / bytes, whole / size));
}

namespace {

/// Elements that lie side by side on one side, whatever the order in which they are taken.
double contiguous_run(const core::Move& move, bool output) {
  i64 run = 1;
  for (bool longer = true; longer;) {
    longer = false;
    for (const core::Loop& axis : move.axes) {
      if (axis.extent < 2 || std::abs(axis.*core::side(output)) != run) continue;
      run *= axis.extent;
      longer = true;
      break;
    }
  }
  return double(run);
}

}  // namespace

double cached_again(double bytes, double once) {
  constexpr double share = 0.25;  // of memory's time that the last-level cache takes
  return once + share * (bytes - once);
}

double strided_bytes(const core::Move& move, bool output, const DeviceModel& device) {
  const double far_bytes = device.is_cpu() ? 0 : device.cache / 4;
  const auto elements = double(move.count());
  double between = 1;  // elements taken before the walk steps along the axis looked at
  for (size_t d = move.axes.size(); d-- > 0;) {
    const core::Loop& axis = move.axes[d];
    const i64 stride = std::abs(axis.*core::side(output));
    if (double(stride * move.element) < device.sector && axis.extent > 1) {
      if (between * device.sector > device.near_cache) {
        if (between * device.sector > far_bytes) break;
        const double shared = std::min(double(axis.extent), device.sector / double(stride * move.element));
        return cached_again(elements * device.sector, elements / std::max(1.0, shared) * device.sector);
      }
      const double together = contiguous_run(move, output);
      const double run = stride == 1 ? together : double(axis.extent);
      const double bytes = sector_bytes(elements, run, stride == 0 ? 1 : stride, move.element, device);
      // What lies between neighbours comes round when the walk has gone along the axis.
      const double once = elements * double(move.element);
      const double apart = between * double(axis.extent * stride * move.element);
      const bool again = stride > 1 && together >= double(stride) && apart <= far_bytes;
      return again ? cached_again(bytes, once) : bytes;
    }
    between *= double(axis.extent);
  }
  return elements * std::max(device.sector, double(move.element));
}

double access_efficiency(i64 bytes, const DeviceModel& device) {
  if (bytes == 1) return device.access_1;
  if (bytes == 2) return device.access_2;
  if (bytes == 4) return device.access_4;
  return bytes == 8 ? device.access_8 : 1;
}

double local_memory_seconds(const core::Move& move, double bytes, const DeviceModel& device) {
  if (!device.is_cpu()) return transfer_seconds(bytes, device);
  // Of a core of a Xeon: "tile_nd" takes 6.6 ns for each of a million floats of six axes, where "plain" takes 6.3 and
  // "block" 3.2. "tile" takes 1.2 ns for each of 6.4 million bytes, but nowhere less than what CPUs have of their own.
  constexpr double element_seconds = 6.6e-9;
  constexpr double detour = 8;  // accesses of an item at a time
  return std::max(transfer_seconds(detour * bytes, device), device.on_cores(double(move.count()) * element_seconds));
}

double vector_times(const DeviceModel& device) {
  // Of an EPYC 7003, whose vectors hold 8 floats: 3619 x 16 x 24 doubles by "block" took two cores 1.0 ms, 6015
  // products of 9 x 6 by 6 x 11 floats by "packed" 3.5.
  constexpr double unmasked = 1.6;
  return has_masks(device) ? 1 : unmasked;
}

double memory_seconds(double bytes, double arrays, const DeviceModel& device) {
  const bool cached = arrays <= device.cache;
  return bytes / (cached ? device.cached_rate : device.copy_rate);
}

}  // namespace axisloom::model
