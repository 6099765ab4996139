// Variant "tile_flat": small or odd matrices and short axes through local memory, in packets that begin anywhere. For
// GPUs.
#include "core/integers.hpp"
#include "core/text.hpp"
#include "ops/rearrange/tile_nd_params.hpp"

#include "model/cost.hpp"
#include "ops/rearrange/params.hpp"

#include <algorithm>
#include <bit>

namespace axisloom::ops {
namespace {

constexpr i64 long_row = 128;               // bytes that coalesce without a detour
constexpr i64 most_numbers = i64{1} << 16;  // of packets of a tile, which reciprocals of 32 bits divide exactly

// Until a group has its first tile: 11 moves of 4 to 16 MB took an H200 1 to 4 us more than their bytes do.
constexpr double beginning_seconds = 3e-6;

/// Of the largest tile, unless one is wished for. On an H200 64 bytes an item, one round of loads, take 39 us for
/// floats of 37 x 41 and 38 for 90 x 130 x 125 x 10 permuted by 3,1,0,2, 128 bytes 42 and 42. Smaller elements gain
/// nothing (24.9 and 25.3 us), and their packets leave more of short runs.
constexpr i64 larger_tile = 32768;
i64 tile_bytes(const Move& move, const Configuration& wish) {
  constexpr i64 word = 4;
  return value_or(wish, "bytes", move.element >= word ? larger_tile / 2 : larger_tile);
}

/// Bytes of local memory: words of neighbouring runs lie apart.
constexpr i64 with_gaps(i64 bytes) {
  return bytes * 9 / 8;
}
i64 room_bytes(const Configuration& values) {
  return with_gaps(values.at("bytes"));
}

/// The widest access to the output that pays, unless one is wished for: its packets leave more of short runs.
FlatAccess best_access(const Move& move, const TileNd& tile, const Configuration& wish) {
  FlatAccess access{std::max(move.element, wish.at("access_in")), std::max(move.element, wish.at("access_out"))};
  if (wish.at("access_out") != 0) return access;
  double least = 0;
  for (i64 out = 16; out >= std::max<i64>(4, move.element); out /= 2) {
    const double operations = tile_flat_tight(move, tile, {access.in, out}).operations();
    if (least != 0 && operations >= least) continue;
    least = operations;
    access.out = out;
  }
  return access;
}

/// The largest tile of at most `bytes` whose runs fit in local memory apart from each other.
std::optional<TileNd> fitting_tile(const Move& move, i64 bytes, i64 least, i64 room, const Configuration& wish,
                                   i64 sector) {
  for (; bytes >= least; bytes /= 2) {
    const auto tile = tile_flat_of(move, bytes, sector);
    if (!tile) break;
    const TileFlat flat = tile_flat_tight(move, *tile, best_access(move, *tile, wish));
    if (flat.size * move.element <= room && flat.in_packets * tile->in.count < most_numbers &&
        flat.out_packets * tile->out.count < most_numbers)
      return tile;
  }
  return std::nullopt;
}

/// Whether runs begin anywhere within an access.
bool anywhere(const Move& move, const TileNd& tile, bool output, i64 access) {
  return tile_nd_alignment(move, tile, output, access) < access;
}

/// Time relative to copying as many elements. Conflicts are counted only for what is launched.
double cost_of(const Move& move, const TileNd& tile, const FlatAccess& access) {
  // Of 9.4 bytes that a unit of an H200 copies in a clock, those for one of a warp's 32 items.
  constexpr double round_bytes = 0.29;
  constexpr double usual_rounds = 2;  // most layouts have 1 or 2
  // Where runs begin anywhere, of the shorter of traffic and passage an eighth shows. Fitted on an H200 to floats of
  // 37 x 41 (39.3 us; 41.7 by this), 90 x 130 x 125 x 10 of them (38.3; 39.9) and bytes of 37 x 41 (23.3; 23.4). Of
  // elements of 4 bytes and more whose runs are aligned nothing does: 4000 x 50 x 50 floats 26.5.
  constexpr double overlap = 8;
  const bool aligned =
      move.element >= 4 && !anywhere(move, tile, false, access.in) && !anywhere(move, tile, true, access.out);
  TileFlat flat = tile_flat_tight(move, tile, access);
  flat.rounds = usual_rounds;
  const double passage = flat.passage() * round_bytes / move.element;
  return std::max(tile.cost, passage) + (aligned ? 0 : std::min(tile.cost, passage) / overlap);
}

/// How often a packet of the output goes on at another row of its fastest axis.
const char* rows_end(const Move& move, const TileNd& tile, i64 access) {
  const i64 packet = access / move.element, row = tile.block[tile.out.run.front()];
  const bool whole = row % packet == 0 && !anywhere(move, tile, true, access);
  return tile.out.run.size() == 1 || whole ? "NEVER" : row >= packet - 1 ? "ONCE" : "OFTEN";
}

Proposal propose(const MoveProblem& problem, const Configuration& asked, const DeviceModel& device) {
  if (problem.move.tail) return refuse("takes no channel tail");
  if (keeps_fastest_axis(problem.move) && problem.move.axes.back().extent * problem.move.element >= long_row)
    return refuse(concat("rows of ", long_row, " bytes and more are kept, and coalesce as they are"));
  const MoveProblem wide = problem.as(widened(problem.move));
  const Move& move = wide.move;
  Configuration wish = asked;
  wish["bytes"] = tile_bytes(move, asked);
  const Group group{wish.at("items"), room_bytes(wish)};
  // Small arrays are cut finer, so that each compute unit has a few tiles.
  const i64 share = move.count() * move.element / std::max(1u, 4 * unsigned(device.units())),
            largest = wish.at("bytes"), least = largest / 8;
  const auto tile =
      fitting_tile(move, std::clamp<i64>(share, least, largest), least / 8, room_bytes(wish), wish, device.sector);
  if (!tile) return refuse("no axis is contiguous in the input, or none in the output, or runs are too short");
  if (tile_nd_walk(move, *tile).size() > MOVE_AXES) return refuse("more axes than a walk takes");
  const FlatAccess access = best_access(move, *tile, wish);
  const auto launches = [=, banks = device.banks] {
    const Move& move = wide.move;
    const TileFlat flat = *tile_flat_layout(move, *tile, access, room_bytes(wish) / move.element, banks);
    MoveLaunch launch("rearrange/tile_flat", wide, group);
    TileFlatParams params = tile_flat_params(move, flat);
    // Walked once a tile, so few ranks.
    const int last = launch.walk_in(params, tile_nd_walk(move, flat.tile), 0, Ranks::coarse) - 1;
    const i64 word = std::max<i64>(4, move.element);
    const size_t axes = flat.tile.out.run.size();
    launch.define_element()
        .set("AXIS_I", last - 1)
        .set("AXIS_O", last)
        .set("TILE_FLAT_BYTES", room_bytes(wish))
        .set("IN_WORDS", std::max<i64>(1, access.in / word))
        .set("OUT_WORDS", std::max<i64>(1, access.out / word))
        .set("IN_FLIGHT", std::max<i64>(1, wish.at("in_flight") / access.in))
        .set("LOCAL_WORDS", flat.by_words ? 1 : std::max<i64>(1, access.in / word))
        .set("OUT_AXES", axes <= 1   ? 1
                         : axes <= 3 ? 3
                                     : 6)
        .set("ROTATE", flat.rotate)
        .set("ROWS_END", rows_end(move, flat.tile, access.out))
        // Packets that a run does not fill are read whole, too, unless that is but the last tile's.
        .set("IN_ANYWHERE",
             anywhere(move, flat.tile, false, access.in) || flat.tile.in.run_length * move.element % access.in != 0)
        .set("OUT_ANYWHERE", anywhere(move, flat.tile, true, access.out));
    launch.launch.kernel.resident = unsigned(wish.at("resident") / group.items);
    Launches launches = launch.done();
    launches.list[0].params = params_bytes(params);
    return launches;
  };
  // Where only some elements find room "tile_nd" takes the others, and kernels of both are compiled.
  const bool small = device.local_memory_max < size_t(with_gaps(larger_tile));
  return {.by_name_only = small ? "tiles of smaller elements find no room in local memory" : "",
          .group = group,
          .seconds =
              local_memory_seconds(move, 2 * bytes_of(move) * cost_of(move, *tile, access), device) + beginning_seconds,
          .configuration = wish,
          .launches = launches};
}

}  // namespace

MoveCandidate tile_flat_move() {
  return {
      {.name = "tile_flat",
       .summary = "small or odd matrices and short axes through local memory, in packets that begin anywhere, on a GPU",
       .tunables =
           {
               {"bytes", 0, zero_or_doublings(4096, 65536), "bytes",
                "of the largest tile; an eighth more of local memory is set aside; 0: 16 KiB, 32 KiB of elements "
                "below 4 bytes"},
               {"items", 256, doublings(64, 512), "work-items", "group size"},
               {"in_flight", 64, doublings(16, 128), "bytes",
                "that an item asks for before it waits for the first; 2 to 4% faster than 32 on an H200"},
               {"resident",
                0,
                {0, 768, 1024, 1280, 1536, 2048},
                "work-items",
                "of a compute unit, to which registers are fitted; 0: the compiler's own. Floats of 37 x 41 on an "
                "H200: 40.4 us with 0, 42.6 with 1536; bytes 23.3 and 24.2"},
               {"access_in", 16, {4, 8, 16}, "bytes", "of an access to the input, no smaller than an element"},
               {"access_out", 0, {0, 4, 8, 16}, "bytes", "of an access to the output, likewise; 0: by operations"},
           },
       .chosen_on = gpus},
      propose};
}

}  // namespace axisloom::ops
