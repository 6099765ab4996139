// Variant "slab": permutations of many short axes through the first-level cache, by lines. For CPUs.
#include "core/integers.hpp"
#include "core/text.hpp"
#include "model/cost.hpp"
#include "ops/rearrange/tile_nd_params.hpp"

#include <algorithm>
#include <bit>

namespace axisloom::ops {
namespace {

constexpr i64 line = 64;           // bytes of a cache line
constexpr i64 long_run = 4096;     // bytes that are kept; they fill lines by themselves
constexpr i64 least_groups = 8;    // a unit, where the array is large enough: idle cores cost more
constexpr i64 slabs_a_group = 32;  // at most: tables are worked out anew by each

// Two cores of an EPYC 9005, ms by this and the next best way: f32 96 x 75 x 75 x 25 reversed 5.7 and 13.8 ("block"),
// 96 x 75 x 12 x 160 4.9 and 7.5, 384 x 355 x 100 5.3 and 6.3, 1024 x 1024 in the cache 0.30 and 0.18; 48 x 28 x 28 x
// 12 rows of 704 bytes 23.5 and 27.2 ("rows_cpu"); u8 4000 x 3000 pixels of 3 bytes 10.9 and 4.3 ("runs"), of 6 13.3
// and 14.9.
constexpr double element_seconds = 0.265e-9;  // by its place
constexpr double packet_seconds = 0.38e-9;    // of 16 bytes: 142 x 96 x 16 x 16 of 64 bytes 0.40 and 0.27 ("runs")
constexpr double run_seconds = 3e-9;          // of either side
constexpr double cut_lines = 0.4;             // lines more that a run touches than it has bytes for
constexpr double group_seconds = 1e-6;        // its tables

/// The stage's rows begin at lines, those of runs shorter than a line at halves, quarters ... of one.
TileNdPadding padding_of(const TileNd& tile, i64 element) {
  const i64 run = tile.in.run_length * element, step = std::min(line, i64(std::bit_ceil(u64(run))));
  return {.from = tile.in.run_length, .pad = (ceil_div(run, step) * step - run) / element};
}

/// Whether the output's runs begin and end with lines, or are so long that their ends do not show. Past the cache a
/// line's two parts would meet in memory: runs of 150 floats took two cores of an EPYC 9005 30.7 ms, and 22.6 through
/// the cache.
bool fills_lines(const Move& move, const TileNd& tile) {
  constexpr i64 ends_do_not_show = 1024;  // bytes
  if (tile.out.run_length * move.element >= ends_do_not_show) return true;
  i64 starts = move.out_align | move.out_offset * move.element;
  for (size_t d = 0; d < move.axes.size(); ++d) {
    const i64 step = move.axes[d].out * move.element;
    if (!core::contains(tile.out.run, int(d))) starts |= step;
    if (tile.out.cut == int(d)) starts |= step * tile.block[d] | step * move.axes[d].extent;
  }
  return starts % line == 0;
}

double predicted_seconds(const Move& move, const TileNd& tile, bool past_cache, const DeviceModel& device) {
  const double count = move.count(), bytes = count * move.element;
  const auto lines = [&](const TileNd::Side& side) { return 1 + cut_lines * line / (side.run_length * move.element); };
  const double runs = count / tile.in.run_length + count / tile.out.run_length;
  const double each = move.element == 16 ? packet_seconds : element_seconds;
  const double loops = device.on_cores(count * each + runs * run_seconds);
  // Lines that do not go past the cache are read before they are written.
  const double writes = past_cache ? lines(tile.out) : 2 * lines(tile.out);
  const double memory = memory_seconds(bytes * (lines(tile.in) + writes), 2 * bytes, device);
  return device.launch + partly_hidden(memory, loops) + group_seconds;
}

Proposal propose(const MoveProblem& problem, const Configuration& wish, const DeviceModel& device) {
  if (problem.move.tail) return refuse("takes no channel tail");
  if (keeps_fastest_axis(problem.move) && problem.move.axes.back().extent * problem.move.element >= long_run)
    return refuse(concat("rows of ", long_run, " bytes and more are kept"));
  const MoveProblem wide = problem.as(widened(problem.move));
  const Move& move = wide.move;
  const i64 groups = least_groups * i64(device.units()), bytes = move.count() * move.element, most = wish.at("bytes");
  const auto tile = tile_nd_of(move, std::clamp(bytes / groups, most / 8, most), move.element, 1, 1, line);
  if (!tile) return refuse("no axis is contiguous in the input, or none in the output");
  if (tile->in.run == tile->out.run) return refuse("runs stay as they are");
  if (tile_nd_walk(move, *tile).size() > MOVE_AXES) return refuse("more axes than a walk takes");
  const Configuration values = with_stream(wish, device);
  const bool stream = streams(move, values) && fills_lines(move, *tile);
  const auto launches = [=] {
    const Move& move = wide.move;
    MoveLaunch launch("rearrange/slab", wide);
    TileNdParams params = tile_nd_params(move, *tile, padding_of(*tile, move.element), 1);
    const int last = launch.walk_in(params, tile_nd_walk(move, *tile), 0, Ranks::coarse) - 1;
    params.per_group = u32(std::clamp(launch.params.work / groups, i64{1}, slabs_a_group));
    launch.define_element().set("AXIS_I", last - 1).set("AXIS_O", last).set("STREAM", stream);
    Launches launches = launch.done(ceil_div(launch.params.work, i64(params.per_group)));
    launches.list[0].params = params_bytes(params);
    return launches;
  };
  return {.seconds = predicted_seconds(move, *tile, stream, device), .configuration = values, .launches = launches};
}

}  // namespace

MoveCandidate slab_move() {
  return {
      {.name = "slab",
       .summary = "permutations of many short axes through the first-level cache, in runs of several axes, on a CPU",
       .tunables =
           {
               {"bytes", 32768, doublings(4096, 32768), "bytes",
                "of the largest slab; a reversal of 109 MB of f32 with 12 axes takes 43, 34 and 31 ms with 8192, "
                "16384 and 32768"},
               stream_tunable(),
           },
       .runtimes = {Api::opencl, Api::host},
       .runs_on = cpus},
      propose};
}

}  // namespace axisloom::ops
