// Variant "tile_nd": permutations of many short axes through local memory, coalesced on both sides. For GPUs.
#include "core/integers.hpp"
#include "core/text.hpp"
#include "ops/rearrange/tile_nd_params.hpp"

#include "model/cost.hpp"
#include "ops/rearrange/params.hpp"

#include <algorithm>

namespace axisloom::ops {
namespace {

constexpr i64 long_row = 128;  // bytes that coalesce without a detour

/// Bytes of local memory for the tile with its padding.
i64 tile_nd_bytes(const Configuration& values) {
  return values.at("bytes") * 9 / 8;
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
  if (tile_nd_walk(move, *tile).size() > MOVE_AXES) return refuse("more axes than a walk takes");
  const auto launches = [=, banks = device.banks] {
    const Move& move = wide.move;
    const TileNdPadding padding = tile_nd_padding(*tile, move.element, tile_nd_bytes(wish) / move.element, banks);
    MoveLaunch launch("rearrange/tile_nd", wide, group);
    TileNdParams params = tile_nd_params(move, *tile, padding, group.items);
    // Walked once a tile, so few ranks.
    const int last = launch.walk_in(params, tile_nd_walk(move, *tile), 0, Ranks::coarse) - 1;
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
