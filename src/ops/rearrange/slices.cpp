// Cuts moves of large host arrays into parts whose bounds fit into single buffers.
#include "ops/rearrange/rearrange.hpp"

#include <axisloom/error.hpp>

#include <algorithm>
#include <cstdlib>

namespace axisloom::ops {
namespace {

std::int64_t span_bytes(const core::Move& move, bool output) {
  const Bounds bounds = output ? core::out_bounds(move) : core::in_bounds(move);
  return (bounds.high - bounds.low) * move.element;
}

/// The axis whose halving shortens one side's bounds most; the guard's axes cannot be cut.
int widest_axis(const core::Move& move, bool output) {
  int widest = -1;
  std::int64_t reach = 0;
  for (int d = 0; d < static_cast<int>(move.axes.size()); ++d) {
    const core::MoveAxis& axis = move.axes[static_cast<std::size_t>(d)];
    if (move.guard && (d == move.guard->outer || d == move.guard->inner)) continue;
    const std::int64_t length = (axis.extent - 1) * std::abs(output ? axis.out_stride : axis.in_stride);
    if (length > reach) widest = d, reach = length;
  }
  return widest;
}

void cut(const core::Move& move, std::int64_t limit, std::vector<core::Move>& parts) {
  const bool in_fits = span_bytes(move, false) <= limit, out_fits = span_bytes(move, true) <= limit;
  if (in_fits && out_fits) {
    parts.push_back(move);
    return;
  }
  const int axis = widest_axis(move, in_fits);
  if (axis < 0)
    throw Error(Errc::out_of_memory,
                "an array cannot be cut into parts of at most " + std::to_string(limit) +
                    " bytes, the device's largest allocation",
                "use a device with larger allocations");
  const auto d = static_cast<std::size_t>(axis);
  core::Move first = move, second = move;
  const std::int64_t half = move.axes[d].extent / 2;
  first.axes[d].extent = half;
  second.axes[d].extent -= half;
  second.in_offset += half * move.axes[d].in_stride;
  second.out_offset += half * move.axes[d].out_stride;
  cut(first, limit, parts);
  cut(second, limit, parts);
}

}  // namespace

std::vector<core::Move> cut_move(const core::Move& move, std::int64_t limit) {
  std::vector<core::Move> parts;
  cut(core::normalise(move), limit, parts);
  return parts;
}

}  // namespace axisloom::ops
