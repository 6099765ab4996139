// Questions that several variants ask of a move: its tile axes, the axes that remain, the cost of its segments.
#include "ops/rearrange/candidate.hpp"
#include "ops/rearrange/cost.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace axisloom::ops {

std::optional<TileAxes> tile_axes(const core::Move& move) {
  TileAxes found{-1, -1};
  std::int64_t in_extent = 0, out_extent = 0;
  for (int d = 0; d < static_cast<int>(move.axes.size()); ++d) {
    const core::MoveAxis& axis = move.axes[static_cast<std::size_t>(d)];
    if (axis.in_stride == 1 && axis.extent > in_extent) found.in = d, in_extent = axis.extent;
    if (axis.out_stride == 1 && axis.extent > out_extent) found.out = d, out_extent = axis.extent;
  }
  if (found.in < 0 || found.out < 0 || found.in == found.out) return std::nullopt;
  return found;
}

std::vector<core::MoveAxis> axes_without(const core::Move& move, int first, int second) {
  std::vector<core::MoveAxis> rest;
  for (int d = 0; d < static_cast<int>(move.axes.size()); ++d)
    if (d != first && d != second) rest.push_back(move.axes[static_cast<std::size_t>(d)]);
  return rest;
}

bool guard_fits_tiles(const core::Move& move, const TileAxes& axes) {
  if (!move.guard) return true;
  if (move.guard->outer == axes.in || move.guard->outer == axes.out) return false;
  if (move.guard->inner == axes.in) return !move.guard->fill;
  if (move.guard->inner == axes.out) return move.guard->fill;
  return true;
}

std::int64_t packet_bytes(const core::Move& move, std::int64_t limit) {
  const int fastest = static_cast<int>(move.axes.size()) - 1;
  std::int64_t bytes =
      std::min(core::proven_alignment(move, false, fastest, limit), core::proven_alignment(move, true, fastest, limit));
  const auto divides = [&](std::int64_t elements) {
    while (bytes > move.element && elements * move.element % bytes != 0) bytes /= 2;
  };
  divides(move.axes.back().extent);
  if (move.guard && move.guard->inner == fastest) divides(move.guard->count);
  return std::max(bytes, move.element);
}

core::Move in_packets(core::Move move, std::int64_t bytes) {
  const std::int64_t factor = bytes / move.element;
  if (factor == 1) return move;
  const int fastest = static_cast<int>(move.axes.size()) - 1;
  for (int d = 0; d < fastest; ++d) {
    move.axes[static_cast<std::size_t>(d)].in_stride /= factor;
    move.axes[static_cast<std::size_t>(d)].out_stride /= factor;
  }
  move.axes.back().extent /= factor;
  move.in_offset /= factor;
  move.out_offset /= factor;
  if (move.guard && move.guard->inner == fastest) move.guard->count /= factor;
  move.element = bytes;
  return move;
}

tune::Tunable stream_tunable() {
  return {"stream_mib",
          48,
          {0, 16, 32, 48, 64, 96, std::int64_t{1} << 30},
          "MiB",
          "bytes moved from which stores go past the cache: on two cores 57 against 28 GB/s at 128 MiB, 93 against 195 "
          "at 1"};
}

bool streams(const core::Move& move, const Configuration& values) {
  return move.bytes_moved() >= values.at("stream_mib") << 20;
}

double segment_bytes(double elements, double run, std::int64_t stride, std::int64_t element, std::int64_t segment) {
  const double size = static_cast<double>(element);
  const double whole = static_cast<double>(segment);
  if (std::abs(stride) != 1)
    return elements * std::min(whole, std::max(size, size * static_cast<double>(std::abs(stride))));
  const double bytes = std::max(1.0, run) * size;
  // A run that starts anywhere touches on average one segment more than its length, less one element.
  const double touched = bytes >= whole ? std::ceil(bytes / whole) * whole : whole;
  return elements * size * std::max(1.0, std::min(touched / bytes, whole / size));
}

namespace {

/// Elements that lie side by side on one side, whatever the order in which they are taken.
double contiguous_run(const core::Move& move, bool output) {
  std::int64_t run = 1;
  for (bool longer = true; longer;) {
    longer = false;
    for (const core::MoveAxis& axis : move.axes) {
      if (axis.extent < 2 || std::abs(output ? axis.out_stride : axis.in_stride) != run) continue;
      run *= axis.extent;
      longer = true;
      break;
    }
  }
  return static_cast<double>(run);
}

}  // namespace

double strided_bytes(const core::Move& move, bool output, std::int64_t segment, double cache_bytes, double far_bytes) {
  const auto elements = static_cast<double>(move.count());
  double between = 1;  // elements taken before the walk steps along the axis looked at
  for (std::size_t d = move.axes.size(); d-- > 0;) {
    const core::MoveAxis& axis = move.axes[d];
    const std::int64_t stride = std::abs(output ? axis.out_stride : axis.in_stride);
    if (stride * move.element < segment && axis.extent > 1) {
      if (between * static_cast<double>(segment) > cache_bytes) break;
      const double together = contiguous_run(move, output);
      const double run = stride == 1 ? together : static_cast<double>(axis.extent);
      const double bytes = segment_bytes(elements, run, stride == 0 ? 1 : stride, move.element, segment);
      // What lies between neighbours comes round when the walk has gone along the axis.
      const double once = elements * static_cast<double>(move.element);
      const double apart = between * static_cast<double>(axis.extent * stride * move.element);
      const bool again = stride > 1 && together >= static_cast<double>(stride) && apart <= far_bytes;
      return again ? once + (bytes - once) / 4 : bytes;
    }
    between *= static_cast<double>(axis.extent);
  }
  return elements * static_cast<double>(std::max(segment, move.element));
}

double access_efficiency(std::int64_t bytes) {
  // Copy rate on an H200 by access width, as a share of 16-byte accesses.
  switch (bytes) {
    case 1:
      return 0.18;
    case 2:
      return 0.31;
    case 4:
      return 0.60;
    case 8:
      return 0.85;
    default:
      return 1.0;
  }
}

double local_memory_seconds(const core::Move& move, double bytes, const DeviceInfo& device) {
  if (device.kind != Kind::cpu) return transfer_seconds(bytes, device);
  // Of a core: "tile" takes 1.2 ns for each of 6.4 million bytes, "slab" 6.6 ns for each of a million floats of six
  // axes (two cores of a Xeon), where "plain" takes 6.3 ns and "block" 3.2 ns.
  constexpr double element_seconds = 4e-9;
  const double loop = static_cast<double>(move.count()) * element_seconds / std::max(1u, device.compute_units);
  return std::max(transfer_seconds(8 * bytes, device), loop);
}

double transfer_seconds(double bytes, const DeviceInfo& device) {
  const tune::Rates rates = tune::rates(device);
  const bool cached = bytes <= static_cast<double>(device.last_level_cache);
  return rates.launch_seconds + bytes / (cached ? rates.cached_bytes_per_second : rates.copy_bytes_per_second);
}

}  // namespace axisloom::ops
