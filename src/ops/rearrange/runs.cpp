// Variant "runs": transposes whose elements are short runs that stay whole (pixels of three bytes), by lines. For CPUs.
#include "core/integers.hpp"
#include "core/text.hpp"
#include "model/cost.hpp"
#include "ops/rearrange/params.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace axisloom::ops {
namespace {

constexpr i64 longest_run = 128;  // bytes; longer ones fill lines by themselves
constexpr i64 least_groups = 8;   // a unit, where the array is large enough: idle cores cost more

// Time of one core of an EPYC 9005 (Turin) at arrays in its cache, less the launch: 600 x 512 runs of 3 bytes take 49
// us, of 5 bytes 160 us before their loop had registers of its own, which halved them on a Xeon; 100 000 x 2 runs of 3
// bytes 200 us, 2 x 100 000 of them 165 us.
constexpr double square_seconds = 0.16e-9;  // a run of a square that is transposed in registers
constexpr double pieces_seconds = 0.35e-9;  // any other
constexpr double row_seconds = 1.5e-9;      // a row of a step, on either side
// A line of a row of the input, which lies far from that of the row before. On two cores of an EPYC 9005: 4000 x 6000
// runs of 3 bytes took 5.2 ms, 3422 x 1276 of 6 bytes 2.3, 142 x 96 x 16 x 16 of 64 bytes 0.27.
constexpr double far_line_seconds = 3.4e-9;
constexpr double near_line_seconds = 0.7e-9;  // where so few rows take turns that they are fetched ahead
constexpr i64 few_rows = 16;

// What a strip is wide and a row of the stage long, in a cache and beyond it. Two cores of a Xeon, ms, with 32 columns
// and 256 bytes against 128 and 128: 600 x 512 runs of 3 bytes 0.058 and 0.089, 4000 x 6000 of 5 bytes 20.5 and 11.8,
// of 6 bytes 30 and 16.
struct Stage {
  i64 columns, row;
};
constexpr Stage near_stage = {32, 256}, far_stage = {128, 128};

struct Runs {
  Move move;      // counted in bytes, without the axis of the run
  TileAxes axes;  // whose runs are neighbours in the input, and in the output
  i64 run = 0;

  const Loop& in() const { return move.axes[axes.in]; }
  const Loop& out() const { return move.axes[axes.out]; }
  bool quads() const { return (run == 3 || run == 4) && in().in == run; }
  /// Two of them, which may overlap, are a run.
  i64 piece() const { return i64(std::bit_ceil(u64(run))) / 2; }
};

/// None where the fastest axis is not kept, or no other two are exchanged.
std::optional<Runs> runs_of(const Move& move) {
  if (move.axes.size() < 3 || !keeps_fastest_axis(move)) return std::nullopt;
  Runs runs{counted_in(move, 1), {-1, -1}, move.axes.back().extent * move.element};
  Move& bytes = runs.move;
  bytes.axes.pop_back();
  int nearest = -1;  // of the axes but the output's, that of the shortest step in the input
  for (int d = 0; d < int(bytes.axes.size()); ++d) {
    const Loop& axis = bytes.axes[d];
    if (axis.out == runs.run && runs.axes.out < 0)
      runs.axes.out = d;
    else if (nearest < 0 || std::abs(axis.in) < std::abs(bytes.axes[nearest].in))
      nearest = d;
  }
  runs.axes.in = nearest;
  if (runs.axes.out < 0 || std::abs(runs.in().in) > std::abs(runs.out().in)) return std::nullopt;
  return runs;
}

double predicted_seconds(const Runs& runs, const Configuration& values, const DeviceModel& device) {
  const double count = runs.move.count(), run = runs.run;
  const i64 columns = std::min(runs.in().extent, values.at("columns"));
  const i64 step = std::abs(runs.in().in);
  const double rows_in = count / columns;
  const double rows_out = count / std::min(runs.out().extent, values.at("row") / runs.run);
  const double lines = rows_in * (columns * step / device.sector + 1);
  const double line = runs.out().extent <= few_rows ? near_line_seconds : far_line_seconds;
  const double each = runs.quads() ? square_seconds : pieces_seconds;
  const double read = std::clamp(double(step), run, run + device.sector);
  const double loops = count * each + (rows_in + rows_out) * row_seconds + lines * line;
  return partly_hidden(transfer_seconds(count * (read + run), device), device.on_cores(loops));
}

Configuration with_stage(const Move& move, const Configuration& wish, const DeviceModel& device) {
  Configuration values = with_stream(wish, device);
  const Stage stage = streams(move, values) ? far_stage : near_stage;
  values["columns"] = value_or(wish, "columns", stage.columns);
  values["row"] = value_or(wish, "row", stage.row);
  return values;
}

Proposal propose(const MoveProblem& problem, const Configuration& wish, const DeviceModel& device) {
  const Move& move = problem.move;
  if (move.tail) return refuse("takes no channel tail");
  const auto runs = runs_of(move);
  if (!runs || runs->in().in == 0)
    return refuse(
        "no two axes are exchanged such that runs are neighbours along one in the input and along the other in the "
        "output");
  const Configuration values = with_stage(move, wish, device);
  if (const i64 most = std::min(longest_run, values.at("row")); runs->run > most)
    return refuse(concat("runs of ", runs->run, " bytes are longer than ", most));
  const auto launches = [=, &problem, units = i64(device.units())] {
    const i64 columns = values.at("columns"), row = values.at("row"), most = values.at("group_kib") << 10;
    const i64 share = std::clamp(runs->move.count() / (least_groups * units), i64{1}, most / runs->run);  // runs
    const i64 tile_o = std::min(runs->out().extent, std::max(share / columns, row / runs->run));
    const i64 tile_i = std::max(columns, share / tile_o / columns * columns);
    MoveLaunch launch("rearrange/runs", problem.as(runs->move));
    launch.walk_tiles(runs->axes, {tile_i, tile_o, false});
    launch.params.tile_i = tile_i;
    launch.params.tile_o = tile_o;
    launch.defines()
        .set("COLUMNS", columns)
        .set("STAGE_ROW", row)
        .set("AHEAD", values.at("ahead"))
        .set("QUADS", runs->quads() ? runs->run : 0)
        .set("STREAM", streams(problem.move, values))
        .set("PIECE_BYTES", runs->piece());
    return launch.done();
  };
  return {.seconds = predicted_seconds(*runs, values, device), .configuration = values, .launches = launches};
}

}  // namespace

MoveCandidate runs_move() {
  return {
      {.name = "runs",
       .summary = "transposes of short runs that stay whole (pixels, pairs) by lines on a CPU",
       .tunables =
           {
               {"columns", 0, zero_or_doublings(16, 128), "runs",
                "taken together of a row of the input; 0: 32, and 128 where stores go past the cache"},
               {"row",
                0,
                {0, 64, 128, 256, 384, 768, 1536},
                "bytes",
                "of a row of the output that are put together before lines are written; 0: 256, and 128 where they go "
                "past the cache"},
               {"group_kib", 512, doublings(64, 1024), "KiB", "of the input that a group takes at most"},
               {"ahead", 16, doublings(4, 64), "rows", "that are fetched before they are read"},
               stream_tunable(),
           },
       .runtimes = {Api::opencl, Api::host},
       .runs_on = cpus},
      propose};
}

}  // namespace axisloom::ops
