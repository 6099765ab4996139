// Writes walks into the parameters that move kernels share.
#include "ops/rearrange/params.hpp"

#include "core/integers.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace axisloom::ops {

int rank_for(size_t axes, Ranks ranks) {
  static constexpr std::array fine = {2, 4, 6, 8, 16}, coarse = {4, 8, 16, 16, 16};
  for (const int rank : ranks == Ranks::fine ? fine : coarse)
    if (int(axes) <= rank) return rank;
  throw_too_many_axes("move", axes, MOVE_AXES);
}

MoveLaunch::MoveLaunch(const std::string& kernel, const MoveProblem& problem, const Group& group)
    : OpenLaunch{launch_of(kernel, group)}, problem(problem) {
  const Move& move = problem.move;
  launch.buffers = {{0, move.in_offset, move.element}, {1, move.out_offset, move.element}};
}

Move with_tail_in_front(const Move& move) {
  if (!move.tail) return move;
  const bool both = leading_axes(move) == 2;
  Move ordered = move;
  auto& [outer, inner, count, fill] = *ordered.tail;
  ordered.axes = without(move.axes, outer, both ? inner : -1);
  if (both) ordered.axes.insert(ordered.axes.begin(), move.axes[std::exchange(inner, 1)]);
  ordered.axes.insert(ordered.axes.begin(), move.axes[std::exchange(outer, 0)]);
  return ordered;
}

int leading_axes(const Move& move) {
  if (!move.tail) return 0;
  return move.tail->inner + 1 == int(move.axes.size()) ? 1 : 2;
}

i64 MoveLaunch::walk_segments(i64 segment) {
  const Move& move = problem.move;
  Loops walked = move.axes;
  if (walked.empty()) walked.push_back({});
  const Loop axis = walked.back();
  walked.back() = over_blocks(axis, segment);
  const int leading = leading_axes(move);
  walk(walked, leading, Ranks::fine);
  define_tail(leading == 2 ? 1 : -1);
  defines().set("SEGMENT", segment);
  params.extent_i = axis.extent;
  params.in_stride_i = axis.in;
  params.out_stride_i = axis.out;
  return std::min(segment, axis.extent);
}

void MoveLaunch::walk_tiles(const TileAxes& axes, const Tiling& tiling) {
  const Move& move = problem.move;
  const Loop &i = move.axes[axes.in], &o = move.axes[axes.out];
  Loops walked = without(move.axes, axes.in, axes.out);
  walked.push_back(over_blocks(i, tiling.tile_i));
  walked.push_back(over_blocks(o, tiling.tile_o));
  if (!tiling.down_columns) std::iter_swap(walked.end() - 2, walked.end() - 1);
  const int leading = move.tail && axes.has(move.tail->inner) ? 1 : leading_axes(move);
  const int last = walk(walked, leading, Ranks::coarse) - 1;
  defines().set("AXIS_I", last - tiling.down_columns).set("AXIS_O", last - !tiling.down_columns);
  params.extent_i = i.extent;
  params.in_stride_i = i.in;
  params.out_stride_i = i.out;
  params.extent_o = o.extent;
  params.in_stride_o = o.in;
  params.out_stride_o = o.out;
}

void MoveLaunch::walk_pixels(const Pixels& pixels, i64 segment, Ranks ranks) {
  const Move& move = problem.move;
  const Loop &lanes = move.axes[pixels.lanes], &along = move.axes[pixels.along];
  Loops walked = without(move.axes, pixels.lanes, pixels.along);
  walked.push_back(over_blocks(along, segment));
  walk(walked, move.tail ? 1 : 0, ranks);
  write_tail();
  params.extent_i = along.extent;
  params.in_lane_stride = lanes.in;
  params.out_lane_stride = lanes.out;
}

void MoveLaunch::define_tail(int inner) {
  const auto& tail = problem.move.tail;
  defines().set("TAIL", tail ? (tail->fill ? "TAIL_FILL" : "TAIL_SKIP") : "TAIL_NONE");
  if (!tail) return;
  params.tail_count = tail->count;
  defines().set("TAIL_OUTER", tail->outer).set("TAIL_INNER", inner);
}

void MoveLaunch::write_tail() {
  const auto& tail = problem.move.tail;
  const i64 everything = problem.index_bits == 64 ? std::numeric_limits<i64>::max() : std::numeric_limits<i32>::max();
  params.tail_count = tail ? tail->count : everything;
  params.tail_step = tail ? problem.move.axes[tail->inner].extent : 0;
  params.tail_fill = !tail || tail->fill;
}

jit::Defines& MoveLaunch::define_element() {
  const i64 bytes = problem.move.element;
  return defines().set("ELEMENT", type_of_bytes(bytes)).set("ELEMENT_BYTES", bytes);
}

i64 MoveLaunch::split_into_groups(i64 group_bytes, i64 point_bytes, i64 units) {
  params.per_group = tasks_of_group(params.work, point_bytes, group_bytes, units);
  return ceil_div(params.work, params.per_group);
}

std::string type_of_bytes(i64 bytes) {
  return bytes < 16 ? concat("u", 8 * bytes) : concat("u32x", bytes / 4);
}

}  // namespace axisloom::ops
