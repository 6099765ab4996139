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

MoveLaunch::MoveLaunch(const std::string& kernel, const core::Move& move, i64 items, i64 local_bytes) {
  launch.kernel.file = "rearrange/" + kernel + ".kernel";
  launch.kernel.kernel = kernel;
  launch.kernel.items = launch.geometry.items = unsigned(items);
  launch.geometry.local_bytes = std::size_t(local_bytes);
  launch.buffers = {{0, move.in_offset, move.element}, {1, move.out_offset, move.element}};
}

Launches MoveLaunch::done(i64 groups) {
  launch.geometry.groups = u64(groups);
  launch.params = params_bytes(params);
  Launches launches;
  launches.list.push_back(std::move(launch));
  return launches;
}

core::Move with_tail_in_front(const core::Move& move) {
  if (!move.tail) return move;
  const int fastest = int(move.axes.size()) - 1;
  const auto at = [&](int axis) { return move.axes[axis]; };
  core::Move ordered = move;
  ordered.axes = {at(move.tail->outer)};
  ordered.tail->outer = 0;
  if (move.tail->inner != fastest) {
    ordered.axes.push_back(at(move.tail->inner));
    ordered.tail->inner = 1;
  }
  for (int d = 0; d <= fastest; ++d)
    if (d != move.tail->outer && (d != move.tail->inner || d == fastest)) ordered.axes.push_back(at(d));
  return ordered;
}

int leading_axes(const core::Move& move) {
  if (!move.tail) return 0;
  return move.tail->inner + 1 == int(move.axes.size()) ? 1 : 2;
}

int write_walk(const core::Loops& axes, int leading, Ranks ranks, int index_bits, MoveParams& params,
               jit::Defines& defines, std::size_t params_bytes) {
  const int count = int(axes.size());
  const int rank = rank_class(count, ranks);
  const int padding = rank - count;
  params.work = 1;
  for (int d = 0; d < rank; ++d) {
    const bool padded = d >= leading && d < leading + padding;
    const core::Loop axis = padded ? core::Loop{} : axes[d < leading ? d : d - padding];
    const core::Divider divider = core::divider(u64(axis.extent), index_bits);
    params.in_stride[d] = axis.in;
    params.out_stride[d] = axis.out;
    params.extent[d] = axis.extent;
    params.multiplier[d] = divider.multiplier;
    params.shift[d] = divider.shift;
    params.work *= axis.extent;
  }
  defines.set("RANK", rank);
  defines.set("INDEX_BITS", index_bits);
  defines.set("AXL_PARAMS_SIZE", i64(params_bytes));
  return padding;
}

void write_tail(const std::optional<core::ChannelTail>& tail, const std::function<int(int)>& place, MoveParams& params,
                jit::Defines& defines) {
  defines.set("TAIL", tail ? (tail->fill ? "TAIL_FILL" : "TAIL_SKIP") : "TAIL_NONE");
  if (!tail) return;
  params.tail_count = tail->count;
  defines.set("TAIL_OUTER", place(tail->outer));
  defines.set("TAIL_INNER", place(tail->inner));
}

void write_tail_params(const core::Move& move, int index_bits, MoveParams& params) {
  const i64 everything = index_bits == 64 ? std::numeric_limits<i64>::max() : std::numeric_limits<i32>::max();
  params.tail_count = move.tail ? move.tail->count : everything;
  params.tail_step = move.tail ? move.axes[move.tail->inner].extent : 0;
  params.tail_fill = !move.tail || move.tail->fill ? 1 : 0;
}

SegmentWalk write_segment_walk(const core::Move& move, i64 segment, int index_bits, MoveParams& params,
                               jit::Defines& defines) {
  core::Loops walked = move.axes;
  if (walked.empty()) walked.push_back({});
  const int fastest = int(walked.size()) - 1;
  const core::Loop axis = walked.back();
  walked.back() = core::over_blocks(axis, segment);
  write_walk(walked, leading_axes(move), Ranks::fine, index_bits, params, defines);
  write_tail(
      move.tail, [fastest](int tail_axis) { return tail_axis == fastest ? -1 : tail_axis; }, params, defines);
  defines.set("SEGMENT", segment);
  params.extent_i = axis.extent;
  params.in_stride_i = axis.in;
  params.out_stride_i = axis.out;
  return {std::min(segment, axis.extent)};
}

void write_tile_walk(const core::Move& move, const TileAxes& axes, const Tiling& tiling, int index_bits,
                     MoveParams& params, jit::Defines& defines) {
  const core::Loop i = move.axes[axes.in];
  const core::Loop o = move.axes[axes.out];
  core::Loops walked = core::without(move.axes, axes.in, axes.out);
  const core::Loop tiles_i = core::over_blocks(i, tiling.tile_i), tiles_o = core::over_blocks(o, tiling.tile_o);
  walked.push_back(tiling.down_columns ? tiles_i : tiles_o);
  walked.push_back(tiling.down_columns ? tiles_o : tiles_i);
  const int leading = !move.tail ? 0 : axes.has(move.tail->inner) ? 1 : leading_axes(move);
  const int last = write_walk(walked, leading, Ranks::coarse, index_bits, params, defines) + int(walked.size()) - 1;
  defines.set("AXIS_I", tiling.down_columns ? last - 1 : last).set("AXIS_O", tiling.down_columns ? last : last - 1);
  params.extent_i = i.extent;
  params.in_stride_i = i.in;
  params.out_stride_i = i.out;
  params.extent_o = o.extent;
  params.in_stride_o = o.in;
  params.out_stride_o = o.out;
}

i64 split_into_groups(i64 group_bytes, i64 point_bytes, MoveParams& params) {
  params.per_group = std::max<i64>(1, group_bytes / std::max<i64>(1, point_bytes));
  return ceil_div(params.work, params.per_group);
}

std::string type_of_bytes(i64 bytes) {
  switch (bytes) {
    case 1:
      return "u8";
    case 2:
      return "u16";
    case 4:
      return "u32";
    case 8:
      return "u64";
    case 16:
      return "u32x4";
    default:
      throw Error(Errc::usage, "no element of " + std::to_string(bytes) + " bytes");
  }
}

}  // namespace axisloom::ops
