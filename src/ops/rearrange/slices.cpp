// Cuts moves of large host arrays into parts whose bounds fit into single buffers.
#include "core/integers.hpp"
#include "ops/rearrange/rearrange.hpp"

#include <algorithm>

namespace axisloom::ops {
namespace {

bool is_tail_axis(const core::Move& move, std::size_t d) {
  const int axis = int(d);
  return move.tail && (axis == move.tail->outer || axis == move.tail->inner);
}

/// The loops that may be cut. What the tail's axes reach over stays together.
SlicedNest nest_of(const core::Move& move) {
  core::Move tail_axis = move;
  SlicedNest nest;
  nest.arrays.assign(2, {.element = move.element, .strides = {}});
  nest.arrays[1].result = true;
  for (std::size_t d = 0; d < move.axes.size(); ++d) {
    core::Loop loop = move.axes[d];
    if (is_tail_axis(move, d))
      loop = {};
    else
      tail_axis.axes[d].extent = std::min<i64>(1, loop.extent);
    nest.extents.push_back(loop.extent);
    nest.reduced.push_back(false);
    nest.arrays[0].strides.push_back(loop.in);
    nest.arrays[1].strides.push_back(loop.out);
  }
  const Bounds in = core::in_bounds(tail_axis), out = core::out_bounds(tail_axis);
  nest.arrays[0].span = in.high - in.low;
  nest.arrays[1].span = out.high - out.low;
  return nest;
}

core::Move part_of(const core::Move& move, const Box& box) {
  core::Move part = move;
  for (std::size_t d = 0; d < box.size(); ++d) {
    if (is_tail_axis(move, d)) continue;
    part.axes[d].extent = box[d].extent;
    part.in_offset += box[d].begin * move.axes[d].in;
    part.out_offset += box[d].begin * move.axes[d].out;
  }
  return part;
}

}  // namespace

std::vector<core::Move> cut_move(const core::Move& move, i64 limit) {
  const core::Move normal = core::normalise(move);
  std::vector<core::Move> parts;
  for (const Block& block : cut(nest_of(normal), limit)) parts.push_back(part_of(normal, block.box));
  return parts;
}

}  // namespace axisloom::ops
