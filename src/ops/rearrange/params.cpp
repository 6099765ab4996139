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

core::Move with_guard_in_front(const core::Move& move) {
  if (!move.guard) return move;
  const int fastest = int(move.axes.size()) - 1;
  const auto at = [&](int axis) { return move.axes[axis]; };
  core::Move ordered = move;
  ordered.axes = {at(move.guard->outer)};
  ordered.guard->outer = 0;
  if (move.guard->inner != fastest) {
    ordered.axes.push_back(at(move.guard->inner));
    ordered.guard->inner = 1;
  }
  for (int d = 0; d <= fastest; ++d)
    if (d != move.guard->outer && (d != move.guard->inner || d == fastest)) ordered.axes.push_back(at(d));
  return ordered;
}

int leading_axes(const core::Move& move) {
  if (!move.guard) return 0;
  return move.guard->inner + 1 == int(move.axes.size()) ? 1 : 2;
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

void write_guard(const std::optional<core::Guard>& guard, const std::function<int(int)>& place, MoveParams& params,
                 jit::Defines& defines) {
  defines.set("GUARD", guard ? (guard->fill ? "GUARD_FILL" : "GUARD_SKIP") : "GUARD_NONE");
  if (!guard) return;
  params.guard_count = guard->count;
  defines.set("GUARD_OUTER", place(guard->outer));
  defines.set("GUARD_INNER", place(guard->inner));
}

void write_guard_params(const core::Move& move, int index_bits, MoveParams& params) {
  const i64 everything = index_bits == 64 ? std::numeric_limits<i64>::max() : std::numeric_limits<i32>::max();
  params.guard_count = move.guard ? move.guard->count : everything;
  params.guard_step = move.guard ? move.axes[move.guard->inner].extent : 0;
  params.guard_fill = !move.guard || move.guard->fill ? 1 : 0;
}

SegmentWalk write_segment_walk(const core::Move& move, i64 segment, int index_bits, MoveParams& params,
                               jit::Defines& defines) {
  core::Loops walked = move.axes;
  if (walked.empty()) walked.push_back({});
  const int fastest = int(walked.size()) - 1;
  const core::Loop axis = walked.back();
  walked.back() = core::over_blocks(axis, segment);
  write_walk(walked, leading_axes(move), Ranks::fine, index_bits, params, defines);
  write_guard(
      move.guard, [fastest](int guarded) { return guarded == fastest ? -1 : guarded; }, params, defines);
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
  const int leading = !move.guard ? 0 : axes.has(move.guard->inner) ? 1 : leading_axes(move);
  const int last = write_walk(walked, leading, Ranks::coarse, index_bits, params, defines) + int(walked.size()) - 1;
  defines.set("AXIS_I", tiling.down_columns ? last - 1 : last).set("AXIS_O", tiling.down_columns ? last : last - 1);
  params.extent_i = i.extent;
  params.in_stride_i = i.in;
  params.out_stride_i = i.out;
  params.extent_o = o.extent;
  params.in_stride_o = o.in;
  params.out_stride_o = o.out;
}

i64 share_out(i64 group_bytes, i64 point_bytes, MoveParams& params) {
  params.share = std::max<i64>(1, group_bytes / std::max<i64>(1, point_bytes));
  return ceil_div(params.work, params.share);
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
