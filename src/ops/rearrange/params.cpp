// Writes walks into the parameters that move kernels share.
#include "ops/rearrange/params.hpp"

#include "core/divider.hpp"
#include "core/integers.hpp"

#include <axisloom/error.hpp>

#include <algorithm>
#include <array>
#include <limits>

namespace axisloom::ops {

namespace {

int rank_class(int axes, Ranks ranks) {
  static constexpr std::array fine = {2, 4, 6, 8, 16}, coarse = {4, 8, 16, 16, 16};
  for (const int rank : ranks == Ranks::fine ? fine : coarse)
    if (axes <= rank) return rank;
  throw Error(Errc::unsupported,
              "the move walks " + std::to_string(axes) + " axes that cannot be merged, and kernels walk at most " +
                  std::to_string(MOVE_AXES),
              "do it in two steps, each of which splits fewer axes");
}

}  // namespace

MoveLaunch::MoveLaunch(const std::string& kernel, const MoveProblem& problem, const Group& group)
    : launch(launch_of(kernel, group)), problem(problem) {
  const core::Move& move = problem.move;
  launch.buffers = {{0, move.in_offset, move.element}, {1, move.out_offset, move.element}};
}

Launches MoveLaunch::done(i64 groups) {
  launch.geometry.groups = u64(groups);
  launch.params = params_bytes(params);
  return {{std::move(launch)}};
}

core::Move with_tail_in_front(const core::Move& move) {
  if (!move.tail) return move;
  const core::ChannelTail& tail = *move.tail;
  const int leading = leading_axes(move);
  core::Move ordered = move;
  ordered.axes = core::without(move.axes, tail.outer, leading == 2 ? tail.inner : -1);
  if (leading == 2) ordered.axes.insert(ordered.axes.begin(), move.axes[tail.inner]);
  ordered.axes.insert(ordered.axes.begin(), move.axes[tail.outer]);
  ordered.tail->outer = 0;
  if (leading == 2) ordered.tail->inner = 1;
  return ordered;
}

int leading_axes(const core::Move& move) {
  if (!move.tail) return 0;
  return move.tail->inner + 1 == int(move.axes.size()) ? 1 : 2;
}

int MoveLaunch::walk(const core::Loops& axes, int leading, Ranks ranks, std::size_t params_bytes) {
  const int rank = rank_class(int(axes.size()), ranks);
  core::Loops padded = axes;
  padded.insert(padded.begin() + leading, rank - axes.size(), {});
  params.work = 1;
  for (int d = 0; d < rank; ++d) {
    const core::Loop& axis = padded[d];
    const core::Divider divider = core::divider(u64(axis.extent), problem.index_bits);
    params.in_stride[d] = axis.in;
    params.out_stride[d] = axis.out;
    params.extent[d] = axis.extent;
    params.multiplier[d] = divider.multiplier;
    params.shift[d] = divider.shift;
    params.work *= axis.extent;
  }
  defines().set("RANK", rank).set("INDEX_BITS", problem.index_bits).set("AXL_PARAMS_SIZE", i64(params_bytes));
  return rank;
}

i64 MoveLaunch::walk_segments(i64 segment) {
  const core::Move& move = problem.move;
  core::Loops walked = move.axes;
  if (walked.empty()) walked.push_back({});
  const core::Loop axis = walked.back();
  walked.back() = core::over_blocks(axis, segment);
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
  const core::Move& move = problem.move;
  const core::Loop &i = move.axes[axes.in], &o = move.axes[axes.out];
  core::Loops walked = core::without(move.axes, axes.in, axes.out);
  const core::Loop tiles_i = core::over_blocks(i, tiling.tile_i), tiles_o = core::over_blocks(o, tiling.tile_o);
  walked.push_back(tiling.down_columns ? tiles_i : tiles_o);
  walked.push_back(tiling.down_columns ? tiles_o : tiles_i);
  const int leading = move.tail && axes.has(move.tail->inner) ? 1 : leading_axes(move);
  const int last = walk(walked, leading, Ranks::coarse) - 1;
  defines().set("AXIS_I", tiling.down_columns ? last - 1 : last).set("AXIS_O", tiling.down_columns ? last : last - 1);
  params.extent_i = i.extent;
  params.in_stride_i = i.in;
  params.out_stride_i = i.out;
  params.extent_o = o.extent;
  params.in_stride_o = o.in;
  params.out_stride_o = o.out;
}

void MoveLaunch::walk_pixels(const Pixels& pixels, i64 segment, Ranks ranks) {
  const core::Move& move = problem.move;
  const core::Loop &lanes = move.axes[pixels.lanes], &along = move.axes[pixels.along];
  core::Loops walked = core::without(move.axes, pixels.lanes, pixels.along);
  walked.push_back(core::over_blocks(along, segment));
  walk(walked, move.tail ? 1 : 0, ranks);
  write_tail();
  params.extent_i = along.extent;
  params.in_lane_stride = lanes.in;
  params.out_lane_stride = lanes.out;
}

void MoveLaunch::define_tail(int inner) {
  const std::optional<core::ChannelTail>& tail = problem.move.tail;
  defines().set("TAIL", tail ? (tail->fill ? "TAIL_FILL" : "TAIL_SKIP") : "TAIL_NONE");
  if (!tail) return;
  params.tail_count = tail->count;
  defines().set("TAIL_OUTER", tail->outer).set("TAIL_INNER", inner);
}

void MoveLaunch::write_tail() {
  const core::Move& move = problem.move;
  const i64 everything = problem.index_bits == 64 ? std::numeric_limits<i64>::max() : std::numeric_limits<i32>::max();
  params.tail_count = move.tail ? move.tail->count : everything;
  params.tail_step = move.tail ? move.axes[move.tail->inner].extent : 0;
  params.tail_fill = !move.tail || move.tail->fill ? 1 : 0;
}

void MoveLaunch::define_element() {
  const i64 bytes = problem.move.element;
  defines().set("ELEMENT", type_of_bytes(bytes)).set("ELEMENT_BYTES", bytes);
}

i64 MoveLaunch::split_into_groups(i64 group_bytes, i64 point_bytes) {
  params.per_group = std::max<i64>(1, group_bytes / std::max<i64>(1, point_bytes));
  return ceil_div(params.work, params.per_group);
}

std::string type_of_bytes(i64 bytes) {
  return bytes == 16 ? "u32x4" : "u" + std::to_string(8 * bytes);
}

}  // namespace axisloom::ops
