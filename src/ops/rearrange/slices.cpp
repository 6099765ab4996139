// Cuts moves of large host arrays into parts whose bounds fit into single buffers.
#include "core/integers.hpp"
#include "ops/rearrange/rearrange.hpp"

#include <algorithm>

namespace axisloom::ops {
namespace {

bool is_tail_axis(const Move& move, size_t axis) {
  return move.tail && (int(axis) == move.tail->outer || int(axis) == move.tail->inner);
}

/// The loops that may be cut. What the tail's axes reach over stays together.
SlicedNest nest_of(const Move& move) {
  Move tail_axis = move;
  SlicedNest nest;
  nest.reduced.resize(move.axes.size());
  SlicedArray in, out;
  in.element = out.element = move.element;
  out.result = true;
  for (size_t d = 0; d < move.axes.size(); ++d) {
    core::Loop loop;
    if (!is_tail_axis(move, d)) {
      loop = move.axes[d];
      tail_axis.axes[d].extent = std::min<i64>(1, loop.extent);
    }
    nest.extents.push_back(loop.extent);
    in.strides.push_back(loop.in);
    out.strides.push_back(loop.out);
  }
  const Bounds read = in_bounds(tail_axis), written = out_bounds(tail_axis);
  in.span = read.high - read.low;
  out.span = written.high - written.low;
  nest.arrays = {in, out};
  return nest;
}

}  // namespace

std::vector<Move> cut_move(const Move& move, i64 limit) {
  const Move normal = normalise(move);
  std::vector<Move> parts;
  for (const Block& block : cut(nest_of(normal), limit)) {
    Move& part = parts.emplace_back(normal);
    for (size_t d = 0; d < block.box.size(); ++d) {
      if (is_tail_axis(normal, d)) continue;
      part.axes[d].extent = block.box[d].extent;
      part.in_offset += block.box[d].begin * normal.axes[d].in;
      part.out_offset += block.box[d].begin * normal.axes[d].out;
    }
  }
  return parts;
}

}  // namespace axisloom::ops
