// Variant "tile_nd": permutations of many short axes through local memory, coalesced on both sides. For GPUs.
#include "core/integers.hpp"
#include "core/text.hpp"
#include "ops/rearrange/tile_nd_shape.hpp"

#include "model/cost.hpp"
#include "ops/rearrange/params.hpp"

#include <algorithm>

namespace axisloom::ops {
namespace {

#include "ops/rearrange/tile_nd.params.h"
static_assert(most_tile_nd_axes == TILE_ND_AXES);
static_assert(arguments_fit(sizeof(TileNdParams), 2));

constexpr i64 long_row = 128;  // bytes that coalesce without a detour

/// Bytes of local memory for the tile with its padding.
i64 tile_nd_bytes(const Configuration& values) {
  return values.at("bytes") * 9 / 8;
}

/// What groups walk, slowest first: axes that tiles are one index of, then tiles along the two that are cut.
Loops walk_of(const Move& move, const TileNd& tile) {
  Loops walked;
  for (size_t d = 0; d < move.axes.size(); ++d)
    if (tile.block[d] == 1) walked.push_back(move.axes[d]);
  for (const int axis : {tile.in.cut, tile.out.cut == tile.in.cut ? -1 : tile.out.cut})
    walked.push_back(axis < 0 ? Loop{} : over_blocks(move.axes[axis], tile.block[axis]));
  return walked;
}

/// Divides numbers below 2^16 by an extent from 2 to 2^16, as the upper half of the product.
u32 multiplier_of(i64 extent) {
  return u32(ceil_div(i64{1} << 32, extent));
}

/// One kind of the tile's axes, as the kernel takes its digits.
void write_digits(const TileNd& tile, const std::vector<int>& axes, u32* extent, u32* multiplier) {
  std::fill_n(extent, TILE_ND_AXES, 1);
  for (size_t d = 0; d < axes.size(); ++d) {
    extent[d] = u32(tile.block[axes[d]]);
    multiplier[d] = multiplier_of(extent[d]);
  }
}

void write_runs(const Move& move, const TileNd& tile, i64 items, TileNdParams& params) {
  write_digits(tile, tile.in.runs, params.in_runs_extent, params.in_runs_multiplier);
  write_digits(tile, tile.out.runs, params.out_runs_extent, params.out_runs_multiplier);
  write_digits(tile, tile.out.run, params.out_run_extent, params.out_run_multiplier);
  std::ranges::transform(tile.in.runs, params.in_runs_stride, [&](int axis) { return move.axes[axis].in; });
  std::ranges::transform(tile.out.runs, params.out_runs_stride, [&](int axis) { return move.axes[axis].out; });
  params.in_runs = u32(tile.in.count);
  params.out_runs = u32(tile.out.count);
  params.in_width = u32(tile_nd_width(tile.in.run_length / tile.vector, items));
  params.out_width = u32(tile_nd_width(tile.out.run_length / tile.vector, items));
  params.in_width_divider = multiplier_of(params.in_width);
  params.out_width_divider = multiplier_of(params.out_width);
}

void write_places(const TileNd& tile, const TileNdPadding& padding, TileNdParams& params) {
  const auto place = [&](int axis) { return u32(tile_nd_place(tile, padding, axis)); };
  std::ranges::transform(tile.out.runs, params.out_runs_place, place);
  std::ranges::transform(tile.out.run, params.out_run_place, place);
  params.pitch = u32(padding.place(tile.in.run_length));
  params.pad = u32(padding.pad / tile.vector);
  params.rotate = padding.rotate ? 1 : 0;
  params.pad_divider = multiplier_of(padding.from / tile.vector);
}

/// How runs and their numbers shrink where a tile sticks out of the array.
void write_cuts(const Move& move, const TileNd& tile, TileNdParams& params) {
  const bool shared = tile.in.cut == tile.out.cut;  // the same for both: all runs are there, and both kinds are shorter
  const int i = tile.in.cut, o = shared ? -1 : tile.out.cut;
  const auto block = [&](int axis) { return axis < 0 ? 1 : tile.block[axis]; };
  const auto extent = [&](int axis) { return axis < 0 ? 1 : move.axes[axis].extent; };
  const auto per = [&](i64 elements, int axis) { return u32(elements / block(axis)); };
  params.block_i = u32(block(i));
  params.last_i = u32((extent(i) - 1) % block(i) + 1);
  params.block_o = u32(block(o));
  params.last_o = u32((extent(o) - 1) % block(o) + 1);
  params.in_run_per_i = per(tile.in.run_length, i);
  params.in_runs_per_o = per(tile.in.count, o);
  params.out_run_per_i = per(tile.out.run_length, shared ? i : -1);
  params.out_run_per_o = per(tile.out.run_length, o);
  params.out_runs_per_i = per(tile.out.count, shared ? -1 : i);
}

// Until a group has its tables and its first tile: moves of 8 to 17 MB took an H200 2 to 5 us more than their bytes do.
constexpr double beginning_seconds = 3e-6;

Proposal propose(const MoveProblem& problem, const Configuration& wish, const DeviceModel& device) {
  if (problem.move.tail) return refuse("takes no channel tail");
  if (keeps_fastest_axis(problem.move) && problem.move.axes.back().extent * problem.move.element >= long_row)
    return refuse(concat("rows of ", long_row, " bytes and more are kept, and coalesce as they are"));
  // Behind the tile an offset for each run of the input, and an offset and a place for each of the output.
  const Group group{wish.at("items"), tile_nd_bytes(wish) + most_tile_nd_runs * 3 * problem.index_bits / 8};
  const MoveProblem wide = problem.as(widened(problem.move));
  const Move& move = wide.move;
  // Small arrays are cut finer, so that each compute unit has a few tiles.
  const i64 share = move.count() * move.element / std::max(1u, 4 * unsigned(device.units())),
            largest = wish.at("bytes");
  const auto tile = tile_nd_of(move, std::clamp<i64>(share, largest / 8, largest), wish.at("access"), group.items,
                               wish.at("in_flight"), device.sector);
  if (!tile) return refuse("no axis is contiguous in the input, or none in the output");
  if (walk_of(move, *tile).size() > MOVE_AXES) return refuse("more axes than a walk takes");
  const auto launches = [=, banks = device.banks] {
    const Move& move = wide.move;
    const TileNdPadding padding = tile_nd_padding(*tile, move.element, tile_nd_bytes(wish) / move.element, banks);
    MoveLaunch launch("rearrange/tile_nd", wide, group);
    TileNdParams params{};
    // Walked once a tile, so few ranks.
    const int last = launch.walk_in(params, walk_of(move, *tile), 0, Ranks::coarse) - 1;
    write_runs(move, *tile, group.items, params);
    write_places(*tile, padding, params);
    write_cuts(move, *tile, params);
    launch.define_element()
        .set("AXIS_I", last - 1)
        .set("AXIS_O", last)
        .set("TILE_ND_BYTES", tile_nd_bytes(wish))
        .set("MOST_RUNS", most_tile_nd_runs)
        .set("VECTOR", tile->vector)
        .set("IN_FLIGHT", tile_nd_in_flight(*tile, move.element, wish.at("in_flight")));
    launch.launch.kernel.resident = unsigned(wish.at("resident") / group.items);
    Launches launches = launch.done();
    launches.list[0].params = params_bytes(params);
    return launches;
  };
  const double bytes = 2 * bytes_of(move) * tile->cost;
  return {.group = group,
          .seconds = local_memory_seconds(move, bytes, device) + beginning_seconds,
          .configuration = wish,
          .launches = launches};
}

}  // namespace

MoveCandidate tile_nd_move() {
  return {
      {.name = "tile_nd",
       .summary = "permutations of many short axes through local memory, in runs of several axes, on a GPU",
       .tunables =
           {
               {"bytes", 16384, doublings(4096, 32768), "bytes",
                "of the largest tile; an eighth more of local memory is set aside for padding"},
               {"items", 256, doublings(64, 512), "work-items", "group size"},
               {"in_flight", 0, zero_or_doublings(8, 64), "bytes",
                "that an item asks for before it waits for the first; at least one access; 0: 32, or 16 where words "
                "are put together from smaller elements (1566 against 1253 GB/s on an H200)"},
               {"resident",
                1536,
                {0, 768, 1024, 1280, 1536, 2048},
                "work-items",
                "of a compute unit, to which registers are fitted; 0: the compiler's own, which waits for the first "
                "load sooner"},
               {"access", 4, {1, 2, 4}, "bytes", "of an access to smaller elements, where runs begin and end with it"},
           }},
      propose};
}

}  // namespace axisloom::ops
